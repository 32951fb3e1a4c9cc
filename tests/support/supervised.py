"""For tests of the supervisor: a log in memory that can be full, and an agent that answers from a scripted world."""

import asyncio
import random
from collections.abc import Iterable

from memento.core.errors import StoreError
from memento.core.events import Fact, Order

from .keeper_world import World


class Log:
    """A store in memory that refuses to work after `capacity` facts, as a killed process would."""

    def __init__(self, facts: Iterable[Fact] = (), capacity: int | None = None) -> None:
        self.kept = list(facts)
        self.capacity = capacity

    def append(self, facts: Iterable[Fact]) -> None:
        facts = list(facts)
        if self.capacity is not None and len(self.kept) + len(facts) > self.capacity:
            raise StoreError("the disk is full")
        self.kept.extend(facts)

    def facts(self) -> list[Fact]:
        return list(self.kept)


class Doer:
    """Answers from the world, at random moments; records its orders and how many were open at once."""

    def __init__(self, world: World, jitter: int = 0) -> None:
        self.world = world
        self.random = random.Random(jitter)
        self.asked: list[str] = []
        self.now = 0
        self.most = 0

    async def carry_out(self, order: Order) -> Fact:
        self.asked.append(order.id)
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(self.random.randrange(4)):
            await asyncio.sleep(0)
        self.now -= 1
        return self.world.answer(order)
