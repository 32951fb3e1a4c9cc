"""The settings of `memento audit`: a domain with its options, an evaluator, and how much to try."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..core.audits import AuditedProgram
from ..core.errors import UsageError
from ..core.ports import has_success
from ..core.provenance import GIVEN
from ..core.values import JSON, Program
from ..domains import load as load_domain
from . import MOST_WORKERS, usable_cpus
from .evaluate import MOST_SEED, require_counts

MOST_AUDITED = 1_000
MOST_PROGRAMS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """One audit. `options` are complete; `programs` is how many programs breeding makes."""

    domain: str
    options: Mapping[str, JSON] = field(default_factory=dict)
    evaluator: Program
    evaluator_name: str
    episodes: int
    programs: int
    seed: int
    workers: int
    candidates: tuple[AuditedProgram, ...] = ()     # of the search that used the evaluator; also parents of bred ones


def build_audit_settings(
    domain: str,
    *,
    options: Mapping[str, JSON],
    evaluator: Program,
    evaluator_name: str,
    episodes: int,
    programs: int,
    seed: int,
    workers: int | None,
    candidates: tuple[AuditedProgram, ...] = (),
) -> AuditSettings:
    """Checked settings; `options` are complete. Raises UsageError."""
    require_counts(
        ("--episodes", episodes, 1, MOST_AUDITED), ("--programs", programs, 0, MOST_PROGRAMS),
        ("--seed", seed, 0, MOST_SEED), ("--workers", workers, 1, MOST_WORKERS),
    )
    if not has_success(load_domain(domain, GIVEN), options):
        raise UsageError(
            f"the domain {domain!r} has no success predicate under these options, so no program can be shown to please"
            " the evaluator without success: see `memento domains` for options that define success"
        )
    return AuditSettings(
        domain=domain, options=options, evaluator=evaluator, evaluator_name=evaluator_name, episodes=episodes,
        programs=programs, seed=seed, workers=workers if workers is not None else usable_cpus(), candidates=candidates,
    )
