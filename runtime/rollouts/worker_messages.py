"""Messages between the controller and a worker: a JSON header and raw bytes, each with its length. No pickle."""

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from ...core.faults import Fault, FaultKind
from ...core.ports import Practice
from ...core.probes import Disturbance
from ...core.values import CallTimes, Episode, EpisodeNotes, Probe, Score, Stage
from .program_frames import receive_exactly

LENGTHS: Final = struct.Struct("<II")
Message = dict[str, Any]


def pack(message: Mapping[str, Any], blob: bytes = b"") -> bytes:
    """One message as bytes."""
    header = json.dumps(message, allow_nan=False).encode()
    return LENGTHS.pack(len(header), len(blob)) + header + blob


class ControllerGone(Exception):
    """The other end of a worker's channel is closed, so the worker ends."""


def send(channel: socket.socket, message: Mapping[str, Any], blob: bytes = b"") -> None:
    """The worker's end: send one message. Raises ControllerGone."""
    try:
        channel.sendall(pack(message, blob))
    except ConnectionError as error:
        raise ControllerGone from error


def receive(channel: socket.socket) -> tuple[Message, bytes]:
    """The worker's end: the next message. Raises ControllerGone."""
    try:
        header_size, blob_size = LENGTHS.unpack(receive_exactly(channel, LENGTHS.size))
        header: Message = json.loads(receive_exactly(channel, header_size))
        return header, bytes(receive_exactly(channel, blob_size))
    except (EOFError, ConnectionError) as error:
        raise ControllerGone from error


class MessageReader:
    """The controller's end. A cancelled `read` loses no data: the next one continues at the same byte."""

    def __init__(self, stream: asyncio.StreamReader) -> None:
        self._stream = stream
        self._sizes: tuple[int, int] | None = None

    async def read(self) -> Message:
        """The next message. Raises asyncio.IncompleteReadError if the worker is gone."""
        return (await self.read_with_blob())[0]

    async def read_with_blob(self) -> tuple[Message, bytes]:
        """The next message and its raw bytes. Raises asyncio.IncompleteReadError if the other end is gone."""
        if self._sizes is None:
            header_size, blob_size = LENGTHS.unpack(await self._stream.readexactly(LENGTHS.size))
            self._sizes = header_size, blob_size
        data = await self._stream.readexactly(sum(self._sizes))
        size = self._sizes[0]
        message: Message = json.loads(data[:size])
        self._sizes = None
        return message, data[size:]


def unpack(data: bytes) -> tuple[Message, bytes]:
    """The message and the raw bytes of `pack`."""
    header_size, _ = LENGTHS.unpack_from(data)
    end = LENGTHS.size + header_size
    message: Message = json.loads(data[LENGTHS.size:end])
    return message, data[end:]


def episode_message(episode: Episode) -> Message:
    """An episode as JSON."""
    return {**asdict(episode), "info": dict(episode.info)}


def episode_without_recording(request: Mapping[str, Any], fault: Fault) -> Episode:
    """The episode of a roll that left no recording."""
    return Episode(
        index=int(request["index"]), seed=int(request["seed"]), steps=0, ended_by="fault", success=False, fault=fault
    )


def episode_of(message: Message) -> Episode:
    """The episode of `episode_message`."""
    return Episode(**{**message, "fault": _fault_of(message["fault"]), "notes": _notes_of(message["notes"])})


def practice_of(message: Message | None) -> Practice | None:
    """How a practice episode differs; None for an episode of the search."""
    return None if message is None else Practice(**message)


def disturbance_of(message: Message | None) -> Disturbance | None:
    """What is done to the policy of a ladder's rollout; None for any other episode."""
    return None if message is None else Disturbance(**message)


def score_message(score: Score) -> Message:
    """A score as JSON."""
    return asdict(score)


def score_of(message: Message) -> Score:
    """The score of `score_message`."""
    return Score(**{**message, "fault": _fault_of(message["fault"])})


def _notes_of(message: Message) -> EpisodeNotes:
    times = message["times"]
    return EpisodeNotes(**{
        **message,
        "stages": tuple(Stage(**stage) for stage in message["stages"]),
        "problems": tuple(message["problems"]),
        "times": None if times is None else CallTimes(**times),
    })


def probe_message(probe: Probe) -> Message:
    """A probe as JSON."""
    return {"name": probe.name, "episode": episode_message(probe.episode), "below": list(probe.below),
            "source": probe.source}


def probe_of(message: Message) -> Probe:
    """The probe of `probe_message`."""
    return Probe(name=message["name"], episode=episode_of(message["episode"]), below=tuple(message["below"]),
                 source=message["source"])


def _fault_of(message: Message | None) -> Fault | None:
    return None if message is None else Fault(**{**message, "kind": FaultKind(message["kind"])})
