"""The interfaces that MEMENTO requires: a model, a domain and its environment, a pool, a store, a clock.

Each module states the duties of an implementation: callers and threads, ownership of arguments and results,
determinism, exceptions, and deadlines. `tests/conformance` has one class of tests per port.

    auditing     a domain that brings programs for an audit of evaluators
    clock        time as an explicit dependency
    display      a display of a live run: the controller passes every fact to it, and calls `tick` at intervals
    domain       a task
    environment  one task in one simulator, stepped by a worker
    exporting    an export, which hands the log of a run to another tool
    model        a model: a language model or its substitute
    narrating    a domain that tells what happened in an episode
    pool         the pool that runs generated programs
    prompts      the prompt files
    rendering    a domain that draws its recorded episodes
    sheets       what draws sheets of recorded episodes
    shelf        the parts from which the offline model builds programs of a domain
    store        the store of a run's facts
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
    Invariant,
    KnowingOrder,
    KnownEpisode,
    Looked,
    Numeric,
    Periodic,
    Rig,
    Starting,
    Succeeding,
    Twin,
    Twinned,
    Varying,
    conditions_for,
    has_success,
    interpreter_of,
    invariances_of,
    is_compared,
    shelf_of,
    twin_for,
)
from .environment import Action, Choosing, Encoding, Environment, InvalidAction, Naming, Observation, SimulatorFailed
from .exporting import ExportTarget, RunExport
from .model import THOUGHT_ONLY, UNUSABLE, Ask, Form, ImageFile, Model, Reply
from .narrating import MAX_ROWS, Narrating, Story
from .pool import (
    ClusterService,
    Computing,
    Connected,
    NodeLoad,
    NodeSeen,
    Pool,
    Practice,
    Prober,
    ProbeTask,
    RemotePool,
    RollTask,
)
from .prompts import Prompts
from .rendering import Drawable, Picture, Playback, Renderer
from .sheets import Artist, Drawn, DrawTask
from .shelf import Shelf, ShelfPart
from .store import Store

__all__ = [
    "MAX_ROWS",
    "THOUGHT_ONLY",
    "UNUSABLE",
    "Action",
    "Activity",
    "Artist",
    "Ask",
    "Attentive",
    "AuditProgram",
    "Auditable",
    "Calibrating",
    "Choosing",
    "Clock",
    "ClusterService",
    "Computing",
    "Connected",
    "Display",
    "Domain",
    "DrawTask",
    "Drawable",
    "Drawn",
    "Encoding",
    "Environment",
    "ExportTarget",
    "Form",
    "Furnishing",
    "Generalising",
    "ImageFile",
    "Interpreted",
    "InvalidAction",
    "Invariant",
    "KnowingOrder",
    "KnownEpisode",
    "Looked",
    "Model",
    "Naming",
    "Narrating",
    "NodeLoad",
    "NodeSeen",
    "Numeric",
    "Observation",
    "Periodic",
    "Picture",
    "Playback",
    "Pool",
    "Practice",
    "ProbeTask",
    "Prober",
    "Prompts",
    "RemotePool",
    "Renderer",
    "Reply",
    "Rig",
    "RollTask",
    "RunExport",
    "Shelf",
    "ShelfPart",
    "SimulatorFailed",
    "Starting",
    "Store",
    "Story",
    "Succeeding",
    "Twin",
    "Twinned",
    "Varying",
    "conditions_for",
    "has_success",
    "interpreter_of",
    "invariances_of",
    "is_compared",
    "shelf_of",
    "twin_for",
]
