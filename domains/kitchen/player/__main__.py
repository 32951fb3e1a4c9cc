"""The player's process, started by the client."""

import argparse
import http.client
import json
import os
import secrets
import struct
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

import msgpack

from ....core.errors import UsageError
from .. import procedural as generated
from .. import recorded
from ..options import HELD_OUT, PREFIX, TRAINING
from .actions import Player

# A player's connection to the client: a pair of named pipes, or requests to the client's web server.


Message = dict[str, Any]

HEADER: Final = struct.Struct("!BI")        # type, length of the body in bytes
METADATA, ACTION, END = 1, 2, 255
_ANSWER_S: Final = None                     # no limit: hours may pass before the client's next action


class Link(Protocol):
    """Sends events and receives actions."""

    def exchange(self, event: Message) -> Message | None:
        """Send an event's metadata; returns the next action, or None if the client has disconnected."""


class Pipes:
    """AI2-THOR's FIFO server: framed messages, msgpack out, JSON in."""

    def __init__(self, server: Path, client: Path) -> None:
        """`server` is the pipe that the client reads; the client waits for the first event before it opens `client`."""
        self._out: BinaryIO = server.open("wb")
        self._client = client
        self._in: BinaryIO | None = None

    def exchange(self, event: Message) -> Message | None:
        """Send an event's metadata; returns the next action, or None if the client has disconnected."""
        body = msgpack.packb(event)
        try:
            self._out.write(HEADER.pack(METADATA, len(body)) + body + HEADER.pack(END, 0))
            self._out.flush()
            if self._in is None:
                self._in = self._client.open("rb")
            return self._action(self._in)
        except (BrokenPipeError, EOFError):
            return None

    def _action(self, pipe: BinaryIO) -> Message:
        action: Message | None = None
        for kind, body in _frames(pipe):
            if kind == ACTION:
                action = json.loads(body)
        if action is None:
            raise EOFError
        return action


def _frames(pipe: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The frames of one message. Raises EOFError."""
    while True:
        header = pipe.read(HEADER.size)
        if len(header) < HEADER.size:
            raise EOFError
        kind, size = HEADER.unpack(header)
        if kind == END:
            return
        body = pipe.read(size)
        if len(body) < size:
            raise EOFError
        yield kind, body


class Web:
    """AI2-THOR's WSGI server: events are posted as forms, the answers are actions."""

    def __init__(self, host: str, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection(host, port, timeout=_ANSWER_S)
        self._token = token

    def exchange(self, event: Message) -> Message | None:
        """Send an event's metadata; returns the next action, or None if the client has disconnected."""
        boundary = secrets.token_hex(16)
        body = _form({"metadata": json.dumps(event), "actionReturns": "", "token": self._token}, boundary)
        try:
            self._connection.request(
                "POST", "/train", body, {"Content-Type": f"multipart/form-data; boundary={boundary}"}
            )
            with self._connection.getresponse() as answer:
                text = answer.read()
        except (OSError, http.client.HTTPException):
            return None
        if answer.status != http.client.OK:
            return None
        action: Message = json.loads(text)
        return action or None       # an empty action ends the connection


def _form(fields: Mapping[str, str], boundary: str) -> bytes:
    """A multipart form, with headers in the spelling that the client's parser expects."""
    parts = [
        f'--{boundary}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-disposition: form-data; name="{name}"'
        f"\r\n\r\n{value}\r\n" for name, value in fields.items()
    ]
    return ("".join(parts) + f"--{boundary}--\r\n").encode()


def link_of(environment: Mapping[str, str]) -> Link:
    """The link that the client's environment variables select. Raises ValueError or KeyError if they are invalid."""
    kind = environment.get("AI2THOR_SERVER_TYPE", "FIFO")
    if kind == "FIFO":
        return Pipes(
            Path(environment["AI2THOR_FIFO_SERVER_PIPE_PATH"]), Path(environment["AI2THOR_FIFO_CLIENT_PIPE_PATH"])
        )
    if kind == "WSGI":
        return Web(
            environment["AI2THOR_HOST"], int(environment["AI2THOR_PORT"]), environment.get("AI2THOR_CLIENT_TOKEN", "")
        )
    raise ValueError(f"AI2THOR_SERVER_TYPE is {kind!r}; it must be FIFO or WSGI")


FIRST_SEQUENCE = 0
LOOK_S = 0.5        # period of the check that the client is alive
OPEN_S = 300.0      # a client that has not connected by then is gone: it gives a player as long to start


def main(arguments: list[str], environment: dict[str, str]) -> int:
    """Play until the client disconnects. Returns the exit code."""
    connected = threading.Event()
    threading.Thread(target=_end_with, args=(os.getppid(), connected), daemon=True).start()
    given, _ = _parser().parse_known_args(arguments)
    try:
        player = _player(given.recordings, screen=(given.width, given.height))
        link = link_of(environment)
    except (UsageError, ValueError) as error:
        sys.stderr.write(f"player: {error}\n")
        return 2
    except KeyError as error:
        sys.stderr.write(f"player: {error.args[0]} is not set: start the player through the ai2thor client\n")
        return 2
    event, sequence = player.event(), FIRST_SEQUENCE
    while (action := link.exchange(_message(event, sequence))) is not None:
        connected.set()
        event, sequence = player.perform(action), int(action.get("sequenceId", sequence))
    return 0


def _end_with(client: int, connected: threading.Event) -> None:
    """Exit when the client has ended. If the client dies before it opens its pipe, the player would wait forever.

    A client that died before this process asked for its parent is noticed by the time.
    """
    until_s = time.monotonic() + OPEN_S
    while os.getppid() == client and (connected.is_set() or time.monotonic() < until_s):
        time.sleep(LOOK_S)
    os._exit(1)


def _message(event: Message, sequence: int) -> Message:
    return {"agents": [event], "thirdPartyCameras": [], "activeAgentId": 0, "sequenceId": sequence}


def _player(recordings: Path | None, *, screen: tuple[int, int]) -> Player:
    if recordings is not None:
        scenes = {f"{name}_physics": name for name in recorded.scene_names(recordings)}
        return Player(scenes, partial(recorded.load, recordings), screen=screen)
    names = [f"{PREFIX['generated']}{number}" for number in (*TRAINING, *HELD_OUT)]
    return Player({name: name for name in names}, generated.load, screen=screen)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="player", description="Serves AI2-THOR's wire protocol.", allow_abbrev=False)
    parser.add_argument("--recordings", type=Path, metavar="FOLDER", help="recorded kitchens; default: generated")
    parser.add_argument("-screen-width", dest="width", type=int, default=300, help="set by the client")
    parser.add_argument("-screen-height", dest="height", type=int, default=300, help="set by the client")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], dict(os.environ)))
