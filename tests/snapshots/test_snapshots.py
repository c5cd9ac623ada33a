"""`git mem snapshot` as a person uses it: what is saved, what is left out, what stands in the way, what a kill leaves."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.repo.refs import PRIVATE
from tests.command_line import mem
from tests.conftest import fsck, git
from tests.json_output import data_of

SECRET = "AKIA" + "QX7RT2LMN4PZ6WVB"


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


def save(work: Path, *args: str) -> dict[str, object]:
    found: dict[str, object] = data_of(mem(work, "snapshot", "save", *args, "--json").stdout)
    return found


def state(work: Path) -> str:
    return git(work, "status", "--porcelain=v2", "--untracked-files=all") + git(
        work, "ls-files", "-s", "-v"
    )


def test_what_is_left_out_is_named(work: Path) -> None:
    """Ignored files are not looked at; large ones and new ones named like secrets are named, and taken when asked for."""
    (work / ".env").write_text("X=1\n")
    (work / "notes.txt").write_text(f"key = {SECRET}\n")
    (work / "a.txt").write_text(f"key = {SECRET}\n")
    (work / "big.bin").write_bytes(os.urandom(11 * 1024 * 1024))
    (work / "x.log").write_text("log\n")
    (work / "new.txt").write_text("new\n")
    made = save(work, "note")
    assert {one["path"] for one in made["omitted"]} == {".env", "big.bin"}
    names = git(work, "ls-tree", "-r", "--name-only", f"{made['ref']}:worktree").splitlines()
    assert ("new.txt" in names, ".env" in names, "x.log" in names) == (True, False, False)
    # the work in hand, whatever it says
    assert SECRET in git(work, "show", f"{made['ref']}:worktree/a.txt")
    assert SECRET in git(work, "show", f"{made['ref']}:worktree/notes.txt")
    taken = save(work, "--with", ".env")
    assert (
        ".env" in git(work, "ls-tree", "-r", "--name-only", f"{taken['ref']}:worktree").splitlines()
    )


def test_what_nothing_has_saved_is_not_overwritten(work: Path) -> None:
    """An ignored file stands in the way, and one that is left out: nothing is done without --force."""
    (work / "x.txt").write_text("saved\n")
    (work / ".env").write_text("X=1\n")
    made = str(save(work, "--with", ".env")["id"])
    (work / "x.txt").unlink()
    (work / ".gitignore").write_text("*.log\nx.txt\n")
    (work / "x.txt").write_text("mine, ignored\n")
    (work / ".env").write_text("X=2\n")
    refused = mem(work, "snapshot", "restore", made, "--worktree", ok=(1,)).stderr
    assert "x.txt" in refused
    assert ".env" in refused
    assert (work / "x.txt").read_text() == "mine, ignored\n"
    (work / "x.txt").unlink()
    made = str(save(work, "again")["id"])
    (work / ".env").write_text("X=3\n")
    (work / "a.txt").write_text("later\n")
    mem(work, "snapshot", "restore", made, "--worktree")
    assert (work / ".env").read_text() == "X=3\n"  # neither snapshot has it: it is left as it is


def test_some_paths_only(work: Path) -> None:
    (work / "a.txt").write_text("changed\n")
    (work / "d/b.txt").write_text("changed too\n")
    git(work, "add", "a.txt")
    made = str(save(work)["id"])
    git(work, "reset", "-q", "--hard")
    mem(work, "snapshot", "restore", made, "d", "--worktree")
    assert ((work / "a.txt").read_text(), (work / "d/b.txt").read_text()) == (
        "one\n",
        "changed too\n",
    )
    assert "a.txt" not in git(work, "diff", "--cached", "--name-only")
    git(work, "update-index", "--assume-unchanged", "a.txt")
    (work / "d/b.txt").write_text("later\n")
    mem(work, "snapshot", "restore", made, "d", "--worktree")
    assert "h a.txt" in git(work, "ls-files", "-v")  # what was not asked for keeps its flags
    assert (
        "not in this work tree"
        in mem(work, "snapshot", "restore", made, "/etc", "--worktree", ok=(1,)).stderr
    )


def test_flags_alone_come_back(work: Path) -> None:
    git(work, "update-index", "--assume-unchanged", "a.txt")
    made = str(save(work)["id"])
    git(work, "update-index", "--no-assume-unchanged", "a.txt")
    mem(work, "snapshot", "restore", made, "--worktree")
    assert "h a.txt" in git(work, "ls-files", "-v")


def test_a_conflict_comes_back(work: Path) -> None:
    """The three sides in the index, the marks in the file."""
    git(work, "checkout", "-qb", "other")
    (work / "a.txt").write_text("theirs\n")
    git(work, "commit", "-qam", "theirs")
    git(work, "checkout", "-q", "-")
    (work / "a.txt").write_text("ours\n")
    git(work, "commit", "-qam", "ours")
    git(work, "merge", "-q", "other", ok=(1,))
    before, text = state(work), (work / "a.txt").read_text()
    made = str(save(work)["id"])
    git(work, "reset", "-q", "--hard")
    mem(work, "snapshot", "restore", made, "--worktree")
    assert (state(work), (work / "a.txt").read_text()) == (before, text)


def test_files_through_filters_come_back_to_the_byte(work: Path) -> None:
    """Line ends that git would change, and keywords that it expands."""
    (work / ".gitattributes").write_text("*.txt text eol=lf\n*.id ident\n")
    (work / "k.id").write_text("$Id$\n")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "attributes")
    (work / "a.txt").write_bytes(b"crlf\r\nmixed\n")
    (work / "k.id").write_text("$Id$ changed\n")
    made = str(save(work)["id"])
    git(work, "checkout", "-q", "-f")
    mem(work, "snapshot", "restore", made, "--worktree")
    assert (work / "a.txt").read_bytes() == b"crlf\r\nmixed\n"
    git(work, "checkout", "-q", "-f")
    clean = (work / "k.id").read_bytes()
    (work / "k.id").write_text("wreck")
    made = str(save(work)["id"])
    git(work, "checkout", "-q", "-f")
    mem(work, "snapshot", "restore", made, "--worktree")
    mem(
        work,
        "snapshot",
        "restore",
        str(data_of(mem(work, "snapshot", "list", "--json").stdout)[0]["id"]),
        "--worktree",
    )
    assert (work / "k.id").read_bytes() == clean


def test_names_that_are_not_text(work: Path) -> None:
    name = os.path.join(os.fsencode(work), b"caf\xe9 \xff.txt")
    Path(os.fsdecode(name)).write_text("x")
    made = str(save(work)["id"])
    os.unlink(name)
    mem(work, "snapshot", "restore", made, "--worktree")
    assert os.path.exists(name)
    assert fsck(work) == ""


def test_another_commit_is_warned_of(work: Path) -> None:
    (work / "a.txt").write_text("changed\n")
    made = str(save(work)["id"])
    git(work, "commit", "-qam", "second")
    told = data_of(mem(work, "snapshot", "restore", made, "--worktree", "--json").stdout)
    assert any("checked out now" in text for text in told["warnings"])


def test_where_there_is_no_commit_and_no_branch(make_repo, tmp_path: Path) -> None:
    """Before the first commit, on a detached HEAD, in a linked work tree; a bare repository says why not."""
    empty = tmp_path / "empty"
    git(tmp_path, "init", "-q", str(empty))
    (empty / "f").write_text("x")
    git(empty, "add", "f")
    made = str(save(empty)["id"])
    git(empty, "rm", "-q", "--cached", "f")
    (empty / "f").unlink()
    mem(empty, "snapshot", "restore", made, "--worktree")
    assert "A  f" in git(empty, "status", "--short")
    repo = make_repo()
    git(repo, "checkout", "-q", "--detach")
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"))
    (tmp_path / "linked/code.py").write_text("changed")
    made = str(save(tmp_path / "linked")["id"])
    git(tmp_path / "linked", "checkout", "-q", "-f")
    mem(tmp_path / "linked", "snapshot", "restore", made, "--worktree")
    assert (tmp_path / "linked/code.py").read_text() == "changed"
    assert git(repo, "status", "--short") == ""
    assert "no work tree" in mem(make_repo("bare"), "snapshot", "save", ok=(1,)).stderr


def test_a_restore_that_was_stopped_is_ended_or_taken_back(work: Path) -> None:
    """Killed at any file, it can be run again, with the first state still saved."""
    for n in range(40):
        (work / f"n{n}.txt").write_text(f"saved {n}\n")
    made = str(save(work)["id"])
    for n in range(40):
        (work / f"n{n}.txt").write_text(f"later {n}\n")
    program = (
        "import os, sys; from gitmem.services.snapshots import restore; old = restore._Files._write; count = [0]\n"
        "def write(*a):\n    count[0] += 1\n    count[0] == 15 and os._exit(9)\n    old(*a)\n"
        "restore._Files._write = write\nfrom gitmem.cli.main import run\nsys.exit(run(sys.argv[1:]))\n"
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
    assert subprocess.run(argv, check=False, capture_output=True).returncode == 9
    assert "was stopped before its end" in mem(work, "status").stderr
    first = json.loads((work / ".git/gitmem/restore.json").read_text())["safety"]
    mem(work, "snapshot", "restore", made, "--worktree")
    assert {(work / f"n{n}.txt").read_text() for n in range(40)} == {
        f"saved {n}\n" for n in range(40)
    }
    assert mem(work, "status").stderr == ""
    mem(work, "snapshot", "restore", first, "--worktree")
    assert {(work / f"n{n}.txt").read_text() for n in range(40)} == {
        f"later {n}\n" for n in range(40)
    }


def test_old_ones_go_and_pinned_ones_stay(work: Path) -> None:
    ids = []
    for n in range(4):
        (work / "a.txt").write_text(f"{n}\n")
        ids.append(str(save(work, f"number {n}")["id"]))
    mem(work, "pin", ids[0])
    mem(work, "snapshot", "prune", "--keep", "1")
    assert [row["id"] for row in data_of(mem(work, "snapshot", "list", "--json").stdout)] == [
        ids[3],
        ids[0],
    ]
    assert len(git(work, "for-each-ref", "refs/gitmem/snapshots").splitlines()) == 2
    mem(work, "snapshot", "drop", ids[3])
    assert "no record has the id" in mem(work, "snapshot", "show", ids[3], ok=(1,)).stderr


def test_share_pushes_one_on_purpose(work: Path, make_repo) -> None:
    hub = make_repo("bare")
    git(work, "remote", "add", "origin", str(hub))
    (work / "a.txt").write_text("changed\n")
    made = save(work)
    mem(work, "snapshot", "share", str(made["id"]))
    assert str(made["ref"]) in git(hub, "for-each-ref", "refs/gitmem")
    assert PRIVATE not in git(hub, "for-each-ref")
    assert git(hub, "show", f"{made['ref']}:worktree/a.txt") == "changed"


def test_a_shared_one_is_fetched_and_brought_back(work: Path, make_repo, tmp_path: Path) -> None:
    hub = make_repo("bare")
    git(work, "remote", "add", "origin", str(hub))
    git(work, "push", "-q", "origin", "HEAD:main")
    (work / "a.txt").write_text("changed\n")
    made = save(work, "for", "you")
    mem(work, "snapshot", "share", str(made["id"]))
    git(tmp_path, "clone", "-q", "-b", "main", str(hub), "other")
    git(tmp_path / "other", "fetch", "-q", "origin", f"{made['ref']}:{made['ref']}")
    assert "for you" in mem(tmp_path / "other", "snapshot", "list").stdout
    mem(tmp_path / "other", "snapshot", "restore", "last", "--worktree")
    assert (tmp_path / "other/a.txt").read_text() == "changed\n"


def test_a_purge_takes_snapshots_that_hold_the_text(work: Path) -> None:
    """Work whose files hold it; where only the record says it, the work stays and the text is masked."""
    (work / "a.txt").write_text("the word is xylophone-77\n")
    one = save(work, "first")
    git(work, "checkout", "-q", "--", "a.txt")
    (work / "d/b.txt").write_text("harmless\n")
    two, three = save(work, "second"), save(work, "says", "xylophone-77")
    mem(work, "forget", "--purge", "--text", "xylophone-77", "--yes")
    left = git(work, "for-each-ref", "--format=%(refname)", "refs/gitmem/snapshots").split()
    assert left == [two["ref"], three["ref"]], one
    assert "xylophone-77" not in mem(work, "list", "--all", "--kind", "snapshot").stdout
    assert "xylophone-77" not in git(work, "cat-file", "--batch-all-objects", "--batch")


def test_submodules_and_sparse_checkouts(work: Path, make_repo, tmp_path: Path) -> None:
    """A submodule is its commit, what is changed inside is its own to save; files that are not checked out stay away."""
    inner = make_repo()
    git(work, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    git(work, "commit", "-qm", "sub")
    (work / "sub/code.py").write_text("changed inside")
    (work / "a.txt").write_text("changed\n")
    made = save(work)
    assert [one["path"] for one in made["omitted"]] == ["sub"]
    git(work, "checkout", "-q", "--", "a.txt")
    mem(work, "snapshot", "restore", "last", "--worktree")
    assert ((work / "a.txt").read_text(), (work / "sub/code.py").read_text()) == (
        "changed\n",
        "changed inside",
    )
    git(work, "checkout", "-q", "--", "a.txt")
    git(work, "sparse-checkout", "set", "d")
    assert (work / "d/b.txt").exists()
    (work / "d/b.txt").write_text("sparse\n")
    before = state(work)
    save(work)
    git(work, "checkout", "-q", "--", "d/b.txt")
    mem(work, "snapshot", "restore", "last", "--worktree")
    assert state(work) == before
    assert fsck(work) == ""


def test_the_code_is_not_walked_by_doctor(work: Path) -> None:
    """What a snapshot stands on is the code's own history."""
    (work / "a.txt").write_text("changed\n")
    save(work)
    assert "everything is in order" in mem(work, "doctor").stdout
