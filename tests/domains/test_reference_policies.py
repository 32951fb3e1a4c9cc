"""Every reference policy is a policy file: it keeps the domain's contract and runs like a candidate."""

from pathlib import Path

import pytest
from memento.agents.contract_check import check
from memento.core.ports import RollTask
from memento.domains import import_string, load
from memento.runtime.rollouts.pool import ProcessPool

from ..reference_policies import policy_program

STEPS = 40


@pytest.mark.parametrize("domain", ["hanoi", "hanoi-kinematic", "kitchen"])
def test_it_keeps_the_contract(domain: str) -> None:
    assert check(policy_program(domain), load(domain).contract) is None


@pytest.mark.parametrize("domain", ["hanoi-kinematic", "kitchen"])     # hanoi: test_reference_policy.py
async def test_it_runs_in_the_sandbox(domain: str, tmp_path: Path) -> None:
    options = load(domain).options({"horizon": STEPS}, preset="smoke")
    async with ProcessPool(
        domain=import_string(domain), splits={"test": options}, workers=1, trajectories=tmp_path,
    ) as pool:
        episode = await pool.roll(
            RollTask(order="reference", program=policy_program(domain), split="test", index=0, seed=3)
        )
    assert episode.fault is None
    assert episode.steps == STEPS
