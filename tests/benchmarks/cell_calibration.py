"""A calibration in the cell's twin: four constants of a policy are spoilt; a rule and a coordinate search fix them.

    python -m memento.tests.benchmarks.cell_calibration OUT [--steps 3] [--trials 2] [--unseen 20] [--seed 0]
                                               [--spoilt 5] [--by rule search]

The rule answers as a language model would: over the port of models, from the text of its prompts alone. It reads the
metrics of E_R, moves each constant by what a metric in mm says, and halves the integral gain where the hand swings. The
search has as many trials. Both results are measured in the same trials, which no calibration saw, and the spoilt
policy in the first few of them. OUT keeps every file; what is there already is not done again, so an interrupted
measurement goes on.
"""

import argparse
import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web
from memento.extensions.cell.cell_file import SHIPPED

from ..reference_policies import policy_file
from .reference import wilson

SPOILT = {"TABLE": (0.8, 0.812), "HOLE": (0.055, 0.068), "GRASP_DZ": (0.006, 0.022), "HELP": (0.12, 0.5)}
BOUNDS = {"TABLE": (0.79, 0.815), "HOLE": (0.045, 0.07), "GRASP_DZ": (-0.02, 0.025), "HELP": (0.05, 0.6)}
LONGEST_S = 150.0           # of a trial; a success takes 87 s
HEIGHT_MM = 7.0             # of the hand above the centre of a cube that it grasps
LATERAL_MM = 4.0            # a hand that stands farther aside at grasps swings
FORCE_N = 30.0              # half of the force that stops the arm; an open hand that swings meets more
FALL_MM = 3.0               # of a released cube, from which the policy believes the table to be too high
ZEROS = "0" * 32


def spoilt_policy() -> str:
    """The reference policy with other constants."""
    text = policy_file("hanoi").read_text("utf-8")
    for name, (good, bad) in SPOILT.items():
        text, found = re.subn(rf"^(\s*{name} = ){good}\b", rf"\g<1>{bad}", text, flags=re.MULTILINE)
        assert found == 1, name
    return text


def rule(prompt: str) -> dict[str, float]:
    """What a sensible reader of the report changes, by its text alone."""
    values = {
        name: float(found[1]) for name in SPOILT
        if (found := re.search(rf"^{name} +(-?[\d.e-]+) ", prompt, flags=re.MULTILINE))
    }
    changed = {}
    height, lateral = metric(prompt, "grasp_height_above_centre_mm.median"), metric(prompt, "grasp_lateral_mm.median")
    aside, fall = metric(prompt, "placing_in_hole_offset_mm.x"), metric(prompt, "release_height_above_rest_mm.median")
    if height is not None and abs(height - HEIGHT_MM) > 2.0:
        changed["GRASP_DZ"] = values["GRASP_DZ"] - (height - HEIGHT_MM) / 1000
    if aside is not None and abs(aside) > 2.0:
        changed["HOLE"] = values["HOLE"] - aside / 1000
    if fall is not None and fall > FALL_MM:
        changed["TABLE"] = values["TABLE"] - fall / 1000
    force = metric(prompt, "force_peak_n")
    if (lateral is not None and lateral > LATERAL_MM) or (force is not None and force > FORCE_N):
        changed["HELP"] = values["HELP"] / 2
    return {
        name: round(min(max(value, BOUNDS[name][0]), BOUNDS[name][1]), 4) for name, value in changed.items()
    }


def metric(prompt: str, name: str) -> float | None:
    """The mean of a metric in the report; None if no trial has it."""
    found = re.search(rf"(?:^|[ ,]){re.escape(name)} +(-?[\d.]+)", prompt, flags=re.MULTILINE)
    return float(found[1]) if found else None


@asynccontextmanager
async def service() -> AsyncIterator[str]:
    """A service of chat completions on this machine that answers by the rule; gives its name for `--model`."""

    async def answer(request: web.Request) -> web.Response:
        received = await request.json()
        prompt = "\n".join(str(message["content"]) for message in received["messages"] if message["role"] == "user")
        text = f"Summary: by the metrics\n\n```json\n{json.dumps(rule(prompt))}\n```\n"
        return web.json_response({
            "id": "c", "object": "chat.completion", "created": 1, "model": received["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        })

    app = web.Application(client_max_size=1 << 24)
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"compatible:rule@http://127.0.0.1:{runner.addresses[0][1]}/v1#rule"
    finally:
        await runner.cleanup()


async def memento(*arguments: str) -> str:
    """The output of a command. Raises SystemExit if it fails."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "memento", *arguments, stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "RULE_API_KEY": "none"},
    )
    out, _ = await process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"memento {' '.join(arguments)} ended with code {process.returncode}")
    return out.decode()


async def calibrated(by: str, asked: argparse.Namespace, more: list[str]) -> Path:
    """The policy that a calibration results in."""
    out, result = asked.out, asked.out / f"{by}.py"
    if result.exists():
        return Path(result)
    if (out / "runs" / by).exists():
        await memento("resume", str(out / "runs" / by), "--display", "none")
    else:
        await memento(
            "cell", "calibrate", str(out / "spoilt.py"), "--cell", str(out / "cell.toml"), "--runs", str(out / "runs"),
            "--name", by, "--steps", str(asked.steps), "--trials", str(asked.trials), "--seed", str(asked.seed),
            "--workers", str(asked.workers), "--display", "none", "--set", "salt=none", *more,
        )
    await memento("export", str(out / "runs" / by), "--out", str(result))
    return Path(result)


async def measured(policy: Path, asked: argparse.Namespace) -> list[dict[str, Any]]:
    """The unseen trials of a policy, one file each."""
    trials = []
    for index in range(asked.spoilt if policy.stem == "spoilt" else asked.unseen):
        file = asked.out / f"{policy.stem}-{index}.json"
        if not file.exists():
            text = await memento(
                "cell", "run", str(policy), "--cell", str(asked.out / "cell.toml"), "--trials", "1", "--workers", "1",
                "--seed", str(10_000 + asked.seed + index), "--salt", ZEROS, "--json",
            )
            file.write_text(text, "utf-8")
        trials += json.loads(file.read_text("utf-8"))["trials"]
    return trials


async def measure(asked: argparse.Namespace) -> None:
    """Spoil, calibrate twice, measure three policies, and print a line for each."""
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "spoilt.py").write_text(spoilt_policy(), "utf-8")
    bounds = "\n".join(f"{name} = [{low}, {high}]" for name, (low, high) in BOUNDS.items())
    (asked.out / "cell.toml").write_text(
        f"{(SHIPPED / 'twin.toml').read_text('utf-8')}\n[limits]\ntrial_s = {LONGEST_S}\n"
        f"[calibration.bounds]\n{bounds}\n", "utf-8",
    )
    policies = {"spoilt": asked.out / "spoilt.py"}
    if "rule" in asked.by:
        async with service() as model:
            policies["rule"] = await calibrated("rule", asked, ["--model", model])
    if "search" in asked.by:
        policies["search"] = await calibrated("search", asked, ["--calibrate", "search"])
    for name, policy in reversed(policies.items()):
        trials = await measured(policy, asked)
        succeeded = sum(trial["success"] for trial in trials)
        low, high = wilson(succeeded, len(trials))
        text = policy.read_text("utf-8")
        values = {each: re.findall(rf"^\s*{each} = (\S+)", text, flags=re.MULTILINE)[0] for each in SPOILT}
        print(f"{name}: {succeeded} of {len(trials)} unseen trials, 95 % {low:.2f} to {high:.2f}; {values}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    for name, default in (
        ("steps", 3), ("trials", 2), ("unseen", 20), ("spoilt", 5), ("seed", 0), ("workers", 1),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--by", nargs="+", choices=("rule", "search"), default=("rule", "search"))
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
