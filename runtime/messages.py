"""Messages between the controller and a worker: a JSON header and raw bytes, each with its length. No pickle."""

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from ..core.values import Episode, Fault, FaultKind, Score
from .frames import receive_exactly

LENGTHS: Final = struct.Struct("<II")
Message = dict[str, Any]


def pack(message: Mapping[str, Any], blob: bytes = b"") -> bytes:
    """One message as bytes."""
    header = json.dumps(message, allow_nan=False).encode()
    return LENGTHS.pack(len(header), len(blob)) + header + blob


def receive(channel: socket.socket) -> tuple[Message, bytes]:
    """The worker's end: the next message. Raises EOFError where the controller has gone."""
    header_size, blob_size = LENGTHS.unpack(receive_exactly(channel, LENGTHS.size))
    header: Message = json.loads(receive_exactly(channel, header_size))
    return header, bytes(receive_exactly(channel, blob_size))


async def read(reader: asyncio.StreamReader) -> Message:
    """The controller's end: the next message. Raises asyncio.IncompleteReadError where the worker has gone."""
    header_size, blob_size = LENGTHS.unpack(await reader.readexactly(LENGTHS.size))
    header: Message = json.loads(await reader.readexactly(header_size))
    await reader.readexactly(blob_size)
    return header


def episode_message(episode: Episode) -> Message:
    """An episode as JSON."""
    return {**asdict(episode), "info": dict(episode.info)}


def episode_of(message: Message) -> Episode:
    """The episode of `episode_message`."""
    return Episode(**{**message, "fault": _fault_of(message["fault"])})


def score_message(score: Score) -> Message:
    """A score as JSON."""
    return asdict(score)


def score_of(message: Message) -> Score:
    """The score of `score_message`."""
    return Score(**{**message, "fault": _fault_of(message["fault"])})


def _fault_of(message: Message | None) -> Fault | None:
    return None if message is None else Fault(**{**message, "kind": FaultKind(message["kind"])})
