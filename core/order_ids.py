"""The ids of orders: what each names, made and parsed here and nowhere else.

An id names what its order is for, so that seeds and replays never depend on who came first:

    init/0                attempt 0 at p_0                  eval/g1/3           evaluator slot 3 of generation 1
    g2/hill/7             hill-climb slot 7                 eval/g1/judge/4     judge 4 of generation 1
    g2/macro/7            macro-mutation slot 7             eval/fixed          an evaluator that the user gave
    g2/cross/2            crossover slot 2                  eval/zero-shot/1    attempt 1 at the one unevolved evaluator
    g2/random/3           slot 3 of random search           final/initial       p_0 on held-out episodes
    g2/initial/3          slot 3 of zero-shot search        final/elite         the elite on held-out episodes

and, about one of these (its *owner*):

    …/e3                  its episode 3                     …/examine           the examination of an evaluator on T_0
    …/e3/score            the score of that episode         …/ahead             the slot, proposed speculatively
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, cast

INITIAL, EVALUATOR, SEARCH, FINAL = "initial", "evaluator", "search", "final"   # as in StageEntered
HILL, MACRO, CROSS = "hill", "macro", "cross"   # branches of a generation
PROGRAM, RANDOM = "initial", "random"           # independent programs, of zero-shot and of random search
JUDGE, FIXED, ZERO_SHOT = "judge", "fixed", "zero-shot"
ELITE = "elite"
AHEAD = "/ahead"

Part = Literal["", "score", "examine", "ahead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderId:
    """One id, taken apart. `str()` gives the text; `parse` reads it.

    `stage` is that of StageEntered, "" for an id of another form, whose text is then `branch`. `slot` is the
    place in the branch: a slot, an attempt or a judge's seat; None where there is only one.
    """

    stage: str
    generation: int = 0
    branch: str = ""
    slot: int | None = None
    episode: int | None = None
    part: Part = ""

    def __str__(self) -> str:
        return _text(self)

    @property
    def owner(self) -> "OrderId":
        """The candidate, evaluator or vote that the order is about: without episode and part."""
        return self if self.episode is None and not self.part else replace(self, episode=None, part="")

    @property
    def is_owner(self) -> bool:
        """Whether this names a candidate, an evaluator or a vote itself."""
        return self.episode is None and not self.part

    @property
    def is_vote(self) -> bool:
        """Whether it is about a judge's vote."""
        return self.stage == EVALUATOR and self.branch == JUDGE

    @property
    def role(self) -> str:
        """Which role of model the order asks: the words of `core.ports.Ask`."""
        if self.stage != EVALUATOR:
            return "proposer"
        return "judge" if self.is_vote else "evaluator-writer"

    def of_episode(self, index: int) -> "OrderId":
        """The rollout of episode `index` of this owner."""
        return replace(self, episode=index, part="")

    def score(self) -> "OrderId":
        """The scoring of this episode."""
        return replace(self, part="score")

    def examine(self) -> "OrderId":
        """The examination of this evaluator."""
        return replace(self, part="examine")

    def ahead(self) -> "OrderId":
        """The same slot, proposed before the verdict on the slot before is known."""
        return replace(self, part="ahead")


def initial(attempt: int) -> OrderId:
    """Attempt `attempt` at p_0."""
    return OrderId(stage=INITIAL, slot=attempt)


def candidate(generation: int, branch: str, slot: int) -> OrderId:
    """A slot of a generation of the policy search."""
    return OrderId(stage=SEARCH, generation=generation, branch=branch, slot=slot)


def evaluator(generation: int, slot: int) -> OrderId:
    """A slot of a pool of evaluators."""
    return OrderId(stage=EVALUATOR, generation=generation, slot=slot)


def judge(generation: int, seat: int) -> OrderId:
    """A judge's vote on the pool of a generation."""
    return OrderId(stage=EVALUATOR, generation=generation, branch=JUDGE, slot=seat)


def fixed_evaluator() -> OrderId:
    """The evaluator that the user gave."""
    return OrderId(stage=EVALUATOR, branch=FIXED)


def zero_shot_evaluator(attempt: int) -> OrderId:
    """Attempt `attempt` at the one evaluator of a search without evaluator evolution."""
    return OrderId(stage=EVALUATOR, branch=ZERO_SHOT, slot=attempt)


def final(who: Literal["initial", "elite"]) -> OrderId:
    """The final measure of p_0 or of the elite."""
    return OrderId(stage=FINAL, branch=who)


@lru_cache(maxsize=4096)
def parse(text: str) -> OrderId:
    """Take an id apart. A text of another form gives stage "" and itself as the branch, so nothing raises."""
    words = text.split("/")
    part: Part = ""
    if len(words) > 1 and words[-1] in ("score", "examine", "ahead"):
        part = cast(Part, words.pop())
    episode = _numbered("e", words[-1]) if len(words) > 1 else None
    if episode is not None:
        words.pop()
    owner = _owner(words)
    if owner is None:
        return OrderId(stage="", branch="/".join(words), episode=episode, part=part)
    return replace(owner, episode=episode, part=part)


def owner_of(text: str) -> str:
    """The id of the candidate, evaluator or vote that an order is about: g2/hill/7 of g2/hill/7/e3/score.

    The same as `str(parse(text).owner)`, without taking the rest apart: a log has tens of thousands of orders.
    """
    head, slash, last = text.rpartition("/")
    if slash and last in ("score", "examine", "ahead"):
        text = head
        head, slash, last = text.rpartition("/")
    return head if slash and _numbered("e", last) is not None else text


def _owner(words: list[str]) -> OrderId | None:
    """The id of one to four words; None for another form."""
    match words:
        case ["init", slot] if _is_number(slot):
            return OrderId(stage=INITIAL, slot=int(slot))
        case ["final", ("initial" | "elite") as who]:
            return OrderId(stage=FINAL, branch=who)
        case ["eval", "fixed"]:
            return fixed_evaluator()
        case ["eval", "zero-shot", slot] if _is_number(slot):
            return zero_shot_evaluator(int(slot))
        case ["eval", generation, slot] if _is_number(slot):
            number = _numbered("g", generation)
            return None if number is None else evaluator(number, int(slot))
        case ["eval", generation, "judge", seat] if _is_number(seat):
            number = _numbered("g", generation)
            return None if number is None else judge(number, int(seat))
        case [generation, branch, slot] if _is_number(slot) and branch:
            number = _numbered("g", generation)
            return None if number is None else candidate(number, branch, int(slot))
    return None


def _numbered(letter: str, word: str) -> int | None:
    """2 of g2; None where the word is not the letter and a number."""
    return int(word[1:]) if word[:1] == letter and _is_number(word[1:]) else None


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and (word == "0" or word[0] != "0")


@lru_cache(maxsize=4096)
def _text(order: OrderId) -> str:
    words: list[str] = []
    match order.stage:
        case "initial":
            words = ["init", str(order.slot)]
        case "final":
            words = ["final", order.branch]
        case "evaluator":
            words = ["eval"]
            if order.branch not in (FIXED, ZERO_SHOT):
                words.append(f"g{order.generation}")
            words += [order.branch] if order.branch else []
            words += [str(order.slot)] if order.slot is not None else []
        case "search":
            words = [f"g{order.generation}", order.branch, str(order.slot)]
        case _:
            words = [order.branch]
    if order.episode is not None:
        words.append(f"e{order.episode}")
    if order.part:
        words.append(order.part)
    return "/".join(words)
