"""Results as a few plain lines of text."""

import shlex
from collections.abc import Sequence
from functools import partial
from typing import Final

from ..app.results import EpisodeResult, EvaluateResult, RankResult, RankRow, RunResult
from ..core import text
from ..core.operators import OPERATORS
from ..core.text import both, cost, digits_apart, duration, interval_words, one_line, plural, signed_number, text_table
from ..core.values import JSON, Operator
from ..memory.card import luck_words
from ..memory.notes import EARLY
from ..memory.quality import IN_SEARCH, conflict_words, on_episodes
from ..tui.words import isolation

MOST: Final = 600      # characters of a text from a program
number = partial(text.number, unknown="?")
share = partial(text.share, unknown="?")


def describe_run(result: RunResult) -> str:
    """The result of a run, the most important first."""
    lines = [
        f"{result.run}: {result.status} after {plural(result.generations, 'generation')}, {duration(result.wall_s)}",
        f"  elite            {result.elite or 'none'}",
        f"  fitness          {_two(result.initial_fitness, result.fitness)}"
        f"   under the run's own evaluator{_fresh(result)}",
        f"  held-out         {_two(result.reference_initial, result.reference_fitness)}"
        f"   under the reference evaluator{_final_measure(result)}",
        *_conflict(result), *_luck(result),
        f"  candidates       {result.candidates}, over {plural(result.episodes_run, 'episode')}"
        f" ({result.episodes_saved} saved)",
        f"  model            {result.model}: {plural(result.model_calls, 'call')}, {plural(result.tokens, 'token')},"
        f" {cost(result.cost_usd)}",
        f"  isolation        {isolation(result.sandbox).removeprefix('isolation: ')}",
    ]
    return "\n".join(lines)


def _two(before: float | None, after: float | None) -> str:
    """F of p_0 and of the elite, with as many digits as tell them apart."""
    digits = digits_apart(before, after)
    return f"{number(before, digits=digits)} -> {number(after, digits=digits)}"


def _fresh(result: RunResult) -> str:
    """On which episodes F of the elite was found where it has fresh ones, and F in the search."""
    if not result.fitness_fresh or result.fitness_episodes is None:
        return ""
    on = on_episodes(result.fitness_episodes, result.fitness_fresh)
    first = (result.initial_episodes, result.initial_fresh)
    if result.initial_episodes is not None and first != (result.fitness_episodes, result.fitness_fresh):
        on = f"p_0 {on_episodes(result.initial_episodes, result.initial_fresh or 0)}, the elite {on}"
    return f", {on}; {number(result.search_fitness)} {IN_SEARCH}"


def _conflict(result: RunResult) -> list[str]:
    """That F rose while success fell on the held-out episodes, and what else is to be known first."""
    fitness = (result.reference_initial, result.reference_fitness)
    if fitness == (None, None):
        fitness = (result.initial_fitness, result.fitness)
    words = conflict_words(fitness, (result.initial_success, result.final_success))
    notes = () if result.card is None else result.card.notes
    return [f"  NOTE             {note}" for note in (words, *notes) if note]


def _luck(result: RunResult) -> list[str]:
    """Whether unseen episodes confirm the search's figure: a line where they do not, and why that is usual."""
    words = "" if result.card is None else luck_words(result.card, shlex.quote(result.run))
    if result.card is None or not words:
        return []
    measured = sorted(result.card.luck, key=lambda each: each.measure != "success")
    if not measured or measured[0].on != IN_SEARCH or measured[0].stated <= measured[0].unseen:
        return [f"  luck             {words}"]
    why = f"the search returns the best of {result.candidates} programs on the same few episodes: partly luck"
    return [f"  luck             {words}", f"                   {why}"]


def describe_evaluation(result: EvaluateResult, *, verbose: bool = False) -> str:
    """The result of a policy, one line per episode, and the traceback of the first one that failed.

    `verbose`: below each episode its traceback and what the policy said of itself.
    """
    lines = [
        f"{result.policy} in {result.domain}"
        + "".join(f", {word} {value}" for word, value in
                  [("variant", result.variant), ("randomisation", result.randomisation)] if value is not None)
    ]
    for place, episode in enumerate(result.per_episode, start=1):
        lines.append(
            f"  {place:>3}  {_outcome(episode)}fitness {number(episode.fitness)}"
            f"  {episode.steps:>6} steps, ended by {episode.ended_by}"
            + (f" ({one_line(episode.broken_rule, MOST)})" if episode.broken_rule else "")
            + (f" in {one_line(episode.scene, MOST)}" if episode.scene else "")
            + (f": {one_line(episode.error, MOST)}" if episode.error else "")
        )
        lines += [*_said(episode), *_failure(episode)] if verbose else []
    failed = next((episode for episode in result.per_episode if episode.error), None)
    if failed is not None and not verbose:
        lines += [f"the first fault, in episode {result.per_episode.index(failed) + 1}:", *_failure(failed)]
    lines += [*_by_scene(result), *_means(result)]
    if result.step_cpu_ms_median is not None and result.step_cpu_ms_p99 is not None:
        lines.append(
            f"CPU time of a call: median {result.step_cpu_ms_median:.3g} ms, 99 % {result.step_cpu_ms_p99:.3g} ms"
        )
    lines.append(f"the same episodes again: --seed {result.seed} --salt {result.salt}")
    lines.append(isolation(result.sandbox))
    return "\n".join(lines)


def _means(result: EvaluateResult) -> list[str]:
    """Success, return and fitness with their 95 % intervals, and how many episodes failed."""
    words = []
    if result.success_rate is not None:
        words.append(f"success {share(result.success_rate)}{interval_words(result.success_interval, percent=True)}")
    if result.return_mean is not None:
        words.append(
            f"return {number(result.return_mean, digits=2)}{interval_words(result.return_interval, digits=2)}"
        )
    words.append(f"fitness {number(result.fitness)}{interval_words(result.fitness_interval)}")
    failed = [] if result.failures is None else [f"{result.failures} without success"]
    failed.append(plural(result.faults, "fault"))
    return [
        f"{', '.join(words)} over {plural(result.episodes, 'episode')}; {', '.join(failed)};"
        f" {result.steps_per_s:.0f} steps/s, {duration(result.wall_s)}"
    ]


def _failure(episode: EpisodeResult) -> list[str]:
    """The traceback of a failed episode and what it printed last, indented."""
    if not episode.error:
        return []
    lines = _with_indent(episode.traceback or episode.error)
    return [*lines, "       printed last:", *_with_indent(episode.printed)] if episode.printed else lines


def _said(episode: EpisodeResult) -> list[str]:
    """The stages of an episode, its report and what it printed; of a failed one `_failure` shows that."""
    lines = []
    if episode.stages:
        stages = ", ".join(f"{one_line(each.name, 60)} {plural(each.steps, 'step')}" for each in episode.stages)
        lines.append(f"       stages: {stages}")
    if episode.report:
        report = ", ".join(f"{one_line(name, 60)} {_value(value)}" for name, value in episode.report.items())
        lines.append(f"       report: {report}")
    if episode.printed and not episode.error:
        lines += ["       printed:", *_with_indent(episode.printed)]
    return lines


def _value(value: JSON) -> str:
    return f"{value:.4g}" if isinstance(value, float) else one_line(str(value), 200)


def _with_indent(words: str) -> list[str]:
    return [f"         {line}" for line in text.printable(words).splitlines()]


def describe_ranking(result: RankResult, *, by: str = "F") -> str:
    """The programs as a table, the best by this measure first, what the differences show, and how to export it."""
    rows = [("", "candidate", "by", "F search", "F fresh", *_headings(result), "faults", "against *")]
    rows += [_ranking_row(row, _headings(result)) for row in result.programs]
    evaluator = {"reference": "the reference evaluator", "evolve": "the run's evolved evaluator"}
    lines = [
        f"{result.run}: {plural(len(result.programs), 'program')} on {plural(result.episodes, 'fresh episode')},"
        f" by {by}{'' if by == 'F' else '; F is'} under {evaluator.get(result.evaluator, result.evaluator)}; "
        "p_0, what the run returned, and the best others by F in the search",
        *text_table(rows).split("\n"),
        "* what the run returned. [95 % intervals]: t for means, Wilson for shares. Differences of F are paired;",
        "unclear: the interval holds 0, or the sign-flip test does not exclude 0 at 5 % (all programs together)",
    ]
    if any(row.early for row in result.programs):
        lines.append(f"early: {EARLY}")
    best = result.programs[0]
    if by == "F" and not best.returned:
        lines.append(_verdict(best, result))
    most = max(result.programs, key=lambda row: row.success_rate or 0.0)
    if by == "F" and (words := conflict_words((most.fitness, best.fitness), (most.success_rate, best.success_rate))):
        lines.append(f"NOTE: from {most.candidate} to {best.candidate} {words}; --by success ranks by success.")
    out = shlex.join(["memento", "export", result.run, result.best, "--out", "best.py"])
    return "\n".join([*lines, f"export the best: {out}"])


def _headings(result: RankResult) -> tuple[str, ...]:
    """The columns that this task has."""
    rows = result.programs
    return tuple(
        word for word, known in (
            ("F reference", any(row.reference_fitness is not None for row in rows)),
            ("success", any(row.success_rate is not None for row in rows)),
            ("return", any(row.return_mean is not None for row in rows)),
        ) if known
    )


def _ranking_row(row: RankRow, headings: Sequence[str]) -> tuple[str, ...]:
    cells = {
        "F reference": number(row.reference_fitness),
        "success": f"{share(row.success_rate)}{interval_words(row.success_interval, percent=True)}",
        "return": f"{number(row.return_mean, digits=1)}{interval_words(row.return_interval, digits=1)}",
    }
    against = "" if row.difference is None else (
        f"{signed_number(row.difference, digits=3)}{interval_words(row.difference_interval)}"
        + (" unclear" if not row.distinguishable else " better" if row.difference > 0 else " worse")
    )
    operator = "p_0" if row.initial else OPERATORS[Operator(row.operator)].short
    return (
        str(row.rank), f"{row.candidate}{' *' if row.returned else ''}", operator,
        f"{number(row.search_fitness)}{' early' if row.early else ''}",
        f"{number(row.fitness)}{interval_words(row.fitness_interval)}", *(cells[word] for word in headings),
        str(row.faults), against,
    )


def _verdict(best: RankRow, result: RankResult) -> str:
    if best.distinguishable:
        return f"{best.candidate} is better than {result.returned}, which the run returned."
    return (
        f"{best.candidate} is ahead of {result.returned}, which the run returned, but {result.episodes} episodes cannot"
        f" tell them apart: more can, with --episodes {4 * result.episodes}."
    )


def _final_measure(result: RunResult) -> str:
    """Success and return of the elite on held-out seeds, where the task has them."""
    success = f"; success {share(result.final_success)}" if result.final_success is not None else ""
    returns = both(result.initial_return, result.final_return, partial(number, digits=2))
    return f"{success}{f'; return {returns}' if returns else ''}"


def _outcome(episode: EpisodeResult) -> str:
    """Success and return of an episode, where the task has them."""
    word = "" if episode.success is None else "success  " if episode.success else "failure  "
    total = episode.episode_return
    return f"{word}{'' if total is None else f'return {number(total, digits=2)}  '}"


def _by_scene(result: EvaluateResult) -> list[str]:
    """One line per scene if there are several and some were played more than once."""
    scenes: dict[str, list[EpisodeResult]] = {}
    for episode in result.per_episode:
        if episode.scene:
            scenes.setdefault(episode.scene, []).append(episode)
    if not 1 < len(scenes) < len(result.per_episode):
        return []
    lines = []
    for scene, episodes in scenes.items():
        fitness = [episode.fitness for episode in episodes if episode.fitness is not None]
        mean = sum(fitness) / len(fitness) if len(fitness) == len(episodes) else None
        won = [episode.success for episode in episodes if episode.success is not None]
        success = f"success {sum(won)} of {len(won)}, " if won else ""
        lines.append(f"  {scene:<14} {success}fitness {number(mean)}")
    return lines
