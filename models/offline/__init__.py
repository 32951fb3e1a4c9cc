"""The offline model: a deterministic structural mutator that replaces a language model if none is configured.

    edits     the edits of a program with a shelf: methods replaced by alternatives, constants changed
    model     answers a proposer, an evaluator writer or a judge without a language model
    calibrating  coordinate search in place of a model in a calibration
    evaluators  evaluator programs without a language model
    judging   one seat of the judge panel
    proposer  policy proposals without a language model: q_hc, q_macro and q_cross as random edits from a shelf
    repairing  a proposal as a conversation: practice episodes say what to repair, and whether it helped
    source    A program text as named pieces that can be replaced in place: the methods and constants of its class
"""

from .model import OfflineModel

__all__ = ["OfflineModel"]
