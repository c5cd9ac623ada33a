"""Vim with ALE, set up as docs/editors/vim.md says."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.editors.conftest import HERE, OTHER, TITLE, WORKAROUND, World, missing, program

ALE = ("/usr/share/vim/vimfiles/pack/dist-bundle/opt/ale", "/usr/share/vim-ale")


@pytest.fixture
def vim(
    drive: Callable[..., dict[str, Any]], world: World, tmp_path: Path
) -> Callable[..., dict[str, Any]]:
    """Run the driver in Vim, with the lines that `git mem install vim` prints."""
    path = program("vim")
    if not any(Path(folder).is_dir() for folder in ALE):
        missing("ALE (vim-ale)")
    set_up = tmp_path / "gitmem.vim"
    set_up.write_text(world.mem("install", "vim"))

    def run(file: str | Path = "pay.py") -> dict[str, Any]:
        return drive(
            path,
            "-N",
            "-u",
            "NONE",
            "-i",
            "NONE",
            "-n",
            "-es",
            "-S",
            HERE / "vim" / "ale.vim",
            GITMEM_SETUP=str(set_up),
            GITMEM_FILE=str(file),
        )

    return run


def test_a_gotcha_is_seen_followed_and_resolved(
    vim: Callable[..., dict[str, Any]], world: World
) -> None:
    """ALE's list on open, hover, lines that follow the typing, a code action after which the entry and the gotcha are gone."""
    told = vim()
    (line, kind, text), (other_line, other_kind, other) = told["diagnostics"]

    assert (line, kind) == (5, "W") and TITLE in text  # ALE has no kind for notes
    assert (other_line, other_kind) == (10, "W") and OTHER in other
    assert TITLE in told["hover"] and WORKAROUND in told["hover"] and OTHER not in told["hover"]
    assert TITLE in told["actions"]
    (message,) = world.messages("resolve")
    assert "Gitmem-Origin: editor" in message
    assert [row["title"] for row in world.gotchas() if row.get("is_resolved")] == [TITLE]


@pytest.mark.parametrize("name", ["a b", "100% #1 'ü' 😋"])
def test_a_linked_worktree_of_any_name(
    vim: Callable[..., dict[str, Any]], world: World, name: str
) -> None:
    """There `.git` is a file."""
    tree = world.root.parent / name
    git(world.root, "worktree", "add", "-q", "--detach", str(tree))
    told = vim(tree / "pay.py")

    assert [line for line, _, _ in told["diagnostics"]] == [5, 10]
