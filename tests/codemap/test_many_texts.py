"""The texts of many files are read from git without waiting for ever."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.git.process import Git
from tests.codemap.conftest import Tree

LIMIT = 120  # seconds: none of these waits for the clock, only what hangs takes so long

FOLLOW = """
import json, os, resource, sys
from gitmem.codemap.anchors.tracker import Follower
from gitmem.git.process import Git
from gitmem.repo.location import locate

work, seconds, names, anchor = json.loads(sys.argv[1])
where = locate(work, os.environ)
follower = Follower(Git(where.gitdir, os.environ), where.worktree, seconds)
follower.expect(names)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
spot = follower.now(anchor)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(spot.path, spot.first, spot.state, grown)
"""


def follow(
    tree: Tree, names: list[str], anchor: dict, seconds: float, path: str = ""
) -> tuple[str, int]:
    """Return where an anchor is, and by how many kB of memory the process grew.

    The process is one of its own, that may not hang.
    """
    out = subprocess.run(
        [sys.executable, "-c", FOLLOW, json.dumps([str(tree.path), seconds, names, anchor])],
        env={**os.environ, "PATH": path or os.environ["PATH"]},
        check=True,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    ).stdout
    spot, _, grown = out.rpartition(" ")
    return spot, int(grown)


def test_many_deleted_files_with_long_names(tree: Tree):
    """More names and more text than pipes hold are read."""
    folder = "/".join(["a" * 45] * 3)
    names = [f"{folder}/module_{n:04}.py" for n in range(600)]
    for n, name in enumerate(names):
        tree.write(name, "".join(f"value_{n}_{k} = compute({n}, {k})\n" for k in range(200)))
    tree.commit()
    anchor = tree.anchor(f"{names[7]}:20")
    shutil.rmtree(tree.path / ("a" * 45))
    tree.write("moved.py", "".join(f"value_7_{k} = compute(7, {k})\n" for k in range(200)))
    assert "moved.py 20 moved" == follow(tree, names, anchor, 60.0)[0]


def test_git_that_never_answers_is_ended(tree: Tree, tmp_path: Path):
    """A reader of texts that hangs is ended, and the remembered lines are used."""
    tree.write("pay.py", "def pay(amount):\n    return charge(amount)\n")
    tree.write("old.py", "def old():\n    pass\n")
    tree.write("older.py", "def older():\n    pass\n")
    tree.commit()
    anchor = tree.anchor("pay.py:2")
    tree.write("pay.py", "# new\ndef pay(amount):\n    return charge(amount)\n")
    (tree.path / "old.py").unlink()
    (tree.path / "older.py").unlink()
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(
        "#!/bin/sh\n"
        'case " $* " in *" cat-file "*) exec sleep 1000 ;; esac\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    slow.chmod(0o755)
    path = f"{slow.parent}{os.pathsep}{os.environ['PATH']}"
    assert "pay.py 3 same" == follow(tree, ["old.py", "older.py"], anchor, 1.0, path)[0]


def test_bundles_in_one_line_are_not_read(tree: Tree):
    """A search for code that is gone takes the names of files that hold it, not their lines."""
    line = "the_rate_that_is_asked_for = rate_of_the_day(currency)"
    code = f"def pay(currency):\n    {line}\n    return other_code_of_payments(currency) * 17\n"
    tree.write("pay.py", code)
    tree.commit()
    anchor = tree.anchor("pay.py:2-3")
    tree.write("pay.py", "\n")
    tree.write("a.py", f"import rates\n\n\n{code}")
    for n in range(12):
        tree.write(f"bundle_{n}.js", f"{'x = 1; ' * 900_000}{line}\n")
    spot, grown = follow(tree, [], anchor, 60.0)
    assert "a.py 5 moved" == spot
    assert grown < 20_000  # kB; the bundles have 76,000


def test_files_of_a_bare_repository_are_asked_for_once(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """However many there are: each of them under a deadline of its own would be none."""
    names = [f"m{n}.py" for n in range(50)]
    for name in names:
        tree.write(name, "x = 1\n")
    tree.commit()
    subprocess.run(["git", "clone", "-q", "--bare", tree.path, tmp_path / "bare"], check=True)
    follower = Tree(tmp_path / "bare").follower()
    asked: list[str] = []
    child_env = Git.child_env
    monkeypatch.setattr(
        Git,
        "child_env",
        lambda git, args, *more: asked.append(args[0]) or child_env(git, args, *more),
    )
    follower.expect([*names, "gone.py"])
    assert asked
    assert len(asked) < 10


def test_bare_repository_tells_its_files(tree: Tree, tmp_path: Path):
    """Those of HEAD."""
    tree.write("pay.py", "x = 1\n")
    tree.commit()
    subprocess.run(["git", "clone", "-q", "--bare", tree.path, tmp_path / "bare"], check=True)
    for path in (tree.path, tmp_path / "bare"):
        assert Tree(path).follower().files(["pay.py", "gone.py", "../pay.py"]) == {"pay.py"}
