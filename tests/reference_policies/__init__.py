"""Policies of our own that solve the tasks from observations alone: oracles for tests and benchmarks, in no wheel.

One module per simulated task, which is a policy file at the same time: one class with the domain's methods, and what
it needs, from numpy and the standard library alone.
"""

from pathlib import Path

from memento.core.values import Program


def policy_file(domain: str) -> Path:
    """The file of the domain's reference policy, as `memento evaluate` takes it."""
    return Path(__file__).with_name(f"{domain.replace('-', '_')}.py")


def policy_program(domain: str) -> Program:
    """The program of the domain's reference policy."""
    return Program(policy_file(domain).read_text(encoding="utf-8"))
