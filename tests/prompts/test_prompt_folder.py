"""Prompt files are strict: a missing, surplus or undeclared variable is an error that names the file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.agents.stories import MAX_PRINTED
from memento.core.errors import UsageError
from memento.runtime.prompts import SHIPPED, Prompt, PromptFolder


def folder(path: Path, text: str, name: str = "ask") -> PromptFolder:
    (path / f"{name}.md").write_text(text, encoding="utf-8")
    return PromptFolder(path)


def header(*variables: str) -> str:
    return "---\npurpose: A test.\nvariables:\n" + "".join(f"  {name}: a text\n" for name in variables) + "---\n"


def test_fills_by_name(tmp_path: Path) -> None:
    prompts = folder(tmp_path, header("task", "rule") + "Do {{task}}, by {{rule}}; {{task}}.\n")
    assert prompts.fill("ask", task="this", rule="that") == "Do this, by that; this.\n"


def test_inserted_values_are_not_expanded(tmp_path: Path) -> None:
    prompts = folder(tmp_path, header("a", "b") + "{{a}} and {{b}}\n")
    assert prompts.fill("ask", a="{{b}}", b="{{a}} \\1 \\g<0>") == "{{b}} and {{a}} \\1 \\g<0>\n"


def test_a_line_with_an_empty_value_only_vanishes(tmp_path: Path) -> None:
    prompts = folder(tmp_path, header("maybe") + "before\n\n{{maybe}}\n\nafter\n")
    assert prompts.fill("ask", maybe="") == "before\n\nafter\n"
    assert prompts.fill("ask", maybe="x\n\n\ny\n") == "before\n\nx\n\n\ny\n\nafter\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("no header", "must begin with a header"),
        ("---\npurpose: x\n---\n", "must begin with a header"),
        (header("Task") + "{{task}}", "malformed or repeated variable"),
        (header("task", "task") + "{{task}}", "malformed or repeated variable"),
        (header("task") + "nothing", "lists task in its header and never uses it"),
        (header() + "{{task}}", "uses task, which its header does not list"),
        (header("task") + "{{task}} {{ task }}", "malformed place"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint) as error:
        folder(tmp_path, text)
    assert "ask.md" in str(error.value)


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "ask.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"ask\.md cannot be read"):
        PromptFolder(tmp_path)


def test_an_empty_folder_and_an_unknown_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no prompt"):
        PromptFolder(tmp_path)
    with pytest.raises(UsageError, match="hill-climb"):
        PromptFolder().fill("hillclimb")


def test_missing_and_surplus_values_are_reported_together() -> None:
    prompts = PromptFolder()
    with pytest.raises(UsageError, match=r"hill-climb\.md: no value for 'memory', no place for 'x'"):
        prompts.fill("hill-climb", **{name: "" for name in prompts["hill-climb"].variables if name != "memory"}, x="")


def test_a_carriage_return_in_a_file_changes_nothing(tmp_path: Path) -> None:
    text = header("task") + "Do {{task}}.\n"
    (tmp_path / "ask.md").write_bytes(text.replace("\n", "\r\n").encode())
    assert PromptFolder(tmp_path).fill("ask", task="it") == "Do it.\n"


@given(st.text(), st.text())
def test_values_arrive_as_they_are(first: str, second: str) -> None:
    prompt = Prompt(name="p", purpose="", variables={"a": "", "b": ""}, body="<{{a}}|{{b}}>\n")
    assert prompt.fill({"a": first, "b": second}) == f"<{first}|{second}>\n"


def test_every_file_of_the_package_is_a_prompt() -> None:
    assert set(PromptFolder()) == {path.stem for path in SHIPPED.glob("*.md")}


def test_the_memory_comes_last() -> None:
    body = PromptFolder()["hill-climb"].body
    assert body.rstrip().endswith("{{memory}}")


def test_the_prompt_of_the_tools_states_how_much_of_printed_text_is_shown() -> None:
    assert f"at most {MAX_PRINTED} characters" in (SHIPPED / "tools.md").read_text(encoding="utf-8")
