"""Orders made by hand, as keepers would issue them."""

import asyncio
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from memento.core.events import Order, Propose
from memento.core.ports import Ask, Environment, Reply, Shelf
from memento.core.values import JSON, CandidateState, Operator, Program, Rejection
from memento.domains.hanoi import DOMAIN
from memento.models.offline import OfflineModel

SHELF: Shelf = DOMAIN.shelf()


def candidate(text: str, *, fitness: float = 0.0, metrics: Mapping[str, JSON] | None = None,
              name: str = "init/0") -> CandidateState:
    return CandidateState(id=name, program=Program(text), operator=Operator.INITIAL, generation=0, slot=0,
                     fitness=fitness, metrics=metrics or {})


def proposal(
    operator: Operator, *parents: CandidateState, slot: int = 0, rejections: tuple[Rejection, ...] = ()
) -> Propose:
    return Propose(id=f"g0/{operator}/{slot}", operator=operator, generation=0, slot=slot, parents=parents,
                   rejections=rejections)


def rejection(summary: str) -> Rejection:
    return Rejection(summary=summary, candidate="g0/hill/0", fitness_difference=-0.1, reason="lower fitness")


def answer(order: Order, *, run_seed: int = 0, attempt: int = 0, prompt: str = "") -> Reply:
    return asyncio.run(model_for(run_seed).complete(Ask(order=order, attempt=attempt, role="proposer", prompt=prompt)))


@cache
def model_for(run_seed: int) -> OfflineModel:
    return OfflineModel(SHELF, run_seed=run_seed)


def program_of(reply: Reply) -> str:
    (block,) = re.findall(r"^```python\n# whole program\n(.*?)^```$", reply.text, re.MULTILINE | re.DOTALL)
    assert reply.text.count("```") == 2
    return str(block)


def summary_of(reply: Reply) -> str:
    (line,) = re.findall(r"^Summary: (.+)$", reply.text, re.MULTILINE)
    return str(line)


def run_class(program: Program, name: str) -> Any:
    """An instance of a shelf program's class."""
    namespace: dict[str, Any] = {}
    exec(compile(program.text, name, "exec"), namespace)
    return namespace[name]()


def roll(environment: Environment, program: Program, seed: int) -> str:
    """Roll a shelf policy out. Returns the word for the end of the episode."""
    layout = environment.observation_layout
    assert layout is not None
    names, sizes = [name for name, _ in layout], np.cumsum([np.prod(shape, dtype=int) for _, shape in layout])
    policy = run_class(program, "FrankaPolicy")
    policy.reset()
    environment.reset(index=0, seed=seed)
    while True:
        parts = np.split(np.asarray(environment.observe()), sizes[:-1])
        action = policy.compute_action(dict(zip(names, parts, strict=True)))
        assert action.shape == (7,) and np.isfinite(action).all() and np.abs(action).max() <= 1
        ended = environment.step(action)
        if ended is not None:
            return ended
