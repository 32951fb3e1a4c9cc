"""Prices of tokens: the user's prices first, then the list that comes with genai-prices, offline.

A new provider has its name in that list in `_provider`; see `providers.py` for the rest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.errors import UsageError
from .spec import ModelSpec

if TYPE_CHECKING:
    from genai_prices import Usage
    from pydantic_ai.usage import RequestUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """A price that the user gives, in US dollars per million tokens."""

    input_usd_per_mtok: float
    output_usd_per_mtok: float

    def __post_init__(self) -> None:
        if not (0 <= self.input_usd_per_mtok < float("inf") and 0 <= self.output_usd_per_mtok < float("inf")):
            raise UsageError("the price of a model must be a number of dollars per million tokens, 0 or more")


def cost_usd(spec: ModelSpec, price: Price | None, usage: "RequestUsage | Usage") -> float | None:
    """The cost of one answer in US dollars, or None if it is unknown. Unknown is not 0."""
    if price is not None:
        tokens = float(usage.input_tokens or 0), float(usage.output_tokens or 0)
        return (tokens[0] * price.input_usd_per_mtok + tokens[1] * price.output_usd_per_mtok) / 1e6
    if spec.scheme == "compatible":
        return None  # the same weights cost differently everywhere
    from genai_prices import calc_price

    try:
        return float(calc_price(usage, spec.model, provider_id=_provider(spec)).total_price)
    except LookupError:
        return None


def require_prices(specs: Iterable[ModelSpec], prices: Mapping[str, Price]) -> None:
    """Raise UsageError with the first model whose price is unknown; for runs with a money budget.

    `prices` are the user's, by model name.
    """
    from genai_prices import Usage

    for spec in specs:
        if spec.scheme == "offline":
            continue
        if cost_usd(spec, prices.get(spec.name), Usage(input_tokens=1, output_tokens=1)) is None:
            raise UsageError(
                f"the price of {spec.name!r} is not known, so a money budget cannot be kept: give its price "
                "in dollars per million input and output tokens, or budget calls or tokens instead"
            )


def _provider(spec: ModelSpec) -> str:
    return "anthropic" if spec.scheme == "anthropic" else "openai"
