"""What MEMENTO asks of the outside: a model, a domain and its environment, a pool, a store, a clock."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .recording import Recording
from .values import JSON, Brief, Contract, Episode, Examination, Program, Score, Usage

if TYPE_CHECKING:
    from .events import Fact, Order

Observation: TypeAlias = NDArray[np.float64] | dict[str, JSON]
Action: TypeAlias = NDArray[np.float64] | list[JSON]


class Environment(Protocol):
    """One task in one simulator, stepped by a trusted worker; the policy is in another process.

    Where `observation_layout` is given, observations are flat float64 vectors with the named fields one
    after the other (a policy sees a dict of arrays of these shapes), and actions are float64 vectors of
    `action_size`. Where it is None, observations are JSON-able dicts and actions JSON lists.
    """

    observation_layout: tuple[tuple[str, tuple[int, ...]], ...] | None
    action_size: int | None

    def reset(self, *, index: int, seed: int) -> None:
        """Begin episode `index` of a candidate. All randomness comes from `seed`, in any process."""

    def observe(self) -> Observation:
        """What the policy sees now. Called exactly once a step, so sensor noise is reproducible."""

    def step(self, action: Action) -> str | None:
        """Advance one control step; returns what ended the episode, or None.

        The action is well formed (right size, finite). Raises ValueError with one sentence where it
        breaks the domain's own action contract (a JSON action of the wrong form).
        """

    def success(self) -> bool:
        """σ(τ): whether the task's success predicate held (the paper's S counts these)."""

    def recording(self) -> Recording:
        """The trajectory so far. Its `info` may name the scene under "scene"."""

    def close(self) -> None:
        """Let go of the simulator."""


@runtime_checkable
class Encoding(Protocol):
    """What an environment with JSON observations may offer beside: the text of `observe`, put together more cheaply."""

    def observe_encoded(self) -> bytes:
        """What `observe` returns, as JSON text in UTF-8. Called in its place."""


class Domain(Protocol):
    """A task as the rest of MEMENTO knows it. Importing it must not import a simulator."""

    name: str
    title: str
    contract: Contract  # of a policy
    evaluator_contract: Contract  # class Evaluator, evaluate(trajectory) -> (f_e, metrics)

    def options(self, given: Mapping[str, JSON], *, preset: str) -> dict[str, JSON]:
        """All options of an environment, completed from the preset's defaults ("smoke", "quick", "paper").

        Raises UsageError that names an unknown key or value and the nearest known one.
        """

    def brief(self, options: Mapping[str, JSON]) -> Brief:
        """The texts for prompts; they say exactly what holds under these options."""

    def environment(self, options: Mapping[str, JSON]) -> Environment:
        """Make the environment. Imports the simulator: workers only."""

    def reference_evaluator(self) -> Program | None:
        """The evaluator that the paper selected, shipped with the domain, if there is one."""

    def shelf(self) -> "Shelf | None":
        """What the offline model may build with; None where the domain has none."""


@runtime_checkable
class Generalising(Protocol):
    """What a domain may offer beside: its final measure is taken elsewhere than the search, as in unseen scenes."""

    def final_options(self, options: Mapping[str, JSON]) -> dict[str, JSON]:
        """The options of the final measure, from the (completed) options of the search."""


Picture: TypeAlias = NDArray[np.uint8]
"""Rows from the top, of pixels from the left: (height, width, 3) of red, green, blue."""


class Stage(Protocol):
    """One recorded episode, ready to be drawn."""

    step_s: float | None  # what a step lasts in the task's own time; None where steps have no duration

    def picture(self, row: int) -> Picture:
        """The state of this row of the recording, 0 to T, in the size that was asked for."""

    def caption(self, row: int) -> tuple[str, ...]:
        """What there is to say of this row: one or two short lines. Step and time are told by the caller."""

    def close(self) -> None:
        """Let go of the graphics."""


class Renderer(Protocol):
    """Draws recorded episodes of a domain under some options. What it needs is imported when a stage is made."""

    @property
    def cameras(self) -> tuple[str, ...]:
        """From where it can draw; the first is used where none is named."""

    def require(self) -> None:
        """Raises UsageError with the mend where nothing can draw here; asked before anything is rolled out."""

    def stage(self, recording: Recording, *, camera: str, width: int, height: int) -> Stage:
        """Make ready to draw `recording` from one of `cameras`. Raises UsageError where it cannot be drawn."""


@runtime_checkable
class Drawable(Protocol):
    """What a domain offers on top of `Domain` where its episodes can be drawn. Made in any process."""

    def renderer(self, options: Mapping[str, JSON]) -> Renderer:
        """The renderer for episodes under these (completed) options."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One place of a shelf program that has alternatives.

    kind "method": each alternative is the source of one method, indented as at class level.
    kind "constant": each alternative is the text of a literal; the offline model may also perturb it
    within [low, high].
    """

    name: str
    kind: str
    alternatives: tuple[str, ...]
    low: float | None = None
    high: float | None = None
    metrics: tuple[str, ...] = ()  # metrics of the reference evaluator that this part mostly moves


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """Alternatives of mixed quality, from which the offline model writes and edits policies."""

    initial: Program  # p_0, built of the first alternatives; it fails the task
    parts: tuple[Part, ...]
    evaluators: tuple[Program, ...]  # whole evaluator programs of mixed quality, some of them invalid


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question to a model. A language model reads `prompt`; the offline model reads `order`."""

    order: "Order"
    attempt: int  # 0, 1, … for repeated tries at the same order
    role: str  # "proposer", "evaluator-writer" or "judge"
    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A model's answer as it came. `stop` is "end", "length", "refusal" or "error"."""

    text: str
    model: str
    stop: str = "end"
    usage: Usage = Usage()


class Model(Protocol):
    """Something that answers."""

    name: str

    async def complete(self, ask: Ask) -> Reply:
        """Answer one question. Raises ModelError where the call failed for good."""


class Prompts(Protocol):
    """The prompt files."""

    def fill(self, name: str, **variables: str) -> str:
        """The prompt `name` with its variables put in. A missing or unused variable is an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollTask:
    """One episode to roll out. `split` names one of the environments the pool was made with."""

    order: str
    program: Program
    split: str
    index: int
    seed: int


class Pool(Protocol):
    """Where programs run: worker processes, with every generated program in a process of its own."""

    async def roll(self, task: RollTask) -> Episode:
        """Roll one episode out; its trajectory is on disk when this returns. Raises RolloutError."""

    async def score(self, evaluator: Program, episode: Episode) -> Score:
        """One evaluator's score of one recorded episode. Raises RolloutError."""

    async def examine(self, evaluator: Program, episodes: Sequence[Episode]) -> Examination:
        """Apply an evaluator to T_0 and check that it is valid (finite f in [0,1], JSON-able metrics,
        two calls agree, also on T_0 cut to 0, 1 and half of its steps). Raises RolloutError."""


class Store(Protocol):
    """The append-only log of facts of one run."""

    def append(self, facts: Iterable["Fact"]) -> None:
        """Commit these facts together; they are on disk when this returns. Raises StoreError."""

    def facts(self) -> Iterable["Fact"]:
        """All facts in the order they were committed."""


class Clock(Protocol):
    """Time as an argument."""

    def now(self) -> float:
        """Seconds since the epoch, for people."""

    def elapsed(self) -> float:
        """Seconds of a monotonic clock, for deadlines."""
