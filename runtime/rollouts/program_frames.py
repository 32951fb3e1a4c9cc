"""Length-prefixed frames over a stream socket, for both sides of a program process. Standard library only."""

import socket
import struct
from typing import Final

HEADER: Final = struct.Struct("<II")    # kind, length of the payload in bytes
ONE_PIECE_BYTES: Final = 65_536         # payloads up to this size are cheaper to copy than to send separately

# from the trusted side to a program
SPEC: Final = 1             # JSON: role, class, seed, layout …
PROGRAM: Final = 2          # the program's text
ARRAY: Final = 3            # one array of a trajectory, in the order of the SPEC
OBSERVATION: Final = 4      # raw float64, or JSON
ASK_REPORT: Final = 5       # the episode is over; as long as a raw OBSERVATION. Answered by REPORT or NO_REPORT
# from a program to the trusted side
HARDENED: Final = 17        # JSON list of live layers; sent before the program is loaded
READY: Final = 18           # the policy was made and reset
ACTION: Final = 19          # raw float64, or JSON
INVALID: Final = 20         # text: why the action cannot be sent
CRASH: Final = 21           # JSON: message, traceback
RESULT: Final = 22          # JSON: fitness, metrics
STAGED: Final = 23          # an ACTION, then the name of a new stage, then one byte: the length of the name in bytes
REPORT: Final = 24          # JSON object, or nothing; in practice also before an ACTION, if it is another one
RAN: Final = 26             # text: which marks of the program were set, in hexadecimal; before REPORT or NO_REPORT
NO_REPORT: Final = 25       # text: why the report cannot be sent

JSON_ACTION_USUAL_BYTES: Final = 512    # of a JSON action, which are read together with the frame's header
STAGE_BYTES: Final = 129    # what a STAGED frame has more than an ACTION: 32 characters of UTF-8, and the length


class MalformedFrame(Exception):
    """Bytes that are not a frame, or a frame above the agreed length."""


def send_frame(sock: socket.socket, kind: int, payload: bytes | bytearray | memoryview) -> None:
    """Send one frame on a blocking socket."""
    header = HEADER.pack(kind, len(payload))
    if len(payload) <= ONE_PIECE_BYTES:
        sock.sendall(header + payload)      # one call, so that the other side wakes up once
    else:
        sock.sendall(header)
        sock.sendall(payload)


def receive_exactly(sock: socket.socket, size: int) -> bytearray:
    """The next `size` bytes of a blocking socket. Raises EOFError if the other side is gone."""
    data = bytearray(size)
    view = memoryview(data)
    filled = 0
    while filled < size:
        count = sock.recv_into(view[filled:])
        if count == 0:
            raise EOFError("the other side closed the channel")
        filled += count
    return data


def receive_frame(sock: socket.socket, cap: int) -> tuple[int, bytearray]:
    """The next frame of a blocking socket. Raises EOFError, or MalformedFrame above `cap` bytes."""
    kind, size = HEADER.unpack(receive_exactly(sock, HEADER.size))
    if size > cap:
        raise MalformedFrame(f"a frame of {size} bytes where at most {cap} are agreed")
    return kind, receive_exactly(sock, size)
