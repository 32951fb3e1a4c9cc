"""The keys: one table, which the help screen and the guide agree with."""

import re
from pathlib import Path

from memento.tui.watch.keys import KEYS, PALETTE, help_rows

GUIDE = Path(__file__).parents[3] / "docs" / "reading-the-screen.md"
MARKS = {"?", "p", "t", "~", "o", "+", "-", "<", "x", "/"}      # of slots, which the guide sets as keys are


def names() -> set[str]:
    return {name for keys in KEYS.values() for key in keys for name in key.title.split()} | {PALETTE.title}


def test_every_key_of_the_guide_is_bound() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    written = {each for each in re.findall(r"`([^`]+)`", text) if len(each) == 1 or each.startswith("Ctrl+")}
    assert written - MARKS <= names(), "the guide has a key that the program does not have"


def test_every_key_of_the_program_itself_is_in_the_guide() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    missing = [key.title for key in KEYS["app"] if f"`{key.title}`" not in text and key.title != "1"]
    assert not missing, "docs/reading-the-screen.md lacks these keys"


def test_the_help_has_every_key_with_a_meaning() -> None:
    listed = " ".join(keys for _, rows in help_rows() for keys, _ in rows).split()
    documented = {name for keys in KEYS.values() for key in keys if key.help for name in key.title.split()}
    assert documented - {"2", "3", "4", "5", "6"} <= {*listed}, "1 … 7 stands for the screens"


def test_no_key_means_two_things_at_one_place() -> None:
    for place, keys in KEYS.items():
        bound = [each for key in keys for each in key.key.split(",")]
        assert len(bound) == len({*bound}), place
