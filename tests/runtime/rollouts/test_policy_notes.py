"""What a policy says of itself: stages, a report, printed text. Pure bounds first, then real sandboxed processes."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.call_times import (
    call_time_words,
    call_times,
    coarse_ms,
    exact_time_words,
    times_of_all,
    without_call_times,
)
from memento.core.programs.marks import never_ran
from memento.core.recording import STAGE_CHANGES, Recording
from memento.core.recording_file import load_recording
from memento.core.values import Episode, EpisodeNotes
from memento.runtime.rollouts.episode_notes import safe_story
from memento.runtime.rollouts.generic_story import generic_story
from memento.runtime.rollouts.policy_notes import (
    ENTRIES,
    PRINTED_CHARS,
    PRINTED_LINES,
    STAGES,
    StageLog,
    parse_report,
    printed_tail,
)

from ...conformance.pool import task
from ...support.hostile import policy
from ...support.strategies import json_values

LOG_BYTES = 4096    # an episode's report in the log


# ---------------------------------------------------------------------------------------- pure bounds


@given(st.lists(st.text(max_size=40), max_size=80))
def test_steps_of_stages_add_up_and_names_are_bounded(names):
    log = StageLog()
    for step, name in enumerate(names):
        log.change(name.encode("utf-8", "replace")[:128], step)
    stages = log.stages(len(names))
    assert sum(stage.steps for stage in stages) <= len(names)
    assert len(stages) <= STAGES + 1 and all(0 < len(stage.name) <= 32 for stage in stages)
    assert [stage.first_step for stage in stages] == sorted(stage.first_step for stage in stages)
    assert stages == log.stages(len(names)), "reading changes nothing"


def test_a_stage_that_changes_at_each_step_stays_small():
    log = StageLog()
    for step in range(10_000):
        log.change(str(step).encode(), step)
    stages = log.stages(10_000)
    assert len(log.changes) == STAGE_CHANGES
    assert (len(stages), stages[-1].name, stages[-1].steps) == (STAGES + 1, "other stages", 10_000 - STAGES)


@given(st.dictionaries(st.text(max_size=100), json_values, max_size=60))
def test_every_report_becomes_small_finite_json(report):
    parsed = parse_report(json.dumps(report).encode())
    assert isinstance(parsed, dict) and len(parsed) <= ENTRIES
    assert len(json.dumps(parsed, allow_nan=False)) <= LOG_BYTES
    assert all(not isinstance(value, float) or math.isfinite(value) for value in parsed.values())


def test_hostile_reports_are_bounded_or_refused():
    assert parse_report(b'{"a": NaN, "b": 1e999, "c": {"d": [1, 2]}}') == {
        "a": "NaN", "b": "inf", "c.d.0": 1, "c.d.1": 2}
    assert parse_report(b"[1]") == "it is not a dict"
    assert "JSON" in parse_report(b"\xff{")
    for opening, closing in ((b'{"a":', b"}"), (b"[", b"]")):
        deep = b'{"a":' + opening * 3000 + b"1" + closing * 3000 + b"}"
        assert isinstance(parse_report(deep), str)
    wide = parse_report(json.dumps({f"name {number}": number for number in range(1000)}).encode())
    assert (len(wide), wide["left-out"]) == (ENTRIES, 1000 - ENTRIES + 1)
    assert parse_report(b'{"big": %d}' % 10**30) == {"big": "a number of more than 64 bits"}


@given(st.text(max_size=3000))
def test_printed_text_is_its_bounded_end(text):
    tail = printed_tail(text)
    assert len(tail) <= PRINTED_CHARS + 1 and tail.count("\n") <= PRINTED_LINES
    assert all(sign.isprintable() or sign in "\n\t" for sign in tail)


def test_the_last_lines_are_kept():
    assert printed_tail("\n".join(map(str, range(100)))).split("\n") == ["…", *map(str, range(80, 100))]


# ------------------------------------------------------------------------------------------ call times


def test_call_times_are_those_of_calls():
    times = call_times([0.001] * 98 + [0.002, 0.5], 0.03)
    assert (times.median_ms, times.p99_ms, times.most_ms, times.start_ms) == (1, 500, 500, 30)
    assert call_times([], 0.1) is None


def test_the_times_of_several_episodes() -> None:
    def rolled(*calls_s: float) -> Episode:
        notes = EpisodeNotes(times=call_times(calls_s, 0.01))
        return Episode(index=0, seed=0, steps=1, ended_by="horizon", success=False, notes=notes)

    times = times_of_all([rolled(0.001), rolled(0.003, 0.003, 0.2), rolled(0.002), rolled()])
    assert (times.median_ms, times.p99_ms, times.most_ms) == (2, 200, 200)
    assert exact_time_words(times) == (
        "CPU time of a call: median 2 ms, 99 % 200 ms, most 200 ms; of loading and reset 10 ms")
    assert times_of_all([rolled()]) is None


@given(st.floats(0, 1e6))
def test_words_for_times_are_few_and_a_replay_ignores_them(value):
    words = coarse_ms(value)
    assert without_call_times(f"It took {words}.") == "It took some ms."
    if value >= 1:
        shown = int(words.split()[1].replace(",", ""))
        assert 0.5 <= shown / value <= 1.51 and str(shown).rstrip("0") in {"1", "2", "5"}


def test_prompts_that_differ_in_times_only_are_equal_to_a_replay():
    one, two = call_times([0.0002, 0.004], 0.01), call_times([0.0002, 0.09], 2.0)
    assert call_time_words(one) == (
        "CPU time of a call: median about 2 ms, 99 % about 5 ms, most about 5 ms; of loading and reset: about 10 ms")
    assert without_call_times(call_time_words(one)) == without_call_times(call_time_words(two))
    assert without_call_times("in about 5 steps, under 10 ms") == "in about 5 steps, under 10 ms"


# ------------------------------------------------------------------------------------------- stories


class Speechless:
    """A domain whose story fails."""

    def story(self, recording):
        raise KeyError("phase\n" * 100)


def test_a_story_that_raises_gives_the_generic_one_and_one_line():
    recording = Recording(states={"x": np.arange(4.0)}, actions={"a": np.zeros(3)})
    story, problems = safe_story(Speechless(), recording)
    assert story == generic_story(recording)
    assert len(problems) == 1 and problems[0].startswith("story: the domain raised KeyError: 'phase")
    assert len(problems[0]) <= 200 and "\n" not in problems[0]


# ----------------------------------------------------------------------------- real program processes

TALKING = policy(
    "t = int(obs['time'])\nself.stage = 'approach' if t < 2 else 'push'\n"
    "print('step', t)\nself.report['worst'] = -t\nreturn [0.1, 0, 0]",
    reset="self.report = {'gain': np.float32(0.5), 'trial': {'kept': 3, 'tried': [1, 2]}}\nprint('reset')",
)
TALKING_JSON = policy(
    "self.n = getattr(self, 'n', 0) + 1\nself.stage = self.n // 4\nself.report = {'n': self.n}\nreturn ['go', 1]")


async def test_an_episode_notes_what_its_policy_says(make_pool, tmp_path):
    async with make_pool() as pool:
        episode = await pool.roll(task(TALKING))
        silent = await pool.roll(task(policy(), 1))
        spoken = await pool.roll(task(TALKING_JSON, 2, split="json"))
    notes, steps = episode.notes, episode.steps
    assert episode.success and [(s.name, s.first_step, s.entries, s.steps) for s in notes.stages] == [
        ("approach", 0, 1, 2), ("push", 2, 1, steps - 2)]
    assert notes.report == {"gain": 0.5, "trial.kept": 3, "trial.tried.0": 1, "trial.tried.1": 2, "worst": 1 - steps}
    assert notes.printed.split("\n") == ["reset", *(f"step {t}" for t in range(steps))]
    assert 0 < notes.times.median_ms <= notes.times.p99_ms <= notes.times.most_ms < 300 and notes.problems == ()
    assert notes.story.startswith("step") and notes.conditions == {"goal": "1.00"}
    recording = load_recording(tmp_path / "trajectories" / f"{episode.trajectory}.npz")
    assert recording.info["policy_stages"] == [["approach", 0], ["push", 2]]
    assert "policy_stages" not in recording.arrays() and "policy_stages" not in episode.info
    assert (silent.notes.stages, silent.notes.report, silent.notes.printed, silent.notes.problems) == ((), {}, "", ())
    assert [(stage.name, stage.first_step) for stage in spoken.notes.stages] == [("0", 0), ("1", 3)]
    assert spoken.notes.report == {"n": 6} and spoken.success


HOSTILE = {
    "raises": ("raise SystemExit(3)", "raise KeyError('x')", "raised SystemExit", "it cannot be read: KeyError"),
    "wrong types": ("return [1]", "return [1]", "not text: list", "it is a list, not a dict"),
    "huge": ("return 'x' * (1 << 20)", "return {'x': 'y' * (1 << 20)}", "x" * 32, "more than 16384"),
    "beyond memory": (
        "return ' ' * (1 << 40)", "return {'x': bytearray(10 << 30)}", "raised MemoryError", "MemoryError"),
    "deep": ("return 'a\\n\\x1b[2Jb'", "x = {}\nfor _ in range(500): x = {'x': x}\nreturn x", "a ?[2Jb", "deeply"),
    "endless": ("return 10 ** 400", "while True: pass", "a large number", "CPU time"),
    "dies": ("return '\\ud800'", "os._exit(1)", "?", "exited with code 1"),
    "forges": ("return 7", "os.write(3, b'\\x18\\0\\0\\0\\xff\\xff\\xff\\xff')\nreturn {}", "7", "4294967295 bytes"),
}


@pytest.mark.slow
async def test_no_stage_and_no_report_can_end_or_spoil_an_episode(make_pool):
    async with make_pool() as pool:
        for number, (name, (stage, report, shown, problem)) in enumerate(HOSTILE.items()):
            bodies = [f"    @property\n    def {attribute}(self):\n" + "".join(
                f"        {line}\n" for line in body.splitlines()) for attribute, body in (
                    ("stage", stage), ("report", report))]
            program = policy()
            episode = await pool.roll(task(type(program)(program.text + "".join(bodies)), number))
            assert episode.success and episode.fault is None, name
            assert [each.name for each in episode.notes.stages] == [shown], name
            assert episode.notes.report == {} and problem in episode.notes.problems[0], name
            assert len(episode.notes.problems) == 1 and len(episode.notes.problems[0]) <= 200, name


async def test_a_stage_of_each_step_and_a_flood_of_names_change_no_action(make_pool, tmp_path):
    changing = policy("self.stage = 'é' * 30 + str(obs['time'])\nreturn [0.1, 0, 0]")
    async with make_pool() as pool:
        one, other = await pool.roll(task(policy())), await pool.roll(task(changing, 0, seed=7))
        crashed = await pool.roll(task(policy(
            "self.stage = 'before'\nprint('seen')\nreturn [0.1, 0, 1 / (int(obs['time']) < 3)]")))
    assert (one.steps, one.success, one.info) == (other.steps, other.success, other.info)
    assert len(other.notes.stages) == 10
    assert crashed.fault is not None and crashed.notes.printed == "" and "seen" in crashed.fault.traceback
    assert crashed.notes.stages[0].steps == 3 and crashed.notes.times is not None


async def test_what_ran_is_noted_and_changes_no_trajectory(make_pool, tmp_path):
    body = "if obs['time'] > 99:\n    return self.again()\nreturn [0.1 + 0.01 * float(obs['time']), 0, 0]"
    marked = policy(body)
    marked = type(marked)(marked.text + "    def again(self):\n        return 1 / 0\n")
    plain = type(marked)(marked.text + "# __ran__: no marks\n")
    crashing = type(marked)(marked.text.replace("> 99", "> 1"))
    arrays = []
    async with make_pool() as pool:
        episodes = []
        for program in (marked, plain):
            episodes.append(await pool.roll(task(program)))
            arrays.append(load_recording(tmp_path / "trajectories" / f"{episodes[-1].trajectory}.npz").arrays())
        crashed = await pool.roll(task(crashing))
    one, other = episodes
    assert never_ran(marked.text, [one.notes.ran])[-1].function.endswith("again")
    assert other.notes.ran == "" and (one.steps, one.ended_by, one.info) == (other.steps, other.ended_by, other.info)
    assert all(np.array_equal(arrays[0][name], arrays[1][name]) for name in arrays[0])
    assert crashed.fault is not None and never_ran(crashing.text, [crashed.notes.ran]) == ()
    assert "return 1 / 0" in crashed.fault.traceback


async def test_a_crash_shows_the_line_and_the_sizes_of_locals(make_pool):
    crashing = policy("yaw = None\nhand = np.zeros((3, 2))\nnear = 0.25\nreturn [yaw - near, 0, 0]")
    async with make_pool() as pool:
        crashed = await pool.roll(task(crashing))
    trace = crashed.fault.traceback
    assert "return [yaw - near, 0, 0]" in trace and 'File "program.py", line' in trace
    assert "its locals: obs dict of" in trace
    assert "yaw None; hand array (3, 2) of float64; near 0.25" in trace
