"""The guide's example domain fulfils the ports' contracts, checked by the test module in the guide."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "your-own-domain.md"


@pytest.mark.slow
def test_the_guides_tests_of_the_guides_domain_pass(tmp_path: Path) -> None:
    text = GUIDE.read_text()
    for name in ("cart.py", "test_cart.py"):
        [program] = re.findall(rf"(?:Save it as|Save this as) `{name}`.*?```python\n(.*?)```", text, flags=re.DOTALL)
        (tmp_path / name).write_text(program)
    assert (tmp_path / "test_cart.py").read_text().count("\n") <= 10
    [command] = re.findall(r"^PYTHONPATH=\. python (-m pytest .*)$", text, flags=re.MULTILINE)
    done = subprocess.run(
        [sys.executable, *command.split()], cwd=tmp_path, env={**os.environ, "PYTHONPATH": "."},
        capture_output=True, text=True, timeout=150, check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [passed] = re.findall(r"(\d+) passed", done.stdout)
    assert int(passed) >= 20
