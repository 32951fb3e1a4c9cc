"""An upper size for the bodies that services send, after their decompression: what is longer is not read to its end.

Imports httpx2, which takes long: only `providers.py` and `diagnosis.py` import this.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import httpx2

MIB = 1024 * 1024
MAX_WHOLE = 16 * MIB  # bytes of one JSON document; a reply of a million characters takes 6 MB at most
MAX_STREAMED = 128 * MIB  # of an event stream, which takes up to 300 bytes for a token


class BodyTooLong(Exception):
    """A service sent more than an answer may have."""


class BoundedResponse(httpx2.Response):
    """A response whose body ends with BodyTooLong where it is too long. httpx2 decompresses in pieces of 1 MiB."""

    async def aiter_bytes(self, chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        """The decompressed body in pieces. Raises BodyTooLong."""
        streamed = self.headers.get("content-type", "").startswith("text/event-stream")
        left = limit = MAX_STREAMED if streamed else MAX_WHOLE
        async with aclosing(super().aiter_bytes(chunk_size)) as pieces:
            async for piece in pieces:
                left -= len(piece)
                if left < 0:
                    raise BodyTooLong(f"more than {limit // MIB} MiB")
                yield piece


async def bound_body(response: httpx2.Response) -> None:
    """A hook for a client: bounds the body of a response before any of it is read."""
    response.__class__ = BoundedResponse


def too_long(error: BaseException | None) -> BodyTooLong | None:
    """The BodyTooLong that led to this error of a client library; None where there is none."""
    while error is not None:
        if isinstance(error, BodyTooLong):
            return error
        error = error.__cause__ or error.__context__
    return None
