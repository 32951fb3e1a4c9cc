"""Random salts: what makes the seeds of a run or an evaluation impossible to guess."""

import secrets

SALT_BYTES = 16


def new_salt() -> str:
    """128 bits of the operating system's randomness, in hexadecimal."""
    return secrets.token_hex(SALT_BYTES)
