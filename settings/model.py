"""A run's settings and their allowed values."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ..core.methods import method_named
from ..core.programs.patch_form import Form
from ..core.seeds import salted
from ..core.values import JSON, FeedbackDetail, MemoryDetail
from .presets import DEFAULT_PRESET, PRACTICE
from .toml_text import is_bare, table_lines, toml, toml_key

EVALUATORS = ("evolve", "reference", "zero-shot")  # anything else is a file
OPTIONS = "options"  # the table for the options of any domain
BRANCHES = ("k_hc", "k_macro", "k_cross")  # the slots of a generation of memento
ROLES = ("proposer", "evaluator-writer", "judge", "critic")  # the roles of models, as in core.ports.Ask
CRITIC = "critic"
ALL = "all"  # the key in `sampling` of the settings that all roles share

Count = Annotated[int, Field(ge=0, le=1_000_000)]
Positive = Annotated[int, Field(ge=1, le=1_000_000)]
MOST_WORKERS = 256  # each worker is a process with a simulator; more than one machine can use
Workers = Annotated[int, Field(ge=1, le=MOST_WORKERS)]
Repairs = Annotated[int, Field(ge=0, le=5)]
Turns = Annotated[int, Field(ge=0, le=20)]
Practice = Annotated[int, Field(ge=0, le=100)]
GateEpisodes = Annotated[int, Field(ge=5, le=12)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Limit = Annotated[int, Field(ge=1, le=10**15)]
SALT_PATTERN = r"^([0-9a-f]{32}|none)$"
Salt = Annotated[str, Field(pattern=SALT_PATTERN)]
Amount = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Role = Literal["proposer", "evaluator-writer", "judge", "critic"]


class _Part(BaseModel):
    """A table within the settings. None means not given."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RoleBudget(_Part):
    """The maximum spending of one role: `[budget.judge]`."""

    calls: Limit | None = None
    tokens: Limit | None = None
    usd: Amount | None = None
    wall_s: Amount | None = None


class Asking(_Part):
    """The call settings of a role's models, `[sampling.judge]`, or of all, `[sampling]`; None: the service's default.

    `total_s` bounds a call with its retries, `read_s` the silence within one request, `attempts` the requests.
    """

    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None = None
    max_output_tokens: Limit | None = None
    thinking: Literal["minimal", "low", "medium", "high", "xhigh"] | None = None
    stream: bool | None = None
    tools: Literal["native", "text"] | None = None
    cache: bool | None = None
    total_s: Amount | None = None
    read_s: Amount | None = None
    connect_s: Amount | None = None
    attempts: Positive | None = None


class TokenPrice(_Part):
    """US dollars per million tokens: `[prices]` with `"lab:qwen3" = { input = 0.1, output = 0.4 }`.

    `cached` and `cache_written` are the prices of input tokens read from and written to a service's cache; where they
    are not given, such tokens cost what other input tokens cost.
    """

    input: Dollars
    output: Dollars
    cached: Dollars | None = None
    cache_written: Dollars | None = None


class Settings(BaseModel):
    """All settings that determine a run, and `workers`, which only affects its speed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    domain: str = Field(description="the task, one of `memento domains`")
    method: str = Field("memento", description="the search method, one of `memento methods`")
    preset: str = Field(DEFAULT_PRESET, description="where unset numbers come from: smoke, quick or paper")
    model: str = Field("offline", description="the model that writes programs, one of `memento models`")
    evaluator_model: str | None = Field(None, description="the model that writes evaluators; none: `model`")
    judges: tuple[str, ...] = Field((), description="models of the judges, seats dealt in turn; none: `model`")
    critic: str | None = Field(None, description="the model that looks at pictures of episodes; none is the paper's")
    calls_at_once: Positive = Field(8, description="model calls in flight, per role and per account")
    budget_calls: Limit | None = Field(None, description="model calls that the run may begin")
    budget_tokens: Limit | None = Field(None, description="tokens that the run may use, input and output together")
    budget_usd: Amount | None = Field(None, description="US dollars that the run may spend on models")
    budget_wall_s: Amount | None = Field(None, description="seconds that the run may take, pauses not counted")
    budget_episodes: Limit | None = Field(None, description="episodes that the search may roll out, p_0's included")
    budget: dict[Role, RoleBudget] = Field(default_factory=dict, description="budgets of single roles")
    sampling: dict[Role | Literal["all"], Asking] = Field(default_factory=dict, description="how models are called")
    prices: dict[str, TokenPrice] = Field(default_factory=dict, description="prices of models, by model name")
    replay: str | None = Field(None, description="the recorded run whose replies are repeated; set by --replay")
    replay_loosely: bool = Field(False, description="replies are repeated by order, also where a prompt has changed")
    evaluator: str = Field("evolve", description="evolve, reference, zero-shot or the path of a Python file")
    initial: str | None = Field(None, description="the path of a policy file to begin with as p_0")
    prompts: str | None = Field(None, description="the path of a folder whose prompts replace those of MEMENTO")
    seed: int = Field(0, ge=0, lt=2**63, description="all randomness of the run comes from it and from the salt")
    salt: Salt | None = Field(None, description="128 bits that no program can guess; none given: drawn for the run")
    workers: Workers = Field(1, description="rollouts at once; the result does not depend on it")
    require_sandbox: bool = Field(False, description="refuse to run where generated code cannot be isolated")

    generations: Positive = Field(description="G, generations of policy search")
    k_hc: Count = Field(description="hill-climb proposals per generation")
    k_macro: Count = Field(description="macro-mutations per generation")
    k_cross: Count = Field(description="crossovers per generation")
    k_tune: Count = Field(0, description="tunings of the elite's constants per generation, without a model")
    tune_episodes: Positive = Field(200, description="episodes on which one tuning tries constants")
    k: Positive = Field(24, description="candidates per generation, in methods with one kind of proposal")
    n_roll: Positive = Field(description="N_roll, episodes per candidate")
    confirm_episodes: Count = Field(0, description="fresh episodes between a new elite and the old; 0 is the paper's")
    gate: Literal["on", "off"] = Field("off", description="candidates are tried on the domain's cheap twin first")
    gate_episodes: GateEpisodes = Field(6, description="episodes on the cheap twin, the same for all candidates")
    gate_audit: Share = Field(0.1, description="share of stopped candidates that is rolled out in full, as a check")
    evaluator_pool: Positive = Field(description="n, evaluators in a pool")
    evaluator_generations: Positive = Field(description="T, generations of evaluator search, the first pool among them")
    evaluator_judges: Positive = Field(description="k, judges who vote on a pool")
    probes: Literal["on", "off"] = Field("on", description="evaluators are compared on more recordings than T_0")
    judge_reasons: bool = Field(True, description="writers of evaluators read why the last judges voted as they did")
    racing: bool = Field(True, description="end a candidate's rollouts once it cannot win; changes no result")
    duplicates: bool = Field(False, description="a known program takes its episodes over; changes no result")
    speculation: bool = Field(False, description="ask for the next climb before the verdict; changes no result")
    feedback: FeedbackDetail = Field("stories", description="stories of episodes, or metrics alone as in the paper")
    memory_detail: MemoryDetail = Field("full", description="what prompts show of edits that did not stay")
    memory_scope: Literal["generation", "run"] = Field("generation", description="how long rejected edits are kept")
    macro_focus: bool = Field(True, description="each macro-mutation and crossover of a generation gets another focus")
    reply: Form = Field("patch", description="what climbs and evaluator revisions send: a patch, or the whole program")
    repairs: Repairs = Field(1, description="further questions after an answer that cannot be used; 0 is the paper's")
    step_limit_ms: Amount | None = Field(None, description="CPU time of a policy's call; real-time: its control step")
    proposer_turns: Turns = Field(0, description="calls of tools before a proposer submits; 0 is the paper's")
    practice_episodes: Practice = Field(PRACTICE, description="episodes in which one proposal may try drafts")
    notes: Literal["on", "off"] = Field("off", description="writers of policies leave notes for later ones")
    critic_mode: Literal["words", "pixels"] = Field(
        "words", description="what writers of policies get of a critic's pictures: words, or the pictures too"
    )
    critic_judges: Literal["on", "off"] = Field("off", description="judges read what the critic said of T_0, too")
    keep_trajectories: bool = Field(False, description="keep every recorded episode, not T_0's and the elites' only")
    trajectories_limit_mb: Amount | None = Field(None, description="room for recorded episodes; the least needed go")
    final_episodes: Positive = Field(description="held-out episodes on which p_0 and the elite are compared")

    options: dict[str, Any] = Field(default_factory=dict, description="the domain's own options, all of them")

    @property
    def looks(self) -> bool:
        """Whether sheets of episodes are drawn: for a critic, or for writers of policies."""
        return self.critic is not None or self.critic_mode == "pixels"

    @property
    def root_seed(self) -> int:
        """The seed from which all seeds of the run derive."""
        return salted(self.seed, self.salt)

    def as_json(self) -> dict[str, JSON]:
        """Plain values, for the log and for reports."""
        values: dict[str, JSON] = self.model_dump(mode="json")
        return values

    def as_toml(self) -> str:
        """A file for `--config` that repeats this run. It names only what has an effect."""
        left_out = without_effect(self.method, self.evaluator) | {OPTIONS, *TABLES, "replay", "replay_loosely"}
        if not self.proposer_turns:
            left_out |= {"practice_episodes"}
        if self.gate == "off":
            left_out |= {"gate_episodes", "gate_audit"}
        if self.critic is None:
            left_out |= {"critic_judges"}
        values = {key: value for key, value in self.as_json().items() if key not in left_out}
        lines = [f"{key} = {toml(value)}" for key, value in values.items() if value not in (None, [])]
        lines += [line for name in TABLES for line in table_lines(name, self.as_json()[name], everyone=ALL)]
        options = [f"{toml_key(key)} = {toml(value)}" for key, value in self.options.items() if value is not None]
        table = self.domain if is_bare(self.domain) else OPTIONS
        return "\n".join([*lines, "", f"[{table}]", *options]) + "\n"


TABLES: Mapping[str, type[_Part]] = {"budget": RoleBudget, "sampling": Asking, "prices": TokenPrice}
_OF_MODELS = frozenset({
    "model", "evaluator_model", "judges", "calls_at_once", "budget_calls", "budget_tokens", "budget_usd",
    "budget_wall_s", "replay", "replay_loosely", *TABLES,
})  # apply to every method


def without_effect(method: str, evaluator: str) -> frozenset[str]:
    """The settings without effect with this method and this choice of evaluator."""
    silent = frozenset(Settings.model_fields) - method_named(method).settings - {OPTIONS} - _OF_MODELS
    silent |= {
        f"{table}.{role}" for table in ("budget", "sampling") for role in ROLES
        if role not in roles_of(evaluator) and role != CRITIC  # which depends on the setting `critic` alone
    }
    if "evaluator-writer" not in roles_of(evaluator):
        silent |= {"evaluator_model"}
    if evaluator != "evolve" and "memory_detail" in silent:
        silent |= {"reply"}  # no climb and no revision of an evaluator
    if "judge" not in roles_of(evaluator):
        silent |= {"critic_judges"}
        silent |= {"evaluator_pool", "evaluator_generations", "evaluator_judges", "judges", "probes", "judge_reasons"}
    return silent


def roles_of(evaluator: str) -> frozenset[str]:
    """The roles of models in a run with this choice of evaluator, besides the critic."""
    if evaluator == "evolve":
        return frozenset(ROLES) - {CRITIC}
    return frozenset({"proposer", "evaluator-writer"} if evaluator == "zero-shot" else {"proposer"})
