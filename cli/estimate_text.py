"""The text of `memento run --estimate`. Pure."""

from collections.abc import Iterator, Sequence

from ..app.estimate import ASSUMPTIONS, Estimate, EstimatedCalls
from ..core.text import cost

HEAD = ("role", "what", "calls", "tokens a prompt", "a reply", "tokens in", "tokens out", "cost")


def describe_estimate(found: Estimate) -> str:
    """What a run would ask of its models, in a table of ranges, with what it assumes."""
    settings = found.settings
    models = {role: ", ".join(names) for role, names in found.models.items()}
    lines = [f"{settings.domain}, method {settings.method}, preset {settings.preset}; nothing was spent"]
    lines += [f"  {role}: {names}" for role, names in models.items()]
    total = found.total
    rows = [HEAD, *map(_row, found.parts), ("total", "", *_sums(total))]
    lines += ["", *_aligned(rows), ""]
    if total.cost_usd is None:
        lines.append(
            "the price of a model is not known, so there is no total: name it in dollars per million tokens, such as"
            " --set \"prices.lab:qwen3={input=0.1,output=0.4}\""
        )
    lines += _budget(found)
    return "\n".join([*lines, "assumed:", *(f"  {line}" for line in ASSUMPTIONS)])


def _row(part: EstimatedCalls) -> tuple[str, ...]:
    calls, *sums = _sums(part)
    return (part.role, part.what, calls, _range(part.prompt_tokens), _range(part.reply_tokens), *sums[2:])


def _sums(part: EstimatedCalls) -> tuple[str, ...]:
    """Calls, two empty cells for the tokens of one call, tokens in and out, cost."""
    spent = part.cost_usd
    money = "unknown" if spent is None else "–".join(dict.fromkeys(cost(usd) for usd in spent))
    return _range(part.calls), "", "", _range(part.input_tokens), _range(part.output_tokens), money


def _budget(found: Estimate) -> Iterator[str]:
    settings, total = found.settings, found.total
    tokens = total.input_tokens[1] + total.output_tokens[1]
    usd = None if total.cost_usd is None else total.cost_usd[1]
    for name, limit, most in (
        ("calls", settings.budget_calls, total.calls[1]), ("tokens", settings.budget_tokens, tokens),
        ("usd", settings.budget_usd, usd),
    ):
        if limit is not None and (most is None or most > limit):
            yield f"the run ends where its budget_{name} of {limit:,g} is spent, if that is earlier"
    if settings.budget_episodes is not None:
        yield f"the search ends where its budget of {settings.budget_episodes:,} episodes is spent, if that is earlier"


def _range(ends: tuple[int, int]) -> str:
    return "–".join(dict.fromkeys(map(_short, ends)))


def _short(count: int) -> str:
    """A count with at most three digits: 950, 12.3 k, 4.56 M."""
    for size, unit in ((1e6, " M"), (1e3, " k")):
        if count >= 10 * size or (size == 1e6 and count >= size):
            return f"{count / size:.3g}{unit}"
    return f"{count:,}"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  " + "  ".join(cells).rstrip()
