"""What a run came to, read from its log."""

from ..memory.run_status import status_of
from ..memory.store import RunStore
from .results import RunResult


def result_of(store: RunStore, *, status: str) -> RunResult:
    """The result of the run in `store`, which its controller left with `status`."""
    run = status_of(store.facts_after(0, texts=False))
    settings, final, spent = run.settings, run.final, run.spending.total
    first, elite = run.first_elite, run.elite
    return RunResult(
        run=str(store.folder),
        domain=str(settings["domain"]),
        method=str(settings["method"]),
        model=str(settings["model"]),
        seed=int(str(settings["seed"])),
        status=status,
        generations=run.generation,
        elite=elite.candidate if elite else None,
        fitness=elite.fitness if elite else None,
        success=elite.success_rate if elite else None,
        initial_fitness=first.fitness if first else None,
        reference_initial=final.initial_fitness if final else None,
        reference_fitness=final.elite_fitness if final else None,
        final_success=final.elite_success if final else None,
        candidates=run.candidates,
        episodes_run=run.episodes,
        episodes_saved=run.episodes_saved,
        model_calls=spent.calls,
        tokens=spent.tokens,
        cost_usd=spent.cost_usd,
        wall_s=round(run.active_s, 3),
        sandbox=run.sandbox,
    )
