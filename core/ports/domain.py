"""The port of a task."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ..errors import UsageError
from ..invariances import INVARIANCES, Change
from ..provenance import Provenance
from ..recording import Recording
from ..values import JSON, Brief, Contract, Program
from .environment import Environment
from .shelf import Shelf


class Domain(Protocol):
    """A task: an attribute of a module, named "package.module:ATTRIBUTE".

    **Import.** Importing the module must not import a simulator, and `environment` is the only method that may:
    the controller and every command load domains, but only workers may load simulators.

    **Threads and processes.** A domain holds no state. Its methods may be called from any thread and in any order;
    each process loads its own.

    **Determinism.** Equal arguments give equal results in every process: a resumed run compares them with its log.

    **Ownership.** No method changes its arguments. The caller may change returned options.

    **Errors.** UsageError for options, with what the user must change; no other exceptions.
    """

    name: str  # the user's name for it, and the prefix of its options: NAME.horizon
    title: str  # one line for lists
    contract: Contract  # of a policy: `reset` and `compute_action`
    evaluator_contract: Contract  # class Evaluator, evaluate(trajectory) -> (f_e, metrics)

    def options(self, given: Mapping[str, JSON], *, preset: str) -> dict[str, JSON]:
        """All options of an environment, completed from the preset's defaults ("smoke", "quick", "paper").

        They are JSON. Completing them again, under any preset, does not change them.
        Raises UsageError that names an unknown key or value and the nearest known one.
        """

    def brief(self, options: Mapping[str, JSON]) -> Brief:
        """The texts for prompts; they describe exactly the task under these (completed) options.

        The policy interface names the class, its methods and every field of an observation, with shapes and units;
        the evaluator interface names every array of a recording that an evaluator may use.
        """

    def environment(self, options: Mapping[str, JSON]) -> Environment:
        """Make the environment for completed options. Imports the simulator: workers only."""

    def reference_evaluator(self) -> Program | None:
        """The reference evaluator, such as the one that the paper selected; None if there is none.

        It returns a fitness in [0, 1] and JSON metrics for every recording, even one without steps, and the same
        result for the same recording.
        """

    def shelf(self) -> Shelf | None:
        """The parts from which the offline model builds programs; None if the domain has none."""


@runtime_checkable
class Furnishing(Protocol):
    """An optional port of a domain whose shelf depends on its options, such as on the spaces of an environment."""

    def shelf_for(self, options: Mapping[str, JSON]) -> Shelf | None:
        """The parts for the offline model under these (completed) options; None if there are none."""


def shelf_of(domain: Domain, options: Mapping[str, JSON]) -> Shelf | None:
    """The parts from which the offline model builds programs under these (completed) options, if there are any."""
    return domain.shelf_for(options) if isinstance(domain, Furnishing) else domain.shelf()


@runtime_checkable
class Numeric(Protocol):
    """An optional port of a domain in which the offline model's programs need numbers that fit one another."""

    def tuning_episodes(self, options: Mapping[str, JSON]) -> int:
        """The episodes of one tuning in a generation of an offline search, unless the user decides; 0: no tuning."""


@runtime_checkable
class Generalising(Protocol):
    """An optional port of a domain whose final measure uses other options than the search, such as held-out scenes."""

    def final_options(self, options: Mapping[str, JSON], *, seed: int | None) -> dict[str, JSON]:
        """The completed options of the final measure, from the completed options of the search.

        `seed` decides what is drawn for it, such as held-out scenes; None draws nothing (runs without a salt).
        The brief and the form of observations and actions must hold for both.
        """


@runtime_checkable
class Varying(Protocol):
    """An optional port of a domain that can change the conditions of its episodes, such as masses and friction."""

    def conditions(self, options: Mapping[str, JSON]) -> Mapping[str, dict[str, JSON]]:
        """The completed options of each of `order_ids.CONDITIONS`, from these (completed) options of the search.

        The form of observations and actions must hold for all. Raises UsageError, with the reason and the fix, if only
        these options have none.
        """


def conditions_for(domain: Domain, options: Mapping[str, JSON]) -> Mapping[str, dict[str, JSON]]:
    """The options of each of `order_ids.CONDITIONS`. Raises UsageError if the domain cannot change its conditions."""
    if not isinstance(domain, Varying):
        raise UsageError(f"the domain {domain.name!r} has no changed conditions to measure programs under: remove "
                         "robust = 'on'")
    return domain.conditions(options)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEpisode:
    """One episode that a domain put on record. `below` names those of its episodes that are certain to be worth more.

    `ended_by` is as in `Environment.step`, or says that the episode could have gone on; `success` is σ(τ).
    """

    name: str
    recording: Recording
    ended_by: str
    success: bool
    below: tuple[str, ...] = ()


@runtime_checkable
class KnowingOrder(Protocol):
    """An optional port of a domain that can put episodes of known order of merit on record: probes of evaluators."""

    def known_episodes(self, options: Mapping[str, JSON], *, seed: int) -> Iterable[KnownEpisode]:
        """Such episodes under these (completed) options, each with another name; deterministic. Workers only.

        Their recordings have the arrays of the domain's own, with the same names, types and shapes of a row. An
        episode named "idle" replaces the one that is made of neutral actions.
        """


@runtime_checkable
class Invariant(Protocol):
    """An optional port of a domain that says which changes of a recording must not move an evaluator's fitness."""

    def invariances(self, options: Mapping[str, JSON]) -> Mapping[str, Change]:
        """The changes under these (completed) options by name, in place of `core.invariances.INVARIANCES`."""


def invariances_of(domain: Domain, options: Mapping[str, JSON]) -> Mapping[str, Change]:
    """The changes that must not move an evaluator's fitness under these (completed) options."""
    return domain.invariances(options) if isinstance(domain, Invariant) else INVARIANCES


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """A cheap domain in which candidates of an expensive one can be tried first, with its completed options."""

    domain: str  # its name, as in `memento domains`, or package.module:ATTRIBUTE
    options: Mapping[str, JSON]


@runtime_checkable
class Twinned(Protocol):
    """An optional port of a domain with a cheap twin.

    The twin has the same contracts of policies and evaluators, the same layout of observations and actions, and
    recordings with the same arrays, so that one program and one evaluator run in both. A run checks this at its start.
    """

    def twin(self, options: Mapping[str, JSON]) -> Twin | None:
        """The twin under these (completed) options; None if the domain has none.

        Raises UsageError, with the reason and the fix, if only these options have none.
        """


def twin_for(domain: Domain, options: Mapping[str, JSON]) -> Twin:
    """The cheap twin under these (completed) options. Raises UsageError if there is none."""
    twin = domain.twin(options) if isinstance(domain, Twinned) else None
    if twin is None:
        raise UsageError(
            f"the domain {domain.name!r} has no cheap twin to try programs in first: remove gate = 'on', or"
            " practice_on = 'twin'"
        )
    return twin


@runtime_checkable
class Succeeding(Protocol):
    """An optional port of a domain that has a success predicate under some options only."""

    def has_success(self, options: Mapping[str, JSON]) -> bool:
        """Whether environments with these (completed) options decide success. If not, S does not exist."""


def has_success(domain: Domain, options: Mapping[str, JSON]) -> bool:
    """Whether episodes under these (completed) options succeed or fail; domains that do not say so do."""
    return not isinstance(domain, Succeeding) or domain.has_success(options)


@runtime_checkable
class Looked(Protocol):
    """An optional port of a domain whose environments are other people's, so that a look found what is known of them.
    """

    def is_compared(self, options: Mapping[str, JSON]) -> bool:
        """Whether rollouts verify that the seed of an episode determines it, whatever was played before."""


def is_compared(domain: Domain, options: Mapping[str, JSON]) -> bool:
    """Whether a pool compares rollouts of environments with these (completed) options; domains of ours need not."""
    return isinstance(domain, Looked) and domain.is_compared(options)


@runtime_checkable
class Periodic(Protocol):
    """An optional port of a domain whose control steps have a duration in the world that it simulates."""

    def control_period_ms(self, options: Mapping[str, JSON]) -> float | None:
        """The duration of a control step under these (completed) options in ms; None if it is not known."""


@runtime_checkable
class Interpreted(Protocol):
    """An optional port of a domain whose environments may need another Python than the controller's."""

    def interpreter(self, options: Mapping[str, JSON]) -> str | None:
        """The path of the Python (3.11 or newer, with numpy) that workers run under; None for the controller's."""


def interpreter_of(domain: Domain, options: Mapping[str, JSON], provenance: Provenance) -> str | None:
    """The Python that workers run under with these (completed) options; None for the controller's own.

    Raises UsageError if the options are not of trusted provenance and start a program: this one, or a simulator.
    """
    programs = domain.programs(options) if isinstance(domain, Starting) else ()
    provenance.require(f"start the program {program!r}" for program in programs)
    return domain.interpreter(options) if isinstance(domain, Interpreted) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rig:
    """What a calibration knows of the place where a program is carried out: c_R of the paper.

    `bounds` are those of the constants that may change, by name; none: those whose range the program names.
    `one_at_a_time`: trials cannot run side by side, since there is one arm.
    """

    description: str
    bounds: Mapping[str, tuple[float, float]]
    one_at_a_time: bool


@runtime_checkable
class Calibrating(Protocol):
    """An optional port of a domain that carries programs out on a robot, to which their constants are calibrated."""

    def rig(self, options: Mapping[str, JSON]) -> Rig:
        """The rig under these (completed) options; its description is Markdown for a model."""


@runtime_checkable
class Starting(Protocol):
    """What a domain offers as well if its environments start programs of the user's, such as a simulator's build."""

    def programs(self, options: Mapping[str, JSON]) -> tuple[str, ...]:
        """The paths of the programs that an environment with these options starts. Starts and reads nothing."""
