"""The paired test of two programs on common seeds, which may look several times. Pure."""

import math
from collections.abc import Sequence
from itertools import product

EXACT = 16  # pairs up to which all signs are tried; above, the sum of random signs is nearly normal
_ROUNDING = 1e-12


def sign_flip(differences: Sequence[float]) -> float:
    """The one-sided p-value of the randomisation test of paired differences (Fisher 1935, section 21; Pitman 1937).

    If both programs were equal, each difference over a common seed could as well have the other sign. It is the share
    of all signs under which the sum of the differences would be as large. It assumes nothing about the distribution of
    f_e, which often is 0 or 1, or about its scale: a small gain counts if it shows in every episode, and one large
    loss outweighs many small gains.
    """
    total = math.fsum(differences)
    if len(differences) > EXACT:
        spread = math.sqrt(math.fsum(each * each for each in differences))
        return 0.5 * math.erfc(total / spread / math.sqrt(2)) if spread else 1.0
    sums = [math.fsum(signed) for signed in product(*((each, -each) for each in differences))]
    return sum(each >= total - _ROUNDING for each in sums) / len(sums)


LOOKS = (6, 9, 12, 16, 24, 32, 48, 64)
"""The numbers of pairs after which a challenge may be decided. Fewer show no difference at LEVEL."""

FEWEST = 5  # pairs of which a test can reject at LEVEL

LEVEL = 0.2
"""The chance that a program that is no better becomes the elite, over all looks of one challenge.

Parents come from the elite, so a level of 0.05 would throw away most real gains that a few episodes can show; and the
last choice compares all elites and challengers once more.
"""


def looks_of(bound: int) -> tuple[int, ...]:
    """After how many pairs a challenge of at most `bound` pairs is looked at."""
    return (*(look for look in LOOKS if look < bound), bound)


def verdict(differences: Sequence[float], looks: tuple[int, ...]) -> tuple[bool | None, float | None]:
    """Whether the challenger won, None for "not decided yet", and the p-value at this look.

    It wins where the paired test rejects at LEVEL, divided by the number of looks (Bonferroni). It loses as soon as it
    is not ahead at a look, and where nothing was decided at the last one. Fewer than five pairs can reach no level, so
    the sign of their sum decides.
    """
    if looks[-1] < FEWEST:
        return math.fsum(differences) > 0, None
    chance = sign_flip(differences)
    if chance <= LEVEL / len(looks):
        return True, chance
    if math.fsum(differences) <= 0 or len(differences) >= looks[-1]:
        return False, chance
    return None, chance
