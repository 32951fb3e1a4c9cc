"""Where settings came from, which decides whether what they name may be imported, started, read or contacted.

Settings carry their provenance to the place where a name becomes an import, a process or a connection: that place asks
it. Settings of unknown provenance may do nothing of the kind, so code that forgets to ask for trust is refused.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from .errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The `place` that settings were read from, as in "the run 'one'", and whether it is trusted.

    All compare equal: where a value came from is no part of it.
    """

    place: str = field(default="settings of unknown origin", compare=False)
    trusted: bool = field(default=False, compare=False)

    def require(self, effects: Iterable[str]) -> None:
        """Raise UsageError if there are effects, such as "import 'my.module:DOMAIN'", and the place is not trusted."""
        found = [] if self.trusted else list(dict.fromkeys(effects))
        if found:
            raise UsageError(
                f"this installation did not write {self.place}, which would {'; '.join(found)}: "
                "add --trust if you trust whoever made it"
            )


GIVEN = Provenance(place="what was given", trusted=True)
"""Settings that the person who started this program gave."""

UNKNOWN = Provenance()
