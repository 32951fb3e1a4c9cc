"""The findings in words: one plain sentence per comparison, no stronger than its test. Pure."""

from collections.abc import Iterator, Sequence

from ..core.text import plural
from .findings import FITNESS, SUCCESS, Findings, GroupFinding, TestFinding

LEVEL = 0.05


def sentences(findings: Findings) -> Iterator[str]:
    """The results of all groups' tests as sentences, then which of them have too few seeds for any result."""
    for group in findings.groups:
        yield from _of_group(group)
    yield from _too_few(tuple(group for group in findings.groups if group.tests))


def _too_few(tested: Sequence[GroupFinding]) -> Iterator[str]:
    """One sentence for each number of seeds at which no test can be significant."""
    weak: dict[int, list[str]] = {}
    for group in tested:
        if group.tests[0].test.least_p > LEVEL:
            weak.setdefault(min(one.test.n for one in group.tests), []).append(f"{group.task} with {group.model}")
    for seeds, places in weak.items():
        where = "With" if len(places) == len(tested) else f"On {list_words(places)}: with"
        yield f"{where} {plural(seeds, 'seed')} no paired test can reach p < {LEVEL:g}, whatever the methods do."


def _of_group(group: GroupFinding) -> Iterator[str]:
    where = f"On {group.task} with {group.model}"
    if not group.tests:
        if len(group.arms) > 1:
            yield f"{where}: the methods have no seed in common, so nothing is tested."
        return
    alike: dict[str, list[str]] = {}
    for quantity in dict.fromkeys(one.quantity for one in group.tests):
        if _is_reported(quantity, group):
            verdict = _verdict([one for one in group.tests if one.quantity == quantity])
            alike.setdefault(verdict, []).append(_words(quantity))
    for verdict, quantities in alike.items():
        yield f"{where}, in {list_words(quantities)}: {group.tests[0].one} {verdict}."


def _is_reported(quantity: str, group: GroupFinding) -> bool:
    """Whether the words report this quantity: held-out measures if there are any, else F and S of the search."""
    held_out = any(arm.measures for arm in group.arms)
    return ": " in quantity if held_out else quantity in (FITNESS, SUCCESS)


def _words(quantity: str) -> str:
    kind, colon, name = quantity.partition(": ")
    if not colon:
        return {FITNESS: "fitness in the search", SUCCESS: "success in the search"}.get(quantity, quantity)
    return (
        f"success on held-out seeds ({name})" if kind == "success" else f"reference fitness on held-out seeds ({name})"
    )


def _verdict(tests: Sequence[TestFinding]) -> str:
    """The arms against which the difference is significant after adjustment, with its size, then the others."""
    clear: dict[bool, list[str]] = {True: [], False: []}
    rest = []
    for one in tests:
        if one.adjusted is None or one.adjusted >= LEVEL:
            rest.append(one.other)
        else:
            clear[one.test.difference > 0].append(f"{one.other} by {abs(one.test.difference):.2f}")
    signs = ((True, "above"), (False, "below"))
    parts = [f"is {word} {list_words(clear[sign])}" for sign, word in signs if clear[sign]]
    if rest:
        parts.append(f"shows no significant difference from {list_words(rest, last='or')}")
    return "; it ".join(parts)


def list_words(names: Sequence[str], *, last: str = "and") -> str:
    """Names as a part of a sentence: a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"
