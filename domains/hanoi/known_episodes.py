"""Episodes of known order for the simulated arm: those of the kinematic twin, in this domain's control steps.

A command moves the twin's hand about as far in one of its steps of 0.2 s as it moves this arm in four of 0.05 s. So
each step of the twin becomes four: the command is repeated, places are interpolated, and the referee judges every row.
The arm's joints are the twin's, a smooth function of the hand's pose.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from ...core.ports import KnownEpisode
from ...core.recording import Array as AnyArray
from ...core.recording import Recording
from ...core.values import JSON
from .options import settings
from .referee import Referee

CONTROL_PERIOD_S = 0.05
PARTS = 4       # rows for one of the twin
JUDGED = frozenset({"success", "illegal_score"})


def known_episodes(options: Mapping[str, JSON], *, seed: int) -> Iterator[KnownEpisode]:
    """The twin's episodes under these (completed) options, as far as they fit into the horizon."""
    from ..hanoi_kinematic.known_episodes import known_episodes as of_the_twin

    chosen = settings(options, domain="hanoi")
    for each in of_the_twin({**options, "horizon": max(1, chosen.horizon // PARTS)}, seed=seed):
        recording, ended_by = _in_finer_steps(each.recording, rules=chosen.rules)
        if (ended_by or each.ended_by) == each.ended_by:
            yield replace(each, recording=recording)


def _in_finer_steps(coarse: Recording, *, rules: str) -> tuple[Recording, str | None]:
    """The same episode with PARTS rows for each, up to its end, and the referee's word for the end."""
    states = {name: _with_rows_between(rows) for name, rows in coarse.states.items() if name not in JUDGED}
    actions = {name: np.repeat(rows, PARTS, axis=0) for name, rows in coarse.actions.items()}
    referee = Referee(coarse.constants["cube_size"].tolist(), rules=rules, control_period_s=CONTROL_PERIOD_S)
    cubes = states["cube_pos"].tolist()
    referee.reset(cubes[0], states["container_pos"][0].tolist(), states["container_quat"][0].tolist())
    illegal, success, ended_by = [0.0], [False], None
    for eef, places in zip(states["eef_pos"].tolist()[1:], cubes[1:], strict=True):
        ended_by = referee.look(eef, places)
        illegal.append(referee.illegal_score)
        success.append(referee.success)
        if ended_by is not None:
            break
    states["illegal_score"] = np.array(illegal + [0.0] * (len(cubes) - len(illegal)), dtype=np.float32)
    states["success"] = np.array(success + [False] * (len(cubes) - len(success)), dtype=np.bool_)
    whole = Recording(
        states=states,
        actions=actions,
        constants={**coarse.constants, "control_period_s": np.array(CONTROL_PERIOD_S)},
        info={**coarse.info, "ended_by": ended_by},
    )
    return whole.cut(len(illegal) - 1), ended_by


def _with_rows_between(rows: AnyArray) -> AnyArray:
    """Rows with PARTS - 1 interpolated ones between each two; quaternions, whose rows have length 1, keep it."""
    place = np.arange((len(rows) - 1) * PARTS + 1)
    before, share = place // PARTS, (place % PARTS / PARTS).reshape(-1, *[1] * (rows.ndim - 1))
    after = np.minimum(before + 1, len(rows) - 1)
    mixed = (1.0 - share) * rows[before] + share * rows[after]
    if rows.shape[-1] == 4:
        mixed = mixed / np.linalg.norm(mixed, axis=-1, keepdims=True)
    return np.asarray(mixed, dtype=rows.dtype)
