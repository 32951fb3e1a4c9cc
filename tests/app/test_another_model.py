"""A run whose model is retired goes on with another one, which its log records and its views show."""

import pytest
from memento.core.events import ProposalMade, RunResumed
from memento.memory.run_status import status_of
from memento.memory.store import RunStore
from memento.settings import settings_in

from ..support.language_server import serving, sound_reply
from ..support.services import Act
from .conftest import Runs
from .served import SHORT, call, finish, of, start


@pytest.mark.slow
async def test_a_run_goes_on_with_another_model(runs: Runs) -> None:
    retired = False

    def answer(number: int, prompt: str) -> Act:
        if retired:
            return Act(status=404, error={"error": {"message": "The model is deprecated."}})
        return Act(text=sound_reply(number, prompt))

    async with serving(answer) as service:
        arguments = ("hanoi-kinematic", *SHORT, "--name", "one", "--evaluator", "reference", "--set", "repairs=0")
        await call(runs, "run", *arguments, "--model", service.model, "--budget-calls", "2")
        retired = True
        _, said = await finish(await start(runs, "resume", "one", "--budget-calls", "100"), code=3)
        assert "is not known there (HTTP 404)" in said and "memento resume --model" in said
        retired = False
        other = service.model.replace("toy-1", "toy-2")
        done = await call(runs, "resume", "one", "--budget-calls", "100", "--model", other)
        assert done["status"] == "done"
    facts = runs.facts("one")
    assert [fact.model for fact in of(facts, RunResumed)][-1] == other
    made = [fact.call.model for fact in of(facts, ProposalMade)]
    assert made[0] == "lab:toy-1" and made[-1] == "lab:toy-2"
    settings = settings_in(facts)
    assert settings is not None and settings.model == other
    with RunStore.read(runs.folder / "one") as store:
        shown = status_of(store.facts_after(0))
    assert shown.settings["model"] == f"{service.model},{other}", "no other run has this model"
    _, said = await finish(await start(runs, "resume", "one", "--model", other), code=2)
    assert "is done: a model has no effect any more" in said
