"""Makes models from the user's names. Reports errors in them before anything is imported or spent."""

import asyncio
import os
import time
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace

from ..core.errors import BudgetSpent, ModelError, UsageError
from ..core.ports import Ask, Model, Reply
from .asked import DAY_S, AskedModel, BallotFolder
from .asked import NAME as ASK
from .budget import BudgetedModel
from .call_limits import CallLimits, Elapsed, Gate, Sleep
from .client import ClientModel, Requester, Sampling
from .prices import Price
from .spec import ModelSpec, base_url_of, key_of, parse_specs

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
        for position, model in enumerate(self.models):
            if position in self._lost:
                errors.append(self._lost[position])
                continue
            try:
                reply = await model.complete(ask)
            except BudgetSpent:
                raise
            except ModelError as error:
                errors.append(error)
                sent += error.attempts
                if error.fatal and not error.of_pictures:
                    self._lost[position] = error
            else:
                attempts = reply.usage.attempts + sent
                return replace(reply, usage=replace(reply.usage, attempts=attempts))
        raise ModelError(
            "; ".join(str(error) for error in errors), fatal=all(error.fatal for error in errors), attempts=sent,
            of_pictures=any(error.of_pictures for error in errors),
        )

    async def close(self) -> None:
        """Close all models that can be closed."""
        for model in self.models:
            close = getattr(model, "close", None)
            if close is not None:
                await close()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """The settings that all clients of a run share. `gates` holds one gate per account, made on first use."""

    limits: CallLimits = CallLimits()
    sampling: Sampling = Sampling()
    prices: Mapping[str, Price] = field(default_factory=dict)   # the user's, by model name
    in_flight: int = 8                                          # requests at once, per account
    seed: int = 0
    gates: MutableMapping[str, Gate] = field(default_factory=dict)
    ballots: BallotFolder = field(default_factory=BallotFolder)  # of the judge "ask"
    vote_s: float | None = None                                 # the longest wait for its vote; None: a day
    elapsed: Elapsed = time.monotonic
    sleep: Sleep = asyncio.sleep

    def gate(self, spec: ModelSpec) -> Gate:
        """The gate of this model's account."""
        if spec.account not in self.gates:
            self.gates[spec.account] = Gate(self.in_flight, elapsed=self.elapsed, sleep=self.sleep)
        return self.gates[spec.account]


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
    key = key_of(spec, environ)
    base_url = base_url_of(spec, environ)

    def connect() -> Requester:
        from .connection import Connection  # imports pydantic-ai

        return Connection(
            spec, key, base_url=base_url, limits=settings.limits, sampling=settings.sampling,
            price=settings.prices.get(spec.name),
        )

    return ClientModel(
        spec.name, connect, gate=settings.gate(spec), limits=settings.limits, seed=settings.seed,
        # A compatible server rarely charges less for what it cached, so its calls never wait for one another.
        cached=settings.sampling.cache and spec.scheme != "compatible",
        elapsed=settings.elapsed, sleep=settings.sleep,
    )
