"""Episodes of known order: the arrays of the domain's own recordings, the stated ends, the same from the same seed."""

from itertools import islice

import numpy as np
import pytest
from memento.core.ports import KnownEpisode
from memento.core.probes import known_order
from memento.core.recording import Recording
from memento.core.values import JSON, Episode, Probe
from memento.domains.hanoi import DOMAIN as HANOI
from memento.domains.hanoi.domain import HanoiDomain
from memento.domains.hanoi.recording import Trace
from memento.domains.hanoi.sensors import observation_size
from memento.domains.hanoi.task import cube_half_edges
from memento.domains.hanoi_kinematic import DOMAIN as KINEMATIC

BOTH = pytest.mark.parametrize("domain", [HANOI, KINEMATIC], ids=lambda domain: domain.name)
KEPT = ["idle", "first cube lifted and held", "1 move done and kept", "3 moves done, the third undone",
        "2 moves done and kept", "3 moves done and kept", "7 moves done and kept", "14 moves done and kept",
        "15 moves done and kept"]
WORSE = {
    "tower knocked over": "two-cubes", "1 move kept, then a larger cube put on a smaller one": "stacking",
    "1 move kept, then a cube parked on the bare table": "parking",
}


def recorded(domain: HanoiDomain) -> Recording:
    """The domain's own recording of an episode without steps: of the names, types and shapes of its arrays."""
    trace = Trace(cube_half_edges(4), control_period_s=domain.motion.control_period_s)
    trace.begin(np.zeros(observation_size(4)))
    return trace.recording({})


@BOTH
@pytest.mark.parametrize(("rules", "seed"), [("strict", 0), ("strict", 1), ("paper", 2)])
def test_every_stage_is_on_record(domain: HanoiDomain, rules: str, seed: int) -> None:
    options = domain.options({"rules": rules, "randomisation": "hard"}, preset="paper")
    episodes = {each.name: each for each in domain.known_episodes(options, seed=seed)}
    assert set(episodes) == {*KEPT, *WORSE}
    for name, each in episodes.items():
        arrays, success = each.recording.arrays(), each.recording.states["success"]
        assert all(np.isfinite(array).all() for array in arrays.values())
        assert each.success == bool(success[-1]) == (name == KEPT[-1])
        assert not success[:-1].any()
        assert each.recording.steps < options["horizon"]
    illegal = {name for name, each in episodes.items() if each.ended_by == "illegal"}
    assert illegal == ({*WORSE} if rules == "strict" else {"1 move kept, then a larger cube put on a smaller one"})
    stacked = episodes["1 move kept, then a larger cube put on a smaller one"].recording.states["illegal_score"]
    assert stacked[-1] >= 0.7 > stacked[:-1].max()


@BOTH
def test_a_low_tower_has_the_episodes_that_it_can_have(domain: HanoiDomain) -> None:
    def names(n_cubes: int) -> list[str]:
        options = domain.options({"n_cubes": n_cubes}, preset="paper")
        return [each.name for each in domain.known_episodes(options, seed=3)]

    assert names(1) == KEPT[:3]
    assert set(names(2)) == {*KEPT[:3], *KEPT[4:6], *WORSE} - {"tower knocked over"}


@BOTH
def test_the_order_is_that_of_the_task(domain: HanoiDomain) -> None:
    options = domain.options({}, preset="paper")
    probes = [
        Probe(name=each.name, below=each.below, episode=Episode(
            index=0, seed=0, steps=each.recording.steps, ended_by=each.ended_by, success=each.success
        ))
        for each in domain.known_episodes(options, seed=4)
    ]
    order = set(known_order((), probes))
    assert {(better, worse) for place, better in enumerate(KEPT) for worse in KEPT[:place]} <= order
    assert ("idle", "tower knocked over") in order
    assert not {pair for pair in order if pair[0] in WORSE}


@BOTH
def test_recordings_are_the_domains_own_and_depend_on_the_seed_only(domain: HanoiDomain) -> None:
    options = domain.options({}, preset="smoke" if domain is KINEMATIC else "quick")
    def nth(domain: HanoiDomain, options: dict[str, JSON], seed: int) -> KnownEpisode:
        return next(islice(domain.known_episodes(options, seed=seed), 1, None))

    once, again, other = (nth(domain, options, seed) for seed in (5, 5, 6))
    arrays, same, different = (each.recording.arrays() for each in (once, again, other))
    assert all(array.tobytes() == same[name].tobytes() for name, array in arrays.items())
    assert arrays["container_pos"].tobytes() != different["container_pos"].tobytes()
    own = recorded(domain).arrays()
    assert {name: (array.dtype, array.shape[1:]) for name, array in arrays.items()} == {
        name: (array.dtype, array.shape[1:]) for name, array in own.items()
    }
    assert arrays["control_period_s"] == domain.motion.control_period_s


def test_what_does_not_fit_into_the_horizon_is_left_out() -> None:
    options = KINEMATIC.options({"horizon": 100}, preset="paper")
    names = [each.name for each in KINEMATIC.known_episodes(options, seed=0)]
    assert "1 move done and kept" in names and "2 moves done and kept" not in names
