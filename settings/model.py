"""A run's settings and their allowed values."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr

from ..core.ports import Form
from ..core.provenance import UNKNOWN, Provenance
from ..core.seeds import salted_seed
from ..core.values import JSON, FeedbackDetail
from ..search.ahead import AheadSettings
from ..search.branches.tune.branch import TuneSettings
from ..search.branches.wide import WidthSettings
from ..search.conversing import ConversationSettings
from ..search.criticising import CriticSettings
from ..search.evaluator_search import EvaluatorSettings
from ..search.final import FinalSettings
from ..search.gate import GateSettings
from ..search.hardening import AttackSettings
from ..search.head_start import HeadStartSettings
from ..search.islands import IslandSettings
from ..search.meetings.starts import SaturationSettings
from ..search.moving.keeper import MoveSettings
from ..search.options import SlotSettings
from ..search.parts.foci import FociSettings
from ..search.parts.memory import MemorySettings
from ..search.parts.partners import PartnerSettings
from ..search.parts.racing import RacingSettings
from ..search.parts.speculation import SpeculationSettings
from ..search.rollout_plan import RolloutSettings
from ..search.setting_groups import PartSettings, Positive, SettingGroup
from . import groups
from .presets import DEFAULT_PRESET
from .toml_text import is_bare, table_lines, toml, toml_key

OPTIONS = "options"  # the table for the options of any domain
PARAMETERS = "parameters"  # the table for the parameters of a method from outside
BRANCHES = ("k_hc", "k_macro", "k_cross")  # the slots of a generation of memento
ALL = "all"  # the key in `sampling` of the settings that all roles share

MOST_WORKERS = 256  # each worker is a process with a simulator; more than one machine can use
Workers = Annotated[int, Field(ge=1, le=MOST_WORKERS)]
Repairs = Annotated[int, Field(ge=0, le=5)]
Limit = Annotated[int, Field(ge=1, le=10**15)]
SALT_PATTERN = r"^([0-9a-f]{32}|none)$"
Salt = Annotated[str, Field(pattern=SALT_PATTERN)]
Amount = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Role = Literal["proposer", "evaluator-writer", "judge", "critic", "attacker"]


class RoleBudget(PartSettings):
    """The maximum spending of one role: `[budget.judge]`."""

    calls: Limit | None = None
    tokens: Limit | None = None
    usd: Amount | None = None
    wall_s: Amount | None = None


class Asking(PartSettings):
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


class TokenPrice(PartSettings):
    """US dollars per million tokens: `[prices]` with `"lab:qwen3" = { input = 0.1, output = 0.4 }`.

    `cached` and `cache_written` are the prices of input tokens read from and written to a service's cache; where they
    are not given, such tokens cost what other input tokens cost.
    """

    input: Dollars
    output: Dollars
    cached: Dollars | None = None
    cache_written: Dollars | None = None


class RunSettings(PartSettings):
    """The settings of a run besides those of the parts of its search."""

    domain: str = groups.RUN.field(..., "the task, one of `memento domains`")
    method: str = groups.RUN.field("memento", "the search method, one of `memento methods`")
    preset: str = groups.RUN.field(DEFAULT_PRESET, "where unset numbers come from: smoke, quick or paper")
    model: str = groups.MODELS.field("offline", "the model that writes programs, one of `memento models`")
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
    feedback: FeedbackDetail = groups.PROMPTS.field("stories", "stories of episodes, or metrics alone as in the paper")
    reply: Form = groups.REPLY.field("patch", "what climbs and evaluator revisions send: a patch, or the whole program")
    repairs: Repairs = groups.MODELS.field(1, "further questions after an answer that cannot be used; 0 is the paper's")
    step_limit_ms: Amount | None = groups.RUN.field(None, "CPU time of a policy's call; real-time: its control step")
    notes: Literal["on", "off"] = groups.PROMPTS.field("off", "writers of policies leave notes for later ones")
    keep_trajectories: bool = groups.RECORDINGS.field(
        False, "keep every recorded episode, not T_0's and the elites' only"
    )
    trajectories_limit_mb: Amount | None = groups.RECORDINGS.field(
        None, "room for recorded episodes; the least needed go"
    )


# The last class comes first where settings are listed.
class Settings(
    FinalSettings, CriticSettings, ConversationSettings, FociSettings, MemorySettings, AheadSettings, HeadStartSettings,
    SpeculationSettings, RacingSettings, MoveSettings, AttackSettings, EvaluatorSettings, GateSettings,
    SaturationSettings, RolloutSettings, PartnerSettings, IslandSettings, TuneSettings, WidthSettings, SlotSettings,
    RunSettings,
):
    """All settings that determine a run, and `workers`, which only affects its speed."""

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


TABLES: Mapping[str, type[PartSettings]] = {"budget": RoleBudget, "sampling": Asking, "prices": TokenPrice}


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
