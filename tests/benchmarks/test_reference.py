"""The benchmark's statistics against known values, its cases, and its continuation after a stop."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from . import reference as bench


def line(seed: int, *, success: bool, physics: str = "fast", fitness: float = 1.0) -> bench.Line:
    return {
        "policy": "p", "case": "table", "seed": seed, "digest": "d", "physics": physics, "success": success,
        "steps": 100 + seed, "ended_by": "success" if success else "illegal", "fault": None, "fitness": fitness,
        "drops": 1, "placements": 14, "off_peg": 0, "drawn": None,
    }


def test_wilson_intervals_are_those_of_the_tables() -> None:
    assert bench.wilson(10, 10) == pytest.approx((0.7225, 1.0), abs=1e-4)
    assert bench.wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert bench.wilson(0, 0) == (0.0, 1.0)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_rate(counts: tuple[int, int]) -> None:
    low, high = bench.wilson(*counts)
    assert 0.0 <= low <= counts[0] / counts[1] <= high + 1e-12 and high <= 1.0


def test_pairs_that_agree_still_leave_doubt() -> None:
    difference, low, high = bench.paired_rates(0, 0, 100)
    assert difference == 0.0 and low == -high and 0.02 < high < 0.04


@given(st.integers(0, 50), st.integers(0, 50))
def test_paired_rates_turn_with_their_sides(one: int, other: int) -> None:
    difference, low, high = bench.paired_rates(one, other, 120)
    back, back_low, back_high = bench.paired_rates(other, one, 120)
    assert back == -difference and math.isclose(back_low, -high) and math.isclose(back_high, -low)
    assert low < high


def test_paired_means() -> None:
    difference, low, high = bench.paired_means([0.1, 0.5, 0.9], [0.2, 0.5, 1.1])
    assert difference == pytest.approx(0.1)
    assert high - difference == pytest.approx(difference - low) == pytest.approx(1.96 * 0.1 / math.sqrt(3), rel=1e-3)


def test_a_case_is_a_preset_and_options() -> None:
    assert bench.parse_case("light") == {"randomisation": "light"}
    assert bench.parse_case("table:variant=cylinder,n_cubes=5,noise_std_m=0.01") == {
        "randomisation": "table", "variant": "cylinder", "n_cubes": 5, "noise_std_m": 0.01,
    }


def test_worse_policies_are_the_reference_with_other_constants() -> None:
    texts = {name: bench.policy(name).text for name in bench.POLICIES}
    assert texts["reference"] == bench.REFERENCE.read_text()
    assert "BIAS_STD = 0.0001" in texts["mediocre"] and "BIAS_STD = 0.0001" not in texts["reference"]
    assert len(set(texts.values())) == len(texts)
    for text in texts.values():
        compile(text, "policy", "exec")


def test_a_missing_constant_is_refused() -> None:
    with pytest.raises(SystemExit, match="NOWHERE"):
        bench.policy("reference:NOWHERE=1")


def test_a_truncated_line_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "found.jsonl"
    path.write_text('{"seed": 1}\n{"seed": 2}\n{"se')
    assert [found["seed"] for found in bench.lines(path)] == [1, 2]
    assert path.read_text() == '{"seed": 1}\n{"seed": 2}\n'
    assert bench.lines(tmp_path / "none.jsonl") == []


def test_the_table_counts_what_happened() -> None:
    text = bench.show([line(seed, success=seed != 3) for seed in range(10)])
    row = text.splitlines()[2]
    assert "| 10 | 9 | 0.900 [0.596, 0.982] | 105 |" in row
    assert row.endswith("| 10 | 0 | 1 illegal |")


def test_only_the_same_seed_makes_a_pair() -> None:
    found = [line(seed, success=True, physics="exact") for seed in range(20)]
    found += [line(seed, success=seed % 5 > 0, fitness=0.9) for seed in range(10, 30)]
    row = bench.compare(found).splitlines()[2]
    assert "| fast | 10 | 1.000 | 0.800 | -0.200 " in row
    assert "| 1.000 | 0.900 | -0.100 " in row


def test_what_was_rolled_out_under_one_physics_is_still_to_do_under_another() -> None:
    program = bench.policy("reference")
    found = [line(seed, success=True, physics="exact") | {"digest": program.digest} for seed in (1, 2)]
    for physics, left in (("exact", [0, 3]), ("fast", [0, 1, 2, 3])):
        work = bench.Work(policy="p", case="table", options={"physics": physics}, seeds=range(4))
        assert bench.left_of(work, program, found) == left
        assert bench.left_of(work, bench.policy("weak"), found) == [0, 1, 2, 3]


def test_files_may_overlap() -> None:
    found = [line(seed, success=True) for seed in (1, 2, 2, 3, 1)]
    assert [each["seed"] for each in bench.distinct(found)] == [1, 2, 3]
