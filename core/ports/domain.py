"""A task as the rest of MEMENTO knows it."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from ..values import JSON, Brief, Contract, Program
from .environment import Environment
from .shelf import Shelf


class Domain(Protocol):
    """A task as the rest of MEMENTO knows it: a module's attribute, named "package.module:ATTRIBUTE".

    **Import.** Importing the module imports no simulator, nor does any method of this port but `environment`:
    the controller and every command load domains, and only workers may load simulators.

    **Threads and processes.** A domain holds no state. Its methods may be called from any thread and in any order;
    each process loads its own.

    **Determinism.** Equal arguments give equal answers in every process: a resumed run compares them with its log.

    **Ownership.** No method changes its arguments. Options that come back are the caller's to change.

    **Errors.** UsageError, which names what the user must change, for options; nothing else is expected.
    """

    name: str  # what the user calls it, and the first word of its options: NAME.horizon
    title: str  # one line for lists
    contract: Contract  # of a policy: `reset` and `compute_action`
    evaluator_contract: Contract  # class Evaluator, evaluate(trajectory) -> (f_e, metrics)

    def options(self, given: Mapping[str, JSON], *, preset: str) -> dict[str, JSON]:
        """All options of an environment, completed from the preset's defaults ("smoke", "quick", "paper").

        They are JSON. Completed options stay as they are when they are completed again, under any preset.
        Raises UsageError that names an unknown key or value and the nearest known one.
        """

    def brief(self, options: Mapping[str, JSON]) -> Brief:
        """The texts for prompts; they say exactly what holds under these (completed) options.

        The policy interface names the class, its methods and every field of an observation, with shapes and units;
        the evaluator interface names every array of a recording that an evaluator may use.
        """

    def environment(self, options: Mapping[str, JSON]) -> Environment:
        """Make the environment for completed options. Imports the simulator: workers only."""

    def reference_evaluator(self) -> Program | None:
        """The reference evaluator, such as the one that the paper selected; None where there is none.

        It gives a fitness in [0, 1] and JSON metrics for every recording, also of no steps, and the same each time.
        """

    def shelf(self) -> Shelf | None:
        """What the offline model may build with; None where the domain has none."""


@runtime_checkable
class Generalising(Protocol):
    """What a domain may offer as well: its final measure is taken elsewhere than the search, as in held-out scenes."""

    def final_options(self, options: Mapping[str, JSON], *, seed: int | None) -> dict[str, JSON]:
        """The completed options of the final measure, from the completed options of the search.

        `seed` decides what is drawn for it, such as held-out scenes; None draws nothing (runs without a salt).
        The brief and the form of observations and actions must hold for both.
        """


@runtime_checkable
class Starting(Protocol):
    """What a domain offers as well if its environments start programs of the user's, such as a simulator's build."""

    def programs(self, options: Mapping[str, JSON]) -> tuple[str, ...]:
        """The paths of the programs that an environment with these options starts. Starts and reads nothing."""
