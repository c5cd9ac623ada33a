"""Neovim with the plugin: when the server runs and when not, where the file is, what the user's own set-up brings along."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.editors.conftest import CODE, HERE, World

Nvim = Callable[..., dict[str, Any]]
STUBBORN = HERE / "neovim" / "stubborn.py"


def lua_list(*words: str | Path) -> str:
    return "{ " + ", ".join(f"[==[{word}]==]" for word in words) + " }"


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """The environment of a user who has no store of their own."""
    (tmp_path / "home").mkdir()
    return {
        "HOME": str(tmp_path / "home"),
        "XDG_DATA_HOME": "",
        "XDG_STATE_HOME": "",
        "XDG_CONFIG_HOME": "",
    }


def test_a_repository_without_a_store_costs_nothing(
    neovim: str, world: World, home: dict[str, str], nvim: Nvim
) -> None:
    """Neovim's client is not even loaded; the first gotcha, recorded elsewhere, is seen while the file is open."""
    for ref in git(world.root, "for-each-ref", "--format=%(refname)", "refs/gitmem").splitlines():
        git(world.root, "update-ref", "-d", ref)
    shutil.rmtree(world.root / ".git" / "gitmem")
    shutil.rmtree(world.root / ".git" / "refs" / "gitmem", ignore_errors=True)
    told = nvim("gate", "pay.py", **home)

    assert (told["loaded"], told["running"]) == (False, False)


@pytest.mark.parametrize("name", ["a b", "100% #1 'ü' 😋 [x]"])
def test_a_linked_worktree_of_any_name_with_packed_refs(
    world: World, home: dict[str, str], nvim: Nvim, name: str
) -> None:
    tree = world.root.parent / name
    git(world.root, "worktree", "add", "-q", "--detach", str(tree))
    git(world.root, "pack-refs", "--all", "--prune")
    assert not (world.root / ".git" / "refs" / "gitmem" / "heads" / "main").exists()
    told = nvim("place", tree / "pay.py", **home)

    assert told["list"] == [str(tree / "pay.py")] * 2
    assert told["list all"] == [str(tree / "pay.py")] * 2


def test_capabilities_of_a_completion_plugin_come_on_top(world: World, nvim: Nvim) -> None:
    """Those alone would say that this editor can do nothing else."""
    given = "require('gitmem').setup({ capabilities = { textDocument = { gitmemTest = true } } })"
    told = nvim("place", "pay.py", "--cmd", f"lua {given}")

    assert told["capabilities"] == [True, True]


def test_the_list_of_the_second_repository_is_its_own(
    world: World, nvim: Nvim, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", str(other))
    (other / "ship.py").write_text(CODE, encoding="utf-8")
    git(other, "add", ".")
    git(other, "commit", "-qm", "ship")
    World(other, world.out, world.env).mem(
        "add", "-k", "gotcha", "Ships late", "--anchor", "ship.py:1"
    )
    told = nvim("second", GITMEM_SECOND=str(other / "ship.py"))

    assert told["list"] == [[str(other / "ship.py"), "Ships late"]]


def test_a_restart_ends_a_server_that_does_not_stop(
    world: World, nvim: Nvim, tmp_path: Path
) -> None:
    starts = tmp_path / "starts"
    setup = f"lua require('gitmem').setup({{ cmd = {lua_list(sys.executable, STUBBORN)} }})"
    nvim("ends", "pay.py", "--cmd", setup, GITMEM_HOW="stubborn", GITMEM_STARTS=str(starts))

    first, _ = (int(pid) for pid in starts.read_text(encoding="ascii").split())
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


def test_a_status_line_tells_nothing_of_a_server_that_ended(
    world: World, nvim: Nvim, tmp_path: Path
) -> None:
    starts = tmp_path / "starts"
    server = tmp_path / "server"
    server.write_text(
        f"#!/bin/sh\necho $$ >> '{starts}'\nexec git-mem-lsp --stdio\n", encoding="utf-8"
    )
    server.chmod(0o755)
    setup = f"lua require('gitmem').setup({{ cmd = {lua_list(server)} }})"
    told = nvim("ends", "pay.py", "--cmd", setup, GITMEM_HOW="killed", GITMEM_STARTS=str(starts))

    assert told["starts"] == 1


def test_a_server_that_ends_at_once_is_not_started_forever(
    world: World, nvim: Nvim, tmp_path: Path
) -> None:
    """Three times, then one message with what to do."""
    starts = tmp_path / "starts"
    starts.touch()
    server = tmp_path / "server"
    server.write_text(f"#!/bin/sh\necho x >> '{starts}'\nexit 7\n", encoding="utf-8")
    server.chmod(0o755)
    setup = f"lua require('gitmem').setup({{ cmd = {lua_list(server)} }})"
    told = nvim("ends", "pay.py", "--cmd", setup, GITMEM_HOW="ends", GITMEM_STARTS=str(starts))

    assert told["starts"] == 3
    assert [text for text in told["said"] if "restart" in text] == [
        "gitmem: the server stopped 3 times by itself. :Gitmem log shows why, :Gitmem restart starts it."
    ]


def test_what_is_installed_meanwhile_is_found(world: World, nvim: Nvim, tmp_path: Path) -> None:
    """Without a restart; Python, which takes its time, was asked once and not for each file."""
    folder, asked = tmp_path / "bin", tmp_path / "asked"
    folder.mkdir()
    python = folder / "python3"
    python.write_text(f"#!/bin/sh\necho $* >> '{asked}'\nexit 1\n", encoding="utf-8")
    python.chmod(0o755)
    server = shutil.which("git-mem-lsp", path=world.env["PATH"])
    assert server
    told = nvim(
        "install",
        PATH=f"{folder}:/usr/bin:/bin",
        GITMEM_ASKED=str(asked),
        GITMEM_SERVER=server,
        GITMEM_TARGET=str(folder / "git-mem-lsp"),
    )

    assert told["asked"] == 1
