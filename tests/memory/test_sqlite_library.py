"""Commands do not import pandas, which sqlite_utils would."""

import subprocess
import sys
from pathlib import Path

CHECK = """
import sys
sys.path.insert(0, sys.argv[1])
import memento.memory.store
assert "pandas" not in sys.modules, "pandas was imported"
import pandas
assert pandas.HERE
"""


def test_a_store_leaves_pandas_alone_and_others_can_import_it(tmp_path: Path) -> None:
    (tmp_path / "pandas.py").write_text("HERE = True\n")
    done = subprocess.run([sys.executable, "-c", CHECK, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
