"""Which layers keep generated programs apart on this machine."""

from ..runtime import sandbox

ISOLATING = ("landlock", "seccomp")  # without these a program can read files and open sockets


def live_layers() -> tuple[str, ...]:
    """The names of the layers that are put on every generated program here."""
    return tuple(name for name, layer in sandbox.layers().items() if layer.live)
