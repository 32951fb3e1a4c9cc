"""What must hold before a run begins: trust in its folder, isolation, a twin for its gate, a critic that sees."""

import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path

import structlog

from ..core.errors import ModelError, UsageError
from ..core.events import Order
from ..core.ports import Ask, Domain, Drawable, ImageFile, Model, Twin, interpreter_of, twin_for
from ..core.provenance import Provenance
from ..core.values import JSON
from ..core.variables import pass_also
from ..domains import import_string, load, require_installed
from ..memory.origin import is_written_here
from ..models.spec import parse_specs, reads_text_alone
from ..runtime.rollouts import sandbox
from ..runtime.rollouts.pool import ProcessPool
from ..search.gate import GATE_SPLIT
from ..settings import CRITIC, Settings, recorded_settings
from ..settings.effects import effects
from .budgets import models_of
from .wiring import Models

SPLIT = "search"


def twin_of(settings: Settings, domain: Domain) -> Twin | None:
    """The twin for the gate of a run; None without a gate. Raises UsageError if the domain has none."""
    return None if settings.gate == "off" else twin_for(domain, settings.options)


async def require_twin(settings: Settings, domain: Domain) -> None:
    """Raise UsageError if a run has a gate, and programs of its domain cannot run in the twin."""
    twin = twin_of(settings, domain)
    if twin is None:
        return
    require_installed(twin.domain)
    other = load(twin.domain, settings.provenance)
    if (other.contract, other.evaluator_contract) != (domain.contract, domain.evaluator_contract):
        raise _misfit(settings, twin, "its programs have other classes or methods")
    with tempfile.TemporaryDirectory(prefix="memento-gate-") as text:
        async with ProcessPool(
            domain=import_string(settings.domain), domains={GATE_SPLIT: import_string(twin.domain)},
            splits={SPLIT: settings.options, GATE_SPLIT: twin.options}, workers=1, trajectories=Path(text),
            python=interpreter_of(domain, settings.options, settings.provenance),
        ) as pool:
            try:
                await pool.require_twin(SPLIT, GATE_SPLIT)
            except UsageError as error:
                raise _misfit(settings, twin, str(error)) from None


def _misfit(settings: Settings, twin: Twin, why: str) -> UsageError:
    return UsageError(
        f"the gate cannot try programs for {settings.domain!r} on {twin.domain!r}: {why}; remove gate = 'on'"
    )


# Checks that the models which get pictures take them, before a run begins.


QUESTION = "Which colour has this picture? Answer with one word."
SIDE = 64  # pixels


def refuse_the_blind(settings: Settings) -> None:
    """Raise UsageError for a model that gets pictures and is known to take none."""
    for role in _seeing(settings):
        for text in models_of(settings)[role]:
            for spec in parse_specs(text):
                if spec.free or reads_text_alone(spec):
                    raise UsageError(
                        f"{spec.name!r} takes no images, so it cannot be the {_named(role)}: choose a model that does"
                    )


async def require_sight(settings: Settings, models: Models) -> None:
    """Ask models of servers about which nothing is known one tiny question with a picture.

    Raises UsageError if one does not answer.
    """
    made: dict[str, Model | None] = {"proposer": models.proposer, CRITIC: models.critic}
    for role in _seeing(settings):
        specs = [spec for text in models_of(settings)[role] for spec in parse_specs(text)]
        model = made[role]
        if model is None or not any(spec.scheme == "compatible" for spec in specs):
            continue
        ask = Ask(order=Order(id=f"{role}/sight"), attempt=0, role=role, prompt=QUESTION, images=(_picture(),))
        try:
            await model.complete(ask)
        except ModelError as error:
            raise UsageError(f"the {_named(role)} did not answer a question with a picture: {error}") from None


def _seeing(settings: Settings) -> Iterator[str]:
    """The roles whose models get pictures."""
    if settings.critic is not None:
        yield CRITIC
    if settings.critic_mode == "pixels":
        yield "proposer"


def _named(role: str) -> str:
    return CRITIC if role == CRITIC else "model with critic_mode = 'pixels'"


def _picture() -> ImageFile:
    from PIL import Image

    file = BytesIO()
    Image.new("RGB", (SIDE, SIDE), (38, 110, 190)).save(file, format="JPEG")
    return ImageFile(data=file.getvalue())


# The worker that draws the sheets of a run, and the check that it can.


@asynccontextmanager
async def artists(settings: Settings, domain: Domain, trajectories: Path) -> AsyncIterator[ProcessPool]:
    """A worker for drawing alone: what a graphics library does to its process cannot reach a rollout."""
    async with ProcessPool(
        domain=import_string(settings.domain), splits={SPLIT: settings.options}, workers=1, trajectories=trajectories,
        python=interpreter_of(domain, settings.options, settings.provenance),
    ) as pool:
        yield pool


async def require_drawing(settings: Settings, domain: Domain) -> None:
    """Raise UsageError if a run needs pictures of episodes and this machine cannot draw them."""
    if not settings.looks:
        return
    if not isinstance(domain, Drawable):
        raise UsageError(
            f"a critic needs pictures, and the domain {domain.name!r} draws none: it has no method renderer(options)"
        )
    with tempfile.TemporaryDirectory(prefix="memento-drawing-") as text:
        async with artists(settings, domain, Path(text)) as pool:
            try:
                await pool.require_drawing(SPLIT)
            except UsageError as error:
                raise UsageError(f"a critic needs pictures: {error}") from None


# The layers that isolate generated programs on this machine, and the messages if some are missing.


ISOLATING = sandbox.ISOLATING

_log = structlog.get_logger("memento.isolation")


def live_layers() -> tuple[str, ...]:
    """The names of the layers that are active for every generated program on this machine."""
    return tuple(name for name, layer in sandbox.layers().items() if layer.live)


def require_sandbox(layers: Iterable[str]) -> None:
    """Raise UsageError if these layers do not isolate programs."""
    live = {*layers}
    missing = [layer for layer in ISOLATING if layer not in live]
    if missing:
        raise UsageError(
            f"--require-sandbox: generated code cannot be isolated here ({', '.join(missing)} missing); "
            "see memento doctor"
        )


def warn_of_lost(before: Iterable[str], now: Iterable[str]) -> None:
    """Warn if a run continues with fewer layers than it started with, for example on another machine."""
    live = {*now}
    lost = [layer for layer in before if layer not in live]
    if lost:
        _log.warning("isolation-lost", missing=", ".join(lost), why="the run started with more: see memento doctor")


# The question before a folder from elsewhere is used. Without `--trust` its settings may do nothing of what they name.


def trusted_settings(
    folder: Path, begun: Mapping[str, JSON], settings: Settings, *, trusted: bool, models: bool
) -> Settings:
    """The settings in effect of the run or tape in `folder`, with their provenance; `begun` are those it began with.

    `models`: whether its models would be asked. Its simulators get the environment variables that it names. Raises
    UsageError where it is not from here and would import, start, contact or pass something.
    """
    own = is_written_here(folder, begun) and _unbudgeted(settings) == _unbudgeted(recorded_settings(begun))
    provenance = Provenance(place=f"the run {folder.name!r}", trusted=trusted or own)
    provenance.require(effects_of_run(settings, models=models))
    if provenance.trusted:
        pass_also(settings.env)
    return settings.from_there(provenance)


def effects_of_run(settings: Settings, *, models: bool) -> Iterator[str]:
    """What a run with these settings would import, start or contact, as ends of a sentence. `models`: contact too."""
    named = {text for texts in models_of(settings).values() for text in texts} if models else set()
    yield from effects(settings, models=named)


def _unbudgeted(settings: Settings) -> dict[str, JSON]:
    """All settings that a resumed run cannot change."""
    return {key: value for key, value in settings.as_json().items() if not key.startswith("budget")}
