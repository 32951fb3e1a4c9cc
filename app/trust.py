"""Trust in a run's folder: what its signature covers, and the question before a folder from elsewhere is used.

Without `--trust` its settings may do nothing of what they name.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from ..core.events import HintGiven, RunResumed, RunStarted
from ..core.provenance import Provenance
from ..core.values import JSON
from ..core.variables import pass_also
from ..memory.origin import is_signature_of, is_written_here, sign, signature_of
from ..memory.store import RunStore
from ..models.command_programs import digests_of
from ..settings import Settings, recorded_settings
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
    "RunStarted.place": Cover("people, in the sentence on a domain that fails elsewhere", SIGNED),
    "HintGiven.text": Cover("models that propose, as the words of the user", SIGNED),
    "RunResumed.model": Cover("services, keys, programs that are started", SIGNED),
    "RunResumed.origin": Cover("the signature itself", SIGNED),
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
        "ReplayDiffered.asked", "EnvironmentRemembered.differs",
    ), _SHOWN),
}
"""By the name of a field with a text, or of a fact and its field, which comes first."""

_FIGURES = Cover("people, as figures", SHOWN)

FILES: Final[Mapping[str, Cover]] = {
    "run.sqlite": Cover("the facts: see COVERED; hints that wait are signed", SIGNED),
    **dict.fromkeys(("run.sqlite-wal", "run.sqlite-shm", "run.sqlite-journal", "run.sqlite.new"), Cover(
        "part of run.sqlite", SIGNED
    )),
    "origin": Cover("the signature itself", SIGNED),
    "lock": Cover("whether a controller works", KEY),
    "holder.json": Cover("people, as who writes the run", SHOWN),
    "activity.json": Cover("people, as what is under way", SHOWN),
    "trajectories": Cover("evaluators in a sandbox, prompts as tables, pictures for a critic", FENCED),
    "sheets": Cover("a critic, as pictures", FENCED),
    "rank.jsonl": Cover("people, as figures: each line is signed, or its episode is rolled out again", SIGNED),
    "what-if": Cover("people, as figures of draws: another's are refused; draws take all else from the run", SIGNED),
    "comparison.json": Cover("imports, programs that are started, services, keys", SIGNED),
    "runs": Cover("as runs, each with a signature of its own", SIGNED),
    "programs": Cover("models and workers, as p_0 and E* of the runs: as data, and in a sandbox", FENCED),
    "logs": Cover("people, as the last line of a failure", SHOWN),
    "measures.jsonl": _FIGURES,
    "journal.jsonl": _FIGURES,
    "baseline.jsonl": Cover("imports by its settings, which are signed; people, as figures", SIGNED),
    "checkpoint-*": Cover("the agent: tensors and plain arrays, which hold no code", FENCED),
    "stop-requested": Cover("the training, as a wish to stop", KEY),
}
"""The files and folders of a run, a comparison and a baseline, by name."""

ARCHIVES: Final[Mapping[str, Cover]] = {
    **dict.fromkeys(("tape.facts", "tape.texts"), Cover("a replay: as the facts of a run, see COVERED", SIGNED)),
    "tape.origin": Cover("the signature itself", SIGNED),
    "tape.version": _KEY,
    **dict.fromkeys((f"evidence.{name}" for name in (
        "title", "records", "measured", "missing", "experiment", "pictures", "baselines"
    )), Cover("people, as a page, in which it is text", SHOWN)),
    "evidence.version": _KEY,
}
"""The parts of a tape and of an archive of evidence, which a file of anybody may hold."""


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


def _model_content(started: RunStarted, model: str) -> dict[str, JSON]:
    return {"run": signature_of(_content(started)), "model": model, "programs": {**digests_of([model])}}


def trusted_settings(
    folder: Path, started: RunStarted, settings: Settings, *, trusted: bool, models: bool,
    store: RunStore | None = None, model: str = "",
) -> Settings:
    """The settings in effect of the run or tape in `folder`, with their provenance; `started` is its first fact.

    `models`: whether its models would be asked; `store`: whose hints they would be shown, and whose last change of the
    model counts; `model`: the one that the user names now in place of the run's. Its simulators get the environment
    variables that it names. Raises UsageError where it is not from here and would import, start, contact or pass
    something.
    """
    foreign = _foreign_part(folder, started, settings, store, model)
    provenance = Provenance(place=f"{foreign or 'the run'} {folder.name!r}", trusted=trusted or not foreign)
    provenance.require(effects_of_run(settings, models=models))
    if provenance.trusted:
        pass_also(settings.env)
    return settings.from_there(provenance)


def _foreign_part(
    folder: Path, started: RunStarted, settings: Settings, store: RunStore | None, model: str
) -> str:
    """What of the run this installation did not write, as in "the run"; "" for nothing."""
    if not is_own_run(folder, started) or _lasting(settings) != _lasting(recorded_settings(started.settings)):
        return "the run"
    if store is not None and not model and not _has_own_model(store, started):
        return "the other model, or its program as it is now, of the run"
    return "the hints of the run" if store is not None and not has_own_hints(store, started) else ""


def _has_own_model(store: RunStore, started: RunStarted) -> bool:
    """Whether this installation named the model in effect, where a resume changed it."""
    named = [fact for fact in store.facts(only=(RunResumed,)) if isinstance(fact, RunResumed) and fact.model]
    return not named or is_signature_of(named[-1].origin, _model_content(started, named[-1].model))


def model_origin(started: RunStarted, model: str) -> str:
    """The signature under another model of the run, for its RunResumed; "" for no other, and without a secret."""
    return (signature_of(_model_content(started, model)) or "") if model else ""


def effects_of_run(settings: Settings, *, models: bool) -> Iterator[str]:
    """What a run with these settings would import, start or contact, as ends of a sentence. `models`: contact too."""
    named = {text for texts in models_of(settings).values() for text in texts} if models else set()
    yield from effects(settings, models=named)


def _lasting(settings: Settings) -> dict[str, JSON]:
    """All settings that a resumed run cannot change."""
    return {key: value for key, value in settings.as_json().items() if not key.startswith("budget") and key != "model"}
