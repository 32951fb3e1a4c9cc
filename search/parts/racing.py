"""Racing: trials that can no longer change a result are pruned, and those that become hopeless by that."""

from collections.abc import Mapping

from ...core.keeper import Decision
from ...core.methods import SearchPart
from ...core.values import Operator
from ..branch import Branch
from ..meetings.meeting import Settle, follow
from ..setting_groups import PartSettings, SettingGroup, Switch
from ..state import Search
from ..trials import chain

RACING = SettingGroup(
    name="racing", parts=frozenset({SearchPart.RACING}),
    switches=(
        Switch(
            name="budget_episodes", on=lambda values: values["budget_episodes"] is None,
            otherwise="with budget_episodes, in which every episode of a candidate counts: remove it",
        ),
        Switch(
            name="partners", on=lambda values: values["partners"] != "front",
            otherwise="with partners = 'front', which needs every f_e of a candidate: remove it, or set partners to "
            "'varied'",
        ),
        Switch(
            name="evaluator_every", on=lambda values: not values["evaluator_every"],
            otherwise="with evaluator_every, which needs every f_e of a candidate: remove it, or set evaluator_every "
            "to 0",
        ),
    ),
)


class RacingSettings(PartSettings):
    """Whether trials are pruned."""

    racing: bool = RACING.field(True, "end a candidate's rollouts once it cannot win; changes no result")


def race(
    decision: Decision[Search], branches: Mapping[Operator, Branch], settle: Settle[Search]
) -> Decision[Search]:
    """The decision with what follows from all hopeless trials."""
    search = decision.state
    for name in sorted(search.trials.open):
        trial = search.trials.open[name]
        if branches[trial.operator].is_hopeless(search, trial):
            return race(chain(decision, follow(search, search.trials.prune(name), settle)), branches, settle)
    return decision
