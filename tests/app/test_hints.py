"""A person's hints in a run of the real program over a real socket, and where a hint has no effect."""

from pathlib import Path

import pytest
from memento.app.hints import give_hint
from memento.app.requests import Requests
from memento.cli.stop import hint
from memento.core.call_times import without_call_times
from memento.core.errors import UsageError
from memento.core.events import Fact, HintGiven, ProposalMade
from memento.memory.store import RunStore
from memento.runtime.bus import EventBus
from memento.runtime.clock import SystemClock

from ..support.language_server import serving, sound_reply
from ..support.services import Act
from .conftest import Runs
from .served import SHORT, call, of

RUN = ["run", "hanoi-kinematic", *SHORT, "--name", "one", "--evaluator", "reference", "--set", "calls_at_once=1"]
HEADING = "## From the person who runs this search"


@pytest.mark.slow
@pytest.mark.timeout(200)
async def test_following_prompts_quote_a_hint_and_a_replay_is_exact(
    runs: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = runs.folder / "one"

    def act(number: int, prompt: str) -> Act:
        if number == 1:
            hint("one", "keep the wrist level", runs=runs.folder)
            give_hint(folder, "and the fingers\nopen")
        return Act(text=sound_reply(number, prompt))

    async with serving(act) as service:
        whole = await call(runs, *RUN, "--model", service.model, "--set", "generations=4")
        prompts = list(service.prompts)
        replay = await call(runs, "run", "--replay", "one", "--name", "again")
        assert service.prompts == prompts
    assert "one quotes the hint in its prompts from now on" in capsys.readouterr().err
    quoted = [prompt.partition(HEADING)[2].partition("\n## ")[0] for prompt in prompts]
    counts = [text.count("\n- ") for text in quoted]
    assert counts == sorted(counts) and counts[0] == 0 and counts[-1] == 2
    assert "- keep the wrist level\n- and the fingers open" in quoted[-1]
    texts = [[fact.text for fact in of(runs.facts(name), HintGiven)] for name in ("one", "again")]
    assert texts == [["keep the wrist level", "and the fingers open"]] * 2
    same = ("elite", "fitness", "candidates", "model_calls", "tokens", "hints")
    assert {key: replay[key] for key in same} == {key: whole[key] for key in same}
    assert whole["hints"] == 2

    def hinted(name: str) -> dict:
        made = of(runs.facts(name), ProposalMade)
        return {fact.order: (fact.hints, without_call_times(fact.call.prompt.text)) for fact in made}

    assert hinted("again") == hinted("one")
    for run, text, words in (
        (folder, " \n", "is empty"), (folder, "x" * 601, "601 characters"), (folder, "late", "is done: a hint has no"),
    ):
        with pytest.raises(UsageError, match=words):
            give_hint(run, text)


def test_hints_become_facts_and_other_requests_wait_for_the_supervisor(tmp_path: Path) -> None:
    seen: list[Fact] = []
    with RunStore.create(tmp_path / "run", clock=SystemClock()) as store:
        for kind, body in (("pause", {}), ("hint", {"text": "one"}), ("stop", {}), ("hint", {"text": "two"})):
            store.request(kind, body, at=1.0)
        bus = EventBus(store)
        bus.subscribe(seen.append)
        requests = Requests(store, bus)
        requests.take()
        assert seen == [HintGiven(text="one"), HintGiven(text="two")] == list(store.facts())
        assert requests.kinds() == ["pause", "stop"]
        assert requests.kinds() == []
