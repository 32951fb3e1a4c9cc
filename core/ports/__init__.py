"""The interfaces that MEMENTO requires: a model, a domain and its environment, a pool, a store, a clock.

Each module states the duties of an implementation: callers and threads, ownership of arguments and results,
determinism, exceptions, and deadlines. `tests/conformance` has one class of tests per port.
"""

from .clock import Clock
from .domain import Domain, Generalising, Starting, Succeeding, has_success
from .environment import Action, Encoding, Environment, InvalidAction, Observation
from .model import Ask, Model, Reply
from .narrating import Narrating
from .pool import Pool, RollTask
from .prompts import Prompts
from .rendering import Drawable, Picture, Playback, Renderer
from .shelf import Part, Shelf
from .store import Store

__all__ = [
    "Action", "Ask", "Clock", "Domain", "Drawable", "Encoding", "Environment", "Generalising", "InvalidAction", "Model",
    "Narrating", "Observation", "Part", "Picture", "Playback", "Pool", "Prompts", "Renderer", "Reply", "RollTask",
    "Shelf", "Starting", "Store", "Succeeding", "has_success",
]
