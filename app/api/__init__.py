"""MEMENTO from Python, for notebooks and scripts; the names are those of `memento` itself: `memento.run`, …

The command line uses the same functions of `app/`, `settings/` and `memory/`.

    displays   where a run that Python code started shows its progress
    notebook   what a notebook shows of runs, candidates and results, and calls while a run goes on
    record     A run on disk, read from its log
    reporting  what a report is made of: the evidence of runs, a comparison or an archive, pictures of the elites
    waiting    runs asynchronous work to its end from ordinary code, also where an event loop runs already
"""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from ... import app
from ...core.errors import UsageError
from ...core.methods import Method, add_method
from ...core.values import JSON
from ...memory.runs import find_run, list_runs
from ...settings import OPTIONS, build_settings
from ...settings.evaluate import build_evaluate_settings
from ..results import EpisodeResult, EvaluateResult, RankResult, RankRow, RunResult
from .displays import display_of
from .notebook import OnCandidate, calling
from .record import Candidate, Run, candidate_of
from .waiting import finish

__all__ = [
    "Candidate", "EpisodeResult", "EvaluateResult", "RankResult", "RankRow", "Run", "RunResult", "evaluate", "load",
    "run", "runs",
]

RUNS: Final = "runs"        # the folder of runs, if neither an argument nor MEMENTO_RUNS names one


def run(
    domain: str, *, name: str | None = None, runs: str | Path | None = None, display: str = "auto",
    options: Mapping[str, JSON] | None = None, on_candidate: OnCandidate | None = None,
    method: str | Method | None = None, **settings: JSON,
) -> Run:
    """Evolve an evaluator, then a policy, as `memento run` does, and return the finished run.

    `settings` are those of a settings file, such as `preset="smoke"`, `model`, `seed`, `workers`, `k_hc`,
    `budget_usd`; None is not given. `options` are those of the domain, such as `{"randomisation": "none"}`. Settings
    that are not given come from the environment (MEMENTO_…), then from the preset. The run is kept in the folder `name`
    (by default domain, time and a tag) of `runs` (by default $MEMENTO_RUNS, else "runs").

    `method` is the name of a search method, as in `memento methods`, or one of your own: a `core.methods.Method`, or
    its import string "package.module:ATTRIBUTE", by which a later process can resume the run.

    `display` shows progress: "auto" (one bar below the cell in a notebook, a live screen in a terminal), "bar",
    "plain", "rich" or "none". `on_candidate` is called with each scored `Candidate`, in the order of the log, and must
    be quick; the run stops cleanly after a candidate for which it returns True, or raises an exception, which is raised
    again at the end. An interrupt ends the run cleanly and raises KeyboardInterrupt;
    `memento.load(name).resume()` continues it. A run whose budget is spent, or that was stopped, is returned too: see
    its `state`. The call works where an event loop runs already, as in a notebook; it returns when the run ends.

    Raises UsageError for settings, in one sentence with the fix; ModelError, RolloutError, StoreError and SearchError
    if the run cannot go on: what was committed is kept.
    """
    if isinstance(method, Method):
        method = add_method(method).name
    own = {f"{OPTIONS}.{key}": value for key, value in (options or {}).items()}
    given = {**settings, **own, "method": method, "domain": domain}
    chosen = build_settings(given, environment=os.environ, origin="the argument {}=")
    with display_of(display) as screen, calling(screen, on_candidate, candidate_of) as seen:
        result = finish(lambda: app.run(chosen, runs_dir=_folder(runs), name=name, display=seen))
    return Run(Path(result.run))


def evaluate(
    policy: str | Path | Candidate | Run, *, domain: str, episodes: int = 10, seed: int = 0, salt: str | None = None,
    evaluator: str = "reference", workers: int | None = None, step_limit_ms: float | None = None,
    options: Mapping[str, JSON] | None = None,
) -> EvaluateResult:
    """Roll out a policy as `memento evaluate` does, and return its success, fitness and episodes.

    `policy` is the path of a file, the source text of a program (a text with several lines), a candidate, or a run for
    its elite. It runs in a sandboxed process, never in this one. `options` are those of the domain, completed from the
    preset `paper`. Episodes have the seeds `seed`, `seed` + 1, …, mixed with `salt`: 32 hexadecimal digits, or "none";
    by default a new one, and the result has it. `evaluator` is "reference" or the path of a file. An episode with calls
    slower than `step_limit_ms` of CPU time is a fault.

    Raises UsageError for a policy or an option that cannot be used, and RolloutError if the simulator fails.
    """
    text = _text_of(policy)
    with tempfile.TemporaryDirectory(prefix="memento-policy-") as folder:
        path = Path(folder) / "policy.py" if text is not None else Path(str(policy))
        if text is not None:
            path.write_text(text, encoding="utf-8", errors="surrogatepass")
        settings = build_evaluate_settings(
            path, domain, flags=dict(options or {}), episodes=episodes, seed=seed, salt=salt or app.new_salt(),
            evaluator=evaluator, workers=workers, step_limit_ms=step_limit_ms,
        )
        result = finish(lambda: app.evaluate(settings))
    return result if text is None else replace(result, policy=_name_of(policy))


def load(name: str | Path, *, runs: str | Path | None = None) -> Run:
    """The run with this name, folder or beginning of a name, in the folder `runs` (as in `memento.run`).

    Raises UsageError with the most similar names.
    """
    return Run(find_run(_folder(runs), str(name)))


def runs(folder: str | Path | None = None) -> list[Run]:
    """All runs in `folder` (by default $MEMENTO_RUNS, else "runs"), by name; none if there is no such folder."""
    return [Run(path) for path in sorted(list_runs(_folder(folder)))]


def _folder(runs: str | Path | None) -> Path:
    return Path(runs if runs is not None else os.environ.get("MEMENTO_RUNS", RUNS))


def _text_of(policy: str | Path | Candidate | Run) -> str | None:
    """The source text of a policy; None for a path. Raises UsageError for a candidate without a program."""
    if isinstance(policy, Run):
        elite = policy.elite
        if elite is None:
            raise UsageError(f"the run {policy.name!r} has no elite yet: name a policy, or continue the run")
        policy = elite
    if isinstance(policy, Candidate):
        if policy.program is None:
            raise UsageError(f"the candidate {policy.id} has no program: {policy.fault or policy.state}")
        return policy.program
    return policy if isinstance(policy, str) and "\n" in policy else None


def _name_of(policy: str | Path | Candidate | Run) -> str:
    match policy:
        case Run():
            return policy.name
        case Candidate():
            return policy.id
    return "a program text"
