"""Seeds derived from names, so that a draw depends on its purpose and never on the order of work; and random salts."""

import hashlib
import secrets
from typing import Final

UNSALTED: Final = "none"    # as a salt: seeds derive from the run's seed alone, which a program could guess
SALT_BYTES: Final = 16


def derive_seed(run_seed: int, *parts: str | int) -> int:
    """A 63-bit seed for the thing named by `parts` (such as "search", 3) in the run with `run_seed`.

    The same arguments give the same seed in any process and on any platform; different names give
    independent seeds.
    """
    text = "\x1f".join([str(int(run_seed)), *(f"{type(part).__name__}:{part}" for part in parts)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def salted_seed(seed: int, salt: str | None) -> int:
    """The seed from which all others of a run or an evaluation derive: `seed` mixed with its salt.

    The salt is 128 random bits in hexadecimal. Without it a program could try small seeds until one fits what it
    sees, and then know what the simulator drew. None, in the logs of older versions, and UNSALTED are no salt.
    """
    return seed if salt in (None, UNSALTED) else derive_seed(seed, "salt", str(salt))


def new_salt() -> str:
    """128 bits of the operating system's randomness, in hexadecimal: what makes the seeds impossible to guess."""
    return secrets.token_hex(SALT_BYTES)
