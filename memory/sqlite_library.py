"""sqlite_utils, imported without pandas.

sqlite_utils imports pandas where it is installed, only to know one more type of column. That takes 0.7 s of each
command, and no table here has such a column.
"""

import sys

_hidden = "pandas" not in sys.modules
if _hidden:
    sys.modules["pandas"] = None  # type: ignore[assignment]  # how Python says that a module cannot be imported
try:
    from sqlite_utils import Database, Migrations
finally:
    if _hidden:
        del sys.modules["pandas"]

__all__ = ["Database", "Migrations"]
