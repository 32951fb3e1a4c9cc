"""Several models for one role, tried in turn."""

from collections.abc import Sequence
from dataclasses import replace

from ..core.errors import BudgetSpent, ModelError
from ..core.ports import Ask, Model, Reply


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
