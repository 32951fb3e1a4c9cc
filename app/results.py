"""The results of commands, the JSON object that each prints for scripts, and a run's result from its log."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path

from ..core.intervals import Interval
from ..core.text import cost, interval_words, number, share
from ..core.values import JSON, Stage
from ..memory.card import Card
from ..memory.run_view import view_of
from ..memory.store import RunStore
from ..memory.tail import read_card


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a command; its fields are the keys of the JSON object, in this order."""

    def as_json(self) -> dict[str, JSON]:
        """The object as plain JSON values. Tuples become lists."""
        values: dict[str, JSON] = json.loads(json.dumps(asdict(self), allow_nan=False))
        return values

    def line(self) -> str:
        """The object on one line of strict JSON. Raises ValueError for NaN or infinity."""
        return json.dumps(asdict(self), allow_nan=False, ensure_ascii=False)

    def brief(self) -> list[tuple[str, str]]:
        """What people look at first: names with values in words."""
        raise NotImplementedError

    def __repr__(self) -> str:
        words = ", ".join(f"{name} {value}" for name, value in self.brief() if value)
        return f"<{type(self).__name__}: {words}>"

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in self.brief() if value
        )
        return f"<div><b>{type(self).__name__}</b><table>{cells}</table></div>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunResult(Result):
    """The result of a run.

    `fitness`, `success` and `initial_fitness` are what the run states of the elite and of p_0 under its own evaluator:
    on fresh episodes, where the program had at least as many of them as of the search's own, else on all
    (`memory/quality.py`). `search_fitness` is F of the elite on the search's own episodes. `reference_initial`,
    `reference_fitness` and `final_success` are measured on held-out seeds, under the reference evaluator and the
    success predicate. None stands for a value that was not reached (a stopped run), does not exist (no reference
    evaluator, success predicate or rewards) or is unknown (a price).
    """

    run: str                            # the run's folder
    domain: str
    method: str
    model: str
    seed: int
    status: str                         # "done", "stopped" or "budget"
    generations: int                    # finished generations
    elite: str | None                   # the elite's candidate id
    fitness: float | None
    success: float | None               # of the search's episodes where the log has it of no others
    initial_fitness: float | None       # F of p_0
    reference_initial: float | None
    reference_fitness: float | None
    final_success: float | None
    initial_return: float | None        # the mean return of p_0 on held-out seeds, and of the elite
    final_return: float | None
    candidates: int                     # policies proposed and evaluated, including failed ones
    episodes_run: int
    episodes_saved: int                 # not rolled out: racing, duplicates
    search_episodes: int                # of the episodes run, those of p_0, the search and its confirmations
    budget_episodes: int | None         # the most that these may be
    confirmations: int                  # comparisons of a new elite with the old one on fresh episodes
    refuted: int                        # of these, those after which the old elite stayed
    gate_episodes: int                  # on the cheap twin, in no other count
    gate_stopped: int                   # candidates that did not pass there
    model_calls: int
    tokens: int
    cost_usd: float | None              # None, not 0, if a price is unknown
    wall_s: float
    sandbox: tuple[str, ...]            # the active isolation layers
    hints: int = 0                      # that a person gave
    critiques: int = 0                  # what a critic said about episodes
    fitness_episodes: int | None = None     # of which `fitness` is the mean, and how many of them are fresh
    fitness_fresh: int | None = None
    initial_success: float | None = None    # of p_0, on the episodes of `final_success`
    initial_episodes: int | None = None     # of which `initial_fitness` is the mean, and how many of them are fresh
    initial_fresh: int | None = None
    search_fitness: float | None = None
    evaluator_version: int = 1          # of the evaluator that they are by, where it moved
    card: Card | None = None            # how much of the result was luck, what the episodes were for, and more

    def brief(self) -> list[tuple[str, str]]:
        """The state, the elite in the search and on held-out episodes, and the cost."""
        return [
            ("run", Path(self.run).name), ("state", self.status), ("elite", self.elite or "none"),
            ("F", number(self.fitness)), ("success", percent(self.success)),
            ("held-out F", "" if self.reference_fitness is None else number(self.reference_fitness)),
            ("held-out success", percent(self.final_success)),
            ("held-out return", "" if self.final_return is None else number(self.final_return, digits=1)),
            ("candidates", str(self.candidates)), ("episodes", str(self.episodes_run)), ("cost", cost(self.cost_usd)),
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeResult:
    """One episode of `memento evaluate`.

    `fitness` is None if the domain has no reference evaluator, `success` if it has no success predicate,
    `episode_return` if it has no rewards or the policy failed. `ended_by` is the word of the episode's fact, as in
    `memento show` and in a run's log. `traceback` has the lines of the program that raised; `printed` is the end of
    what the policy printed, `stages` and `report` are what it said of itself.
    """

    seed: int
    scene: str | None
    success: bool | None
    fitness: float | None
    steps: int
    ended_by: str
    episode_return: float | None
    error: str | None                   # the fault of the policy or the evaluator, in one line
    broken_rule: str | None = None      # the rule of the task that ended the episode, in the domain's word
    traceback: str = ""
    printed: str = ""
    stages: tuple[Stage, ...] = ()
    report: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EvaluateResult(Result):
    """The result of a policy file in a domain. Intervals hold 95 %: Wilson's for success, Student's t for means."""

    policy: str
    domain: str
    variant: str | None
    randomisation: str | None
    episodes: int
    seed: int                           # of the first episode, before the salt
    success_rate: float | None
    fitness: float | None               # the mean over the episodes
    return_mean: float | None           # over the episodes without a fault
    success_interval: Interval | None = None
    fitness_interval: Interval | None = None
    return_interval: Interval | None = None
    failures: int | None = None         # episodes without success; None if the task has no success predicate
    faults: int = 0                     # episodes in which the policy or the evaluator failed
    steps_per_s: float
    wall_s: float
    salt: str                           # with it and the same seed, the same episodes
    sandbox: tuple[str, ...]
    step_cpu_ms_median: float | None = None     # CPU time of a call of the policy; None if no call ended
    step_cpu_ms_p99: float | None = None        # of the slowest episode
    per_episode: tuple[EpisodeResult, ...] = field(default_factory=tuple)

    def brief(self) -> list[tuple[str, str]]:
        """The figures with their intervals."""
        success = f"{percent(self.success_rate)}{interval_words(self.success_interval, percent=True)}"
        fitness = f"{number(self.fitness)}{interval_words(self.fitness_interval)}"
        mean = "" if self.return_mean is None else number(self.return_mean, digits=1)
        return [
            ("policy", self.policy), ("domain", self.domain),
            ("success", success if self.success_rate is not None else ""),
            ("F", fitness if self.fitness is not None else ""),
            ("return", f"{mean}{interval_words(self.return_interval, digits=1)}" if mean else ""),
            ("episodes", str(self.episodes)), ("faults", str(self.faults)),
        ]

    @property
    def all_faulted(self) -> bool:
        """Whether no episode ended without a fault."""
        return self.faults == self.episodes


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRow:
    """One program of `memento rank`. Fitness is under the run's evaluator, and 0 where the policy failed.

    Intervals hold 95 %: t intervals of means, Wilson's of shares; None for one episode. The difference is paired, to
    the program that the run returned (None for this one itself); `p_value` is that of the sign-flip test, adjusted for
    the number of programs that differ (Holm; None for one that does not); at most 0.05, the difference is
    `distinguishable` from 0.
    """

    rank: int                           # from 1
    candidate: str
    same_code: tuple[str, ...]          # later candidates with equal code
    operator: str
    initial: bool                       # it is p_0
    returned: bool                      # it is what the run returned
    search_fitness: float | None        # F in the search
    early: bool                         # of rollouts before it was found that the environment remembers episodes
    fitness: float
    fitness_interval: Interval | None
    reference_fitness: float | None     # None: the run's evaluator is the reference, or there is none
    reference_interval: Interval | None
    success_rate: float | None
    success_interval: Interval | None
    return_mean: float | None           # over the episodes without a fault
    return_interval: Interval | None
    faults: int                         # episodes in which the policy or an evaluator failed
    difference: float | None
    difference_interval: Interval | None
    p_value: float | None
    distinguishable: bool | None
    per_episode: tuple[float, ...]      # the fitness of each episode


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RankResult(Result):
    """The best programs of a run on fresh common episodes, the best first."""

    run: str                            # the run's folder
    domain: str
    evaluator: str                      # as in the run's settings
    episodes: int                       # of each program
    seed: int
    salt: str | None                    # None: the run's own
    returned: str                       # the candidate that the run returned
    best: str
    rolled_out: int                     # episodes that this call rolled out; the others were known
    programs: tuple[RankRow, ...]

    def brief(self) -> list[tuple[str, str]]:
        """The best programs, the best first."""
        rows = [
            (f"{row.rank}", f"{row.candidate}: F {number(row.fitness)}{interval_words(row.fitness_interval)}"
             f"{' (returned)' if row.returned else ''}")
            for row in self.programs
        ]
        return [("run", Path(self.run).name), ("episodes", str(self.episodes)), *rows]


def percent(value: float | None) -> str:
    """A share as a percentage; "" for None."""
    return share(value, unknown="")


def result_of(store: RunStore, *, status: str) -> RunResult:
    """The result of the run in `store`, whose controller ended with `status`."""
    view = view_of(store.facts_after(0, texts=False))
    run = view.status
    settings, final, spent = run.settings, run.final, run.spending.total
    elite, first, quality = run.elite, view.initial_quality, view.quality
    return RunResult(
        run=str(store.folder),
        domain=str(settings["domain"]),
        method=str(settings["method"]),
        model=str(settings["model"]),
        seed=int(str(settings["seed"])),
        status=status,
        generations=run.generation,
        elite=elite.candidate if elite else None,
        fitness=quality.fitness if quality else None,
        success=quality.success if quality else None,
        initial_fitness=first.fitness if first else None,
        reference_initial=final.initial_fitness if final else None,
        reference_fitness=final.elite_fitness if final else None,
        final_success=final.elite_success if final else None,
        initial_return=final.initial_return if final else None,
        final_return=final.elite_return if final else None,
        candidates=run.candidates,
        episodes_run=run.episodes,
        episodes_saved=run.episodes_saved,
        search_episodes=run.search_episodes,
        budget_episodes=run.number("budget_episodes") or None,
        confirmations=run.confirmations,
        refuted=run.refuted,
        gate_episodes=run.gate_episodes,
        gate_stopped=run.gate_stopped,
        model_calls=spent.calls,
        tokens=spent.tokens,
        cost_usd=spent.cost_usd,
        wall_s=round(run.active_s, 3),
        sandbox=run.sandbox,
        hints=run.hints,
        critiques=run.critiques,
        fitness_episodes=quality.episodes if quality else None,
        fitness_fresh=quality.fresh if quality else None,
        initial_success=final.initial_success if final else None,
        initial_episodes=first.episodes if first else None,
        initial_fresh=first.fresh if first else None,
        search_fitness=elite.fitness if elite else None,
        evaluator_version=run.version,
        card=read_card(store, view),
    )
