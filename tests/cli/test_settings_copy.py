"""The copy of the settings: it saves a call of git, and never says what git would not say."""

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Mem
from tests.conftest import git


@pytest.fixture
def user_file(mem: Mem) -> Path:
    """The user's configuration file."""
    mem("init", "--no-remote")
    return Path(os.environ["GIT_CONFIG_GLOBAL"])


def agent_of(mem: Mem, **env: str) -> str:
    """Return the namespace that is configured."""
    return mem("config", "agent", env=env).out.strip()


def copy_of(mem: Mem) -> Path:
    """Return where the copy is."""
    return mem.folder / ".git/gitmem/settings.json"


# -- included files


def test_relative_includes_do_not_multiply(mem: Mem, user_file: Path) -> None:
    """A name is looked up beside the file that names it, and nowhere else."""
    for number in range(6):
        git(mem.folder, "config", "--global", "--add", "include.path", f"d{number}/f.inc")
    nested = user_file.parent / "d3"
    nested.mkdir()
    (nested / "f.inc").write_text("[include]\n\tpath = e/g.inc\n")

    assert agent_of(mem) == ""
    assert copy_of(mem).stat().st_size < 5_000
    (nested / "e").mkdir()
    (nested / "e/g.inc").write_text("[gitmem]\n\tagent = ada\n")
    assert agent_of(mem) == "ada"


def test_of_too_many_files_no_copy_is_kept(mem: Mem, user_file: Path) -> None:
    """Git is asked each time instead."""
    names = "".join(f"\tpath = f{number}.inc\n" for number in range(300))
    agent_of(mem)
    assert copy_of(mem).exists()
    user_file.write_text(f"[include]\n{names}")

    assert agent_of(mem) == ""
    assert not copy_of(mem).exists()
    (user_file.parent / "f299.inc").write_text("[gitmem]\n\tagent = ada\n")
    assert agent_of(mem) == "ada"


def test_a_copy_too_large_to_read_is_not_kept(mem: Mem, user_file: Path) -> None:
    """Nor is one believed that an earlier version left."""
    patterns = "".join(f"\tignore = {'x' * 60}{number}\n" for number in range(9_000))
    user_file.write_text(f"[gitmem]\n{patterns}\tagent = ada\n")

    assert agent_of(mem) == "ada"
    assert not copy_of(mem).exists()
    copy_of(mem).write_text("[" * 3_000_000)
    assert agent_of(mem) == "ada"
