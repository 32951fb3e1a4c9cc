"""Seeds derived from names, so that a draw depends on its purpose and never on the order of arrival."""

import hashlib


def derive_seed(run_seed: int, *parts: str | int) -> int:
    """A 63-bit seed for the thing named by `parts` (such as "search", 3) in the run with `run_seed`.

    The same arguments give the same seed in any process and on any platform; different names give
    independent seeds.
    """
    text = "\x1f".join([str(int(run_seed)), *(f"{type(part).__name__}:{part}" for part in parts)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
