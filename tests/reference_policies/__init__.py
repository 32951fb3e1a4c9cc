"""Hand-written policies that solve the tasks from observations only, for tests and benchmarks; not in the wheel.

One module per simulated task. Each is also a policy file: one class with the domain's methods and its helpers, which
use numpy and the standard library only.
"""

from pathlib import Path

from memento.core.values import Program


def policy_file(domain: str) -> Path:
    """The file of the domain's reference policy, an argument for `memento evaluate`."""
    return Path(__file__).with_name(f"{domain.replace('-', '_')}.py")


def policy_program(domain: str) -> Program:
    """The program of the domain's reference policy."""
    return Program(policy_file(domain).read_text(encoding="utf-8"))
