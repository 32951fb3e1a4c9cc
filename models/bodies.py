"""The bodies of responses: bounded in size, and whole chat completions in the form of the protocol.

Many servers leave out fields that the client libraries require, or put an error into a response with the status 200.
An answer that is there is used; an error is that error.

Imports httpx2, which takes long: only `clients.py` and `diagnosis.py` import this.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing

import httpx2

from .answer_errors import error_in
from .completions import with_all_fields

MIB = 1024 * 1024
MAX_WHOLE = 16 * MIB  # bytes of one JSON document; a reply of a million characters takes 6 MB at most
MAX_STREAMED = 128 * MIB  # of an event stream, which takes up to 300 bytes for a token


class BodyTooLong(Exception):
    """A service sent more than an answer may have."""


class WebPage(Exception):
    """A page for people came instead of an answer: a wrong address, or a gateway in between."""


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


async def read_body(response: httpx2.Response) -> None:
    """A hook for a client: bounds the body of a response, and puts whole chat completions into their form.

    Raises WebPage, and BodyTooLong.
    """
    response.__class__ = BoundedResponse
    kind = response.headers.get("content-type", "")
    if response.status_code != 200 or kind.startswith("text/event-stream"):
        return
    if kind.startswith("text/html"):
        raise WebPage(str(response.request.url))
    if not response.request.url.path.endswith("/chat/completions"):
        return
    body = await response.aread()
    try:
        document = json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return
    if (found := error_in(document)) is not None:
        response.status_code, document = found
    elif isinstance(document, dict):
        document = with_all_fields(document)
    response._content = json.dumps(document).encode()


def caused_by(error: BaseException | None, kind: type[Exception]) -> Exception | None:
    """The exception of this kind that led to an error of a client library; None where there is none."""
    while error is not None:
        if isinstance(error, kind):
            return error
        error = error.__cause__ or error.__context__
    return None
