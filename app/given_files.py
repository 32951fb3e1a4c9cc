"""Files that a user gives: programs, and a folder of prompts. What no episode could use is refused."""

from importlib.util import decode_source
from pathlib import Path

from ..agents.contract_check import check
from ..core.errors import UsageError
from ..core.files import read_bounded
from ..core.ports import Domain
from ..core.values import Contract, Program
from ..domains.gallery import policy_file

MAX_PROGRAM_BYTES = 1_000_000


def read_program(path: Path, contract: Contract, *, role: str) -> Program:
    """The program in `path`, or that of the gallery which it names; `role` is such as "policy".

    Raises UsageError naming the file and the fix.
    """
    path = policy_file(path)
    if not path.exists():
        raise UsageError(f"there is no {role} file {path}")
    try:
        program = Program(decode_source(read_bounded(path, MAX_PROGRAM_BYTES)))    # as Python reads it
    except (SyntaxError, UnicodeDecodeError, LookupError):
        raise UsageError(f"the {role} file {path} is not UTF-8 text, and names no other encoding") from None
    except OSError as error:
        raise UsageError(f"cannot read the {role} file {path}: {error.strerror}") from None
    fault = check(program, contract)
    if fault is not None:
        raise UsageError(f"the {role} file {path} is not a valid {role}: {fault.message}")
    return program


def read_initial(given: str | None, domain: Domain) -> Program | None:
    """The policy of `--initial FILE`, None where none was given. Raises UsageError."""
    return None if given is None else read_program(Path(given), domain.contract, role="policy")


def read_evaluator(given: str, domain: Domain) -> Program:
    """The evaluator that "reference" or a file's path stands for. Raises UsageError."""
    if given != "reference":
        return read_program(Path(given), domain.evaluator_contract, role="evaluator")
    program = domain.reference_evaluator()
    if program is None:
        raise UsageError(
            f"the domain {domain.name!r} has no reference evaluator: use --evaluator evolve, or a file"
        )
    return program
