"""Each page of docs/editors, followed to the letter from an empty home: what is typed there, and nothing else."""

import os
import pty
import subprocess
import sys
import termios
import threading
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.editors.conftest import DEADLINE, HERE, World, missing, program
from tests.editors.pages import blocks, follow
from tests.editors.test_vim import ALE
from tests.scale import FULL

# the text of a file of each kind, and the line that has a gotcha
FILES = {
    "pay.py": ("def total(cart):\n    return sum(cart)\n", 2),
    "ship.go": ("package shop\n\nfunc Ship(days int) int {\n\treturn days + 1\n}\n", 4),
    "parse.rs": ("fn parse(text: &str) -> u32 {\n    text.len() as u32\n}\n", 2),
    "data.json": ('{\n  "rate": 19\n}\n', 2),
}
# one that Emacs has a checker for, and one that it has no mode for
SOME = tuple(FILES) if FULL else ("pay.py", "ship.go")
TITLE = "Mind this line"
Editor = Callable[[str, Path], dict[str, Any]]


@pytest.fixture
def fresh(tmp_path: Path, repo: Path) -> World:
    """A home without any settings, and a repository with a gotcha about a file of each kind."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
    env = {
        **kept,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}",
        "HOME": str(home),
        "TERM": "xterm",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GITMEM_OUT": str(tmp_path / "told.json"),
        "GITMEM_DRIVER": str(HERE / "neovim" / "driver.lua"),
    }
    env |= {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
    }
    made = World(repo, tmp_path / "told.json", env)
    for name, (text, _) in FILES.items():
        (repo / name).write_text(text, encoding="utf-8")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "files")
    for name, (_, line) in FILES.items():
        made.mem("add", "-k", "gotcha", TITLE, "--anchor", f"{name}:{line}")
    return made


def on_terminal(command: list[str], world: World) -> str:
    """Run an editor as a person does, on a terminal; return what it drew."""
    ours, its = pty.openpty()
    termios.tcsetwinsize(its, (40, 120))
    drawn: list[bytes] = []

    def read() -> None:
        try:
            while data := os.read(ours, 65536):
                drawn.append(data)
        except OSError:
            return  # its side is closed

    process = subprocess.Popen(
        command, cwd=world.root, env=world.env, preexec_fn=lambda: os.login_tty(its)
    )
    os.close(its)
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        process.wait(DEADLINE)
    finally:
        process.kill()
        process.wait()
        reader.join(5)
        os.close(ours)
    return b"".join(drawn).decode(errors="replace")


def marks(world: World, name: str, command: list[str]) -> dict[str, Any]:
    """Open a file; return what the driver saw there, whose first mark is the gotcha's."""
    world.out.unlink(missing_ok=True)
    drawn = on_terminal(command, world)
    assert world.out.is_file(), drawn[-2000:]
    told = world.told()
    assert "failed" not in told, told["failed"]
    (line, text), *others = told["marks"]
    assert (line, others) == (FILES[name][1], [])
    assert TITLE in text
    return told


def test_the_page_of_vim(fresh: World) -> None:
    """In each kind of file a sign and an entry of ALE's list; the keys for the next one and for no marks."""
    path = program("vim")
    if not any(Path(folder).is_dir() for folder in ALE):
        missing("ALE (vim-ale)")
    follow("vim.md", fresh.env, fresh.root)
    for name in SOME:
        told = marks(fresh, name, [path, "-S", str(HERE / "vim" / "page.vim"), name])
        assert (told["signs"], told["next"]) == ([FILES[name][1]], FILES[name][1])


def test_the_page_of_emacs(fresh: World) -> None:
    """In each kind of file a note of flymake, which moves with what is typed; the language's own checker stays."""
    path = program("emacs")
    follow("emacs.md", fresh.env, fresh.root)
    for name in SOME:
        command = [path, "-nw", name, "-l", str(HERE / "emacs" / "page.el")]
        told = marks(fresh, name, command)
        line = FILES[name][1] + 2
        assert ([line for line, _ in told["moved"]], told["next"]) == ([line], line)
        assert (told["backends"][0], told["echoes"]) == ("gitmem-flymake", True)
        assert ("python-flymake" in told["backends"]) is (name == "pay.py")


def test_the_page_of_neovim(neovim: str, fresh: World) -> None:
    follow("neovim.md", fresh.env, fresh.root)
    for name in SOME:
        command = [neovim, name, "-c", f"luafile {HERE / 'neovim' / 'page.lua'}"]
        assert marks(fresh, name, command)["next"] == FILES[name][1]


def test_the_files_for_helix_and_zed_can_be_read() -> None:
    """These editors are not here: their files are at least what they are said to be."""
    tables = [tomllib.loads(block) for block in blocks("README.md", "toml")]

    assert tables[0]["language-server"]["gitmem"]["command"] == "git-mem-lsp"
    languages = {row["name"]: row for table in tables for row in table.get("language", [])}
    assert {"python", "go", "rust", "json"} <= set(languages)
    assert all(row["language-servers"][-1] == "gitmem" for row in languages.values())
    assert any("language_servers" in table for table in tables)
