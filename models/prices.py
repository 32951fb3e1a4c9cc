"""Prices of tokens: the user's prices first, then the list that comes with genai-prices, offline.

What neither has is unknown: the price of one provider is never taken for another's.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.errors import UsageError
from .spec import ModelSpec

if TYPE_CHECKING:
    from genai_prices import Usage
    from pydantic_ai.usage import RequestUsage


CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """A price that the user gives, in US dollars per million tokens."""

    input_usd_per_mtok: float
    output_usd_per_mtok: float
    cached_usd_per_mtok: float | None = None         # input tokens read from the cache; None: as other input tokens
    cache_written_usd_per_mtok: float | None = None  # input tokens written to it; None: as other input tokens

    def __post_init__(self) -> None:
        given = (self.input_usd_per_mtok, self.output_usd_per_mtok, self.cached_usd, self.cache_written_usd)
        if not all(0 <= price < float("inf") for price in given):
            raise UsageError("the price of a model must be a number of dollars per million tokens, 0 or more")

    @property
    def cached_usd(self) -> float:
        """The price of a million input tokens that were read from the cache."""
        return self.input_usd_per_mtok if self.cached_usd_per_mtok is None else self.cached_usd_per_mtok

    @property
    def cache_written_usd(self) -> float:
        """The price of a million input tokens that were written to the cache."""
        written = self.cache_written_usd_per_mtok
        return self.input_usd_per_mtok if written is None else written

    def of(self, tokens_in: float, tokens_out: float, *, cached: float = 0, cache_written: float = 0) -> float:
        """The price in US dollars; the input tokens include those read from and written to the cache."""
        plain = tokens_in - cached - cache_written
        usd = plain * self.input_usd_per_mtok + cached * self.cached_usd + cache_written * self.cache_written_usd
        return (usd + tokens_out * self.output_usd_per_mtok) / 1e6


def tokens_in(characters: int) -> int:
    """A rough estimate, used only where a service reports no usage."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def cost_usd(spec: ModelSpec, price: Price | None, usage: "RequestUsage | Usage") -> float | None:
    """The cost of one answer in US dollars, or None if it is unknown. Unknown is not 0."""
    if price is not None:
        tokens_in, tokens_out = float(usage.input_tokens or 0), float(usage.output_tokens or 0)
        read = min(tokens_in, float(usage.cache_read_tokens or 0))
        written = min(tokens_in - read, float(usage.cache_write_tokens or 0))
        return price.of(tokens_in, tokens_out, cached=read, cache_written=written)
    if spec.price_list is None:
        return None
    from genai_prices import calc_price

    provider, model = spec.price_list
    try:
        return float(calc_price(usage, model, provider_id=provider).total_price)
    except LookupError:
        return None


def listed_price(spec: ModelSpec) -> tuple[float, float, int | None] | None:
    """Dollars per million tokens in and out, and the context in tokens, as listed; None for what is not listed."""
    from genai_prices import Usage, calc_price

    if spec.price_list is None:
        return None
    provider, model = spec.price_list
    try:
        each = [calc_price(usage, model, provider_id=provider)
                for usage in (Usage(input_tokens=1_000, output_tokens=0), Usage(input_tokens=0, output_tokens=1_000))]
    except LookupError:
        return None
    read, written = (1_000 * float(price.total_price) for price in each)
    return read, written, getattr(each[0].model, "context_window", None)


def require_prices(specs: Iterable[ModelSpec], prices: Mapping[str, Price]) -> None:
    """Raise UsageError with the first model whose price is unknown; for runs with a money budget.

    `prices` are the user's, by model name.
    """
    from genai_prices import Usage

    for spec in specs:
        if spec.free:
            continue
        if spec.is_command:
            raise UsageError(
                f"what {spec.name!r} costs is not known, so a money budget cannot be kept: budget calls instead, and "
                "limit the money in the program itself"
            )
        if cost_usd(spec, prices.get(spec.name), Usage(input_tokens=1, output_tokens=1)) is None:
            raise UsageError(
                f"the price of {spec.name!r} is not known, so a money budget cannot be kept: give its price "
                "in dollars per million input and output tokens, or budget calls or tokens instead"
            )
