"""The recording of one episode to draw: the stored one of a run, else a new rollout with the same seed."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..core.errors import StoreError, UsageError, no_such
from ..core.events import EpisodeEnded, RunResumed, RunStarted
from ..core.order_ids import CONDITIONS, episode_id, final
from ..core.ports import Domain, Drawable, Renderer, RollTask, interpreter_of
from ..core.provenance import GIVEN, UNKNOWN, Provenance
from ..core.recording import Recording
from ..core.recording_file import load_recording, trajectory_key, trajectory_path
from ..core.seeds import derive_seed
from ..core.text import one_line
from ..core.values import JSON, Episode, Program
from ..domains import import_string, require_installed
from ..domains import load as load_domain
from ..memory.lookup import INITIAL_POLICY, Policy, find, first_policy, last_elite, list_policies
from ..memory.runs import TRAJECTORIES
from ..memory.store import RunStore
from ..runtime.rollouts.pool import ProcessPool
from ..search.final import split_of
from ..settings import Settings, settings_in
from ..settings.evaluate import given_options
from .given_files import read_program
from .trust import trusted_settings
from .wiring import final_splits

if TYPE_CHECKING:
    pass


SETTINGS = (RunStarted, RunResumed)     # the facts with the settings
SPLIT, ORDER = "render", episode_id("render", 0)
FINAL_ELITE: Final = str(final("elite"))
HELD_OUT: Final[Mapping[str, tuple[str, str]]] = {     # the names of held-out episodes: whose, under which conditions
    str(final(who, conditions)): (who, conditions) for conditions in ("", *CONDITIONS) for who in ("initial", "elite")
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedEpisode:
    """One episode to draw. `known` is the episode in a run's log; None for a new episode."""

    title: str
    domain: str
    options: Mapping[str, JSON]
    program: Program
    index: int
    seed: int
    known: Episode | None = None
    folder: Path | None = None      # of the run's trajectories
    provenance: Provenance = UNKNOWN    # of the domain and its options


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A recording, its origin in a sentence, and whether it was read from a run's folder."""

    recording: Recording
    source: str
    stored: bool = False


def of_policy(
    path: Path, domain: str, *, options: Mapping[str, JSON], index: int, seed: int,
) -> WantedEpisode:
    """Episode `index` of a policy file, as in `memento evaluate`: its seed is `seed` + `index`."""
    program = read_program(path, load_domain(domain, GIVEN).contract, role="policy")
    return WantedEpisode(
        title=path.stem, domain=domain, options=options, program=program, index=index, seed=seed + index,
        provenance=GIVEN,
    )


def of_run(
    folder: Path, candidate: str | None, *, index: int, seed: int | None, flags: Mapping[str, JSON],
    assignments: Sequence[str], trusted: bool = False,
) -> WantedEpisode:
    """Episode `index` of a candidate, by default the elite, as in the run.

    With other options of the domain (`flags`, `assignments`) or another `seed` it is a new episode that is not part
    of the run. Raises UsageError.
    """
    with RunStore.read(folder) as store:
        begun = tuple(store.facts(only=SETTINGS))
        settings = settings_in(begun)
        if settings is None:
            raise UsageError(f"the run {folder.name!r} was killed before its first fact: there is nothing to draw")
        started = next(fact for fact in begun if isinstance(fact, RunStarted))
        settings = trusted_settings(folder, started, settings, trusted=trusted, models=False)
        name, policy = _policy(store, candidate)
        episodes = _episodes(store, name, policy)
    assert policy.program is not None
    domain = load_domain(settings.domain, settings.provenance)
    changes = given_options(domain.name, flags=flags, assignments=assignments)
    played = _held_out_options(settings, domain, name) if name in HELD_OUT else settings.options
    options = domain.options({**played, **changes}, preset=settings.preset) if changes else played
    known = None if changes or seed is not None else episodes.get(index)
    if seed is None:
        seed = known.seed if known is not None else _seed(settings, name, index)
    return WantedEpisode(
        title=f"{folder.name} {name}", domain=settings.domain, options=options, program=policy.program, index=index,
        seed=seed, known=known, folder=folder / TRAJECTORIES, provenance=settings.provenance,
    )


def _held_out_options(settings: Settings, domain: Domain, name: str) -> Mapping[str, JSON]:
    """The options of the held-out episodes of this name. Raises UsageError for conditions that the run did not have."""
    _, conditions = HELD_OUT[name]
    splits = final_splits(settings, domain)
    if split_of(conditions) not in splits:
        raise UsageError(f"the run measured nothing under {conditions} changes of the conditions: it was begun without "
                         "robust = 'on'")
    return splits[split_of(conditions)]


def _policy(store: RunStore, candidate: str | None) -> tuple[str, Policy]:
    """The name for the drawing and the policy; p_0 and the elite also have episodes of the final measure."""
    name, who = candidate, HELD_OUT.get(candidate or FINAL_ELITE, ("", ""))[0]
    if who == "elite":
        name = last_elite(store)
        if name is None:
            raise UsageError(
                f"the run {store.folder.name!r} has no elite yet: name a candidate, or continue the run"
            )
    elif candidate == INITIAL_POLICY or who == "initial":
        name = first_policy(store)
    policy = None if name is None else find(store, name)
    if not isinstance(policy, Policy):
        raise no_such("candidate", str(candidate), [*list_policies(store), *HELD_OUT])
    if policy.program is None:
        folder = store.folder
        raise UsageError(f"{policy.id} of {folder.name} has no program: memento show {folder} {policy.id} shows why")
    return (candidate if candidate is not None and candidate in HELD_OUT else policy.id), policy


def _episodes(store: RunStore, name: str, policy: Policy) -> dict[int, Episode]:
    """The episodes by index; an episode that two candidates share belongs to both."""
    if name == policy.id:
        return {episode.index: episode for episode, _ in policy.episodes if episode is not None}
    return {
        fact.episode.index: fact.episode for fact in store.facts(about=name) if isinstance(fact, EpisodeEnded)
    }


def _seed(settings: Settings, candidate: str, index: int) -> int:
    """The seed of an episode that was not rolled out (yet). Raises UsageError if the run has no such episode."""
    held_out = candidate in HELD_OUT
    count = settings.final_episodes if held_out else settings.n_roll
    if index >= count:
        raise UsageError(f"{candidate} has episodes 0 to {count - 1}, not {index}")
    return derive_seed(settings.root_seed, "final" if held_out else "search", index)


def renderer_of(wanted: WantedEpisode) -> Renderer:
    """The renderer for this episode. Raises UsageError if its domain has none, or if it needs a missing package."""
    require_installed(wanted.domain)
    domain: Domain = load_domain(wanted.domain, wanted.provenance)
    if not isinstance(domain, Drawable):
        raise UsageError(
            f"the domain {wanted.domain!r} draws no pictures: it has no method renderer(options); see docs/rendering.md"
        )
    return domain.renderer(wanted.options)


async def fetch(wanted: WantedEpisode) -> Found:
    """The recording of an episode. Raises RolloutError if a simulator fails."""
    if wanted.known is not None and wanted.folder is not None and wanted.known.trajectory is not None:
        path = trajectory_path(wanted.folder, wanted.known.trajectory)
        if path.exists():
            try:
                return Found(recording=load_recording(path), source="the trajectory that the run keeps", stored=True)
            except StoreError as error:
                return await _roll(wanted, f"rolled out again, because {error}")
        return await _roll(wanted, "rolled out again with the same seed, because the run dropped its trajectory")
    return await _roll(wanted, f"rolled out now, with seed {wanted.seed}")


@contextmanager
def drawing(found: Found) -> Iterator[None]:
    """Around the use of a renderer: raises StoreError if a stored recording does not have the form of its domain.

    Any array may have any shape in a file from elsewhere, so a renderer may fail on it in any way.
    """
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if not found.stored:
            raise
        raise StoreError(
            f"the stored trajectory is not a recording of this domain ({type(error).__name__}: "
            f"{one_line(str(error), 200)}); delete it, and the episode is rolled out again"
        ) from error


async def _roll(wanted: WantedEpisode, source: str) -> Found:
    with tempfile.TemporaryDirectory(prefix="memento-render-") as text:
        folder = Path(text)
        async with ProcessPool(
            domain=import_string(wanted.domain), splits={SPLIT: wanted.options}, workers=1, trajectories=folder,
            python=interpreter_of(
                load_domain(wanted.domain, wanted.provenance), wanted.options, wanted.provenance
            ),
        ) as pool:
            episode = await pool.roll(RollTask(
                order=ORDER, program=wanted.program, split=SPLIT, index=wanted.index, seed=wanted.seed,
            ))
        recording = load_recording(trajectory_path(folder, trajectory_key(ORDER)))
    if episode.fault is not None:
        message = one_line(episode.fault.message, 600)
        source += f"; the policy failed after {episode.steps} steps: {episode.fault.kind}, {message}"
    known = wanted.known
    if known is not None and (known.steps, known.ended_by) != (episode.steps, episode.ended_by):
        source += (
            f"; IT DIFFERS from the run's, which had {known.steps} steps and ended by {known.ended_by}:"
            " the versions on this machine are not those of the run"
        )
    return Found(recording=recording, source=source)
