"""The ids of orders: their meaning. Only this module makes and parses them.

An id names the purpose of its order, so that seeds and replays never depend on the order of arrival:

    init/0                attempt 0 at p_0                  eval/g1/3           evaluator slot 3 of generation 1
    g2/hill/7             hill-climb slot 7                 eval/g1/judge/4     judge 4 of generation 1
    g2/macro/7            macro-mutation slot 7             eval/fixed          an evaluator that the user gave
    g2/cross/2            crossover slot 2                  eval/zero-shot/1    attempt 1 at the one unevolved evaluator
    g2/random/3           slot 3 of random search           final/initial       p_0 on held-out episodes
    g2/initial/3          slot 3 of zero-shot search        final/elite         the elite on held-out episodes
    g2/tune/0             tuning slot 0                     confirm/g2/candidate  the best of g2 on fresh episodes
    g2/calibrate/0        the constants of step 2           confirm/g2/elite      the elite before it, on the same ones
    eval/probes           the recording of the probes       choice/3              program 3 of the final choice
    eval/attack/1         attack 1 on the chosen evaluator  starts/g2             further starts of a perfect elite
    eval/fix/1            the revision after attack 1       eval/kept/1         E* on the recordings of move 1

    i2/g1/cross/0         the slots of island 2, and its challenges (i2/confirm/g1/elite), where there are several

and, for one of these (its *owner*):

    …/e3                  its episode 3                     …/examine           the examination of an evaluator on T_0
    …/e3/score            the score of that episode         …/ahead             the slot, proposed speculatively
    …/attack              an attack on an evaluator
    …/v17                 values number 17 of its tuning    …/v17/e3            their episode 3
    …/turn2               turn 2 of its conversation        …/tool2             the tool that turn 2 called
    …/look2               a critic's look at its episode 2
    …/gate2               its episode 2 on the domain's cheap twin
    …/draw2               draw 2 of a what-if on the state before its order, in a separate log; an owner, too
    …/e3/move1            the score of its episode 3 by the evaluator that may replace E* in move 1

An id is a string; `OrderId` is its parsed form. Keepers handle thousands of ids and derive the ids for an owner
with `episode_id`, `score_id`, `examine_id`, `ahead_id` and `withdraw_id`, from string to string.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

INITIAL, EVALUATOR, SEARCH, FINAL = "initial", "evaluator", "search", "final"   # as in StageEntered
CONFIRM, CHOICE, STARTS = "confirm", "choice", "starts"     # in the search, but not of its slots
FRESH = frozenset({CONFIRM, CHOICE, STARTS})    # whose episodes are fresh
HILL, MACRO, TUNE, CROSS, CALIBRATE = "hill", "macro", "tune", "cross", "calibrate"     # branches of a generation
PROGRAM, RANDOM = "initial", "random"           # independent programs, of zero-shot and of random search
JUDGE, FIXED, ZERO_SHOT, PROBES = "judge", "fixed", "zero-shot", "probes"
FIX = "fix"                                     # a revision of an attacked evaluator
KEPT = "kept"                                   # the evaluator in use, on the recordings of a move
ELITE = "elite"                                 # measured on held-out episodes, next to p_0
CANDIDATE = "candidate"                         # compared with the elite on fresh episodes
RUNNER_UP = "runner-up"                         # compared with it where the candidate lost
MEETS: Final = (CANDIDATE, RUNNER_UP, ELITE)
CONDITIONS: Final = ("light", "heavy")          # changed conditions of held-out episodes, the mildest first
SCORE: Final = "score"
EXAMINE: Final = "examine"
ATTACK: Final = "attack"                        # a part of an evaluator, and the rounds of attacks on the chosen one
AHEAD: Final = "ahead"
PARTS: Final = (SCORE, EXAMINE, ATTACK, AHEAD)
TURN: Final = "turn"
TOOL: Final = "tool"
LOOK: Final = "look"
GATE: Final = "gate"
DRAW: Final = "draw"                            # of a what-if
MOVE: Final = "move"
_NUMBERED: Final = (TURN, TOOL, LOOK, GATE, MOVE)   # parts with a number, each a word of four letters

Part = str
"""One of "", "score", "examine", "attack" and "ahead", or "turn", "tool", "look", "gate" or "move" with a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderId:
    """One parsed id. `str()` returns its text; `parse` reads it.

    `stage` is a stage of StageEntered or one of FRESH; for an id of another form it is "" and `branch` holds all of it.
    `slot` is the place in the branch: a slot, an attempt or a judge's seat; 0 if there is only one.
    `vector` numbers the values that a tuning tries. `island` is 0 in a search that has only one.
    """

    stage: str
    generation: int = 0
    branch: str = ""
    slot: int = 0
    vector: int | None = None
    episode: int | None = None
    part: Part = ""
    island: int = 0

    def __str__(self) -> str:
        return _text(self)

    @property
    def owner(self) -> "OrderId":
        """The candidate, evaluator or vote of the order: the id without values, episode and part."""
        return self if self.is_owner else replace(self, vector=None, episode=None, part="")

    @property
    def is_owner(self) -> bool:
        """Whether this is the id of a candidate, an evaluator or a vote itself."""
        return self.vector is None and self.episode is None and not self.part

    @property
    def role(self) -> str:
        """The role of the model that answers the order, as in `core.ports.Ask`."""
        if self.part.startswith(LOOK):
            return "critic"
        if self.stage != EVALUATOR:
            return "proposer"
        return {JUDGE: "judge", ATTACK: "attacker"}.get(self.branch, "evaluator-writer")

    def of_episode(self, index: int) -> "OrderId":
        """The rollout of episode `index` of this owner, or of these values of a tuning."""
        return replace(self, episode=index, part="")

    def score(self) -> "OrderId":
        """The scoring of this episode."""
        return replace(self, part=SCORE)

    def examine(self) -> "OrderId":
        """The examination of this evaluator."""
        return replace(self, part=EXAMINE)

    def ahead(self) -> "OrderId":
        """The same slot, proposed before the verdict on the previous slot is known."""
        return replace(self, part=AHEAD)


def initial(attempt: int) -> OrderId:
    """Attempt `attempt` at p_0."""
    return OrderId(stage=INITIAL, slot=attempt)


def candidate(generation: int, branch: str, slot: int, *, island: int = 0) -> OrderId:
    """A slot of a generation of the policy search, or of one of its islands."""
    return OrderId(stage=SEARCH, generation=generation, branch=branch, slot=slot, island=island)


def evaluator(generation: int, slot: int) -> OrderId:
    """A slot of a pool of evaluators."""
    return OrderId(stage=EVALUATOR, generation=generation, slot=slot)


def judge(generation: int, seat: int) -> OrderId:
    """A judge's vote on the pool of a generation."""
    return OrderId(stage=EVALUATOR, generation=generation, branch=JUDGE, slot=seat)


def fixed_evaluator() -> OrderId:
    """The evaluator that the user gave."""
    return OrderId(stage=EVALUATOR, branch=FIXED)


def probes() -> OrderId:
    """The recording of the probes."""
    return OrderId(stage=EVALUATOR, branch=PROBES)


def zero_shot_evaluator(attempt: int) -> OrderId:
    """Attempt `attempt` at the one evaluator of a search without evaluator evolution."""
    return OrderId(stage=EVALUATOR, branch=ZERO_SHOT, slot=attempt)


def attack(number: int) -> OrderId:
    """Attack `number` on the chosen evaluator."""
    return OrderId(stage=EVALUATOR, branch=ATTACK, slot=number)


def fix(number: int) -> OrderId:
    """The revision of the chosen evaluator after attack `number`."""
    return OrderId(stage=EVALUATOR, branch=FIX, slot=number)


def kept_evaluator(move: int) -> OrderId:
    """The evaluator in use, examined on the recordings of this move."""
    return OrderId(stage=EVALUATOR, branch=KEPT, slot=move)


def final(who: Literal["initial", "elite"], conditions: str = "") -> OrderId:
    """The final measure of p_0 or of the elite; under changed conditions, one of CONDITIONS: final/heavy/elite."""
    return OrderId(stage=FINAL, branch=f"{conditions}/{who}" if conditions else who)


def confirmation(generation: int, who: str, *, island: int = 0) -> OrderId:
    """The fresh episodes of the best of a generation (CANDIDATE), the next one (RUNNER_UP), or the elite (ELITE)."""
    return OrderId(stage=CONFIRM, generation=generation, branch=who, island=island)


def choice(place: int) -> OrderId:
    """The fresh episodes of a program in the final choice."""
    return OrderId(stage=CHOICE, slot=place)


def fresh_starts(generation: int) -> OrderId:
    """Further starts of the elite of this generation."""
    return OrderId(stage=STARTS, generation=generation)


def episode_id(owner: str, index: int) -> str:
    """The rollout of episode `index` of an owner: g2/hill/7/e3."""
    return f"{owner}/e{index}"


def vector_id(owner: str, number: int) -> str:
    """The trial of the values with this number in a tuning: g2/tune/0/v17."""
    return f"{owner}/v{number}"


def score_id(episode: str) -> str:
    """The scoring of an episode, from the id of its rollout: g2/hill/7/e3/score."""
    return f"{episode}/{SCORE}"


def move_id(episode: str, move: int) -> str:
    """The score of an episode by the successor of this move, from the id of its rollout: g2/hill/7/e3/move1."""
    return f"{episode}/{MOVE}{move}"


def examine_id(evaluator: str) -> str:
    """The examination of an evaluator: eval/g1/3/examine."""
    return f"{evaluator}/{EXAMINE}"


def attack_id(owner: str) -> str:
    """The attack on an evaluator, or that of a round with what a model wrote for it: eval/g1/3/attack."""
    return f"{owner}/{ATTACK}"


def ahead_id(slot: str) -> str:
    """The speculative proposal for a slot: g2/hill/7/ahead."""
    return f"{slot}/{AHEAD}"


def turn_id(slot: str, turn: int) -> str:
    """Turn `turn` of the conversation about a slot: g2/hill/7/turn2. Turn 0 is the slot's own order."""
    return f"{slot}/{TURN}{turn}" if turn else slot


def tool_id(slot: str, turn: int) -> str:
    """The tool that turn `turn` called: g2/hill/7/tool2."""
    return f"{slot}/{TOOL}{turn}"


def look_id(owner: str, episode: int) -> str:
    """A critic's look at episode `episode` of a candidate: g2/hill/7/look2."""
    return f"{owner}/{LOOK}{episode}"


def gate_id(owner: str, episode: int) -> str:
    """Episode `episode` of a candidate on the domain's cheap twin: g2/hill/7/gate2."""
    return f"{owner}/{GATE}{episode}"


def draw_id(slot: str, number: int) -> str:
    """Draw `number` of a what-if on the state before the order for a slot: g2/hill/7/draw2. It is no part of a run."""
    return f"{slot}/{DRAW}{number}"


def withdraw_id(order: str) -> str:
    """The withdrawal of an order. It is never answered, so no fact has such an id."""
    return f"{order}/withdraw"


def slot_of(order: str) -> str:
    """The slot of a proposal's order, which is the candidate's id: g2/hill/7 for g2/hill/7/ahead."""
    return order.removesuffix(f"/{AHEAD}")


def is_ahead(order: str) -> bool:
    """Whether an order is a speculative proposal."""
    return order.endswith(f"/{AHEAD}")


def owner_of(order: str) -> str:
    """The id of the candidate, evaluator or vote of an order: g2/hill/7 for g2/hill/7/e3/score."""
    return split(order)[0]


def split(order: str) -> tuple[str, int | None, Part]:
    """Owner, episode and part of an id: ("g2/hill/7", 3, "score") for g2/hill/7/e3/score. The fast half of `parse`."""
    part: Part = ""
    rest, slash, last = order.rpartition("/")
    if slash and (last in PARTS or (last[:4] in _NUMBERED and _is_number(last[4:]))):
        order, part = rest, last
        rest, slash, last = order.rpartition("/")
    episode = _numbered("e", last) if slash else None
    owner = order if episode is None else rest
    return (owner if _vector(owner) is None else owner.rpartition("/")[0]), episode, part


def _vector(text: str) -> int | None:
    """The number of the values at the end of an id without episode and part."""
    rest, _, last = text.rpartition("/")
    return _numbered("v", last) if rest else None


@lru_cache(maxsize=4096)
def parse(text: str) -> OrderId:
    """Parse an id. Never raises: a text of another form gives the stage "" and the text as the branch."""
    owner, episode, part = split(text)
    found = _owner(owner)
    if episode is None and not part and owner == text:
        return found
    vector = _vector("/".join(text.split("/")[: owner.count("/") + 2]))
    return replace(found, vector=vector, episode=episode, part=part)


@lru_cache(maxsize=1024)  # an owner has many episodes
def _owner(text: str) -> OrderId:
    """The parsed id of an owner; stage "" for another form."""
    match text.split("/"):
        case [word, *rest] if (island := _numbered("i", word)):
            found = _owner("/".join(rest))
            if found.stage in (SEARCH, CONFIRM) and not found.island:
                return replace(found, island=island)
        case ["init", slot] if _is_number(slot):
            return initial(int(slot))
        case ["final", ("initial" | "elite") as who]:
            return final(who)
        case ["final", conditions, ("initial" | "elite") as who] if conditions in CONDITIONS:
            return final(who, conditions)
        case ["confirm", word, who] if who in MEETS and (number := _numbered("g", word)) is not None:
            return confirmation(number, who)
        case ["choice", place] if _is_number(place):
            return choice(int(place))
        case ["starts", word] if (number := _numbered("g", word)) is not None:
            return fresh_starts(number)
        case ["eval", "fixed"]:
            return fixed_evaluator()
        case ["eval", "probes"]:
            return probes()
        case ["eval", "zero-shot", slot] if _is_number(slot):
            return zero_shot_evaluator(int(slot))
        case ["eval", ("attack" | "fix" | "kept") as branch, slot] if _is_number(slot):
            return OrderId(stage=EVALUATOR, branch=branch, slot=int(slot))
        case ["eval", word, slot] if _is_number(slot) and (number := _numbered("g", word)) is not None:
            return evaluator(number, int(slot))
        case ["eval", word, "judge", seat] if _is_number(seat) and (number := _numbered("g", word)) is not None:
            return judge(number, int(seat))
        case [word, branch, slot] if _is_number(slot) and branch and (number := _numbered("g", word)) is not None:
            return candidate(number, branch, int(slot))
    return OrderId(stage="", branch=text)


def _numbered(letter: str, word: str) -> int | None:
    """The number after the letter, such as 2 for g2; None if the word has another form."""
    return int(word[1:]) if word[:1] == letter and _is_number(word[1:]) else None


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and (word == "0" or word[0] != "0")


@lru_cache(maxsize=4096)
def _text(order: OrderId) -> str:
    text = _owner_text(order)
    if order.vector is not None:
        text = vector_id(text, order.vector)
    if order.episode is not None:
        text = episode_id(text, order.episode)
    return f"{text}/{order.part}" if order.part else text


def _owner_text(order: OrderId) -> str:
    if order.island:
        return f"i{order.island}/{_owner_text(replace(order, island=0))}"
    match order.stage:
        case "initial":
            return f"init/{order.slot}"
        case "final":
            return f"final/{order.branch}"
        case "confirm":
            return f"confirm/g{order.generation}/{order.branch}"
        case "choice":
            return f"choice/{order.slot}"
        case "starts":
            return f"starts/g{order.generation}"
        case "search":
            return f"g{order.generation}/{order.branch}/{order.slot}"
        case "evaluator" if order.branch in (FIXED, PROBES):
            return f"eval/{order.branch}"
        case "evaluator" if order.branch in (ZERO_SHOT, ATTACK, FIX, KEPT):
            return f"eval/{order.branch}/{order.slot}"
        case "evaluator":
            return f"eval/g{order.generation}/{'judge/' if order.branch == JUDGE else ''}{order.slot}"
    return order.branch
