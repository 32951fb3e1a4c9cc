"""Starts a run from settings, repeats a finished one from its recorded replies, or prints the estimate of one."""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from .. import app
from ..app.recorded_runs import find_recorded
from ..app.results import RunResult
from ..app.trust import effects_of_run
from ..core.errors import SearchError, UsageError
from ..core.methods import candidates_expected
from ..core.order_ids import initial
from ..core.provenance import GIVEN
from ..core.text import cost, duration, plural
from ..core.values import JSON
from ..evidence.experiment import is_learned
from ..evidence.plan import list_jobs
from ..memory.lookup import find
from ..memory.runs import is_run
from ..memory.store import RunStore
from ..settings import Settings, build_settings
from ..settings.effects import MODELS, contacts, files_named, passes
from ..settings.sources import provenance_of_file
from .execution import StatusOptions, execute, open_screen, print_run
from .flags import DisplayKind, confirm_workers, require_at_least
from .output import print_json, print_note, print_text, say
from .paper_words import RATES, rollout_words, setting_words, unlike_the_paper
from .show_candidate import crash_of
from .terminal_ui import run_and_watch
from .voting import asks_here, desk, display_for

if TYPE_CHECKING:
    from ..app.estimate import Estimate, EstimatedCalls
    from ..app.past_runs import Expected
    from .comparison_plan import Planned

WITH_REPLAY: Final = frozenset({"domain", "workers", "require_sandbox"})     # settings that go together with --replay


@dataclass(frozen=True, slots=True, kw_only=True)
class RunArguments:
    """Settings as given on the command line; a flag that was not given is None."""

    flags: Mapping[str, JSON]
    assignments: Sequence[str]
    config: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The folder and the name of a new run; without a name it gets one. A given cluster runs the programs."""

    runs_dir: Path
    name: str | None
    cluster: app.Cluster | None = None
    yes: bool = False       # far more workers than processors are no mistake


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """How a run is shown. `command_line` holds this command's arguments if the terminal UI follows it, else None.

    With `only_estimate` there is no run: its cost is estimated and shown.
    """

    display: DisplayKind
    status: StatusOptions
    as_json: bool
    command_line: Sequence[str] | None
    only_estimate: bool = False
    onward: bool = True         # say what to do next


def start(
    given: RunArguments, *, replay: str | None, loosely: bool, trust: bool, place: Place, showing: Showing
) -> RunResult | None:
    """Make the run and print its result, which is returned; None for an estimate.

    `loosely` and `trust` are about a recorded run: see `app.replay`.
    """
    address = showing.status.address()
    if loosely and replay is None:
        raise UsageError("--replay-loosely has no effect without --replay: leave it out")
    if showing.only_estimate:
        _show_estimate(given, replay=replay, trust=trust, showing=showing, runs_dir=place.runs_dir)
        return None
    settings = _settings(given, replay=replay, trust=trust, runs_dir=place.runs_dir)
    settings = settings.model_copy(update={"replay_loosely": loosely})
    confirm_workers(settings.workers, cluster=place.cluster is not None, yes=place.yes)
    if showing.command_line is not None:
        raise typer.Exit(run_and_watch(
            showing.command_line, runs_dir=place.runs_dir, name=place.name, domain=settings.domain, seed=settings.seed
        ))
    words = setting_words(settings.as_json()) if replay is None and settings.preset == "paper" else None
    if words is not None:   # who asks for the paper's setting must know what is not in it
        say(words)
    asks = replay is None and asks_here(settings)
    screen = open_screen(display_for(showing.display, asks=asks))
    work = app.run(
        settings, runs_dir=place.runs_dir, name=place.name, display=screen, address=address, cluster=place.cluster
    )
    try:
        with desk(screen, asks=asks):
            result = execute(work, screen)
    except SearchError:
        if settings.initial is not None and screen.folder is not None:
            _say_crash(screen.folder)
        raise
    quiet = showing.display is DisplayKind.NONE
    print_run(result, as_json=showing.as_json, onward=showing.onward and not quiet)
    return result


def _say_crash(folder: Path) -> None:
    """The traceback of a given first policy that failed, and what it printed, as `memento show RUN init/0` has them."""
    with RunStore.read(folder) as store:
        record = find(store, str(initial(0)))
    if record is not None:
        print_note("\n".join(crash_of(record)))


def _built(given: RunArguments, *, trust: bool) -> Settings:
    """The settings of a new run. Raises UsageError, also for a file from elsewhere that names what would be imported,
    started, contacted or read."""
    file = given.config
    provenance = GIVEN if file is None or trust else provenance_of_file(file)
    settings = build_settings(
        given.flags, assignments=given.assignments, config=file, environment=os.environ, provenance=provenance
    )
    own = {effect for key in MODELS for effect in contacts(_texts(given.flags.get(key)))}
    if given.flags.get("domain") is not None:
        own.add(f"import {settings.domain!r}")
    named = (*effects_of_run(settings, models=True), *files_named(settings.as_json()))
    own |= {*files_named(given.flags), *passes(given.flags.get("env"))}
    provenance.require(effect for effect in named if effect not in own)
    return settings.from_there(GIVEN)


def _texts(given: JSON) -> list[str]:
    """The names of models that a flag gave."""
    return [str(each) for each in given] if isinstance(given, list | tuple) else [] if given is None else [str(given)]


def _show_estimate(
    given: RunArguments, *, replay: str | None, trust: bool, showing: Showing, runs_dir: Path
) -> None:
    if replay is not None or showing.command_line is not None:
        with_what = "--replay, which spends nothing" if replay is not None else "--tui"
        raise UsageError(f"--estimate cannot go together with {with_what}: leave one out")
    from ..app.estimate import as_json, estimate

    settings = _built(given, trust=trust)
    found = asyncio.run(estimate(settings, [runs_dir]))
    if showing.as_json:
        print_json(as_json(found))
    else:
        print_text(describe_estimate(found))


def show_estimates(planned: "Planned", *, as_json: bool, runs_dir: Path) -> None:
    """Print what the runs of a comparison that have not begun would ask of their models.

    Past runs in `runs_dir` and the comparison's own finished ones give an expectation.
    """
    parts = asyncio.run(_estimates(planned, [runs_dir, planned.folder.runs]))
    if as_json:
        from ..app.estimate import as_json as estimated_json

        print_json({
            "comparison": planned.experiment.name,
            "parts": [{**estimated_json(found), "arm": name, "runs": runs} for name, runs, found in parts],
        })
    else:
        print_text(describe_estimates(planned.experiment.name, parts, _trainings(planned)))


def _trainings(planned: "Planned") -> list[str]:
    """What the learned baselines of a comparison take: steps of a simulator, and no model."""
    jobs = [job for job in list_jobs(planned.experiment) if is_learned(job.arm)]
    return [
        f"{arm}: {plural(sum(job.arm.name == arm for job in jobs), 'training')} of {steps:,} steps each, no model"
        + (f"; {steps / RATES['fast'] / 3600:,.0f} h of one processor for its steps, and its learning" if hanoi else "")
        for arm, steps, hanoi in dict.fromkeys(
            (job.arm.name, int(str(job.arm.settings.get("steps", 0))), job.task.domain == "hanoi") for job in jobs
        )
    ]


async def _estimates(planned: "Planned", past_in: Sequence[Path]) -> list[tuple[str, int, "Estimate"]]:
    """The estimate of one run of each task and arm, with the number of such runs that have not begun."""
    from ..app.estimate import estimate

    found: list[tuple[str, int, Estimate]] = []
    jobs = [job for job in list_jobs(planned.experiment) if job.name in planned.settings]
    jobs = [job for job in jobs if not is_run(planned.folder.run_of(job))]
    for alike in dict.fromkeys((job.task.name, job.model, job.arm.name) for job in jobs):
        same = [job for job in jobs if (job.task.name, job.model, job.arm.name) == alike]
        words = alike if len(planned.experiment.models) > 1 else (alike[0], alike[2])
        found.append((", ".join(words), len(same), await estimate(planned.settings[same[0].name], past_in)))
    return found


def describe_estimates(name: str, parts: Sequence[tuple[str, int, "Estimate"]], learned: Sequence[str] = ()) -> str:
    """What the runs of a comparison would ask of their models, by task and arm, with what that assumes.

    `learned` are lines on its learned baselines.
    """
    from ..app.estimate import ASSUMPTIONS, together

    every = [found.total for _, runs, found in parts for _ in range(runs)]
    rows: list[tuple[str, ...]] = [("task and arm", "runs", "calls", "tokens in", "tokens out", "cost")]
    for what, runs, found in (*parts, ("total", len(every), None)):
        calls, _, _, *sums = _sums(together(what, every if found is None else [found.total] * runs))
        rows.append((what, str(runs), calls, *sums))
    lines = [f"{name}: {plural(len(every), 'run')} to do; nothing was spent", "", *_columns(rows), ""]
    if any(total.cost_usd is None for total in every):
        lines.append(NO_PRICE)
    lines += _expected_of_all(parts)
    hours = dict.fromkeys(words for _, _, found in parts if (words := rollout_words(found)) is not None)
    lines += [f"rollouts, for each run of hanoi: {words}" for words in hours]
    for why, alike in unlike_the_paper(parts):
        money = _sums(together("", [found.total for _, runs, found in alike for _ in range(runs)]))[-1]
        names = "; ".join(what for what, _, _ in alike)
        lines.append(f"not beside the paper's values: {names} ({why}), which cost {money}")
    limits = dict.fromkeys(f"{line}, for each run" for _, _, found in parts for line in _budget(found))
    lines += [*limits, *learned, "final measures ask no model"]
    return "\n".join([*lines, "assumed:", *(f"  {line}" for line in ASSUMPTIONS)])


def _expected_of_all(parts: Sequence[tuple[str, int, "Estimate"]]) -> Iterator[str]:
    """What all runs use if they are like past ones; which of them have no past ones with the same models."""
    known = [(runs, found.expected) for _, runs, found in parts if found.expected is not None]
    if not known:
        return
    costs = [None if each.cost_usd is None else runs * each.cost_usd for runs, each in known]
    paid = [usd for usd in costs if usd is not None]
    usd = sum(paid) if len(paid) == len(costs) else None
    line = (
        f"expected: {plural(sum(runs * each.calls for runs, each in known), 'call')},"
        f" {_short(sum(runs * each.input_tokens for runs, each in known))} tokens in,"
        f" {_short(sum(runs * each.output_tokens for runs, each in known))} out, {cost(usd)}; as in past runs with the"
        " same models"
    )
    unknown = [what for what, _, found in parts if found.expected is None]
    yield line + (f", without {', '.join(unknown)}, which none tells of" if unknown else "")


def _settings(given: RunArguments, *, replay: str | None, trust: bool, runs_dir: Path) -> Settings:
    if replay is None:
        if trust and given.config is None:
            raise UsageError("--trust has no effect without --replay or --config: leave it out")
        return _built(given, trust=trust)
    settings = _recorded_settings(find_recorded(runs_dir, replay), given, trust=trust)
    say(f"repeats {replay}: no model is called, calls and costs are the recorded ones")
    return settings


def _recorded_settings(folder: Path, given: RunArguments, *, trust: bool) -> Settings:
    """The settings of a recorded run, with those given that cannot change its result. Raises UsageError for others."""
    settings = app.replay_settings(folder, trusted=trust)
    domain = given.flags.get("domain")
    if domain not in (None, settings.domain):
        raise UsageError(f"the run {folder.name!r} was in the domain {settings.domain!r}, not {domain!r}")
    chosen = [key for key, value in given.flags.items() if value is not None and key not in WITH_REPLAY]
    if chosen or given.assignments or given.config:
        what = f"--{chosen[0].replace('_', '-')}" if chosen else "--set and --config"
        raise UsageError(f"--replay repeats the settings of the run {folder.name!r}: omit {what}")
    workers = given.flags["workers"]
    require_at_least("--workers", workers if isinstance(workers, int) else None, 1)
    kept = {key: given.flags[key] for key in ("workers", "require_sandbox") if given.flags[key] is not None}
    return settings.model_copy(update=kept)


NO_PRICE: Final = (
    "the price of a model is not known, so there is no total: name it in dollars per million tokens, such as"
    " --set \"prices.lab:qwen3={input=0.1,output=0.4}\""
)
HEAD = ("role", "what", "calls", "tokens a prompt", "a reply", "tokens in", "tokens out", "cost")


def describe_estimate(found: "Estimate") -> str:
    """What a run would ask of its models, in a table of ranges, with what it assumes."""
    from ..app.estimate import ASSUMPTIONS
    from ..tui.words import programs_asked, shares_words

    settings = found.settings
    models = {role: ", ".join(names) for role, names in found.models.items()}
    lines = [f"{settings.domain}, method {settings.method}, preset {settings.preset}; nothing was spent"]
    lines += [f"  {role}: {names}" for role, names in models.items()]
    lines.append(f"  {shares_words(settings.as_json())}")
    total = found.total
    rows = [HEAD, *map(_row, found.parts), ("total", "", *_sums(total))]
    lines += ["", *_columns(rows), ""]
    if total.cost_usd is None:
        programs = programs_asked(settings.as_json())
        lines.append(f"what {programs[0]} costs is not known, so there is no total" if programs else NO_PRICE)
    if found.expected is not None:
        lines.append(_expectation(found.expected))
    lines.append(_time(found))
    rollouts = rollout_words(found)
    lines += [] if rollouts is None else [f"rollouts: {rollouts}"]
    lines += _budget(found)
    return "\n".join([*lines, "assumed:", *(f"  {line}" for line in ASSUMPTIONS)])


def _time(found: "Estimate") -> str:
    """How long past runs of the task took; physics and models are too different to compute it."""
    times = found.past_times
    if not times:
        return "time: not known before a run of this task has ended in this folder; --preset smoke makes a short one"
    worked = sorted(each.active_s for each in times)
    took = "–".join(dict.fromkeys(map(duration, (worked[0], worked[-1]))))
    sizes = sorted(each.candidates for each in times)
    most = "–".join(dict.fromkeys(map(str, (sizes[0], sizes[-1]))))
    here = candidates_expected(found.settings.as_json())
    return f"time: {plural(len(times), 'past run')} of this task took {took}, with {most} candidates; here {here}"


def _expectation(found: "Expected") -> str:
    task = "this task" if found.same_task else "other tasks"
    return (
        f"expected: {plural(found.calls, 'call')}, {_short(found.input_tokens)} tokens in,"
        f" {_short(found.output_tokens)} out, {cost(found.cost_usd)}; as in {plural(found.runs, 'past run')} of"
        f" {task} with the same models"
    )


def _row(part: "EstimatedCalls") -> tuple[str, ...]:
    calls, *sums = _sums(part)
    return (part.role, part.what, calls, _range(part.prompt_tokens), _range(part.reply_tokens), *sums[2:])


def _sums(part: "EstimatedCalls") -> tuple[str, ...]:
    """Calls, two empty cells for the tokens of one call, tokens in and out, cost."""
    spent = part.cost_usd
    money = "unknown" if spent is None else "–".join(dict.fromkeys(cost(usd) for usd in spent))
    return _range(part.calls), "", "", _range(part.input_tokens), _range(part.output_tokens), money


def _budget(found: "Estimate") -> Iterator[str]:
    settings, total = found.settings, found.total
    tokens = total.input_tokens[1] + total.output_tokens[1]
    usd = None if total.cost_usd is None else total.cost_usd[1]
    for name, limit, most in (
        ("calls", settings.budget_calls, total.calls[1]), ("tokens", settings.budget_tokens, tokens),
        ("usd", settings.budget_usd, usd),
    ):
        if limit is not None and (most is None or most > limit):
            yield f"the run ends where its budget_{name} of {limit:,g} is spent, if that is earlier"
    if settings.budget_episodes is not None:
        yield f"the search ends where its budget of {settings.budget_episodes:,} episodes is spent, if that is earlier"


def _range(ends: tuple[int, int]) -> str:
    return "–".join(dict.fromkeys(map(_short, ends)))


def _short(count: int) -> str:
    """A count with at most three digits: 950, 12.3 k, 4.56 M."""
    for size, unit in ((1e6, " M"), (1e3, " k")):
        if count >= 10 * size or (size == 1e6 and count >= size):
            return f"{count / size:.3g}{unit}"
    return f"{count:,}"


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  " + "  ".join(cells).rstrip()
