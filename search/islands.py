"""Islands: several memetic searches side by side, each with its elite, rejection memory and foci. Pure.

Each island is a whole search by `EliteKeeper`. Its facts and orders are known by their ids, so islands do not
depend on one another within a generation, and as many climbs as there are islands run at the same time. Generations
begin and end together: then the slots of the next one are dealt, and the best elite of all islands is that of the run.

Late in the search the weakest island gets a guest: the elite of the strongest one is the second parent of its
crossovers. A guest never becomes an elite itself and brings only the summary of its last edit, not the memory of its
island, so that what misled one island cannot mislead the other.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import fsum, log, sqrt
from typing import Annotated, Literal

from pydantic import Field

from ..core.events import BranchEnded, Fact, IslandsChanged, Migrated
from ..core.keeper import Decision
from ..core.methods import SearchPart
from ..core.operators import OPERATORS
from ..core.order_ids import owner_of, parse
from ..core.seeds import derive_seed
from ..core.values import CandidateState, Operator
from .branches.tune.branch import without_spare
from .dealing import CHALLENGE, affordable, dealt, is_spent, tunable
from .elite_keeper import EliteKeeper
from .meetings.challenge import elect
from .meetings.meeting import SearchState, follow_meeting
from .meetings.stream import Records
from .memento import memento
from .options import Choices, GenerationBudget, SearchOptions
from .outcomes import branch_ended, elite_changed, search_ended
from .parts.partners import Guest
from .rollout_plan import RolloutPlan
from .setting_groups import PartSettings, SettingGroup, Switch
from .state import Search
from .trials import Trials, chain

ISOLATION = 0.6
"""The share of the budget before which no program migrates.

Islands that exchange programs early become one population; isolation first is what distinguishes them.
"""

ISLANDS = SettingGroup(
    name="islands", parts=frozenset({SearchPart.BRANCHES}),
    switches=(Switch(
        name="islands", on=lambda values: values["islands"] != 1,
        otherwise="with one island, which gets all slots: remove it, or set islands",
    ),),
)


class IslandSettings(PartSettings):
    """How many islands there are, and how they share the slots: in turn, or by upper confidence bounds."""

    islands: Annotated[int, Field(ge=1, le=64)] = ISLANDS.field(
        1, "searches side by side that share the slots; 1 is the paper's"
    )
    island_dealing: Literal["equal", "ucb"] = ISLANDS.field(
        "equal", "how islands share the slots: equally, or by their gains"
    )


# ------------------------------------------------------------------------------------------------ dealing slots


@dataclass(frozen=True, slots=True, kw_only=True)
class IslandTally:
    """What an island gained so far, and on how many episodes; its slots are dealt by it.

    `gain` adds up the gains in F of its elite, each relative to the best F of all islands at that time. `episodes` are
    those of its slots in full: how many of them racing leaves out depends on the order of arrival. `fitness` is F of
    its elite.
    """

    fitness: float
    gain: float = 0.0
    episodes: int = 0

    def after(self, fitness: float, best: float, episodes: int) -> "IslandTally":
        """The tally after a generation with this number of episodes that ended with an elite of this F."""
        gained = max(0.0, fitness - self.fitness) / best if best > 0 else 0.0
        return IslandTally(fitness=fitness, gain=self.gain + gained, episodes=self.episodes + episodes)


def in_turn(slots: int, islands: int, first: int) -> tuple[int, ...]:
    """Equal numbers of slots for all islands; what is left over goes to the island `first` and those after it."""
    each, more = divmod(slots, islands)
    return tuple(each + ((place - first) % islands < more) for place in range(islands))


def by_confidence(slots: int, tallies: Sequence[IslandTally], n_roll: int, first: int) -> tuple[int, ...]:
    """Numbers of slots by upper confidence bounds: UCB1 (Auer, Cesa-Bianchi and Fischer, 2002), one slot at a time.

    The reward is that of AdaEvolve (Cemri et al., 2026, arXiv 2602.20133): the accumulated gain of an island relative
    to the best F, per candidate's worth of episodes; here the greatest one counts as 1, since the gains of programs are
    far below the bonus for what was seldom tried. Every island keeps one slot, so that its climb goes on.
    """
    tried = [tally.episodes / n_roll for tally in tallies]
    if not all(tried):
        return in_turn(slots, len(tallies), first)
    rates = [tally.gain / times for tally, times in zip(tallies, tried, strict=True)]
    most = max(rates)
    given = list(in_turn(min(slots, len(tallies)), len(tallies), first))

    def bound(place: int) -> float:
        bonus = sqrt(2 * log(fsum(tried) + sum(given)) / (tried[place] + given[place]))
        return (rates[place] / most if most else 0.0) + bonus

    for _ in range(slots - sum(given)):
        given[max(range(len(given)), key=lambda place: (bound(place), -place))] += 1
    return tuple(given)


def spread(counts: Sequence[int], first: int) -> list[int]:
    """The islands of the slots of a generation, in the order climb, macro-mutation, crossover.

    Each island's slots are spread evenly, so that every island gets its share of each branch. Of equals the island
    `first` comes first, another one in each generation.
    """
    places = [((2 * number + 1) / (2 * count), (place - first) % len(counts), place)
              for place, count in enumerate(counts) for number in range(count)]
    return [place for _, _, place in sorted(places)]


def shares_of(slots: GenerationBudget, counts: Sequence[int], first: int) -> tuple[GenerationBudget, ...]:
    """The slots of each island. Tunings, which need many more episodes than a candidate, are dealt in turn."""
    order = spread(counts, first)
    climbs, begun = order[: slots.hill_climb], slots.hill_climb + slots.macro
    macros, crosses = order[slots.hill_climb : begun], order[begun : begun + slots.crossover]
    tunes = [(first + slot) % len(counts) for slot in range(slots.tune)]
    return tuple(
        replace(
            slots, hill_climb=climbs.count(place), macro=macros.count(place), crossover=crosses.count(place),
            tune=tunes.count(place),
        )
        for place in range(len(counts))
    )


# ------------------------------------------------------------------------------------------------------ the keeper


class IslandKeeper(EliteKeeper):
    """Decides one island: after each generation it waits for the others."""

    def adopt(self, search: Search, elite: CandidateState) -> Decision[Search]:
        """The generation ends with this elite."""
        return Decision(state=replace(self.with_elite(search, elite), over=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class IslandSearch(SearchState):
    """The state between two facts. An island that is over waits for the next generation."""

    islands: tuple[Search, ...]
    shares: tuple[GenerationBudget, ...]
    tallies: tuple[IslandTally, ...]


class IslandsKeeper:
    """Decides a search by islands, from the evaluated initial policy, with which all begin, to the best elite."""

    def __init__(
        self, *, initial: CandidateState, plan: RolloutPlan, slots: GenerationBudget, options: SearchOptions,
        choices: Choices,
    ) -> None:
        self._initial = initial
        self._plan = plan
        self._slots = slots
        self._seed, self._choices = options.seed, choices
        self._count = choices.of(IslandSettings).islands

    def start(self) -> Decision[IslandSearch]:
        """C_0 is the elite of every island in generation 0."""
        # Challenges are those of the islands, the final choice is that of all of them.
        apart = replace(self._plan, fresh=replace(self._plan.fresh, choice=0))
        plans = [replace(apart, island=place + 1) for place in range(self._count)]
        none = replace(self._slots, hill_climb=0, macro=0, crossover=0, tune=0)
        state = IslandSearch(
            generation=0,
            elite=self._initial,
            trials=Trials(plan=replace(self._plan, fresh=replace(self._plan.fresh, confirm=0)), open={}),
            islands=tuple(self._keeper(place, plan, none).opening() for place, plan in enumerate(plans)),
            shares=(none,) * self._count,
            tallies=(IslandTally(fitness=self._initial.fitness),) * self._count,
        )
        first = Decision(state=state, facts=(elite_changed(0, self._initial, None),))
        return chain(first, self.begin_generation(state))

    def decide(self, state: IslandSearch, fact: Fact) -> Decision[IslandSearch]:
        """The decision of the island that the fact belongs to; the last one to finish ends the generation."""
        if state.over:
            return Decision(state=state)
        if state.meeting is not None:
            return follow_meeting(self, state, fact)
        place = parse(owner_of(fact.order or "")).island - 1
        if not 0 <= place < self._count or state.islands[place].over:
            return Decision(state=state)
        island = state.islands[place]
        return self._follow(state, place, self.keeper_of(state, place).decide(island, fact))

    def finished(self, state: IslandSearch) -> bool:
        """Whether all generations are over."""
        return state.over

    def is_last(self, state: IslandSearch) -> bool:
        """Whether the generation in progress is the last."""
        spent = is_spent(self._plan, state.trials.ordered, challenges=self._count)
        return state.generation >= self._slots.generations or spent

    def adopt(self, state: IslandSearch, elite: CandidateState) -> Decision[IslandSearch]:
        """The generation ends with this elite of the run; every island keeps its elite."""
        changed = elite_changed(state.generation, elite, state.elite)
        begun = self.begin_generation(replace(state, elite=elite))
        return replace(begun, facts=(changed, *begun.facts))

    def begin_generation(self, state: IslandSearch) -> Decision[IslandSearch]:
        """Deal the slots of the next generation and begin it on every island that has some, or end the search."""
        if self.is_last(state):
            return Decision(state=replace(state, over=True), facts=(search_ended(state.elite),))
        late = self._is_late(state)
        state = replace(state, generation=state.generation + 1)
        state = replace(state, shares=self._deal(state))
        move = _migration(state) if late else None
        state = replace(state, islands=tuple(self._ready(state, place, move) for place in range(self._count)))
        decision = Decision(state=state, facts=() if move is None else (move,))
        for place, island in enumerate(state.islands):
            if not island.over:
                begun = self.keeper_of(state, place).begin_generation(island)
                decision = chain(decision, self._follow(decision.state, place, begun))
        return decision

    # ------------------------------------------------------------------------------------------ one generation

    def keeper_of(self, state: IslandSearch, place: int) -> IslandKeeper:
        """The keeper of an island in this generation."""
        return self._keeper(place, state.islands[place].trials.plan, state.shares[place])

    def _keeper(self, place: int, plan: RolloutPlan, share: GenerationBudget) -> IslandKeeper:
        """The keeper of an island with these slots; its draws are others than those of the other islands."""
        options = SearchOptions(seed=derive_seed(self._seed, "island", place + 1))
        return IslandKeeper(initial=self._initial, plan=plan, method=memento(share, options, plan, self._choices))

    def _is_late(self, state: IslandSearch) -> bool:
        """Whether the islands were isolated for long enough."""
        spent = state.generation / self._slots.generations
        if self._plan.episodes:
            spent = max(spent, state.trials.ordered / self._plan.episodes)
        return spent >= ISOLATION

    def _deal(self, state: IslandSearch) -> tuple[GenerationBudget, ...]:
        """The slots of each island, as many as a budget of episodes allows."""
        plan, slots, ordered = self._plan, self._slots, state.trials.ordered
        tunes, episodes = tunable(plan, ordered, slots.tune, slots.tune_episodes, challenges=self._count)
        ordered += tunes * (episodes + len(plan.seeds))
        branches = slots.hill_climb, slots.macro, slots.crossover
        count = affordable(plan, ordered, sum(branches), challenges=self._count)
        climbs, macros, crosses = dealt(branches, count)
        first = (state.generation - 1) % self._count
        equal = self._choices.of(IslandSettings).island_dealing == "equal"
        counts = (
            in_turn(count, self._count, first) if equal
            else by_confidence(count, state.tallies, len(plan.seeds), first)
        )
        slots = replace(
            slots, hill_climb=climbs, macro=macros, crossover=crosses, tune=tunes, tune_episodes=episodes
        )
        return shares_of(slots, counts, first)

    def _ready(self, state: IslandSearch, place: int, move: Migrated | None) -> Search:
        """The state of an island before its generation; one without a slot is over. A budget allows its slots only."""
        island, share = state.islands[place], state.shares[place]
        if not _slots_of(share) and not share.tune:
            return island
        guest = None
        if move is not None and move.target == place + 1:
            guest = _as_guest(state.islands[move.source - 1].elite)
        island = replace(island, generation=state.generation - 1, over=False).with_slice(Guest(program=guest))
        plan = island.trials.plan
        if plan.episodes is None:
            return island
        room = _episodes_of(share, plan) + _slots_of(share) * plan.practice + CHALLENGE * plan.fresh.confirm
        plan = replace(plan, episodes=island.trials.ordered + room)
        # What a tuning left is in the budget of all islands again.
        return without_spare(replace(island, trials=replace(island.trials, plan=plan)))

    def _follow(self, state: IslandSearch, place: int, decision: Decision[Search]) -> Decision[IslandSearch]:
        """Adopt the decision of an island. The last one that ends its generation ends that of the run."""
        islands = tuple(decision.state if at == place else each for at, each in enumerate(state.islands))
        facts = tuple(fact for fact in decision.facts if not isinstance(fact, BranchEnded))
        here = Decision(state=replace(state, islands=islands), orders=decision.orders, facts=facts)
        return chain(here, self._end_generation(here.state)) if all(each.over for each in islands) else here

    def _end_generation(self, state: IslandSearch) -> Decision[IslandSearch]:
        """The branches end, and the best elite is that of the run, unless the last choice finds another one better."""
        islands, plan = state.islands, self._plan
        best = max((island.elite for island in islands), key=lambda one: (one.fitness, one.id == state.elite.id))
        others = [
            one for place, island in enumerate(islands)
            for one in (island.elite, *self.keeper_of(state, place).outputs(island))
        ]
        facts = (*self._branches(state), IslandsChanged(
            generation=state.generation, elites=tuple(island.elite.id for island in islands),
            fitnesses=tuple(island.elite.fitness for island in islands), slots=tuple(map(_slots_of, state.shares)),
        ))
        state = replace(
            state, records=_records_of(islands),
            trials=replace(state.trials, ordered=sum(island.trials.ordered for island in islands)),
            tallies=tuple(
                tally.after(island.elite.fitness, best.fitness, _episodes_of(share, plan))
                for tally, island, share in zip(state.tallies, islands, state.shares, strict=True)
            ),
        )
        return chain(Decision(state=state, facts=facts), elect(self, state, best, others))

    def _branches(self, state: IslandSearch) -> Iterator[BranchEnded]:
        """The best result of each branch of the generation over the islands."""
        found: dict[Operator, list[CandidateState | None]] = {}
        for place, island in enumerate(state.islands):
            for branch in self.keeper_of(state, place).method.branches:
                if branch.count:
                    found.setdefault(branch.operator, []).append(branch.result(island))
        for operator in OPERATORS:
            if operator in found:
                best = max(filter(None, found[operator]), key=lambda one: (one.fitness, one.generation), default=None)
                yield branch_ended(state.generation, operator, best)


def _slots_of(share: GenerationBudget) -> int:
    """The slots for candidates of models."""
    return share.hill_climb + share.macro + share.crossover


def _episodes_of(share: GenerationBudget, plan: RolloutPlan) -> int:
    """The episodes of all slots in full."""
    return (_slots_of(share) + share.tune) * len(plan.seeds) + share.tune * share.tune_episodes


def _migration(state: IslandSearch) -> Migrated | None:
    """The elite of the strongest island goes to the weakest one that crosses programs, if it is fitter there."""
    elites = [island.elite for island in state.islands]
    targets = [place for place, share in enumerate(state.shares) if share.crossover]
    if not targets:
        return None
    source = max(range(len(elites)), key=lambda place: (elites[place].fitness, -place))
    target = min(targets, key=lambda place: (elites[place].fitness, -place))
    if elites[source].fitness <= elites[target].fitness:
        return None
    return Migrated(
        generation=state.generation, candidate=elites[source].id, source=source + 1, target=target + 1
    )


def _as_guest(elite: CandidateState) -> CandidateState:
    """A program as another island gets it: with the last edit that led to it, not with those before."""
    return replace(elite, lineage=elite.lineage[-1:])


def _records_of(islands: Iterable[Search]) -> Records:
    """What all islands saw of programs on the common stream of fresh episodes; of two records the longer one."""
    found: dict[str, CandidateState] = {}
    for island in islands:
        for text, record in island.records.items():
            if text not in found or len(found[text].scores) < len(record.scores):
                found[text] = record
    return found
