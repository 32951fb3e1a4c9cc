"""A critic in runs of the real program over a real socket: what it sees, who reads it, kills, replays, refusals."""

import asyncio
import hashlib
import re
from io import BytesIO
from pathlib import Path

import pytest
from memento.app.budgets import require_usable
from memento.app.sight import QUESTION, refuse_text_models
from memento.core.call_times import without_call_times
from memento.core.errors import UsageError
from memento.core.events import CandidateScored, Criticised, EliteChanged, Fact, ProposalMade, VoteCast
from memento.core.order_ids import owner_of
from memento.settings import build_settings
from PIL import Image

from ..support import ON_PATH
from ..support.language_server import program_reply, serving
from ..support.processes import members_of, wait_until_gone
from ..support.services import Act
from .conftest import Runs
from .served import call, finish, of, start

POLICY = """
class P:
    def reset(self):
        pass
    def compute_action(self, obs):
        return [{speed}]
"""
EVALUATOR = """
class Evaluator:
    def evaluate(self, trajectory):
        x = trajectory["x"]
        far = [row for row in range(len(x)) if x[row] >= 8]
        metrics = {{"first_step_at_8": far[0] if far else None, "first_step": 0, "success": False, "number": {number}}}
        return min(1.0, max(0.0, float(x[-1]) / 40)), metrics
"""
RUN = [
    "run", "painter:DOMAIN", "--name", "one", "--preset", "smoke", "--seed", "5", "--workers", "2",
    "--set", "n_roll=2", "--set", "k_hc=2", "--set", "k_macro=2", "--set", "k_cross=1",
    "--set", "reply=whole", "--set", "options.horizon=30",
]
WORDS = " ".join(["frame 4: the square has stopped;"] + ["word"] * 150)
HEADING = "What a critic said that looked at "


def answer(number: int, prompt: str) -> Act:
    """Programs that move faster and faster, votes, and critiques that are too long."""
    if prompt == QUESTION:
        return Act(text="Blue.")
    if "You look at one recorded episode" in prompt:
        return Act(text=WORDS)
    if '"choice"' in prompt:
        return Act(text='{"reason": "It tells failures apart.", "choice": "A"}')
    if "class `Evaluator`" in prompt:
        return Act(text=program_reply(EVALUATOR.format(number=number), f"number {number}"))
    kind = re.search(r"## What to write: a (micro|macro|cross)", prompt)
    speed = {"micro": 0.3, "macro": 0.25, "cross": 0.2}[kind[1]] + 0.01 * number if kind else 0.1
    return Act(text=program_reply(POLICY.format(speed=f"{speed:.3f}"), f"speed {speed:.3f}"))


@pytest.fixture
def evaluator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(ON_PATH), prepend=":")
    path = tmp_path / "evaluator.py"
    path.write_text(EVALUATOR.format(number=0))
    return path


def looked(facts: list[Fact]) -> dict[str | None, object]:
    """Everything about the looks of a run but times."""
    return {fact.order: (fact.candidate, fact.episode, fact.sheet, fact.words, fact.call.prompt)
            for fact in of(facts, Criticised)}


def prompts_of(facts: list[Fact]) -> dict[str, str]:
    """The prompts of the proposals, by candidate."""
    return {owner_of(str(fact.order)): without_call_times(fact.call.prompt.text) for fact in of(facts, ProposalMade)}


@pytest.mark.slow
@pytest.mark.timeout(200)
async def test_later_prompts_quote_the_critic_and_kills_and_replays_change_nothing(
    runs: Runs, evaluator: Path
) -> None:
    async with serving(answer) as service:
        models = ["--model", service.model, "--critic", service.model]
        process = await start(runs, *RUN, "--set", "generations=2", "--evaluator", str(evaluator), *models)
        async with asyncio.timeout(60):
            await service.wait_for_requests(5)
        started = members_of(process.pid)
        process.kill()
        await process.communicate()
        await asyncio.to_thread(wait_until_gone, started)
        await finish(await start(runs, "resume", "one"))
        total, images = len(service.prompts), list(service.images)
        asked = list(service.prompts)
        tape = str(runs.folder / "one.tape.xz")
        await finish(await start(runs, "export", "one", "--to", "tape", "--out", tape))
        replay = await call(runs, "run", "--replay", tape, "--name", "again", "--trust")
        assert len(service.prompts) == total, "a replay calls no service"
    facts = runs.facts("one")
    looks = of(facts, Criticised)
    assert looked(facts) == looked(runs.facts("again"))
    assert prompts_of(facts) == prompts_of(runs.facts("again"))
    assert not (runs.folder / "again" / "sheets").exists(), "a replay draws nothing"
    assert len({fact.order for fact in looks}) == len(looks) >= 3
    shown = {fact.candidate: fact for fact in looks}
    check_prompts(facts, shown)
    with_pictures = [prompt for prompt, pictures in zip(asked, images, strict=True) if pictures]
    assert all("You look at one recorded episode" in prompt or prompt == QUESTION for prompt in with_pictures)
    # A look that was under way at the kill may be asked again; nothing else, and nothing that is on the log.
    assert len(looks) <= len(with_pictures) - 1 <= len(looks) + 2
    kept = [fact for fact in looks if fact.candidate in {each.candidate for each in of(facts, EliteChanged)}]
    for fact in kept:
        check_sheet(runs.folder / "one", fact)
    files = {path.name for path in (runs.folder / "one" / "sheets").iterdir()}
    assert files == {fact.sheet.file for fact in kept}, "a sheet stays as long as its recording"
    assert replay["candidates"] == 10


def check_prompts(facts: list[Fact], shown: dict[str, Criticised]) -> None:
    """Every prompt that shows a program quotes what was said about it."""
    parents = {fact.candidate.id: fact.candidate.parents for fact in of(facts, CandidateScored)}
    for name, prompt in prompts_of(facts).items():
        if name == "init/0":
            assert HEADING not in prompt
            continue
        assert {*parents[name]} <= shown.keys()
        assert prompt.count(HEADING) == len({*parents[name]}), name
        for parent in parents[name]:
            assert shown[parent].words in prompt
            assert re.search(rf"looked at 9 frames of episode {shown[parent].episode}[. ]", prompt)
    elites = [fact.candidate for fact in of(facts, EliteChanged)]
    assert {*elites[:-1]} <= shown.keys(), "the last elite is shown in no prompt"


def check_sheet(run: Path, fact: Criticised) -> None:
    """The words are bounded, the picture is the one of the digest, and nothing says whether the task succeeded."""
    words = fact.words.split()
    assert len(words) == 121 and words[-1] == "…"
    data = (run / "sheets" / fact.sheet.file).read_bytes()
    assert hashlib.sha256(data).hexdigest() == fact.sheet.digest
    with Image.open(BytesIO(data)) as picture:
        assert picture.format == "JPEG" and max(picture.size) < 1300
    assert len(fact.sheet.frames) == 9
    assert [fact.sheet.frames[place].row for place in (0, -1)] == [0, 30]
    prompt = fact.call.prompt.text
    assert "success" not in prompt
    assert "frame 9, step 30: x is " in prompt
    assert fact.call.usage.input_tokens == 11


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_critic_that_refuses_pictures_is_off_and_the_search_goes_on(runs: Runs, evaluator: Path) -> None:
    def refusing(number: int, prompt: str) -> Act:
        if "You look at one recorded episode" in prompt:
            error = {"message": "This model takes no image input.", "type": "invalid_request_error"}
            return Act(status=400, error={"error": error})
        return answer(number, prompt)

    async with serving(refusing) as service:
        models = ["--model", service.model, "--critic", service.model, "--evaluator", str(evaluator)]
        out, said = await finish(await start(runs, *RUN, "--set", "generations=2", *models))
        total = len(service.prompts)
        looks = [prompt for prompt in service.prompts if "You look at one recorded episode" in prompt]
        assert len(looks) == 1, "nobody asks it again"
        await call(runs, "run", "--replay", "one", "--name", "again")
        assert len(service.prompts) == total
    facts = runs.facts("one")
    assert [(fact.off, fact.words) for fact in of(facts, Criticised)] == [(True, "")]
    assert "takes no image input. (the question had a picture)" in of(facts, Criticised)[0].problem
    assert (out + said).count("critic off") == 1
    assert not any(HEADING in prompt for prompt in prompts_of(facts).values())
    assert of(facts, Criticised) == of(runs.facts("again"), Criticised)
    assert prompts_of(facts) == prompts_of(runs.facts("again"))


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_pixels_go_to_the_writers_themselves(runs: Runs, evaluator: Path) -> None:
    more = ["--set", "critic_mode=pixels", "--set", "generations=1", "--set", "proposer_turns=1"]
    async with serving(answer) as service:
        await call(runs, *RUN, *more, "--evaluator", str(evaluator), "--model", service.model)
        asked = list(zip(service.prompts, service.images, strict=True))
        await call(runs, "run", "--replay", "one", "--name", "again")
        assert len(service.prompts) == len(asked)
    facts = runs.facts("one")
    looks = {fact.candidate: fact for fact in of(facts, Criticised)}
    assert all(fact.call is None and fact.sheet and not fact.words for fact in looks.values())
    assert not any("You look at one recorded episode" in prompt for prompt, _ in asked)
    digests = {fact.sheet.digest: fact for fact in looks.values()}
    for prompt, pictures in asked:
        named = re.findall(r"Picture (\d) \(sheet (\w+)\)", prompt)
        assert len(pictures) == len(named) or prompt == QUESTION
        for place, digest in named:
            data = pictures[int(place) - 1]
            assert hashlib.sha256(data).hexdigest() in digests and hashlib.sha256(data).hexdigest().startswith(digest)
    assert prompts_of(facts) == prompts_of(runs.facts("again"))


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_judges_may_read_it_too(runs: Runs, evaluator: Path) -> None:
    more = ["--set", "critic_judges=on", "--set", "generations=1", "--set", "evaluator_pool=2"]
    async with serving(answer) as service:
        await call(runs, *RUN, *more, "--model", service.model, "--critic", service.model)
    facts = runs.facts("one")
    votes = of(facts, VoteCast)
    look = of(facts, Criticised)[0]
    assert votes and all(look.words in fact.call.prompt.text for fact in votes)
    assert look.candidate == "init/0" and "No evaluator has scored this episode yet." in look.call.prompt.text
    first = prompts_of(facts)["g1/macro/0"]
    assert HEADING in first, "the same look serves writers of policies"
    assert len({fact.order for fact in of(facts, Criticised)}) == len(of(facts, Criticised))


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_what_cannot_see_or_draw_is_refused_before_anything_is_spent(runs: Runs, evaluator: Path) -> None:
    def blind(number: int, prompt: str) -> Act:
        return Act(status=400, error={"error": {"message": "image input is not supported", "type": "invalid"}})

    async with serving(blind) as service:
        given = ["--evaluator", str(evaluator), "--model", service.model, "--critic", service.model]
        _, said = await finish(await start(runs, *RUN, *given), code=2)
        assert "the critic did not answer a question with a picture" in said and "not supported" in said
        assert service.prompts == [QUESTION]
        plain = [word.replace("painter:DOMAIN", "painter:PLAIN") for word in RUN]
        _, said = await finish(await start(runs, *plain, *given), code=2)
        assert "a critic needs pictures, and the domain 'slide' draws none" in said
        assert service.prompts == [QUESTION]
    assert not [*runs.folder.glob("*")]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["critic=openai:gpt-5.2"], "'critic' has no effect with the offline model"),
        (["model=openai:m", "critic=offline"], "'offline' takes no images, so it cannot be the critic"),
        (["model=openai:m", "critic=openai:gpt-3.5-turbo"], "takes no images, so it cannot be the critic"),
        (["model=openai:o3-mini", "critic_mode=pixels"], "cannot be the model with critic_mode = 'pixels'"),
        (["model=openai:m", "critic_judges=on"], "'critic_judges' has no effect without a critic"),
        (["model=openai:m", "budget.critic.calls=3"], "'budget.critic.calls' has no effect without a critic"),
        (["model=openai:m", "critic=openai:m", "method=random"], "'critic' has no effect"),
        (["model=openai:m", "critic=openai:m", "critic_judges=on", "evaluator=reference"], "'critic_judges' has no"),
        (["model=openai:gpt-5.2", "critic=openai:unpriced", "budget_usd=3"], "unpriced"),
    ],
)
def test_settings_without_effect_are_refused(more: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        settings = build_settings({"domain": "hanoi-kinematic"}, assignments=more, environment={})
        refuse_text_models(settings)
        require_usable(settings)
