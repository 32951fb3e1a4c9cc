"""The hostile corpus through the tools of a conversation: as drafts in practice, and as code that computes."""

import asyncio
import dataclasses
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from memento.agents.rollout_agents import Roller
from memento.agents.tools import Computer, Practiser
from memento.core.events import Compute, ToolAnswered, TryProgram
from memento.core.faults import FaultKind
from memento.core.turns import ToolRequest
from memento.core.values import Contract, Episode, Program
from memento.memory.codec import encode
from memento.runtime.rollouts.pool import ProcessPool

from ....support import ON_PATH
from ....support.processes import members_of, wait_until_gone
from .arena import GOOD, LIMITS, Targets, pool, targets, task
from .attacks import ATTACKS, Attack

pytestmark = [pytest.mark.slow, pytest.mark.nightly, pytest.mark.timeout(400)]

KEY = "sk-planted-3f1b90-in-the-environment"
OTHER = "\n# the code of another candidate, 8c1f77a2\n"
SEED = 7        # of the episode, as in `task`
EVALUATOR = Program("class Evaluator:\n    def evaluate(self, arrays):\n        return 1.0, {}\n")
CONTRACT = Contract(class_name="Evaluator", methods=(("evaluate", 1),))
CALLED = {
    True: "\n\nplayed = Policy()\nplayed.reset()\nfor _ in range(3):\n"
          "    played.compute_action({'x': np.zeros(3), 'grid': np.zeros((2, 2)), 'time': np.zeros(())})\n",
    False: "\n\nprint(Evaluator().evaluate(arrays))\n",
}


@pytest.fixture
def aims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Targets]:
    """What the corpus aims at; a key is in the environment of the controller."""
    monkeypatch.setenv("PYTHONPATH", str(ON_PATH), prepend=os.pathsep)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with targets(tmp_path / "targets") as made:
        yield made


def draft(attack: Attack) -> TryProgram:
    program = Program(attack.text)
    return TryProgram(
        id=f"g1/hill/{attack.name}", program=program, split="search", index=0, seed=SEED, evaluator=EVALUATOR, draft=1
    )


def code(attack: Attack, recorded: Episode) -> Compute:
    request = ToolRequest(program=Program(attack.text + CALLED[attack.is_policy]))
    return Compute(id=f"g1/hill/{attack.name}", request=request, episode=recorded)


async def fight(running: ProcessPool, folder: Path, attacks: Sequence[Attack], *, compute: bool) -> list[ToolAnswered]:
    """All attacks through one tool; a good policy must succeed before and after."""
    good = await running.roll(task("good", GOOD.text + OTHER))
    practiser = Practiser(roller=Roller(pool=running), pool=running)
    computer = Computer(pool=running, contract=CONTRACT, trajectories=folder)
    answers = await asyncio.gather(*(
        computer.carry_out(code(attack, good)) if compute else practiser.carry_out(draft(attack)) for attack in attacks
    ))
    again = await running.roll(task("good-again", GOOD.text))
    assert good.success and again.success and good.steps == again.steps
    return answers


async def all_of(aims: Targets, folder: Path, *, compute: bool) -> dict[str, tuple[Attack, ToolAnswered]]:
    found: dict[str, tuple[Attack, ToolAnswered]] = {}
    chosen = [attack.aimed(aims.names()) for attack in ATTACKS if compute or attack.is_policy]
    for name, limits in LIMITS.items():
        mine = [attack for attack in chosen if attack.expected.get("limits", "usual") == name]
        brief = dataclasses.replace(limits, evaluator_cpu_s=0.5, evaluator_wall_s=1.0)
        async with pool(folder / name, brief, workers=2) as running:
            answers = await fight(running, folder / name, mine, compute=compute)
        found |= {attack.name: (attack, answer) for attack, answer in zip(mine, answers, strict=True)}
    return found


@pytest.mark.parametrize("tool", ["try_program", "compute"])
def test_no_attack_escapes_or_learns_what_is_secret(aims: Targets, tmp_path: Path, tool: str) -> None:
    before = members_of(os.getpid())
    found = asyncio.run(all_of(aims, tmp_path, compute=tool == "compute"))
    wait_until_gone(members_of(os.getpid()) - before)
    assert len(found) > 100
    assert aims.seen() == aims.before and aims.visited() == []
    secrets = (KEY, "a key of the user", "what another candidate recorded", "8c1f77a2", "root:x:0", "root:*:0")
    for attack, fact in found.values():
        text = encode(fact).body + fact.answer.text
        assert not [secret for secret in secrets if secret in text], attack.name
        assert len(fact.answer.text) <= 6_000, attack.name
        if tool == "try_program":
            check(attack, fact)


def check(attack: Attack, fact: ToolAnswered) -> None:
    """A draft in practice has the outcome that it has as a candidate."""
    expected, episode = attack.expected, fact.episode
    assert episode is not None and fact.score is not None
    assert episode.success == (expected.get("success", "no") == "yes")
    assert episode.ended_by == expected.get("ended", "fault"), attack.name
    if expected["fault"] == "none":
        assert episode.fault is None, (attack.name, episode.fault)
    else:
        assert episode.fault is not None, f"{attack.name} succeeded"
        assert episode.fault.kind is FaultKind(expected["fault"]), (attack.name, episode.fault)
        assert attack.says(episode.fault.message), (attack.name, episode.fault.message)
        assert fact.score.fitness == 0.0
