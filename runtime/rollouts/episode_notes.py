"""What a rollout notes of an episode, from the policy's process and the recording."""

from collections.abc import Mapping
from dataclasses import replace

from ...core.call_times import call_times
from ...core.ports import Domain, Environment, Naming, Story
from ...core.recording import STAGES, Recording
from ...core.values import JSON, EpisodeNotes
from .generic_story import generic_story, story_of
from .policy_notes import StageLog, problem
from .policy_process import PolicyProcess
from .story_text import shown_conditions, story_text
from .tracks import Visible


def with_stages(recording: Recording, stages: StageLog) -> Recording:
    """The recording with the stages that the policy named, in its info.

    Evaluators do not receive info: a policy must not gain fitness by what it says of itself.
    """
    if not stages.changes:
        return recording
    return replace(recording, info={**recording.info, STAGES: stages.changes})


def notes_of(
    policy: PolicyProcess, report: Mapping[str, JSON] | str, *, domain: Domain, recording: Recording,
    visible: Visible | None = None,
) -> EpisodeNotes:
    """The notes of an episode, after its policy ended."""
    problems = (problem("report", report),) if isinstance(report, str) else ()
    story, trouble = safe_story(domain, recording, visible)
    return EpisodeNotes(
        story=story_text(story),
        conditions=shown_conditions(story),
        begins_solved=story.begins_solved,
        stages=policy.stages.stages(recording.steps),
        printed=policy.printed,
        report={} if isinstance(report, str) else report,
        problems=(*problems, *trouble),
        times=call_times(policy.calls_s, policy.start_s),
        ran=policy.ran,
    )


def observed_fields(environment: Environment) -> Visible | None:
    """The recorded fields that a policy observes, with the names of their numbers; None where that is not known."""
    layout = environment.observation_layout
    names = environment.element_names if isinstance(environment, Naming) else {}
    return None if layout is None else {name: names.get(name, ()) for name, _ in layout}


def safe_story(
    domain: Domain, recording: Recording, visible: Visible | None = None
) -> tuple[Story, tuple[str, ...]]:
    """The story of a recording, and what is wrong with the domain's own, for which the generic one stands in.

    A domain that cannot describe an episode must not lose a run.
    """
    try:
        story = story_of(domain, recording, visible)
        story_text(story)
        shown_conditions(story)
    except Exception as error:  # noqa: BLE001 - a user's domain may raise anything
        trouble = problem("story", f"the domain raised {type(error).__name__}: {error}")
        return generic_story(recording, visible), (trouble,)
    return story, ()
