"""Code shared by several test folders. `on_path/` holds modules that worker processes find through PYTHONPATH."""

from pathlib import Path

ON_PATH = Path(__file__).parent / "on_path"
