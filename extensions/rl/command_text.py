"""What `memento baseline`, `memento show` and `memento resume` print of a baseline's run."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...core.text import number, plural, share
from ...evidence.baseline_rows import EvaluationPoint
from .log import BaselineRecord
from .pace import PAPER_STEPS, SEARCH_STEPS, line_of, pace_of, point_line
from .results import STOPPED, UNMEASURED, result_of

_LIVE: Final = {STOPPED: "training", UNMEASURED: "being measured"}      # while a process works on it


def describe_baseline(record: BaselineRecord, *, where: str | None = None, live: bool = False) -> str:
    """The run: what was trained, how far, what it cost, the final measure or what makes it.

    `where` is what `memento resume` takes for the run, by default its name; `live`: a process works on it.
    """
    found, pace = result_of(record), pace_of(record.progress)
    lines = [f"{record.name}: {in_short(record, live=live)}"]
    if record.progress:
        lines.append(f"  training         {line_of(record.progress, steps=found['planned_steps'])}")
    lines.append(f"  cost             {found['cpu_hours']:.2f} hours of CPU time, $0.00")
    if pace is not None:
        more = (f"{steps / 1e6:g} M steps {pace.hours(steps)[1]:,.0f} hours" for steps in (SEARCH_STEPS, PAPER_STEPS))
        lines.append(f"  extrapolated     {', '.join(more)} of CPU time")
    if record.evaluations:
        lines.append(f"  evaluated        {_points(record.evaluations)}")
    if record.result is None:
        lines.append(f"  measured         not yet: {_what_is_left(record, found, where or record.name, live=live)}")
        return "\n".join(lines)
    lines += [
        f"  measured         success {share(found['success_rate'])}, goal reached {share(found['goal_reached_rate'])}"
        f", return {number(found['return_mean'], digits=2)}, fitness {number(found['fitness'])}"
        f" over {plural(len(found['per_episode']), 'episode')}",
        f"  the same ones    memento evaluate --seed {found['measure_seed']} --salt {found['salt']}",
    ]
    return "\n".join(lines)


def _points(evaluations: Sequence[EvaluationPoint]) -> str:
    """The last evaluation, and the best one if that was better."""
    last = evaluations[-1]
    best = max(reversed(evaluations), key=lambda each: (each.success or 0.0, each.reached, each.mean_return))
    better = "" if best is last else f"; the best {point_line(best)}"
    return f"{point_line(last)}{better}; {plural(len(evaluations), 'evaluation')} in all"


def _what_is_left(record: BaselineRecord, found: Mapping[str, Any], where: str, *, live: bool) -> str:
    """What a run without a measure still needs."""
    episodes = plural(found["planned_episodes"], "unseen episode")
    if live:
        return f"the {episodes} are played after the last step"
    if found["status"] == UNMEASURED:
        return f"the training is complete; memento resume {where} plays the {episodes}"
    return (
        f"memento resume {where} trains on from the checkpoint at {record.checkpoint:,} steps and then plays the"
        f" {episodes}"
    )


def in_short(record: BaselineRecord, *, live: bool = False) -> str:
    """The run in one line; `live`: a process works on it."""
    found = result_of(record)
    status = _LIVE.get(found["status"], found["status"]) if live else found["status"]
    reward = "" if found["reward"] == "own" else f", {found['reward']} reward"
    return (
        f"{found['method']} on {found['task']}{reward}, seed {found['seed']}, {status} at"
        f" {found['steps']:,} of {found['planned_steps']:,} steps in {plural(found['environments'], 'environment')}"
    )
