"""The recording of one episode to draw: the stored one of a run, else a new rollout with the same seed."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from ..core.errors import StoreError, UsageError, unknown
from ..core.events import EpisodeEnded, RunResumed, RunStarted
from ..core.files import replacing
from ..core.order_ids import CONDITIONS, episode_id, final
from ..core.ports import Domain, Drawable, Picture, Renderer, RollTask, interpreter_of
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
from ..runtime.pictures import Captioned, on_a_sheet
from ..runtime.rollouts.pool import ProcessPool
from ..search.stages import split_of
from ..settings import Settings, settings_in
from ..settings.evaluate import given_options
from .given_files import read_program
from .required import trusted_settings
from .wiring import final_splits

if TYPE_CHECKING:
    from PIL.Image import Image


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
        settings = trusted_settings(folder, started.settings, settings, trusted=trusted, models=False)
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
        raise unknown("candidate", str(candidate), [*list_policies(store), *HELD_OUT])
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
                return await _rolled(wanted, f"rolled out again, because {error}")
        return await _rolled(wanted, "rolled out again with the same seed, because the run dropped its trajectory")
    return await _rolled(wanted, f"rolled out now, with seed {wanted.seed}")


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


async def _rolled(wanted: WantedEpisode, source: str) -> Found:
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


# Files of an episode's captioned pictures: an MP4, a GIF, or a PNG with one moment or a sheet.


RATE_HZ: Final = {".mp4": 25.0, ".gif": 10.0}       # pictures per second, at most
LONGEST_S: Final = {".mp4": 30.0, ".gif": 20.0}     # unless a speed is given
STEP_S: Final = 0.4         # for a step without a duration
REST_S: Final = 1.5         # the duration of the last picture
SHEET: Final = 12           # moments on a sheet
COLUMNS: Final = 4
COLOURS: Final = 255        # of a GIF's palette


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybackPace:
    """Which rows of an episode are shown, and how fast."""

    rows: tuple[int, ...]
    rate_hz: float
    speed: float            # playback speed relative to real time


def pace(kind: str, steps: int, step_s: float | None, *, speed: float | None, every: int | None) -> PlaybackPace:
    """The rows of an episode of `steps` steps for a file of this kind; the first and the last are among them.

    Without a speed, real time for a short episode, else the speed at which the longest film shows it all.
    """
    period_s = STEP_S if step_s is None else step_s
    fast = speed or max(1.0, steps * period_s / LONGEST_S[kind])
    stride = every or max(1, ceil(fast / (period_s * RATE_HZ[kind]) - 1e-9))
    rows = list(range(0, steps + 1, stride))
    if rows[-1] != steps:
        rows.append(steps)
    return PlaybackPace(rows=tuple(rows), rate_hz=min(50.0, max(0.5, fast / (period_s * stride))), speed=fast)


def moments(steps: int, every: int | None) -> tuple[int, ...]:
    """The rows of a sheet: evenly spread, the first and the last among them."""
    if every is not None:
        return tuple(sorted({*range(0, steps + 1, every), steps}))
    return tuple(sorted({round(row) for row in np.linspace(0, steps, min(SHEET, steps + 1))}))


# ------------------------------------------------------------------------------------------------ files


def save_film(path: Path, captioned: Captioned, how: PlaybackPace, *, progress: Callable[[int], None]) -> None:
    """Write an MP4 or a GIF, atomically. Raises UsageError if writing fails."""
    note = f", {how.speed:.3g} x" if how.speed > 1.0 else ""

    def images() -> Iterator["Image"]:
        for count, row in enumerate(how.rows):
            yield captioned.image(row, note=note)
            progress(count + 1)

    write = _write_mp4 if path.suffix.lower() == ".mp4" else _write_gif
    _whole(path, lambda partial: write(partial, images(), how.rate_hz))


def save_sheet(path: Path, captioned: Captioned, rows: Sequence[int], *, progress: Callable[[int], None]) -> None:
    """Write a PNG of these rows, side by side. Raises UsageError if writing fails."""
    cells = []
    for count, row in enumerate(rows):
        cells.append(captioned.image(row))
        progress(count + 1)
    sheet = on_a_sheet(cells, COLUMNS)
    _whole(path, lambda partial: sheet.save(partial, format="PNG", optimize=True))


def _whole(path: Path, write: Callable[[Path], None]) -> None:
    try:
        with replacing(path) as partial:
            write(partial)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None


def _write_mp4(path: Path, images: Iterator["Image"], rate_hz: float) -> None:
    """H.264 with 4:2:0 colours, which every player and browser supports."""
    from fractions import Fraction

    import av

    rate = Fraction(rate_hz).limit_denominator(1000)
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        stream = None
        last: Picture | None = None
        for image in images:
            last = _even(np.asarray(image))
            if stream is None:
                stream = container.add_stream("libx264", rate=rate, options={"crf": "23", "preset": "medium"})
                stream.height, stream.width, stream.pix_fmt = last.shape[0], last.shape[1], "yuv420p"
            container.mux(stream.encode(av.VideoFrame.from_ndarray(last, format="rgb24")))
        assert stream is not None
        assert last is not None
        for _ in range(ceil(REST_S * rate_hz)):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(last, format="rgb24")))
        container.mux(stream.encode())


def _even(picture: Picture) -> Picture:
    """H.264 with 4:2:0 colours needs even sizes: an odd last row or column is repeated."""
    odd = [(0, side % 2) for side in picture.shape[:2]]
    padded: Picture = np.pad(picture, [*odd, (0, 0)], mode="edge")
    return padded


def _write_gif(path: Path, images: Iterator["Image"], rate_hz: float) -> None:
    """One palette for all pictures and no dithering, so that a static background costs no space."""
    from PIL import Image

    frames = list(images)
    sample = frames[:: max(1, len(frames) // 8)]
    width, height = sample[0].size
    montage = Image.new("RGB", (width, height * len(sample)))
    for place, frame in enumerate(sample):
        montage.paste(frame, (0, place * height))
    palette = montage.quantize(COLOURS, Image.Quantize.FASTOCTREE)     # keeps the colour of a small cube
    flat = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    period_ms = max(20, 10 * round(100 / rate_hz))
    durations = [period_ms] * (len(flat) - 1) + [round(1000 * REST_S)]
    flat[0].save(
        path, format="GIF", save_all=True, append_images=flat[1:], duration=durations, loop=0, optimize=True,
    )
