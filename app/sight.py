"""Checks that the models which get pictures take them, before a run begins."""

from collections.abc import Iterator
from io import BytesIO

from ..core.errors import ModelError, UsageError
from ..core.events import Order
from ..core.ports import Ask, ImageFile, Model
from ..models.spec import parse_specs, reads_text_alone
from ..settings import CRITIC, Settings
from .budgets import models_of
from .wiring import Models

QUESTION = "Which colour has this picture? Answer with one word."
SIDE = 64  # pixels


def refuse_text_models(settings: Settings) -> None:
    """Raise UsageError for a model that gets pictures and is known to take none."""
    for role in _seeing(settings):
        for text in models_of(settings)[role]:
            for spec in parse_specs(text):
                if spec.free or reads_text_alone(spec):
                    raise UsageError(
                        f"{spec.name!r} takes no images, so it cannot be the {_title(role)}: choose a model that does"
                    )


async def require_sight(settings: Settings, models: Models) -> None:
    """Ask models of servers about which nothing is known one tiny question with a picture.

    Raises UsageError if one does not answer.
    """
    made: dict[str, Model | None] = {"proposer": models.proposer, CRITIC: models.critic}
    for role in _seeing(settings):
        specs = [spec for text in models_of(settings)[role] for spec in parse_specs(text)]
        model = made[role]
        if model is None or not any(spec.is_compatible for spec in specs):
            continue
        ask = Ask(order=Order(id=f"{role}/sight"), attempt=0, role=role, prompt=QUESTION, images=(_picture(),))
        try:
            await model.complete(ask)
        except ModelError as error:
            raise UsageError(f"the {_title(role)} did not answer a question with a picture: {error}") from None


def _seeing(settings: Settings) -> Iterator[str]:
    """The roles whose models get pictures."""
    if settings.critic is not None:
        yield CRITIC
    if settings.critic_mode == "pixels":
        yield "proposer"


def _title(role: str) -> str:
    return CRITIC if role == CRITIC else "model with critic_mode = 'pixels'"


def _picture() -> ImageFile:
    from PIL import Image

    file = BytesIO()
    Image.new("RGB", (SIDE, SIDE), (38, 110, 190)).save(file, format="JPEG")
    return ImageFile(data=file.getvalue())
