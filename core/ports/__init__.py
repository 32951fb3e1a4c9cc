"""The interfaces that MEMENTO requires: a model, a domain and its environment, a pool, a store, a clock.

Each module states the duties of an implementation: callers and threads, ownership of arguments and results,
determinism, exceptions, and deadlines. `tests/conformance` has one class of tests per port.
"""

from .auditing import Auditable, AuditProgram
from .clock import Clock
from .display import Activity, Attentive, Display
from .domain import (
    Calibrating,
    Domain,
    Furnishing,
    Generalising,
    Interpreted,
    KnowingOrder,
    KnownEpisode,
    Numeric,
    Periodic,
    Rig,
    Starting,
    Succeeding,
    Twin,
    Twinned,
    has_success,
    interpreter_of,
    shelf_of,
    twin_for,
)
from .environment import Action, Choosing, Encoding, Environment, InvalidAction, Observation
from .model import Ask, ImageFile, Model, Reply
from .narrating import Narrating
from .pool import Pool, Practice, Prober, ProbeTask, RollTask
from .prompts import Prompts
from .rendering import Drawable, Picture, Playback, Renderer
from .sheets import Artist, Drawn, DrawTask
from .shelf import Part, Shelf
from .store import Store

__all__ = [
    "Action", "Activity", "Artist", "Ask", "Attentive", "AuditProgram", "Auditable", "Calibrating", "Choosing", "Clock",
    "Display", "Domain", "DrawTask", "Drawable", "Drawn", "Encoding", "Environment", "Furnishing", "Generalising",
    "ImageFile", "Interpreted", "InvalidAction", "KnowingOrder", "KnownEpisode", "Model", "Narrating", "Numeric",
    "Observation", "Part", "Periodic", "Picture", "Playback", "Pool", "Practice", "ProbeTask", "Prober", "Prompts",
    "Renderer", "Reply", "Rig", "RollTask", "Shelf", "Starting", "Store", "Succeeding", "Twin", "Twinned",
    "has_success", "interpreter_of", "shelf_of", "twin_for",
]
