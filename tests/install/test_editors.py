"""git mem install for editors: the lines on stdout, where they belong on stderr."""

import shlex
import sys
from pathlib import Path

import pytest

from gitmem.base import resources
from tests.cli.conftest import Mem, on_terminal


@pytest.mark.parametrize(
    ("editor", "place", "line"),
    [
        ("vim", "~/.vim/after/plugin/gitmem.vim", "silent! packadd ale"),
        ("emacs", "~/.emacs.d/init.el", ";; Gotchas of a file as notes"),
        ("nvim", "~/.config/nvim/init.lua", "vim.opt.runtimepath:append("),
    ],
)
def test_lines_and_their_place(mem: Mem, editor: str, place: str, line: str) -> None:
    """Nothing else is on stdout, so that it can be written to the file; nothing is written here."""
    before = sorted(mem.folder.rglob("*"))

    done = mem("install", editor)

    assert done.out.startswith(line)
    assert place in done.err
    assert sorted(mem.folder.rglob("*")) == before
    (row,) = mem("install", editor, "--json").json
    assert (row["settings_file"], row["set_up_text"]) == (place, done.out)


def test_the_plugin_of_neovim_is_there(mem: Mem) -> None:
    path = mem("install", "nvim").out.split("'")[1]
    assert (Path(path) / "plugin" / "gitmem.lua").is_file()


def test_a_server_that_is_on_no_path_is_named_in_full(mem: Mem) -> None:
    """As where git mem was installed into an environment of its own."""
    program = str(Path(sys.executable).parent / "git-mem-lsp")

    assert "'git-mem-lsp'" in mem("install", "vim", env={"PATH": str(Path(program).parent)}).out
    assert f"'{program}'" in mem("install", "vim", env={"PATH": "/usr/bin:/bin"}).out
    in_emacs = mem("install", "emacs", env={"PATH": "/usr/bin:/bin"}).out
    assert f'"{program.removesuffix("-lsp")}"' in in_emacs


def test_the_extension_of_vs_code(
    mem: Mem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command that installs it; where it is not, one that does not look for it there again."""
    monkeypatch.setattr(resources, "folder", lambda name: tmp_path)
    assert (
        "make vscode-package && code --install-extension lsp/vscode/gitmem.vsix"
        in mem("install", "vscode", code=1).err
    )
    (tmp_path / "gitmem.vsix").write_bytes(b"")

    assert mem("install", "vscode").out == (
        f"code --install-extension {tmp_path / 'gitmem.vsix'}\n"
    )


def test_what_does_not_go_together(mem: Mem) -> None:
    """Editors and agents, an editor and --mcp, an editor without hooks to take out."""
    assert "by themselves" in mem("install", "vim", "claude", code=2).err
    assert "which is an editor" in mem("install", "vim", "--mcp", code=2).err
    assert "Vim has no hooks" in mem("uninstall", "vim", code=2).err
    assert "vscode --mcp" in mem("uninstall", "vscode", code=2).err


def test_paths_with_quotes_and_commas(
    mem: Mem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each editor reads the path that was meant."""
    odd = tmp_path / 'o\'brien, "x"'
    odd.mkdir()
    (odd / "gitmem.vsix").write_bytes(b"")
    program = str(odd / "git-mem-lsp")
    monkeypatch.setattr(resources, "server_path", lambda name: program)
    bare = {"PATH": "/usr/bin:/bin"}

    vim = mem("install", "vim", env=bare).out
    lisp = mem("install", "emacs", env=bare).out
    monkeypatch.setattr(resources, "folder", lambda name: odd)
    lua, shell = mem("install", "nvim").out, mem("install", "vscode").out

    assert "'" + program.replace("'", "''") + "'" in vim
    assert '"' + program.replace('"', '\\"') + '"' in lisp
    assert "o\\'brien\\\\, " in lua
    assert shlex.split(shell)[-1] == str(odd / "gitmem.vsix")


def test_lines_stay_whole_on_a_terminal(mem: Mem) -> None:
    """They are copied from there."""
    printed = on_terminal(mem.folder, "install", "vim", columns=60)
    assert resources.read_text("setup", "gitmem.vim").strip() in printed
