"""The entry for our MCP server in a client's settings: added, brought up to date, taken out.

All else in the file keeps its bytes, comments too.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.base.extras import MCP, install_command, is_installed
from gitmem.errors import External, UserError
from gitmem.install import file_changes, hook_command
from gitmem.install.file_changes import SettingsChange
from gitmem.install.jsonc import Document, Edit, applied, kind
from gitmem.install.mcp_clients import CLIENTS, NAME, McpClient, user_file
from gitmem.install.plan import InstallContext

PART = "mcp"
FIELDS = frozenset({"command", "args"})  # of an entry of ours, besides a client's own
HINT = "Mend it in your editor, then run this again."
NO_SDK = "the package 'mcp' is not installed"


@dataclass(frozen=True, slots=True)
class McpTarget:
    """The settings file of a client in a scope."""

    name: str
    scope: str
    path: str

    @property
    def client(self) -> McpClient:
        """What is known of the client."""
        return CLIENTS[self.name]


def require_server() -> None:
    """Raise External where our server cannot run: its SDK is an extra."""
    if not is_installed(MCP):
        raise External(
            f"the MCP server cannot run: {NO_SDK}.", f"Install it: {install_command(MCP)}"
        )


def target(name: str, scope: str, world: InstallContext) -> McpTarget:
    """Return the file of a client in a scope; raises UserError when there is none."""
    client = CLIENTS[name]
    if scope == "user":
        return McpTarget(name, scope, user_file(client, world.home, world.env))
    if scope == "project" and not client.project:
        raise UserError(
            f"{client.title} has no settings in a project.",
            "Say --user: for you, in all repositories.",
        )
    if scope != "project":
        raise UserError(
            "an MCP server is not set up for one clone alone.",
            "Say --user: for you, in all repositories; or --project: for everybody who uses this "
            "repository.",
        )
    path = os.path.join(world.root, *client.project.split("/"))
    if not os.path.realpath(path).startswith(os.path.realpath(world.root) + os.sep):
        raise UserError(
            f"{client.project} is a link that leads out of the repository.",
            "Say --user to write settings of yours.",
        )
    world.disk(scope).real(path)  # a link into git's folder is refused
    return McpTarget(name, scope, path)


def entry(goal: McpTarget, world: InstallContext) -> dict[str, Any]:
    """Return the entry that a client starts our server by."""
    if goal.scope == "project":
        words: Sequence[str] = (hook_command.PROGRAM,)
    else:
        hook_command.private(world.env)  # refuses a path that no settings can hold
        words = hook_command.installed(world.env)
    args = [*words[1:], "mcp"]
    if goal.client.pins and world.where is not None:
        args += ["--repo", world.where.worktree or world.where.gitdir]
    return {**goal.client.extra, "command": words[0], "args": args}


def install(goal: McpTarget, world: InstallContext) -> SettingsChange:
    """Return the change that has a client's settings name our server."""
    before = file_changes.read(goal.path)
    if before is not None:
        file_changes.check(os.path.realpath(goal.path))
    doc = Document(before or b"", world.shown(goal.path))
    now, wanted = _value(doc, goal), entry(goal, world)
    if now is not None and not is_ours(now, goal.client):
        note = (
            f"'{NAME}' in {world.shown(goal.path)} starts the server in a way of its own: it was "
            "left as it is."
        )
        return _change(goal, "unchanged", before, before, notes=[note])
    if now == wanted:
        return _change(goal, "unchanged", before, before)
    edits, made = _edits_to_set(doc, goal.client.key, wanted)
    return _change(
        goal,
        "installed" if now is None else "updated",
        before,
        applied(doc.data, edits),
        edits=edits,
        fresh=now is None,
        defaults=made,
    )


def remove(goal: McpTarget, world: InstallContext) -> SettingsChange:
    """Return the change that takes our server out of a client's settings.

    The file is restored to the byte when nothing else has changed since.
    """
    before = file_changes.read(goal.path)
    if before is None:
        return _change(goal, "absent", None, None)
    noted = world.ledger(goal.scope).entry(goal.path)
    is_as_left, old = file_changes.original(noted, before)
    if is_as_left:
        return _change(goal, "removed", before, old)
    doc = Document(before, world.shown(goal.path))
    now = _value(doc, goal)
    if now is None or not is_ours(now, goal.client):
        return _change(goal, "absent", before, before)
    file_changes.check(os.path.realpath(goal.path))
    edits, is_empty = _edits_to_drop(doc, goal.client.key, noted.get("defaults", ()))
    after = None if is_empty and noted.get("created") else applied(doc.data, edits)
    return _change(goal, "removed", before, after, edits=edits)


def _change(
    goal: McpTarget, action: str, before: bytes | None, after: bytes | None, **more: Any
) -> SettingsChange:
    return SettingsChange(
        goal.name, goal.scope, goal.path, action, before, after, part=PART, **more
    )


def entry_in_file(goal: McpTarget, world: InstallContext) -> Mapping[str, Any] | None:
    """Return the entry of our name that a file has, None for none; raises UserError."""
    data = file_changes.read(goal.path)
    return _value(Document(data, world.shown(goal.path)), goal) if data else None


def program_of(value: Mapping[str, Any]) -> str:
    """Return the program that an entry starts."""
    command = value.get("command")
    return command if isinstance(command, str) else ""


def is_ours(value: Mapping[str, Any], client: McpClient) -> bool:
    """Say whether an entry is one that we wrote: no more in it, and it starts our server."""
    args = value.get("args")
    if value.keys() - FIELDS - client.extra.keys() or not isinstance(args, list):
        return False
    rest = args[3:] if args[:3] == ["-P", "-m", "gitmem"] else args
    is_ours = rest is not args or os.path.basename(program_of(value)) == hook_command.PROGRAM
    return is_ours and rest[:1] == ["mcp"]


def _value(doc: Document, goal: McpTarget) -> dict[str, Any] | None:
    """Return the entry of our name, None for none.

    Raises UserError where something else stands in its place.
    """
    section = doc.member(doc.root, goal.client.key) if doc.root is not None else None
    if section is None:
        return None
    if section.value.type != "object":
        raise doc.refuse(
            section.value,
            f"'{goal.client.key}' is {kind(section.value)} where {goal.client.title} has an "
            "object of servers",
            HINT,
        )
    member = doc.member(section.value, NAME)
    if member is None:
        return None
    value = doc.value(member.value)
    return value if isinstance(value, dict) else {"command": None}


def _edits_to_set(doc: Document, key: str, wanted: Any) -> tuple[list[Edit], list[str]]:
    """Return the edits that write an entry, and the sections that they make."""
    if doc.root is None:
        return doc.whole({key: {NAME: wanted}}), [key]
    section = doc.member(doc.root, key)
    if section is None:
        return doc.change(doc.root, add=[(key, {NAME: wanted})]), [key]
    at = _index(doc, section.value)
    if at is None:
        return doc.change(section.value, add=[(NAME, wanted)]), []
    return doc.change(section.value, swap={at: wanted}), []


def _edits_to_drop(doc: Document, key: str, made: Sequence[str]) -> tuple[list[Edit], bool]:
    """Return the edits that remove our entry, and whether nothing is left in the file.

    A section that we `made` goes with its last entry.
    """
    assert doc.root is not None
    section = doc.member(doc.root, key)
    assert section is not None
    at = _index(doc, section.value)
    assert at is not None
    if key not in made or len(doc.items(section.value)) > 1:
        return doc.change(section.value, drop={at}), False
    keys = [item.key for item in doc.items(doc.root)]
    return doc.change(doc.root, drop={keys.index(key)}), len(keys) == 1


def _index(doc: Document, section: Any) -> int | None:
    keys = [item.key for item in doc.items(section)]
    return keys.index(NAME) if NAME in keys else None
