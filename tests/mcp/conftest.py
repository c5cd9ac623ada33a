"""Clients of the MCP server: the SDK's own, and one that writes lines by hand."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import pytest
from mcp import types
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.conftest import git
from tests.hooks.conftest import CODE
from tests.nursery import nursery

START = ("-P", "-m", "gitmem", "mcp")
LOADED = (
    "gitmem.cli.main",
    "gitmem.cli.setup.mcp",
    "gitmem.mcp.server",
    "gitmem.mcp.answers",
    "gitmem.app",
)
nursed: list[
    str
] = []  # the words that start `git mem`, its modules loaded; `Lines` starts a cold one


@pytest.fixture(scope="session", autouse=True)
def _nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with nursery(tmp_path_factory.mktemp("n"), "gitmem", *LOADED) as command:
        nursed[:] = command
        yield


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with code and without memory."""
    return make_shop(tmp_path / "shop")


def make_shop(path: Path) -> Path:
    """Make a repository with one file of code in one commit."""
    (path / "app").mkdir(parents=True)
    git(path, "init", "-q")
    git(path, "config", "user.name", "Ada")
    git(path, "config", "user.email", "ada@example.org")
    (path / "app" / "pay.py").write_text(CODE)
    git(path, "add", "app")
    git(path, "commit", "-qm", "Let customers pay")
    return path


class Caller:
    """A client that is connected to a server."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> str:
        """Return what a tool answers."""
        text, is_error = await self.ask(tool, arguments)
        assert not is_error, text
        return text

    async def refused(self, tool: str, **arguments: Any) -> str:
        """Return the error of a tool."""
        text, is_error = await self.ask(tool, arguments)
        assert is_error, text
        assert "Traceback" not in text
        return text

    async def ask(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """Return what a tool answers, and whether that is an error."""
        result = await self.client.call_tool(tool, arguments)
        (content,) = result.content
        assert isinstance(content, types.TextContent)
        return content.text, bool(result.is_error)


@contextlib.asynccontextmanager
async def connected(
    folder: Path,
    *args: str,
    roots: Sequence[Path | str] | None = None,
    mode: str = "auto",
    name: str = "tester",
    env: Mapping[str, str] | None = None,
) -> AsyncIterator[Caller]:
    """Start `git mem mcp` in a folder, and connect the SDK's client to it.

    `roots` None stands for a client that has none to name; a text is a URI as it is sent.
    """

    async def list_roots(_: Any) -> types.ListRootsResult:
        entries = [_root(root) for root in roots or ()]
        return types.ListRootsResult(roots=entries)

    server = StdioServerParameters(
        command=nursed[0],
        args=[*nursed[1:], "mcp", *args],
        cwd=folder,
        env={**os.environ, **(env or {})},
    )
    client = Client(
        stdio_client(server),
        mode=mode,
        list_roots_callback=list_roots if roots is not None else None,
        client_info=types.Implementation(name=name, version="1"),
    )
    async with client:
        yield Caller(client)


def _root(root: Path | str) -> types.Root:
    if isinstance(root, str):  # which the SDK would not let through
        return types.Root.model_construct(uri=root)
    return types.Root.model_validate({"uri": root.as_uri()})


class Lines:
    """A server to which lines are written by hand; each line that it writes has to be a message."""

    def __init__(
        self, folder: Path, *command: str, capabilities: Mapping[str, Any] | None = None
    ) -> None:
        self._capabilities = dict(capabilities or {})
        self.process = subprocess.Popen(
            command or (sys.executable, *START),
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._number = 0

    def __enter__(self) -> Self:
        self.request(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities=self._capabilities,
            clientInfo={"name": "lines", "version": "1"},
        )
        self.send({"method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def send(self, message: dict[str, Any]) -> None:
        """Write a message."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request, and return the answer."""
        self._number += 1
        self.send({"id": self._number, "method": method, "params": params})
        message = self.read()
        assert message["id"] == self._number
        return message

    def read(self) -> dict[str, Any]:
        """Return the next message that the server writes."""
        assert self.process.stdout is not None
        return dict(json.loads(self.process.stdout.readline()))

    def end(self) -> tuple[list[str], str, int]:
        """Close the server's input; return the lines it still writes, its errors and exit code."""
        out, errors = self.process.communicate(timeout=60)
        return out.splitlines(), errors, self.process.returncode


@pytest.fixture
def lines(shop: Path) -> Iterator[Lines]:
    """A server in the repository, spoken to by hand."""
    with Lines(shop) as server:
        yield server
