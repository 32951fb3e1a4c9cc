"""The paired test of two programs on common seeds. Pure."""

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
