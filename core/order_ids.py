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

An id is a text; `OrderId` is the same taken apart. Keepers handle ids by the thousand and make the ids about an
owner with `episode_id`, `score_id`, `examine_id`, `ahead_id` and `withdraw_id`, from text to text.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal, cast

INITIAL, EVALUATOR, SEARCH, FINAL = "initial", "evaluator", "search", "final"   # as in StageEntered
HILL, MACRO, CROSS = "hill", "macro", "cross"   # branches of a generation
PROGRAM, RANDOM = "initial", "random"           # independent programs, of zero-shot and of random search
JUDGE, FIXED, ZERO_SHOT = "judge", "fixed", "zero-shot"
P_0, ELITE = "initial", "elite"                 # who is measured on held-out episodes
SCORE: Final = "score"
EXAMINE: Final = "examine"
AHEAD: Final = "ahead"

Part = Literal["", "score", "examine", "ahead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderId:
    """One id, taken apart. `str()` gives the text; `parse` reads it.

    `stage` is that of StageEntered, "" for an id of another form, whose text is then `branch`. `slot` is the
    place in the branch: a slot, an attempt or a judge's seat; 0 where there is only one.
    """

    stage: str
    generation: int = 0
    branch: str = ""
    slot: int = 0
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
        return replace(self, part=SCORE)

    def examine(self) -> "OrderId":
        """The examination of this evaluator."""
        return replace(self, part=EXAMINE)

    def ahead(self) -> "OrderId":
        """The same slot, proposed before the verdict on the slot before is known."""
        return replace(self, part=AHEAD)


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


def episode_id(owner: str, index: int) -> str:
    """The rollout of episode `index` of an owner: g2/hill/7/e3."""
    return f"{owner}/e{index}"


def score_id(episode: str) -> str:
    """The scoring of an episode, by the id of its rollout: g2/hill/7/e3/score."""
    return f"{episode}/{SCORE}"


def examine_id(evaluator: str) -> str:
    """The examination of an evaluator: eval/g1/3/examine."""
    return f"{evaluator}/{EXAMINE}"


def ahead_id(slot: str) -> str:
    """The speculative proposal for a slot: g2/hill/7/ahead."""
    return f"{slot}/{AHEAD}"


def withdraw_id(order: str) -> str:
    """The withdrawal of an order. It is never answered, so that no fact has such an id."""
    return f"{order}/withdraw"


def slot_of(order: str) -> str:
    """The slot that a proposal's order is for, which is the candidate's id: g2/hill/7 of g2/hill/7/ahead."""
    return order.removesuffix(f"/{AHEAD}")


def is_ahead(order: str) -> bool:
    """Whether an order is a speculative proposal."""
    return order.endswith(f"/{AHEAD}")


def owner_of(order: str) -> str:
    """The id of the candidate, evaluator or vote that an order is about: g2/hill/7 of g2/hill/7/e3/score."""
    return split(order)[0]


def split(order: str) -> tuple[str, int | None, Part]:
    """Owner, episode and part of an id: ("g2/hill/7", 3, "score") of g2/hill/7/e3/score. The fast half of `parse`."""
    part: Part = ""
    rest, slash, last = order.rpartition("/")
    if slash and last in (SCORE, EXAMINE, AHEAD):
        order, part = rest, cast(Part, last)
        rest, slash, last = order.rpartition("/")
    episode = _numbered("e", last) if slash else None
    return (order if episode is None else rest), episode, part


@lru_cache(maxsize=4096)
def parse(text: str) -> OrderId:
    """Take an id apart. A text of another form gives stage "" and itself as the branch, so nothing raises."""
    owner, episode, part = split(text)
    found = _owner(owner)
    return found if episode is None and not part else replace(found, episode=episode, part=part)


@lru_cache(maxsize=1024)  # an owner has many episodes
def _owner(text: str) -> OrderId:
    """The id of an owner; stage "" for another form."""
    match text.split("/"):
        case ["init", slot] if _is_number(slot):
            return initial(int(slot))
        case ["final", ("initial" | "elite") as who]:
            return final(who)
        case ["eval", "fixed"]:
            return fixed_evaluator()
        case ["eval", "zero-shot", slot] if _is_number(slot):
            return zero_shot_evaluator(int(slot))
        case ["eval", word, slot] if _is_number(slot) and (number := _numbered("g", word)) is not None:
            return evaluator(number, int(slot))
        case ["eval", word, "judge", seat] if _is_number(seat) and (number := _numbered("g", word)) is not None:
            return judge(number, int(seat))
        case [word, branch, slot] if _is_number(slot) and branch and (number := _numbered("g", word)) is not None:
            return candidate(number, branch, int(slot))
    return OrderId(stage="", branch=text)


def _numbered(letter: str, word: str) -> int | None:
    """2 of g2; None where the word is not the letter and a number."""
    return int(word[1:]) if word[:1] == letter and _is_number(word[1:]) else None


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and (word == "0" or word[0] != "0")


@lru_cache(maxsize=4096)
def _text(order: OrderId) -> str:
    text = _owner_text(order)
    if order.episode is not None:
        text = episode_id(text, order.episode)
    return f"{text}/{order.part}" if order.part else text


def _owner_text(order: OrderId) -> str:
    match order.stage:
        case "initial":
            return f"init/{order.slot}"
        case "final":
            return f"final/{order.branch}"
        case "search":
            return f"g{order.generation}/{order.branch}/{order.slot}"
        case "evaluator" if order.branch == FIXED:
            return "eval/fixed"
        case "evaluator" if order.branch == ZERO_SHOT:
            return f"eval/zero-shot/{order.slot}"
        case "evaluator":
            return f"eval/g{order.generation}/{'judge/' if order.branch == JUDGE else ''}{order.slot}"
    return order.branch
