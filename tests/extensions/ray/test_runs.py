"""Runs on a cluster of two nodes: the same result as on one machine, no key on a node, nothing left behind."""

import json
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from memento.core.events import EpisodeEnded, SearchEnded
from memento.core.recording_file import load_recording
from memento.memory.store import RunStore

from ...app.conftest import Runs
from ...support.nightly import first_and_nightly
from ...support.processes import wait_until_gone
from ...support.program import PROGRAM, timeless
from ...support.ray_cluster import TOKEN, RayCluster, needs_ray

pytestmark = [needs_ray, pytest.mark.slow, pytest.mark.timeout(300)]

SMALL = [
    "hanoi-kinematic", "--preset", "smoke", "--seed", "3", "--display", "none", "--set", "k_hc=2", "--set", "k_macro=2",
    "--set", "n_roll=2",
]
LONG = [*SMALL, "--set", "generations=500", "--name", "long"]
KEY = "planted-key-5eed5eed"


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """The environment of a controller: with the cluster's token and with a key."""
    for name, value in {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN, "OPENAI_API_KEY": KEY}.items():
        monkeypatch.setenv(name, value)
    return Runs(tmp_path)


def of_process(pid: int, what: str) -> bytes:
    """A file of a process; nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/{what}").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def until(condition, *, within_s: float = 60.0) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.05)


def episodes_of(folder: Path) -> Counter[str]:
    """How often the log says that each order's episode ended."""
    with RunStore.read(folder) as store:
        return Counter(fact.order for fact in store.facts(only=(EpisodeEnded,)))


def rolled(runs: Runs, name: str, least: int) -> bool:
    folder = runs.folder / name
    return (folder / "run.sqlite").exists() and sum(episodes_of(folder).values()) >= least


def conclusions(runs: Runs, name: str) -> tuple[object, ...]:
    [ended] = [fact for fact in runs.facts(name) if isinstance(fact, SearchEnded)]
    return (ended, runs.elite(name))


def test_the_elite_is_the_same_as_on_one_machine(cluster: RayCluster, runs: Runs) -> None:
    far = runs.start("run", *SMALL, "--name", "far", "--cluster", cluster.address, "--json")
    near = runs.call("run", *SMALL, "--name", "near")
    result = runs.finish(far, within_s=100)
    assert timeless(result) == timeless(near)
    assert conclusions(runs, "far") == conclusions(runs, "near")
    named = {fact.episode.notes.node for fact in runs.facts("far") if isinstance(fact, EpisodeEnded)}
    assert named and all("127.0.0." in str(node) for node in named)
    assert recordings(runs, "far") == recordings(runs, "near"), "what the run keeps came here, and nothing else"
    ranking = ("--programs", "2", "--episodes", "3")
    ranked = runs.call("rank", "far", *ranking, "--cluster", cluster.address)
    assert ranked == {**runs.call("rank", "near", *ranking), "run": ranked["run"]}
    wait_until_gone(cluster.ours())


def recordings(runs: Runs, name: str) -> dict[str, dict[str, bytes]]:
    """The arrays of every recording in a run's folder."""
    return {
        path.name: {array: values.tobytes() for array, values in load_recording(path).arrays().items()}
        for path in (runs.folder / name / "trajectories").iterdir()
    }


def started(cluster: RayCluster, runs: Runs, address: str) -> tuple["subprocess.Popen[str]", dict[int, str]]:
    """A long run that has rolled out on both nodes, and its processes there."""
    live = runs.start("run", *LONG, "--cluster", address)
    try:
        until(lambda: rolled(runs, "long", 8) or live.poll() is not None, within_s=90)
    finally:
        assert live.poll() is None, live.communicate()[1]
    there = cluster.ours()
    assert sum("NodeHost" in command for command in there.values()) == len(cluster.nodes)
    return live, there


@pytest.mark.parametrize("how", first_and_nightly("kill -9", "Ctrl-C", "stop", "kill -9, ray://"))
def test_the_end_of_a_controller_leaves_no_process_on_any_node(cluster: RayCluster, runs: Runs, how: str) -> None:
    live, there = started(cluster, runs, cluster.client_address if "ray://" in how else cluster.address)
    match how:
        case "kill -9" | "kill -9, ray://":
            live.kill()
        case "Ctrl-C":
            live.send_signal(signal.SIGINT)
        case "stop":
            assert runs.start("stop", "long").wait(20) == 0
    live.wait(30)
    wait_until_gone(there, within_s=20)
    until(lambda: not cluster.ours(), within_s=20)


@pytest.mark.nightly
def test_no_key_is_on_a_node(cluster: RayCluster, runs: Runs) -> None:
    """Not in an environment, in the memory of a process of a run, in Ray's logs or in its object store."""
    live, there = started(cluster, runs, cluster.address)
    everything = {pid for host in cluster.nodes for pid in cluster.processes(host)}
    environments = {pid: of_process(pid, "environ") for pid in everything}
    assert any(TOKEN.encode() in block for block in environments.values()), "environments were read"
    assert not [pid for pid, block in environments.items() if KEY.encode() in block]
    hosts = [pid for pid, command in there.items() if "NodeHost" in command]
    assert all(in_memory(pid, b"hanoi") for pid in hosts), "memory was read"
    assert not [pid for pid in there if in_memory(pid, KEY.encode())]
    logs = [path for path in cluster.folder.rglob("*") if path.is_file()]
    assert len(logs) > 10 and not [path for path in logs if KEY.encode() in path.read_bytes()]
    live.send_signal(signal.SIGINT)
    live.wait(30)
    until(lambda: not cluster.ours(), within_s=20)


def in_memory(pid: int, word: bytes) -> bool:
    """Whether the memory of a process holds the word: its writable maps, so Ray's object store as well."""
    try:
        maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
            for line in maps:
                span, rights, *_ = line.split()
                if not rights.startswith("rw"):
                    continue
                begin, end = (int(number, 16) for number in span.split("-"))
                memory.seek(begin)
                try:
                    if word in (memory.read(min(end - begin, 1 << 28)) or b""):
                        return True
                except OSError:
                    continue
    except (FileNotFoundError, ProcessLookupError):
        return False
    return False


@pytest.mark.nightly
def test_a_run_goes_on_when_a_node_is_killed_and_another_joins(cluster: RayCluster, runs: Runs) -> None:
    near = runs.start("run", *SMALL, "--set", "generations=6", "--name", "near", "--json")
    far = runs.start("run", *SMALL, "--set", "generations=6", "--name", "far", "--cluster", cluster.address, "--json")
    until(lambda: rolled(runs, "far", 6), within_s=90)
    there = cluster.ours()
    victim = [*cluster.nodes][-1]
    cluster.kill(victim)
    cluster.start()
    runs.finish(far, within_s=120)
    runs.finish(near, within_s=60)
    assert conclusions(runs, "far") == conclusions(runs, "near")
    assert {*episodes_of(runs.folder / "far").values()} == {1}, "every episode has one answer in the log"
    wait_until_gone(there)


@pytest.mark.nightly
def test_doctor_lists_the_nodes(cluster: RayCluster, runs: Runs) -> None:
    deadline = time.monotonic() + 60        # a test before may have killed a node, which Ray lists for a while
    while True:
        done = subprocess.run(
            [*PROGRAM, "doctor", "--cluster", cluster.address, "--json"], capture_output=True, text=True, timeout=100
        )
        if done.returncode == 0 or time.monotonic() > deadline:
            break
    found = json.loads(done.stdout.splitlines()[-1])["findings"]
    assert done.returncode == 0 and {each["name"] for each in found} == {*cluster.nodes}
    assert all("1 CPUs" in each["words"] and "numpy" in each["words"] for each in found)


@pytest.mark.parametrize("address, words", [
    ("127.0.0.1:1", "start one with ray start --head"), ("no port", "it is auto, HOST:PORT, or ray://HOST:PORT"),
])
def test_an_address_without_a_cluster_is_a_sentence(runs: Runs, address: str, words: str) -> None:
    refused = runs.start("run", *SMALL, "--name", "none", "--cluster", address)
    _, said = refused.communicate(timeout=150)
    assert refused.returncode == 2 and words in said and said.count("\n") == 1
    assert not (runs.folder / "none").exists()
