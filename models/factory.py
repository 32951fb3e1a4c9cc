"""Makes models from the user's names. Reports errors in them before anything is imported or spent."""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..core.errors import BudgetSpent, ModelError, UsageError
from ..core.ports import UNUSABLE, Ask, Model, Reply
from .asked import DAY_S, AskedModel, BallotFolder
from .asked import NAME as ASK
from .budget import BudgetedModel
from .call_limits import CallLimits, Elapsed, Gate, Sleep
from .client import ClientModel, Requester, Sampling, summed
from .command import CommandModel
from .opening import address_of, not_opened, refuse_proxy_to_itself, require_reachable
from .prices import Price
from .services import Account, Habits, Services
from .spec import COMMAND, ModelSpec, base_url_of, key_of, parse_specs

# Several models for one role, tried in turn.


class FallbackModel:
    """Calls the first model; if its call fails for good, the next one.

    A model that failed fatally (for example by a refused key) is not called again. BudgetSpent is passed on: the
    budget belongs to the run, not to the model. Reply.model names the model that answered.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        if not models:
            raise ValueError("a fallback needs at least one model")
        self.models = tuple(models)
        self.name = ",".join(model.name for model in models)
        self._lost: dict[int, ModelError] = {}

    async def complete(self, ask: Ask) -> Reply:
        """The answer of the first model that does not fail. Raises ModelError with every reason if all fail."""
        errors: list[ModelError] = []
        sent = 0
        unusable: Reply | None = None
        for position, model in enumerate(self.models):
            if position in self._lost:
                errors.append(self._lost[position])
                continue
            try:
                reply = await (model.complete(ask, patient=False) if isinstance(model, ClientModel)
                               else model.complete(ask))
            except BudgetSpent:
                raise
            except ModelError as error:
                errors.append(error)
                sent += error.attempts
                if error.fatal and not error.of_pictures:
                    self._lost[position] = error
            else:
                reply = _counted(reply, sent, unusable)
                if reply.stop != UNUSABLE:
                    return reply
                unusable, sent = reply, 0
                errors.append(ModelError(reply.text))
        down = next((model for model, error in zip(self.models, errors, strict=True) if error.down), None)
        if down is not None:    # the first that may come back is waited for
            return _counted(await down.complete(ask), sent, unusable)
        if unusable is not None:
            return unusable
        raise ModelError(
            "; ".join(str(error) for error in errors), fatal=all(error.fatal for error in errors), attempts=sent,
            of_pictures=any(error.of_pictures for error in errors),
        )

    async def open(self) -> None:
        """Open all models that can be opened; one that cannot is not called. Raises UsageError if none can."""
        problems: list[UsageError] = []
        for position, model in enumerate(self.models):
            try:
                await open_model(model)
            except UsageError as error:
                problems.append(error)
                self._lost[position] = ModelError(str(error), fatal=True)
        if len(problems) == len(self.models):
            raise UsageError("; ".join(map(str, problems)))

    async def close(self) -> None:
        """Close all models that can be closed."""
        for model in self.models:
            close = getattr(model, "close", None)
            if close is not None:
                await close()


def _counted(reply: Reply, sent: int, unusable: Reply | None) -> Reply:
    """The reply with the requests that were sent to other models before, and what their unusable answers cost."""
    usage = reply.usage if unusable is None else summed((unusable.usage, reply.usage))
    return replace(reply, usage=replace(usage, attempts=usage.attempts + sent))


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
                report=self.services.noted, elapsed=self.elapsed, sleep=self.sleep,
            )
        return accounts[spec.account]

    def habits(self, spec: ModelSpec) -> Habits:
        """What is known of this model at its account."""
        return self.services.habits.setdefault((spec.account, spec.model), Habits(spec.name, self.services.noted))


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


async def open_model(model: Model) -> None:
    """Reach a model's service, and open its client. Raises UsageError with the fix where this fails."""
    if isinstance(model, ClientModel | CommandModel | FallbackModel | BudgetedModel):
        await model.open()


async def close_model(model: Model) -> None:
    """Close a model's sockets, if it has any."""
    if isinstance(model, ClientModel | FallbackModel | BudgetedModel):
        await model.close()


def _make(
    spec: ModelSpec, settings: ClientSettings, environ: Mapping[str, str], offline: Model | None
) -> Model:
    if spec.scheme == "offline":
        if offline is None:
            raise UsageError("the offline model cannot be used here: it needs a domain to work on")
        return offline
    if spec.scheme == ASK:
        wait_s = DAY_S if settings.vote_s is None else settings.vote_s
        return AskedModel(settings.ballots, wait_s=wait_s, elapsed=settings.elapsed, sleep=settings.sleep)
    if spec.scheme == COMMAND:
        return CommandModel(
            spec, gate=settings.account(spec).gate, total_s=settings.limits.total_s, environ=environ,
            elapsed=settings.elapsed,
        )
    key = key_of(spec, environ)
    base_url = base_url_of(spec, environ)

    address = address_of(spec, base_url)
    habits = settings.habits(spec)

    async def require_ready() -> None:
        refuse_proxy_to_itself(spec, address)
        await require_reachable(spec, address)

    def connect() -> Requester:
        from .connection import Connection  # imports pydantic-ai

        try:
            return Connection(
                spec, key, base_url=base_url, limits=settings.limits, sampling=settings.sampling,
                price=settings.prices.get(spec.name), habits=habits,
            )
        except Exception as error:  # noqa: BLE001 - proxies and certificates can make the libraries raise anything
            raise not_opened(spec, error) from None

    return ClientModel(
        spec.name, connect, account=settings.account(spec), address=address, require_ready=require_ready,
        limits=settings.limits, seed=settings.seed,
        retried=lambda order, why: settings.services.retried(order, why),   # a run sets it when it begins
        # A compatible server rarely charges less for what it cached, so its calls never wait for one another.
        cached=settings.sampling.cache and spec.scheme != "compatible",
        elapsed=settings.elapsed, sleep=settings.sleep,
    )
