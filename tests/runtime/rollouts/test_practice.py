"""Practice episodes in real processes: a bound on CPU time, and what a stopped draft said until then."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from memento.agents.replayed_tools import Repeating
from memento.agents.rollout_agents import Roller
from memento.agents.tools import Computer, Practiser
from memento.core.events import Compute, ToolAnswered, TryProgram
from memento.core.faults import FaultKind
from memento.core.ports import Practice
from memento.core.turns import Passage, ToolRequest
from memento.core.values import CallTimes, Contract, EpisodeNotes, Program
from memento.runtime.rollouts.pool import ProcessPool

from ...conformance.pool import task
from ...support import hostile

pytestmark = pytest.mark.quick

MakePool = Callable[..., ProcessPool]
SAYS = "self.n = getattr(self, 'n', 0) + 1\nself.report = {'calls': self.n}\nprint('call', self.n)\n"
HANGS = hostile.policy(
    f"{SAYS}if self.n == 3:\n    while True: pass\nreturn [0.1, 0, 0] if 'grid' in obs else ['go', 1]"
)
SEARCHES = hostile.policy(f"{SAYS}for _ in range(5_000_000): pass\nreturn [0.1, 0, 0]")  # about 50 ms a call
EVALUATOR = Program("class Evaluator:\n    def evaluate(self, arrays):\n        return 1.0, {}\n")
CONTRACT = Contract(class_name="Evaluator", methods=(("evaluate", 1),))


def order(program: Program, name: str = "g1/hill/0/tool0") -> TryProgram:
    return TryProgram(id=name, program=program, split="search", index=0, seed=7, evaluator=EVALUATOR, draft=1)


def practise(program: Program, **practice: float):
    return replace(task(program), practice=Practice(**practice))


@pytest.mark.slow
@pytest.mark.parametrize("split", ["search", "json"])
async def test_a_stopped_draft_shows_what_it_printed_and_reported(make_pool: MakePool, split: str) -> None:
    async with make_pool() as pool:
        search = await pool.roll(replace(task(HANGS), split=split))
        practice = await pool.roll(replace(practise(HANGS), split=split))
    assert search.fault == practice.fault and practice.fault is not None
    assert practice.fault.kind is FaultKind.TIMED_OUT
    assert (search.notes.printed, search.notes.report, search.notes.cpu_s) == ("", {}, 0.0)
    assert practice.notes.printed == "call 1\ncall 2\ncall 3"
    assert practice.notes.report == {"calls": 2}, "after the last call that ended"
    assert practice.notes.cpu_s > 0.3


@pytest.mark.parametrize(("ending", "kind"), [("1 / 0", "crashed"), ("return None", "invalid-action")])
async def test_a_faulty_draft_shows_its_report(make_pool: MakePool, ending: str, kind: str) -> None:
    async with make_pool() as pool:
        episode = await pool.roll(practise(hostile.policy(f"{SAYS}if self.n > 2:\n    {ending}\nreturn [0.1, 0, 0]")))
    assert episode.fault is not None and episode.fault.kind == kind
    assert episode.notes.report == {"calls": 2}
    assert "call 3" in episode.fault.traceback + episode.notes.printed


@pytest.mark.slow
async def test_practice_may_use_so_much_cpu_time_and_more_for_each_step(make_pool: MakePool) -> None:
    async with make_pool() as pool:
        whole = await pool.roll(practise(SEARCHES))
        bounded = await pool.roll(practise(SEARCHES, cpu_s=0.1, step_s=0.001))
        frugal = await pool.roll(practise(hostile.GOOD, cpu_s=0.1, step_s=0.001))
    assert whole.fault is None and frugal.fault is None
    assert bounded.fault is not None and bounded.fault.kind is FaultKind.TIMED_OUT
    assert "s of CPU time in all: 0.1 s, and 1 ms for each step" in bounded.fault.message
    assert bounded.steps < whole.steps
    assert 0.1 < bounded.notes.cpu_s < whole.notes.cpu_s


@pytest.mark.slow
@pytest.mark.parametrize("name", ["floods", "short", "for ever"])
async def test_forged_reports_end_the_episode_alone(make_pool: MakePool, name: str) -> None:
    frame = {
        "floods": "while True: os.write(3, b'\\x18\\0\\0\\0\\0\\x10\\0\\0' + b' ' * 4096)",
        "short": "os.write(3, b'\\x18\\0\\0\\0\\x02\\0\\0\\0{}' + bytes(64))",
        "for ever": "os.write(3, b'\\x18\\0\\0\\0\\xff\\xff\\xff\\x7f')",
    }[name]
    async with make_pool() as pool:
        episode = await pool.roll(practise(hostile.policy(f"{frame}\nreturn [0.1, 0, 0]")))
        after = await pool.roll(practise(hostile.GOOD))
    assert episode.fault is not None and episode.fault.kind is FaultKind.INVALID_ACTION
    assert after.fault is None and after.success


@pytest.mark.slow
async def test_an_answer_shows_cpu_times_with_two_digits_and_the_run_s_step_limit_holds(make_pool: MakePool) -> None:
    async with make_pool() as pool:
        slow = await Practiser(roller=Roller(pool=pool, step_limit_ms=4.0), pool=pool).carry_out(order(SEARCHES))
        free = await Practiser(roller=Roller(pool=pool), pool=pool).carry_out(order(SEARCHES))
    assert slow.episode.fault.kind is FaultKind.TOO_SLOW and slow.score.fitness == 0.0
    assert "call 10" in slow.answer.text and "too slow for the limit of 4 ms" in slow.answer.text
    assert free.episode.fault is None and free.score.fitness == 1.0
    for fact in (slow, free):
        assert f"CPU time in all: {fact.cpu_s:.2g} s; of a call: median " in fact.answer.text
        assert fact.cpu_s == fact.episode.notes.cpu_s and fact.score.cpu_s == 0.0


@pytest.mark.slow
async def test_a_replay_repeats_what_cpu_time_decided(make_pool: MakePool, tmp_path) -> None:
    times = CallTimes(median_ms=4.321, p99_ms=12.34, most_ms=43.21, start_ms=123.4)
    async with make_pool() as pool:
        first = Practiser(roller=Roller(pool=pool), pool=pool)
        hung, sound = await first.carry_out(order(HANGS, "a")), await first.carry_out(order(hostile.GOOD, "b"))
        hung = replace(hung, answer=Passage("as recorded"))
        assert sound.episode is not None and hung.episode is not None
        roller = Roller(pool=pool, recorded={"b": times})
        again = Repeating(Practiser(roller=roller, pool=pool, measured={"b": 98.7}), {"a": hung, "b": sound})
        assert await again.carry_out(order(HANGS, "a")) == hung
        repeated = await again.carry_out(order(hostile.GOOD, "b"))
        compute = Compute(id="c", request=ToolRequest(program=Program("print(1)")), episode=hung.episode)
        known = ToolAnswered(order="c", answer=Passage("7"), cpu_s=1.5)
        computer = Repeating(Computer(pool=pool, contract=CONTRACT, trajectories=tmp_path), {"c": known})
        assert await computer.carry_out(compute) == known
    assert repeated.episode is not None and repeated.episode.notes.times == times
    shown = "CPU time in all: 99 s; of a call: median 4.3 ms, 99 % 12 ms, most 43 ms; of loading and reset: 120 ms."
    assert shown in repeated.answer.text
    assert replace(repeated.episode, notes=EpisodeNotes(), wall_s=0.0) == replace(
        sound.episode, notes=EpisodeNotes(), wall_s=0.0
    )
