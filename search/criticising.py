"""Looks of a critic before prompts: a keeper around the keeper of a run. Pure, like every keeper.

An order whose prompt shows episodes waits until a critic has looked at them, and then carries what was said. Each
recording is looked at once, by one order with one fact, so critiques are rebuilt from the log like every decision.
After a fact which says that the critic takes no pictures no look is ordered any more, unless prompts show the pictures.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..core.critique import Critique
from ..core.events import Criticised, Fact, InitialChosen, Judge, Order, Propose, Withdraw
from ..core.keeper import Decision, Keeper
from .looks import WantedLook, looks_of
from .setting_groups import EDITS, JUDGE, PartSettings, SettingGroup, Switch

_CRITIC = Switch(
    name="critic", on=lambda values: values["critic"] is not None,
    otherwise="without a critic: name one with --critic MODEL, or remove it",
)
LOOKS = SettingGroup(name="critic", parts=EDITS)
LOOKS_OF_JUDGES = SettingGroup(
    name="critic for judges", parts=EDITS, roles=frozenset({JUDGE}),
    switches=(_CRITIC, Switch(
        name="evaluator_every", on=lambda values: not values["evaluator_every"],
        otherwise="with evaluator_every, since the critic's looks for judges are at T_0 alone: remove it, or set "
        "evaluator_every to 0",
    )),
)
CALLS_OF_CRITIC = SettingGroup(name="critic's calls", parts=EDITS, switches=(_CRITIC,))


class CriticSettings(PartSettings):
    """Who looks at pictures of episodes, and who gets what."""

    critic: str | None = LOOKS.field(None, "the model that looks at pictures of episodes; none is the paper's")
    critic_mode: Literal["words", "pixels"] = LOOKS.field(
        "words", "what writers of policies get of a critic's pictures: words, or the pictures too"
    )
    critic_judges: Literal["on", "off"] = LOOKS_OF_JUDGES.field(
        "off", "judges read what the critic said of T_0, too"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An order that waits for looks."""

    order: Propose | Judge
    wanted: tuple[WantedLook, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """The state of the inner keeper, the orders that wait, and the looks by their recordings.

    `asked` maps the id of an open look to its recording; `known` has the facts of finished ones.
    """

    inner: Any
    held: tuple[Held, ...] = ()
    asked: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, Criticised] = field(default_factory=dict)
    first: str | None = None  # the id of p_0
    off: bool = False  # the critic takes no pictures


class Criticising:
    """Decides as the inner keeper does; its orders to proposers, and with `judges` to judges, wait for a critic.

    `pictures`: prompts show its pictures, so they are drawn even for a critic that takes none.
    """

    def __init__(self, inner: Keeper[Any], *, judges: bool = False, pictures: bool = False) -> None:
        self._inner = inner
        self._judges = judges
        self._pictures = pictures

    def start(self) -> Decision[Looks]:
        """The start of the inner keeper."""
        decision = self._inner.start()
        return self._adopt(Looks(inner=decision.state), decision)

    def finished(self, state: Looks) -> bool:
        """Whether the inner keeper is finished."""
        return self._inner.finished(state.inner)

    def decide(self, state: Looks, fact: Fact) -> Decision[Looks]:
        """Release what waited for this look; any other fact is the inner keeper's."""
        if not isinstance(fact, Criticised):
            return self._adopt(state, self._inner.decide(state.inner, fact))
        if fact.order is None or fact.order not in state.asked:
            return Decision(state=state)
        known = {**state.known, state.asked[fact.order]: fact}
        asked = {order: recording for order, recording in state.asked.items() if order != fact.order}
        ready = tuple(each for each in state.held if _is_ready(each, known))
        held = tuple(each for each in state.held if not _is_ready(each, known))
        orders = tuple(_with_looks(each.order, each.wanted, known) for each in ready)
        state = replace(state, known=known, asked=asked, held=held, off=state.off or fact.off)
        return Decision(state=state, orders=orders)

    def _adopt(self, state: Looks, decision: Decision[Any]) -> Decision[Looks]:
        """The decision of the inner keeper, with looks before the orders that wait for them."""
        state = replace(state, inner=decision.state)
        for fact in decision.facts:
            if isinstance(fact, InitialChosen):
                state = replace(state, first=fact.order)
        orders: list[Order] = []
        for order in decision.orders:
            if isinstance(order, Withdraw):
                state = replace(state, held=tuple(each for each in state.held if each.order.id != order.target))
            if isinstance(order, Propose | Judge):
                state, ordered = self._before(state, order)
                orders += ordered
            else:
                orders.append(order)
        return Decision(state=state, orders=tuple(orders), facts=decision.facts)

    def _before(self, state: Looks, order: Propose | Judge) -> tuple[Looks, list[Order]]:
        """The looks that an order still needs, or the order itself."""
        wanted = looks_of(order, first=state.first, judges=self._judges)
        if state.off and not self._pictures:
            wanted = tuple(each for each in wanted if each.recording in state.known)
        if all(each.recording in state.known for each in wanted):
            return state, [_with_looks(order, wanted, state.known)]
        asked = dict(state.asked)
        looks: list[Order] = []
        for each in wanted:
            if each.recording not in state.known and each.recording not in asked.values():
                asked[each.order.id] = each.recording
                looks.append(each.order)
        return replace(state, asked=asked, held=(*state.held, Held(order=order, wanted=wanted))), looks


def _is_ready(held: Held, known: Mapping[str, Criticised]) -> bool:
    return all(each.recording in known for each in held.wanted)


def _with_looks(
    order: Propose | Judge, wanted: tuple[WantedLook, ...], known: Mapping[str, Criticised]
) -> Propose | Judge:
    """The order with what was said about its episodes."""
    critiques = []
    for each in wanted:
        fact = known[each.recording]
        if fact.sheet is not None:
            critiques.append(Critique(
                candidate=each.candidate, episode=each.order.episode.index, look=fact.order or "", words=fact.words,
                sheet=fact.sheet,
            ))
    return replace(order, critiques=tuple(critiques))
