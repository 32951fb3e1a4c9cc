"""`command:PROGRAM`: real programs are asked, bounded, and ended with everything that they started."""

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest
from memento.core.errors import ModelError, UsageError
from memento.models import ClientSettings, make_model, open_model
from memento.models import command_model as command_module
from memento.models.call_limits import CallLimits
from memento.models.command_programs import digests_of, with_absolute_programs

from ..conformance.model import ModelContract
from .asking import ask

pytestmark = pytest.mark.quick

LAST_QUESTION = "grep -o 'question [0-9]*' | tail -n 1"
SECRET = "sk-planted-5e2f0c-do-not-print"


def asked(text: str, *, total_s: float = 60.0, environ: dict[str, str] | None = None):
    settings = ClientSettings(limits=CallLimits(total_s=total_s))
    return make_model(f"command:{text}", settings=settings, environ={**os.environ, **(environ or {})})


def script(folder: Path, body: str, *, name: str = "answer.sh") -> Path:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o700)
    return file


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def gone(pid: int) -> bool:
    for _ in range(200):
        if not is_alive(pid):
            return True
        await asyncio.sleep(0.05)
    return False


def written(file: Path) -> str:
    return file.read_text().strip() if file.exists() else ""


async def read_pid(file: Path) -> int:
    for _ in range(400):
        if text := written(file):
            return int(text)
        await asyncio.sleep(0.05)
    raise AssertionError(f"{file} was not written")


class TestCommandModel(ModelContract):
    @pytest.fixture
    def questions(self):
        return [ask(f"question {number}", order=f"g1/macro/{number}") for number in range(4)]

    @pytest.fixture
    async def model(self, tmp_path):
        return asked(str(script(tmp_path, LAST_QUESTION)))

    @pytest.fixture
    async def failing(self, tmp_path):
        file = script(tmp_path, f"echo the key is $MY_API_KEY >&2; exit 3 # {SECRET}")
        return asked(str(file), environ={"MY_API_KEY": SECRET}), ask()

    @pytest.fixture
    async def silent(self, tmp_path):
        return asked(str(script(tmp_path, "sleep 60")), total_s=0.5), ask()


async def test_it_gets_the_prompt_on_stdin_and_in_a_file_and_its_answer_is_all_that_it_writes(tmp_path: Path) -> None:
    body = 'cat; echo; cat "$MEMENTO_PROMPT_FILE"; echo; echo "$MEMENTO_ROLE $MEMENTO_ORDER $MEMENTO_ATTEMPT $1"'
    model = asked(f"{script(tmp_path, body)} 'two words'")
    reply = await model.complete(ask("wörds\nand lines", role="judge", attempt=1))
    assert reply.text == "wörds\nand lines\nwörds\nand lines\njudge g1/macro/0 1 two words\n"
    assert (reply.model, reply.stop) == (model.name, "end")
    assert reply.usage.cost_usd is None and reply.usage.latency_s > 0


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("echo no credit left >&2; exit 7", "ended with code 7; it said: no credit left"),
        ("exit 1", "ended with code 1; it said nothing"),
        ("echo not logged in; exit 1", "ended with code 1; it wrote: not logged in"),
        ("kill -9 $$", "was ended by SIGKILL"),
        ("echo a b; head -c 6000000 /dev/zero; sleep 60", "wrote more than 4 MiB"),
    ],
)
async def test_why_it_failed_is_in_the_message(tmp_path: Path, body: str, says: str) -> None:
    with pytest.raises(ModelError, match=says) as raised:
        await asked(str(script(tmp_path, body))).complete(ask())
    assert not raised.value.fatal and raised.value.attempts == 1


async def test_a_program_that_reads_nothing_still_answers_a_long_prompt(tmp_path: Path) -> None:
    reply = await asked(str(script(tmp_path, "echo ready"))).complete(ask("x" * 1_000_000))
    assert reply.text == "ready\n"


async def test_one_that_never_answers_is_given_up_and_one_that_did_is_not(tmp_path: Path) -> None:
    works = tmp_path / "works"
    body = f"test -e {works} && echo yes || {{ echo broken >&2; exit 1; }}"
    never, once = (asked(str(script(tmp_path, body, name=name))) for name in ("never.sh", "once.sh"))
    fatal = []
    for _ in range(3):
        with pytest.raises(ModelError) as raised:
            await never.complete(ask())
        fatal.append(raised.value.fatal)
    assert fatal == [False, False, True]
    works.touch()
    await once.complete(ask())
    works.unlink()
    for _ in range(4):
        with pytest.raises(ModelError) as raised:
            await once.complete(ask())
        assert not raised.value.fatal


@pytest.mark.parametrize("how", ["deadline", "cancelled", "answered"])
async def test_nothing_that_it_started_is_left(tmp_path: Path, how: str) -> None:
    child, stranger, twice = tmp_path / "child", tmp_path / "stranger", tmp_path / "twice"
    waits = "" if how == "answered" else "wait"
    fork = f"(setsid sh -c 'echo $$ > {twice}; exec sleep 300' &) &"      # its parents end at once
    body = (f"sleep 300 & echo $! > {child}\nsetsid sh -c 'echo $$ > {stranger}; exec sleep 300' &\n{fork}\n"
            f"while [ ! -s {twice} -o ! -s {stranger} ]; do sleep 0.02; done\n{waits}\necho done")
    model = asked(str(script(tmp_path, body)), total_s=1.5 if how == "deadline" else 60.0)
    call = asyncio.create_task(model.complete(ask()))
    started = [await read_pid(file) for file in (child, stranger, twice)]
    if how == "cancelled":
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    elif how == "deadline":
        with pytest.raises(ModelError, match=r"did not answer within 1\.5 s"):
            await call
    else:
        assert (await call).text == "done\n"
    for pid in started:
        assert await gone(pid)


@pytest.mark.parametrize("body", [
    "rm -rf $(dirname $MEMENTO_PROMPT_FILE)",
    "d=$(dirname $MEMENTO_PROMPT_FILE); rm -rf $d; echo x > $d",
    "d=$(dirname $MEMENTO_PROMPT_FILE); rm -rf $d; ln -s {kept} $d",
    "d=$(dirname $MEMENTO_PROMPT_FILE); mkdir $d/sub; chmod 000 $d/sub",
])
async def test_whatever_it_does_with_its_folder_loses_no_answer(tmp_path: Path, body: str) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("of the user")
    reply = await asked(str(script(tmp_path, f"{body.format(kept=kept)}\necho ready"))).complete(ask())
    assert reply.text == "ready\n" and (kept / "file").read_text() == "of the user"


async def test_a_missing_program_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    plain = tmp_path / "plain.txt"
    plain.write_text("no program")
    for name, says in (("no-such-program-xyz -p", "is on no folder of PATH"), (str(plain), "can be run")):
        with pytest.raises(UsageError, match=says):
            await open_model(asked(name))
    await open_model(asked(f"{sys.executable} -c pass"))


async def test_a_program_that_is_no_longer_there_fails_the_call(tmp_path: Path) -> None:
    file = script(tmp_path, "echo x")
    model = asked(str(file))
    file.unlink()
    with pytest.raises(ModelError, match="could not be started"):
        await model.complete(ask())


async def test_one_that_the_system_cannot_run_says_why(tmp_path: Path) -> None:
    file = tmp_path / "broken"
    file.write_bytes(b"\x7fELF, but no program")
    file.chmod(0o700)
    with pytest.raises(ModelError, match="could not be started: Exec format error"):
        await asked(str(file)).complete(ask())


async def test_keys_of_the_environment_are_not_in_an_answer(tmp_path: Path) -> None:
    model = asked(str(script(tmp_path, "echo $MY_API_KEY")), environ={"MY_API_KEY": SECRET})
    assert (await model.complete(ask())).text == "[key]\n"


async def test_at_most_so_many_run_at_once(tmp_path: Path) -> None:
    assert command_module.IN_VAIN > 1
    settings = ClientSettings(limits=CallLimits(total_s=60.0), in_flight=1)
    running = tmp_path / "running"
    body = f"mkdir {running} || exit 9; sleep 0.05; rmdir {running}; echo ready"
    model = make_model(f"command:{script(tmp_path, body)}", settings=settings, environ=os.environ)
    began = time.monotonic()
    replies = await asyncio.gather(*(model.complete(ask(order=f"g1/macro/{n}")) for n in range(4)))
    assert [reply.text for reply in replies] == ["ready\n"] * 4 and time.monotonic() - began >= 0.2


def test_a_program_named_by_a_path_is_the_same_in_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = script(tmp_path, "echo x", name="ask me.sh")
    monkeypatch.chdir(tmp_path)
    named = with_absolute_programs("openai:gpt-5.2,command:'./ask me.sh' -p 'two words'")
    monkeypatch.chdir("/")
    assert named == f"openai:gpt-5.2,command:'{file}' -p 'two words'"
    assert with_absolute_programs(named) == named
    for text in ("offline", "command:claude -p", "compatible:lab@http://h/v1#m"):
        assert with_absolute_programs(text) == text
    before = digests_of([named])
    file.write_text("#!/bin/sh\necho y\n")
    assert before.keys() == digests_of([named]).keys() == {str(file)} and before != digests_of([named])
    file.unlink()
    assert digests_of([named, "command:claude"]) == {}
