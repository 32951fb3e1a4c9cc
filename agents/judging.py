"""The panel of judges: each Judge order is one seat, which sees the pool in its own order and casts one vote."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from ..core.errors import ModelError
from ..core.events import AskedAgain, Judge, VoteCast
from ..core.labels import label
from ..core.ports import Ask, Model, Prompts, Reply
from ..core.seeds import derive_seed
from ..core.text import one_line
from ..core.values import Brief, Call, EvaluatorCandidate
from .ballots import ballot
from .critic import critique_text
from .evaluator_evolver import success_in_words
from .reply import within_limit
from .verdict import MAX_REASON, JudgeChoice, Unusable, read_verdict
from .writing import Keep, Question, call_of, evaluator_situation, not_kept, question, section

_log = structlog.get_logger("memento.replies")

JUDGE = "judge"
ATTEMPTS = 2  # after an unusable answer the judge is asked once more


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """The pool in one seat's own order; the labels A, B, C … reveal neither position, name nor origin."""

    entries: tuple[EvaluatorCandidate, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """One label per entry."""
        return tuple(label(place) for place in range(len(self.entries)))

    def slots(self) -> dict[str, int]:
        """The slot of the pool for each label."""
        return {name: entry.slot for name, entry in zip(self.labels, self.entries, strict=True)}


def labelling(order: Judge, run_seed: int) -> Labelling:
    """The order in which this seat sees the pool; deterministic in the run seed and the order."""
    entries = list(order.pool)
    random.Random(derive_seed(run_seed, "judge", order.id)).shuffle(entries)
    return Labelling(entries=tuple(entries))


class JudgePanel:
    """Casts votes: each order is the vote of one seat. Seats are assigned to the models round-robin."""

    def __init__(
        self, *, models: Sequence[Model], prompts: Prompts, brief: Brief, run_seed: int, keep: Keep = not_kept
    ) -> None:
        """`keep` commits an unusable answer before the further question."""
        if not models:
            raise ValueError("a judge panel needs at least one model")
        self._keep = keep
        self._models = tuple(models)
        self._prompts = prompts
        self._common = {**evaluator_situation(brief), "interface": brief.evaluator_interface.strip()}
        self._run_seed = run_seed

    async def carry_out(self, order: Judge) -> VoteCast:
        """The vote of one seat; two unusable answers or a failed call count as an abstention.

        Raises ModelError if it is fatal.
        """
        model = self._models[order.seat % len(self._models)]
        seen = labelling(order, self._run_seed)
        calls: tuple[Call, ...] = ()
        flaw = ""
        for attempt in range(ATTEMPTS):
            asked = self._question(order, seen, flaw)
            ask = Ask(order=order, attempt=attempt, role=JUDGE, prompt=asked.text, prefixes=asked.prefixes)
            try:
                reply = within_limit(await model.complete(ask))
            except ModelError as error:
                if error.fatal:
                    raise
                flaw = f"the call failed: {error}"
                break
            calls = (*calls, replace(call_of(asked.text, reply), attempt=attempt))
            verdict = _verdict(order, reply, seen)
            if not isinstance(verdict, Unusable):
                return _vote(order, seen, verdict.slot, verdict.reason, calls)
            flaw = verdict.why
            if attempt + 1 < ATTEMPTS:
                self._keep(AskedAgain(order=order.id, call=calls[-1], reason=one_line(flaw, MAX_REASON)))
        return _vote(order, seen, None, f"abstained: {flaw}", calls)

    def _question(self, order: Judge, seen: Labelling, flaw: str) -> Question:
        episodes = max((len(entry.examination.scores) for entry in order.pool), default=0)
        constant = self._prompts.fill(
            "judge-situation", **self._common, success_rate=success_in_words(order.success_rate, episodes, order.later)
        )
        rest = self._prompts.fill(
            "judge",
            pool="\n\n".join([ballot(order, dict(zip(seen.labels, seen.entries, strict=True))), *self._looks(order)]),
            labels=", ".join(seen.labels),
            correction=section("Once more", f"Your first answer could not be used: {flaw}.") if flaw else "",
        )
        return question(constant, rest)


    def _looks(self, order: Judge) -> list[str]:
        """What a critic said about the rollouts of the initial policy, with its heading."""
        said = [critique_text(self._prompts, critique) for critique in order.critiques]
        return ["### What a critic saw", *said] if any(said) else []


def _verdict(order: Judge, reply: Reply, seen: Labelling) -> JudgeChoice | Unusable:
    try:
        return read_verdict(reply, seen.slots())
    except Exception as error:  # noqa: BLE001 - no reply may end a run, whatever a reader of it runs into
        _log.exception("reply-not-read", order=order.id)
        return Unusable(why=f"it cannot be read: {type(error).__name__}")


def _vote(order: Judge, seen: Labelling, slot: int | None, reason: str, calls: tuple[Call, ...]) -> VoteCast:
    return VoteCast(
        order=order.id,
        generation=order.generation,
        seat=order.seat,
        choice=slot,
        reason=one_line(reason, MAX_REASON),
        call=calls[-1] if calls else None,
        earlier=calls[:-1],
        seen=tuple(entry.slot for entry in seen.entries),
    )
