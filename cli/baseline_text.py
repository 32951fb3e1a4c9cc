"""What `memento baseline`, `memento show` and `memento resume` print of a baseline's run."""

from ..baselines.log import BaselineRecord
from ..baselines.pace import PAPER_STEPS, SEARCH_STEPS, line_of, pace_of
from ..baselines.result import result_of
from ..core.text import counted, number, share


def describe_baseline(record: BaselineRecord) -> str:
    """The run: what was trained, how far, what it cost, the final measure."""
    found, pace = result_of(record), pace_of(record.progress)
    lines = [f"{record.name}: {in_short(record)}"]
    if record.progress:
        lines.append(f"  training         {line_of(record.progress, steps=found['planned_steps'])}")
    lines.append(f"  cost             {found['cpu_hours']:.2f} hours of CPU time, $0.00")
    if pace is not None:
        more = (f"{steps / 1e6:g} M steps {pace.hours(steps)[1]:,.0f} hours" for steps in (SEARCH_STEPS, PAPER_STEPS))
        lines.append(f"  extrapolated     {', '.join(more)} of CPU time")
    if record.result is None:
        lines.append(f"  checkpoint       at {record.checkpoint:,} steps; to continue: memento resume {record.name}")
        return "\n".join(lines)
    lines += [
        f"  measured         success {share(found['success_rate'])}, goal reached {share(found['goal_reached_rate'])}"
        f", return {number(found['return_mean'], digits=2)}, fitness {number(found['fitness'])}"
        f" over {counted(len(found['per_episode']), 'episode')}",
        f"  the same ones    memento evaluate --seed {found['measure_seed']} --salt {found['salt']}",
    ]
    return "\n".join(lines)


def in_short(record: BaselineRecord) -> str:
    """The run in one line."""
    found = result_of(record)
    reward = "" if found["reward"] == "own" else f", {found['reward']} reward"
    return (
        f"{found['method']} on {found['domain']}{reward}, seed {found['seed']}, {found['status']} at"
        f" {found['steps']:,} of {found['planned_steps']:,} steps in {counted(found['environments'], 'environment')}"
    )
