"""The schedule of a search within a budget of episodes: how many episodes a candidate and a confirmation get."""

from collections.abc import Mapping
from typing import Any

from ..core.errors import UsageError
from ..core.methods import SearchPart, candidates_expected, method_named, tuning_episodes, tuning_slots
from ..core.ports import Domain, Numeric
from ..core.values import JSON
from .model import Settings
from .presets import DEFAULT_PRESET, PRACTICE, TUNES
from .sources import GivenValue

TUNED = 3  # at least one part in so many of a budget goes to tuning, where it has slots
FEWEST = 2  # episodes per candidate: with one, luck cannot be distinguished from skill


def settle_generations(values: dict[str, Any], plain: Mapping[str, GivenValue]) -> None:
    """A method without generations has one."""
    if "generations" not in plain and SearchPart.GENERATIONS not in _parts(values):
        values["generations"] = 1


def settle_episodes(values: dict[str, Any], plain: Mapping[str, GivenValue]) -> None:
    """Derive n_roll, confirm_episodes and tune_episodes from a budget of episodes, where they are not given."""
    limit = values.get("budget_episodes")
    if not isinstance(limit, int):
        return  # none, or one that is refused later
    if "tune_episodes" not in plain and tuning_slots(values):
        _settle_tuning_episodes(values, limit)
    if "n_roll" in plain:
        return
    confirms = SearchPart.ELITE in _parts(values)
    given = values.get("confirm_episodes", 0) if "confirm_episodes" in plain or not confirms else None
    if not all(isinstance(each, int) for each in (values["n_roll"], values["generations"], given or 0)):
        return  # refused later
    candidates = candidates_expected({**values, "budget_episodes": None})
    practice = values.get("practice_episodes", PRACTICE) if values.get("proposer_turns") else 0
    if not isinstance(practice, int):
        return  # refused later
    n_roll, confirm = schedule(
        max(1, limit - tuning_episodes(values) - practice * candidates), candidates=candidates,
        generations=values["generations"], n_roll=values["n_roll"], confirm=given,
    )
    values["n_roll"] = n_roll
    if confirms:
        values["confirm_episodes"] = confirm


def _settle_tuning_episodes(values: dict[str, Any], limit: int) -> None:
    """The episodes of one tuning slot: what all candidates leave of the budget, but at least a third of it in all."""
    left = room_for_tuning(values)
    if left is not None:
        tunings = max(1, values["generations"]) * tuning_slots(values)
        values["tune_episodes"] = max(1, left // tuning_slots(values), limit // (TUNED * tunings))


def settle_tuning(
    values: dict[str, Any], plain: Mapping[str, GivenValue], domain: Domain, options: Mapping[str, JSON]
) -> None:
    """Tune constants by default where the offline model needs it, and the preset and a budget of episodes have room.

    The number of candidates of a user who sets `k_tune` stays what it is.
    """
    if values.get("preset", DEFAULT_PRESET) not in TUNES or "k_tune" in plain or not isinstance(domain, Numeric):
        return
    model = Settings.model_fields["model"].default
    offline = values.get("model", model) == model
    able = SearchPart.BRANCHES in _parts(values)
    episodes = domain.tuning_episodes(options) if offline and able else 0
    room = room_for_tuning(values)
    if episodes and (room is None or room >= episodes):
        values |= {"k_tune": 1, "tune_episodes": values.get("tune_episodes", room or episodes)}


def room_for_tuning(values: Mapping[str, Any]) -> int | None:
    """The episodes of each generation that all candidates leave of the budget of episodes.

    None without a budget, and for settings that are refused later.
    """
    limit, generations, n_roll = values.get("budget_episodes"), values["generations"], values["n_roll"]
    if not isinstance(limit, int) or not isinstance(generations, int) or not isinstance(n_roll, int):
        return None
    left = limit - n_roll * (1 + candidates_expected({**values, "budget_episodes": None}))
    return left // max(1, generations)


def _parts(values: Mapping[str, Any]) -> frozenset[SearchPart]:
    """The parts of the method of settings that are not checked yet. Raises UsageError if there is no such method."""
    return method_named(str(values.get("method", Settings.model_fields["method"].default))).parts


def schedule(
    limit: int, *, candidates: int, generations: int, n_roll: int, confirm: int | None = None
) -> tuple[int, int]:
    """N_roll and confirm_episodes for a search of so many candidates within `limit` episodes.

    A budget with room for all candidates changes nothing. Otherwise a candidate gets fewer episodes, as many as leave
    room for all candidates but at least FEWEST; and the few that would become the elite get twice as many fresh
    ones, at most `n_roll`, unless `confirm` is given. If even that is too much, the search ends after fewer candidates.
    """
    fixed = 0 if confirm is None else 2 * confirm * generations
    if n_roll * (candidates + 1) + fixed <= limit:
        return n_roll, confirm or 0

    def confirmed(each: int) -> int:
        return min(n_roll, 2 * each) if confirm is None else confirm

    fewest = min(FEWEST, n_roll)
    fitting = [
        each for each in range(fewest, n_roll + 1)
        if each * (candidates + 1) + 2 * confirmed(each) * generations <= limit
    ]
    chosen = max(fitting, default=fewest)
    return chosen, confirmed(chosen)


def refuse_small_budget(settings: Settings) -> None:
    """Raises UsageError if the budget of episodes has no room for p_0, one candidate and its confirmation."""
    practice = settings.practice_episodes if settings.proposer_turns else 0
    limit, least = settings.budget_episodes, 2 * settings.n_roll + 2 * settings.confirm_episodes + practice
    if limit is not None and limit < least:
        raise UsageError(
            f"budget_episodes = {limit} has no room for the first policy and one candidate, which take {least} "
            "episodes: raise it, or lower n_roll or confirm_episodes"
        )
