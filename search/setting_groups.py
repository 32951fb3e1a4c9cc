"""How a part of a run declares its settings: their group, what they need to have an effect, and their limits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from ..core.methods import SearchPart, method_named
from ..core.values import JSON

ROLES = ("proposer", "evaluator-writer", "judge", "critic", "attacker")  # the roles of models, as in core.ports.Ask
PROPOSER, WRITER, JUDGE, CRITIC, ATTACKER = ROLES
EDITS = frozenset({SearchPart.EDITS})

Count = Annotated[int, Field(ge=0, le=1_000_000)]
Positive = Annotated[int, Field(ge=1, le=1_000_000)]
Turns = Annotated[int, Field(ge=0, le=20)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]

Values = Mapping[str, JSON]
"""The values of all settings of a run, by name."""


def roles_of(evaluator: str) -> frozenset[str]:
    """The roles of models in a run with this choice of evaluator, besides the critic and the attacker."""
    if evaluator == "evolve":
        return frozenset({PROPOSER, WRITER, JUDGE})
    return frozenset({PROPOSER, WRITER} if evaluator == "zero-shot" else {PROPOSER})


class PartSettings(BaseModel):
    """The settings of one part. `Settings` has those of all parts."""

    model_config = ConfigDict(frozen=True, extra="forbid")


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


ASKS_EARLY = (
    Switch(
        name="proposer_turns", on=lambda values: not values["proposer_turns"],
        otherwise="with proposer_turns, since conversations for nothing cost too much: remove it, or set "
        "proposer_turns to 0",
    ),
    Switch(
        name="gate", on=lambda values: values["gate"] == "off",
        otherwise="with a gate, whose verdict comes before the next question: remove it, or set gate to 'off'",
    ),
)
"""What settings need that ask for a program before it is known that it is wanted."""
