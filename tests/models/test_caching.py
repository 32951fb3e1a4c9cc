"""Prompt caches: what is marked, what is counted and priced, and which of several equal calls goes first."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.ports import Ask
from memento.core.text import token_count, tokens_of_call
from memento.core.values import Usage
from memento.memory.spending import RoleSpending
from memento.models import close_model
from memento.models.prices import Price
from memento.models.prompt_cache import MAX_POINTS, WORTH_CHARACTERS, FirstGoes, pieces

from ..support.prompt_cache import PromptCache, blocks_of, marked_ends, prompt_of
from ..support.services import Act, serving
from .asking import DIALECT, KINDS, LIMITS, JumpingClock, ask, client

CONSTANT = "The task, the interface and the rules. " * 120    # 4,680 characters, 1,170 tokens
PARENT = "The parent program. " * 100
STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
WAITING = replace(LIMITS, cache_wait_s=60.0)


def question(rest: str, *, order: str = "g1/macro/0", role: str = "proposer") -> Ask:
    prompt = CONSTANT + PARENT + rest
    prefixes = (len(CONSTANT), len(CONSTANT) + len(PARENT))
    return replace(ask(prompt, order=order, role=role), prefixes=prefixes)


@STREAMED
@pytest.mark.parametrize("kind", KINDS)
async def test_cached_tokens_are_counted_and_priced(kind: str, stream: bool) -> None:
    price = {"lab:qwen3:8b": Price(input_usd_per_mtok=2.0, output_usd_per_mtok=0.0, cached_usd_per_mtok=0.2)}
    async with serving(Act(cache=PromptCache()), dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, stream=stream, prices=price)
        first, second = [(await model.complete(question(rest))).usage for rest in ("First.", "Second, longer.")]
        await close_model(model)
    whole = len(CONSTANT + PARENT + "First.") // 4
    shared = len(CONSTANT + PARENT) // 4
    assert first.input_tokens == whole
    assert (first.cached_tokens, second.cache_written_tokens) == (0, 0)
    if kind == "anthropic":
        assert (first.cache_written_tokens, second.cached_tokens) == (shared, shared)
    else:
        assert (first.cache_written_tokens, second.cached_tokens) == (0, shared // 128 * 128)
    assert first.cost_usd is not None
    assert second.cost_usd is not None
    assert second.cost_usd < 0.4 * first.cost_usd, "what comes from the cache costs a tenth"
    assert [prompt_of(DIALECT[kind], body) for body in service.asked] == [
        question(rest).prompt for rest in ("First.", "Second, longer.")
    ]


@pytest.mark.parametrize("role", ["proposer", "judge"])
async def test_anthropic_gets_a_mark_at_every_repeated_beginning(role: str) -> None:
    asked = question("Now.", role=role)
    async with serving(dialect="anthropic") as service:
        model = client("anthropic", service.url)
        await model.complete(asked)
        await model.complete(replace(asked, prompt=asked.prompt[: asked.prefixes[-1]]))  # the same to its end
        await close_model(model)
    assert [marked_ends(blocks_of("anthropic", body)) for body in service.asked] == [list(asked.prefixes)] * 2


@pytest.mark.parametrize("kind", ["openai", "openai-chat", "compatible"])
async def test_a_service_that_finds_repeated_beginnings_itself_gets_one_plain_text(kind: str) -> None:
    async with serving(dialect=DIALECT[kind]) as service:
        model = client(kind, service.url)
        await model.complete(question("Now."))
        await close_model(model)
    assert [block["text"] for block in blocks_of(DIALECT[kind], service.asked[0])] == [question("Now.").prompt]


async def test_marks_can_be_switched_off() -> None:
    async with serving(dialect="anthropic") as service:
        model = client("anthropic", service.url, cache=False)
        await model.complete(question("Now."))
        await close_model(model)
    assert marked_ends(blocks_of("anthropic", service.asked[0])) == []


@STREAMED
@pytest.mark.parametrize("kind", ["anthropic", "openai"])
async def test_of_equal_calls_one_goes_first_and_the_others_read_the_cache(kind: str, stream: bool) -> None:
    async with serving(Act(cache=PromptCache(prefill_s=0.1)), dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, stream=stream, limits=WAITING)
        calls = [model.complete(question("Now.", order=f"g1/macro/{slot}")) for slot in range(4)]
        usages = [reply.usage for reply in await asyncio.gather(*calls)]
        await close_model(model)
    assert [usage.cached_tokens > 0 for usage in usages] == [False, True, True, True]


async def test_calls_to_a_compatible_server_do_not_wait() -> None:
    async with serving(Act(cache=PromptCache(prefill_s=0.1)), dialect="openai-chat") as service:
        model = client("compatible", service.url, limits=WAITING)
        await asyncio.gather(*(model.complete(question("Now.")) for _ in range(3)))
        await close_model(model)
    assert service.most_in_flight == 3


@STREAMED
async def test_after_a_first_call_that_fails_the_others_are_answered(stream: bool) -> None:
    refused = Act(status=400, error={"error": {"message": "bad", "type": "invalid_request_error"}})
    async with serving(refused, Act(text="Hello."), dialect="anthropic") as service:
        model = client("anthropic", service.url, stream=stream, limits=WAITING)
        outcomes = await asyncio.gather(
            *(model.complete(question("Now.", order=f"g1/macro/{slot}")) for slot in range(3)), return_exceptions=True
        )
        await close_model(model)
    assert [isinstance(outcome, Exception) for outcome in outcomes] == [True, False, False]


# ------------------------------------------------------------------------------------------------ who goes first


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_call_that_is_withdrawn_while_it_waits_holds_nobody_up() -> None:
    first_goes = FirstGoes(60.0)
    went: list[int] = []
    done = asyncio.Event()

    async def call(number: int) -> None:
        async with first_goes.turn(question("Now.")):
            went.append(number)
            await done.wait()

    calls = [asyncio.create_task(call(number)) for number in range(3)]
    await settle()
    assert went == [0]
    calls[1].cancel()
    await settle()
    assert went == [0]
    calls[0].cancel()   # the first one: the others go, and the call after them is a first one again
    await settle()
    assert went == [0, 2]
    calls += [asyncio.create_task(call(number)) for number in (3, 4)]
    await settle()
    assert went == [0, 2, 3]
    done.set()
    await asyncio.gather(*calls, return_exceptions=True)
    assert went == [0, 2, 3, 4]


async def test_the_others_wait_for_a_bounded_time() -> None:
    first_goes = FirstGoes(0.01)
    async with first_goes.turn(question("Now.")), asyncio.timeout(20), first_goes.turn(question("Now.")):
        pass


async def test_the_first_event_of_a_response_lets_the_others_go() -> None:
    first_goes = FirstGoes(3600.0)
    async with first_goes.turn(question("Now.")) as begun:
        begun()
        async with asyncio.timeout(20), first_goes.turn(question("Later.")):
            pass


async def test_a_beginning_that_the_service_forgot_is_sent_by_one_call_again() -> None:
    clock = JumpingClock()
    first_goes = FirstGoes(0.01, elapsed=clock.elapsed)
    firsts = []
    for pause_s in (0.0, 200.0, 200.0, 301.0):
        await clock.sleep(pause_s)
        async with first_goes.turn(question("Now.")) as begun:
            firsts.append(begun.__name__ == "set")
            begun()
    assert firsts == [True, False, False, True]


async def test_short_beginnings_never_wait() -> None:
    first_goes = FirstGoes(3600.0)
    short = replace(question("Now."), prefixes=(WORTH_CHARACTERS - 1,))
    async with asyncio.timeout(20), first_goes.turn(short), first_goes.turn(short):
        pass


# ------------------------------------------------------------------------------------------ pure parts, in words


@given(st.text(alphabet="ab \n", max_size=60), st.lists(st.integers(-5, 70), max_size=8))
def test_the_pieces_are_the_prompt(prompt: str, prefixes: list[int]) -> None:
    cut = pieces(prompt, prefixes)
    assert "".join(cut) == prompt
    assert len(cut) <= MAX_POINTS + 1
    assert all(piece.strip() for piece in cut) or not prompt.strip()


def test_prices_given_for_the_cache() -> None:
    plain = Price(input_usd_per_mtok=10.0, output_usd_per_mtok=50.0)
    cheap = replace(plain, cached_usd_per_mtok=1.0, cache_written_usd_per_mtok=12.5)
    assert plain.of(1e6, 1e6, cached=8e5, cache_written=1e5) == pytest.approx(60.0)
    assert cheap.of(1e6, 1e6, cached=8e5, cache_written=1e5) == pytest.approx(1.0 + 0.8 + 1.25 + 50.0)


def test_cached_tokens_are_added_up_and_shown() -> None:
    usage = Usage(input_tokens=9000, output_tokens=40, cached_tokens=8000, cache_written_tokens=500)
    spent = RoleSpending().plus([usage, usage])
    assert (spent.cached_tokens, spent.cache_written_tokens) == (16000, 1000)
    assert token_count(spent.tokens, spent.cached_tokens) == "18,080 tokens (16,000 cached)"
    assert token_count(1234) == "1,234 tokens"
    shown = tokens_of_call(9000, 40, cached=8000, cache_written=500)
    assert shown == "9,000 tokens in (8,000 cached, 500 written to the cache), 40 out"
    assert tokens_of_call(9000, 40) == "9,000 tokens in, 40 out"
