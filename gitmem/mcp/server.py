"""The MCP server: the protocol, by the official SDK, over standard input and output.

Importing this module loads the SDK, which is an extra. A call opens the repository anew, as the
store and the settings may have changed; calls run one after the other.
"""

import os
import signal
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any

import anyio
from anyio.to_thread import run_sync
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from gitmem import __version__
from gitmem.agents.prompt_text import clean
from gitmem.base.failures import of_exception
from gitmem.mcp.arguments import checked, tool_named
from gitmem.mcp.repositories import folders_to_serve, open_repository, uri_of
from gitmem.mcp.streams import claim_streams
from gitmem.mcp.tools import TOOLS
from gitmem.repo.caller import LONGEST_NAME

NAME = "git-mem"
ROOTS = "roots"
PATIENCE = 5.0  # seconds that a client may take to name its roots
FIRST_WITHOUT_REQUESTS = "2026-07-28"  # version of the protocol in which a server asks by an answer
TEXT = 4000  # characters of an error

# tool -> (module below gitmem.mcp, function): what one tool needs is loaded with its first call
RUN = {
    "search": ("answers", "search"),
    "get": ("answers", "get"),
    "context": ("answers", "context"),
    "remember": ("changes", "remember"),
    "why": ("code_answers", "why"),
    "scout": ("code_answers", "find_files"),
    "done": ("changes", "done"),
}


def serve(repo: str, env: Mapping[str, str]) -> None:
    """Serve until standard input ends; `repo` is the folder of the repository, '' for the client's.

    The current folder counts where the client names none. Ctrl-C ends the process at once: a thread
    that waits for input cannot be asked to.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(_serve, repo, env)


async def _serve(repo: str, env: Mapping[str, str]) -> None:
    wire_in, wire_out = claim_streams()
    server = MemoryServer(os.path.abspath(repo) if repo else "", env).protocol_server()
    async with stdio_server(anyio.wrap_file(wire_in), anyio.wrap_file(wire_out)) as (read, write):
        await server.run(read, write, server.create_initialization_options())


class NamedRoots(types.Result):
    """The roots that a client names; the SDK's own model refuses all for one that is no file."""

    roots: Any = None


class ToolCall(types.CallToolRequestParams):
    """A call of a tool, with the client's answers as they came: `roots` is the one we ask for."""

    input_responses: dict[str, Any] | None = None


class MemoryServer:
    """Answers the requests of one client."""

    def __init__(self, repo: str, env: Mapping[str, str]) -> None:
        self._repo = repo
        self._env = env
        self._turns = anyio.CapacityLimiter(1)

    def protocol_server(self) -> "Server[Any]":
        """Return the server of the SDK that calls this one."""
        server: Server[Any] = Server(NAME, version=__version__, on_list_tools=self._list_tools)
        server.add_request_handler("tools/call", ToolCall, self._call_tool)
        return server

    async def _list_tools(self, _: Any, __: Any) -> types.ListToolsResult:
        tools = [
            types.Tool(
                name=tool.name,
                description=tool.description,
                input_schema=tool.schema,
                annotations=types.ToolAnnotations.model_validate(tool.hints),
            )
            for tool in TOOLS
        ]
        return types.ListToolsResult(tools=tools)

    async def _call_tool(
        self, request: Any, call: ToolCall
    ) -> types.CallToolResult | types.InputRequiredResult:
        if not self._repo and _asks_for_roots(request, call):
            return types.InputRequiredResult(input_requests={ROOTS: types.ListRootsRequest()})
        roots = None if self._repo else await _roots(request, call)
        answer = partial(self._answer, roots, _client(request), call)
        text, is_error = await run_sync(answer, limiter=self._turns)
        content = types.TextContent(type="text", text=text)
        return types.CallToolResult(content=[content], is_error=is_error)

    def _answer(self, roots: list[str] | None, program: str, call: ToolCall) -> tuple[str, bool]:
        """Return what a tool answers, and whether that is an error; `roots` as of `_roots`."""
        try:
            tool = tool_named(call.name)
            arguments = checked(tool, call.arguments or {})
            module, name = RUN[tool.name]
            answer = getattr(import_module(f"gitmem.mcp.{module}"), name)
            folders = [self._repo] if self._repo else folders_to_serve(roots)
            with open_repository(folders, self._env, program) as app:
                return answer(app, arguments), False
        except Exception as error:  # noqa: BLE001 - an agent must not see a traceback
            failure = of_exception(error, f"git mem mcp: {call.name}")
            return clean(f"{failure.message} {failure.hint}", TEXT), True


def _client(request: Any) -> str:
    """Return what the client calls itself, '' if it does not say."""
    client = request.session.client_params
    return clean(client.client_info.name, LONGEST_NAME) if client and client.client_info else ""


def _has_roots(request: Any) -> bool:
    abilities = request.session.client_capabilities
    return abilities is not None and abilities.roots is not None


def _asks_for_roots(request: Any, call: ToolCall) -> bool:
    """Return whether the client has to be asked for its roots by an answer."""
    is_new = request.session.protocol_version >= FIRST_WITHOUT_REQUESTS
    return is_new and _has_roots(request) and ROOTS not in (call.input_responses or {})


async def _roots(request: Any, call: ToolCall) -> list[str] | None:
    """Return the URIs of the roots that the client names, '' for what is none.

    None if it names nothing at all; then the current folder counts.
    """
    answer = (call.input_responses or {}).get(ROOTS)
    if answer is None and _has_roots(request) and request.session.can_send_request:
        with anyio.move_on_after(PATIENCE):
            answer = await _asked_roots(request)
    roots = answer.get("roots") if isinstance(answer, Mapping) else answer
    if roots is None or roots == []:
        return None
    return [uri_of(root) for root in roots] if isinstance(roots, list) else []


async def _asked_roots(request: Any) -> dict[str, Any]:
    """Ask the client for its roots; an answer that cannot be used names none that is usable."""
    try:
        answer = await request.session.send_request(types.ListRootsRequest(), NamedRoots)
    except (MCPError, ValidationError):
        return {"roots": [None]}
    return {"roots": answer.roots}
