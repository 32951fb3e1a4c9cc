"""The keeper of a search whose evaluator moves. Pure.

The sequencer alternates between it and the trial of a successor: a search that waits for a move is finished as a stage,
and is resumed after it. `recordings` says what a search remembers, `trial` what a successor has to pass.
"""

from collections.abc import Mapping
from dataclasses import replace

from ...core.events import EvaluatorMoved, Fact
from ...core.keeper import Decision
from ...core.methods import SearchPart
from ...core.values import CandidateState, EvaluatorCandidate, Score
from ..elite_keeper import EliteKeeper, MemeticMethod
from ..part import Rejudged
from ..parts.front import Front
from ..parts.partners import Guest
from ..parts.varied import OtherStructures
from ..rollout_plan import RolloutPlan
from ..setting_groups import JUDGE, Count, PartSettings, SettingGroup, Switch
from ..state import Search
from ..trials import Trials, chain
from .recordings import Moves, under

EVALUATOR_MOVES = SettingGroup(
    name="evaluator moves", parts=frozenset({SearchPart.CLIMB}), roles=frozenset({JUDGE}),
    switches=(
        Switch(
            name="islands", on=lambda values: values["islands"] == 1,
            otherwise="with islands, which would need one evaluator at one time: remove it, or set islands to 1",
        ),
        Switch(
            name="gate", on=lambda values: values["gate"] == "off",
            otherwise="with a gate, which compares f_e on the cheap twin by one evaluator: remove it, or set gate to "
            "'off'",
        ),
    ),
)


class MoveSettings(PartSettings):
    """How often the evaluator may move."""

    evaluator_every: Count = EVALUATOR_MOVES.field(
        0, "generations after which another evaluator, evolved on later recordings, may take over; 0 is the paper's"
    )


class MovingKeeper(EliteKeeper):
    """Decides the policy search of one elite, and stops for a move of the evaluator after every few generations.

    What is remembered needs every f_e: which programs racing prunes depends on the order of arrival. So it does not
    race. A program that is fitter than the elite since a move is a rival: the second parent of crossovers, and a
    candidate for the next elite.
    """

    def __init__(self, *, initial: CandidateState, plan: RolloutPlan, method: MemeticMethod, every: int) -> None:
        super().__init__(initial=initial, plan=plan, method=replace(method, races=False))
        self._every = every

    def opening(self) -> Search:
        """The state before the first generation; p_0 is remembered."""
        return super().opening().with_slice(Moves().after_generation(self._initial, ()))

    def decide(self, search: Search, fact: Fact) -> Decision[Search]:
        """The decision after one answer; none while it waits for a move."""
        return Decision(state=search) if search.slice(Moves).due else super().decide(search, fact)

    def finished(self, search: Search) -> bool:
        """Whether all generations are over, or the search waits for a move."""
        return search.over or search.slice(Moves).due

    def results(self, search: Search) -> list[CandidateState]:
        """A rival may become the elite, too."""
        rival = search.slice(Guest).program
        return [*super().results(search), *([] if rival is None else [rival])]

    def begin_generation(self, search: Search) -> Decision[Search]:
        """Open the next generation, unless a move comes before it."""
        moves = search.slice(Moves)
        pending = search.generation > moves.last and search.generation % self._every == 0
        if pending and not search.saturated and not self.is_last(search):
            return Decision(state=search.with_slice(replace(moves, due=True)))
        return super().begin_generation(search)

    def adopt(self, search: Search, elite: CandidateState) -> Decision[Search]:
        """The generation ends with this elite."""
        front, others = search.slices.get(Front, Front()), search.slices.get(OtherStructures, OtherStructures())
        needed = (*search.contenders, *front.programs, *others.programs)
        moves = search.slice(Moves).after_generation(elite, needed)
        # A later copy of a program takes its episodes over. Only recordings of what is remembered are kept.
        kept = {one.id for one in moves.archive}
        known = {mark: one for mark, one in search.trials.known.items() if one.id in kept}
        fact = moves.fact(search.generation)
        search = replace(search, trials=replace(search.trials, known=known)).with_slice(moves).with_slice(Guest())
        return chain(Decision(state=search, facts=(fact,)), super().adopt(search, elite))

    def spend(self, search: Search, one: CandidateState) -> Decision[Search]:
        """A candidate is remembered."""
        return super().spend(search.with_slice(search.slice(Moves).with_candidate(one)), one)

    def resume(
        self, search: Search, outcome: EvaluatorMoved, scores: Mapping[str, Score], owners: frozenset[str], *,
        evaluator: EvaluatorCandidate,
    ) -> Decision[Search]:
        """Go on after a move. `scores` are the successor's by the keys of recordings; T has episodes of `owners`."""
        return self.begin_generation(self._after_move(search, outcome, scores, owners, evaluator))

    def _after_move(
        self, search: Search, outcome: EvaluatorMoved, scores: Mapping[str, Score], owners: frozenset[str],
        evaluator: EvaluatorCandidate,
    ) -> Search:
        """If the successor took over, all that the search goes on with has its fitness from it.

        Records of fresh episodes are forgotten, and so are the episodes of programs that are not remembered.
        """
        before = search.slice(Moves)
        moves = replace(
            before, due=False, moves=before.moves + 1, last=search.generation, version=outcome.version,
            drawn=before.drawn | owners,
        )
        if not outcome.moved:
            return search.with_slice(moves)

        def judge(one: CandidateState) -> CandidateState:
            return under(one, scores, outcome.version)

        archive, elite = tuple(map(judge, moves.archive)), judge(search.elite)
        plan = replace(
            search.trials.plan, evaluator=evaluator.program, fitness=evaluator.says, version=outcome.version
        )
        trials = Trials(plan=plan, open={}, ordered=search.trials.ordered)
        for one in (*archive, elite):
            trials = trials.knowing(one)
        alike = [one for one in archive if len(one.episodes) == len(elite.episodes) and one.id != elite.id]
        best = max(alike, key=lambda one: (one.fitness, -one.generation, one.id), default=elite)
        search = replace(
            search, elite=elite, trials=trials, records={}, contenders=tuple(map(judge, search.contenders))
        ).with_slice(replace(moves, archive=archive))
        for part in self._parts:
            search = part.at_move(search, Rejudged(of=judge, archive=archive))
        return search.with_slice(Guest(program=best if best.fitness > elite.fitness else None))
