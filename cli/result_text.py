"""Results as a few plain lines of text."""

from dataclasses import asdict
from functools import partial
from typing import Final

from ..app.cell import CellResult, CellTrial
from ..app.results import EpisodeResult, EvaluateResult, RunResult
from ..core import text
from ..core.text import both, cost, counted, duration, one_line, success_and_return
from ..tui.words import isolation

MOST: Final = 600      # characters of a text from a program
number = partial(text.number, unknown="?")
share = partial(text.share, unknown="?")


def describe_run(result: RunResult) -> str:
    """The result of a run, the most important first."""
    lines = [
        f"{result.run}: {result.status} after {counted(result.generations, 'generation')}, {duration(result.wall_s)}",
        f"  elite            {result.elite or 'none'}",
        f"  fitness          {number(result.initial_fitness)} -> {number(result.fitness)}"
        "   under the run's own evaluator",
        f"  held-out         {number(result.reference_initial)} -> {number(result.reference_fitness)}"
        f"   under the reference evaluator{_measured(result)}",
        f"  candidates       {result.candidates}, over {counted(result.episodes_run, 'episode')}"
        f" ({result.episodes_saved} saved)",
        f"  model            {result.model}: {counted(result.model_calls, 'call')}, {counted(result.tokens, 'token')},"
        f" {cost(result.cost_usd)}",
        f"  isolation        {isolation(result.sandbox).removeprefix('isolation: ')}",
    ]
    return "\n".join(lines)


def describe_evaluation(result: EvaluateResult) -> str:
    """The result of a policy, one line per episode."""
    lines = [
        f"{result.policy} in {result.domain}"
        + "".join(f", {word} {value}" for word, value in
                  [("variant", result.variant), ("randomisation", result.randomisation)] if value is not None)
    ]
    for place, episode in enumerate(result.per_episode, start=1):
        lines.append(
            f"  {place:>3}  {_outcome(episode)}fitness {number(episode.fitness)}"
            f"  {episode.steps:>6} steps, ended by {episode.ended_by}"
            + (f" in {one_line(episode.scene, MOST)}" if episode.scene else "")
            + (f": {one_line(episode.error, MOST)}" if episode.error else "")
        )
    lines += _by_scene(result)
    also = success_and_return(result.success_rate, result.return_mean)
    lines.append(
        f"{also.removeprefix(', ')}{', ' if also else ''}fitness {number(result.fitness)}"
        f" over {counted(result.episodes, 'episode')}; {result.steps_per_s:.0f} steps/s, {duration(result.wall_s)}"
    )
    if result.step_cpu_ms_median is not None and result.step_cpu_ms_p99 is not None:
        lines.append(
            f"CPU time of a call: median {result.step_cpu_ms_median:.3g} ms, 99 % {result.step_cpu_ms_p99:.3g} ms"
        )
    lines.append(f"the same episodes again: --seed {result.seed} --salt {result.salt}")
    lines.append(isolation(result.sandbox))
    return "\n".join(lines)


def _measured(result: RunResult) -> str:
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


# The trials in a cell as lines of text and as JSON.


MOST_REASON: Final = 300       # characters of a reason


def describe_trials(result: CellResult) -> str:
    """One line per trial, and the share that succeeded."""
    lines = [f"{result.policy} in the cell {result.cell}"]
    lines += [f"  {place:>3}  {_line(trial)}" for place, trial in enumerate(result.trials, start=1)]
    succeeded = sum(trial.success for trial in result.trials)
    lines.append(f"{succeeded} of {counted(len(result.trials), 'trial')} succeeded")
    lines.append(f"the same trials again: --seed {result.seed} --salt {result.salt}")
    lines.append(isolation(result.sandbox))
    return "\n".join(lines)


def cell_json(result: CellResult) -> dict[str, object]:
    """Everything, with the metrics of E_R."""
    return {**asdict(result), "success_rate": result.success_rate}


def _line(trial: CellTrial) -> str:
    outcome = "success" if trial.success else "FAILED "
    found = trial.metrics
    seen = f", {found['cubes_seen_on_c']} cubes seen on C" if "cubes_seen_on_c" in found else ""
    why = trial.fault or (f"{trial.stopped}: {trial.because}" if trial.stopped else "")
    steps = f"{outcome}  {trial.steps:>6} steps, ended by {trial.ended_by}"
    return steps + seen + (f"; {one_line(why, MOST_REASON)}" if why else "")
