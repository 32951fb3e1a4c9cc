"""How many slots of a generation a budget of episodes allows. Pure.

A slot is opened only if the budget holds all episodes of its candidate, those in which its proposal may practise, the
challenge of a new elite and the final choice. So the budget is never exceeded, and how many slots there are does not
depend on the order in which answers arrive.
"""

from .rollout_plan import RolloutPlan

CHALLENGE = 2  # programs that a challenge rolls out: the candidate and the elite


def affordable(plan: RolloutPlan, ordered: int, slots: int, *, challenges: int = 1) -> int:
    """How many of `slots` may be opened, after `ordered` episodes of the stage; all of them without a budget.

    `challenges` may follow before more slots are opened: one for each island.
    """
    if plan.episodes is None:
        return slots
    left = plan.episodes - ordered - kept_free(plan, challenges)
    return max(0, min(slots, left // (len(plan.seeds) + plan.practice)))


def tunable(
    plan: RolloutPlan, ordered: int, slots: int, episodes: int, *, challenges: int = 1
) -> tuple[int, int]:
    """How many tuning slots may be opened, and on how many episodes each tries constants before its N_roll episodes."""
    if plan.episodes is None or not slots:
        return slots, episodes
    left = plan.episodes - ordered - kept_free(plan, challenges)
    each = min(episodes, left // slots - len(plan.seeds))
    return (slots, each) if each > 0 else (0, 0)


def kept_free(plan: RolloutPlan, challenges: int = 1) -> int:
    """The most episodes that this number of challenges can order, and those of the final choice."""
    return challenges * CHALLENGE * plan.fresh.confirm + plan.fresh.choice


def is_spent(plan: RolloutPlan, ordered: int, *, challenges: int = 1) -> bool:
    """Whether a budget of episodes has no room for another candidate."""
    return affordable(plan, ordered, 1, challenges=challenges) == 0


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
