"""The corpus runs once, and many tests check its outcomes."""

import asyncio
import os
from collections.abc import Iterator

import pytest

from ....support import ON_PATH
from ....support.processes import members_of
from .arena import Outcome, attack_all, targets
from .attacks import ATTACKS


@pytest.fixture(scope="session")
def fought(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, object]]:
    """Outcomes of all attacks by name, and the state of the targets."""
    given = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ON_PATH), given]))
    folder = tmp_path_factory.mktemp("corpus")
    try:
        with targets(folder / "targets") as aims:
            mine = members_of(os.getpid())
            attacks = [attack.aimed(aims.names()) for attack in ATTACKS]
            outcomes: list[Outcome] = asyncio.run(attack_all(attacks, folder))
            yield {
                "outcomes": {each.attack.name: each for each in outcomes},
                "before": aims.before, "after": aims.seen(), "visited": aims.visited(),
                "left": members_of(os.getpid()) - mine,
            }
    finally:
        if given is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = given
