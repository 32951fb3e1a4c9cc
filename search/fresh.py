"""What a run sees of its programs on fresh episodes, which selected nothing. Pure.

The fittest of many candidates was partly lucky on the search's episodes. Its advantage is real only as far as it shows
on other ones. So a run has a stream of fresh episodes, with the same seeds for all programs, and what a program did on
its beginning is kept: a program that meets another one is rolled out only where it was not seen yet.

Three meetings use fresh episodes. A *challenge* decides between the best of a generation and the elite. A *choice*, at
the end of the last generation, compares the best programs of the run. And where nothing is left to gain on the search's
episodes, *fresh starts* look for an episode in which the elite fails.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..core import order_ids
from ..core.events import EliteChosen, EliteConfirmed, Order
from ..core.seeds import derive_seed
from ..core.values import CandidateState, FreshRecord, Ranked
from .paired import sign_flip
from .rollout_plan import FreshPlan, RolloutPlan
from .trials import Trial, Trials, evaluated

# ---------------------------------------------------------------------------------------- the stream and its records

Records = Mapping[str, CandidateState]
"""What was seen of programs, by their texts: each on a prefix of the stream, under the id of its first order."""

NO_RECORDS: Records = {}
Stream = Callable[[int], int]
"""The seed of each fresh episode."""


def stream_of(fresh: FreshPlan) -> Stream:
    """The run's stream."""
    return lambda index: derive_seed(fresh.seed, "fresh", index)


def numbers_of(fresh: FreshPlan, length: int) -> tuple[int, ...]:
    """The numbers in their environment of the first episodes of the stream."""
    return tuple(range(fresh.first, fresh.first + length))


def rolled(
    plan: RolloutPlan, stream: Stream, records: Records, programs: Mapping[str, CandidateState], length: int
) -> tuple[Trials, tuple[Order, ...]]:
    """The episodes that these programs lack of the first `length` of the stream; a new record gets the given id."""
    fresh = RolloutPlan(
        split=plan.split, seeds=tuple(stream(index) for index in range(length)), evaluator=plan.evaluator,
        has_success=plan.has_success, island=plan.island, numbers=numbers_of(plan.fresh, length),
        version=plan.version,
    )
    trials, orders = Trials(plan=fresh, open={}), list[Order]()
    for slot, (name, one) in enumerate(programs.items()):
        known = records.get(one.program.text)
        trial = Trial(
            id=name if known is None else known.id, program=one.program, operator=one.operator,
            generation=one.generation, slot=slot,
            episodes=() if known is None else known.episodes, scores=() if known is None else known.scores,
        )
        if known is None or len(known.scores) < length:
            step = trials.extend(trial)
            trials, orders = step.trials, [*orders, *step.orders]
    return trials, tuple(orders)


def fitnesses(records: Records, one: CandidateState, length: int | None = None) -> tuple[float, ...]:
    """f_e of a program on the first episodes of the stream, as many as it was seen in, at most `length`."""
    known = records.get(one.program.text)
    return () if known is None else tuple(score.fitness for score in known.scores[:length])


def with_record(one: CandidateState, records: Records) -> CandidateState:
    """The candidate with what was seen of it on fresh episodes, for prompts."""
    known = records.get(one.program.text)
    return one if known is None else replace(one, fresh=record_of(known))


def record_of(known: CandidateState) -> FreshRecord:
    """A record in figures."""
    values = [score.fitness for score in known.scores]
    return FreshRecord(
        episodes=len(values), fitness=math.fsum(values) / len(values), least=min(values), greatest=max(values),
        success_rate=known.success_rate, failures=sum(_is_failure(known, place) for place in range(len(values))),
    )


def _is_failure(one: CandidateState, place: int) -> bool:
    """Whether an episode ended with a fault, or without success where the task has a predicate for it."""
    episode = one.episodes[place]
    return episode.fault is not None or (one.success_rate is not None and not episode.success)


# ------------------------------------------------------------------------------------------------- the paired test

LOOKS = (6, 9, 12, 16, 24, 32, 48, 64)
"""The numbers of pairs after which a challenge may be decided. Fewer show no difference at LEVEL."""

LEVEL = 0.2
"""The chance that a program that is no better becomes the elite, over all looks of one challenge.

Parents come from the elite, so a level of 0.05 would throw away most real gains that a few episodes can show; and the
last choice compares all elites and challengers once more.
"""


def looks_of(bound: int) -> tuple[int, ...]:
    """After how many pairs a challenge of at most `bound` pairs is looked at."""
    return (*(look for look in LOOKS if look < bound), bound)


def verdict(differences: Sequence[float], looks: tuple[int, ...]) -> tuple[bool | None, float | None]:
    """Whether the challenger won, None for "not decided yet", and the p-value at this look.

    It wins where the paired test rejects at LEVEL, divided by the number of looks (Bonferroni). It loses as soon as it
    is not ahead at a look, and where nothing was decided at the last one. Fewer than five pairs can reach no level, so
    the sign of their sum decides.
    """
    if looks[-1] < 5:
        return math.fsum(differences) > 0, None
    chance = sign_flip(differences)
    if chance <= LEVEL / len(looks):
        return True, chance
    if math.fsum(differences) <= 0 or len(differences) >= looks[-1]:
        return False, chance
    return None, chance


# ------------------------------------------------------------------------------------------------------- challenge


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """The best of a generation meets the elite: their open trials, and the number of the look under way."""

    candidate: CandidateState
    elite: CandidateState
    trials: Trials
    looks: tuple[int, ...]
    look: int = 0

    @property
    def length(self) -> int:
        """The pairs at this look."""
        return self.looks[self.look]

    def names(self, generation: int) -> dict[str, CandidateState]:
        """The two programs by the ids of new records; the same program is rolled out once."""
        met = {order_ids.CANDIDATE: self.candidate}
        if self.elite.program != self.candidate.program:
            met[order_ids.ELITE] = self.elite
        island = self.trials.plan.island
        return {str(order_ids.confirmation(generation, who, island=island)): one for who, one in met.items()}


def judged(challenge: Challenge, records: Records, generation: int) -> EliteConfirmed | None:
    """The result at the look under way; None if the challenge goes on.

    Where no pair differs, fresh episodes say nothing against the candidate, and the search's decide, among which may be
    a start that the elite fails.
    """
    new, old = (fitnesses(records, one, challenge.length) for one in (challenge.candidate, challenge.elite))
    means = math.fsum(new) / len(new), math.fsum(old) / len(old)
    won, chance = verdict([a - b for a, b in zip(new, old, strict=True)], challenge.looks)
    if new == old:
        won = challenge.candidate.fitness > challenge.elite.fitness
    if records[challenge.candidate.program.text].fault is not None:
        won = False  # it never started
    if won is None:
        return None
    return EliteConfirmed(
        generation=generation, candidate=challenge.candidate.id, elite=challenge.elite.id, episodes=challenge.length,
        candidate_fitness=means[0], elite_fitness=means[1], confirmed=won, chance=chance,
    )


# ---------------------------------------------------------------------------------------------------------- choice

CONTENDERS = 5  # programs that a choice compares at most, the elite among them,
FEWEST = 4  # on this many common episodes at least,
MOST = 64  # and at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The best programs of the run meet, by successive halving (Karnin, Koren and Somekh, 2013).

    `programs` are still in it, the elite first among equals; `met` are all that began it. All of `programs` are seen on
    the first `length` episodes of the stream. `left` further episodes may be ordered.
    """

    programs: tuple[CandidateState, ...]
    met: tuple[CandidateState, ...]
    trials: Trials
    length: int
    left: int

    def names(self) -> dict[str, CandidateState]:
        """The programs that are still in it by the ids of new records."""
        return {str(order_ids.choice(self.met.index(one))): one for one in self.programs}


def contenders(elite: CandidateState, known: Sequence[CandidateState], records: Records) -> tuple[CandidateState, ...]:
    """The elite and the best other programs, by all that was seen of them; each program once."""

    def seen(one: CandidateState) -> float:
        values = (*(score.fitness for score in one.scores), *fitnesses(records, one))
        return math.fsum(values) / len(values)

    found = {elite.program.text: elite}
    for one in sorted(known, key=lambda each: (-seen(each), each.generation, each.id)):
        found.setdefault(one.program.text, one)
    return tuple(found.values())[:CONTENDERS]


def next_length(programs: Sequence[CandidateState], records: Records, length: int, left: int) -> int:
    """Up to which episode of the stream these programs can be seen with their share of `left` episodes."""
    rounds = max(1, math.ceil(math.log2(max(2, len(programs)))))
    share, cost = left // rounds, 0
    seen = [len(fitnesses(records, one)) for one in programs]
    while length < MOST:
        further = sum(each <= length for each in seen)
        if cost + further > share:
            break
        length, cost = length + 1, cost + further
    return length


def halved(choice: Choice, records: Records) -> tuple[CandidateState, ...]:
    """The better half by the mean f_e of the common episodes, the best first; of equals the elite, then the earlier."""

    def mean(one: CandidateState) -> float:
        return math.fsum(fitnesses(records, one, choice.length))

    order = sorted(choice.programs, key=lambda one: (-mean(one), choice.met.index(one)))
    return tuple(order[: (len(order) + 1) // 2])


def chosen(choice: Choice, records: Records, generation: int, winner: CandidateState) -> EliteChosen:
    """The result of a choice."""
    ranking = []
    for one in choice.met:
        record = record_of(records[one.program.text])
        ranking.append(Ranked(
            candidate=one.id, episodes=record.episodes, fitness=record.fitness, success_rate=record.success_rate,
            failures=record.failures,
        ))
    ranking.sort(key=lambda each: (each.candidate != winner.id, -each.episodes, -each.fitness))
    return EliteChosen(generation=generation, candidate=winner.id, elite=choice.met[0].id, ranking=tuple(ranking))


# ---------------------------------------------------------------------------------------------------- fresh starts

STARTS = 8  # of a perfect elite at once,
MOST_STARTS = 24  # and at most: without a failure among them its rate of failures is below 12 % (95 %)


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshStarts:
    """The elite on further starts, because it has nothing left to gain on the search's episodes."""

    elite: CandidateState
    trials: Trials
    length: int
    most: int
    records: Records = field(default_factory=dict)


def starts_stream(fresh: FreshPlan) -> Stream:
    """The seeds of fresh starts. They are not those of meetings, which must stay fresh for all programs."""
    return lambda index: derive_seed(fresh.seed, "starts", index)


def is_saturated(elite: CandidateState) -> bool:
    """Whether no program can be fitter on the search's episodes."""
    return bool(elite.scores) and all(score.fitness >= 1.0 for score in elite.scores)


def failed_starts(starts: FreshStarts) -> tuple[int, ...]:
    """The numbers of the starts on which the elite is not perfect."""
    known = starts.records[starts.elite.program.text]
    return tuple(place for place, score in enumerate(known.scores) if score.fitness < 1.0)


def joined_numbers(plan: RolloutPlan, places: Sequence[int]) -> tuple[int, ...]:
    """The numbers that these starts have among the search's episodes: their own, which make them what they are."""
    return tuple(plan.fresh.first + place for place in places)


def with_starts(starts: FreshStarts, places: Sequence[int], plan: RolloutPlan) -> CandidateState:
    """The elite with these starts among its episodes, under the numbers that they have there."""
    elite, known = starts.elite, starts.records[starts.elite.program.text]
    numbers = [plan.number_of(place) for place in range(len(elite.episodes), len(elite.episodes) + len(places))]
    episodes = [replace(known.episodes[place], index=number) for place, number in zip(places, numbers, strict=True)]
    scores = [known.scores[place] for place in places]
    whole = evaluated(Trial(
        id=elite.id, program=elite.program, operator=elite.operator, generation=elite.generation, slot=elite.slot,
        episodes=(*elite.episodes, *episodes), scores=(*elite.scores, *scores),
    ), plan)
    return replace(
        elite, episodes=whole.episodes, scores=whole.scores, fitness=whole.fitness, success_rate=whole.success_rate,
        metrics=whole.metrics, mean_return=whole.mean_return,
    )


Meeting = Challenge | Choice | FreshStarts
