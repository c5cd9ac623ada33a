"""The search over the code: whatever happens to its file, the answer is the same."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.codemap.graph.projects import commit, mem, new
from tests.conftest import git
from tests.json_output import data_of

FILES = {f"shop/m{n}.py": f"def step_{n}(order):\n    return order + {n}\n" for n in range(30)} | {
    "shop/money.py": "def round_half(x):\n    return int(x + 0.5)\n",
    "tests/test_money.py": "from shop.money import round_half\n",
}
TASK = "round_half is wrong for negative amounts"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A small project whose code was searched once."""
    repo = new(tmp_path / "shop")
    commit(repo, FILES)
    found(repo)
    return repo


def found(repo: Path) -> list[str]:
    """Return the files of the task."""
    return [one["path"] for one in data_of(mem(repo, "scout", TASK, "--json").stdout)["files"]]


@pytest.mark.parametrize("damage", ["zeros", "cut", "text", "empty", "table"])
def test_a_damaged_file_is_made_again(shop: Path, damage: str):
    """Whatever is wrong with it."""
    wanted = found(shop)
    file = shop / ".git/gitmem/codesearch.db"
    for ending in ("-wal", "-shm"):
        Path(f"{file}{ending}").unlink(missing_ok=True)
    data = file.read_bytes()
    if damage == "zeros":
        file.write_bytes(data[:100] + b"\0" * (len(data) - 100))
    elif damage == "cut":
        file.write_bytes(data[: len(data) // 3])
    elif damage == "text":
        file.write_bytes(b"no database\n" * 1000)
    elif damage == "empty":
        file.write_bytes(b"")
    else:
        with sqlite3.connect(file) as db:
            db.execute("DROP TABLE here")
    assert found(shop) == wanted


def test_many_at_once(tmp_path: Path):
    """Processes that make it together all answer, and alike."""
    repo = new(tmp_path / "shop")
    commit(repo, FILES)
    (repo / ".git/gitmem").mkdir()
    args = [sys.executable, "-m", "gitmem", "-C", str(repo), "scout", TASK, "--json"]
    some = [
        subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)
    ]
    said = [one.communicate() for one in some]
    assert [one.returncode for one in some] == [0] * 4, said
    assert len({out for out, _ in said}) == 1


def test_locked_by_another(shop: Path):
    """It is made in memory for this time."""
    commit(shop, {"shop/new.py": "def round_half_up(x):\n    return x\n"})
    wanted = sqlite3.connect(shop / ".git/gitmem/codesearch.db", isolation_level=None)
    wanted.execute("BEGIN IMMEDIATE")
    try:
        assert "shop/new.py" in found(shop)
    finally:
        wanted.execute("ROLLBACK")
        wanted.close()


def test_branches_share_it(shop: Path):
    """Each answer is of the branch that is checked out; what is of none of them any more goes in time."""
    git(shop, "switch", "-qc", "other")
    commit(shop, {"shop/money.py": None, "shop/cents.py": "def round_half(x):\n    return x\n"})
    assert found(shop)[0] == "shop/cents.py"
    git(shop, "switch", "-q", "main")
    assert found(shop)[0] == "shop/money.py"
    assert "shop/cents.py" not in found(shop)
    with sqlite3.connect(shop / ".git/gitmem/codesearch.db") as db:
        assert db.execute("SELECT count(*) FROM doc WHERE path = 'shop/cents.py'").fetchone() == (
            1,
        )


def test_where_no_file_can_be(shop: Path):
    """A folder in the place of each file, as a disk that takes nothing: the same answer, made anew."""
    wanted = found(shop)
    for name in ("codesearch.db", "codemap.db"):
        for ending in ("", "-wal", "-shm"):
            (shop / f".git/gitmem/{name}{ending}").unlink(missing_ok=True)
        (shop / ".git/gitmem" / name).mkdir()
    assert found(shop) == wanted
    assert "shop/money.py" in mem(shop, "code", "rank").stdout
