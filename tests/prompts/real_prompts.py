"""The prompts of the real domains as a run with default settings asks them, made of recorded episodes."""

from collections.abc import Iterator
from dataclasses import replace

from memento.agents.evaluator_evolver import EvaluatorEvolver
from memento.agents.judging import JudgePanel
from memento.agents.proposers import Crosser, HillClimber, Initiator, Mutator
from memento.agents.writing import Answers
from memento.core.events import Judge, Propose, ProposeEvaluator
from memento.core.metrics import aggregate, mean
from memento.core.ports import Ask
from memento.core.probes import known_order, violations
from memento.core.provenance import GIVEN
from memento.core.values import (
    Ancestor,
    CandidateState,
    Change,
    EvaluatorCandidate,
    Focus,
    JudgeReason,
    Operator,
    Program,
    Rejection,
    Verdict,
)
from memento.domains import load
from memento.runtime.prompts import PromptFolder
from memento.runtime.rollouts.limits import policy_limits_in_words

from ..reference_policies import policy_program
from ..support.prompt_samples import Scripted
from .record_episodes import OPTIONS, Recorded, recorded

COUNTS = (2, 10)  # episodes
POLICY_KINDS = ("initial-policy", "hill-climb", "macro-mutation", "crossover")
KINDS = (*POLICY_KINDS, "initial-evaluator", "evaluator", "judge")
ELITE = "g1/macro/3"
FIRST = Ancestor(id="init/0", operator=Operator.INITIAL, summary="First policy", before=(), fitness=0.1)
REASONS = (
    JudgeReason(text="It alone tells apart how far the first cube was lifted.", agrees=True, place=1),
    JudgeReason(text="The others give a parked cube no penalty.", agrees=False, place=0),
)


def mature(domain: str, found: Recorded, count: int) -> CandidateState:
    """The reference policy as the elite of the first generation."""
    scores = found.scores[:count]
    fitness = mean([score.fitness for score in scores])
    made = Ancestor(
        id=ELITE, operator=Operator.MACRO, summary="A stage machine with a retry of each grasp", before=(0.1,),
        fitness=fitness,
    )
    return CandidateState(
        id=ELITE, program=policy_program(domain), operator=Operator.MACRO, generation=1, slot=3, summary=made.summary,
        fitness=fitness, episodes=found.episodes[:count], scores=scores, metrics=aggregate(scores),
        lineage=(FIRST, made),
    )


def climbed(elite: CandidateState) -> CandidateState:
    """A second parent: an edit of the elite, with its scores in another order."""
    scores = tuple(reversed(elite.scores))
    edit = Ancestor(
        id="g2/hill/4", operator=Operator.HILL_CLIMB, summary="LIFT: waits for two readings", before=(elite.fitness,),
        fitness=elite.fitness,
    )
    return replace(
        elite, id=edit.id, program=Program(f"{elite.program.text}\n\nEDITED = True\n"), operator=Operator.HILL_CLIMB,
        generation=2, slot=4, summary=edit.summary, scores=scores, lineage=(*elite.lineage, edit),
    )


def rejected(elite: CandidateState) -> tuple[Rejection, ...]:
    """Three edits that did not stay."""
    first = elite.episodes[0]
    worse = Change(
        episode=first.index, before=elite.scores[0].fitness, after=0.3, ended_by=first.ended_by, steps=first.steps
    )
    lost = Rejection(
        summary="GRIP: closes for 12 steps instead of 8", candidate="g2/hill/0", fitness_difference=-0.0214,
        reason="lower fitness", edited=elite.id, rose=1, fell=1, standard_error=0.03, changes=(worse,),
    )
    crashed = Rejection(
        summary="descends only above the cube", candidate="g2/hill/1", fitness_difference=None, edited=elite.id,
        reason="not-started: NameError: name 'target' is not defined", verdict=Verdict.FAILED,
    )
    return (lost, crashed, replace(lost, candidate="g2/hill/2", verdict=Verdict.SAME, same_as="g2/hill/0"))


def examined(entry: EvaluatorCandidate, found: Recorded, count: int) -> EvaluatorCandidate:
    """The evaluator with its results on the first `count` episodes and the probes."""
    episodes, results = found.episodes[:count], entry.examination
    scores = results.scores[:count]
    return replace(entry, examination=replace(
        results, scores=scores, order_pairs=len(known_order(episodes, found.probes)),
        order_violations=len(violations(episodes, scores, found.probes, results.probe_scores)),
    ))


async def asked(domain: str, kind: str, count: int) -> Ask:
    """The question of this kind after `count` episodes."""
    found, loaded = recorded(domain), load(domain, GIVEN)
    model = Scripted(lambda ask: '{"choice": "none"}' if ask.role == "judge" else "no program")
    common = {"prompts": PromptFolder(), "brief": loaded.brief(loaded.options(OPTIONS[domain], preset="paper"))}
    answers = Answers(edits="patch")
    policy = {"model": model, "contract": loaded.contract, "limits": policy_limits_in_words(), "answers": answers}
    evolver = EvaluatorEvolver(
        model=model, contract=loaded.evaluator_contract, answers=answers, **common, emphasis_seed=7,
    )
    elite = mature(domain, found, count)
    episodes = found.episodes[:count]
    rate = mean([episode.success for episode in episodes])
    order = Propose(
        id="g2/x/1", operator=Operator.MACRO, generation=2, slot=1, parents=(elite,), tried=rejected(elite),
        fitness=common["brief"].reference_fitness, elite=elite.id, focus=Focus(seed=7, place=1, of=10),
    )
    match kind:
        case "initial-policy":
            await Initiator(**policy, **common).carry_out(
                Propose(id="init/0", operator=Operator.INITIAL, generation=0, slot=0, fitness=order.fitness)
            )
        case "hill-climb":
            climb = replace(order, rejections=rejected(elite), tried=(), focus=None)
            await HillClimber(**policy, **common, memory_detail="full").carry_out(climb)
        case "macro-mutation":
            await Mutator(**policy, **common).carry_out(order)
        case "crossover":
            await Crosser(**policy, **common).carry_out(replace(order, parents=(climbed(elite), elite)))
        case "initial-evaluator":
            await evolver.carry_out(ProposeEvaluator(
                id="eval/g0/3", generation=0, slot=3, parent=None, episodes=episodes, success_rate=rate,
                probes=found.probes,
            ))
        case "evaluator":
            parent = examined(found.pool[0], found, count)
            await evolver.carry_out(ProposeEvaluator(
                id="eval/g1/3", generation=1, slot=3, parent=parent, episodes=episodes, success_rate=rate,
                probes=found.probes, reasons=REASONS,
            ))
        case "judge":
            pool = tuple(examined(entry, found, count) for entry in found.pool)
            await JudgePanel(models=[model], run_seed=7, **common).carry_out(Judge(
                id="eval/g1/judge/0", generation=1, seat=0, pool=pool, success_rate=rate, episodes=episodes,
                probes=found.probes,
            ))
    return model.asked[0]


def cases() -> Iterator[tuple[str, str, int]]:
    """Domain, kind and number of episodes of each prompt; the first prompt shows no episode."""
    for domain in OPTIONS:
        for kind in KINDS:
            yield from ((domain, kind, count) for count in (COUNTS if kind != "initial-policy" else COUNTS[:1]))


def programs(domain: str) -> dict[str, str]:
    """The programs in the prompts by name, the longest first."""
    texts = {"the reference policy": policy_program(domain).text.rstrip()}
    evaluator = load(domain, GIVEN).reference_evaluator()
    assert evaluator is not None
    return texts | {"the reference evaluator": evaluator.text.rstrip()}
