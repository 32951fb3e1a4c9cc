"""A run's settings and their allowed values."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from ..core.ports import Form
from ..core.provenance import UNKNOWN, Provenance
from ..core.seeds import salted_seed
from ..core.values import JSON, FeedbackDetail, MemoryDetail
from . import groups
from .groups import SettingGroup
from .presets import DEFAULT_PRESET, PRACTICE
from .toml_text import is_bare, table_lines, toml, toml_key

OPTIONS = "options"  # the table for the options of any domain
PARAMETERS = "parameters"  # the table for the parameters of a method from outside
BRANCHES = ("k_hc", "k_macro", "k_cross")  # the slots of a generation of memento
ALL = "all"  # the key in `sampling` of the settings that all roles share

Count = Annotated[int, Field(ge=0, le=1_000_000)]
Positive = Annotated[int, Field(ge=1, le=1_000_000)]
MOST_WORKERS = 256  # each worker is a process with a simulator; more than one machine can use
Workers = Annotated[int, Field(ge=1, le=MOST_WORKERS)]
Repairs = Annotated[int, Field(ge=0, le=5)]
Turns = Annotated[int, Field(ge=0, le=20)]
Practice = Annotated[int, Field(ge=0, le=100)]
GateEpisodes = Annotated[int, Field(ge=5, le=12)]
Islands = Annotated[int, Field(ge=1, le=64)]
Dealing = Literal["equal", "ucb"]
Partners = Literal["paper", "front"]
MemoryScope = Literal["generation", "run", "until-changed"]
StopWhen = Literal["saturated", "never"]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Limit = Annotated[int, Field(ge=1, le=10**15)]
SALT_PATTERN = r"^([0-9a-f]{32}|none)$"
Salt = Annotated[str, Field(pattern=SALT_PATTERN)]
Amount = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Role = Literal["proposer", "evaluator-writer", "judge", "critic", "attacker"]


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

    domain: str = groups.RUN.field(..., "the task, one of `memento domains`")
    method: str = groups.RUN.field("memento", "the search method, one of `memento methods`")
    preset: str = groups.RUN.field(DEFAULT_PRESET, "where unset numbers come from: smoke, quick or paper")
    model: str = groups.MODELS.field("offline", "the model that writes programs, one of `memento models`")
    evaluator_model: str | None = groups.EVALUATOR_WRITER.field(None, "the model that writes evaluators; none: `model`")
    judges: tuple[str, ...] = groups.EVALUATOR_SEARCH.field(
        (), "models of the judges, seats dealt in turn; none: `model`"
    )
    critic: str | None = groups.LOOKS.field(None, "the model that looks at pictures of episodes; none is the paper's")
    calls_at_once: Positive = groups.MODELS.field(8, "model calls in flight, per role and per account")
    budget_calls: Limit | None = groups.BUDGET.field(None, "model calls that the run may begin")
    budget_tokens: Limit | None = groups.BUDGET.field(None, "tokens that the run may use, input and output together")
    budget_usd: Amount | None = groups.BUDGET.field(None, "US dollars that the run may spend on models")
    budget_wall_s: Amount | None = groups.BUDGET.field(None, "seconds that the run may take, pauses not counted")
    budget_episodes: Limit | None = groups.BUDGET.field(None, "episodes that the search may roll out, p_0's included")
    budget: dict[Role, RoleBudget] = groups.BUDGET.field({}, "budgets of single roles")
    sampling: dict[Role | Literal["all"], Asking] = groups.MODELS.field({}, "how models are called")
    outage_s: Amount = groups.MODELS.field(1800.0, "seconds that calls wait for a service that answers nothing")
    prices: dict[str, TokenPrice] = groups.MODELS.field({}, "prices of models, by model name")
    replay: str | None = groups.MODELS.field(None, "the recorded run whose replies are repeated; set by --replay")
    replay_loosely: bool = groups.MODELS.field(False, "replies are repeated by order, also where a prompt has changed")
    evaluator: str = groups.RUN.field("evolve", "evolve, reference, zero-shot or the path of a Python file")
    initial: str | None = groups.RUN.field(None, "the path of a policy file to begin with as p_0")
    prompts: str | None = groups.RUN.field(None, "the path of a folder whose prompts replace those of MEMENTO")
    seed: int = groups.RUN.field(0, "all randomness of the run comes from it and from the salt", ge=0, lt=2**63)
    salt: Salt | None = groups.RUN.field(None, "128 bits that no program can guess; none given: drawn for the run")
    workers: Workers = groups.RUN.field(1, "rollouts at once; the result does not depend on it")
    env: tuple[str, ...] = groups.RUN.field((), "variables, by name, that simulators get besides the usual ones")
    require_sandbox: bool = groups.RUN.field(False, "refuse to run where generated code cannot be isolated")

    generations: Positive = groups.GENERATIONS.field(..., "G, generations of policy search")
    k_hc: Count = groups.BRANCHES.field(..., "hill-climb proposals per generation")
    k_macro: Count = groups.BRANCHES.field(..., "macro-mutations per generation")
    k_cross: Count = groups.BRANCHES.field(..., "crossovers per generation")
    k_tune: Count = groups.BRANCHES.field(0, "tunings of the elite's constants per generation, without a model")
    tune_generations: Count = groups.TUNING.field(0, "how many generations tune constants, from the second on; 0: all")
    tune_episodes: Positive = groups.TUNING.field(200, "episodes on which one tuning tries constants")
    k: Positive = groups.SLOTS.field(24, "candidates per generation, in methods with one kind of proposal")
    islands: Islands = groups.ISLANDS.field(1, "searches side by side that share the slots; 1 is the paper's")
    island_dealing: Dealing = groups.ISLANDS.field("equal", "how islands share the slots: equally, or by their gains")
    partners: Partners = groups.BRANCHES.field("paper", "crossovers of one program with itself, or with the front's")
    n_roll: Positive = groups.ROLLOUTS.field(..., "N_roll, episodes per candidate")
    confirm_episodes: Count = groups.FRESH.field(0, "fresh episodes, at most, on which a new elite meets the old one")
    choice_episodes: Count = groups.FRESH.field(0, "fresh episodes, at the end of the search, of its best programs")
    choice_tolerance: Share = groups.FRESH.field(0.005, "the difference of F that this choice leaves open; 0: none")
    stop_when: StopWhen = groups.SATURATION.field("never", "end a search with nothing left to gain")
    gate: Literal["on", "off"] = groups.GATE.field("off", "candidates are tried on the domain's cheap twin first")
    gate_episodes: GateEpisodes = groups.GATE.field(6, "episodes on the cheap twin, the same for all candidates")
    gate_audit: Share = groups.GATE.field(0.1, "share of stopped candidates that is rolled out in full, as a check")
    evaluator_pool: Positive = groups.EVALUATOR_SEARCH.field(..., "n, evaluators in a pool")
    evaluator_generations: Positive = groups.EVALUATOR_SEARCH.field(
        ..., "T, generations of evaluator search, the first pool among them"
    )
    evaluator_judges: Positive = groups.EVALUATOR_SEARCH.field(..., "k, judges who vote on a pool")
    probes: Literal["on", "off"] = groups.EVALUATOR_SEARCH.field(
        "on", "evaluators are compared on more recordings than T_0"
    )
    evaluator_tests: Literal["on", "off"] = groups.EVALUATOR_TESTS.field(
        "on", "tests on probes come before the votes on evaluators; off: votes alone, as in the paper"
    )
    evaluator_attacks: Turns = groups.EVALUATOR_ATTACKS.field(
        0, "rounds of attacks by bred programs and a model on the chosen evaluator, and of revisions, at most"
    )
    attacker_model: str | None = groups.EVALUATOR_ATTACKS.field(
        None, "the model that writes attacks; none: the model that writes evaluators"
    )
    exploits: str | None = groups.EVALUATOR_ATTACKS.field(
        None, "the path of a folder of exploits of earlier runs, with which attacks begin"
    )
    evaluator_every: Count = groups.EVALUATOR_MOVES.field(
        0, "generations after which another evaluator, evolved on later recordings, may take over; 0 is the paper's"
    )
    judge_reasons: bool = groups.EVALUATOR_SEARCH.field(
        True, "writers of evaluators read why the last judges voted as they did"
    )
    racing: bool = groups.RACING.field(True, "end a candidate's rollouts once it cannot win; changes no result")
    duplicates: bool = groups.ROLLOUTS.field(False, "a known program takes its episodes over; changes no result")
    speculation: bool = groups.SPECULATION.field(False, "ask for the next climb before the verdict; changes no result")
    roll_ahead: Literal["auto", "on", "off"] = groups.AHEAD.field(
        "auto", "idle workers roll out fresh episodes that will probably be needed; changes no result"
    )
    feedback: FeedbackDetail = groups.EDITS.field("stories", "stories of episodes, or metrics alone as in the paper")
    memory_detail: MemoryDetail = groups.CLIMB.field("full", "what prompts show of edits that did not stay")
    memory_scope: MemoryScope = groups.CLIMB.field("generation", "how long rejected edits are kept")
    macro_focus: bool = groups.FOCI.field(True, "each macro-mutation and crossover of a generation gets another focus")
    reply: Form = groups.REPLY.field("patch", "what climbs and evaluator revisions send: a patch, or the whole program")
    repairs: Repairs = groups.MODELS.field(1, "further questions after an answer that cannot be used; 0 is the paper's")
    step_limit_ms: Amount | None = groups.RUN.field(None, "CPU time of a policy's call; real-time: its control step")
    proposer_turns: Turns = groups.CONVERSATION.field(0, "calls of tools before a proposer submits; 0 is the paper's")
    practice_episodes: Practice = groups.CONVERSATION.field(PRACTICE, "episodes in which one proposal may try drafts")
    practice_starts: Practice = groups.CONVERSATION.field(0, "different practice episodes; 0: as many as n_roll")
    practice_on: Literal["task", "twin"] = groups.CONVERSATION.field(
        "task", "where drafts are tried: on the task, or on the domain's cheap twin"
    )
    notes: Literal["on", "off"] = groups.EDITS.field("off", "writers of policies leave notes for later ones")
    critic_mode: Literal["words", "pixels"] = groups.LOOKS.field(
        "words", "what writers of policies get of a critic's pictures: words, or the pictures too"
    )
    critic_judges: Literal["on", "off"] = groups.LOOKS_OF_JUDGES.field(
        "off", "judges read what the critic said of T_0, too"
    )
    keep_trajectories: bool = groups.RECORDINGS.field(
        False, "keep every recorded episode, not T_0's and the elites' only"
    )
    trajectories_limit_mb: Amount | None = groups.RECORDINGS.field(
        None, "room for recorded episodes; the least needed go"
    )
    final_episodes: Positive = groups.FINAL.field(..., "held-out episodes on which p_0 and the elite are compared")
    robust: Literal["on", "off"] = groups.FINAL.field("off", "held-out episodes also under changed conditions")

    options: dict[str, Any] = groups.RUN.field({}, "the domain's own options, all of them")
    parameters: dict[str, Any] = groups.RUN.field({}, "the own parameters of a method from outside, all of them")

    _provenance: Provenance = PrivateAttr(default=UNKNOWN)

    @property
    def provenance(self) -> Provenance:
        """Where these settings came from: whoever imports, starts or contacts what they name asks it."""
        return self._provenance

    def from_there(self, provenance: Provenance) -> "Settings":
        """The same settings of this provenance."""
        settings = self.model_copy()
        settings._provenance = provenance
        return settings

    @property
    def looks(self) -> bool:
        """Whether sheets of episodes are drawn: for a critic, or for writers of policies."""
        return self.critic is not None or self.critic_mode == "pixels"

    @property
    def root_seed(self) -> int:
        """The seed from which all seeds of the run derive."""
        return salted_seed(self.seed, self.salt)

    def settled(self) -> "Settings":
        """The same run, whose flags without effect are off."""
        known = self.as_json()
        flags = [key for key, value in known.items() if value is True and group_of(key).switched_off(key, known)]
        return self.model_copy(update=dict.fromkeys(flags, False))

    def as_json(self) -> dict[str, JSON]:
        """Plain values, for the log and for reports."""
        values: dict[str, JSON] = self.model_dump(mode="json")
        return values

    def as_toml(self) -> str:
        """A file for `--config` that repeats this run. It names only what has an effect, and flags that are off."""
        known = self.as_json()
        values = {
            key: value for key, value in known.items()
            if key not in (OPTIONS, PARAMETERS, *TABLES, "replay", "replay_loosely")
            and fits(key, self.method, self.evaluator)
            and (value is False or group_of(key).switched_off(key, known) is None)
        }
        lines = [f"{key} = {toml(value)}" for key, value in values.items() if value not in (None, [])]
        lines += [line for name in TABLES for line in table_lines(name, known[name], everyone=ALL)]
        options = [f"{toml_key(key)} = {toml(value)}" for key, value in self.options.items() if value is not None]
        table = self.domain if is_bare(self.domain) else OPTIONS
        given = [f"{toml_key(key)} = {toml(value)}" for key, value in self.parameters.items() if value is not None]
        own = ["", f"[{PARAMETERS}]", *given] if given else []
        return "\n".join([*lines, "", f"[{table}]", *options, *own]) + "\n"


TABLES: Mapping[str, type[_Part]] = {"budget": RoleBudget, "sampling": Asking, "prices": TokenPrice}


def group_of(key: str) -> SettingGroup:
    """The group of a setting, given by its full name, such as "gate_audit" or "budget.judge.calls"."""
    table, _, rest = key.partition(".")
    role = rest.rpartition(".")[0].replace("_", "-")
    if table in ("budget", "sampling") and role in groups.CALLS_OF:
        return groups.CALLS_OF[role]
    field = Settings.model_fields.get(table)
    return groups.RUN if field is None else groups.of_field(field)     # a table of none is that of a domain's options


def fits(key: str, method: str, evaluator: str) -> bool:
    """Whether a setting can have an effect with this method and this choice of evaluator. Raises UsageError."""
    return group_of(key).fits(method, evaluator)
