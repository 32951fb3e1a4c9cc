"""Trust in a run's folder: what its signature covers, and the question before a folder from elsewhere is used.

Without `--trust` its settings may do nothing of what they name.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from ..core.events import HintGiven, RunStarted
from ..core.provenance import Provenance
from ..core.values import JSON
from ..core.variables import pass_also
from ..memory.origin import is_signature_of, is_written_here, sign, signature_of
from ..memory.store import RunStore
from ..settings import Settings, recorded_settings, with_model
from ..settings.effects import effects
from .budgets import models_of

HINT: Final = "hint"     # the kind of a request whose body has the "text" of a hint, and its signature as "origin"
SIGNED, FENCED, KEY, SHOWN = "signature", "fence", "key", "display"


@dataclass(frozen=True, slots=True)
class Cover:
    """Who receives a text of a run's folder beside displays, and what keeps it from acting.

    `by` is SIGNED: changed, the run counts as one from elsewhere, and asks for `--trust`. FENCED: prompts quote it as
    data, and code runs isolated. KEY: it is an id or a word that is compared with known ones, never quoted as text.
    SHOWN: only displays get it, printable and in a line.
    """

    receiver: str
    by: str


_QUOTED = Cover("prompts quote it; a program runs in a sandbox", FENCED)
_KEY = Cover("keepers look it up", KEY)
_SHOWN = Cover("people read it", SHOWN)
_CALL = Cover("the tape and the account: a reply is read as one of a service", FENCED)

COVERED: Final[Mapping[str, Cover]] = {
    "RunStarted.settings": Cover("imports, programs that are started, services, keys", SIGNED),
    "RunStarted.prompts": Cover("every model, as the words of the user", SIGNED),
    "RunStarted.initial": Cover("models and workers, as p_0", SIGNED),
    "RunStarted.evaluator": Cover("models and workers, as E*", SIGNED),
    "RunStarted.exploits": Cover("models and workers, as programs of the user", SIGNED),
    "RunStarted.versions": Cover("what a resumed run is compared with", SIGNED),
    "RunStarted.sandbox": Cover("what a resumed run is compared with", SIGNED),
    "RunStarted.programs": Cover("what a resumed run is compared with", SIGNED),
    "RunStarted.branches": Cover("displays, as the names of a generation's parts", SIGNED),
    "HintGiven.text": Cover("models that propose, as the words of the user", SIGNED),
    "RunResumed.model": Cover("services, keys, programs that are started: another one than the first asks", SIGNED),
    "RunResumed.budgets": Cover("settings: budgets alone are read", KEY),
    "RunResumed.sandbox": _SHOWN,
    "WhatIfBegun.run": _KEY, "WhatIfBegun.candidate": _KEY, "WhatIfBegun.settings": _SHOWN,
    "WhatIfBegun.changed": _SHOWN, "WhatIfBegun.versions": _SHOWN, "WhatIfBegun.sandbox": _SHOWN,
    "WhatIfBegun.prompts": _SHOWN,      # draws take the prompts of the run, which its signature covers
    **dict.fromkeys((
        "order", "candidate", "candidates", "elite", "elites", "winner", "of", "operator", "origin", "islands",
        "parents", "stage", "shape", "slot", "votes", "ranking", "left_out", "conditions", "ended_by",
    ), _KEY),
    **dict.fromkeys((
        "chosen", "constants", "episode", "examination", "exploits", "fault", "measures", "note", "pool", "probes",
        "program", "rejection", "request", "said", "answer", "score", "sheet", "summary", "words", "reason",
        "CandidateScored.candidate", "Criticised.problem",
    ), _QUOTED),
    **dict.fromkeys(("call", "earlier"), _CALL),
    **dict.fromkeys((
        "RunStopped.reason", "RunStopped.why", "ServiceNoted.model", "ServiceNoted.event", "ServiceNoted.text",
        "ReplayDiffered.asked",
    ), _SHOWN),
}
"""By the name of a field with a text, or of a fact and its field, which comes first."""

FILES: Final[Mapping[str, Cover]] = {
    "run.sqlite": Cover("the facts: see COVERED; hints that wait are signed", SIGNED),
    "run.sqlite-wal": Cover("part of run.sqlite", SIGNED),
    "run.sqlite-shm": Cover("part of run.sqlite", SIGNED),
    "origin": Cover("the signature itself", SIGNED),
    "lock": Cover("whether a controller works", KEY),
    "trajectories": Cover("evaluators in a sandbox, prompts as tables, pictures for a critic", FENCED),
    "sheets": Cover("a critic, as pictures", FENCED),
    "rank.jsonl": Cover("people, as figures", SHOWN),
    "what-if": Cover("people, as figures; draws take all else from the run", SHOWN),
}
"""The files and folders of a run's folder, by name."""


def cover_of(fact: str, field: str) -> Cover | None:
    """What covers this field of a fact; None for a field that nobody entered."""
    return COVERED.get(f"{fact}.{field}") or COVERED.get(field)


def sign_run(folder: Path, started: RunStarted) -> None:
    """Sign what the run in `folder` began with: all of its first fact."""
    sign(folder, _content(started))


def is_own_run(folder: Path, started: RunStarted) -> bool:
    """Whether this installation wrote the run in `folder`, and its first fact is still the same."""
    return is_written_here(folder, _content(started))


def wrote_run(folder: Path) -> bool:
    """Whether this installation wrote the run in `folder`; the log of another one can hold any text."""
    with RunStore.read(folder) as store:
        started = next((fact for fact in store.facts(only=(RunStarted,)) if isinstance(fact, RunStarted)), None)
    return started is not None and is_own_run(folder, started)


def hint_body(started: RunStarted, text: str) -> dict[str, JSON]:
    """The body of the request for a hint to this run, signed."""
    return {"text": text, "origin": signature_of(_hint_content(started, text))}


def has_own_hints(store: RunStore, started: RunStarted) -> bool:
    """Whether this installation gave all hints of the run, those that wait for a controller too."""
    asked = [request.body for request in store.requests(HINT)]
    signed = {
        str(body["text"]) for body in asked
        if "text" in body and is_signature_of(body.get("origin"), _hint_content(started, str(body["text"])))
    }
    given = {fact.text for fact in store.facts(only=(HintGiven,)) if isinstance(fact, HintGiven)}
    return signed >= given | {str(body.get("text", "")) for body in asked}


def _content(started: RunStarted) -> dict[str, JSON]:
    content: dict[str, JSON] = json.loads(json.dumps(asdict(started), allow_nan=True))
    return content


def _hint_content(started: RunStarted, text: str) -> dict[str, JSON]:
    return {"run": signature_of(_content(started)), "hint": text}


def trusted_settings(
    folder: Path, started: RunStarted, settings: Settings, *, trusted: bool, models: bool,
    store: RunStore | None = None, model: str = "",
) -> Settings:
    """The settings in effect of the run or tape in `folder`, with their provenance; `started` is its first fact.

    `models`: whether its models would be asked; `store`: whose hints they would be shown; `model`: the one that the
    user names now in place of the run's. Its simulators get the environment variables that it names. Raises UsageError
    where it is not from here and would import, start, contact or pass something.
    """
    begun = with_model(recorded_settings(started.settings), model)
    own = (
        is_own_run(folder, started) and _without_budgets(settings) == _without_budgets(begun)
        and (store is None or has_own_hints(store, started))
    )
    provenance = Provenance(place=f"the run {folder.name!r}", trusted=trusted or own)
    provenance.require(effects_of_run(settings, models=models))
    if provenance.trusted:
        pass_also(settings.env)
    return settings.from_there(provenance)


def effects_of_run(settings: Settings, *, models: bool) -> Iterator[str]:
    """What a run with these settings would import, start or contact, as ends of a sentence. `models`: contact too."""
    named = {text for texts in models_of(settings).values() for text in texts} if models else set()
    yield from effects(settings, models=named)


def _without_budgets(settings: Settings) -> dict[str, JSON]:
    """All settings that a resumed run cannot change."""
    return {key: value for key, value in settings.as_json().items() if not key.startswith("budget")}
