"""The offline model: a deterministic structural mutator that stands in where no language model is configured."""

from .model import OfflineModel

__all__ = ["OfflineModel"]
