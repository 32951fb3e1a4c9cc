"""Attackers in the loop: rounds in which the chosen evaluator is attacked and revised, before it is frozen. Pure.

An attack breeds programs, and asks a model for one, that the evaluator likes although they do not do the task. The
recordings of those that reach the bar, the exploits, join the probes: a success is worth more than each of them. A
revision is accepted if it is valid, inverts no more pairs of certain order, likes no known exploit and takes nothing
from a recorded success. Then it is attacked as its parent was. Rounds end where an attack finds nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..core import order_ids
from ..core.evaluator_attacks import bar_of, successes_of, with_attack
from ..core.events import (
    AttackEvaluator,
    EvaluatorAttacked,
    EvaluatorChosen,
    EvaluatorExamined,
    EvaluatorHardened,
    Examine,
    Fact,
    Order,
    ProposalFailed,
    ProposalMade,
    ProposeAttack,
    ProposeEvaluator,
)
from ..core.examined import TOLERANCE, AttackCount
from ..core.keeper import Decision
from ..core.programs.program_text import digest
from ..core.seeds import derive_seed
from ..core.values import CandidateState, EvaluatorCandidate, Examination, Exploit, Probe, Program
from .setting_groups import JUDGE, PartSettings, SettingGroup, Switch, Turns

PROBED = Switch(
    name="probes", on=lambda values: values["probes"] == "on",
    otherwise="without probes, on which evaluators are tested: remove it, or set probes to 'on'",
)
EVALUATOR_ATTACKS = SettingGroup(
    name="evaluator attacks", roles=frozenset({JUDGE}),
    switches=(
        PROBED,
        Switch(
            name="evaluator_tests", on=lambda values: values["evaluator_tests"] == "on",
            otherwise="without tests of evaluators, of which attacks are a part: remove it, or set evaluator_tests to "
            "'on'",
        ),
        Switch(
            name="evaluator_attacks", on=lambda values: bool(values["evaluator_attacks"]),
            otherwise="without evaluator_attacks: remove it, or set evaluator_attacks",
        ),
    ),
)


class AttackSettings(PartSettings):
    """How often evaluators are attacked, and with what."""

    evaluator_attacks: Turns = EVALUATOR_ATTACKS.field(
        0, "rounds of attacks by bred programs and a model on the chosen evaluator, and of revisions, at most"
    )
    attacker_model: str | None = EVALUATOR_ATTACKS.field(
        None, "the model that writes attacks; none: the model that writes evaluators"
    )
    exploits: str | None = EVALUATOR_ATTACKS.field(
        None, "the path of a folder of exploits of earlier runs, with which attacks begin"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackTerms:
    """How evaluators are attacked: revisions at most, programs bred for an attack, and whether a model is asked.

    `known` are exploits of earlier runs: each attack begins with them, and breeds from them as from its other programs.
    """

    rounds: int
    seed: int
    tries: int = 16
    asks: bool = True
    known: tuple[Program, ...] = ()

    def order(
        self, owner: str, place: int, evaluator: Program, bar: float, programs: tuple[Program, ...]
    ) -> AttackEvaluator:
        """The attack on an evaluator; attacks with the same `place` have the same seed."""
        tried = {digest(program) for program in programs}
        known = tuple(program for program in self.known if digest(program) not in tried)
        return AttackEvaluator(
            id=order_ids.attack_id(owner), evaluator=evaluator, split="search",
            seed=derive_seed(self.seed, "attack", place), bar=bar, tries=self.tries, programs=(*programs, *known),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardened:
    """The state between two facts: the evaluator in use, the exploits so far, and where the present round is."""

    chosen: EvaluatorCandidate
    round: int = 0
    exploits: tuple[Exploit, ...] = ()          # of all rounds
    counts: tuple[AttackCount, ...] = ()        # of the attacks, on the evaluators as they were accepted
    revised: int = 0
    revision: EvaluatorCandidate | None = None  # that is examined
    over: bool = False


class HardeningKeeper:
    """Decides the rounds of attack and revision."""

    def __init__(
        self, *, baseline: CandidateState, chosen: EvaluatorCandidate, probes: tuple[Probe, ...], terms: AttackTerms,
        first: int = 0, known: tuple[Exploit, ...] = (), moves: bool = False, later: int = 0,
    ) -> None:
        """`chosen` was tested on `probes`.

        `moves`: it is the successor of the evaluator in use, so it is not frozen here. Then rounds are numbered from
        `first`, the exploits `known` from earlier attacks are tried again, and `later` of the recordings, the last
        ones, are of later programs.
        """
        self._first = first
        self._known = known
        self._moves = moves
        self._later = later
        self._baseline = baseline
        self._begun = chosen
        self._probes = probes
        self._terms = terms

    def start(self) -> Decision[Hardened]:
        """Attack the evaluator as it was chosen."""
        return self._attack(Hardened(chosen=self._begun))

    def decide(self, state: Hardened, fact: Fact) -> Decision[Hardened]:
        """The decision after a reply, an attack or an examination."""
        attack, fix = (str(make(self._first + state.round)) for make in (order_ids.attack, order_ids.fix))
        match fact:
            case ProposalMade() | ProposalFailed() if fact.order == attack:
                written = (fact.program,) if isinstance(fact, ProposalMade) else ()
                return Decision(state=state, orders=(self._attack_with(state, written),))
            case EvaluatorAttacked() if fact.order == order_ids.attack_id(attack):
                return self._take_attack(state, fact)
            case ProposalMade() if fact.order == fix and state.revision is None:
                return self._examine(state, fact)
            case ProposalFailed() if fact.order == fix and state.revision is None:
                return self._again(state)
            case EvaluatorExamined() if state.revision is not None and fact.order == order_ids.examine_id(fix):
                return self._take_examination(state, state.revision, fact.examination)
        return Decision(state=state)

    def finished(self, state: Hardened) -> bool:
        """Whether the evaluator is frozen."""
        return state.over

    # ------------------------------------------------------------------------------------- the attack

    def _attack(self, state: Hardened) -> Decision[Hardened]:
        if not self._terms.asks:
            return Decision(state=state, orders=(self._attack_with(state, ()),))
        order = ProposeAttack(
            id=str(order_ids.attack(self._first + state.round)), evaluator=state.chosen, bar=self._bar(state),
            known=state.exploits,
        )
        return Decision(state=state, orders=(order,))

    def _attack_with(self, state: Hardened, written: tuple[Program, ...]) -> Order:
        assert state.chosen.program is not None
        known, number = tuple(each.program for each in (*self._known, *state.exploits)), self._first + state.round
        return self._terms.order(
            str(order_ids.attack(number)), number, state.chosen.program, self._bar(state),
            (self._baseline.program, *written, *known),
        )

    def _bar(self, state: Hardened) -> float:
        return bar_of(self._baseline.episodes, self._probes, state.chosen.examination)

    def _take_attack(self, state: Hardened, fact: EvaluatorAttacked) -> Decision[Hardened]:
        earlier = (*self._known, *state.exploits)
        programs = {each.program for each in earlier}
        fresh = [each for each in fact.exploits if each.program not in programs]
        named = tuple(
            replace(each, probe=replace(each.probe, name=f"exploit {number}"))
            for number, each in enumerate(fresh, start=len(earlier) + 1)
        )
        found = with_attack(state.chosen.examination, fact.count)
        state = replace(
            state, chosen=replace(state.chosen, examination=found), exploits=(*state.exploits, *named),
            counts=(*state.counts, fact.count),
        )
        if not fact.count.found or state.round >= self._terms.rounds:
            return self._conclude(state)
        return self._fix(replace(state, round=state.round + 1))

    # ------------------------------------------------------------------------------------ the revision

    def _fix(self, state: Hardened) -> Decision[Hardened]:
        order = ProposeEvaluator(
            id=str(order_ids.fix(self._first + state.round)), generation=state.chosen.generation,
            slot=state.chosen.slot, parent=state.chosen, episodes=self._baseline.episodes,
            success_rate=self._baseline.success_rate, probes=self._probes, exploits=state.exploits, later=self._later,
        )
        return Decision(state=state, orders=(order,))

    def _examine(self, state: Hardened, fact: ProposalMade) -> Decision[Hardened]:
        order = str(order_ids.fix(self._first + state.round))
        revision = EvaluatorCandidate(
            id=order, generation=state.chosen.generation, slot=state.chosen.slot, program=fact.program,
            summary=fact.summary, measures=fact.measures or state.chosen.measures,
        )
        examine = Examine(
            id=order_ids.examine_id(order), evaluator=fact.program, episodes=self._baseline.episodes,
            probes=(*self._probes, *(each.probe for each in state.exploits)), tested=True,
        )
        return Decision(state=replace(state, revision=revision), orders=(examine,))

    def _take_examination(
        self, state: Hardened, revision: EvaluatorCandidate, found: Examination
    ) -> Decision[Hardened]:
        state = replace(state, revision=None)
        if not self._closes(state, found):
            return self._again(state)
        probes = len(self._probes)
        kept = replace(found, probe_scores=found.probe_scores[:probes])
        chosen = replace(revision, examination=kept)
        return self._attack(replace(state, chosen=chosen, revised=state.revised + 1))

    def _closes(self, state: Hardened, found: Examination) -> bool:
        """Whether a revision may take the place of the evaluator in use."""
        before, tests = state.chosen.examination, found.tests
        if not found.valid or tests is None or tests.flaw:
            return False
        episodes, probes = self._baseline.episodes, self._probes
        bar = bar_of(episodes, probes, found)
        scores = found.probe_scores[len(probes):]
        return (
            all(score.fitness < bar for score in scores)
            and tests.inversions <= (0 if before.tests is None else before.tests.inversions)
            and _keeps(successes_of(episodes, probes, before), successes_of(episodes, probes, found))
        )

    def _again(self, state: Hardened) -> Decision[Hardened]:
        """Another revision, if there is a round left; the evaluator in use stays as it was attacked."""
        if state.round >= self._terms.rounds:
            return self._conclude(state)
        return self._fix(replace(state, round=state.round + 1, revision=None))

    def _conclude(self, state: Hardened) -> Decision[Hardened]:
        last = state.counts[-1]
        hardened = EvaluatorHardened(
            chosen=state.chosen, before=state.counts[0], after=last, rounds=len(state.counts), revised=state.revised,
            known=len(state.exploits), open=last.found,
        )
        frozen = EvaluatorChosen(generation=state.chosen.generation, chosen=state.chosen, final=True)
        return Decision(
            state=replace(state, over=True), facts=(hardened,) if self._moves else (hardened, frozen)
        )


def _keeps(before: Mapping[str, float], after: Mapping[str, float]) -> bool:
    """Whether no recorded success lost fitness."""
    return all(after.get(name, 0.0) >= value - TOLERANCE for name, value in before.items())
