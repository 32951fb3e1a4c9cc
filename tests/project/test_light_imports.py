"""`memento --help` is fast because nothing heavy is imported before a command needs it."""

import json
import subprocess
import sys

HEAVY = {
    "robosuite", "mujoco", "numba", "ai2thor", "torch", "ray", "pydantic_ai", "openai", "anthropic", "cv2", "scipy",
    "textual", "aiohttp",
}


def modules_after(statement: str) -> set[str]:
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=150)
    return {name.partition(".")[0] for name in json.loads(done.stderr.strip().splitlines()[-1])}


def test_the_front_pages_import_no_command() -> None:
    statement = "import sys\nfrom memento.cli import main\nsys.argv = ['memento', '--help']\n"
    statement += "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0"
    assert not modules_after(statement) & (HEAVY | {"typer", "inspect", "dataclasses"})


def test_help_imports_neither_numpy_nor_pydantic_nor_rich() -> None:
    statement = "from memento.cli import exit_code\nassert exit_code(['--help']) == 0"
    assert not modules_after(statement) & (HEAVY | {"numpy", "pydantic", "rich", "asyncio", "sqlite3", "structlog"})


def test_help_with_choices_imports_no_simulator_and_no_client() -> None:
    statement = "from memento.cli import exit_code\n"
    for command in ("run", "evaluate", "compare", "render"):
        statement += f"assert exit_code([{command!r}, '--help']) == 0\n"
    assert not modules_after(statement) & HEAVY


def test_a_pool_of_a_cluster_imports_no_ray() -> None:
    assert "ray" not in modules_after("import memento.extensions.ray.service, memento.extensions.ray.node")


def test_the_package_itself_imports_almost_nothing() -> None:
    others = {"numpy", "pydantic", "rich", "gymnasium", "asyncio", "typer"}
    assert not modules_after("import memento") & (HEAVY | others)


MODULES = ["memento.app", "memento.settings", "memento.cli.execution", "memento.cli.show_reading"]


def test_the_controller_imports_no_simulator_and_no_client() -> None:
    assert not modules_after(f"import {', '.join(MODULES)}") & (HEAVY | {"rich", "pandas"})
