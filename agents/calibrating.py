"""The agent that calibrates: turns κ_i and what its trials showed into κ_(i+1), by one question to a model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

from ..core.events import ProposalFailed, ProposalMade, Propose
from ..core.faults import Fault, FaultKind
from ..core.ports import Form, Reply
from ..core.programs.calibration import Bounds, constants_to_calibrate, progress_of
from ..core.programs.constants import Constant, literal, with_values
from ..core.programs.program_text import MAX_FAULT, MAX_SUMMARY, digest
from ..core.text import fenced_text, one_line, plural, text_table
from ..core.values import JSON, Call, CandidateState, Program
from .episode_table import metrics_table
from .feedback import faults_text
from .fences import split
from .json_objects import json_objects
from .proposers import Common
from .reply import summary_line
from .writing import AS_PUBLISHED, PROPOSER, Asked, Writer, program_block, question, situation

SHOWN = 12  # earlier vectors of constants that a prompt shows, the latest ones
DIGITS = 6  # significant ones of a value


class Calibrator:
    """Answers proposals of other constants of the rig's programs. The reply is checked against their bounds."""

    def __init__(self, **common: Unpack[Common]) -> None:
        self._prompts, brief, rig = common["prompts"], common["brief"], common["rig"]
        self._bounds = rig.bounds
        self._writer = _ValuesWriter(
            model=common["model"], prompts=self._prompts, role=PROPOSER, contract=common["contract"],
            answers=common.get("answers", AS_PUBLISHED), bounds=rig.bounds,
        )
        self._situation = self._prompts.fill(
            "calibration-situation", **situation(brief), interface=brief.policy_interface.strip(),
            cell=rig.description.strip(),
        )

    async def carry_out(self, order: Propose) -> ProposalMade | ProposalFailed:
        """One step. A reply without usable values spends it. Raises ModelError only if it is fatal."""
        (current,) = order.parents
        asked = question(self._situation, self._rest(current, order.earlier))
        return await self._writer.write(order, asked, [current.program])

    def _rest(self, current: CandidateState, earlier: Sequence[CandidateState]) -> str:
        constants = constants_to_calibrate(current.program, self._bounds)
        return "\n".join((
            self._prompts.fill(
                "calibration",
                program=program_block(current.program),
                constants=fenced_text(constants_table(constants)),
                trials=_trials(current),
                earlier=_earlier(constants, [*earlier, current], self._bounds) if earlier else "",
            ),
            self._prompts.fill("reply-values"),
        ))


def constants_table(constants: Sequence[Constant]) -> str:
    """One line per constant: name, value, bounds."""
    return text_table([
        ("constant", "value", "least", "largest"),
        *((each.name, literal(each, each.value), f"{each.low:.6g}", f"{each.high:.6g}") for each in constants),
    ])


def _trials(candidate: CandidateState) -> str:
    """The ends of the trials with these constants, and the metrics M_i of the robot."""
    count = len(candidate.episodes)
    rows = [("trial", "ended by", "seconds", "because")]
    for episode, score in zip(candidate.episodes, candidate.scores, strict=False):
        because = episode.info.get("stopped_because") or episode.info.get("broken_rule") or ""
        seconds = score.metrics.get("seconds", "-")
        rows.append((
            str(episode.index), one_line(episode.ended_by, 30), one_line(str(seconds), 12), one_line(str(because), 90),
        ))
    succeeded = sum(episode.success for episode in candidate.episodes)
    parts = [f"{succeeded} of {plural(count, 'trial')} succeeded.", fenced_text(text_table(rows))]
    faults = faults_text([episode.fault for episode in candidate.episodes if episode.fault is not None])
    if faults:
        parts += ["Faults of the program, each of which ended its trial:", fenced_text(faults)]
    if candidate.metrics:
        parts += ["Metrics over the trials:", fenced_text(metrics_table(candidate.metrics, count))]
    return "\n\n".join(parts)


def _earlier(constants: Sequence[Constant], tested: Sequence[CandidateState], bounds: Bounds) -> str:
    """All tested constants and what became of them, the last ones included."""
    rows: list[tuple[str, ...]] = [("step", *(each.name for each in constants), "succeeded", "progress")]
    for candidate in tested[-SHOWN:]:
        progress = progress_of(candidate.metrics)
        values = [literal(each, each.value) for each in constants_to_calibrate(candidate.program, bounds)]
        succeeded = f"{sum(episode.success for episode in candidate.episodes)}/{len(candidate.episodes)}"
        rows.append((
            str(candidate.generation), *values, succeeded, "-" if progress is None else f"{progress:.2f}"
        ))
    return f"## Tested so far\n\nThe last line is the program above.\n\n{fenced_text(text_table(rows))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _ValuesWriter(Writer):
    """Reads values of constants in place of a program."""

    bounds: Bounds

    def read(
        self, order: Asked, reply: Reply, call: Call, parents: Sequence[Program], form: Form
    ) -> ProposalMade | ProposalFailed:
        """The parent with the values of a reply. Never raises for what a reply holds."""
        constants = constants_to_calibrate(parents[0], self.bounds)
        said = summary_line(split(reply.text)[1])
        values = read_values(reply, constants)
        if isinstance(values, Fault):
            return ProposalFailed(order=order.id, fault=values, summary=said, call=call)
        program = with_values(parents[0], constants, values)
        changes = in_words(constants, values)
        return ProposalMade(
            order=order.id, program=program, summary=one_line(f"{changes}; {said}" if said else changes, MAX_SUMMARY),
            call=call, shape=digest(program),
        )

    def reminder(self, form: Form) -> str:
        """The form of the reply once more."""
        return self.prompts.fill("reply-values-reminder").strip()


def read_values(reply: Reply, constants: Sequence[Constant]) -> tuple[float, ...] | Fault:
    """The value of each constant by the last JSON object of a reply; those that it leaves out stay. Never raises."""
    if reply.stop != "end":
        return _fault(f"the answer is not complete (it ended by {one_line(reply.stop, 40)})")
    answers = list(json_objects(reply.text))
    if not answers:
        return _fault("it holds no JSON object with values, such as {\"NAME\": 0.1}")
    given, values = answers[-1], []
    names = [each.name for each in constants]
    for name in given:
        if name not in names:
            return _fault(f"it gives a value to {one_line(name, 60)!r}, which is none of {', '.join(names)}")
    for each in constants:
        value = _value(each, given.get(each.name, each.value))
        if value is None:
            return _fault(
                f"{each.name} must be {_KINDS[each.kind]} from {each.low:g} to {each.high:g}, "
                f"not {one_line(str(given[each.name]), 40)}"
            )
        values.append(value)
    return tuple(values)


_KINDS = {"float": "a number", "int": "a whole number", "bool": "true or false,"}


def _value(constant: Constant, given: JSON) -> float | None:
    """The value that a reply gives a constant; None if it is of another kind or out of bounds."""
    if constant.kind == "bool":
        return float(given) if isinstance(given, bool) or given in (0.0, 1.0) else None
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    if given == constant.value:
        return constant.value  # which may be out of bounds at the beginning
    if not constant.low <= given <= constant.high or (constant.kind == "int" and given != int(given)):
        return None
    return float(f"{given:.{DIGITS}g}")


def in_words(constants: Sequence[Constant], values: Sequence[float]) -> str:
    """What changed: "GAIN 0.4 → 0.5, LIFT 0.02 → 0.03"."""
    moved = [
        f"{each.name} {literal(each, each.value)} → {literal(each, value)}"
        for each, value in zip(constants, values, strict=True) if value != each.value
    ]
    return ", ".join(moved) or "nothing changed"


def _fault(why: str) -> Fault:
    return Fault(kind=FaultKind.BAD_VALUES, message=one_line(why, MAX_FAULT))
