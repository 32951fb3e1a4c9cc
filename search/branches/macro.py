"""Macro-mutation: larger revisions of the elite, requested together (paper, Algorithm 2, lines 12 to 15)."""

from ...core.values import Operator
from ..branch import Branch


class MacroMutation(Branch):
    """C^macro is the best of the elite and K_macro revisions of it."""

    operator = Operator.MACRO
