"""Which programs of a run are ranked, and the file of their fresh episodes: damage, foreign files, cut lines."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.errors import RunRefused, StoreError
from memento.core.events import CandidateScored, EliteChanged, EnvironmentRemembered, Fact, InitialChosen
from memento.core.faults import Fault, FaultKind
from memento.core.values import CandidateState, Operator, Program
from memento.memory.contenders import contenders
from memento.memory.fresh_file import FILE, FreshEpisode, fresh_episodes, key_of

RUN = "a" * 64


def scored(name: str, fitness: float, text: str | None = None, **also: object) -> CandidateScored:
    return CandidateScored(order=name, candidate=CandidateState(
        id=name, program=Program(text or f"number = {name!r}"), operator=Operator.MACRO, generation=1, slot=0,
        fitness=fitness, **also,     # type: ignore[arg-type]
    ))


def elite(name: str, generation: int, fitness: float) -> EliteChanged:
    return EliteChanged(
        generation=generation, candidate=name, origin=Operator.MACRO, fitness=fitness, success_rate=None
    )


FIRST = InitialChosen(order="init/0", program=Program("p = 0"))
START: list[Fact] = [FIRST, elite("init/0", 0, 0.1)]


def chosen(facts: list[Fact], most: int) -> list[str]:
    return [each.candidate for each in contenders(facts, most=most)]


def test_the_fittest_come_after_p_0_and_the_elite() -> None:
    facts = [
        *START, scored("g1/macro/0", 0.5), scored("g1/macro/1", 0.7), scored("g1/cross/0", 0.4),
        scored("g1/hill/0", 0.3), elite("g1/macro/0", 1, 0.5), scored("g2/macro/0", 0.55), elite("g2/macro/0", 2, 0.55),
    ]
    assert chosen(facts, 2) == ["init/0", "g2/macro/0"]
    assert chosen(facts, 3) == ["init/0", "g1/macro/1", "g2/macro/0"]
    assert chosen(facts, 4) == ["init/0", "g1/macro/0", "g1/macro/1", "g2/macro/0"]
    found = {each.candidate: each for each in contenders(facts, most=9)}
    assert [name for name, each in found.items() if each.returned] == ["g2/macro/0"]
    assert [name for name, each in found.items() if each.initial] == ["init/0"]
    assert (found["init/0"].fitness, found["g1/macro/1"].fitness) == (0.1, 0.7)


@pytest.mark.parametrize(("alone", "early"), [(True, ["init/0", "g1/macro/0"]), (False, [])])
def test_what_was_measured_before_a_memory_was_found_is_marked(alone: bool, early: list[str]) -> None:
    found = EnvironmentRemembered(differs="4 steps at first and 5 again", before=3, alone=alone)
    facts = [*START, scored("g1/macro/0", 0.5), found, scored("g1/macro/1", 0.7), elite("g1/macro/1", 1, 0.7)]
    assert [each.candidate for each in contenders(facts, most=9) if each.early] == early


def test_failed_and_pruned_candidates_are_no_contenders_and_equal_code_counts_once() -> None:
    facts = [
        *START, scored("g1/macro/0", 0.5, "x = 1"), scored("g1/macro/1", 0.5, "x = 1  # the same code"),
        scored("g1/macro/2", 0.9, fault=Fault(kind=FaultKind.CRASHED, message="")),
        scored("g1/macro/3", 0.9, bound=0.9),
        elite("g1/macro/1", 1, 0.5),
    ]
    first, second = contenders(facts, most=8)
    assert (second.candidate, second.also, second.returned) == ("g1/macro/0", ("g1/macro/1",), True)
    assert first.initial and not first.returned
    [only] = contenders(START, most=8)
    assert only.initial and only.returned
    assert contenders([], most=8) == []


@given(st.lists(st.floats(0, 1), max_size=12), st.integers(2, 9))
def test_never_more_than_asked_for_and_always_p_0_and_the_elite(values: list[float], most: int) -> None:
    facts = [*START, *(scored(f"g1/macro/{place}", value) for place, value in enumerate(values))]
    if values:
        facts.append(elite(f"g1/macro/{len(values) - 1}", 1, values[-1]))
    found = contenders(facts, most=most)
    assert len(found) == min(most, len(values) + 1)
    assert sum(each.initial for each in found) == sum(each.returned for each in found) == 1
    least = min((each.fitness or 0.0 for each in found if not (each.initial or each.returned)), default=1.0)
    left = {f"g1/macro/{place}" for place in range(len(values))} - {each.candidate for each in found}
    assert all(values[int(name.rpartition("/")[2])] <= least for name in left)


def episode(index: int, **changes: object) -> FreshEpisode:
    values = {
        "program": "b" * 64, "under": "c" * 16, "index": index, "seed": 7 + index, "steps": 10, "ended_by": "horizon",
        "fitness": 0.5, "reference": None, "success": None, "episode_return": -1.5, "error": None,
    }
    return FreshEpisode(**(values | changes))       # type: ignore[arg-type]


def test_episodes_stay_and_a_cut_line_is_dropped(tmp_path: Path) -> None:
    with fresh_episodes(tmp_path, RUN) as file:
        file.add(episode(0))
        with pytest.raises(RunRefused, match="another memento rank works on"), fresh_episodes(tmp_path, RUN):
            pass
    path = tmp_path / FILE
    whole = path.read_bytes()
    for cut in range(len(whole)):       # a kill at any byte
        path.write_bytes(whole[:cut])
        with fresh_episodes(tmp_path, RUN) as file:
            assert len(file.known) == 0
            file.add(episode(0))
        assert path.read_bytes() == whole
    with fresh_episodes(tmp_path, RUN) as file:
        assert file.known == {key_of(episode(0)): episode(0)}


LINE = json.dumps({
    "program": "b", "under": "c", "index": 0, "seed": 7, "steps": 10, "ended_by": "", "fitness": 0.5,
    "reference": None, "success": None, "episode_return": None, "error": None,
})


@pytest.mark.parametrize(("text", "why"), [
    ("{head}\n{line}\nrubbish\n", "is damaged in line 3"),
    ("{head}\n[]\n", "is damaged in line 2"),
    ("{head}\n" + LINE.replace("0.5", "NaN") + "\n", "is damaged in line 2"),
    ("{head}\n" + LINE.replace("0.5", "9" * 400) + "\n", "is damaged in line 2"),
    ("{head}\n" + LINE.replace("0.5", "1.5") + "\n", "is damaged in line 2"),
    ("{head}\n" + LINE.replace("0.5", "true") + "\n", "is damaged in line 2"),
    ("{head}\n" + LINE.replace('"steps": 10', '"steps": -1') + "\n", "is damaged in line 2"),
    ("{head}\n" + LINE.replace('"error": null', '"error": 3') + "\n", "is damaged in line 2"),
    ("{head}\n" + LINE.replace('"index"', '"place"') + "\n", "is damaged in line 2"),
    ("rubbish", "it has no first line"),
    ("rubbish\n", "is damaged in line 1"),
    ("{}\n", "not a file of `memento rank`"),
    ('{"what": "rank", "format": 1, "run": "another"}\n', "belongs to another run"),
])
def test_a_file_that_cannot_be_used_is_one_sentence_and_stays_as_it_is(tmp_path: Path, text: str, why: str) -> None:
    with fresh_episodes(tmp_path, RUN):
        pass
    path = tmp_path / FILE
    head = path.read_text().strip()
    path.write_text(before := text.replace("{head}", head).replace("{line}", LINE))
    with pytest.raises(StoreError, match=f"{why}.*: delete it") as raised, fresh_episodes(tmp_path, RUN):
        pass
    assert "\n" not in str(raised.value)
    assert path.read_text() == before


def test_a_link_a_folder_and_a_pipe_are_refused(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("")
    (tmp_path / FILE).symlink_to("precious")
    with pytest.raises(StoreError, match="is a link"), fresh_episodes(tmp_path, RUN):
        pass
    assert (tmp_path / "precious").read_text() == ""
    (tmp_path / FILE).unlink()
    for make, remove in ((Path.mkdir, Path.rmdir), (os.mkfifo, Path.unlink)):
        make(tmp_path / FILE)
        with pytest.raises(StoreError, match=r"is not a regular file|Is a directory"), fresh_episodes(tmp_path, RUN):
            pass
        remove(tmp_path / FILE)


@pytest.mark.parametrize("change", [
    lambda line: line.replace('"fitness": 0.5', '"fitness": 0.9'), lambda line: LINE,
    lambda line: line.replace('"signed": "', '"signed": "0'),
])
def test_an_episode_that_another_wrote_or_changed_does_not_count(tmp_path: Path, change: Callable[[str], str]) -> None:
    with fresh_episodes(tmp_path, RUN) as file:
        file.add(episode(0))
    path = tmp_path / FILE
    head, line = path.read_text().splitlines()
    path.write_text(f"{head}\n{change(line)}\n")
    with fresh_episodes(tmp_path, RUN) as file:
        assert not file.known
