"""Which node does which order, and what becomes of the orders of a lost node. No I/O and no clock.

An order is given to one node at a time, under a ticket. The answer to a ticket that is no longer open is late and is
dropped. The orders of a lost node go to the front of the queue, and one that has lost MOST_LOSSES nodes is given up.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

MOST_LOSSES: Final = 2      # an order that loses so many nodes is an error
MOST_KNOWN: Final = 50_000  # recordings whose nodes are remembered


@dataclass(slots=True, kw_only=True, eq=False)
class NodeJob:
    """One order for a node. `wants` are the keys of the recordings that it reads."""

    order: str
    wants: tuple[str, ...] = ()
    lost: list[str] = field(default_factory=list)       # the nodes that were lost with it


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A job given to a node. `slot` counts the places of all nodes, for display."""

    ticket: int
    job: NodeJob
    node: str
    slot: int


@dataclass(slots=True, kw_only=True)
class _Node:
    free: list[int]                                     # numbers of its free slots
    open: dict[int, Assignment] = field(default_factory=dict)


class Dispatcher:
    """The nodes with their slots, the waiting jobs and the open tickets. A job is given out in constant time."""

    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {}
        self._turns: deque[str] = deque()               # at least one entry for each free slot; some are out of date
        self._waiting: deque[NodeJob] = deque()
        self._open: dict[int, Assignment] = {}
        self._holders: OrderedDict[str, list[str]] = OrderedDict()      # nodes that have a recording, the newest last
        self._free_numbers: list[int] = []              # slot numbers of nodes that left
        self._numbers = 0
        self._tickets = 0

    # -------------------------------------------------------------------------------------- nodes

    @property
    def slots(self) -> int:
        """The number of places on all nodes."""
        return sum(len(node.free) + len(node.open) for node in self._nodes.values())

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes, in the order in which they joined."""
        return tuple(self._nodes)

    def load(self, node: str) -> tuple[int, int]:
        """The number of jobs on this node, and of its places."""
        known = self._nodes[node]
        return len(known.open), len(known.open) + len(known.free)

    def join(self, node: str, slots: int) -> None:
        """Add a node with this many places."""
        self._nodes[node] = _Node(free=[self._number() for _ in range(slots)])
        self._turns.extend([node] * slots)

    def leave(self, node: str) -> list[NodeJob]:
        """Remove a lost node. Its jobs wait again, before all others; those that are given up are returned."""
        gone = self._nodes.pop(node, None)
        if gone is None:
            return []
        given_up: list[NodeJob] = []
        for ticket, assignment in sorted(gone.open.items(), reverse=True):      # the oldest ends up first
            del self._open[ticket]
            assignment.job.lost.append(node)
            if len(assignment.job.lost) >= MOST_LOSSES:
                given_up.append(assignment.job)
            else:
                self._waiting.appendleft(assignment.job)
        self._free_numbers += [*gone.free, *(each.slot for each in gone.open.values())]
        return given_up

    def _number(self) -> int:
        if self._free_numbers:
            return self._free_numbers.pop()
        self._numbers += 1
        return self._numbers - 1

    # --------------------------------------------------------------------------------------- jobs

    def submit(self, job: NodeJob) -> None:
        """Let a job wait for a place."""
        self._waiting.append(job)

    def withdraw(self, job: NodeJob) -> Assignment | None:
        """Forget a job. Returns its assignment if a node has it: the place is free when the node has answered."""
        if job in self._waiting:
            self._waiting.remove(job)
            return None
        return next((each for each in self._open.values() if each.job is job), None)

    def assign(self) -> Assignment | None:
        """Give the oldest waiting job to a node; None if no job waits or no place is free."""
        if not self._waiting:
            return None
        name = self._choice(self._waiting[0].wants)
        if name is None:
            return None
        job, node = self._waiting.popleft(), self._nodes[name]
        self._tickets += 1
        made = Assignment(ticket=self._tickets, job=job, node=name, slot=node.free.pop())
        self._open[made.ticket] = node.open[made.ticket] = made
        return made

    def _choice(self, wants: Iterable[str]) -> str | None:
        """A node with a free place: one that has the recordings, else the one whose turn it is."""
        for key in wants:
            for name in reversed(self._holders.get(key, ())):
                if name in self._nodes and self._nodes[name].free:
                    return name
        while self._turns:
            name = self._turns.popleft()
            if name in self._nodes and self._nodes[name].free:
                return name
        return None

    def answered(self, ticket: int) -> Assignment | None:
        """Close a ticket and free its place; None if the answer is late."""
        assignment = self._open.pop(ticket, None)
        if assignment is not None:
            node = self._nodes[assignment.node]
            del node.open[ticket]
            node.free.append(assignment.slot)
            self._turns.append(assignment.node)
        return assignment

    # --------------------------------------------------------------------------------- recordings

    def holders(self, key: str) -> tuple[str, ...]:
        """The nodes in use that are known to have this recording."""
        return tuple(node for node in self._holders.get(key, ()) if node in self._nodes)

    def holds(self, node: str, key: str) -> bool:
        """Whether the node is known to have this recording."""
        return node in self._holders.get(key, ())

    def made(self, node: str, key: str) -> None:
        """The node made this recording: what others have under the key is out of date."""
        self._holders[key] = [node]
        self._holders.move_to_end(key)
        if len(self._holders) > MOST_KNOWN:
            self._holders.popitem(last=False)

    def sent(self, node: str, key: str) -> None:
        """The node received this recording."""
        holders = self._holders.setdefault(key, [])
        if node not in holders:
            holders.append(node)

    def dropped(self, node: str, key: str) -> None:
        """The node has this recording no more."""
        if self.holds(node, key):
            self._holders[key].remove(node)
