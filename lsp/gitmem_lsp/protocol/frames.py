"""Read the client's messages: each in one job of the reading thread.

pygls asks its thread for every line of a header and then for the body; each of these jobs costs two
switches between threads, which together are more than what it takes to answer the opening of a
document.
"""

import asyncio
import json
import re
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, BinaryIO

from pygls.exceptions import JsonRpcException

from gitmem_lsp.protocol.protocol import GuardedProtocol

_LENGTH = re.compile(rb"content-length:\s*(\d+)\s*", re.IGNORECASE)


def read_frame(stream: BinaryIO) -> bytes | None:
    """Return the body of the next message, cut short where the stream ends in it; None at the end.

    Lines that are not header are passed over.
    """
    length = 0
    while line := stream.readline():
        match = _LENGTH.fullmatch(line)
        if match and not length:
            length = int(match[1])
        elif length and not line.strip():
            return stream.read(length) or None
    return None


async def serve_frames(
    stream: BinaryIO,
    threads: Executor,
    protocol: GuardedProtocol,
    report: Callable[[Exception, type[JsonRpcException]], Any],
) -> None:
    """Hand each message to the protocol, until the stream ends.

    One that cannot be handled is reported and passed over.
    """
    loop = asyncio.get_running_loop()
    while (body := await loop.run_in_executor(threads, read_frame, stream)) is not None:
        try:
            protocol.handle_message(protocol.structure_message(json.loads(body)))
        except Exception as error:  # noqa: BLE001 - whatever a client sends, the next message is served
            report(error, JsonRpcException)
