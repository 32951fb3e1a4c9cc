"""The tools that act: start, stop, pause and continue runs, give hints. Their docstrings are what an agent is shown."""

import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from ...app.hints import give_hint
from ...app.history import outline_of
from ...app.launching import LaunchedRun
from ...app.trust import effects_of_run
from ...core.errors import MementoError, UsageError
from ...core.variables import nothing_more_passed
from ...domains import is_shipped
from ...memory.lock import is_locked
from ...memory.runs import is_run, new_run
from ...memory.store import RunStore, ask, end_pause
from ...models.providers import ASK
from ...models.spec import parse_specs
from ...runtime.clock import SystemClock
from ...settings import Settings, build_settings, parse_budgets, usable_cpus, with_budgets
from ...settings.groups import EVALUATORS
from ...settings.sources import ELSEWHERE, PREFIX
from .reading import RunName
from .results import Result
from .run_names import run_named
from .spending import Allowance, Bounds

BEGUN_WITHIN_S: Final = 45.0    # a process without a run after this time is ended; clients wait for a minute
STARTS_WAIT_S: Final = 5.0      # for one before
MOST_PER_CPU: Final = 16        # workers per processor: each is a process with a simulator
MOST_LIVE: Final = 4            # runs of one server at the same time
INTERRUPTED: Final = 130        # the exit code
FILES: Final = frozenset({"initial", "prompts", "exploits"})    # settings that name a file or a folder

Whole = Annotated[int | None, Field(ge=1)]
Amount = Annotated[float | None, Field(gt=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the person who started the server allows. Without bounds agents spend nothing.

    `trust`: agents may name code and files that do not come with MEMENTO.
    """

    bounds: Bounds | None
    trust: bool


class Acting:
    """The tools that act on the runs in `runs_dir`, within the rules."""

    def __init__(self, runs_dir: Path, rules: Rules) -> None:
        self.last_words: dict[Path, str] = {}       # of runs that ended with an error
        self._runs_dir = runs_dir
        self._trust = rules.trust
        self._live: dict[Path, LaunchedRun] = {}
        self._allowance = Allowance(rules.bounds, self._is_live)
        self._starting = threading.Lock()       # one by one: what is left to spend depends on the starts before

    def start_run(
        self,
        domain: Annotated[str, Field(description="The task: see list_choices.")],
        preset: Annotated[str | None, Field(description="The size of the search, such as smoke or quick.")] = None,
        method: Annotated[str | None, Field(description="The search method; by default memento.")] = None,
        model: Annotated[
            str | None, Field(description="The model that writes programs; by default offline, which is free.")
        ] = None,
        evaluator_model: Annotated[str | None, Field(description="By default that of model.")] = None,
        judges: Annotated[list[str] | None, Field(description="The models of the judges.")] = None,
        seed: int | None = None,
        workers: Annotated[Whole, Field(description="Rollouts at the same time; never changes the result.")] = None,
        name: Annotated[str | None, Field(description="The name of the run; by default it gets one.")] = None,
        budget_calls: Whole = None,
        budget_tokens: Whole = None,
        budget_usd: Amount = None,
        budget_wall_s: Amount = None,
        budget_episodes: Whole = None,
        settings: Annotated[
            dict[str, Any] | None,
            Field(description="Other settings by name, such as k_hc; the domain's as options.NAME."),
        ] = None,
    ) -> Result:
        """Start a run in a separate process, which goes on when this server ends. Returns as soon as it has begun.

        Without a model the offline model writes the programs: an embedded mutator, free of cost, and no language model.
        """
        given = {
            "domain": domain, "preset": preset, "method": method, "model": model, "evaluator_model": evaluator_model,
            "judges": judges, "seed": seed, "workers": workers, "budget_calls": budget_calls,
            "budget_tokens": budget_tokens, "budget_usd": budget_usd, "budget_wall_s": budget_wall_s,
            "budget_episodes": budget_episodes,
        }
        chosen = self._settings(given, settings or {})
        with self._one_start():
            budgets = self._allowance.budgets_for(chosen)
            chosen = chosen.model_copy(update=budgets)
            folder = new_run(self._runs_dir, name, SystemClock(), label=chosen.domain, seed=chosen.seed)
            self._allowance.grant(folder, budgets)
            with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as file:
                file.write(chosen.as_toml())
                file.flush()
                arguments = [
                    "run", "--config", file.name, "--trust", "--runs", str(self._runs_dir), "--name", folder.name
                ]
                self._launch(folder, arguments, lambda: is_run(folder) and _last_seq(folder) > 0)
        return {"run": folder.name, "folder": str(folder), "state": "running", "budgets": budgets}

    def stop_run(self, run: RunName) -> Result:
        """Ask a live run to stop. Nothing is lost: resume_run continues it. See show_run for when it has ended."""
        return self._asked(run, "stop")

    def pause_run(self, run: RunName) -> Result:
        """Ask a live run to pause; resume_run ends the pause."""
        return self._asked(run, "pause")

    def resume_run(
        self,
        run: RunName,
        budget_calls: Whole = None,
        budget_tokens: Whole = None,
        budget_usd: Amount = None,
        budget_wall_s: Amount = None,
    ) -> Result:
        """End the pause of a run, or continue one that was stopped or killed, or that spent its budget.

        Budgets replace those of the run, and count what it spent before; one that spent its budget needs a larger one.
        """
        asked = {
            "budget_calls": budget_calls, "budget_tokens": budget_tokens, "budget_usd": budget_usd,
            "budget_wall_s": budget_wall_s,
        }
        given = parse_budgets(asked, ())
        folder = run_named(self._runs_dir, run)
        with RunStore.read(folder) as store:
            before, facts = outline_of(store), store.last_seq
        if before.done:
            raise UsageError(f"the run {folder.name!r} is done: there is nothing to continue")
        if is_locked(folder):
            if given:
                raise UsageError(f"the run {folder.name!r} is live: stop it first to change its budgets")
            self._allowance.require_may_go_on(before.settings, folder)
            if end_pause(folder):
                return {"run": folder.name, "asked": "continue"}
        with self._one_start():
            budgets = self._allowance.budgets_for(with_budgets(before.settings, given), folder=folder)
            self._allowance.grant(folder, budgets)
            flags = [f"--{key.replace('_', '-')}={value}" for key, value in {**given, **budgets}.items()]
            self._launch(folder, ["resume", str(folder), *flags], lambda: _last_seq(folder) > facts)
        return {"run": folder.name, "state": "running", "budgets": budgets}

    def give_hint(
        self, run: RunName, text: Annotated[str, Field(description="The hint, in one or two sentences.")]
    ) -> Result:
        """Give a hint that the run's following prompts for policies quote. The offline model reads no hints."""
        folder = run_named(self._runs_dir, run)
        give_hint(folder, text)
        return {"run": folder.name, "live": is_locked(folder)}

    def _asked(self, run: str, kind: str) -> Result:
        folder = run_named(self._runs_dir, run)
        ask(folder, kind)
        return {"run": folder.name, "asked": kind}

    # ------------------------------------------------------------------------------------------- rules

    def _settings(self, given: Mapping[str, Any], more: Mapping[str, Any]) -> Settings:
        """The settings of a run, checked before anything is imported or started. Raises UsageError."""
        domain = str(given["domain"])
        if not self._trust:
            if ":" in domain and not is_shipped(domain):
                raise _needs_trust(f"the domain {domain!r} imports code that does not come with MEMENTO")
            for key in more:
                if key in FILES or (key == "evaluator" and more[key] not in EVALUATORS):
                    raise _needs_trust(f"the setting {key!r} names a file")
        for key in more:
            if key in given:
                raise UsageError(f"{key!r} has its own argument of start_run: give it there")
            if key.partition(".")[0] == "prices":
                raise UsageError(f"{key!r} cannot be set here: prices decide what a budget allows")
        with nothing_more_passed():     # the run is another process, which gets the variables from its settings
            chosen = build_settings({**given, **more}, environment=os.environ, origin="the argument {}")
        most = MOST_PER_CPU * usable_cpus()
        if chosen.workers > most:
            raise UsageError(f"workers = {chosen.workers} is too much for this machine: ask for at most {most}")
        for role, names in _models_in(chosen).items():
            if any(spec.scheme == ASK for name in names for spec in parse_specs(name)):
                raise UsageError(f"{role}: the model 'ask' waits for a person at a terminal: name another one")
        would = [] if self._trust else [*effects_of_run(chosen, models=False)]
        if would:
            raise _needs_trust(f"the run would {'; '.join(would)}")
        return chosen

    # --------------------------------------------------------------------------------------- processes

    @contextmanager
    def _one_start(self) -> Iterator[None]:
        """Let one start through at a time. Raises UsageError while another one lasts, and for too many live runs."""
        if not self._starting.acquire(timeout=STARTS_WAIT_S):
            raise UsageError("another run is being started: try again when it has begun")
        try:
            live = sorted(folder.name for folder in [*self._live])
            if len(live) >= MOST_LIVE:
                raise UsageError(f"{MOST_LIVE} runs of this server are live ({', '.join(live)}): stop one, or wait")
            yield
        finally:
            self._starting.release()

    def _launch(self, folder: Path, arguments: Sequence[str], has_begun: Callable[[], bool]) -> None:
        """Start a process and wait until its run has begun. Raises MementoError with what the process said last."""
        launched = LaunchedRun([*arguments, "--display", "none"], environment=_without_settings(os.environ))
        if not launched.wait_until_begun(has_begun, within_s=BEGUN_WITHIN_S):
            with closing(launched):
                ended = launched.wait(0) is not None
                said = launched.last_words().removeprefix("memento: ").strip()
            with suppress(OSError):
                folder.rmdir()      # only an empty one goes
            late = f"the run has not begun within {BEGUN_WITHIN_S:g} s, so its process was ended"
            raise MementoError(said or "the run's process ended before the run began" if ended else late)
        self._live[folder] = launched
        self.last_words.pop(folder, None)
        threading.Thread(target=self._settle, args=(folder, launched), name="reaper", daemon=True).start()

    def _settle(self, folder: Path, launched: LaunchedRun) -> None:
        """Wait for the end of a run's process, so that none remains as a zombie."""
        with closing(launched):
            if launched.process.wait() not in (0, INTERRUPTED):
                self.last_words[folder] = launched.last_words().removeprefix("memento: ").strip()
        if self._live.get(folder) is launched:
            del self._live[folder]

    def _is_live(self, folder: Path) -> bool:
        return folder in self._live or is_locked(folder)


def _models_in(settings: Settings) -> dict[str, tuple[str, ...]]:
    """The models of every role that names one, whether the run would ask it or not."""
    single = {role: getattr(settings, role) for role in ("model", "evaluator_model", "attacker_model", "critic")}
    return {role: (name,) for role, name in single.items() if name} | {"judges": settings.judges}


def _needs_trust(what: str) -> UsageError:
    return UsageError(f"{what}: ask the person who started this server to add --trust, or to start the run")


def _without_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a run whose settings, those of the environment among them, are in a file."""
    return {key: value for key, value in environment.items() if not key.startswith(PREFIX) or key in ELSEWHERE}


def _last_seq(folder: Path) -> int:
    with RunStore.read(folder) as store:
        return store.last_seq
