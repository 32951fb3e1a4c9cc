"""The environment of the attacks: a real pool in its default configuration, and targets that must not change."""

import asyncio
import contextlib
import dataclasses
import os
import pickle
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import memento
from memento.core.faults import FaultKind
from memento.core.ports import Pool, RollTask
from memento.core.values import Episode, Program, Score
from memento.runtime.rollouts.limits import Limits
from memento.runtime.rollouts.pool import ProcessPool
from memento.runtime.rollouts.sandbox import seccomp

from .attacks import Attack

OUTPUT = 1 << 20
LIMITS = {
    "usual": Limits(output_bytes=OUTPUT),
    "brief": Limits(
        start_cpu_s=0.5, step_cpu_s=0.5, step_wall_s=1, evaluator_cpu_s=0.5, evaluator_wall_s=1, output_bytes=OUTPUT,
    ),
}
GOOD = Program(
    "class Policy:\n    def reset(self):\n        pass\n\n"
    "    def compute_action(self, observation):\n        return [0.2, 0, 0]\n"
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of an attack."""

    attack: Attack
    episode: Episode | None = None
    score: Score | None = None


@dataclasses.dataclass(slots=True)
class Targets:
    """The targets of the corpus: files, a process, listening sockets, another run's recording."""

    folder: Path
    victim: int
    listeners: dict[str, socket.socket]
    before: dict[str, object] = dataclasses.field(default_factory=dict)

    def names(self) -> dict[str, str]:
        return {
            "FOLDER": str(self.folder), "VICTIM": str(self.victim), "CONTROLLER": str(os.getpid()),
            "PORT": str(self.listeners["tcp"].getsockname()[1]), "TRAJECTORIES": str(self.folder / "run"),
            "PROJECT": str(Path(memento.__file__).parent),
            "ALLOWED": ", ".join(str(number) for number in sorted(_allowed())),
            "PICKLE": str(len(pickle.dumps((os.system, (f"touch {self.folder}/new.txt",))))),
        }

    def seen(self) -> dict[str, object]:
        """Everything about the targets that an attack could change."""
        files = {}
        for path in sorted([self.folder, *self.folder.rglob("*")]):
            state = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(state.st_mode) else b""
            files[str(path)] = (state.st_mode, state.st_uid, state.st_mtime_ns, state.st_nlink, content)
        return {
            "files": files, "nice": os.getpriority(os.PRIO_PROCESS, self.victim),
            "processors": os.sched_getaffinity(self.victim), "here": Path("/dev/shm/left-behind").exists(),
        }

    def visited(self) -> list[str]:
        """The listeners that something reached."""
        reached = []
        for name, listener in self.listeners.items():
            listener.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                if name == "udp":
                    listener.recv(100)
                else:
                    listener.accept()[0].close()
                reached.append(name)
        return reached


def _allowed() -> set[int]:
    return {*seccomp.ALLOWED.values(), *(number for _, number in seccomp.CONDITIONAL)}


@contextlib.contextmanager
def targets(folder: Path) -> Iterator[Targets]:
    """Set the targets up, and remove them afterwards."""
    folder.mkdir()
    (folder / "secret.txt").write_text("a key of the user")
    (folder / "empty").mkdir()
    (folder / "run").mkdir()
    (folder / "run" / "other.npz").write_bytes(b"what another candidate recorded")
    with contextlib.ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(tcp.getsockname())     # the same port
        unix = stack.enter_context(socket.socket(socket.AF_UNIX))
        here = Path.cwd()
        os.chdir(folder)                # the path of a unix socket is short
        unix.bind("listener")
        os.chdir(here)
        unix.listen()
        victim = stack.enter_context(
            subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(1000)"], stdin=subprocess.DEVNULL)
        )
        stack.callback(victim.kill)
        made = Targets(folder, victim.pid, {"tcp": tcp, "udp": udp, "unix": unix})
        made.before = made.seen()
        yield made


def pool(folder: Path, limits: Limits, *, workers: int) -> ProcessPool:
    """A pool of the toy domain. The sandbox cannot be switched off."""
    return ProcessPool(
        domain="toy_domain:DOMAIN", splits={name: {"horizon": 20} for name in ("search", "final")},
        workers=workers, limits=limits, trajectories=folder,
    )


def task(name: str, text: str) -> RollTask:
    return RollTask(order=f"g1/hill/{name}", program=Program(text), split="search", index=0, seed=7)


async def attack_all(
    attacks: Sequence[Attack], folder: Path, *, workers: int = 2, open_pool: Callable[..., Any] = pool
) -> list[Outcome]:
    """Runs every attack in a pool with its requested limits; a good policy must succeed between and after them."""
    outcomes = []
    for name, limits in LIMITS.items():
        async with open_pool(folder / name, limits, workers=workers) as running:
            rolled = await running.roll(task("good", GOOD.text))
            assert rolled.success
            recorded = (folder / name / f"{rolled.trajectory}.npz").read_bytes()
            mine = [attack for attack in attacks if attack.expected.get("limits", "usual") == name]
            outcomes += await asyncio.gather(*(_carried_out(running, attack, rolled) for attack in mine))
            again = await running.roll(task("good-again", GOOD.text))
            assert dataclasses.replace(again, wall_s=0, trajectory="", notes=rolled.notes) == dataclasses.replace(
                rolled, wall_s=0, trajectory="")
            assert (folder / name / f"{rolled.trajectory}.npz").read_bytes() == recorded
    return outcomes


async def _carried_out(running: Pool, attack: Attack, rolled: Episode) -> Outcome:
    if attack.is_policy:
        return Outcome(attack=attack, episode=await running.roll(task(attack.name, attack.text)))
    program = Program(attack.text)
    if attack.expected["role"] == "evaluator":
        return Outcome(attack=attack, score=await running.score(program, rolled))
    return Outcome(attack=attack, score=(await running.examine(program, [rolled])).scores[0])


def require_expected(outcome: Outcome) -> None:
    """Fails where an attack had another outcome than the corpus says."""
    attack, expected = outcome.attack, outcome.attack.expected
    result = outcome.episode or outcome.score
    if expected["fault"] == "none":
        assert result.fault is None
    else:
        assert result.fault is not None, "the attack succeeded"
        assert result.fault.kind is FaultKind(expected["fault"]), result.fault
        assert attack.says(result.fault.message), result.fault.message
    if outcome.episode is not None:
        assert outcome.episode.success == (expected.get("success", "no") == "yes")
        assert outcome.episode.ended_by == expected.get("ended", "fault")
        assert str(outcome.episode.steps) == expected.get("steps", str(outcome.episode.steps))
    elif expected["role"] == "evaluator" or expected["fault"] == "none":
        assert result.fitness == float(expected.get("fitness", 0))
