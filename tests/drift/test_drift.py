"""`git mem code drift`: which branches and work trees change the same code; nothing is written, and agents are told."""

import itertools
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.git.merges import PREFIX, Merges
from gitmem.repo.location import locate
from gitmem.services.drift.compare import lines, own, symbols
from gitmem.services.drift.drift import parted
from tests.conftest import git
from tests.hooks.conftest import Agent, run, wait_for
from tests.json_output import data_of

CODE = "def charge(x):\n    y = x\n    return y\n\n\ndef refund(x):\n    return -x\n\n\nclass Cart:\n    size = 1\n\n    def total(self):\n        return 1\n\n    def clear(self):\n        return 2\n"


@pytest.fixture
def base(repo: Path) -> Path:
    """A repository with a branch for each change that a test makes."""
    git(repo, "config", "user.name", "Grace")
    git(repo, "config", "user.email", "g@example.org")
    (repo / "pay.py").write_text(CODE)
    (repo / "README").write_text("hello\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "base")
    run(repo, "init", "--no-remote")
    return repo


def branch(repo: Path, name: str, file: str, old: str, new: str) -> None:
    """Make a branch of the base that changes one place."""
    git(repo, "checkout", "-q", "-b", name, "main")
    path = repo / file
    text = path.read_text() if path.exists() else ""
    assert old in text
    path.write_text(text.replace(old, new, 1))
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", name, "--author", f"{name} <{name}@example.org>")
    git(repo, "checkout", "-q", "main")


def drift(repo: Path, *args: str) -> dict[frozenset[str], dict[str, Any]]:
    """Return {names of two sides: what drift says of them}."""
    found = data_of(run(repo, "code", "drift", "--json", "--level", "none", *args))
    return {frozenset((pair["left"], pair["right"])): pair for pair in found["pairs"]}


def test_levels(base: Path):
    """From nothing in common to the same function; what both did alike is no drift."""
    branch(base, "one", "pay.py", "y = x", "y = x * 2")
    branch(base, "same-function", "pay.py", "return y", "return y + 1")
    branch(base, "other-function", "pay.py", "return -x", "return 0")
    branch(base, "other-method", "pay.py", "return 2", "return 3")
    branch(base, "class", "pay.py", "size = 1", "size = 2")
    branch(base, "readme", "README", "hello", "good day")
    branch(base, "readme-too", "README", "hello", "good night")
    branch(base, "alike", "pay.py", "y = x", "y = x * 2")
    found = drift(base)

    def level(a: str, b: str) -> str:
        return str(found[frozenset((a, b))]["level"])

    assert level("main", "one") == "none"
    assert level("one", "readme") == "low"
    assert level("one", "other-function") == "medium"
    assert level("other-method", "class") == "medium"
    assert level("readme", "readme-too") == "high"
    assert level("one", "same-function") == "critical"
    assert level("one", "alike") == "low"
    (file,) = found[frozenset(("one", "same-function"))]["files"]
    assert (file["path"], file["conflict"], [row["symbol"] for row in file["overlaps"]]) == (
        "pay.py",
        True,
        ["charge"],
    )
    assert {
        contributor.partition(" <")[0]
        for contributor in (*file["left_contributors"], *file["right_contributors"])
    } == {
        "one",
        "same-function",
    }
    text = run(base, "code", "drift")
    assert "charge" in text and "README conflict" in text and "→" in text


def test_a_person_with_two_addresses_is_named_once(base: Path):
    """By people; programs see both addresses."""
    for name, value in (("left", "y * 2"), ("right", "y * 3")):
        branch(base, name, "pay.py", "y = x", f"y = {value}")
    git(base, "checkout", "-q", "left")
    (base / "pay.py").write_text((base / "pay.py").read_text().replace("y * 2", "y * 4"))
    git(base, "commit", "-qam", "again", "--author", "left <left@home.example.org>")
    git(base, "checkout", "-q", "main")

    (file,) = drift(base)[frozenset(("left", "right"))]["files"]
    contributors = {*file["left_contributors"], *file["right_contributors"]}
    assert {"left <left@example.org>", "left <left@home.example.org>"} < contributors
    assert "left, left" not in (text := run(base, "code", "drift", "left", "right"))
    assert "(left and right)" in text or "(right and left)" in text


def test_nothing_is_written(base: Path):
    """No object, no ref, no file, no index: neither by the merges nor for the work in hand of a linked work tree."""
    branch(base, "one", "pay.py", "y = x", "y = x * 2")
    git(base, "worktree", "add", "-q", str(base.parent / "tree"), "-b", "two")
    (base.parent / "tree" / "pay.py").write_text(CODE.replace("return y", "return y + 1"))
    (base.parent / "tree" / "new.py").write_text("x = 1\n")
    git(base, "status")
    git(base.parent / "tree", "status")

    def state() -> set[tuple[str, int, int]]:
        own = {"gitmem"}
        return {
            (str(p), 0 if "objects" in p.parts else p.stat().st_mtime_ns, p.stat().st_size)
            for folder in (base, base.parent / "tree")
            for p in folder.rglob("*")
            if p.is_file() and not own & set(p.parts)
        }

    before = state()
    pair = drift(base)[frozenset(("one", "two (uncommitted)"))]
    assert (pair["level"], pair["files"][0]["overlaps"][0]["symbol"]) == ("critical", "charge")
    assert state() == before


def test_scratch_folders_go(base: Path):
    """With their use; what a killed process left goes with the next one, what is fresh may be somebody's."""
    where = locate(str(base), os.environ)
    with Merges(where, os.environ) as merges:
        assert merges.merge([("HEAD", "HEAD")]) == [[]]
        (mine,) = {Path(row).parent for row in place(merges)}
    assert not mine.exists()
    left = mine.parent / f"{PREFIX}left-{mine.name}"
    left.mkdir()
    os.utime(left, (1, 1))
    with Merges(where, os.environ):
        assert not left.exists()


def place(merges: Merges) -> list[str]:
    """Return where the scratch folder of this process is."""
    return [
        path
        for path in vars(merges).values()
        if isinstance(path, str) and PREFIX in path
        for path in [f"{path}/objects"]
    ]


def test_remote_branches_and_renames(base: Path, tmp_path: Path):
    """A remote's branch counts where it is not the local one; a file that one side renamed is the same file."""
    git(tmp_path, "clone", "-q", "--bare", str(base), str(tmp_path / "hub.git"))
    git(base, "remote", "add", "origin", str(tmp_path / "hub.git"))
    branch(base, "theirs", "pay.py", "y = x", "y = x * 2")
    git(base, "push", "-q", "origin", "theirs")
    git(base, "branch", "-qD", "theirs")
    git(base, "fetch", "-q", "origin")
    git(base, "checkout", "-qb", "mine", "main")
    git(base, "mv", "pay.py", "money.py")
    (base / "money.py").write_text(CODE.replace("return y", "return y + 1"))
    git(base, "commit", "-qam", "mine")
    found = drift(base)
    assert found[frozenset(("mine", "origin/theirs"))]["level"] == "critical"
    assert not any("origin/main" in names for names in found)
    assert set(drift(base, "origin/theirs")) == {frozenset(("mine", "origin/theirs"))}


def test_what_is_checked_out_is_that_of_this_work_tree(base: Path):
    """A branch that is named is compared with the work tree in which one stands."""
    branch(base, "theirs", "pay.py", "y = x", "y = x * 2")
    tree = base.parent / "tree"
    git(base, "worktree", "add", "-q", str(tree), "-b", "two")
    (tree / "pay.py").write_text(CODE.replace("return y", "return y + 1"))
    git(tree, "commit", "-qam", "two")
    assert drift(tree, "theirs")[frozenset(("two", "theirs"))]["level"] == "critical"
    assert set(drift(base, "theirs")) == {frozenset(("main", "theirs"))}


def test_agents_are_told(base: Path):
    """At a start of what clashes with this branch, before an edit of what is changed elsewhere; once a session."""
    branch(base, "theirs", "pay.py", "y = x", "y = x * 2")
    git(base, "checkout", "-qb", "mine", "main")
    first = Agent(base, "s-one")
    first.hook("SessionStart")
    run(base, "drain")
    edit = {"file_path": str(base / "pay.py"), "old_string": "a", "new_string": "b"}
    assert "pay.py is being changed on theirs by theirs too" in first.hook(
        "PreToolUse.Edit", tool_input=edit
    )
    assert "drift" not in first.hook("PreToolUse.Edit", tool_input=edit)
    (base / "pay.py").write_text(CODE.replace("return y", "return y + 1"))
    git(base, "commit", "-qam", "mine")
    told = "pay.py: charge is changed on theirs by theirs too, differently"
    numbers = itertools.count()
    wait_for(
        lambda: (
            run(base, "drain"),
            told in Agent(base, f"s-two-{next(numbers)}").hook("SessionStart"),
        )[1]
    )  # it is not looked for all the time


def test_a_side_alone(base: Path):
    """One branch drifts from nothing; a name that is none is told."""
    assert "one branch" in run(base, "code", "drift")
    assert data_of(run(base, "code", "drift", "--json"))["pairs"] == []


@settings(max_examples=30)
@given(st.integers(2, 12), st.randoms(use_true_random=False))
def test_where_heads_parted_is_what_git_says(count, rng):
    """On random histories the commit is one of git's best common ancestors."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        git(folder, "init", "-q")
        tree = git(folder, "write-tree")
        made: list[str] = []
        for number in range(count):
            parents = (
                rng.sample(made[-5:], min(len(made[-5:]), rng.choice((1, 1, 2)))) if made else []
            )
            made.append(
                git(
                    folder,
                    "commit-tree",
                    tree,
                    *(x for p in parents for x in ("-p", p)),
                    "-m",
                    str(number),
                )
            )
        heads = rng.sample(made, min(4, len(made)))
        out = git(folder, "rev-list", "--topo-order", "--parents", *heads)
        found = parted([(w[0], w[1:]) for row in out.splitlines() if (w := row.split())], heads)
        for i in range(len(heads)):
            for j in range(i + 1, len(heads)):
                bases = git(folder, "merge-base", "--all", heads[i], heads[j], ok=(0, 1)).split()
                assert (found.get((i, j)) in bases) if bases else (i, j) not in found


@given(
    st.lists(st.sampled_from(["a", "b", "c"]), max_size=8),
    st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=8),
    st.lists(st.sampled_from(["a", "c", "e"]), max_size=8),
)
def test_changes_of_one_side_share_nothing(old, new, other):
    """Where only one side changed something there is no shared place, and sides may be exchanged."""
    text, one, two = ("\n".join(some) for some in (old, new, other))
    assert lines(text, text, one) == [] or text.split() == []
    assert len(lines(text, one, two)) == len(lines(text, two, one))


def test_own_lines_of_definitions():
    """A class's own lines are those outside of its methods; one that both removed is no drift."""
    changed = CODE.replace("return 1", "return 9")
    assert [
        one.name
        for one in symbols(
            own(CODE, "a.py"),
            own(changed, "a.py"),
            own(CODE.replace("size = 1", "size = 3"), "a.py"),
        )
    ] == []
    gone = CODE[: CODE.index("class Cart")]
    assert symbols(own(CODE, "a.py"), own(gone, "a.py"), own(gone, "a.py")) == []
    assert {
        one.name for one in symbols(own(CODE, "a.py"), own(gone, "a.py"), own(changed, "a.py"))
    } == {"Cart.total"}


BIG = (
    "class Shop:\n    # the first coment\n    size = 1\n"
    + "".join(f"    a{number} = {number}\n" for number in range(480))
    + "    # the last coment\n    end = 1\n\n\nTABLE = {\n"
    + "".join(f"    'k{number}': {number},\n" for number in range(40))
    + "}\n\n\ndef pay(x):\n    y = x  # as it is\n    return y\n"
)


@pytest.mark.parametrize(
    ("one", "two", "level"),
    [
        (("first coment", "first comment"), ("last coment", "last comment"), "medium"),
        (("size = 1", "size = 2"), ("end = 1", "end = 2"), "medium"),
        (("size = 1", "size = 2"), ("size = 1", "size = 3"), "critical"),
        (("'k1': 1,", "'k1': 7,"), ("'k38': 38,", "'k38': 7,"), "medium"),
        (("'k1': 1,", "'k1': 7,"), ("'k1': 1,", "'k1': 8,"), "critical"),
        (("# as it is", "# as is"), ("return y", "return  y"), "high"),
        (("# as it is", "# as is"), ("y = x ", "y = 2 * x "), "high"),
        (("y = x ", "y = 2 * x "), ("return y", "return -y"), "critical"),
    ],
)
def test_only_code_in_one_place_is_critical(
    base: Path, one: tuple[str, str], two: tuple[str, str], level: str
):
    """Not comments, not white space, not two ends of a class or of a table; git's conflicts are high."""
    (base / "big.py").write_text(BIG)
    git(base, "add", "-A")
    git(base, "commit", "-qm", "big")
    branch(base, "one", "big.py", *one)
    branch(base, "two", "big.py", *two)
    assert drift(base)[frozenset(("one", "two"))]["level"] == level


def test_advice_on_uncommitted_work_shows_that_work(base: Path, tmp_path: Path):
    """The command that is given shows what the other work tree has, and not a commit with itself."""
    tree = tmp_path / "their tree"
    git(base, "worktree", "add", "-q", "-b", "theirs", str(tree), "main")
    (tree / "pay.py").write_text(CODE.replace("return y", "return y + 1"))
    git(base, "checkout", "-q", "-b", "ours")
    (base / "pay.py").write_text(CODE.replace("y = x", "y = x * 2"))
    git(base, "commit", "-qam", "ours")
    (pair,) = [one for one in drift(base).values() if one["level"] == "critical"]
    command = pair["advice"].partition("on either side: ")[2]
    shown = subprocess.run(
        shlex.split(command), cwd=base, capture_output=True, text=True, check=True
    ).stdout
    side = "+    return y + 1" if "their tree" in command else "+    y = x * 2"
    assert side in shown
