"""Resource limits of generated programs and workers. Limits that affect a score are in steps and CPU time.

Wall-clock limits only prevent endless waits: the first hit is attributed to a loaded machine, and the task is tried
once more.
"""

from dataclasses import dataclass

from ...core.step_limit import limit_in_words, practice_under

MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one program process and of its worker."""

    # CPU time of a policy; exceeding it is the policy's fault
    start_cpu_s: float = 5.0            # to load, instantiate and reset; and again for the first action
    step_cpu_s: float = 1.0             # each further action
    episode_cpu_s: float = 120.0        # all of an episode
    # wall time spent waiting for a policy; after two hits the policy counts as a sleeper
    step_wall_s: float = 10.0
    episode_wait_s: float = 300.0
    # an evaluator call
    evaluator_cpu_s: float = 20.0
    evaluator_wall_s: float = 60.0
    # memory and output of any program
    address_bytes: int = 4096 * MIB
    output_bytes: int = 16 * MIB        # printed output; more is a fault
    open_files: int = 64
    # deadlines of the controller for a worker
    worker_start_s: float = 60.0        # interpreter, imports, the warm process
    environment_s: float = 600.0        # to make an environment: a simulator may compile or download
    silence_s: float = 120.0            # a worker at work reports more often than this
    task_wall_s: float = 3600.0         # one task, whatever it reports
    abort_s: float = 1.0                # to abandon a cancelled episode before the worker is killed


DEFAULT_LIMITS = Limits()


def policy_limits_in_words(limits: Limits = DEFAULT_LIMITS, *, step_limit_ms: float | None = None) -> str:
    """The limits of a policy, for the prompts of those who write one: sentences with numbers.

    `step_limit_ms` is the run's own limit on the CPU time of a call; None for none.
    """
    real_time = "" if step_limit_ms is None else f" {limit_in_words(step_limit_ms)}"
    return (
        f"{limits.step_cpu_s:g} s of CPU time for a call of `compute_action` ({limits.start_cpu_s:g} s for the first), "
        f"{limits.start_cpu_s:g} s to load the program and `reset`, {limits.episode_cpu_s:g} s for all of an "
        f"episode; {limits.address_bytes / 1024 / MIB:g} GiB of memory; {limits.output_bytes // MIB} MiB of "
        f"printed text. A call that sleeps ends after {limits.step_wall_s:g} s.{real_time}"
    )


def practice_limits_in_words(limits: Limits = DEFAULT_LIMITS, *, step_limit_ms: float | None = None) -> str:
    """The CPU time that a practice episode may use, for the prompts of conversations."""
    practice = practice_under(step_limit_ms)
    if practice.cpu_s is None:
        return f"{limits.episode_cpu_s:g} s of CPU time, as every episode"
    return (
        f"{practice.cpu_s:g} s of CPU time and {1000 * practice.step_s:g} ms more for each step, loading included; the "
        "limit of real time holds in it as in the search"
    )
