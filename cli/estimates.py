"""What `--estimate` prints: what the models of one run, or of all of a comparison, are asked, with what it assumes."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ..app.estimate import ASSUMPTIONS, Estimate, EstimatedCalls, estimate, together
from ..app.estimate import as_json as as_json_of
from ..app.past_runs import Expected
from ..core.methods import candidates_expected
from ..core.text import cost, duration, plural
from ..evidence.experiment import is_learned
from ..evidence.plan import list_jobs
from ..memory.runs import is_run
from ..settings import Settings
from ..tui.words import programs_asked, shares_words
from .comparison_plan import Planned
from .output import print_json, print_text
from .paper_words import RATES, rollout_words, unlike_the_paper


def show_estimate(settings: Settings, *, as_json: bool, runs_dir: Path) -> None:
    """Print what a run would ask of its models; past runs in `runs_dir` give an expectation."""
    found = asyncio.run(estimate(settings, [runs_dir]))
    if as_json:
        print_json(as_json_of(found))
    else:
        print_text(describe_estimate(found))


def show_estimates(planned: Planned, *, as_json: bool, runs_dir: Path) -> None:
    """Print what the runs of a comparison that have not begun would ask of their models.

    Past runs in `runs_dir` and the comparison's own finished ones give an expectation.
    """
    parts = asyncio.run(_estimates(planned, [runs_dir, planned.folder.runs]))
    if as_json:
            print_json({
            "comparison": planned.experiment.name,
            "parts": [{**as_json_of(found), "arm": name, "runs": runs} for name, runs, found in parts],
        })
    else:
        print_text(describe_estimates(planned.experiment.name, parts, _trainings(planned)))


def _trainings(planned: Planned) -> list[str]:
    """What the learned baselines of a comparison take: steps of a simulator, and no model."""
    jobs = [job for job in list_jobs(planned.experiment) if is_learned(job.arm)]
    return [
        f"{arm}: {plural(sum(job.arm.name == arm for job in jobs), 'training')} of {steps:,} steps each, no model"
        + (f"; {steps / RATES['fast'] / 3600:,.0f} h of one processor for its steps, and its learning" if hanoi else "")
        for arm, steps, hanoi in dict.fromkeys(
            (job.arm.name, int(str(job.arm.settings.get("steps", 0))), job.task.domain == "hanoi") for job in jobs
        )
    ]


async def _estimates(planned: Planned, past_in: Sequence[Path]) -> list[tuple[str, int, Estimate]]:
    """The estimate of one run of each task and arm, with the number of such runs that have not begun."""
    found: list[tuple[str, int, Estimate]] = []
    jobs = [job for job in list_jobs(planned.experiment) if job.name in planned.settings]
    jobs = [job for job in jobs if not is_run(planned.folder.run_of(job))]
    for alike in dict.fromkeys((job.task.name, job.model, job.arm.name) for job in jobs):
        same = [job for job in jobs if (job.task.name, job.model, job.arm.name) == alike]
        words = alike if len(planned.experiment.models) > 1 else (alike[0], alike[2])
        found.append((", ".join(words), len(same), await estimate(planned.settings[same[0].name], past_in)))
    return found


def describe_estimates(name: str, parts: Sequence[tuple[str, int, Estimate]], learned: Sequence[str] = ()) -> str:
    """What the runs of a comparison would ask of their models, by task and arm, with what that assumes.

    `learned` are lines on its learned baselines.
    """
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


def _expected_of_all(parts: Sequence[tuple[str, int, Estimate]]) -> Iterator[str]:
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


NO_PRICE: Final = (
    "the price of a model is not known, so there is no total: name it in dollars per million tokens, such as"
    " --set \"prices.lab:qwen3={input=0.1,output=0.4}\""
)


HEAD = ("role", "what", "calls", "tokens a prompt", "a reply", "tokens in", "tokens out", "cost")


def describe_estimate(found: Estimate) -> str:
    """What a run would ask of its models, in a table of ranges, with what it assumes."""
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


def _time(found: Estimate) -> str:
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


def _expectation(found: Expected) -> str:
    task = "this task" if found.same_task else "other tasks"
    return (
        f"expected: {plural(found.calls, 'call')}, {_short(found.input_tokens)} tokens in,"
        f" {_short(found.output_tokens)} out, {cost(found.cost_usd)}; as in {plural(found.runs, 'past run')} of"
        f" {task} with the same models"
    )


def _row(part: EstimatedCalls) -> tuple[str, ...]:
    calls, *sums = _sums(part)
    return (part.role, part.what, calls, _range(part.prompt_tokens), _range(part.reply_tokens), *sums[2:])


def _sums(part: EstimatedCalls) -> tuple[str, ...]:
    """Calls, two empty cells for the tokens of one call, tokens in and out, cost."""
    spent = part.cost_usd
    money = "unknown" if spent is None else "–".join(dict.fromkeys(cost(usd) for usd in spent))
    return _range(part.calls), "", "", _range(part.input_tokens), _range(part.output_tokens), money


def _budget(found: Estimate) -> Iterator[str]:
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
