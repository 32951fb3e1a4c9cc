"""The gallery: every entry is whole and valid, is listed, shown and written, and holds when it is rolled out again."""

import json
from pathlib import Path

import pytest
from memento.agents.reply import check
from memento.cli import exit_code
from memento.core.errors import UsageError
from memento.core.provenance import GIVEN
from memento.core.values import Program
from memento.domains import load
from memento.gallery import NOMINAL, PREFIX, entry, names, policy_file

from ..support.program import Call

REPOSITORY = Path(__file__).parents[2]
MOST_TAPE_BYTES = 150_000


@pytest.mark.parametrize("name", names())
def test_an_entry_is_whole(name: str) -> None:
    found = entry(name)
    assert check(Program(found.program.read_text()), load(found.domain, GIVEN).contract) is None
    nominal = found.under(NOMINAL)
    assert nominal is not None and nominal.episodes >= 16 and (nominal.returned or nominal.success)
    for measured in found.measured:
        for values in (measured.success, measured.returned):
            assert values is None or values[1] <= values[0] <= values[2]
    assert found.luck and found.found and found.replies > 0
    if (REPOSITORY / "docs").is_dir():
        assert 0 < (REPOSITORY / found.tape).stat().st_size <= MOST_TAPE_BYTES


def test_names_stand_for_files() -> None:
    assert policy_file("some/policy.py") == Path("some/policy.py")
    with pytest.raises(UsageError, match=r"did you mean 'bipedal-walker'"):
        policy_file(f"{PREFIX}bipedal-waker")


def test_it_is_listed_shown_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def said(*arguments: str | Path, code: int = 0) -> str:
        assert exit_code(["gallery", *map(str, arguments)]) == code
        found = capsys.readouterr()
        return found.err if code else found.out

    listed = said()
    assert all(name in listed for name in names())
    shown = said("bipedal-walker")
    assert "gallery:bipedal-walker --domain gym:BipedalWalker-v3" in shown and "luck:" in shown
    assert "published:" in shown and "--replay docs/results/" in shown
    said("bipedal-walker", "--out", tmp_path / "walker.py")
    assert (tmp_path / "walker.py").read_text() == entry("bipedal-walker").program.read_text()
    for arguments, why in ((("bipedal-walker",), "exists already"), ((), "name it")):
        assert why in said(*arguments, "--out", tmp_path / "walker.py", code=2)
    lines = said("--json").splitlines()
    assert [json.loads(line)["name"] for line in lines] == names()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_program_of_the_gallery_still_holds(memento: Call) -> None:
    pytest.importorskip("Box2D", reason="the extra `suites` is not installed")
    said = memento("gallery", "bipedal-walker", "--check", "--episodes", "2").stdout
    for conditions in ("nominal", "light", "heavy"):
        assert f"bipedal-walker, {conditions}: 2 episodes as recorded" in said
