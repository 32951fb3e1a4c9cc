"""How a module of this package is started under another Python, in which the package is not installed."""

import sys
from pathlib import Path

# The other Python finds the package by its folder, whatever that is called, and nothing else of this installation.
_BOOT = """
import sys
if sys.version_info < (3, 11):
    sys.exit("%s is Python %d.%d: it must be 3.11 or newer" % (sys.executable, *sys.version_info[:2]))
import importlib.util, runpy
root, module = sys.argv[1:3]
sys.path[:] = [place for place in sys.path if place]
del sys.argv[1:3]
spec = importlib.util.spec_from_file_location("memento", root + "/__init__.py", submodule_search_locations=[root])
sys.modules["memento"] = package = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


def module_command(module: str, *, python: str | None = None) -> list[str]:
    """The command that runs `module` of this package, to which its arguments are appended.

    Without `python`, under this interpreter; otherwise under that one, which needs what the module imports only. The
    working directory is importable in neither.
    """
    if python is None:
        return [sys.executable, "-P", "-u", "-m", module]
    root = Path(__file__).resolve().parents[1]
    return [python, "-u", "-c", _BOOT, str(root), module]
