"""The values that travel through MEMENTO: programs, episodes, scores, candidates, rejections."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import ClassVar, Literal, TypeAlias

from typing_extensions import TypeAliasType

from .examined import EvaluatorTests
from .faults import Fault

JSON = TypeAliasType("JSON", "None | bool | int | float | str | list[JSON] | dict[str, JSON]")
FeedbackDetail: TypeAlias = Literal["stories", "metrics"]  # what prompts show of the episodes of a policy
MemoryDetail: TypeAlias = Literal["none", "summary", "full"]  # how much a climb sees of the rejected edits


@dataclass(frozen=True, slots=True)
class Document:
    """A text stored once, by the hash of its content: a prompt, a reply."""

    text: str

    @property
    def digest(self) -> str:
        """SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptText:
    """A prompt file that replaces the shipped one of the same name."""

    name: str  # of the file, without its suffix
    text: Document


@dataclass(frozen=True, slots=True)
class Program(Document):
    """The text of a generated program, a policy `p` or an evaluator `E`. Never executed in this process."""


class Operator(str):
    """The operator of a proposal (paper, section 3.2): q_hc, q_macro, q_cross, or the first prompt; a word of the log.

    A method may have further ones (`core.operators`). Equal words are one object, so that `is` compares operators.
    """

    __slots__ = ()

    INITIAL: ClassVar["Operator"]
    HILL_CLIMB: ClassVar["Operator"]
    MACRO: ClassVar["Operator"]
    TUNE: ClassVar["Operator"]  # not in the paper: an optimiser changes numbers, and no model is asked
    CROSSOVER: ClassVar["Operator"]
    CALIBRATE: ClassVar["Operator"]  # in a robot cell: other values of named constants (paper, appendix A)

    def __new__(cls, word: str) -> "Operator":
        """The operator of this word."""
        return _OPERATORS.setdefault(word, super().__new__(cls, word))

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> dict[str, object]:
        """How pydantic, which the core does not import, reads one in the file of a report."""
        return {"type": "function-after", "function": {"type": "no-info", "function": cls}, "schema": {"type": "str"}}


_OPERATORS: dict[str, Operator] = {}

Operator.INITIAL = Operator("initial")
Operator.HILL_CLIMB = Operator("hill-climb")
Operator.MACRO = Operator("macro-mutation")
Operator.TUNE = Operator("tuning")
Operator.CROSSOVER = Operator("crossover")
Operator.CALIBRATE = Operator("calibration")


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodBranch:
    """Some slots of a generation. `word` appears in their orders' ids; "" if the slots use several words.

    `what` names one of its proposals, `short` is the abbreviation.
    """

    label: str
    word: str
    what: str
    short: str
    slots: int
    operators: tuple[Operator, ...]


class Verdict(StrEnum):
    """Why an edit did not stay."""

    LOST = "lost"  # F is lower
    FAILED = "failed"  # no usable program, or one that cannot start
    SAME = "same"  # the same code as an edit that was rejected before
    STOPPED = "stopped"  # on the domain's cheap twin, so that it was not rolled out
    NOT_CHOSEN = "not-chosen"  # of a macro-mutation or crossover: another program was fitter
    REPLACED = "replaced"  # it lost under an evaluator that is not in use any more


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A stage that a policy named in its attribute `stage`: when it began first, how often, and how long it lasted."""

    name: str
    first_step: int  # the number of the call, from 0, after which the policy first named it
    entries: int = 1  # how often the policy changed to it
    steps: int = 0  # control steps in it, all entries together


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTimes:
    """CPU time of a policy's process in ms: of its calls of `compute_action`, and of loading it and `reset`.

    It includes the exchange of one frame per call (about 0.02 ms). It differs between machines and runs.
    """

    median_ms: float
    p99_ms: float  # 99 % of the calls took at most this
    most_ms: float
    start_ms: float
    steady_ms: float = 0.0  # the longest call without the slowest 1 %, at least two; 0 in the logs of older versions


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeNotes:
    """What later prompts may show of an episode besides its scores. All of it is bounded, and it is data.

    No decision depends on it. `stages`, `printed` and `report` are the policy's own words, the rest comes from the
    trusted side. `report` has dotted names with numbers, flags and short texts.
    """

    story: str = ""  # the course of events in the domain's words, as in ports.narrating
    conditions: Mapping[str, JSON] = field(default_factory=dict)  # what was drawn, as far as a policy may know it
    begins_solved: bool = False  # the task was done before the first step
    stages: tuple[Stage, ...] = ()  # in the order of their first steps
    printed: str = ""  # the end of what the policy printed; empty if the fault's traceback shows it
    report: Mapping[str, JSON] = field(default_factory=dict)  # the policy's attribute `report` at the end
    problems: tuple[str, ...] = ()  # why a stage, the report or the story is missing
    times: CallTimes | None = None  # None if no call ended
    ran: str = ""  # which functions and branches ran, as a mask of core.programs.marks; "" if it is not known
    node: str | None = None  # of the cluster that rolled it out; None for this machine
    cpu_s: float = 0.0  # CPU time of the policy's process; measured in practice episodes alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """The result of one rollout; the trajectory τ_e itself is in the store under `trajectory`."""

    index: int
    seed: int
    steps: int
    ended_by: str  # "success", "horizon", "fault", or a word of the domain such as "illegal"
    success: bool  # σ(τ_e), from the trusted success predicate
    fault: Fault | None = None
    scene: str | None = None
    trajectory: str | None = None  # key of the recorded arrays; None if nothing was recorded
    info: Mapping[str, JSON] = field(default_factory=dict)  # the domain's draws and measurements
    wall_s: float = 0.0  # for display only
    notes: EpisodeNotes = EpisodeNotes()
    scored_to_fault: bool = False  # the recording up to the fault is scored for its metrics; False in older logs

    @property
    def scorable(self) -> bool:
        """Whether an evaluator scores it: not if a fault ended it before its first step."""
        return self.fault is None or self.scored_to_fault

    @property
    def broken_rule(self) -> str | None:
        """The rule of the task that ended it, in the domain's word, where there is one."""
        rule = self.info.get("broken_rule")
        return rule if isinstance(rule, str) else None

    def counted(self, score: "Score") -> "Score":
        """The score that counts for this episode: f_e = 0 where a fault ended it; it keeps the metrics."""
        score = replace(score, cpu_s=0.0)
        if self.fault is None:
            return score
        return replace(score, fitness=0.0) if self.scorable else Score(fitness=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One evaluator's result for one episode: fitness f_e in [0, 1] and feedback metrics."""

    fitness: float
    metrics: Mapping[str, JSON] = field(default_factory=dict)
    fault: Fault | None = None  # the evaluator failed on this episode; fitness is 0
    cpu_s: float = field(default=0.0, compare=False)  # CPU time of the call; the facts of a search leave it out


@dataclass(frozen=True, slots=True, kw_only=True)
class Ancestor:
    """One edit in the lineage of a candidate: what it changed, and F before and after."""

    id: str  # of the candidate that the edit made
    operator: Operator
    summary: str
    before: tuple[float, ...]  # F of each parent; none for a first program
    fitness: float
    idle: bool = False  # it changed nothing in any episode: steps, endings, f_e and metrics are those of a parent
    version: int = 1  # of the evaluator that both F are by


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshRecord:
    """What was seen of a program on fresh episodes, which selected nothing, in the order of their stream."""

    episodes: tuple[Episode, ...]
    scores: tuple[Score, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshPair:
    """Mean f_e of a rejected program, and of the one chosen in its place, on as many common fresh episodes."""

    episodes: int
    rejected: float
    chosen: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A program of a final choice with its record on fresh episodes: how many, mean f_e, successes, failures."""

    candidate: str
    episodes: int
    fitness: float
    success_rate: float | None
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateState:
    """An evaluated policy, the candidate state C(p) = (p, F(p), M(p), S(p)) of the paper.

    A candidate with a `fault` failed as a whole: its slot is spent, and it is never accepted or selected.
    """

    id: str  # the id of the order that proposed it, such as "g2/macro/7"
    program: Program
    operator: Operator
    generation: int
    slot: int
    parents: tuple[str, ...] = ()
    summary: str = ""  # history(p): the edit summary
    fitness: float = 0.0  # F
    success_rate: float | None = 0.0  # S: recorded and shown, never used in policy search; None: the task has none
    metrics: Mapping[str, JSON] = field(default_factory=dict)  # M: aggregated over the episodes
    episodes: tuple[Episode, ...] = ()
    scores: tuple[Score, ...] = ()
    fault: Fault | None = None
    bound: float | None = None  # set if racing pruned it: F is unknown, but at most this
    lineage: tuple[Ancestor, ...] = ()  # the latest edits that led to it, its own last; in no fact
    shape: str = ""  # as in ProposalMade; in no fact
    mean_return: float | None = None  # of the episodes without a fault; None if the task has no rewards
    fresh: FreshRecord | None = None  # None: not rolled out on fresh episodes; in no fact
    version: int = 1  # of the evaluator that F is by; F of different versions cannot be compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an edit did to one episode: f_e before and after, and how the episode ended after it."""

    episode: int
    before: float
    after: float
    ended_by: str
    steps: int
    stage: str = ""  # the last one that the edited program named; "" for none
    ended_before: str = ""  # how the episode ended before the edit


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """One entry of the rejection memory H: an edit that was tried and did not stay.

    A fact holds the first four fields only; the others are the detail of a full memory, which prompts show.
    """

    summary: str
    candidate: str
    fitness_difference: float | None  # F(new) - F(current); None if the candidate failed
    reason: str
    operator: Operator = Operator.HILL_CLIMB
    edited: str = ""  # the id of the program that was edited
    verdict: Verdict = Verdict.LOST
    same_as: str = ""  # the id of an earlier rejected candidate with equivalent code
    shape: str = ""  # as in ProposalMade
    rose: int = 0  # episodes in which f_e rose, compared with the edited program
    fell: int = 0
    standard_error: float | None = None  # of the mean difference of f_e over the episodes
    changes: tuple[Change, ...] = ()  # the episodes in which f_e changed most, the largest change first
    report: Mapping[str, JSON] = field(default_factory=dict)  # the program's own report of one episode
    reported_in: int = 0  # the number of that episode
    fitness: float | None = None  # F of the rejected program; None if it is not known
    fresh: FreshPair | None = None  # None: it met no fresh episode
    idle: bool = False  # as in Ancestor
    touched: tuple[str, ...] = ()  # the parts of the program that it changed, such as "Policy.act" or "GAIN"
    changed: tuple[str, ...] = ()  # those of them that another edit has changed since it was rejected


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedConstant:
    """A named number of a program before and after tuning; a bool is 0 or 1.

    `insensitive`: the fitness of the tried values does not depend on it, as far as they show.
    """

    name: str
    before: float
    after: float
    insensitive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Focus:
    """The place of a macro-mutation or crossover among those of its generation; its focus follows from it."""

    seed: int  # from the run's seed and the generation
    place: int
    of: int  # such proposals of the generation


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A recording that shows how evaluators rank episodes; no policy of the search made it. See `core.probes`."""

    name: str  # such as "idle" or "3 moves done and kept"; unique among the probes of a run
    episode: Episode
    below: tuple[str, ...] = ()  # the names of recordings that are certain to be worth more
    source: str = ""  # the name of the rollout of T_0 that it repeats with a change; "" for others
    ladder: str = ""  # the ladder of expected order below its source; "" for a change that must not move f_e
    rung: int = 0  # its place in the ladder, from 1

    @property
    def invariant(self) -> bool:
        """Whether f_e must be that of its source."""
        return bool(self.source) and not self.ladder


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploit:
    """A program that an evaluator likes although it never succeeded, with its recording among the probes."""

    probe: Probe
    program: Program
    fitness: float  # f_e of the recording, under the evaluator that it exploited


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """The results of an evaluator program on the fixed rollouts T_0: one entry of the scored pool D_i.

    `order_pairs` counts the pairs of recordings, probes among them, whose order is known; of these `order_violations`
    are ranked the wrong way round or alike.
    """

    scores: tuple[Score, ...] = ()
    fault: Fault | None = None  # set if it is not valid: judges cannot vote for it
    probe_scores: tuple[Score, ...] = ()
    order_pairs: int = 0
    order_violations: int = 0
    tests: EvaluatorTests | None = None  # None: evaluators are not tested, as in older logs

    @property
    def valid(self) -> bool:
        """Whether judges may choose this evaluator."""
        return self.fault is None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorCandidate:
    """A pool entry E_i^(j) with its outputs on T_0. `program` is None if the reply held none."""

    id: str  # such as "eval/g1/3"
    generation: int
    slot: int
    program: Program | None
    summary: str = ""
    examination: Examination = Examination()
    carried_over: bool = False  # the previous generation's choice, kept because no entry of this pool was valid
    measures: str = ""  # what it measures, in its writer's words; "" in the logs of older versions

    @property
    def says(self) -> str:
        """What its writer says that it measures; the summary of the last edit where nothing else was said."""
        return self.measures or self.summary


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReason:
    """Why a judge of the last round voted as it did, for the writers of the next evaluators.

    `place` is where this judge saw the evaluator that was chosen, from 0; None in the logs of older versions.
    """

    text: str
    agrees: bool  # whether it voted for the evaluator that was chosen
    place: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The usage of one model call. `cost_usd` is None, not 0, if the price is unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    latency_s: float = 0.0
    attempts: int = 1
    cached_tokens: int = 0  # of the input tokens, those that the service read from its cache
    cache_written_tokens: int = 0  # of the input tokens, those that it wrote to its cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One finished model call: prompt, reply, the model that answered, and why the reply ended."""

    model: str
    prompt: Document
    reply: Document
    usage: Usage = Usage()
    stop: str = "end"  # as in Reply: a replay must recognise a reply that was cut off or refused
    attempt: int = 0  # Ask.attempt of the question


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What a generated program must define: one class with these methods (name, number of arguments after self)."""

    class_name: str
    methods: tuple[tuple[str, int], ...]


TaskKind = Literal["arm", "gait", "grid", "control"]
"""What advice fits a task: handling things with an arm, walking, choices on a grid, or another control loop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The domain's texts for a model. All are Markdown and reveal nothing of a reference policy."""

    task: str  # what must be achieved, the rules, what ends an episode
    policy_interface: str  # the contract: class, methods, observation fields with shapes and units, action
    evaluator_interface: str  # the recorded arrays with shapes and units, and the return value of an evaluator
    uncertainties: str = ""  # what differs between episodes, and what a policy cannot know
    # what differs between recordings, which hold true states; None: the same text as for policies
    evaluator_uncertainties: str | None = None
    reference_fitness: str = ""  # what f_e is made of under the domain's reference evaluator, in two lines
    kind: TaskKind = "arm"  # the file prompts/advice-KIND.md has the advice for first policies
    has_top: bool = True  # whether an episode can reach f_e = 1; False where a return has no known limit
