"""Gotchas as diagnostics, through a real client."""

import subprocess
import sys
import textwrap
import time

import pytest
from lsprotocol import types as t

from tests.lsp.conftest import FRESH, capabilities

LINE = t.Range(t.Position(1, 0), t.Position(1, 5))


async def test_gotcha_is_on_its_line(repo, connect):
    """An opened file shows its gotcha on the anchored line's code, with source, short id and severity."""
    record = repo.gotcha("x must stay odd", "a.py:2", workaround="add one")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)

    (shown,) = await editor.until(uri, bool)

    assert shown.range == LINE
    assert (shown.source, shown.code, shown.severity) == (
        "gitmem",
        record.id[-8:],
        t.DiagnosticSeverity.Information,
    )
    assert shown.message == "x must stay odd → add one"


async def test_it_moves_with_an_unsaved_edit_above(repo, connect):
    """Lines typed above the anchored one move the gotcha before anything is saved."""
    repo.gotcha("x must stay odd", "a.py:2")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, bool)

    editor.edit(uri, (0, 0), (0, 0), "# one\n# two\f\u2028 still two\n")

    (shown,) = await editor.until(uri, lambda d: bool(d) and d[0].range.start.line == 3)
    assert shown.message == "x must stay odd"
    assert editor.published[-1].version == 2


async def test_a_message_fits_a_line(repo, connect):
    """Long titles and workarounds are cut; the hover has them whole."""
    for number in range(5):
        repo.gotcha(f"{number} " + "very long " * 30, "a.py:2", workaround="do " * 25)
    repo.gotcha("alone " * 40, "a.py:3", workaround="do " * 20)
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    shown = await editor.until(uri, lambda shown: len(shown) == 2)
    assert all(len(d.message) <= 200 for d in shown)
    assert all(f"{number} very long" in shown[0].message for number in range(3))
    assert shown[0].message.endswith("…; +2 more")
    assert shown[1].message.endswith("…")


async def test_changed_and_vanished_code_is_said(repo, connect):
    """An edited line keeps its gotcha and says that it changed; a deleted one moves it to the top as a hint."""
    repo.write("b.py", "first = 0\nresult = compute_something(1, 2)\nlast = 9\n")
    repo.gotcha("compute is slow", "b.py:2")
    editor = await connect(repo.root)
    uri = repo.uri("b.py")
    editor.open(uri)
    await editor.until(uri, bool)

    editor.edit(uri, (1, 27), (1, 28), "7")
    (shown,) = await editor.until(uri, lambda d: "changed" in d[0].message)
    assert (shown.message, shown.range.start.line) == ("compute is slow (code changed since)", 1)

    editor.edit(uri, (1, 0), (2, 0), "")
    (shown,) = await editor.until(uri, lambda d: "not found" in d[0].message)
    assert shown.message == "compute is slow (code not found: moved or deleted)"
    assert (shown.range.start.line, shown.severity) == (0, t.DiagnosticSeverity.Hint)


async def test_write_of_another_process_appears(repo, connect):
    """A gotcha that another process records is shown soon, and one that it forgets goes away."""
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)
    await editor.until(uri, lambda d: d == [])
    program = """
        import os, sys
        from gitmem.app import open_app
        from gitmem.services.records import write as memories
        with open_app(sys.argv[1], os.environ) as app:
            who = app.writer()
            memories.add(app.store("shared"), who, memories.draft(who, "gotcha", "from elsewhere", anchors=[{"path": "a.py", "lines": [3, 3], "context": {"lines": ["y = 2"], "before": ["import os", "x = 1"], "after": []}, "blob": sys.argv[2]}]))
    """

    subprocess.run(
        [
            sys.executable,
            "-c",
            textwrap.dedent(program),
            str(repo.root),
            repo.git("rev-parse", "HEAD:a.py"),
        ],
        env=repo.env,
        check=True,
    )
    started = time.monotonic()
    (shown,) = await editor.until(uri, bool)

    assert time.monotonic() - started < FRESH
    assert (shown.message, shown.range.start.line) == ("from elsewhere", 2)

    with repo.app() as app:
        id = app.index().rows(kinds=["gotcha"])[0]["id"]
        from gitmem.services.records import write

        write.forget(app.store(), app.writer(), [app.get(id)[1].record])
    await editor.until(uri, lambda d: d == [])


@pytest.mark.parametrize(
    ("encoding", "start", "end"),
    [
        (t.PositionEncodingKind.Utf8, 0, 12),
        (t.PositionEncodingKind.Utf16, 0, 9),
        (t.PositionEncodingKind.Utf32, 0, 8),
    ],
)
async def test_columns_count_what_the_client_chose(make_repo, connect, encoding, start, end):
    """Ranges and edits are in bytes, UTF-16 units or code points, as negotiated."""
    repo = make_repo(**{"a.py": 'é = 0\ns = "😋é"\nlast = 1\n'})
    repo.gotcha("tasty", "a.py:2")
    editor = await connect(repo.root, caps=capabilities(encodings=[encoding]))
    uri = repo.uri("a.py")
    editor.open(uri)

    (shown,) = await editor.until(uri, bool)
    assert editor.initialized.capabilities.position_encoding == encoding
    assert (shown.range.start.character, shown.range.end.character) == (start, end)

    # a comment behind the code: its end stays where it is
    editor.edit(uri, (1, end), (1, end), "  # 😋")
    editor.edit(uri, (0, 0), (0, 0), "    \n")
    (shown,) = await editor.until(uri, lambda d: d[0].range.start.line == 2)
    assert (shown.range.start.character, shown.range.end.character) == (start, end)


async def test_outside_of_a_repository_is_silence(tmp_path, repo, connect):
    """No notification for a file that is in no repository, in the git dir, or on no disk."""
    repo.gotcha("everywhere", "**")
    other = tmp_path / "plain.txt"
    other.write_text("hello\n")
    editor = await connect(repo.root)
    head = (repo.root / ".git" / "COMMIT_EDITMSG").as_uri()
    for uri in (other.as_uri(), head, "untitled:Untitled-1", "git:/a.py?HEAD"):
        editor.open(uri, "hello\n")
    editor.open(repo.uri("a.py"))
    await editor.until(repo.uri("a.py"), bool)
    for uri in (other.as_uri(), head, "untitled:Untitled-1", "git:/a.py?HEAD"):
        editor.close(uri)
    editor.close(repo.uri("a.py"))
    await editor.until(repo.uri("a.py"), lambda d: d == [])

    assert {p.uri for p in editor.published} == {repo.uri("a.py")}


async def test_linked_worktree_and_link_to_a_file(tmp_path, repo, connect):
    """A linked work tree shows what the repository knows, and so does a link from outside."""
    repo.gotcha("x must stay odd", "a.py:2")
    repo.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "side")
    link = tmp_path / "link"
    link.symlink_to(repo.root)
    file = tmp_path / "alone.py"
    file.symlink_to(repo.root / "a.py")
    editor = await connect()

    for uri in ((tmp_path / "tree" / "a.py").as_uri(), (link / "a.py").as_uri(), file.as_uri()):
        editor.open(uri)
        assert await editor.titles(uri, 1) == ["x must stay odd"]


async def test_two_roots(make_repo, connect):
    """Each root shows its own repository's gotchas."""
    one, two = make_repo("one"), make_repo("two")
    one.gotcha("of one", "a.py:1")
    two.gotcha("of two", "a.py:3")
    editor = await connect(one.root, two.root)
    editor.open(one.uri("a.py"))
    editor.open(two.uri("a.py"))

    assert await editor.titles(one.uri("a.py"), 1) == ["of one"]
    assert await editor.titles(two.uri("a.py"), 1) == ["of two"]


async def test_all_stores_and_patterns(make_repo, connect):
    """Private and user stores are joined with the shared one; a pattern marks the file as a whole; resolved and archived stay away."""
    repo = make_repo(**{"db/m/001.sql": "select 1;\n", "a.py": "x = 1\n"})
    repo.gotcha("shared", "db/m/001.sql:1", severity="critical")
    repo.gotcha("private", "db/m/001.sql:1", scope="private")
    repo.gotcha("users", "db/m/001.sql:1", scope="user", severity="info")
    repo.gotcha("pattern", "db/**/*.sql", severity="info")
    repo.gotcha("gone", "db/m/001.sql:1", status="archived")
    repo.gotcha("done", "db/m/001.sql:1", resolved={"by": "Ada"})
    editor = await connect(repo.root)
    uri = repo.uri("db/m/001.sql")
    editor.open(uri)

    (shown,) = await editor.until(uri, bool)

    assert (
        shown.message == "shared; private; pattern; +1 more"
        or shown.message == "shared; private; users; +1 more"
    )
    assert shown.severity == t.DiagnosticSeverity.Warning
    assert len(shown.data["ids"] if isinstance(shown.data, dict) else shown.data.ids) == 4


async def test_a_file_is_capped(make_repo, connect):
    """Past twenty lines with gotchas, the most severe are shown and one says how many more there are."""
    text = "".join(f"value_{n} = {n}\n" for n in range(40))
    repo = make_repo(**{"a.py": text})
    for n in range(25):
        repo.gotcha(f"about {n}", f"a.py:{n + 1}", severity="critical" if n == 24 else "info")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.open(uri)

    shown = await editor.until(uri, bool)

    assert len(shown) == 20
    assert "about 24" in [d.message for d in shown]
    rest = next(d for d in shown if "more gotchas" in d.message)
    assert rest.message.startswith("6 more gotchas about this file")
    assert rest.range.start.line == 0


async def test_binary_and_huge_are_left_alone(make_repo, connect):
    """A buffer with NULs, or with more lines than anybody reads, shows nothing and blocks nothing."""
    repo = make_repo(**{"a.py": "x = 1\n", "b.bin": "a\0b\n", "c.txt": "x\n"})
    for name in ("a.py", "b.bin", "c.txt"):
        repo.gotcha("about " + name, f"{name}:1")
    editor = await connect(repo.root)
    editor.open(repo.uri("b.bin"))
    editor.open(repo.uri("c.txt"), "x\n" * 50_001)
    editor.open(repo.uri("a.py"))

    assert await editor.titles(repo.uri("a.py"), 1) == ["about a.py"]
    assert await editor.until(repo.uri("b.bin"), lambda d: True) == []
    assert await editor.until(repo.uri("c.txt"), lambda d: True) == []


async def test_crlf_and_lone_returns(make_repo, connect):
    """Lines are git's when a place is looked up and the protocol's when it is shown."""
    repo = make_repo(**{"a.py": "a = 1\r\nb = 2\r\n", "old.txt": "one\rtwo\nthree\n"})
    repo.gotcha("b", "a.py:2")
    repo.gotcha("three", "old.txt:2")
    editor = await connect(repo.root)
    for name, line in (("a.py", 1), ("old.txt", 2)):
        editor.open(repo.uri(name))
        (shown,) = await editor.until(repo.uri(name), bool)
        assert (shown.range.start.line, shown.range.start.character) == (line, 0)


async def test_broken_record_costs_nothing_else(repo, connect):
    """A record whose anchors are nonsense, and a request that makes none, leave the server working."""
    with repo.app() as app:
        from gitmem.services.records import write

        who = app.writer()
        odd = [
            {"path": "a.py", "lines": ["x"]},
            {"path": "a.py", "lines": [9, 2], "context": 3},
            {"path": 7},
            {"glob": 3},
        ]
        write.add(app.store(), who, write.draft(who, "gotcha", "odd", anchors=odd))
    repo.gotcha("x must stay odd", "a.py:2")
    editor = await connect(repo.root)
    uri = repo.uri("a.py")
    editor.close("file:///nowhere/never-opened.py")
    editor.open(uri)

    assert "x must stay odd" in await editor.titles(uri, 2)
    assert await editor.hover("file:///nowhere/never-opened.py", 0) is None


async def test_a_repository_made_later_is_found_on_save(tmp_path, env, connect):
    """A folder that becomes a repository is one at the next save."""
    from tests.lsp.conftest import Repo

    folder = Repo(tmp_path / "late", env)
    folder.root.mkdir()
    folder.write("a.py", "x = 1\n")
    editor = await connect(folder.root)
    uri = folder.uri("a.py")
    editor.open(uri)
    folder.git("init", "-q")
    folder.gotcha("late", "a.py:1")

    editor.save(uri)

    assert await editor.titles(uri, 1) == ["late"]
