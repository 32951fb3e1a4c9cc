"""The groups of all settings: those of the parts of a search, which stand beside their parts, and those of a run.

Whether a setting has an effect is decided by its group alone, from the method's parts, the choice of evaluator, and the
switches: settings without which others mean nothing.
"""

from collections.abc import Mapping

from pydantic.fields import FieldInfo

from ..core.methods import SearchPart
from ..search.ahead import AHEAD
from ..search.branches.tune.branch import TUNING
from ..search.conversing import CONVERSATION
from ..search.criticising import CALLS_OF_CRITIC, LOOKS, LOOKS_OF_JUDGES
from ..search.evaluator_search import EVALUATOR_SEARCH, EVALUATOR_TESTS, EVALUATOR_WRITER
from ..search.final import FINAL
from ..search.gate import GATED
from ..search.hardening import EVALUATOR_ATTACKS
from ..search.head_start import HEAD_START
from ..search.islands import ISLANDS
from ..search.meetings.starts import SATURATION
from ..search.moving.keeper import EVALUATOR_MOVES
from ..search.options import BRANCHES, GENERATIONS, SLOTS
from ..search.parts.foci import FOCI
from ..search.parts.memory import CLIMB
from ..search.parts.racing import RACING
from ..search.parts.speculation import SPECULATION
from ..search.rollout_plan import FRESH, ROLLOUTS
from ..search.setting_groups import ATTACKER, CRITIC, EDITS, JUDGE, PROPOSER, WRITER, SettingGroup

EVALUATORS = ("evolve", "reference", "zero-shot")  # anything else is a file

RUN = SettingGroup(name="run")
MODELS = SettingGroup(name="models")
BUDGET = SettingGroup(name="budget")
RECORDINGS = SettingGroup(name="recordings")
PROMPTS = SettingGroup(name="edits", parts=EDITS)
REPLY = SettingGroup(name="reply", either=frozenset({SearchPart.CLIMB, JUDGE}))  # climbs and revisions of evaluators

GROUPS: Mapping[str, SettingGroup] = {
    group.name: group
    for group in (
        RUN, MODELS, BUDGET, ROLLOUTS, RECORDINGS, GENERATIONS, BRANCHES, SLOTS, TUNING, FRESH, AHEAD, RACING, CLIMB,
        SATURATION, ISLANDS, SPECULATION, HEAD_START, FOCI, PROMPTS, REPLY, CONVERSATION, GATED, LOOKS, LOOKS_OF_JUDGES,
        EVALUATOR_WRITER, EVALUATOR_SEARCH, EVALUATOR_TESTS, EVALUATOR_ATTACKS, EVALUATOR_MOVES,
        FINAL,
    )
}
CALLS_OF: Mapping[str, SettingGroup] = {
    PROPOSER: MODELS, WRITER: EVALUATOR_WRITER, JUDGE: EVALUATOR_SEARCH, CRITIC: CALLS_OF_CRITIC,
    ATTACKER: EVALUATOR_ATTACKS,
}
"""The group of a role's tables, such as `[budget.judge]`."""


def of_field(field: FieldInfo) -> SettingGroup:
    """The group that a field of `Settings` names."""
    extra = field.json_schema_extra
    if not isinstance(extra, dict):
        raise TypeError("a setting is declared by the method `field` of its group")
    return GROUPS[str(extra["group"])]
