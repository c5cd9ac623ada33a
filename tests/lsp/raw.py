"""A client without a library: frames in, frames out, every byte of the server's standard output accounted for."""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

PATIENCE = 60.0  # seconds; a slow machine, not a budget
SERVER = [sys.executable, "-m", "gitmem_lsp"]

Message = dict[str, Any]


class Raw:
    """A server process and what it has said. Standard output that is not a frame fails the test."""

    def __init__(self, process: asyncio.subprocess.Process, reading: int) -> None:
        self.process = process
        self.messages: list[Message] = []
        self.errors = b""
        self._news = asyncio.Event()
        self._sent = 0
        self._reading = reading
        self._tasks = [
            asyncio.create_task(self._read_output()),
            asyncio.create_task(self._read_errors()),
        ]

    @classmethod
    async def start(
        cls, env: Mapping[str, str], *args: str, command: list[str] | None = None
    ) -> "Raw":
        """Start a server; its output goes through a pipe of ours, so that a test can close the reading end."""
        reading, writing = os.pipe()
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *(command or SERVER), *args, env=dict(env), stdin=pipe, stdout=writing, stderr=pipe
        )
        os.close(writing)
        return cls(process, reading)

    async def _read_output(self) -> None:
        stream = asyncio.StreamReader()
        self._transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream),
            os.fdopen(self._reading, "rb", buffering=0),
        )
        try:
            while line := await stream.readline():
                length = None
                while line != b"\r\n":
                    name, found, value = line.partition(b": ")
                    assert found and name in {b"Content-Length", b"Content-Type"}, (
                        f"not the protocol: {line!r}"
                    )
                    length = int(value) if name == b"Content-Length" else length
                    line = await stream.readline()
                assert length is not None
                self.messages.append(json.loads(await stream.readexactly(length)))
                self._news.set()
        finally:
            self._news.set()

    async def _read_errors(self) -> None:
        assert self.process.stderr
        while data := await self.process.stderr.read(65536):
            self.errors += data
            self._news.set()

    def deafen(self) -> None:
        """Close the reading end of the server's output, as a client does that died without closing the rest."""
        self._transport.close()

    def send(self, method: str, params: Any = None, id: int | None = None) -> None:
        """Send a notification, or a request."""
        self.send_bytes(
            json.dumps(
                {
                    "jsonrpc": "2.0",
                    "method": method,
                    "params": params,
                    **({"id": id} if id is not None else {}),
                }
            ).encode()
        )

    def send_bytes(self, body: bytes) -> None:
        """Send a frame with any body."""
        assert self.process.stdin
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    async def until(self, test: Callable[[Message], bool], timeout: float = PATIENCE) -> Message:
        """Return the first message that passes a test, once it is there."""

        async def wait() -> Message:
            while True:
                for message in self.messages:
                    if test(message):
                        return message
                assert not self._tasks[0].done(), (
                    f"the output ended: {self._tasks[0].exception()} {self.errors.decode()}"
                )
                self._news.clear()
                await self._news.wait()

        try:
            return await asyncio.wait_for(wait(), timeout)
        except TimeoutError:
            raise AssertionError(
                f"not in {timeout} s: {self.messages} {self.errors.decode()}"
            ) from None

    async def ask(self, method: str, params: Any = None) -> Message:
        """Send a request; return the response."""
        self._sent += 1
        id = self._sent
        self.send(method, params, id)
        return await self.until(lambda m: m.get("id") == id and "method" not in m)

    async def initialize(self, root: Path, **capabilities: Any) -> Message:
        """Begin a session."""
        folders = [{"uri": root.as_uri(), "name": root.name}]
        params = {
            "processId": os.getpid(),
            "rootUri": root.as_uri(),
            "workspaceFolders": folders,
            "capabilities": capabilities,
        }
        answer = await self.ask("initialize", params)
        self.send("initialized", {})
        return answer

    def open(self, path: Path) -> None:
        """Open a document as it is on the disk."""
        item = {
            "uri": path.as_uri(),
            "languageId": "python",
            "version": 1,
            "text": path.read_bytes().decode(),
        }
        self.send("textDocument/didOpen", {"textDocument": item})

    async def shown(self, path: Path, count: int = 1) -> list[Message]:
        """Return a document's diagnostics once there are so many."""
        message = await self.until(
            lambda m: is_shown(m, path) and len(m["params"]["diagnostics"]) == count
        )
        return list(message["params"]["diagnostics"])

    async def end(self, timeout: float = PATIENCE) -> int:
        """Wait until the process has ended; return its exit code."""
        code = await asyncio.wait_for(self.process.wait(), timeout)
        # all that it has said was the protocol
        await asyncio.wait_for(asyncio.gather(*self._tasks), timeout)
        return code

    async def close(self) -> None:
        """Release everything, whatever state the process is in."""
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._transport.close()


def is_shown(message: Message, path: Path) -> bool:
    """Say whether a message publishes a document's diagnostics."""
    return (
        message.get("method") == "textDocument/publishDiagnostics"
        and message["params"]["uri"] == path.as_uri()
    )
