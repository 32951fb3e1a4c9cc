"""How many slots of a generation a budget of episodes allows. Pure.

A slot is opened only if the budget holds all episodes of its candidate, those in which its proposal may practise, and
the confirmation of a new elite. So the budget is never exceeded, and how many slots there are does not depend on the
order in which answers arrive.
"""

from .trials import RolloutPlan

CONFIRMED = 2  # programs that a confirmation rolls out: the candidate and the elite


def affordable(plan: RolloutPlan, ordered: int, slots: int) -> int:
    """How many of `slots` may be opened, after `ordered` episodes of the stage; all of them without a budget."""
    if plan.episodes is None:
        return slots
    left = plan.episodes - ordered - confirmation(plan)
    return max(0, min(slots, left // (len(plan.seeds) + plan.practice)))


def tunable(plan: RolloutPlan, ordered: int, slots: int, episodes: int) -> tuple[int, int]:
    """How many tuning slots may be opened, and on how many episodes each tries constants before its N_roll episodes."""
    if plan.episodes is None or not slots:
        return slots, episodes
    left = plan.episodes - ordered - confirmation(plan)
    each = min(episodes, left // slots - len(plan.seeds))
    return (slots, each) if each > 0 else (0, 0)


def confirmation(plan: RolloutPlan) -> int:
    """The most episodes that the confirmation of one generation can order."""
    return CONFIRMED * plan.confirm_episodes


def is_spent(plan: RolloutPlan, ordered: int) -> bool:
    """Whether a budget of episodes has no room for another candidate."""
    return affordable(plan, ordered, 1) == 0


def dealt(slots: tuple[int, ...], total: int) -> tuple[int, ...]:
    """`total` slots for branches that have room for `slots` each, dealt in turn, the first branch first."""
    given = [0] * len(slots)
    left = min(total, sum(slots))
    while left > 0:
        for place, room in enumerate(slots):
            if given[place] < room and left > 0:
                given[place] += 1
                left -= 1
    return tuple(given)
