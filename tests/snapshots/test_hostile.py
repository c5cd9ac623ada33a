"""A snapshot of somebody else writes nothing outside the work tree, whatever it says: it is refused as a whole and its paths are named."""

import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.repo.path_rules import path_refusal
from gitmem.services.snapshots.state import StateDamaged, decode
from tests.command_line import mem
from tests.conftest import git
from tests.scale import scaled
from tests.snapshots.hostile import forge, nested

DOT_GITS = [
    ".git",
    ".GIT",
    ".Git",
    "git~1",
    "GIT~1",
    ".git.",
    ".git ",
    ".git. .",
    ".git:x",
    ".git::$INDEX_ALLOCATION",
    "git~1:x",
    ".g\u200cit",
    "\ufeff.git",
    ".gi\u206at",
    ".git\\hooks",
    "a\\.git",
    "a\\git~1\\x",
    "..\\x",
    ".git\udcff",
]
PLAIN = [
    "ok",
    "a b",
    ".gitx",
    ".github",
    "git~2",
    ".gitignore",
    "x.git",
    "gitmem",
    "\udcff",
    "-rf",
    ":x",
    "café",
    "new\nline",
    ".git~1",
    "a\\b",
]
names = st.sampled_from([*DOT_GITS, *PLAIN, "..", ".", "", "sub"])
paths = st.lists(names, min_size=1, max_size=3).map("/".join)


def listing(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return mode and content of all below a folder, but what git and git mem keep for themselves."""
    own = ("gitmem", "objects", "refs", "logs", "packed-refs", "index")
    found = {}
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if (
            ".git" in parts
            and parts[parts.index(".git") + 1 :][:1]
            and parts[parts.index(".git") + 1] in own
        ):
            continue
        facts = path.lstat()
        data = (
            os.fsencode(os.readlink(path))
            if path.is_symlink()
            else path.read_bytes()
            if path.is_file()
            else b""
        )
        found[str(path)] = stat.S_IFMT(facts.st_mode) | stat.S_IMODE(facts.st_mode), data
    return found


def restored(repo: Path, id: str, *args: str) -> subprocess.CompletedProcess[str]:
    return mem(repo, "snapshot", "restore", id, "--worktree", *args, ok=(0, 1))


@pytest.fixture
def repo(make_repo: Any) -> Path:
    made: Path = make_repo()
    (made / "a.txt").write_text("one\n")
    (made / "d").mkdir()
    (made / "d/b.txt").write_text("two\n")
    git(made, "add", "-A")
    git(made, "commit", "-qm", "files")
    return made


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository in which git refuses the names of all file systems."""
    folder = tmp_path_factory.mktemp("judge")
    git(folder, "init", "-q")
    for key in ("core.protectNTFS", "core.protectHFS"):
        git(folder, "config", key, "true")
    return folder


def git_refuses(judge: Path, path: str, mode: str) -> bool:
    row = f"{mode} {'1' * 40}\t".encode() + os.fsencode(path) + b"\0"
    argv = ["git", "-C", str(judge), "update-index", "-z", "--index-info"]
    env = {**os.environ, "GIT_INDEX_FILE": str(judge / "scratch")}
    done = subprocess.run(argv, input=row, capture_output=True, check=False, env=env)
    (judge / "scratch").unlink(missing_ok=True)
    return b"Invalid path" in done.stderr or b"malformed" in done.stderr or done.returncode != 0


MODULES = [
    ".gitmodules",
    ".GITMODULES",
    "gitmod~1",
    "gitmod~4",
    "GI7EBA~1",
    "gi7eb~10",
    "~1000000",
    ".gitmodules ",
    ".gitmodules:x",
    ".gitm\u200codules",
]


@settings(
    max_examples=scaled(600, 80),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(path=paths | st.sampled_from(MODULES), link=st.booleans())
def test_what_git_refuses_is_refused(judge: Path, path: str, link: bool) -> None:
    """With `core.protectNTFS` and `core.protectHFS`, git itself is the judge of each name."""
    if git_refuses(judge, path, "120000" if link else "100644"):
        assert path_refusal(path, link=link)


@pytest.mark.parametrize("name", PLAIN)
def test_ordinary_names_are_allowed(name: str) -> None:
    assert path_refusal(f"d/{name}", link=True) == ""


SENT = st.tuples(
    paths,
    st.sampled_from(["100644", "100755", "120000", "160000", "100600", "40000"]),
    st.booleans(),
)


@settings(
    max_examples=scaled(60, 6),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    sent=SENT,
    args=st.sampled_from([(), ("--force",), ("d",), ("a.txt", "--force"), ("--dry-run",)]),
)
def test_hostile_trees_change_nothing_outside(
    repo: Path, sent: tuple[str, str, bool], args: tuple[str, ...]
) -> None:
    """Restored in every way: all that is outside the work tree's own files is as it was."""
    git(repo, "reset", "-q", "--hard")  # what the example before has left
    git(repo, "clean", "-ffdxq")
    path, mode, is_raw = sent
    content: bytes | str = "1" * 40 if mode in {"160000", "40000"} else b"../../OUTSIDE"
    id = forge(
        repo,
        nested(os.fsencode(path), mode, content),
        state={"raw": [path] if is_raw and path else []},
    )
    before = listing(repo.parent)
    done = restored(repo, id, *args)
    after = listing(repo.parent)
    allowed = str(repo / path) if not path_refusal(path, link=mode == "120000") else ""
    changed = {one for one in before.keys() | after.keys() if before.get(one) != after.get(one)}
    assert "fault of git mem" not in done.stderr
    if not allowed:
        assert done.returncode == 1, (path, done.stdout)
        assert not changed, done.stderr
    assert all(
        allowed == one or one.startswith(str(repo / path.split("/")[0])) for one in changed
    ), changed


STATES: list[dict[str, Any]] = [
    {"unmerged": [1]},
    {"unmerged": {"a.txt": 7}},
    {"unmerged": {"a.txt": [["100644", "xyz"]] * 3}},
    {"unmerged": {"a.txt": [["--x", "1" * 40]] * 3}},
    {"flags": 3},
    {"flags": {"a.txt": ["S"]}},
    {"raw": "a.txt"},
    {"raw": [1]},
    {"raw": ["\ud800"]},
    {"intended": {"x": 1}},
    {"intended": {"x": "040000"}},
    {"omitted": [1]},
    {"omitted": [{"path": 3, "why": ""}]},
    {"commit": "--help"},
    {"commit": 4},
    {"branch": []},
    {"record": None},
    {"modes": {"a.txt": 438}},
    {"modes": {"a.txt": "4755"}},
    {"ignored": "x"},
    {"under_way": {"merge": 1}},
    {"v": "1"},
    {"v": None},
]


def test_damaged_states_are_told_in_plain_words(repo: Path) -> None:
    """Whatever type a field has: rc 1, 'this snapshot is damaged', nothing changed; the list still works."""
    id = forge(repo, [], state=STATES[0])
    before = listing(repo.parent)
    for args in (
        ("restore", id, "-w"),
        ("restore", id, "a.txt", "-f", "-w"),
        ("diff", id),
        ("show", id),
        ("share", id),
    ):
        done = mem(repo, "snapshot", *args, ok=(0, 1))
        assert "fault of git mem" not in done.stderr
        assert done.returncode == 0 or "this snapshot is damaged" in done.stderr, (
            args,
            done.stderr,
        )
    assert listing(repo.parent) == before
    mem(repo, "snapshot", "list")
    mem(repo, "snapshot", "drop", id)


@pytest.mark.parametrize("state", STATES, ids=str)
def test_each_field_of_a_state_has_its_type(state: dict[str, Any]) -> None:
    facts = {"v": 1, "commit": "", "branch": "main", "record": "", **state}
    with pytest.raises(StateDamaged):
        decode(json.dumps(facts).encode())


def test_refused_paths_are_named_and_hooks_stay(repo: Path) -> None:
    """The trees of an attack: a hook, a path above the root, links on the way, two entries of one name."""
    hook = nested(b".git/hooks/post-commit", "100755", b"#!/bin/sh\ntouch /tmp/owned\n")
    out = nested(b"../OUTSIDE", "100644", b"x")
    id = forge(repo, [*hook, *out], state={"raw": [".git/hooks/post-commit", "../OUTSIDE"]})
    done = restored(repo, id, "--force")
    assert done.returncode == 1
    assert ".git/hooks/post-commit" in done.stderr
    assert "../OUTSIDE" in done.stderr
    assert not (repo / ".git/hooks/post-commit").exists()
    assert not (repo.parent / "OUTSIDE").exists()
    twice = [(b"l", "120000", b".git/hooks"), *nested(b"l/post-commit", "100755", b"x")]
    assert "two entries" in restored(repo, forge(repo, twice), "--force").stderr
    slash = restored(repo, forge(repo, [(b"x/../../y", "100644", b"x")]), "--force")
    assert slash.returncode == 1
    listed = forge(repo, [], state={"intended": {".git/hooks/x": "100644"}, "flags": {"-x": "S"}})
    assert ".git/hooks/x" in restored(repo, listed).stderr


def test_a_link_on_the_way_is_not_followed(repo: Path, tmp_path: Path) -> None:
    """A folder of the snapshot is a link to elsewhere now: the link makes room, what it led to stays."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b.txt").write_text("theirs\n")
    id = forge(repo, nested(b"new/b.txt", "100644", b"restored\n"))
    (repo / "new").symlink_to(outside)
    restored(repo, id, "--force")
    assert (outside / "b.txt").read_text() == "theirs\n"
    assert (repo / "new/b.txt").read_text() == "restored\n"
