"""The household task in kitchens of AI2-THOR (paper, appendix, AI2-THOR household environment)."""

from .domain import KitchenDomain

DOMAIN = KitchenDomain()
