"""The inside of a program process: values of a program as JSON. Standard library and numpy only."""

from collections.abc import Callable

import numpy as np


def plain(value: object) -> object:
    """numpy's numbers and arrays as JSON values; the `default` of json.dumps. Raises TypeError for anything else."""
    if isinstance(value, np.floating):
        return float(value)     # item() of a long double is one again
    if isinstance(value, np.generic) and not isinstance(plain_value := value.item(), np.generic):
        return plain_value
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type_name(value)} is not JSON")


def type_name(value: object) -> str:
    """The name of a value's type, which a metaclass of the program may compute."""
    return safe_text(lambda: type(value).__name__)[:100]


def safe_text(make_text: Callable[[], str]) -> str:
    """Text about an object of the program, whose methods may raise."""
    try:
        return str(make_text())
    except BaseException as error:  # noqa: BLE001 - str() and repr() run code of the program
        return f"(no text: {type(error).__name__})"
