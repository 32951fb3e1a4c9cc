"""What a run came to, read from its log."""

from ..memory.queries import active_seconds, summarise
from ..memory.store import RunStore
from .results import RunResult


def result_of(store: RunStore, *, status: str) -> RunResult:
    """The result of the run in `store`, which its controller left with `status`."""
    summary = summarise(store.facts(texts=False))
    settings, final, spent = summary.settings, summary.final, summary.spending.total
    return RunResult(
        run=str(store.folder),
        domain=str(settings["domain"]),
        method=str(settings["method"]),
        model=str(settings["model"]),
        seed=int(str(settings["seed"])),
        status=status,
        generations=summary.generations,
        elite=summary.elite,
        fitness=summary.fitness,
        success=summary.success,
        initial_fitness=summary.initial_fitness,
        reference_initial=final.initial_fitness if final else None,
        reference_fitness=final.elite_fitness if final else None,
        final_success=final.elite_success if final else None,
        candidates=summary.candidates,
        episodes_run=summary.episodes_run,
        episodes_saved=summary.episodes_saved,
        model_calls=spent.calls,
        tokens=spent.tokens,
        cost_usd=spent.cost_usd,
        wall_s=round(active_seconds((entry.at, entry.fact) for entry in store.facts_after(0, texts=False)), 3),
        sandbox=summary.sandbox,
    )
