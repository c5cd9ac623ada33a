"""Code that went to another file, under git's eyes or not: the editor shows its gotchas where `git mem gotcha for` does."""

import asyncio
import subprocess
import sys

import pytest

from gitmem.services.gotchas import lifecycle
from tests.json_output import data_of

CART = (
    "import os\n\n\nclass Cart:\n    def total(self):\n        return sum(price.net for price in self.prices)\n\n"
    "    def clear(self):\n        self.prices = []\n"
)
MOVED = (
    "def refund(order, amount):\n    payment = order.payments.latest('created_at')\n    payment.reverse(amount, idempotency_key=order.reference)\n"
    "    return payment.status\n"
)
OTHER = "import sys\n\n\ndef other():\n    return sys.argv[1:]\n"


@pytest.fixture
def repo(make_repo):
    return make_repo(**{"cart.py": CART + "\n\n" + MOVED, "other.py": OTHER, "plain.py": "x = 1\n"})


def told(repo, name: str) -> set[tuple[str, int, bool]]:
    """Return (id, line from 0, whether its code is elsewhere) of what the command line says about a file."""
    done = subprocess.run(
        [sys.executable, "-m", "gitmem", "gotcha", "for", name, "--json"],
        cwd=repo.root,
        env=repo.env,
        capture_output=True,
        text=True,
        check=True,
    )
    found = data_of(done.stdout)
    return {
        (g["id"], (g["place"]["line"] or 1) - 1, g["place"]["path"] != name)
        for g in found
        if g["place"]["state"] != "adrift"
    }


async def shown(editor, repo, name: str) -> set[tuple[str, int, bool]]:
    """Return the same of what the editor says."""
    rows = await editor.run("gitmem.list", repo.uri(name))
    found = set()
    for row in rows:
        where = row.get("moved_to")
        if where:
            found.add((row["id"], where["line"], True))
        elif row["state"] != "adrift":
            found.add((row["id"], row["line"], False))
    return found


def cut(repo, into: str, before: str = "") -> None:
    """Move the refund out of the cart, into another file."""
    repo.write("cart.py", CART)
    repo.write(into, before + MOVED)


@pytest.mark.parametrize(
    "into", ["other.py", "new.py"], ids=["a file that git knows", "one that it does not know yet"]
)
async def test_code_that_went_to_another_file(repo, connect, into):
    """Its gotcha is on its line there, moves with an unsaved edit, can be resolved; its old file says where it went."""
    record = repo.gotcha("refunds need a key", "cart.py:14")
    cut(repo, into, OTHER + "\n\n")
    editor = await connect(repo.root)
    old, new = repo.uri("cart.py"), repo.uri(into)
    editor.open(new)
    (found,) = await editor.until(new, bool)
    line = found.range.start.line
    assert (repo.root / into).read_text().split("\n")[line].startswith("    payment.reverse")
    assert found.message == "refunds need a key (moved)"
    editor.open(old)
    await editor.until(old, lambda d: bool(d) and f"moved to {into}:{line + 1}" in d[0].message)

    assert told(repo, into) == await shown(editor, repo, into) == {(record.id, line, False)}
    assert (
        told(repo, "cart.py") == await shown(editor, repo, "cart.py") == {(record.id, line, True)}
    )
    editor.edit(new, (0, 0), (0, 0), "# one more\n")
    await editor.until(new, lambda d: bool(d) and d[0].range.start.line == line + 1)
    await editor.execute((await editor.action(new, line + 1, "Resolve")).command)
    assert editor.shown(new) == []
    assert repo.record(record.id).resolved


async def test_re_anchoring_what_came_from_another_file(repo, connect):
    """The place that it had there is replaced, and no other."""
    record = repo.gotcha("refunds need a key", "cart.py:14")
    with repo.app() as app:
        anchors = [{"glob": "migrations/**"}, *map(dict, record.anchors)]
        lifecycle.reanchor(app.store(), app.writer(), record, anchors)
    cut(repo, "new.py")
    editor = await connect(repo.root)
    uri = repo.uri("new.py")
    editor.open(uri)
    (found,) = await editor.until(uri, bool)

    action = await editor.action(uri, found.range.start.line, "Re-anchor here", ["refactor"])
    await editor.execute(action.command)

    anchors = list(repo.record(record.id).anchors)
    anchors.remove({"glob": "migrations/**"})
    assert [(anchor["path"], anchor["lines"]) for anchor in anchors] == [("new.py", [3, 3])]


@pytest.mark.parametrize("how", ["mv", "git mv", "git mv and an edit"])
async def test_a_file_that_is_renamed_while_the_server_runs(repo, connect, how):
    """Its gotchas are on their lines under the new name at once, whether git was told or not."""
    repo.gotcha("refunds need a key", "cart.py:14")
    repo.gotcha("about the cart", "cart.py")
    editor = await connect(repo.root)
    old, new = repo.uri("cart.py"), repo.uri("basket.py")
    editor.open(old)
    await editor.until(old, lambda d: len(d) == 2)
    editor.open(repo.uri("plain.py"))
    await editor.until(repo.uri("plain.py"), lambda d: d == [])
    await asyncio.sleep(0.5)  # other names of this one were looked for
    editor.close(old)
    if how == "mv":
        (repo.root / "cart.py").rename(repo.root / "basket.py")
    else:
        repo.git("mv", "cart.py", "basket.py")
    if how.endswith("edit"):
        repo.write("basket.py", "# a basket\n" + (repo.root / "basket.py").read_text())
    editor.open(new)

    await editor.until(new, lambda d: len(d) == 2)
    assert told(repo, "basket.py") == await shown(editor, repo, "basket.py")


async def test_a_cut_is_seen_in_both_files(repo, connect):
    """Whichever of the two files is saved first."""
    repo.gotcha("refunds need a key", "cart.py:14")
    editor = await connect(repo.root)
    old, new = repo.uri("cart.py"), repo.uri("other.py")
    for uri in (old, new):
        editor.open(uri)
    await editor.until(old, bool)
    await editor.until(new, lambda d: d == [])

    repo.write("other.py", OTHER + "\n\n" + MOVED)
    editor.edit(new, (5, 0), (5, 0), "\n\n" + MOVED)
    editor.save(new)
    repo.write("cart.py", CART)
    editor.edit(old, (9, 0), (15, 0), "")
    editor.save(old)

    await editor.until(new, bool)
    await editor.until(old, lambda d: bool(d) and "moved to other.py:10" in d[0].message)
