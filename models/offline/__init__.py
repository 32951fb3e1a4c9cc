"""The offline model: a deterministic structural mutator that replaces a language model if none is configured."""

from .model import OfflineModel

__all__ = ["OfflineModel"]
