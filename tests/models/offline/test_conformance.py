"""The offline model satisfies the port's contract."""

import pytest
from memento.core.events import Order
from memento.core.ports import Ask
from memento.core.values import Operator
from memento.models.offline import OfflineModel

from ...conformance.model import ModelContract
from .orders import SHELF, candidate, proposal

pytestmark = pytest.mark.quick


class TestOfflineModel(ModelContract):
    @pytest.fixture
    async def model(self):
        return OfflineModel(SHELF, run_seed=3)

    @pytest.fixture
    def questions(self):
        parent = candidate(SHELF.initial.text)
        return [
            Ask(order=proposal(Operator.MACRO, parent, slot=slot), attempt=0, role="proposer", prompt="")
            for slot in range(3)
        ]

    @pytest.fixture
    async def failing(self, model):
        return model, Ask(order=Order(id="g1/macro/0"), attempt=0, role="proposer", prompt="")
