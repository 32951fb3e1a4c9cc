"""The groups of settings: each says which parts of a run its settings need to have an effect.

A field of `Settings` names its group. Whether it has an effect is decided here alone, from the method's parts, the
choice of evaluator, and the switches: settings without which others mean nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field
from pydantic.fields import FieldInfo

from ..core.methods import SearchPart, method_named
from ..core.values import JSON

EVALUATORS = ("evolve", "reference", "zero-shot")  # anything else is a file
ROLES = ("proposer", "evaluator-writer", "judge", "critic", "attacker")  # the roles of models, as in core.ports.Ask
PROPOSER, WRITER, JUDGE, CRITIC, ATTACKER = ROLES

Values = Mapping[str, JSON]
"""The values of all settings of a run, by name."""


def roles_of(evaluator: str) -> frozenset[str]:
    """The roles of models in a run with this choice of evaluator, besides the critic and the attacker."""
    if evaluator == "evolve":
        return frozenset({PROPOSER, WRITER, JUDGE})
    return frozenset({PROPOSER, WRITER} if evaluator == "zero-shot" else {PROPOSER})


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A choice that the settings of a group need, except the setting `name`, which makes it.

    `otherwise` ends the sentence "'KEY' has no effect ..." of a run that made another choice.
    """

    name: str
    on: Callable[[Values], bool]
    otherwise: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingGroup:
    """Settings that have an effect in the same runs.

    They need a method with all `parts`, an evaluator that is made with all `roles`, and all `switches` on; one of
    `either`, a part or a role, is enough. Without a need they always have an effect.
    """

    name: str
    parts: frozenset[SearchPart] = frozenset()
    roles: frozenset[str] = frozenset()
    either: frozenset[SearchPart | str] = frozenset()
    switches: tuple[Switch, ...] = ()

    def field(self, default: Any, description: str, **limits: Any) -> Any:
        """A field of `Settings` in this group; `...` for one that a preset or the user gives. `limits` as in Field."""
        return Field(default, description=description, json_schema_extra={"group": self.name}, **limits)

    def fits(self, method: str, evaluator: str) -> bool:
        """Whether the method and the choice of evaluator have what these settings need. Raises UsageError."""
        parts, roles = method_named(method).parts, roles_of(evaluator)
        return self.parts <= parts and self.roles <= roles and (not self.either or bool(self.either & (parts | roles)))

    def switched_off(self, name: str, values: Values) -> Switch | None:
        """The first switch without which the setting `name` of this group means nothing; None if all are on."""
        return next((each for each in self.switches if each.name != name and not each.on(values)), None)


_TURNS = Switch(
    name="proposer_turns", on=lambda values: bool(values["proposer_turns"]),
    otherwise="without proposer_turns: remove it, or set proposer_turns",
)
_GATE = Switch(
    name="gate", on=lambda values: values["gate"] == "on",
    otherwise="without a gate: remove it, or set gate to 'on'",
)
_CRITIC = Switch(
    name="critic", on=lambda values: values["critic"] is not None,
    otherwise="without a critic: name one with --critic MODEL, or remove it",
)
_VERDICTS_UNREAD = Switch(
    name="memory_detail", on=lambda values: values["memory_detail"] != "full",
    otherwise="with memory_detail = 'full', which shows every verdict before the next question: remove it, or set "
    "memory_detail to 'summary'",
)
_ONE_ANSWER = Switch(
    name="proposer_turns", on=lambda values: not values["proposer_turns"],
    otherwise="with proposer_turns, since conversations for nothing cost too much: remove it, or set proposer_turns "
    "to 0",
)
_NO_GATE = Switch(
    name="gate", on=lambda values: values["gate"] == "off",
    otherwise="with a gate, whose verdict comes before the next question: remove it, or set gate to 'off'",
)
_UNCOUNTED = Switch(
    name="budget_episodes", on=lambda values: values["budget_episodes"] is None,
    otherwise="with budget_episodes, in which every episode of a candidate counts: remove it",
)
_FIXED_EVALUATOR = Switch(
    name="evaluator_every", on=lambda values: not values["evaluator_every"],
    otherwise="with evaluator_every, which needs every f_e of a candidate: remove it, or set evaluator_every to 0",
)
_LOOKS_AT_T_0 = Switch(
    name="evaluator_every", on=lambda values: not values["evaluator_every"],
    otherwise="with evaluator_every, since the critic's looks for judges are at T_0 alone: remove it, or set "
    "evaluator_every to 0",
)
_ONE_SEARCH = Switch(
    name="islands", on=lambda values: values["islands"] == 1,
    otherwise="with islands, which would need one evaluator at one time: remove it, or set islands to 1",
)
_SAME_ON_TWIN = Switch(
    name="gate", on=lambda values: values["gate"] == "off",
    otherwise="with a gate, which compares f_e on the cheap twin by one evaluator: remove it, or set gate to 'off'",
)
_ISLANDS = Switch(
    name="islands", on=lambda values: values["islands"] != 1,
    otherwise="with one island, which gets all slots: remove it, or set islands",
)
_ONE_ISLAND = Switch(
    name="islands", on=lambda values: values["islands"] == 1,
    otherwise="with islands, whose elites need the same episodes: remove it, or set islands to 1",
)
_NO_FRONT = Switch(
    name="partners", on=lambda values: values["partners"] != "front",
    otherwise="with partners = 'front', which needs every f_e of a candidate: remove it, or set partners to 'paper'",
)
_MEETINGS = Switch(
    name="confirm_episodes",
    on=lambda values: bool(values["confirm_episodes"] or values["choice_episodes"])
    or values["stop_when"] == "saturated",
    otherwise="without fresh episodes, which alone are rolled out ahead: remove it, or set confirm_episodes",
)
_PROBES = Switch(
    name="probes", on=lambda values: values["probes"] == "on",
    otherwise="without probes, on which evaluators are tested: remove it, or set probes to 'on'",
)
_TESTS = Switch(
    name="evaluator_tests", on=lambda values: values["evaluator_tests"] == "on",
    otherwise="without tests of evaluators, of which attacks are a part: remove it, or set evaluator_tests to 'on'",
)
_ATTACKS = Switch(
    name="evaluator_attacks", on=lambda values: bool(values["evaluator_attacks"]),
    otherwise="without evaluator_attacks: remove it, or set evaluator_attacks",
)
_EDITS = frozenset({SearchPart.EDITS})

RUN = SettingGroup(name="run")
MODELS = SettingGroup(name="models")
BUDGET = SettingGroup(name="budget")
ROLLOUTS = SettingGroup(name="rollouts")
RECORDINGS = SettingGroup(name="recordings")
GENERATIONS = SettingGroup(name="generations", parts=frozenset({SearchPart.GENERATIONS}))
BRANCHES = SettingGroup(name="branches", parts=frozenset({SearchPart.BRANCHES}))
SLOTS = SettingGroup(name="slots", parts=frozenset({SearchPart.SLOTS}))
TUNING = SettingGroup(name="tuning", parts=frozenset({SearchPart.TUNING}))
FRESH = SettingGroup(name="fresh episodes", parts=frozenset({SearchPart.ELITE}))
AHEAD = SettingGroup(name="rolling ahead", parts=frozenset({SearchPart.ELITE}), switches=(_MEETINGS,))
RACING = SettingGroup(
    name="racing", parts=frozenset({SearchPart.RACING}), switches=(_UNCOUNTED, _NO_FRONT, _FIXED_EVALUATOR)
)
CLIMB = SettingGroup(name="climb", parts=frozenset({SearchPart.CLIMB}))
SATURATION = SettingGroup(name="saturation", parts=frozenset({SearchPart.CLIMB}), switches=(_ONE_ISLAND,))
ISLANDS = SettingGroup(name="islands", parts=frozenset({SearchPart.BRANCHES}), switches=(_ISLANDS,))
SPECULATION = SettingGroup(
    name="speculation", parts=frozenset({SearchPart.CLIMB}), switches=(_VERDICTS_UNREAD, _ONE_ANSWER, _NO_GATE)
)
FOCI = SettingGroup(name="foci", parts=frozenset({SearchPart.MACRO}))
EDITS = SettingGroup(name="edits", parts=_EDITS)
REPLY = SettingGroup(name="reply", either=frozenset({SearchPart.CLIMB, JUDGE}))  # climbs and revisions of evaluators
CONVERSATION = SettingGroup(name="conversation", parts=_EDITS, switches=(_TURNS,))
GATE = SettingGroup(name="gate", parts=_EDITS, switches=(_GATE,))
LOOKS = SettingGroup(name="critic", parts=_EDITS)
LOOKS_OF_JUDGES = SettingGroup(
    name="critic for judges", parts=_EDITS, roles=frozenset({JUDGE}), switches=(_CRITIC, _LOOKS_AT_T_0)
)
EVALUATOR_WRITER = SettingGroup(name="evaluator writer", roles=frozenset({WRITER}))
EVALUATOR_SEARCH = SettingGroup(name="evaluator search", roles=frozenset({JUDGE}))
EVALUATOR_TESTS = SettingGroup(name="evaluator tests", roles=frozenset({JUDGE}), switches=(_PROBES,))
EVALUATOR_ATTACKS = SettingGroup(
    name="evaluator attacks", roles=frozenset({JUDGE}), switches=(_PROBES, _TESTS, _ATTACKS)
)
EVALUATOR_MOVES = SettingGroup(
    name="evaluator moves", parts=frozenset({SearchPart.CLIMB}), roles=frozenset({JUDGE}),
    switches=(_ONE_SEARCH, _SAME_ON_TWIN),
)
FINAL = SettingGroup(name="final", parts=frozenset({SearchPart.FINAL}))

GROUPS: Mapping[str, SettingGroup] = {
    group.name: group
    for group in (
        RUN, MODELS, BUDGET, ROLLOUTS, RECORDINGS, GENERATIONS, BRANCHES, SLOTS, TUNING, FRESH, AHEAD, RACING, CLIMB,
        SATURATION, ISLANDS, SPECULATION, FOCI, EDITS, REPLY, CONVERSATION, GATE, LOOKS, LOOKS_OF_JUDGES,
        EVALUATOR_WRITER, EVALUATOR_SEARCH, EVALUATOR_TESTS, EVALUATOR_ATTACKS, EVALUATOR_MOVES,
        FINAL,
    )
}
CALLS_OF: Mapping[str, SettingGroup] = {
    PROPOSER: MODELS, WRITER: EVALUATOR_WRITER, JUDGE: EVALUATOR_SEARCH,
    CRITIC: SettingGroup(name="critic's calls", parts=_EDITS, switches=(_CRITIC,)), ATTACKER: EVALUATOR_ATTACKS,
}
"""The group of a role's tables, such as `[budget.judge]`."""


def of_field(field: FieldInfo) -> SettingGroup:
    """The group that a field of `Settings` names."""
    extra = field.json_schema_extra
    if not isinstance(extra, dict):
        raise TypeError("a setting is declared by the method `field` of its group")
    return GROUPS[str(extra["group"])]
