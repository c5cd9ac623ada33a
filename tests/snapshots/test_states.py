"""Snapshots in the states that a repository may be in: kinds of index, line ends and filters, permissions, a merge under way, a killed restore."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import mem
from tests.conftest import fsck, git
from tests.json_output import data_of


@pytest.fixture
def work(repo: Path) -> Path:
    """Return a repository with two commits' worth of files."""
    (repo / "a.txt").write_text("one\n")
    (repo / "d").mkdir()
    (repo / "d/b.txt").write_text("two\n")
    (repo / ".gitignore").write_text("*.log\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "first")
    return repo


def save(work: Path, *args: str) -> str:
    return str(data_of(mem(work, "snapshot", "save", *args, "--json").stdout)["id"])


def state(work: Path) -> str:
    return git(work, "status", "--porcelain=v2", "--untracked-files=all") + git(
        work, "ls-files", "-s", "-v"
    )


def change(work: Path) -> str:
    """Stage a file, change another, make a third; return what git says of it."""
    (work / "a.txt").write_text("staged\n")
    git(work, "add", "a.txt")
    (work / "d/b.txt").write_text("changed\n")
    (work / "new.txt").write_text("new\n")
    return state(work)


INDEXES = {
    "split": ["update-index --split-index"],
    "split by configuration": ["config core.splitIndex true", "update-index --split-index"],
    "a shared half that is left over": [
        "update-index --split-index",
        "update-index --no-split-index",
    ],
    "many files": [
        "config feature.manyFiles true",
        "update-index --index-version 4",
        "update-index --force-untracked-cache",
    ],
    "no checksum": ["config index.skipHash true", "update-index --force-write-index"],
    "sparse": ["sparse-checkout set --cone --sparse-index d"],
    "shared with a group": ["config core.sharedRepository group"],
}


@pytest.mark.parametrize("commands", INDEXES.values(), ids=INDEXES)
def test_each_kind_of_index_comes_back(work: Path, commands: list[str]) -> None:
    """The index is a copy that is changed first, whole, and takes the place of the user's."""
    for command in commands:
        git(work, *command.split(), ok=(0, 129))
    before = change(work)
    made = save(work)
    assert state(work) == before
    git(work, "reset", "-q", "--hard")
    mem(work, "snapshot", "restore", made, "-w", "-f")
    assert state(work) == before
    git(work, "commit", "-qm", "next")
    assert "d/b.txt" in git(work, "ls-tree", "-r", "--name-only", "HEAD")
    assert fsck(work) == ""


def test_an_index_that_is_missing_or_locked(work: Path) -> None:
    """Without an index all comes back; with a lock nothing is changed, not even files."""
    before = change(work)
    made = save(work)
    git(work, "reset", "-q", "--hard")
    (work / ".git/index").unlink()
    mem(work, "snapshot", "restore", made, "-w", "-f")
    assert state(work) == before
    git(work, "reset", "-q", "--hard")
    (work / ".git/index.lock").touch()
    refused = mem(work, "snapshot", "restore", made, "-w", ok=(1,))
    assert "index.lock" in refused.stderr
    assert (work / "a.txt").read_text() == "one\n"


def test_bytes_that_git_would_convert_come_back(work: Path) -> None:
    """Line ends against the settings, a file of another encoding, a filter that was not run: as they were on disk."""
    (work / ".gitattributes").write_text(
        "*.crlf text eol=crlf\n*.id ident\n*.rot filter=rot -text\n*.auto text=auto\n"
    )
    git(work, "config", "filter.rot.clean", "tr a-z n-za-m")
    git(work, "config", "filter.rot.smudge", "tr a-z n-za-m")
    for name in ("x.crlf", "y.crlf", "k.id", "r.rot", "s.rot", "t.auto"):
        (work / name).write_text("$Id$ text\nlines\n")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "attributes")
    (work / "x.crlf").write_bytes(b"$Id$ text\r\nlines\r\n")
    (work / "t.auto").write_bytes(b"$Id$ text\r\nlines\r\n")
    (work / "s.rot").write_bytes(git(work, "cat-file", "-p", ":s.rot").encode() + b"\n")
    git(work, "config", "filter.rot.clean", "cat")
    git(work, "add", "s.rot")
    git(work, "config", "core.autocrlf", "true")
    git(work, "add", "--renormalize", "x.crlf", "t.auto")
    (work / "a.txt").write_text("changed\n")
    names = ("x.crlf", "y.crlf", "k.id", "r.rot", "s.rot", "t.auto", "d/b.txt", "a.txt")
    before = {name: (work / name).read_bytes() for name in names}
    made = save(work)
    for name in names:
        (work / name).unlink()
    git(work, "checkout", "-q", "-f", "HEAD", "--", ".")
    mem(work, "snapshot", "restore", made, "-w", "-f")
    assert {name: (work / name).read_bytes() for name in names} == before


def test_permissions_come_back(work: Path) -> None:
    """Of changed files, of new ones, and of those that git calls unchanged."""
    (work / "new.sh").write_text("x")
    (work / "a.txt").write_text("changed\n")
    modes = {"a.txt": 0o600, "d/b.txt": 0o640, "new.sh": 0o700}
    for name, mode in modes.items():
        (work / name).chmod(mode)
    made = save(work)
    (work / "d/b.txt").chmod(0o644)
    (work / "new.sh").unlink()
    git(work, "checkout", "-q", "-f")
    mem(work, "snapshot", "restore", made, "-w")
    assert {name: stat.S_IMODE((work / name).stat().st_mode) for name in modes} == modes


@pytest.mark.parametrize("kind", ["merge", "cherry-pick", "revert", "rebase", "bisect"])
def test_what_git_is_in_the_middle_of_is_named(work: Path, kind: str) -> None:
    """A merge and its like are not brought back; saving and restoring say so."""
    git(work, "checkout", "-qb", "other")
    (work / "a.txt").write_text("theirs\n")
    git(work, "commit", "-qam", "theirs")
    git(work, "checkout", "-q", "main")
    (work / "a.txt").write_text("ours\n")
    git(work, "commit", "-qam", "ours")
    begin = {
        "merge": ["merge", "other"],
        "cherry-pick": ["cherry-pick", "other"],
        "revert": ["revert", "--no-edit", "HEAD~1"],
        "rebase": ["rebase", "other"],
    }
    git(work, *begin.get(kind, ["bisect", "start"]), ok=(0, 1))
    (work / "new.txt").write_text("new\n")
    assert kind in mem(work, "snapshot", "save").stderr
    end = ["bisect", "reset"] if kind == "bisect" else [kind, "--abort"]
    git(work, *end)
    (work / "new.txt").unlink(missing_ok=True)
    assert f"a {kind}" in mem(work, "snapshot", "restore", "last", "-w", "-f").stderr
    assert not (work / ".git/MERGE_HEAD").exists()


def test_what_was_ignored_then_is_not_removed(work: Path) -> None:
    """The file may have been there: it stays, is named, and goes with --force."""
    (work / "build.log").write_text("log\n")
    (work / "a.txt").write_text("changed\n")
    made = save(work)
    (work / ".gitignore").write_text("")
    (work / "other.txt").write_text("made since\n")
    told = mem(work, "snapshot", "restore", made, "-w").stderr
    assert "build.log" in told
    assert (work / "build.log").read_text() == "log\n"
    assert not (work / "other.txt").exists()


def test_a_clean_tree_makes_no_snapshot(work: Path) -> None:
    assert "nothing was saved" in mem(work, "snapshot", "save", "note").stdout
    assert data_of(mem(work, "snapshot", "save", "--json").stdout) is None
    assert git(work, "for-each-ref", "refs/gitmem/snapshots") == ""


def test_a_killed_restore_leaves_no_scratch_index(work: Path) -> None:
    """The next restore sweeps what a process that is no more has left, and doctor does."""
    change(work)
    made = save(work)
    git(work, "reset", "-q", "--hard")
    program = (
        "import os, sys; from gitmem.services.snapshots import restore\n"
        "restore._Files._write = lambda *a: os.kill(os.getpid(), 9)\n"
        "from gitmem.cli.main import run\nsys.exit(run(sys.argv[1:]))\n"
    )
    argv = [
        sys.executable,
        "-c",
        program,
        "-C",
        str(work),
        "snapshot",
        "restore",
        made,
        "--worktree",
    ]
    assert subprocess.run(argv, check=False, capture_output=True).returncode == -9
    assert [name for name in os.listdir(work / ".git") if name.startswith("gitmem-index")]
    mem(work, "doctor", "--fix", ok=(0, 1))
    assert not [name for name in os.listdir(work / ".git") if name.startswith("gitmem-index")]
    subprocess.run(argv, check=False, capture_output=True)
    mem(work, "snapshot", "restore", made, "-w")
    assert not [name for name in os.listdir(work / ".git") if name.startswith("gitmem-index")]
    assert (work / "d/b.txt").read_text() == "changed\n"


def test_neighbours_come_back(work: Path) -> None:
    """A staged deletion whose file is there, a rename, a link to a folder, a folder whose case changed, a pointer of LFS."""
    git(work, "rm", "-q", "--cached", "a.txt")
    git(work, "mv", "d", "D")
    (work / "l").symlink_to("D")
    (work / "p.bin").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 5\n"
    )
    git(work, "add", "p.bin")
    before = state(work)
    made = save(work)
    git(work, "reset", "-q", "--hard")
    git(work, "clean", "-qfd")
    mem(work, "snapshot", "restore", made, "-w", "-f")
    assert state(work) == before
    assert os.readlink(work / "l") == "D"


def test_sharing_checks_all_that_leaves(work: Path, make_repo) -> None:
    """Staged text and new files are looked at, and those whose names tell of secrets."""
    hub = make_repo("bare")
    git(work, "remote", "add", "origin", str(hub))
    token = "AKIA" + "QX7RT2LMN4PZ6WVB"
    (work / "a.txt").write_text(f"key = {token}\n")
    git(work, "add", "a.txt")
    (work / "a.txt").write_text("clean again\n")
    (work / ".env").write_text("X=1\n")
    made = save(work, "--with", ".env")
    refused = mem(work, "snapshot", "share", made, ok=(1,)).stderr
    assert "a.txt" in refused
    assert ".env" in refused
    assert "refs/gitmem/snapshots" not in git(hub, "for-each-ref")


def test_a_repository_in_the_way_is_left_whole(work: Path) -> None:
    """A file that would replace a folder with a repository in it is refused before anything goes."""
    (work / "lib").write_text("a file\n")
    id = save(work)
    (work / "lib").unlink()
    git(work, "init", "-q", "lib/sub")
    for number in range(8):
        (work / f"lib/f{number}").write_text("kept\n")

    done = mem(work, "snapshot", "restore", id, "--worktree", "--force", ok=(1,))

    assert done.returncode == 1
    assert "repository" in done.stderr
    assert len(list((work / "lib").glob("f*"))) == 8
    assert (work / "lib/sub/.git/HEAD").exists()
