"""sqlite_utils, imported without pandas.

sqlite_utils imports pandas where it is installed, only to know one more type of column. That takes 0.7 s of each
command, and no table here has such a column.
"""

from ..core.imports import hidden

with hidden("pandas"):
    from sqlite_utils import Database, Migrations

__all__ = ["Database", "Migrations"]
