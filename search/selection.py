"""The state of the memetic search and its selection: accepts, branch winners, the elite. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import fsum

from ..core.events import CandidateAccepted, CandidateRejected, Fact, ProposalFailed, ProposalMade
from ..core.faults import in_words, is_service_failure
from ..core.programs.program_text import changed_parts, digest, structure
from ..core.values import CandidateState, Operator, Program, Rejection
from .meetings import SearchState
from .moving import Moves
from .trials import Trial, bound
from .tried import detailed
from .tuning_values import Learned, TuningUnderWay

# At equal fitness the newer program wins, so that neutral moves are accepted. Only a tuned program ranks below the old
# elite: other numbers without a gain are no reason to change any.
_OLD_ELITE = -1
_PRECEDENCE = {
    Operator.TUNE: -2, Operator.INITIAL: 0, Operator.HILL_CLIMB: 1, Operator.MACRO: 2, Operator.CROSSOVER: 3
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """A speculative hill-climb proposal, requested as if the current one were rejected.

    `current` is the program that it edits. `answer` has arrived and waits for its turn.
    """

    order: str
    current: str
    answer: ProposalMade | ProposalFailed | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(SearchState):
    """The state between two facts."""

    current: CandidateState  # C^hc, the last accepted of the chain
    rejections: tuple[Rejection, ...] = ()  # H, of this generation's chain
    tried: tuple[Rejection, ...] = ()  # with a full memory: what did not stay of the elite and its ancestors
    ahead: Ahead | None = None
    climbs: int = 0  # hill-climb slots of this generation
    climbed: int = 0  # hill-climb slots spent
    macros: tuple[CandidateState | None, ...] = ()
    tunes: tuple[CandidateState | None, ...] = ()
    tunings: Mapping[str, TuningUnderWay] = field(default_factory=dict)  # under way, by their slots' ids
    learned: Mapping[int, Learned] = field(default_factory=dict)  # by the last tuning in each slot
    spare: int = 0  # episodes that earlier tunings left for those of the next generation
    late_episodes: int = 0  # of the last tuning slot, if it begins with crossover; 0: all begin with the generation
    crosses: tuple[CandidateState | None, ...] = ()
    crossing: bool = False
    pair: tuple[CandidateState, ...] = ()  # the parents of this generation's crossovers
    others: tuple[CandidateState, ...] = ()  # of earlier generations: see `remembered`
    front: tuple[CandidateState, ...] = ()  # see `front_with`; empty where the run has no use for it
    guest: CandidateState | None = None  # of another island, for this generation's crossovers
    rival: CandidateState | None = None  # fitter than the elite since the evaluator moved; until the generation ends
    moves: Moves = Moves()  # what is remembered for moves of the evaluator; nothing where it does not move

    @property
    def early(self) -> range:
        """The tuning slots that begin with the generation."""
        return range(len(self.tunes) - (1 if self.late_episodes else 0))


def is_hopeless(state: Search, trial: Trial, leader: CandidateState | None) -> bool:
    """Whether running the rest of a trial cannot change an accept, a branch winner or the elite.

    `leader` is the best so far of the trial's branch, if that branch has a winner.
    A hill-climb proposal must reach the current program. A macro-mutation or tuning must reach the elite and win
    its branch; a crossover must win its branch. If the bound only ties, the slot decides.
    """
    most = bound(trial)
    if trial.operator is Operator.HILL_CLIMB:
        return most < state.current.fitness
    least = 0.0 if trial.operator is Operator.CROSSOVER else state.elite.fitness
    return most < least or falls_behind(trial, leader, most)


def falls_behind(trial: Trial, leader: CandidateState | None, most: float) -> bool:
    """Whether a trial whose F is at most `most` cannot beat `leader`, the best of its branch so far.

    At equal fitness the lower slot wins.
    """
    return leader is not None and (leader.fitness, -leader.slot) > (most, -trial.slot)


def best_of(slots: tuple[CandidateState | None, ...]) -> CandidateState | None:
    """The fittest candidate that did not fail and was not pruned; the lowest slot wins a tie."""
    sound = [candidate for candidate in slots if candidate and _is_sound(candidate)]
    return max(sound, key=lambda candidate: (candidate.fitness, -candidate.slot), default=None)


def best_macro(state: Search) -> CandidateState:
    """C^macro: the best of the elite and the macro-mutations; a macro-mutation wins a tie with the elite."""
    return _or_elite(state, best_of(state.macros))


def best_tuned(state: Search) -> CandidateState:
    """The best of the elite and the tuned programs; a tuned program wins a tie with the elite."""
    return _or_elite(state, best_of(state.tunes))


def _or_elite(state: Search, best: CandidateState | None) -> CandidateState:
    """`best` if it is as fit as the elite: racing may prune any other, so nothing else may depend on it."""
    return best if best is not None and best.fitness >= state.elite.fitness else state.elite


def partner(state: Search) -> CandidateState:
    """The second parent of crossovers: C^macro, or the best tuned program if that is fitter."""
    tuned, best = best_tuned(state), best_macro(state)
    return tuned if tuned.fitness > best.fitness else best


def crossing_pair(state: Search, *, front: bool, measured: bool) -> tuple[CandidateState, ...]:
    """The parents of a generation's crossovers."""
    first, guest = state.current, state.guest or state.rival
    if guest is not None and digest(guest.program) != digest(first.program):
        return first, guest
    if front and digest(partner(state).program) == digest(first.program):
        found = front_partner(state)
        if found is not None:
            return first, found
    return first, differing_partner(state, measured=measured)


NEAR = 0.9  # of the usual second parent's F: what a program of another structure must have to take its place
OTHERS = 6  # programs of other structures that a search remembers


def differing_partner(state: Search, *, measured: bool) -> CandidateState:
    """The second parent of crossovers with the climb's winner: of another structure where one is nearly as fit.

    Candidates are C^macro, the best tuned program and, where all programs are `measured`, every macro-mutation of the
    generation and what is `remembered` of earlier ones. The fittest wins if its structure is not that of the winner,
    the winner does not descend from it, and it has nearly the F of `partner`. Else it is `partner` itself, unless that
    is the same program in other words; then it is the elite or the tuned program, or the winner itself if none differs.
    """
    first, usual = state.current, partner(state)
    found = [best_macro(state), best_tuned(state)]
    if measured:
        found += [*filter(None, state.macros), *state.others]
    ancestors = {ancestor.id for ancestor in first.lineage}
    apart = [
        one for one in found
        if _is_sound(one) and one.id not in ancestors and structure(one.program) != structure(first.program)
        and one.fitness >= NEAR * usual.fitness
    ]
    if apart:
        return max(apart, key=lambda one: (one.fitness, one.generation, -one.slot))
    words = (usual, best_macro(state), best_tuned(state), state.elite)
    return next((one for one in words if digest(one.program) != digest(first.program)), first)


def front_with(state: Search, found: CandidateState) -> tuple[CandidateState, ...]:
    """The best program of each episode of the search, each program once, after one more was evaluated.

    Of equal f_e the fitter program is the better one, then the earlier one, so the order of arrival does not matter.
    Programs that were rolled out on other episodes than the elite are left out.
    """
    episodes = range(len(state.elite.scores))
    sound = [
        one for one in (*state.front, state.elite, found) if _is_sound(one) and len(one.scores) == len(episodes)
    ]
    best = [
        min(sound, key=lambda one: (-one.scores[place].fitness, -one.fitness, one.generation, one.id))
        for place in episodes
    ]
    return tuple({one.id: one for one in best}.values())


def front_partner(state: Search) -> CandidateState | None:
    """The program of the front that would add most to the climb's winner; None if all are the same program.

    That is the one with the greatest sum of what its f_e is higher, over the episodes.
    """
    first = state.current

    def adds(one: CandidateState) -> float:
        pairs = zip(one.scores, first.scores, strict=True)
        return fsum(max(0.0, new.fitness - old.fitness) for new, old in pairs)

    others = [one for one in state.front if digest(one.program) != digest(first.program)]
    return max(others, key=lambda one: (adds(one), one.fitness, -one.generation, one.id), default=None)


def is_of_front(state: Search) -> bool:
    """Whether the second parent of the crossovers is of the front, and neither the elite nor the best of a branch."""
    if not state.pair:
        return False
    usual = {one.id for one in (partner(state), best_macro(state), best_tuned(state), state.elite)}
    second = state.pair[1].id
    return second not in usual and any(one.id == second for one in state.front)


def remembered(state: Search, found: Iterable[CandidateState]) -> tuple[CandidateState, ...]:
    """The fittest programs of a search, the elite's structure apart: one of each structure, the fittest first.

    Those that were rolled out on other episodes than the elite are forgotten, since their F cannot be compared.
    """
    episodes = len(state.elite.episodes)
    sound = [one for one in (*found, *state.others) if _is_sound(one) and len(one.episodes) == episodes]
    kept = {structure(state.elite.program): state.elite}
    for one in sorted(sound, key=lambda one: (-one.fitness, one.generation, one.id)):
        kept.setdefault(structure(one.program), one)
    return tuple(kept.values())[1 : OTHERS + 1]


def _is_sound(candidate: CandidateState) -> bool:
    return candidate.fault is None and candidate.bound is None


def outputs(state: Search, *, measured: bool) -> list[CandidateState]:
    """What the branches of a generation gave.

    All their programs where all are `measured`; else the best ones, since racing may have pruned any other, and must
    not change a result.
    """
    found = [state.current, best_macro(state), best_tuned(state), best_of(state.crosses), state.rival]
    if measured:
        found += [*state.macros, *state.tunes, *state.crosses]
    return [one for one in found if one is not None]


def select_elite(state: Search) -> CandidateState:
    """C_g: the fittest branch output. Ties: crossover, macro-mutation, hill-climb, the old elite, then tuning."""

    def rank(candidate: CandidateState) -> tuple[float, int]:
        old = candidate.id == state.elite.id
        return candidate.fitness, _OLD_ELITE if old else _PRECEDENCE[candidate.operator]

    return max(outputs(state, measured=False), key=rank)


def climb(
    state: Search, candidate: CandidateState, *, full: bool = False, marked: bool = False
) -> tuple[Search, Fact]:
    """Accept if F(new) >= F(current) and it did not fail, else remember the rejected edit.

    A failure of the service says nothing about an edit, so it is not remembered. With `full` the memory holds the
    detail of each rejection, with `marked` the parts of the program that it touched; the fact never does.
    """
    state = replace(state, climbed=state.climbed + 1)
    difference = candidate.fitness - state.current.fitness
    pruned = candidate.bound is not None
    if candidate.fault is None and not pruned and difference >= 0:
        accepted = CandidateAccepted(
            order=candidate.id,
            candidate=candidate.id,
            fitness=candidate.fitness,
            fitness_difference=difference,
        )
        if marked:
            state = after_change(state, state.current.program, candidate.program)
        return replace(state, current=candidate), accepted
    fault = candidate.fault
    rejection = Rejection(
        summary=candidate.summary,
        candidate=candidate.id,
        fitness_difference=None if fault or pruned else difference,
        reason=_why(candidate),
    )
    rejected = CandidateRejected(order=candidate.id, candidate=candidate.id, rejection=rejection)
    if is_service_failure(fault):
        return state, rejected
    known = detailed(rejection, candidate, state.current, state.rejections) if full else rejection
    if marked and candidate.program.text:
        known = replace(known, touched=changed_parts(state.current.program, candidate.program))
    tried = (*state.tried, known) if full else state.tried
    return replace(state, rejections=(*state.rejections, known), tried=tried), rejected


def after_change(state: Search, old: Program, new: Program) -> Search:
    """The state whose memory knows which parts of the program have changed since its edits were rejected."""
    parts = frozenset(changed_parts(old, new))

    def marked(one: Rejection) -> Rejection:
        more = tuple(part for part in one.touched if part in parts and part not in one.changed)
        return replace(one, changed=(*one.changed, *more)) if more else one

    return replace(state, rejections=tuple(map(marked, state.rejections)), tried=tuple(map(marked, state.tried)))


def _why(candidate: CandidateState) -> str:
    if candidate.fault is not None:
        return in_words(candidate.fault)
    if candidate.bound is not None:
        return f"fitness of at most {candidate.bound:.4f}, not run to the end"
    return "lower fitness"
