"""Every model satisfies the port's contract: each provider's client over a real socket, and all wrappers of models."""

from dataclasses import replace

import pytest
from memento.core.events import ProposalMade
from memento.core.values import Call, Document, Program
from memento.models import close_model
from memento.models.budget import Balance, Budget, BudgetedModel, Ledger
from memento.models.fallback import FallbackModel
from memento.models.tape import ReplayModel, tape_of

from ..conformance.model import ModelContract
from ..support.services import Act, serving
from .asking import DIALECT, KINDS, LIMITS, ask, client

pytestmark = pytest.mark.quick

REPEAT = Act(repeat=r"question \d+")
DOWN = Act(status=400, error={"error": {"message": "no such model"}})
SILENT = Act(ending="hang")
SHORT = replace(LIMITS, total_s=1.5, read_s=1.0, attempts=1)
ASKED = [ask(f"question {number}", order=f"g1/macro/{number}") for number in range(4)]


class Questions(ModelContract):
    """The services repeat the question, so that every answer is unique."""

    @pytest.fixture
    def questions(self):
        return ASKED


@pytest.mark.parametrize("kind", KINDS)
class TestProviders(Questions):
    @pytest.fixture
    async def model(self, kind):
        async with serving(REPEAT, dialect=DIALECT[kind]) as service:
            model = client(kind, service.url)
            yield model
            await close_model(model)

    @pytest.fixture
    async def failing(self, kind):
        async with serving(replace(DOWN, echo=True), dialect=DIALECT[kind]) as service:
            model = client(kind, service.url)
            yield model, ASKED[0]
            await close_model(model)

    @pytest.fixture
    async def silent(self, kind):
        async with serving(SILENT, dialect=DIALECT[kind]) as service:
            model = client(kind, service.url, limits=SHORT)
            yield model, ASKED[0]
            await close_model(model)


class TestBudgetedModel(Questions):
    """Wraps a client over a socket, with a budget that is never spent."""

    @staticmethod
    def budgeted(service, **options):
        return BudgetedModel(client("compatible", service.url, **options), Ledger(Balance(run=Budget(calls=1000))))

    @pytest.fixture
    async def model(self):
        async with serving(REPEAT, dialect="openai-chat") as service:
            model = self.budgeted(service)
            yield model
            await close_model(model)

    @pytest.fixture
    async def failing(self):
        """Its budget allows one call, and that fails."""
        async with serving(DOWN, dialect="openai-chat") as service:
            model = BudgetedModel(client("compatible", service.url), Ledger(Balance(run=Budget(calls=1))))
            yield model, ASKED[0]
            await close_model(model)

    @pytest.fixture
    async def silent(self):
        async with serving(SILENT, dialect="openai-chat") as service:
            model = self.budgeted(service, limits=SHORT)
            yield model, ASKED[0]
            await close_model(model)


class TestFallbackModel(Questions):
    """The first service is down, the second answers; or is down or silent as well."""

    @staticmethod
    async def pair(act, **options):
        async with serving(DOWN, dialect="openai-chat") as first, serving(act, dialect="anthropic") as second:
            model = FallbackModel([client("compatible", first.url), client("anthropic", second.url, **options)])
            yield model
            await close_model(model)

    @pytest.fixture
    async def model(self):
        async for model in self.pair(REPEAT):
            yield model

    @pytest.fixture
    async def failing(self):
        async for model in self.pair(DOWN):
            yield model, ASKED[0]

    @pytest.fixture
    async def silent(self):
        async for model in self.pair(SILENT, limits=SHORT):
            yield model, ASKED[0]


class TestReplayModel(Questions):
    """A question that the tape does not hold fails at the end of its patience."""

    TAPE = tape_of(
        ProposalMade(
            order=asked.order.id, program=Program("x"), summary="",
            call=Call(model="m", prompt=Document(asked.prompt), reply=Document(f"to {asked.prompt}")),
        )
        for asked in ASKED
    )

    @pytest.fixture
    async def model(self):
        return ReplayModel(self.TAPE)

    @pytest.fixture
    async def failing(self):
        return ReplayModel(self.TAPE), ask("another question", order=ASKED[0].order.id)

    @pytest.fixture
    async def silent(self):
        return ReplayModel(self.TAPE, patience_s=0.1), ask("question 0", order="g9/macro/0")
