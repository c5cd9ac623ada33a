"""Anchors at definitions: renamed, deleted, overloaded, nested, in history that is gone: at the right place, or adrift."""

import os
import subprocess

import pytest

from gitmem.codemap.anchors.placement import Placement
from gitmem.codemap.anchors.resolve import attach, place
from gitmem.codemap.anchors.spec import parse
from gitmem.codemap.symbols import definitions
from gitmem.git.object_codec import object_id
from tests.codemap.conftest import Tree

PY = '''import os


class Cart:
    """A cart."""

    def __init__(self, items):
        self.items = items

    def count(self):
        def add(a, b):
            return a + b

        result = 0
        for item in self.items:
            result = add(result, item.count)
        return result

    def clear(self):
        self.items = []

    @property
    def size(self):
        return len(self.items)


class Basket:
    def __init__(self, items):
        self.items = items

    def count(self):
        return len(self.items)

    def clear(self):
        self.items = []


def charge(cart):
    return cart.count()
'''
JS = """class Cart {
  constructor(items) {
    this.items = items;
  }

  count() {
    const add = (a, b) => {
      return a + b;
    };
    return this.items.reduce((n, i) => add(n, i.count), 0);
  }

  clear() {
    this.items = [];
  }
}

class Basket {
  constructor(items) {
    this.items = items;
  }

  count() {
    return this.items.length;
  }

  clear() {
    this.items = [];
  }
}
"""
GO = """package shop

type Cart struct {
	Items []Item
}

func (c *Cart) count() int {
	add := func(a, b int) int {
		return a + b
	}
	n := 0
	for _, item := range c.Items {
		n = add(n, item.Count)
	}
	return n
}

func (c *Cart) clear() {
	c.Items = nil
}

type Basket struct {
	Items []Item
}

func (c *Basket) count() int {
	return len(c.Items)
}

func (c *Basket) clear() {
	c.Items = nil
}
"""
TEXTS = {"shop.py": PY, "shop.js": JS, "shop.go": GO}
METHODS = ["Cart.count", "Cart.clear", "Basket.count", "Basket.clear"]


def defined(path: str, text: str, name: str) -> definitions.Symbol:
    """Return the one definition of a name."""
    (one,) = [s for s in definitions.symbols(text, path) if s.qualified == name]
    return one


def without(text: str, *spans: definitions.Symbol) -> str:
    """Return a text less some definitions."""
    gone = {n for span in spans for n in range(span.first, span.last + 1)}
    return "\n".join(line for n, line in enumerate(text.split("\n"), 1) if n not in gone)


def spots(path: str, name: str, old: str, new: str) -> list[Placement]:
    """Return where a definition is placed by the old text, and by memory."""
    anchor = attach({"path": path, "symbol": name}, old, "f" * 40)
    return [place(anchor, new.split("\n"), "e" * 40, known) for known in (old.split("\n"), None)]


def right_or_adrift(made: Placement, home: definitions.Symbol) -> bool:
    """Say whether a placement is on the lines of a definition, or nowhere."""
    return made.state == "adrift" or home.at <= made.first <= made.last <= home.last


@pytest.mark.parametrize("path", TEXTS)
@pytest.mark.parametrize("name", METHODS)
def test_renamed_method_or_class_is_where_it_was(path, name):
    """Its namesake in the other class is another one; with the old text at hand it is found."""
    old, (owner, method) = TEXTS[path], name.split(".")
    home = defined(path, old, name)
    at, lines = home.at, old.split("\n")
    lines[at - 1] = lines[at - 1].replace(method, "renamed")
    for new in ("\n".join(lines), old.replace(owner, "Trolley")):
        by_text, by_memory = spots(path, name, old, new)
        assert by_text.is_certain, new
        assert (at, True) == (by_text.first, right_or_adrift(by_memory, home))


@pytest.mark.parametrize("path", TEXTS)
@pytest.mark.parametrize("name", METHODS)
def test_deleted_method_is_not_taken_for_that_of_another_class(path, name):
    """The method goes, or all of its class does."""
    old, owner = TEXTS[path], name.split(".")[0]
    for gone in (
        [defined(path, old, name)],
        [s for s in definitions.symbols(old, path) if s.qualified.split(".")[0] == owner],
    ):
        assert ["adrift", "adrift"] == [
            made.state for made in spots(path, name, old, without(old, *gone))
        ]


@pytest.mark.parametrize("path", ["shop.py", "shop.js"])
def test_nested_definition_is_placed(path):
    """A function in a method has its own name."""
    old = TEXTS[path]
    line = defined(path, old, "Cart.count.add").at
    assert [line + 1] * 2 == [made.first for made in spots(path, "Cart.count.add", old, "\n" + old)]


def test_deleted_function_is_not_taken_for_a_method_of_its_name():
    """`total` is not `Cart.total`."""
    old = "def total(cart):\n    ledger.append(cart)\n    return cart.gross\n\n\nclass Cart:\n    def total(self):\n        return 1\n"
    anchor = attach({"path": "a.py", "lines": [2, 2]}, old, "f" * 40)
    new = "import os\n" + old.split("\n\n\n")[1]
    for known in (old.split("\n"), None):
        assert place(anchor, new.split("\n"), "e" * 40, known).state == "adrift"


@pytest.mark.parametrize("kind", ["overload", "setter"])
def test_deleted_overload_is_not_taken_for_the_other(kind):
    """Of two definitions of one name, the one that is left may be the wrong one."""
    if kind == "overload":
        path, head, tail = "A.java", "class A {\n", "}\n"
        one, two = (
            f"  int total({t} rate) {{\n    ledger.note({t}.class);\n    return {n};\n  }}\n"
            for n, t in enumerate(("long", "String"))
        )
    else:
        path, head, tail = "a.py", "class A:\n", ""
        one = "    @property\n    def size(self):\n        return self.items.length\n\n"
        two = "    @size.setter\n    def size(self, value):\n        ledger.append(value)\n\n"
    old = head + one + two + tail
    line = next(
        n
        for n, text in enumerate(old.split("\n"), 1)
        if "String.class" in text or "append(value)" in text
    )
    anchor = attach({"path": path, "lines": [line, line]}, old, "f" * 40)
    assert (
        place(anchor, (head + one + tail).split("\n"), "e" * 40, old.split("\n")).state == "adrift"
    )


@pytest.mark.parametrize("path", TEXTS)
@pytest.mark.parametrize("how", ["amended", "rebased", "renamed", "split"])
def test_anchored_commit_is_gone(tree: Tree, path, how):
    """History was rewritten and collected: neither commit nor blob are there."""
    text = TEXTS[path]
    tree.write("readme", "")
    tree.commit()
    tree.write(path, text)
    tree.commit()
    anchor = tree.anchor(f"{path}#Cart.clear")
    tree.git("reset", "-q", "--hard", "HEAD~1")
    at = text.index("class Basket") if "class Basket" in text else text.index("type Basket")
    name, files = {
        "amended": (path, {path: "\n\n" + text}),
        "rebased": (path, {path: text.replace("items", "rows").replace("Items", "Rows")}),
        "renamed": (f"lib/{path}", {f"lib/{path}": "\n" + text}),
        "split": (f"cart-{path}", {path: text[at:], f"cart-{path}": "\n" + text[:at]}),
    }[how]
    for file, content in files.items():
        tree.write(file, content)
    tree.commit()
    tree.git("reflog", "expire", "--expire=now", "--all")
    tree.git("gc", "-q", "--prune=now")
    assert subprocess.run(
        ["git", "-C", str(tree.path), "cat-file", "-e", anchor["blob"]],
        check=False,
        capture_output=True,
    ).returncode
    made = tree.follower().now(anchor)
    assert (name, defined(path, files[name], "Cart.clear").at) == (made.path, made.first)


def test_shallow_clone_without_the_anchored_commit(tree: Tree, tmp_path):
    """The file and the class were renamed since; nothing older is there."""
    tree.write("shop.py", PY)
    tree.commit()
    anchor = tree.anchor("shop.py#Cart.clear")
    tree.git("mv", "shop.py", "store.py")
    tree.write("store.py", "\n" + PY.replace("Cart", "Trolley"))
    tree.commit()
    subprocess.run(
        ["git", "clone", "-q", "--depth=1", f"file://{tree.path}", str(tmp_path / "clone")],
        check=True,
        capture_output=True,
    )
    made = Tree(tmp_path / "clone").follower().now(anchor)
    assert ("store.py", defined("store.py", PY, "Cart.clear").at + 1) == (made.path, made.first)


def test_line_ends_are_converted_by_git(tree: Tree):
    """The work tree has CR LF, the repository does not: the blob of the anchor is not in git."""
    tree.git("config", "core.autocrlf", "true")
    tree.write("shop.py", PY.replace("\n", "\r\n"))
    tree.commit()
    anchor = tree.anchor("shop.py#Cart.clear")
    line = defined("shop.py", PY, "Cart.clear").at
    for text, shift in (("# new\n" + PY, 1), (PY, 0)):
        for ends in ("\n", "\r\n"):
            tree.write("shop.py", text.replace("\n", ends))
            made = tree.follower().now(anchor)
            assert (line + shift, "same", False) == (made.first, made.state, made.stale)


def test_links_are_not_followed(tree: Tree, tmp_path):
    """A file that became a link: its code is found where it is when that is in the repository, and nothing outside is read."""
    tree.write("shop.py", PY)
    tree.commit()
    anchor = tree.anchor("shop.py#Cart.clear")
    (tree.path / "shop.py").unlink()
    os.symlink("store.py", tree.path / "shop.py")
    tree.write("store.py", PY)
    made = tree.follower().now(anchor)
    assert ("store.py", defined("shop.py", PY, "Cart.clear").at) == (made.path, made.first)
    (tmp_path / "outside.py").write_text(PY)
    (tree.path / "store.py").unlink()
    for target in (tmp_path / "outside.py", "nowhere.py", "shop.py"):
        (tree.path / "shop.py").unlink()
        os.symlink(target, tree.path / "shop.py")
        assert tree.follower().now(anchor).state == "adrift"


def test_path_in_a_submodule(tree: Tree, tmp_path):
    """It is placed in the work tree; the repository around it does not know its past, and the folder alone is not code."""
    (tmp_path / "inner").mkdir()
    inner = Tree(tmp_path / "inner")
    inner.git("init", "-q")
    inner.write("shop.py", PY)
    inner.commit()
    tree.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "sub")
    tree.commit()
    anchor = tree.anchor("sub/shop.py#Cart.clear")
    tree.write("sub/shop.py", "# new\n" + PY)
    made = tree.follower().now(anchor)
    assert ("sub/shop.py", defined("shop.py", PY, "Cart.clear").at + 1) == (made.path, made.first)
    assert tree.follower().at(anchor, "HEAD").state == "adrift"
    assert tree.follower().now({**anchor, "path": "sub"}).state == "adrift"


def test_file_that_is_no_utf8(tree: Tree):
    """Latin-1 is placed as any text; in UTF-16 nothing is known, and that is not an error."""
    data = PY.replace("A cart.", "Ein Wägelchen").encode("latin-1")
    (tree.path / "shop.py").write_bytes(data)
    tree.commit()
    made = attach(
        parse("shop.py#Cart.clear", exists=lambda name: name == "shop.py"),
        data.decode("utf-8", "replace"),
        object_id("blob", data, "sha1"),
    )
    anchor = {**made, "commit": tree.git("rev-parse", "HEAD")}
    (tree.path / "shop.py").write_bytes(b"# \xff\n" + data)
    assert defined("shop.py", PY, "Cart.clear").at + 1 == tree.follower().now(anchor).first
    for other in (PY.encode("utf-16"), b"", b"\0" * 100):
        (tree.path / "shop.py").write_bytes(other)
        assert tree.follower().now(anchor).state == "adrift"
