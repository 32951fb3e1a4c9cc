"""What a rollout notes of an episode, from the policy's process and the recording."""

from collections.abc import Mapping
from dataclasses import replace

from ...core.call_times import call_times
from ...core.recording import Recording
from ...core.values import JSON, EpisodeNotes
from .policy_notes import StageLog, problem
from .policy_process import PolicyProcess

STAGES_INFO = "policy_stages"   # the entry of a recording's info: [name, step] for each change


def with_stages(recording: Recording, stages: StageLog) -> Recording:
    """The recording with the stages that the policy named, in its info.

    Evaluators do not receive info: a policy must not gain fitness by what it says of itself.
    """
    if not stages.changes:
        return recording
    return replace(recording, info={**recording.info, STAGES_INFO: stages.changes})


def notes_of(policy: PolicyProcess, report: Mapping[str, JSON] | str, *, steps: int) -> EpisodeNotes:
    """The notes of an episode of `steps` steps, after its policy ended."""
    problems = (problem("report", report),) if isinstance(report, str) else ()
    return EpisodeNotes(
        stages=policy.stages.stages(steps),
        printed=policy.printed,
        report={} if isinstance(report, str) else report,
        problems=problems,
        times=call_times(policy.calls_s, policy.start_s),
    )
