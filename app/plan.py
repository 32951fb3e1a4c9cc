"""The inputs of a run's decisions, from its settings."""

from typing import Any

from pydantic import TypeAdapter

from ..core.methods import SearchPart, method_named, slots_for
from ..core.order_ids import CONDITIONS
from ..core.ports import Domain, has_success
from ..core.seeds import derive_seed
from ..core.values import Operator, Program
from ..search.calibration import Proposals
from ..search.conversing import ConversationTerms
from ..search.evaluator_search import EvaluatorBudget
from ..search.gate import GATE_SPLIT, GateTerms
from ..search.hardening import AttackTerms
from ..search.keepers import keeper_of_method
from ..search.meetings.starts import MOST_STARTS
from ..search.options import Choices, GenerationBudget, SearchOptions
from ..search.rollout_plan import FreshPlan, RolloutPlan
from ..search.sequencer import RunPlan
from ..settings import ATTACKER, Settings
from .budgets import models_of
from .gate_twin import twin_of


def plan_of(
    settings: Settings, domain: Domain, initial: Program | None, evaluator: Program | None, *,
    exploits: tuple[Program, ...] = (),
) -> RunPlan:
    """The plan of the run. Episode e of every candidate has the same seed; the final seeds are different ones.

    Attacks on evaluators begin with the `exploits`.
    """
    budget = EvaluatorBudget(
        pool=settings.evaluator_pool,
        judges=settings.evaluator_judges,
        generations=settings.evaluator_generations,
    )
    return RunPlan(
        method=keeper_of_method(settings.method),
        slots=slots_of(settings),
        search=RolloutPlan(
            split="search",
            seeds=tuple(derive_seed(settings.root_seed, "search", e) for e in range(settings.n_roll)),
            evaluator=evaluator,
            racing=settings.racing,
            duplicates=settings.duplicates,
            has_success=has_success(domain, settings.options),
            fitness=_fitness_of(settings, domain),
            episodes=settings.budget_episodes,
            practice=settings.practice_episodes if settings.proposer_turns else 0,
            fresh=FreshPlan(
                seed=settings.root_seed, confirm=settings.confirm_episodes, choice=settings.choice_episodes,
                starts=MOST_STARTS if settings.stop_when == "saturated" else 0,
                first=settings.n_roll, tolerance=settings.choice_tolerance,
            ),
        ),
        options=SearchOptions(seed=settings.root_seed),
        choices=Choices(settings, Proposals(read_metrics=settings.model != "offline"), _parameters(settings)),
        final_seeds=tuple(derive_seed(settings.root_seed, "final", e) for e in range(_final_episodes(settings))),
        initial=initial,
        evaluator_budget=budget if settings.evaluator == "evolve" else None,
        probe_seed=derive_seed(settings.root_seed, "probes") if settings.probes == "on" else None,
        tested=settings.evaluator_tests == "on" and settings.probes == "on",
        attacks=AttackTerms(
            rounds=settings.evaluator_attacks, seed=settings.root_seed,
            asks=ATTACKER in models_of(settings), known=exploits,
        ) if settings.evaluator_attacks else None,
        reference=domain.reference_evaluator(),
        conditions=CONDITIONS if settings.robust == "on" else (),
    )


def _parameters(settings: Settings) -> Any:
    """The parameters of a method from outside; None for a method without any."""
    kind = method_named(settings.method).parameters
    return None if kind is None else TypeAdapter(kind).validate_python(settings.parameters)


def _final_episodes(settings: Settings) -> int:
    """The held-out episodes; 0 for a method that has no final measure, such as a calibration on a robot."""
    return settings.final_episodes if SearchPart.FINAL in method_named(settings.method).parts else 0


def _fitness_of(settings: Settings, domain: Domain) -> str:
    """What f_e measures, where the settings alone decide it: under the domain's reference evaluator."""
    return domain.brief(settings.options).reference_fitness if settings.evaluator == "reference" else ""


def slots_of(settings: Settings) -> GenerationBudget:
    """The budget of a generation: by branch, or `k` slots in one branch for a method that divides them itself."""
    if SearchPart.SLOTS in method_named(settings.method).parts:
        return GenerationBudget(generations=settings.generations, hill_climb=0, macro=settings.k, crossover=0)
    known = settings.as_json()
    return GenerationBudget(
        generations=settings.generations, hill_climb=slots_for(known, Operator.HILL_CLIMB),
        macro=slots_for(known, Operator.MACRO), crossover=slots_for(known, Operator.CROSSOVER),
        tune=slots_for(known, Operator.TUNE), tune_episodes=settings.tune_episodes,
        tune_generations=settings.tune_generations,
    )


def gate_terms_of(settings: Settings, domain: Domain) -> GateTerms | None:
    """What candidates have to pass before their episodes; None without a gate.

    The seeds of its episodes derive from a word of their own, as those of practice do.
    """
    twin = twin_of(settings, domain)
    if twin is None or settings.gate == "off":
        return None
    return GateTerms(
        twin=twin.domain, audit=settings.gate_audit, seed=settings.root_seed,
        seeds=tuple(derive_seed(settings.root_seed, "gate", e) for e in range(settings.gate_episodes)),
    )


def terms_of(settings: Settings) -> ConversationTerms | None:
    """What a conversation with a proposer may take; None where a proposal is one answer.

    The seeds of practice episodes derive from a word of their own, so they say nothing of the search's or final ones.
    """
    if not settings.proposer_turns:
        return None
    return ConversationTerms(
        turns=settings.proposer_turns, practice_episodes=settings.practice_episodes,
        seeds=tuple(
            derive_seed(settings.root_seed, "practice", e) for e in range(settings.practice_starts or settings.n_roll)
        ),
        split=GATE_SPLIT if settings.practice_on == "twin" else "search",
    )
