"""`--estimate`: what a run would ask of its models, from the settings alone."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from memento.app.estimate import Estimate, EstimatedCalls, as_json, estimate
from memento.app.estimated_calls import kinds_of
from memento.app.past_runs import PastRun, PastTime, expected_from, past_runs
from memento.cli.estimates import describe_estimate, describe_estimates
from memento.core.errors import UsageError
from memento.core.events import ProposalMade, RunStarted
from memento.core.methods import METHODS, candidates_expected
from memento.core.values import Call, Document, Program, Usage
from memento.memory.spending import RoleSpending
from memento.memory.store import RunStore
from memento.runtime.clock import SystemClock
from memento.settings import Settings, build_settings

SONNET = "anthropic:claude-sonnet-5"
LAB = "compatible:lab@http://127.0.0.1:1/v1#qwen3"


def settings(**given: object) -> Settings:
    flags = {"domain": "hanoi-kinematic", "preset": "smoke", "model": SONNET, **given}
    assignments = flags.pop("assignments", [])
    return build_settings(flags, assignments=assignments, config=None, environment={})


async def found(**given: object) -> Estimate:
    return await estimate(settings(**given))


def part(of: Estimate, what: str) -> EstimatedCalls:
    return next(each for each in of.parts if each.what == what)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("preset", ["smoke", "quick", "paper"])
def test_every_slot_of_a_search_is_counted(method: str, preset: str) -> None:
    chosen = settings(method=method, preset=preset, evaluator="reference")
    of_search = [kind for kind in kinds_of(chosen) if kind.what != "first policy"]
    tuned = 1 if method == "cma-es" else 0      # an optimiser makes its only candidate
    assert sum(kind.calls[0] for kind in of_search) == candidates_expected(chosen.as_json()) - tuned


async def test_ranges_rise_and_add_up() -> None:
    whole = await found()
    assert {each.role for each in whole.parts} == {"proposer", "evaluator-writer", "judge"}
    for each in (*whole.parts, *whole.roles(), whole.total):
        for low, high in (each.calls, each.input_tokens, each.output_tokens, each.cost_usd):
            assert 0 < low <= high
    assert whole.total.calls[1] == sum(each.calls[1] for each in whole.roles())
    first = part(whole, "first policy")
    assert first.input_tokens == (first.calls[0] * first.prompt_tokens[0], first.calls[1] * first.prompt_tokens[1])


async def test_repairs_speculation_patches_and_a_given_program_change_it() -> None:
    usual = await found(preset="quick")
    calm = await found(preset="quick", assignments=["repairs=0", "memory_detail=summary"])
    eager = await found(preset="quick", assignments=["memory_detail=summary", "speculation=true"])
    whole = await found(preset="quick", assignments=["reply=whole"])
    climbs = [part(each, "hill-climb") for each in (calm, usual, eager)]
    assert [climb.calls[0] for climb in climbs] == [16, 16, 16]
    assert climbs[0].calls[1] < climbs[1].calls[1] < climbs[2].calls[1]
    assert part(whole, "hill-climb").reply_tokens > part(usual, "hill-climb").reply_tokens
    macros = part(whole, "macro-mutation"), part(usual, "macro-mutation")
    assert macros[0].calls == macros[1].calls
    assert macros[0].prompt_tokens < macros[1].prompt_tokens, "that it may be a patch takes words"


async def test_a_critic_counts_with_its_pictures() -> None:
    plain, critic = await found(preset="quick"), await found(preset="quick", assignments=["critic=openai:gpt-5.2"])
    looks = part(critic, "critique")
    assert looks.calls == (1, 1 + 4 * (4 + 1 + 1)), "p_0, and per generation 4 climbs, a macro-mutation, a crossover"
    assert looks.prompt_tokens[0] > 800 and looks.cost_usd is not None
    assert critic.models["critic"] == ("openai:gpt-5.2",)
    pixels = await found(preset="quick", assignments=["critic_mode=pixels"])
    assert [each.what for each in pixels.parts] == [each.what for each in plain.parts]
    for what, pictures in (("hill-climb", 1), ("macro-mutation", 1), ("crossover", 2)):
        quoted, seen, alone = (part(each, what).prompt_tokens for each in (critic, pixels, plain))
        assert alone[1] < quoted[1] < seen[1]
        assert seen[1] - alone[1] > pictures * 1_700


async def test_an_unknown_price_is_unknown_and_a_given_one_counts() -> None:
    unknown = await found(model=LAB)
    assert unknown.total.cost_usd is None
    assert "the price of a model is not known" in describe_estimate(unknown)
    assert '"cost_usd": null' in json.dumps(as_json(unknown)["total"])
    known = (await found(model=LAB, assignments=["prices.lab:qwen3={input=1.0,output=10.0}"])).total
    assert known.cost_usd == pytest.approx(tuple(
        (tokens_in + 10.0 * tokens_out) / 1e6
        for tokens_in, tokens_out in zip(known.input_tokens, known.output_tokens, strict=True)
    ), rel=0.001)


async def test_a_cache_makes_the_low_end_cheaper() -> None:
    plain = await found(preset="quick", assignments=["sampling.cache=false"])
    cached = await found(preset="quick")
    assert part(cached, "macro-mutation").cost_usd[0] < part(plain, "macro-mutation").cost_usd[0]
    assert cached.total.cost_usd[1] == plain.total.cost_usd[1]


async def test_the_offline_model_uses_no_tokens() -> None:
    mixed = await found(model="offline", judges=[SONNET, "offline"])
    spent = {each.role: each.input_tokens[1] for each in mixed.roles()}
    assert (spent["proposer"], spent["evaluator-writer"]) == (0, 0)
    votes = part(mixed, "vote")
    assert votes.input_tokens[1] == pytest.approx(votes.calls[1] * votes.prompt_tokens[1] / 2, abs=1)


async def test_what_a_run_refuses_is_refused() -> None:
    with pytest.raises(UsageError, match="price of"):
        await found(model=LAB, budget_usd=5.0)


async def test_a_budget_that_ends_the_run_earlier_is_named() -> None:
    assert "budget_calls of 2 " in describe_estimate(await found(budget_calls=2))
    assert "budget_calls" not in describe_estimate(await found(budget_calls=2000))


async def test_attacks_on_the_evaluator_are_counted() -> None:
    usual = await found(assignments=["evaluator_tests=on"])
    attacked = await found(assignments=["evaluator_tests=on", "evaluator_attacks=3"])
    attack = part(attacked, "attack on the evaluator")
    assert attack.role == "attacker" and attack.calls[0] == 1 and attack.calls[1] >= 4 and attack.prompt_tokens[0] > 500
    assert part(attacked, "evaluator revision").calls[1] >= 3, "the preset smoke has one generation"
    assert attacked.total.calls[1] > usual.total.calls[1]
    bred = await found(assignments=["evaluator_tests=on", "evaluator_attacks=3", "attacker_model=offline"])
    assert all(each.role != "attacker" for each in bred.parts), "the offline model's part is breeding"


async def test_the_moves_of_an_evaluator_are_counted() -> None:
    fixed = await found(preset="quick")
    moves = await found(preset="quick", evaluator_every=1)      # three moves in four generations
    for what, each in (("evaluator revision", 3), ("vote", 3)):
        assert part(moves, what).calls[0] == part(fixed, what).calls[0] + 3 * each


async def test_what_a_program_costs_is_not_known_and_no_price_is_asked_for() -> None:
    text = describe_estimate(await found(model="command:./agent.sh", evaluator="reference"))
    assert "what command:./agent.sh costs is not known, so there is no total" in text and "prices." not in text


# ------------------------------------------------------------------------------------------- from past runs


def past(chosen: Settings, *, calls: int, tokens: int, usd: float | None, done: bool = True) -> PastRun:
    """A run whose proposer made `calls` calls of `tokens` tokens in and half of that out."""
    each = Usage(input_tokens=tokens, output_tokens=tokens // 2, cost_usd=usd)
    return PastRun(settings=chosen, by_role={"proposer": RoleSpending().plus([each] * calls)}, done=done)


def test_an_expectation_is_the_mean_of_past_calls_times_the_calls_of_this_run() -> None:
    small, large = settings(evaluator="reference"), settings(evaluator="reference", preset="quick")
    least = {name: sum(kind.calls[0] for kind in kinds_of(each)) for name, each in (("s", small), ("l", large))}
    runs = [past(small, calls=2 * least["s"], tokens=1000, usd=0.01), past(small, calls=3, tokens=3000, usd=0.03,
                                                                             done=False)]
    found = expected_from(runs, large)
    assert found is not None
    calls = 2 * least["l"]      # a finished run needed twice the least; the other says nothing of that
    mean = (2 * least["s"] * 1000 + 3 * 3000) / (2 * least["s"] + 3)
    assert (found.runs, found.same_task, found.calls) == (2, True, calls)
    assert found.input_tokens == pytest.approx(calls * mean, abs=1)
    assert found.output_tokens == pytest.approx(calls * mean / 2, abs=1)
    assert found.cost_usd == pytest.approx(calls * mean / 1e5)


def test_without_known_calls_nothing_is_expected() -> None:
    chosen = settings(evaluator="reference")
    assert expected_from([], chosen) is None
    assert expected_from([past(chosen, calls=4, tokens=0, usd=None)], chosen) is None, "no tokens were reported"
    assert expected_from([past(chosen, calls=4, tokens=100, usd=0.1)], settings()) is None, "no judge is known"
    unpriced = expected_from([past(chosen, calls=4, tokens=100, usd=None)], chosen)
    assert unpriced is not None and unpriced.cost_usd is None


async def test_past_runs_in_the_folder_with_the_same_models_are_read(tmp_path: Path) -> None:
    chosen, other = settings(evaluator="reference"), settings(evaluator="reference", model=LAB)
    for name, each, domain in (("one", chosen, None), ("two", other, None), ("three", chosen, "hanoi")):
        started = {**each.as_json(), "domain": domain or each.domain}
        call = Call(model="m", prompt=Document("p"), reply=Document("r"), usage=Usage(
            input_tokens=2000, output_tokens=500, cost_usd=0.02))
        with RunStore.create(tmp_path / name, clock=SystemClock()) as store:
            store.append([
                RunStarted(settings=started, versions={}),
                ProposalMade(order="init/0", program=Program("x = 1"), summary="", call=call),
            ])
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.sqlite").write_text("no database")
    assert [run.settings.domain for run in past_runs([tmp_path], chosen)] == ["hanoi-kinematic"]
    text = describe_estimate(await estimate(chosen, [tmp_path]))
    least = sum(kind.calls[0] for kind in kinds_of(chosen))
    assert f"expected: {least} calls, {2000 * least:,} tokens in" in text
    assert f"${0.02 * least:.2f}; as in 1 past run of this task with the same models" in text
    assert "expected" not in describe_estimate(await estimate(chosen, [tmp_path / "empty"]))


async def test_the_time_is_that_of_finished_runs_of_the_task(tmp_path: Path) -> None:
    chosen = settings(model="offline", evaluator="reference")
    assert "time: not known before a run of this task" in describe_estimate(await estimate(chosen, [tmp_path]))
    times = (PastTime(active_s=48.0, candidates=12), PastTime(active_s=130.0, candidates=48))
    here = candidates_expected(chosen.as_json())
    text = describe_estimate(replace(await estimate(chosen), past_times=times))
    assert f"time: 2 past runs of this task took 48.0 s–2 min 10 s, with 12–48 candidates; here {here}" in text


async def test_the_runs_of_a_comparison_are_expected_together_and_unknown_ones_are_named() -> None:
    chosen = settings(evaluator="reference")
    seen = [past(chosen, calls=9, tokens=1000, usd=0.01)]
    known = replace(await estimate(chosen), expected=expected_from(seen, chosen))
    assert known.expected is not None
    text = describe_estimates("both", [("toy, memento", 3, known), ("toy, random", 2, await estimate(chosen))])
    assert f"expected: {3 * known.expected.calls} calls" in text
    assert "as in past runs with the same models, without toy, random, which none tells of" in text
    assert "expected" not in describe_estimates("none", [("toy, random", 2, await estimate(chosen))])
