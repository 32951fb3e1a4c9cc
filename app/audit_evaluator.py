"""The evaluator that an audit examines: the domain's reference evaluator, a file's, or the one a run chose."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.audits import SEARCH, AuditedProgram
from ..core.errors import UsageError
from ..core.events import CandidateScored, EvaluatorChosen, RunResumed, RunStarted
from ..core.values import JSON, Program
from ..domains import load as load_domain
from ..memory.runs import find_run
from ..memory.store import RunStore
from ..settings import settings_in
from ..settings.evaluate import given_options
from .program_files import read_evaluator
from .trust import require_trust

REFERENCE = "reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """An evaluator with the completed options of its task. `run` is the folder of the run that chose it."""

    program: Program
    name: str
    options: Mapping[str, JSON]
    run: Path | None = None
    candidates: tuple[AuditedProgram, ...] = ()     # of that run, unless its options are changed


def examined(
    domain_name: str, evaluator: str, *, flags: Mapping[str, JSON], assignments: Sequence[str], runs_dir: Path,
    trusted: bool,
) -> Examined:
    """The evaluator that `evaluator` names. A run's is examined under the run's options. Raises UsageError."""
    domain = load_domain(domain_name)
    given = given_options(domain.name, flags=flags, assignments=assignments)
    if evaluator == REFERENCE or evaluator.endswith(".py"):
        options = domain.options(given, preset="paper")
        return Examined(program=read_evaluator(evaluator, domain), name=Path(evaluator).name, options=options)
    folder = find_run(runs_dir, evaluator)
    with RunStore.read(folder) as store:
        begun = tuple(store.facts(only=(RunStarted, RunResumed)))
        chosen = [
            fact.chosen.program for fact in store.facts(only=(EvaluatorChosen,))
            if isinstance(fact, EvaluatorChosen) and fact.final and fact.chosen.program is not None
        ]
        candidates = tuple(_audited(store)) if not given else ()
    settings = settings_in(begun)
    if settings is None or not chosen:
        raise UsageError(f"the run {folder.name!r} has chosen no evaluator yet: continue it, or name a file")
    started = next(fact for fact in begun if isinstance(fact, RunStarted))
    require_trust(folder, started.settings, settings, trusted=trusted, models=False)
    if settings.domain != domain_name:
        raise UsageError(
            f"the run {folder.name!r} has the domain {settings.domain!r}, not {domain_name!r}: name the run's domain"
        )
    options = domain.options({**settings.options, **given}, preset=settings.preset) if given else settings.options
    return Examined(program=chosen[-1], name=folder.name, options=options, run=folder, candidates=candidates)


def _audited(store: RunStore) -> Iterator[AuditedProgram]:
    """The search's own candidates, with F and S as in the log: each counts as one episode."""
    for fact in store.facts(only=(CandidateScored,)):
        assert isinstance(fact, CandidateScored)
        each = fact.candidate
        if each.fault is None and each.bound is None and each.success_rate is not None:
            yield AuditedProgram(
                name=each.id, kind=SEARCH, text=each.program.text, fitnesses=(each.fitness,),
                successes=(each.success_rate > 0,),
            )
