"""An anchor is the same whatever recorded it: the command line, a command of the server, a draft."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = "class Cart:\n    def total(self):\n        return sum(self.prices)\n\n    def clear(self):\n        self.prices = []\n"


def command_line(repo, *args: str) -> dict:
    """Run git mem; return its JSON."""
    done = subprocess.run(
        [sys.executable, "-m", "gitmem", *args, "--json"],
        cwd=repo.root,
        env=repo.env,
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout)["data"]


def lines(first: int) -> dict[str, dict[str, int]]:
    return {"start": {"line": first, "character": 0}, "end": {"line": first, "character": 4}}


@pytest.fixture
async def world(make_repo, connect):
    """A repository, the anchor that the command line makes at its line 6, an editor, and the uri."""
    repo = make_repo(**{"cart.py": TEXT})
    made = command_line(repo, "gotcha", "add", "prices may be None", "--anchor", "cart.py:6")
    (anchor,) = repo.record(made["id"]).anchors
    editor = await connect(repo.root)
    uri = repo.uri("cart.py")
    editor.open(uri)
    await editor.until(uri, bool)
    return repo, anchor, editor, uri


async def test_a_command_of_the_server(world):
    """A gotcha that is recorded or anchored anew from an editor has the anchor of the command line, with its commit."""
    repo, anchor, editor, uri = world

    answer = await editor.run("gitmem.record", uri, lines(5), "clear keeps the list")
    moved = await editor.run("gitmem.record", uri, lines(1), "total counts")
    await editor.run("gitmem.reanchor", moved["id"], uri, lines(5))

    assert anchor["commit"] == repo.git("rev-parse", "HEAD")
    assert repo.record(answer["id"]).anchors == [anchor]
    assert repo.record(moved["id"]).anchors == [anchor]


async def test_a_place_that_is_typed_into_a_draft(world):
    """A place that somebody writes into a draft gets the same anchor; one outside of the work tree is refused."""
    repo, anchor, editor, uri = world
    made = await editor.run("gitmem.record", uri, lines(1), "total counts")
    draft = (await editor.run("gitmem.edit", made["id"]))["uri"]
    text = Path(draft.removeprefix("file://")).read_text()
    editor.open(draft, language="markdown")

    editor.replace(draft, text.replace("cart.py:2", "../outside.py:1"))
    editor.save(draft)
    (problem,) = await editor.until(draft, bool)
    editor.replace(draft, text.replace("cart.py:2", "cart.py:6"))
    editor.save(draft)
    await editor.until(draft, lambda found: found == [])

    assert "outside.py" in problem.message
    assert repo.record(made["id"]).anchors == [anchor]


async def test_before_the_first_commit(make_repo, connect):
    """Where nothing was committed yet, an anchor has no commit."""
    repo = make_repo(**{"cart.py": TEXT})
    repo.git("update-ref", "-d", "HEAD")
    editor = await connect(repo.root)
    editor.open(repo.uri("cart.py"))

    answer = await editor.run("gitmem.record", repo.uri("cart.py"), lines(5), "clear keeps it")

    (anchor,) = repo.record(answer["id"]).anchors
    assert "commit" not in anchor
    assert anchor["lines"] == [6, 6]
