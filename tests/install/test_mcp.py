"""Entries for our MCP server in the settings of clients: they come, and go to the byte."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gitmem.install.mcp_clients import CLIENTS
from tests.cli.conftest import Mem
from tests.install.conftest import BIN, parsed

USER = {
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "zed": ".config/zed/settings.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
}
PROJECT = {"cursor": ".cursor/mcp.json", "vscode": ".vscode/mcp.json", "zed": ".zed/settings.json"}
KEYS = {"vscode": "servers", "zed": "context_servers"}
EXTRA = {"vscode": {"type": "stdio"}, "zed": {"source": "custom"}}
NONE = "not installed, nothing changed"
# what people have in such files: comments, trailing commas, other indents, other line ends
TEXTS = (
    "{}",
    "{ }\n",
    "",
    "\n",
    '{"KEY": {}}\n',
    '{\n    // mine\n    "KEY": {\n        "other": {"command": "x", "args": ["-y",],}, // theirs\n    },\n}\n',
    '{\r\n\t"theme": "dark", /* no servers yet */\r\n}\r\n',
    '\ufeff{"KEY": {"other": {"command": "x"}}, "z": [1, 2]}',
)

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="paths are those of Linux")


def key_of(client: str) -> str:
    """Return the object of servers in a client's settings."""
    return KEYS.get(client, "mcpServers")


def expected(client: str, repo: Path, command: str, *words: str) -> dict[str, Any]:
    """Return the entry that a client should have."""
    pinned = ["--repo", str(repo)] if client == "claude-desktop" else []
    return {**EXTRA.get(client, {}), "command": command, "args": [*words, "mcp", *pinned]}


def test_the_clients_are_these() -> None:
    """The tests below are about all of them."""
    assert set(CLIENTS) == set(USER)


@pytest.mark.parametrize("client", USER)
def test_a_new_file_is_made_and_removed_with_its_folders(
    mem: Mem, repo: Path, home: Path, client: str
) -> None:
    """It has our entry and nothing else."""
    file = home / USER[client]
    said = mem("install", client, "--mcp").out
    made = parsed(file)
    mem("uninstall", client, "--mcp")

    assert made == {key_of(client): {"git-mem": expected(client, repo, f"{BIN}/git-mem")}}
    assert f"the MCP settings of {CLIENTS[client].title}: installed (~/{USER[client]})" in said
    assert not (home / USER[client].split("/")[0]).exists()


@pytest.mark.parametrize("client", USER)
@pytest.mark.parametrize("text", TEXTS)
def test_what_others_wrote_keeps_its_bytes(
    mem: Mem, repo: Path, home: Path, client: str, text: str
) -> None:
    """Ours is added; uninstalling brings the old bytes back."""
    before = text.replace("KEY", key_of(client)).encode()
    file = home / USER[client]
    file.parent.mkdir(parents=True)
    file.write_bytes(before)
    mem("install", client, "--mcp")
    between = file.read_bytes()
    again = mem("install", client, "--mcp").out
    mem("uninstall", client, "--mcp")

    assert b'"git-mem"' in between
    assert all(line in between for line in before.splitlines() if b"//" in line or b"/*" in line)
    assert "already installed" in again
    assert file.read_bytes() == before


@pytest.mark.parametrize("client", PROJECT)
def test_for_everybody_of_a_project(mem: Mem, repo: Path, client: str) -> None:
    """The entry names no path of this machine."""
    mem("install", client, "--mcp", "--project")
    made = parsed(repo / PROJECT[client])
    mem("uninstall", client, "--mcp", "--project")

    assert made[key_of(client)]["git-mem"] == expected(client, repo, "git-mem")
    assert not (repo / PROJECT[client]).parent.exists()


@pytest.mark.parametrize("client", ["claude-desktop", "windsurf"])
def test_a_client_without_settings_in_a_project(mem: Mem, client: str) -> None:
    """It is refused, with the scope that there is."""
    said = mem("install", client, "--mcp", "--project", code=1).err

    assert "has no settings in a project" in said
    assert "--user" in said


def test_one_clone_alone_is_no_scope(mem: Mem) -> None:
    """There is no such file of any client."""
    assert "--user" in mem("install", "cursor", "--mcp", "--local", code=1).err


@pytest.mark.parametrize("client", USER)
def test_only_ours_goes_when_the_file_changed_since(mem: Mem, home: Path, client: str) -> None:
    """What somebody added meanwhile stays."""
    mem("install", client, "--mcp")
    file = home / USER[client]
    settings = parsed(file)
    settings[key_of(client)]["other"] = {"command": "x"}
    file.write_text(json.dumps(settings, indent=4))
    mem("uninstall", client, "--mcp")

    assert parsed(file) == {key_of(client): {"other": {"command": "x"}}}


def test_an_old_entry_is_brought_up_to_date(mem: Mem, home: Path) -> None:
    """One of a program that is elsewhere now; a section that we did not make stays."""
    file = home / USER["cursor"]
    file.parent.mkdir(parents=True)
    old = {"mcpServers": {"git-mem": {"command": "/gone/git-mem", "args": ["mcp"]}}}
    file.write_text(json.dumps(old))
    listed = mem("install", "--list").out
    said = mem("install", "cursor", "--mcp").out
    command = parsed(file)["mcpServers"]["git-mem"]["command"]
    mem("uninstall", "cursor", "--mcp")

    assert "broken" in listed
    assert "brought up to date" in said
    assert command == f"{BIN}/git-mem"
    assert parsed(file) == {"mcpServers": {}}


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "docker", "args": ["run", "git-mem", "mcp"]},
        {"command": "git-mem", "args": ["mcp"], "env": {"GITMEM_AGENT": "qa"}},
        "a text",
    ],
)
def test_an_entry_of_the_users_own_is_left_alone(mem: Mem, home: Path, entry: object) -> None:
    """It is named, and stays when ours is taken out."""
    file = home / USER["cursor"]
    file.parent.mkdir(parents=True)
    before = json.dumps({"mcpServers": {"git-mem": entry}})
    file.write_text(before)
    said = mem("install", "cursor", "--mcp").out
    gone = mem("uninstall", "cursor", "--mcp").out

    assert "a way of its own" in said
    assert NONE in gone
    assert file.read_text() == before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"servers": []}', "'servers' is a list where VS Code has an object of servers"),
        ('{"servers": {}, "servers": {}}', "'servers' is there twice"),
        ("[]", "this is a list where settings are an object"),
        ('{"servers": ', "this is not valid JSON"),
    ],
)
def test_what_is_broken_is_refused(mem: Mem, home: Path, text: str, says: str) -> None:
    """The place is named, and nothing changes."""
    file = home / USER["vscode"]
    file.parent.mkdir(parents=True)
    file.write_text(text)
    said = mem("install", "vscode", "--mcp", code=1).err

    assert says in said
    assert "Nothing was changed." in said
    assert file.read_text() == text


def test_a_dry_run_writes_nothing(mem: Mem, home: Path) -> None:
    """The change is printed as a diff."""
    said = mem("install", "zed", "--mcp", "--dry-run").out

    assert '+  "context_servers": {' in said
    assert not (home / ".config").exists()


def test_the_folder_of_settings_that_a_variable_names(
    mem: Mem, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """XDG_CONFIG_HOME stands for ~/.config."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    mem("install", "zed", "vscode", "--mcp")

    assert (tmp_path / "settings/zed/settings.json").exists()
    assert (tmp_path / "settings/Code/User/mcp.json").exists()
    assert not (home / ".config").exists()


def test_all_is_what_is_found_here(mem: Mem, home: Path) -> None:
    """A client left its folder; uninstalling takes out what there is."""
    (home / ".cursor").mkdir()
    (home / ".config/zed").mkdir(parents=True)
    rows = mem("install", "all", "--mcp", "--json").json
    mem("uninstall", "all", "--user")

    assert {row["target"] for row in rows} == {"cursor", "zed"}
    assert {(row["part"], row["scope"]) for row in rows} == {("mcp", "user")}
    assert list((home / ".cursor").iterdir()) == []
    assert list((home / ".config/zed").iterdir()) == []


def test_hooks_and_server_of_one_client(mem: Mem, repo: Path, home: Path) -> None:
    """They come and go apart from one another."""
    mem("install", "cursor", "--user")
    mem("install", "cursor", "--mcp")
    rows = mem("install", "--list", "--json").json["installations"]
    mem("uninstall", "cursor", "--user")
    left = mem("install", "--list", "--json").json["installations"]

    assert {(row["target"], row["part"], row["state"]) for row in rows} == {
        ("cursor", "hooks", "current"),
        ("cursor", "mcp", "current"),
    }
    assert [(row["target"], row["part"]) for row in left] == [("cursor", "mcp")]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("install", "--mcp"), "Say for which client: cursor"),
        (("install", "claude", "--mcp"), "not for claude, which has hooks"),
        (("install", "zed"), "Zed has no hooks; for its MCP settings: zed --mcp"),
        (("uninstall", "zed"), "Zed has no hooks"),
    ],
)
def test_wrong_usage(mem: Mem, args: tuple[str, ...], says: str) -> None:
    """The message says what would be right."""
    assert says in mem(*args, code=2).err


def test_doctor_tells_of_the_server(mem: Mem, home: Path) -> None:
    """An entry that works, and one whose program is gone."""
    mem("install", "windsurf", "--mcp")
    works = mem("doctor", code=None).out
    file = home / USER["windsurf"]
    file.write_text(file.read_text().replace(f"{BIN}/git-mem", "/gone/git-mem"))
    broken = mem("doctor", code=None).out

    assert "the MCP settings of Windsurf in ~/.codeium/windsurf/mcp_config.json work" in works
    assert "do not work: '/gone/git-mem' is not there" in broken
    assert "git mem install windsurf --mcp --user" in broken


def test_outside_of_a_repository(mem: Mem, tmp_path: Path, home: Path) -> None:
    """The entry names no repository."""
    (tmp_path / "plain").mkdir()
    mem.at(tmp_path / "plain")("install", "claude-desktop", "--mcp")
    entry = parsed(home / USER["claude-desktop"])["mcpServers"]["git-mem"]

    assert entry == {"command": f"{BIN}/git-mem", "args": ["mcp"]}


def test_the_entry_starts_the_server(mem: Mem, repo: Path, home: Path) -> None:
    """Run as a client runs it, it answers."""
    from tests.mcp.conftest import Lines

    mem("install", "claude-desktop", "--mcp")
    entry = parsed(home / USER["claude-desktop"])["mcpServers"]["git-mem"]
    with Lines(Path(os.sep), entry["command"], *entry["args"]) as server:
        answer = server.request("tools/call", name="search", arguments={"query": "x"})

    assert not answer["result"]["isError"]
