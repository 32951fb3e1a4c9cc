"""The whole prompts of the real domains with mature programs, at 2 and at 10 episodes, word for word.

The golden files leave out what others hold: known programs, and the beginning that all prompts for policies share.
The first line is the length of the whole prompt. The episodes come from `record_episodes`. After an intended change,
run `MEMENTO_GOLDEN=write pytest tests/prompts` and review the difference.
"""

import os
from pathlib import Path

import pytest
from memento.core.ports import Ask

from .real_prompts import COUNTS, POLICY_KINDS, asked, cases, programs

GOLDEN = Path(__file__).parent / "golden" / "real"
CASES = tuple(cases())
WRITE = os.environ.get("MEMENTO_GOLDEN") == "write"


def file_of(domain: str, kind: str, count: int) -> Path:
    return GOLDEN / (f"{domain}-{kind}.md" if kind == "initial-policy" else f"{domain}-{kind}-{count}.md")


ASKED: dict[tuple[str, str, int], Ask] = {}


async def once(domain: str, kind: str, count: int) -> Ask:
    """The question, asked once for all tests."""
    if (domain, kind, count) not in ASKED:
        ASKED[domain, kind, count] = await asked(domain, kind, count)
    return ASKED[domain, kind, count]


async def shown(domain: str, kind: str, count: int) -> str:
    """The prompt without what other files hold."""
    ask = await once(domain, kind, count)
    text = ask.prompt
    if kind in POLICY_KINDS[1:]:
        first = await once(domain, POLICY_KINDS[0], COUNTS[0])
        shared = ask.prefixes[0]
        assert text[:shared] == first.prompt[: first.prefixes[0]]
        text = f"[The first {shared} are those of {domain}-{POLICY_KINDS[0]}.md.]\n\n{text[shared:]}"
    for name, program in programs(domain).items():
        text = text.replace(program, f"[{name}, {len(program)} characters]")
    return f"[{len(ask.prompt)} characters]\n{text}"


@pytest.mark.parametrize(("domain", "kind", "count"), CASES)
async def test_the_prompt_is_the_golden_one(domain: str, kind: str, count: int) -> None:
    file = file_of(domain, kind, count)
    text = await shown(domain, kind, count)
    if WRITE:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_no_golden_file_is_left_over() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {file_of(*case).name for case in CASES}
