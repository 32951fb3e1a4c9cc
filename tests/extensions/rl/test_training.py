"""A training with torch: it is resumed after a kill from its checkpoint, and measured."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from memento.core.extras import missing_modules
from memento.extensions.rl import checkpoints
from memento.extensions.rl.log import read_record

missing = missing_modules("rl")
pytestmark = [
    pytest.mark.skipif(bool(missing), reason=f"the extra rl is not installed: {', '.join(missing)} missing"),
    pytest.mark.slow,
    pytest.mark.timeout(500),      # importing torch alone takes a minute on a busy machine, and it is imported twice
]
COMMAND = [
    sys.executable, "-m", "memento", "baseline", "sac-her", "--domain", "hanoi-kinematic", "--steps", "3000",
    "--environments", "3", "--processes", "2", "--checkpoint", "300", "--episodes", "2", "--name", "trained",
    *(f"--set={text}" for text in (
        "hanoi-kinematic.horizon=40", "train.horizon=30", "sac.random_steps=60", "sac.batch=16", "sac.hidden=[16]",
        "sac.buffer=2000",
    )),
]


def test_a_killed_training_goes_on_from_its_checkpoint_with_its_buffer(tmp_path: Path) -> None:
    folder = tmp_path / "trained"
    with subprocess.Popen([*COMMAND, "--runs", str(tmp_path)], stderr=subprocess.DEVNULL) as process:
        until = time.monotonic() + 240
        while checkpoints.latest(folder) is None and time.monotonic() < until and process.poll() is None:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
    kept = checkpoints.latest(folder)
    assert kept is not None
    resume = [sys.executable, "-m", "memento", "resume", "trained", "--runs", str(tmp_path), "--json"]
    done = subprocess.run(resume, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert (found["status"], found["steps"], found["resumed"]) == ("done", 3000, 1)
    assert len(found["per_episode"]) == 2
    record = read_record(folder)
    assert record.result is not None
    assert record.progress[-1].updates > record.progress[0].updates
    assert checkpoints.latest(folder) == folder / "checkpoint-3000"
