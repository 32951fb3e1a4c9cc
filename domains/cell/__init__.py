"""A robot cell: the Tower of Hanoi from camera to motion, on a simulated twin or a real arm (paper, appendix A).

`DOMAIN` makes a trial in the cell an episode, so that programs run in the sandbox as everywhere else.
"""

from .domain import CellDomain

DOMAIN = CellDomain()
IMPORT_STRING = f"{__name__}:DOMAIN"
