"""Racing: trials that can no longer change a result are pruned, and those that become hopeless by that."""

from collections.abc import Mapping

from ...core.keeper import Decision
from ...core.values import Operator
from ..branch import Branch
from ..meetings.meeting import Settle, follow
from ..state import Search
from ..trials import chain


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
