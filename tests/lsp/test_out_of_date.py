"""A fact that the code refutes is shown beside its code, through a real client."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from lsprotocol import types as t

from gitmem.app import open_app
from gitmem.codemap.anchors.resolve import attach
from gitmem.codemap.anchors.spec import parse
from gitmem.git.object_codec import object_id
from gitmem.services.records import write
from gitmem.worker.code_check import keep_up
from tests.lsp.conftest import Repo


def remember(repo: Repo, title: str, kind: str, contains: str) -> str:
    """Keep a fact about a line of `a.py`, with a check of that file; return its id."""
    data = (repo.root / "a.py").read_bytes()
    anchor = attach(parse("a.py:2"), data.decode(), object_id("blob", data, "sha1"))
    with repo.app() as app:
        who = app.writer()
        check = {"file": "a.py", "contains": contains}
        record = write.draft(who, kind, title, anchors=[anchor], verify=[check])
        return write.add(app.store(), who, record).after.id


def look(repo: Repo) -> None:
    """Have the background look at the code."""
    with repo.app() as app:
        keep_up(app)


async def test_a_refuted_memory_is_on_its_line(repo, connect):
    """As an information that says why, from when the background saw it; it goes when it holds again."""
    id = remember(repo, "x is one", "memory", "x = 1")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, lambda shown: shown == [])

    repo.write("a.py", "import os\nx = 2\ny = 2\n")
    look(repo)
    (shown,) = await editor.until(uri, bool)
    assert shown.message == "x is one (may be out of date: a.py does not have 'x = 1')"
    assert shown.range.start.line == 1
    assert (shown.severity, shown.code) == (t.DiagnosticSeverity.Information, id[-8:])
    titles = [action.title for action in await editor.actions(uri, 1, ["quickfix"])]
    assert titles == ["Edit: x is one"]

    repo.write("a.py", "import os\nx = 1\ny = 2\n")
    look(repo)
    await editor.until(uri, lambda shown: shown == [])


async def test_a_refuted_gotcha_says_so(repo, connect):
    """Beside its words; how loud it is stays its own."""
    remember(repo, "x must stay odd", "gotcha", "z = 3")
    look(repo)
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    (shown,) = await editor.until(uri, bool)
    assert shown.message == "x must stay odd (may be out of date: a.py does not have 'z = 3')"


async def test_another_work_tree_has_no_mark(repo, connect):
    """What one work tree refutes may hold in another."""
    remember(repo, "x is one", "memory", "x = 1")
    trap = remember(repo, "x must stay odd", "gotcha", "x = 1")
    other = repo.root.parent / "other"
    repo.git("worktree", "add", "-q", str(other))
    repo.write("a.py", "import os\nx = 2\ny = 2\n")
    look(repo)
    editor = await connect(repo.root)
    editor.open(repo.uri("a.py"))
    here = await editor.until(repo.uri("a.py"), bool)
    assert "".join(one.message for one in here).count("may be out of date") == 2
    uri = (other / "a.py").as_uri()
    editor.open(uri)
    (shown,) = await editor.until(uri, bool)
    assert (shown.message, shown.code) == ("x must stay odd", trap[-8:])


REASON = "may be out of date: a.py does not have 'x = 1'"


def is_marked(number: int) -> Callable[[Sequence[t.Diagnostic]], bool]:
    """Return whether so many facts are marked in a file; the gotcha is there in any case."""
    return lambda shown: (
        "".join(one.message for one in shown).count(REASON) == number
        and any("x must stay odd" in one.message for one in shown)
    )


def look_in(worktree: Path) -> None:
    """Have the background look at the code of another work tree."""
    with open_app(str(worktree), dict(os.environ)) as app:
        keep_up(app)


async def test_each_work_tree_has_its_own_marks(repo, connect):
    """In one server, whichever was opened first; they go when its own code bears out the fact."""
    remember(repo, "x is one", "memory", "x = 1")
    remember(repo, "x must stay odd", "gotcha", "x = 1")
    other = repo.root.parent / "other"
    repo.git("worktree", "add", "-q", str(other))
    editor = await connect(repo.root)
    here, there = repo.uri("a.py"), (other / "a.py").as_uri()
    for uri in (here, there):
        editor.open(uri)
        await editor.until(uri, is_marked(0))

    (other / "a.py").write_text("import os\nx = 2\ny = 2\n", encoding="utf-8")
    look_in(other)
    await editor.until(there, is_marked(2))
    await editor.until(here, is_marked(0))

    repo.write("a.py", "import os\nx = 3\ny = 2\n")
    look(repo)
    await editor.until(here, is_marked(2))
    (other / "a.py").write_text("import os\nx = 1\ny = 2\n", encoding="utf-8")
    look_in(other)
    await editor.until(there, is_marked(0))
    await editor.until(here, is_marked(2))


async def test_the_tree_that_is_opened_second_has_its_marks(repo, connect):
    """Also where the background looked before the server was there."""
    remember(repo, "x is one", "memory", "x = 1")
    remember(repo, "x must stay odd", "gotcha", "x = 1")
    other = repo.root.parent / "other"
    repo.git("worktree", "add", "-q", str(other))
    (other / "a.py").write_text("import os\nx = 2\ny = 2\n", encoding="utf-8")
    look_in(other)
    editor = await connect(repo.root)
    for uri, number in ((repo.uri("a.py"), 0), ((other / "a.py").as_uri(), 2)):
        editor.open(uri)
        await editor.until(uri, is_marked(number))
