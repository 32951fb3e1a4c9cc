"""What a report says in words: one plain sentence for each comparison, no stronger than its test. Pure."""

from collections.abc import Iterator

from .findings import FITNESS, SUCCESS, Findings, GroupFinding, TestFinding

LEVEL = 0.05


def sentences(findings: Findings) -> Iterator[str]:
    """What the tests of all groups come to."""
    for group in findings.groups:
        yield from _of_group(group)


def _of_group(group: GroupFinding) -> Iterator[str]:
    where = f"On {group.task}" + (f" with {group.model}" if group.model else "")
    if not group.tests:
        if len(group.arms) > 1:
            yield f"{where}: the methods have no seed in common, so nothing is tested."
        return
    quantities = [name for name in dict.fromkeys(one.quantity for one in group.tests) if _is_told(name, group)]
    for quantity in quantities:
        found = [one for one in group.tests if one.quantity == quantity]
        yield f"{where}, {_words(quantity)}: {'; '.join(map(_verdict, found))}."
    seeds = min(one.test.n for one in group.tests)
    if group.tests[0].test.least_p > LEVEL:
        yield f"{where}: with {seeds} seeds no paired test can reach p < {LEVEL:g}, whatever the methods do."


def _is_told(quantity: str, group: GroupFinding) -> bool:
    """Unseen measures where there are any, else the search's own."""
    unseen = any(arm.measures for arm in group.arms)
    return ": " in quantity if unseen else quantity in (FITNESS, SUCCESS)


def _words(quantity: str) -> str:
    kind, colon, name = quantity.partition(": ")
    if not colon:
        return {FITNESS: "fitness in the search", SUCCESS: "success in the search"}.get(quantity, quantity)
    return f"success on unseen seeds ({name})" if kind == "success" else f"shipped fitness on unseen seeds ({name})"


def _verdict(one: TestFinding) -> str:
    p = one.adjusted
    size = f"{one.test.difference:+.3f}, n = {one.test.n}"
    size += "" if p is None else f", adjusted p = {max(p, 0.001):.3f}"
    if p is None or p >= LEVEL:
        return f"{one.one} cannot be told from {one.other} ({size})"
    return f"{one.one} is {'above' if one.test.difference > 0 else 'below'} {one.other} ({size})"
