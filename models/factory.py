"""Makes models from the user's names. Reports errors in them before anything is imported or spent."""

import asyncio
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..core.errors import UsageError
from ..core.ports import Model
from ..core.variables import secrets_in
from .asked import DAY_S, AskedModel, BallotFolder
from .call_limits import CallLimits, Elapsed, Gate, Sleep
from .client import ClientModel
from .command_model import CommandModel
from .fallback import FallbackModel
from .habits import Habits
from .opening import address_of, not_opened, refuse_proxy_to_itself, require_reachable
from .prices import Price
from .providers import PYDANTIC_AI
from .requests import Requester, Sampling
from .services import Account, Services
from .spec import ModelSpec, base_url_of, key_of, parse_specs


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """The settings that all clients of a run share, and what the run knows about its `services`."""

    limits: CallLimits = CallLimits()
    sampling: Sampling = Sampling()
    prices: Mapping[str, Price] = field(default_factory=dict)   # the user's, by model name
    in_flight: int = 8                                          # requests at once, per account
    seed: int = 0
    services: Services = field(default_factory=Services)
    ballots: BallotFolder = field(default_factory=BallotFolder)  # of the judge "ask"
    vote_s: float | None = None                                 # the longest wait for its vote; None: a day
    elapsed: Elapsed = time.monotonic
    sleep: Sleep = asyncio.sleep

    def account(self, spec: ModelSpec) -> Account:
        """The account of this model."""
        accounts = self.services.accounts
        if spec.account not in accounts:
            accounts[spec.account] = Account(
                Gate(self.in_flight, elapsed=self.elapsed, sleep=self.sleep), outage_s=self.limits.outage_s,
                report=self.services.note, elapsed=self.elapsed, sleep=self.sleep,
            )
        return accounts[spec.account]

    def habits(self, spec: ModelSpec) -> Habits:
        """What is known of this model at its account."""
        return self.services.habits.setdefault((spec.account, spec.model), Habits(spec.name, self.services.note))


def make_model(
    text: str,
    *,
    settings: ClientSettings | None = None,
    environ: Mapping[str, str] = os.environ,
    offline: Model | None = None,
) -> Model:
    """The model that `text` names, or several models to try in turn, separated by commas.

    `offline` is the model for the name `offline`. Close the model with `close_model`. Raises UsageError
    for an unknown name, with the nearest one, and for a missing key, with its environment variable.
    """
    shared = settings or ClientSettings()
    models = [_make(spec, shared, environ, offline) for spec in parse_specs(text)]
    return models[0] if len(models) == 1 else FallbackModel(models)


def _make(
    spec: ModelSpec, settings: ClientSettings, environ: Mapping[str, str], offline: Model | None
) -> Model:
    if spec.is_offline:
        if offline is None:
            raise UsageError("the offline model cannot be used here: it needs a domain to work on")
        return offline
    if spec.is_person:
        wait_s = DAY_S if settings.vote_s is None else settings.vote_s
        return AskedModel(settings.ballots, wait_s=wait_s, elapsed=settings.elapsed, sleep=settings.sleep)
    if spec.is_command:
        return CommandModel(
            spec, gate=settings.account(spec).gate, total_s=settings.limits.total_s, environ=environ,
            elapsed=settings.elapsed,
        )
    key = key_of(spec, environ)
    base_url = base_url_of(spec, environ)
    address = address_of(spec, base_url)
    habits = settings.habits(spec)
    # Which variable holds the key of one of pydantic-ai's providers is known to it alone.
    secrets = secrets_in(environ) if spec.scheme == PYDANTIC_AI else ()

    async def require_ready() -> None:
        refuse_proxy_to_itself(spec, address)
        await require_reachable(spec, address)

    def connect() -> Requester:
        from .connection import Connection  # imports pydantic-ai

        try:
            return Connection(
                spec, key, base_url=base_url, limits=settings.limits, sampling=settings.sampling,
                price=settings.prices.get(spec.name), habits=habits, secrets=secrets,
            )
        except UsageError:
            raise
        except Exception as error:  # noqa: BLE001 - proxies and certificates can make the libraries raise anything
            raise not_opened(spec, error) from None

    return ClientModel(
        spec.name, connect, account=settings.account(spec), address=address, require_ready=require_ready,
        limits=settings.limits, seed=settings.seed,
        retried=lambda order, why: settings.services.retried(order, why),   # a run sets it when it begins
        cached=settings.sampling.cache and spec.provider.discounts_cache,
        elapsed=settings.elapsed, sleep=settings.sleep,
    )
