"""Several models for one role, tried in turn."""

from collections.abc import Sequence
from dataclasses import replace

from ..core.errors import BudgetSpent, ModelError, UsageError
from ..core.ports import UNUSABLE, Ask, Model, Reply
from .client import ClientModel, total_usage
from .opening import close_model, open_model


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
                reply = _with_attempts(reply, sent, unusable)
                if reply.stop != UNUSABLE:
                    return reply
                unusable, sent = reply, 0
                errors.append(ModelError(reply.text))
        down = next((model for model, error in zip(self.models, errors, strict=True) if error.down), None)
        if down is not None:    # the first that may come back is waited for
            return _with_attempts(await down.complete(ask), sent, unusable)
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
            await close_model(model)


def _with_attempts(reply: Reply, sent: int, unusable: Reply | None) -> Reply:
    """The reply with the requests that were sent to other models before, and what their unusable answers cost."""
    usage = reply.usage if unusable is None else total_usage((unusable.usage, reply.usage))
    return replace(reply, usage=replace(usage, attempts=usage.attempts + sent))
