"""The clients whose settings `git mem install CLIENT --mcp` writes, as data.

Which keys and paths they read is what their documentation said in November 2026.
"""

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

NAME = "git-mem"  # of the server in a client's settings
CONFIG = ".config/"
LIBRARY = "Library/Application Support/"


@dataclass(frozen=True, slots=True)
class McpClient:
    """One client: `key` is the object of servers in its settings.

    `user` is the user's file from the home folder and `mac` the one on macOS, where that differs;
    `project` is a file from the root of a work tree, '' for none. `extra` are fields that an entry
    has besides its command. `pins` is whether the client opens no folder, so that the entry names
    the repository.
    """

    title: str
    key: str
    user: str
    mac: str = ""
    project: str = ""
    programs: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    pins: bool = False


CLIENTS: dict[str, McpClient] = {
    "cursor": McpClient(
        "Cursor", "mcpServers", ".cursor/mcp.json", project=".cursor/mcp.json", programs=("cursor",)
    ),
    "vscode": McpClient(
        "VS Code",
        "servers",
        CONFIG + "Code/User/mcp.json",
        LIBRARY + "Code/User/mcp.json",
        ".vscode/mcp.json",
        ("code",),
        {"type": "stdio"},
    ),
    "claude-desktop": McpClient(
        "Claude Desktop",
        "mcpServers",
        CONFIG + "Claude/claude_desktop_config.json",
        LIBRARY + "Claude/claude_desktop_config.json",
        programs=("claude-desktop",),
        pins=True,
    ),
    "zed": McpClient(
        "Zed",
        "context_servers",
        CONFIG + "zed/settings.json",
        project=".zed/settings.json",
        programs=("zed", "zeditor"),
        extra={"source": "custom"},
    ),
    "windsurf": McpClient(
        "Windsurf",
        "mcpServers",
        ".codeium/windsurf/mcp_config.json",
        programs=("windsurf",),
    ),
}


def user_file(client: McpClient, home: str, env: Mapping[str, str]) -> str:
    """Return the path of the user's settings of a client."""
    if client.mac and sys.platform == "darwin":
        return os.path.join(home, *client.mac.split("/"))
    config = env.get("XDG_CONFIG_HOME", "")
    if client.user.startswith(CONFIG) and os.path.isabs(config):
        return os.path.join(config, *client.user.removeprefix(CONFIG).split("/"))
    return os.path.join(home, *client.user.split("/"))


def is_here(client: McpClient, home: str, env: Mapping[str, str]) -> bool:
    """Say whether a client seems to be on this machine.

    Its program is on the PATH, or it left the folder of its settings.
    """
    path = env.get("PATH", os.defpath)
    if any(shutil.which(program, path=path) for program in client.programs):
        return True
    return os.path.isdir(os.path.dirname(user_file(client, home, env)))
