"""The guide's example methods fulfil the contract of methods, checked by the test module in the guide."""

import os
import re
import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "changing-the-method.md"


def test_the_guides_tests_of_the_guides_methods_pass(tmp_path: Path) -> None:
    text = GUIDE.read_text()
    for name in ("simplify.py", "annealing.py", "map_elites.py", "test_methods.py"):
        [program] = re.findall(rf"[Ss]ave (?:it|this) as `{name}`.*?```python\n(.*?)```", text, flags=re.DOTALL)
        (tmp_path / name).write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_methods.py"], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": "."}, timeout=150, check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [passed] = re.findall(r"(\d+) passed", done.stdout)
    assert int(passed) >= 50
