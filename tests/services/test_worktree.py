"""Questions about the work tree: answered as they are, never an exception, never a change."""

import os
from pathlib import Path

import pytest

from gitmem.git.worktree import WorkTree
from gitmem.repo.location import locate
from tests.conftest import git


def tree(path: Path) -> WorkTree:
    return WorkTree(locate(str(path), os.environ), os.environ)


def test_head(repo: Path, tmp_path: Path):
    """On a branch, on none, and where there is no commit."""
    head = git(repo, "rev-parse", "HEAD")
    assert head == tree(repo).head()
    git(repo, "checkout", "-q", "--detach")
    assert head == tree(repo).head()
    git(tmp_path, "init", "-q", "empty")
    assert "" == tree(tmp_path / "empty").head()


@pytest.mark.parametrize(
    "name", ["a.log", "a b.log", "é\n🚀.log", "-x.log", ":(glob)*.log", os.fsdecode(b"\xff.log")]
)
def test_names_of_any_kind(repo: Path, name: str):
    """Ignored or counted, whatever they are called."""
    (repo / ".gitignore").write_text("sub/\n")
    (repo / name).write_text("one\ntwo\n")
    (repo / "sub").mkdir()
    (repo / "sub" / name).write_text("x\n")
    assert {f"sub/{name}"} == tree(repo).ignored([name, f"sub/{name}"])
    assert [(name, 2, 0)] == tree(repo).changes("HEAD", [name])
    git(repo, "add", "--all")
    git(repo, "commit", "-qm", "more")
    assert [] == tree(repo).changes("HEAD", [name])
    assert [(name, 2, 0)] == tree(repo).changes("HEAD~1", [name])


def test_changes(repo: Path):
    """Edited, staged, deleted and new files, in the order asked; what is not asked for is not told."""
    (repo / "code.py").write_text("a\nb\n")
    (repo / "new.py").write_text("x\n")
    (repo / "other.py").write_text("x\n")
    assert [("new.py", 1, 0), ("code.py", 2, 1)] == tree(repo).changes(
        "HEAD", ["new.py", "code.py", "none.py"]
    )
    git(repo, "add", "code.py")
    assert [("code.py", 2, 1)] == tree(repo).changes("", ["code.py"])
    (repo / "code.py").unlink()
    assert [("code.py", 0, 1)] == tree(repo).changes("HEAD", ["code.py"])


def test_binary_and_huge_files(repo: Path):
    """A binary file has no lines; of a huge new one the first megabyte counts."""
    (repo / "code.py").write_bytes(b"\0\1\n" * 10)
    assert [("code.py", 0, 0)] == tree(repo).changes("HEAD", ["code.py"])
    (repo / "big.txt").write_bytes(b"x\n" * (1 << 20))
    assert [("big.txt", 1 << 19, 0)] == tree(repo).changes("HEAD", ["big.txt"])


@pytest.mark.parametrize("base", ["0" * 40, "nonsense", "--output=pwned", "HEAD~99"])
def test_commit_that_is_not_there(repo: Path, base: str):
    """Nothing is known, nothing is written."""
    assert [] == tree(repo).changes(base, ["code.py"])
    assert ["code.py"] == sorted(p.name for p in repo.iterdir() if p.name != ".git")


def test_unborn_head(tmp_path: Path):
    """A new file is all new, also before the first commit."""
    git(tmp_path, "init", "-q", "empty")
    (tmp_path / "empty" / "a.py").write_text("x\ny\n")
    assert [("a.py", 2, 0)] == tree(tmp_path / "empty").changes("", ["a.py"])


def test_bare_and_linked(make_repo):
    """A bare repository has no work tree to ask; a linked one has its own."""
    bare = tree(make_repo("bare"))
    assert ("", set(), []) == (bare.head(), bare.ignored(["a"]), bare.changes("HEAD", ["a"]))
    linked = make_repo("worktree")
    (linked / "code.py").write_text("changed\n")
    assert [("code.py", 1, 1)] == tree(linked).changes("HEAD", ["code.py"])
    assert git(linked, "rev-parse", "HEAD") == tree(linked).head()


def test_gone_meanwhile(repo: Path):
    """A work tree that is there no more has no answers."""
    asked = tree(repo)
    repo.rename(repo.with_name("moved"))
    assert ("", set(), []) == (asked.head(), asked.ignored(["a"]), asked.changes("HEAD", ["a"]))


def test_file_that_cannot_be_read(repo: Path, monkeypatch: pytest.MonkeyPatch):
    """It is passed over."""
    (repo / "new.py").write_text("x\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    found = tree(repo)
    assert [] == found.changes("HEAD", ["new.py"])


def test_index_is_not_written(repo: Path):
    """Asking changes nothing, not even git's index."""
    index = repo / ".git" / "index"
    # as if it was written: git would like to note that it is the same
    os.utime(repo / "code.py", (1_600_000_000, 1_600_000_000))
    before = (index.read_bytes(), index.stat().st_mtime_ns)
    tree(repo).changes("HEAD", ["code.py"])
    tree(repo).touched("HEAD", 0.0, 2e9)
    tree(repo).ignored(["code.py"])
    assert before == (index.read_bytes(), index.stat().st_mtime_ns)
