"""Language models over the network: the clients, their limits, budgets, fallbacks and the tape."""

from .factory import ClientSettings, close_model, make_model

__all__ = ["ClientSettings", "close_model", "make_model"]
