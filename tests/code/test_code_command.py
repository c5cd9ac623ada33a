"""`git mem code`: what people and scripts read, and what they are told when they type the wrong thing."""

from pathlib import Path

import pytest

from tests.codemap.graph.projects import commit, mem, new, write
from tests.conftest import git
from tests.json_output import data_of

FILES = {
    "shop/__init__.py": "from .cart import Cart\n",
    "shop/cart.py": "from shop.money import add\n\nRATE = 2\n\n\nclass Cart:\n    def total(self):\n        return add(1, RATE)\n",
    "shop/money.py": "def add(a, b):\n    return a + b\n",
    "app.py": "import shop\nfrom shop import Cart as Basket\n\nBasket().total()\nx = shop.Cart()\n",
    "other.py": "class Order:\n    def total(self):\n        return 0\n\n\nadd = 3\nprint(add, Order().total())\n",
    "gen_pb2.py": "X = 1\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A small project."""
    repo = new(tmp_path / "shop repo")
    commit(repo, FILES)
    return repo


def test_symbols_of_a_file_a_folder_and_a_name(shop: Path):
    """In order, with kinds and lines; a name finds what ends with it."""
    rows = data_of(mem(shop, "code", "symbols", "shop/cart.py", "--json").stdout)
    assert [(row["qualified_name"], row["kind"], row["line"], row["end_line"]) for row in rows] == [
        ("RATE", "constant", 3, 3),
        ("Cart", "class", 6, 8),
        ("Cart.total", "function", 7, 8),
    ]
    assert {
        row["path"] for row in data_of(mem(shop, "code", "symbols", "shop", "--json").stdout)
    } == {"shop/cart.py", "shop/money.py"}
    assert [
        (row["path"], row["line"])
        for row in data_of(mem(shop, "code", "symbols", "total", "--json").stdout)
    ] == [
        ("other.py", 2),
        ("shop/cart.py", 7),
    ]
    assert [
        row["path"] for row in data_of(mem(shop, "code", "symbols", "Cart.total", "--json").stdout)
    ] == ["shop/cart.py"]
    assert "    7  function  Cart.total" in mem(shop, "code", "symbols", "shop/cart.py").stdout
    assert (
        data_of(mem(shop, "code", "symbols", "--kind", "class", "--json").stdout)[0]["name"]
        == "Order"
    )
    assert "nothing of that name is defined" in mem(shop, "code", "symbols", "nowhere").stdout
    assert [
        row["name"]
        for row in data_of(mem(shop / "shop", "code", "symbols", "money.py", "--json").stdout)
    ] == ["add"]


def test_references_are_told_from_words_that_are_the_same(shop: Path):
    """Through an alias and a package that passes it on; a variable of that name in another file is none; methods of objects are marked."""
    found = data_of(mem(shop, "code", "refs", "Cart", "--json").stdout)
    assert [(one["path"], one["line"]) for one in found["references"] if one["sure"]] == [
        ("app.py", 2),
        ("app.py", 4),
        ("app.py", 5),
        ("shop/__init__.py", 1),
    ]
    added = data_of(mem(shop, "code", "refs", "shop/money.py#add", "--json").stdout)
    assert [(one["path"], one["line"], one["inside"]) for one in added["references"]] == [
        ("shop/cart.py", 1, None),
        ("shop/cart.py", 8, "Cart.total"),
    ]
    done = mem(shop, "code", "refs", "Cart.total")
    assert "  ?     4  Basket().total()" in done.stdout
    assert "more of the same name (?)" in done.stderr
    uses = mem(shop, "code", "refs", "Cart").stderr
    assert "2 uses in 1 file, 2 imports in 2 files." in uses
    assert "nothing of that name is defined" in mem(shop, "code", "refs", "nowhere", code=1).stderr


def test_a_line_with_two_uses_is_shown_once(shop: Path):
    """The text has one row for a line; JSON has each use with its column."""
    write(shop, {"twice.py": "from shop.money import add\n\nprint(add(add(1, 2), 3))\n"})
    assert mem(shop, "code", "refs", "shop/money.py#add").stdout.count("print(add(") == 1
    rows = data_of(mem(shop, "code", "refs", "shop/money.py#add", "--json").stdout)["references"]
    assert [row["column"] for row in rows if (row["path"], row["line"]) == ("twice.py", 3)] == [
        7,
        11,
    ]


def test_imports_both_ways(shop: Path):
    """With the files that they mean; what is not of the project says so."""
    out = mem(shop, "code", "imports", "app.py").stdout
    assert "shop (Cart) → shop/cart.py" in out
    assert data_of(mem(shop, "code", "imports", "shop/cart.py", "--of", "--json").stdout) == [
        {"path": "app.py", "use_count": 2, "names": ["Cart"]},
        {"path": "shop/__init__.py", "use_count": 1, "names": []},
    ]
    assert "no file uses app.py" in mem(shop, "code", "imports", "app.py", "--of").stdout
    for given, said in (
        ("nowhere.py", "there is no 'nowhere.py'"),
        ("gen_pb2.py", "it is generated"),
        (".git/config", "is not in this repository"),
    ):
        assert said in mem(shop, "code", "imports", given, code=1).stderr


def test_graph_and_rank(shop: Path):
    """JSON, DOT and text tell the same; files that were not read are named."""
    made = data_of(mem(shop, "code", "graph", "--json").stdout)
    assert {(edge["source"], edge["target"]) for edge in made["edges"]} == {
        ("app.py", "shop/cart.py"),
        ("app.py", "shop/__init__.py"),
        ("shop/__init__.py", "shop/cart.py"),
        ("shop/cart.py", "shop/money.py"),
    }
    assert made["skipped_files"] == [{"path": "gen_pb2.py", "reason": "generated"}]
    dot = mem(shop, "code", "graph", "--dot").stdout
    assert (
        '"app.py" -> "shop/cart.py" [label="2"];' in dot
        and dot.startswith("digraph code {")
        and dot.rstrip().endswith("}")
    )
    near = data_of(mem(shop, "code", "graph", "shop/money.py", "--json").stdout)
    assert near["paths"] == ["shop/cart.py", "shop/money.py"]
    ranked = data_of(mem(shop, "code", "rank", "-2", "--json").stdout)["files"]
    assert [one["path"] for one in ranked] == ["shop/cart.py", "shop/money.py"]
    done = mem(shop, "code", "rank", "shop")
    assert "app.py" not in done.stdout and "not read: 1 generated" in done.stderr


def test_at_a_commit_and_with_what_is_not_committed(shop: Path):
    """`--at` is the commit as it is; without it the work tree counts too."""
    write(shop, {"late.py": "from shop.money import add\nadd(1, 2)\n"})
    assert "late.py" in mem(shop, "code", "imports", "shop/money.py", "--of").stdout
    assert (
        "late.py"
        not in mem(shop, "code", "imports", "shop/money.py", "--of", "--at", "HEAD").stdout
    )
    assert "names no commit" in mem(shop, "code", "rank", "--at", "nowhere", code=1).stderr


def test_elsewhere(tmp_path: Path, shop: Path):
    """Outside of a repository, in an empty one, in a bare one, with wrong arguments."""
    assert "is not in a git repository" in mem(tmp_path, "code", "rank", code=1).stderr
    assert "there is no commit yet" in mem(new(tmp_path / "empty"), "code", "rank", code=1).stderr
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(shop), str(bare))
    assert "shop/money.py" in mem(bare, "code", "rank").stdout
    assert "shop (Cart) → shop/cart.py" in mem(bare, "code", "imports", "app.py").stdout
    mem(shop, "code", "rank", "-n", "0", code=2)
    mem(shop, "code", "refs", code=2)


def test_prune(shop: Path):
    """It says what went."""
    mem(shop, "code", "rank")
    write(shop, {"shop/money.py": "def add(a, b):\n    return b + a\n"})
    mem(shop, "code", "rank")
    git(shop, "checkout", "-q", ".")
    assert (
        mem(shop, "code", "prune").stdout == "1 version of files removed from the cache, 5 kept.\n"
    )
    assert data_of(mem(shop, "code", "prune", "--json").stdout) == {
        "removed_count": 0,
        "kept_count": 5,
    }
