"""The schedule of a search: how its episodes are divided among candidates, challenges, tuning and the last choice."""

from collections.abc import Mapping
from typing import Any

from ..core.errors import UsageError
from ..core.methods import SearchPart, candidates_expected, climb_width, method_named, tuning_episodes, tuning_slots
from ..core.ports import Domain, Numeric, Twinned, shelf_of
from ..core.values import JSON
from ..search.conversing import PRACTICE
from .model import Settings
from .presets import DEFAULT_PRESET, OFFLINE, TUNES
from .sources import GivenValue

TUNED = 3  # at least a third of a budget goes to tuning, where it has slots,
TUNING = 64  # and as many episodes as one slot needs, for up to 35 constants with some to spare,
MOST_TUNED = 2  # but at most half of it
FEWEST = 2  # episodes per candidate: with one, luck cannot be distinguished from skill
CHOICE, MOST_CHOICE = 5, 100  # a fifth of a budget is kept for the choice among the best programs, at most 20 for each
MEASURED = 20  # held-out episodes of each of two programs: in all at most a tenth of the search's
MOST_ROLLS = 10  # episodes per candidate where a budget has room for them, as in the paper
CONFIRM = (12, 9, 6)  # pairs of a challenge, as many as a budget has room for
ENOUGH = 0.75  # of the episodes that tuning takes in a domain: with fewer it is left out by default
DECIDED = ("preset", "n_roll", "k_tune", "islands", "gate", "practice_on", "budget_episodes")
"""Settings with which a user decides the numbers of a search, besides those that the offline model's practice has."""
CONFIRMED = 60  # episodes of a budget that has few candidates rather than no challenges


def settle_width(values: dict[str, Any]) -> None:
    """Replace "auto" by the width for the calls that may be made at once."""
    if values.get("climb_width") == "auto":
        at_once = values.get("calls_at_once", Settings.model_fields["calls_at_once"].default)
        values["climb_width"] = climb_width(values, at_once) if isinstance(at_once, int) else 1  # refused later


def settle_generations(values: dict[str, Any], plain: Mapping[str, GivenValue]) -> None:
    """A method without generations has one."""
    if "generations" not in plain and SearchPart.GENERATIONS not in _parts(values):
        values["generations"] = 1


def settle_episodes(values: dict[str, Any], plain: Mapping[str, GivenValue]) -> None:
    """Derive the numbers of episodes that are not given, from the method, the preset and a budget of episodes."""
    parts = _parts(values)
    if SearchPart.ELITE not in parts:
        values |= {key: 0 for key in ("confirm_episodes", "choice_episodes") if key not in plain}
    if (SearchPart.CLIMB not in parts or islands(values) > 1) and "stop_when" not in plain:
        values["stop_when"] = "never"
    if isinstance(values.get("budget_episodes"), int):  # else none, or one that is refused later
        _settle_budget(values, plain, values["budget_episodes"], meets=SearchPart.ELITE in parts)
    if "final_episodes" not in plain:
        _settle_measure(values)


def _settle_budget(values: dict[str, Any], plain: Mapping[str, GivenValue], limit: int, *, meets: bool) -> None:
    if meets and "choice_episodes" not in plain:
        values["choice_episodes"] = min(limit // CHOICE, MOST_CHOICE)
    if "tune_episodes" not in plain and tuning_slots(values):
        _settle_tuning_episodes(values, plain, limit)
    given = values["confirm_episodes"] if "confirm_episodes" in plain or not meets else None
    numbers = values["n_roll"], values["generations"], given or 0, values["choice_episodes"]
    if not all(isinstance(each, int) for each in numbers):
        return  # refused later
    candidates = candidates_expected({**values, "budget_episodes": None})
    practice = values.get("practice_episodes", PRACTICE) if values.get("proposer_turns") else 0
    if not isinstance(practice, int):
        return  # refused later
    left = limit - values["choice_episodes"] - tuning_episodes(values) - practice * candidates
    values["n_roll"], values["confirm_episodes"] = schedule(
        max(1, left), candidates=candidates, meetings=values["generations"] * islands(values), n_roll=values["n_roll"],
        fewest=values["n_roll"] if "n_roll" in plain else FEWEST, confirm=given,
        confirms=limit - values["choice_episodes"] >= CONFIRMED,
    )


def _settle_measure(values: dict[str, Any]) -> None:
    """The held-out episodes: those of the preset, or more where they are still a small part of the run."""
    searched = values.get("budget_episodes")
    if not isinstance(searched, int) or not isinstance(values.get("final_episodes"), int):
        return
    values["final_episodes"] = max(values["final_episodes"], searched // MEASURED)


def _settle_tuning_episodes(values: dict[str, Any], plain: Mapping[str, GivenValue], limit: int) -> None:
    """The episodes of one tuning slot, and in how many generations there are slots.

    Tuning gets what all candidates leave of the budget, but at least a third of it. Where that is too little for a slot
    in each generation, fewer generations tune, each with enough.
    """
    left = room_for_tuning(values)
    if left is None:
        return
    slots, generations = tuning_slots(values), max(1, values["generations"])
    total = max(left * generations, limit // TUNED, min(TUNING * slots, limit // MOST_TUNED))
    tuned = values.get("tune_generations")
    if "tune_generations" not in plain:
        tuned = min(generations, max(1, total // (TUNING * slots)))
        values["tune_generations"] = 0 if tuned == generations else tuned
    if isinstance(tuned, int):  # else refused later
        values["tune_episodes"] = max(1, total // (slots * (tuned or generations)))


def settle_practice(
    values: dict[str, Any], plain: Mapping[str, GivenValue], domain: Domain, options: Mapping[str, JSON]
) -> None:
    """Try drafts by default where the offline model can read what its programs report, on a twin if there is one.

    Only in a search of which the user decides no numbers, and not where only these options have no twin.
    """
    model = Settings.model_fields["model"].default
    if plain.keys() & {*OFFLINE, *DECIDED} or values.get("model", model) != model:
        return
    if SearchPart.CLIMB not in _parts(values):
        return
    shelf = shelf_of(domain, options)
    if shelf is None or not shelf.signs:
        return
    try:
        twin = domain.twin(options) if isinstance(domain, Twinned) else None
    except UsageError:
        return
    values |= {**OFFLINE, "practice_on": "task" if twin is None else "twin"}


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
    if episodes and (room is None or room >= ENOUGH * episodes):
        values |= {"k_tune": 1, "tune_episodes": values.get("tune_episodes", room or episodes)}


def islands(values: Mapping[str, Any]) -> int:
    """How many islands a search has; 1 for settings that are refused later."""
    count = values.get("islands", 1)
    return count if isinstance(count, int) and SearchPart.BRANCHES in _parts(values) else 1


def settle_rolls(values: dict[str, Any], plain: Mapping[str, GivenValue]) -> None:
    """Give each candidate more episodes where a budget of episodes has room for them after all else."""
    room = room_for_tuning(values)
    if room is None or "n_roll" in plain or values["n_roll"] < FEWEST:  # fewer are a smoke test's
        return
    if tuning_slots(values) or values.get("proposer_turns"):  # which take what is left
        return
    candidates = candidates_expected({**values, "budget_episodes": None})
    more = room * max(1, values["generations"]) // (candidates + 1)
    values["n_roll"] = max(values["n_roll"], min(MOST_ROLLS, values["n_roll"] + more))


def room_for_tuning(values: Mapping[str, Any]) -> int | None:
    """The episodes of each generation that all candidates and challenges leave of the budget of episodes.

    None without a budget, and for settings that are refused later.
    """
    limit, generations, n_roll = values.get("budget_episodes"), values["generations"], values["n_roll"]
    kept = values.get("choice_episodes", 0)
    if not (isinstance(limit, int) and isinstance(generations, int) and isinstance(n_roll, int)):
        return None
    if not isinstance(kept, int):
        return None
    left = limit - kept - n_roll * (1 + candidates_expected({**values, "budget_episodes": None}))
    met = challenges(CONFIRM[0] if kept else 0, generations * islands(values))
    return (left - met) // max(1, generations)


def challenges(pairs: int, meetings: int) -> int:
    """The episodes of this number of challenges, one for each island and generation.

    They are those of all challengers, and once those of the elite that they meet.
    """
    return pairs * (meetings + 1)


def _parts(values: Mapping[str, Any]) -> frozenset[SearchPart]:
    """The parts of the method of settings that are not checked yet. Raises UsageError if there is no such method."""
    return method_named(str(values.get("method", Settings.model_fields["method"].default))).parts


def schedule(
    limit: int, *, candidates: int, meetings: int, n_roll: int, fewest: int = FEWEST, confirm: int | None = None,
    confirms: bool = True,
) -> tuple[int, int]:
    """N_roll and the pairs of each of `meetings` challenges for a search of these candidates within `limit` episodes.

    Challenges get fewer pairs first, then candidates fewer episodes, at least `fewest`. If even that is too much, the
    search ends after fewer candidates, and has no challenges then unless it `confirms`. A given `confirm` stays.
    """
    fewest = min(fewest, n_roll)
    options = CONFIRM if confirm is None else (confirm,)
    tries = [(n_roll, pairs) for pairs in options]
    tries += [(each, options[-1]) for each in range(n_roll - 1, fewest - 1, -1)]
    for each, pairs in tries:
        if each * (candidates + 1) + challenges(pairs, meetings) <= limit:
            return each, pairs
    return fewest, options[-1] if confirm is not None or confirms else 0


def refuse_small_budget(settings: Settings) -> None:
    """Raises UsageError if the budget of episodes has no room for p_0, one candidate and its confirmation."""
    practice = settings.practice_episodes if settings.proposer_turns else 0
    fresh = 2 * settings.confirm_episodes * settings.islands + settings.choice_episodes
    limit, least = settings.budget_episodes, 2 * settings.n_roll + fresh + practice
    if limit is not None and limit < least:
        raise UsageError(
            f"budget_episodes = {limit} has no room for the first policy and one candidate, which take {least} "
            "episodes: raise it, or lower n_roll, confirm_episodes or choice_episodes"
        )
