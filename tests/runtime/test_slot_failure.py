"""No reply ends a run: what breaks an agent that reads replies spends its slot, and a run that ended so goes on."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from memento.agents import ballots
from memento.agents.judging import JudgePanel
from memento.core.events import (
    Compute,
    Criticise,
    Criticised,
    EvaluatorChosen,
    Examine,
    Fact,
    Judge,
    LookCloser,
    Order,
    ProposalFailed,
    ProposalMade,
    Propose,
    ProposeEvaluator,
    Roll,
    ScoreEpisode,
    SearchEnded,
    ToolAnswered,
    VoteCast,
)
from memento.core.faults import FaultKind
from memento.core.programs.program_text import MAX_FAULT
from memento.core.turns import Passage, ToolRequest
from memento.core.values import Episode, Program
from memento.memory.store import RunStore
from memento.models.tape import tape_of
from memento.runtime.bus import EventBus
from memento.runtime.clock import SystemClock
from memento.runtime.lanes import Agent, Lane
from memento.runtime.prompts import PromptFolder
from memento.runtime.supervisor import Supervisor
from memento.search.evaluator_search import EvaluatorBudget
from memento.search.keepers import KEEPERS
from memento.search.options import GenerationBudget
from memento.search.rollout_plan import RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer

from ..support.keeper_world import World
from ..support.prompt_samples import BRIEF, Scripted, judge_order, propose_evaluator

PLAN = RunPlan(
    method=KEEPERS["memento"],
    slots=GenerationBudget(generations=2, hill_climb=2, macro=2, crossover=1),
    search=RolloutPlan(split="search", seeds=(1, 2), evaluator=None, racing=True),
    final_seeds=(9,),
    evaluator_budget=EvaluatorBudget(pool=3, judges=3, generations=2),
)
KINDS = (Propose, ProposeEvaluator, Judge, Roll, ScoreEpisode, Examine)
NO_BREAK_SPACE = "\xa0"
STUCK = {"a nest that the old limit let through": "NOTE = " + "{0: " * 190 + "1" + "}" * 190}
if sys.version_info < (3, 12):
    STUCK["an f-string that cannot be printed"] = f"NOTE = f\"{{'5{NO_BREAK_SPACE}mm'}}\""


class Answering:
    """Answers from the world; `broken` orders raise what a defect of ours would."""

    def __init__(self, broken=lambda order: False) -> None:
        self.world = World(4, failure_rate=0.0)
        self.broken = broken

    async def carry_out(self, order: Order) -> Fact:
        if self.broken(order):
            raise ValueError(f"Unable to avoid\nbackslash in {order.id}" + "x" * 1000)
        return self.world.answer(order)


class Writing(Answering):
    """Evaluators that an older version took."""

    def __init__(self, line: str) -> None:
        super().__init__()
        self.line = line

    async def carry_out(self, order: Order) -> Fact:
        fact = await super().carry_out(order)
        if isinstance(order, ProposeEvaluator):
            program = Program(f"class Evaluator:\n    def evaluate(self, trajectory): return 0.5, {{}}\n{self.line}\n")
            return replace(fact, program=program)
        return fact


def supervisor(log: RunStore, agent: Agent, judges: Agent | None = None) -> Supervisor:
    agents = {**dict.fromkeys(KINDS, agent), **({} if judges is None else {Judge: judges})}
    lane = Lane(name="all", limit=3, agents=agents)
    return Supervisor(keeper=Sequencer(PLAN), bus=EventBus(log), lanes=[lane])


def panel() -> JudgePanel:
    model = Scripted(lambda ask: '{"reason": "It tells failures apart.", "choice": "A"}')
    return JudgePanel(models=[model], prompts=PromptFolder(), brief=BRIEF, run_seed=7)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore.create(tmp_path / "run", clock=SystemClock()) as store:
        yield store


async def test_what_breaks_on_a_reply_spends_its_slot_and_the_run_ends_well(log: RunStore) -> None:
    broken = {"g1/macro/0", "g2/hill/0"}

    def breaks(order: Order) -> bool:
        return order.id in broken or order.id.endswith("judge/1") or order.id == "eval/g1/0"

    assert await supervisor(log, Answering(breaks)).run() == "done"
    facts = [*log.facts()]
    failed = {fact.order: fact for fact in facts if isinstance(fact, ProposalFailed)}
    assert broken | {"eval/g1/0"} <= set(failed)
    assert all(fact.fault.kind is FaultKind.MODEL_FAILED and fact.call is None for fact in failed.values())
    assert failed["g1/macro/0"].fault.message.startswith("an internal error: ValueError: Unable to avoid backslash in")
    assert all(len(fact.fault.message) <= MAX_FAULT for fact in failed.values())
    abstained = [fact for fact in facts if isinstance(fact, VoteCast) and fact.order.endswith("judge/1")]
    assert abstained
    assert all(vote.choice is None and vote.reason.startswith("abstained: an internal") for vote in abstained)
    assert set(failed) <= {order for order, _ in tape_of(facts).failures}, "a replay fails the same slots"


@pytest.mark.parametrize("kind", [Roll, ScoreEpisode, Examine])
async def test_a_fault_of_ours_elsewhere_ends_the_run(kind: type[Order], log: RunStore) -> None:
    with pytest.raises(ValueError, match="Unable to avoid"):
        await supervisor(log, Answering(lambda order: isinstance(order, kind))).run()


def test_only_orders_to_models_have_a_failed_slot() -> None:
    assert isinstance(propose_evaluator(None).failed("x"), ProposalFailed)
    vote = judge_order(2).failed("x")
    assert (vote.order, vote.seat, vote.choice) == (judge_order(2).id, 2, None)
    rolled = Episode(index=2, seed=0, steps=1, ended_by="horizon", success=False)
    for tool in (LookCloser, Compute):
        answer = tool(id="g1/hill/0/tool1", request=ToolRequest(), episode=rolled).failed("x")
        assert answer == ToolAnswered(order="g1/hill/0/tool1", answer=Passage("x"))
    look = Criticise(id="g1/hill/0/look2", candidate="g1/hill/0", episode=rolled).failed("x")
    assert isinstance(look, Criticised)
    assert (look.candidate, look.episode, look.sheet, look.problem) == ("g1/hill/0", 2, None, "x")
    assert not look.unanswered, "nobody was asked"
    assert Roll(id="t0/e1", program=Program(""), split="search", index=1, seed=1).failed("x") is None


@pytest.mark.parametrize("line", STUCK.values(), ids=STUCK.keys())
async def test_a_run_that_ended_by_a_reply_in_its_log_is_resumed_to_its_end(
    line: str, log: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log is made as the version before did: it printed what it had taken without a guard, and had no net."""
    with monkeypatch.context() as before:
        before.setattr(ballots, "bare", lambda program: ast.unparse(ast.parse(program.text)))
        before.setattr(Judge, "failed", lambda order, problem: None)
        for _ in range(2):
            with pytest.raises((ValueError, RecursionError)):
                await supervisor(log, Writing(line), panel()).run([*log.facts()])
    assert any(isinstance(fact, ProposalMade) and line in fact.program.text for fact in log.facts())
    assert not any(isinstance(fact, VoteCast) for fact in log.facts())
    assert await supervisor(log, Writing(line), panel()).run([*log.facts()]) == "done"
    votes = [fact for fact in log.facts() if isinstance(fact, VoteCast)]
    assert all(vote.choice is not None for vote in votes)
    assert "The text of this program cannot be shown" in votes[0].call.prompt.text
    assert any(isinstance(fact, EvaluatorChosen) for fact in log.facts())
    assert any(isinstance(fact, SearchEnded) for fact in log.facts())
