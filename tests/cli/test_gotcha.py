"""`git mem gotcha`: record, find, place, resolve, verify; as a person types it."""

from pathlib import Path

import pytest

from tests.cli.conftest import Mem, on_terminal, tip
from tests.command_line import run_command
from tests.conftest import git
from tests.json_output import data_of

DAY = 86400
CODE = "import os\n\n\ndef rate():\n    return 1\n\n\ndef total(x):\n    return x * rate()\n"


@pytest.fixture
def pay(mem: Mem) -> Path:
    """A file with two functions."""
    path = mem.folder / "app" / "pay.py"
    path.parent.mkdir()
    path.write_text(CODE)
    git(mem.folder, "add", ".")
    git(mem.folder, "commit", "-qm", "pay")
    return path


def new(mem: Mem, title: str, *args: str, ago: float = 0) -> str:
    """Record a gotcha; return its id."""
    return str(mem("gotcha", "add", title, *args, "--json", ago=ago).json["id"])


def drift(mem: Mem, *args: str) -> tuple[int, str]:
    """Run `gotcha verify`, whose exit code of 1 is an answer and no error; return it and the output."""
    done = run_command(mem.folder, "gotcha", "verify", *args)
    assert "error" not in done.stderr
    return done.returncode, done.stdout


def titles(done) -> list[str]:
    """Return the titles of a JSON answer."""
    return [row["title"] for row in done.json]


# -- add, list


def test_add_reads_category_and_severity_from_the_text(mem: Mem) -> None:
    """What is given counts; else what the text says."""
    assert mem.show(new(mem, "ESLint: 'x' is assigned but never used"))["category"] == "lint"
    row = mem.show(
        new(
            mem,
            "anything",
            "--category",
            "security",
            "--severity",
            "critical",
            "--workaround",
            "wait",
        )
    )
    assert (row["category"], row["severity"], row["workaround"], row["origin"]) == (
        "security",
        "critical",
        "wait",
        "manual",
    )


@pytest.mark.parametrize("title", ["", "   ", "\n"])
def test_add_needs_a_title(mem: Mem, title: str) -> None:
    """Exit code 2, nothing written."""
    mem("gotcha", "add", title, code=2)
    assert tip(mem.folder) == ""


@pytest.mark.parametrize(
    "args",
    [
        ("--category", "nope"),
        ("--severity", "high"),
        ("--anchor", "none.py"),
        ("--anchor", "../x"),
        ("--code", "("),
    ],
)
def test_add_says_no(mem: Mem, args: tuple[str, ...]) -> None:
    """What cannot be is refused before anything is written."""
    mem("gotcha", "add", "title", *args, code=None)
    assert tip(mem.folder) == ""


def test_list_order(mem: Mem) -> None:
    """Critical ones first, then warnings, then the rest; of each the last seen first."""
    for severity, days in (
        ("info", 1),
        ("warning", 5),
        ("critical", 9),
        ("warning", 2),
        ("critical", 3),
        ("info", 7),
    ):
        new(mem, f"{severity} {days}", "--severity", severity, ago=days * DAY)
    assert titles(mem("gotcha", "list", "--json")) == [
        "critical 3",
        "critical 9",
        "warning 2",
        "warning 5",
        "info 1",
        "info 7",
    ]
    assert [line.split()[-2:] for line in mem("gotcha", "list", "-n", "2").out.splitlines()] == [
        ["critical", "3"],
        ["critical", "9"],
    ]


def test_list_filters(mem: Mem, pay: Path) -> None:
    """By category, severity, file and whether it is dealt with."""
    a = new(mem, "a", "--category", "build", "--severity", "critical", "--anchor", "app/pay.py:9")
    new(mem, "b", "--category", "test")
    mem("gotcha", "resolve", a)
    assert titles(mem("gotcha", "list", "--json")) == ["b"]
    assert titles(mem("gotcha", "list", "--all", "--json")) == ["a", "b"]
    assert titles(mem("gotcha", "list", "--resolved", "--json")) == ["a"]
    assert titles(
        mem("gotcha", "list", "--all", "--category", "build", "--category", "lint", "--json")
    ) == ["a"]
    assert titles(mem("gotcha", "list", "--all", "--severity", "warning", "--json")) == ["b"]
    assert titles(mem("gotcha", "list", "--all", "--file", "app/pay.py", "--json")) == ["a"]
    assert titles(mem("gotcha", "list", "--unconfirmed", "--json")) == []
    assert "no gotcha fits" in mem("gotcha", "list", "--category", "security").err
    mem("gotcha", "list", "--category", "nope", code=2)


# -- resolve, reopen


def test_resolve_and_reopen(mem: Mem) -> None:
    """With notes that are found again; twice is once."""
    id = new(mem, "T")
    assert (
        mem("gotcha", "resolve", id[-8:], "-m", "the client\nretries").out
        == f"resolved {id[-8:]} T\n"
    )
    full = mem.show(id)
    assert (full["resolved"]["note"], full["resolved"]["commit"]) == (
        "the client\nretries",
        git(mem.folder, "rev-parse", "HEAD"),
    )
    assert "the client retries" in full["body"]
    before = tip(mem.folder)
    assert "nothing changed" in mem("gotcha", "resolve", id).out
    assert mem("gotcha", "resolve", id, "--json").json[0]["changed"] is False
    assert tip(mem.folder) == before
    mem("gotcha", "reopen", id, "-m", "on macOS")
    assert not mem.show(id).get("resolved")
    assert "Reopened" in mem.show(id)["body"]
    assert "nothing changed" in mem("gotcha", "reopen", id).out


@pytest.mark.parametrize("verb", ["resolve", "reopen", "snooze", "verify"])
def test_all_or_none(mem: Mem, verb: str) -> None:
    """An id that is unknown, of another kind or too short: nothing is done to the others."""
    good, memory = new(mem, "T"), mem.add("M", "-t", "decision")
    git(mem.folder, "commit", "-q", "--allow-empty", "-m", "x")
    before = tip(mem.folder)
    for bad in ("zzzzzzzz", "got", "", *([memory] if verb != "verify" else [])):
        assert "error: " in mem("gotcha", verb, good, bad, code=1).err
    assert tip(mem.folder) == before


def test_private_and_user_stores(mem: Mem) -> None:
    """A gotcha is changed where it is."""
    mine, everywhere = new(mem, "mine", "--private"), new(mem, "everywhere", "--user")
    for id, store in ((mine, "private"), (everywhere, "user")):
        mem("gotcha", "resolve", id)
        assert mem.show(id)["resolved"]
        assert mem.show(id)["store"] == store
    assert tip(mem.folder) == ""


# -- snooze


def test_snooze(mem: Mem, pay: Path) -> None:
    """Hidden from lists, files and prompts until its time; nothing is written to the store."""
    id = new(mem, "T total", "--anchor", "app/pay.py:9")
    before = tip(mem.folder)
    assert "snoozed until" in mem("gotcha", "snooze", id[-8:], "--for", "2w").out
    assert tip(mem.folder) == before
    assert mem("gotcha", "list", "--json").json == []
    assert "1 snoozed" in mem("gotcha", "list").err
    assert titles(mem("gotcha", "list", "--snoozed", "--json")) == ["T total"]
    assert mem("gotcha", "for", "app/pay.py", "--json").json == []
    assert mem("scout", "the total of app/pay.py", "--json").json["records"] == []
    assert [row["id"] for row in mem("gotcha", "snooze", "--json").json] == [id]
    assert titles(mem("gotcha", "list", "--json", ago=-15 * DAY)) == ["T total"]
    assert "shown again" in mem("gotcha", "snooze", "--off", id).out
    assert titles(mem("gotcha", "list", "--json")) == ["T total"]
    assert "was not snoozed" in mem("gotcha", "snooze", "--off", id).out


def test_snoozed_ones_are_hidden_where_they_would_nag(mem: Mem) -> None:
    """Not among the resolved, and one that is forgotten is not counted; a limit is of those that are shown."""
    a, b, c = (
        new(mem, title, "--severity", "critical" if title == "a" else "info") for title in "abc"
    )
    mem("gotcha", "snooze", a, b)
    mem("gotcha", "resolve", b)
    assert titles(mem("gotcha", "list", "--resolved", "--json")) == ["b"]
    assert titles(mem("gotcha", "list", "-n", "1", "--json")) == ["c"]
    assert "1 snoozed" in mem("gotcha", "list").err
    assert "snoozed" not in mem("gotcha", "list", "--severity", "info").err
    mem("forget", a)
    assert "snoozed" not in mem("gotcha", "list").err
    mem("gotcha", "snooze", c)
    assert "1 snoozed" in mem("gotcha", "list").err


@pytest.mark.parametrize("span", ["", "0d", "7", "d", "-1d", "1.5h", "7 years"])
def test_snooze_for_no_time(mem: Mem, span: str) -> None:
    """Exit code 2."""
    mem("gotcha", "snooze", new(mem, "T"), "--for", span, code=2)


# -- verify


def test_verify_says_what_changed(mem: Mem, pay: Path) -> None:
    """Exit code 0 while the code is as it was, 1 when some of it is not; confirming places it anew."""
    id = new(mem, "T", "--anchor", "app/pay.py:9")
    new(mem, "nowhere")
    assert mem("gotcha", "verify").out == ""
    pay.write_text(CODE.replace("x * rate()", "x * rate() + 1"))
    code, out = drift(mem)
    assert (code, id[-8:] in out, "app/pay.py:9" in out) == (1, True, True)
    code, out = drift(mem, "--json")
    assert (code, [row["id"] for row in data_of(out)]) == (1, [id])
    mem("gotcha", "verify", id)
    assert mem.show(id)["confirmed"]
    assert mem("gotcha", "verify", "--json").json == []
    pay.unlink()
    code, out = drift(mem, "--json")
    assert (code, data_of(out)[0]["place"]["state"]) == (1, "adrift")
    mem("gotcha", "verify", id, "--anchor", "code.py:1")
    assert mem.show(id)["anchors"][0]["path"] == "code.py"


def test_verify_of_what_is_not_found(mem: Mem, pay: Path) -> None:
    """Nothing is written, of the others neither, and it says what to do; with a place it is confirmed there."""
    id = new(mem, "T", "--anchor", "app/pay.py:9")
    other = new(mem, "U", "--anchor", "code.py")
    pay.unlink()
    before = tip(mem.folder)
    err = mem("gotcha", "verify", other, id, code=1).err
    assert "app/pay.py:9" in err
    assert f"git mem gotcha verify {id[-8:]} --anchor PLACE" in err
    assert f"git mem gotcha resolve {id[-8:]}" in err
    assert tip(mem.folder) == before
    mem("gotcha", "verify", id, "--anchor", "code.py:1")
    assert mem("gotcha", "verify", "--json").json == []


def test_verify_of_your_own_store(mem: Mem) -> None:
    """It holds in every project: that its code is not in this one tells nothing."""
    id = new(mem, "T", "--user", "--anchor", "code.py:1")
    (mem.folder / "code.py").unlink()
    git(mem.folder, "commit", "-qam", "gone")
    assert mem("gotcha", "verify", "--json").json == []
    assert "confirmed" in mem("gotcha", "verify", id).out


@pytest.mark.parametrize("verb", [("verify",), ("resolve",), ("reopen",), ("snooze",)])
def test_only_gotchas(mem: Mem, verb: tuple[str, ...]) -> None:
    """A memory is refused, with what to do instead; it can be shown, as what it is."""
    id = mem.add("a memory")
    before = tip(mem.folder)
    assert "is a memory" in mem("gotcha", verb[0], id, *verb[1:], code=1).err
    assert tip(mem.folder) == before
    assert mem("show", id, "--json").json[0]["kind"] == "memory"
    assert "memory" in mem("show", id).out


def test_edit_of_a_gotcha(mem: Mem) -> None:
    """The same as git mem edit, usage errors too."""
    id = new(mem, "T")
    assert "changed" in mem("edit", id[-8:], "--title", "U", "--tag", "a").out
    assert (mem.show(id)["title"], mem.show(id)["tags"]) == ("U", ["a"])
    mem("edit", code=2)
    mem("edit", id, "--colour", "red", code=2)


def test_verify_usage(mem: Mem) -> None:
    """A place goes with one gotcha."""
    a, b = new(mem, "a"), new(mem, "b")
    mem("gotcha", "verify", "--anchor", "code.py", code=2)
    mem("gotcha", "verify", a, b, "--anchor", "code.py", code=2)
    before = tip(mem.folder)
    mem("gotcha", "verify", a, "--anchor", "none.py", code=1)
    assert tip(mem.folder) == before


# -- for, context


def test_for_a_line(mem: Mem, pay: Path) -> None:
    """Nearest first, several on a line the most severe first; edits above are followed."""
    new(mem, "at rate", "--anchor", "app/pay.py:5", "--severity", "critical")
    new(mem, "at total", "--anchor", "app/pay.py:9", "--severity", "info")
    new(mem, "at total too", "--anchor", "app/pay.py:9", "--severity", "critical")
    new(mem, "all of it", "--anchor", "app/**")
    pay.write_text("# one\n# two\n" + CODE)
    rows = mem("gotcha", "for", "app/pay.py:11", "--json").json
    assert titles(mem("gotcha", "for", "app/pay.py:11", "--json")) == [
        "at total too",
        "at total",
        "at rate",
        "all of it",
    ]
    assert rows[0]["place"]["line"] == 11
    assert titles(mem.at(pay.parent)("gotcha", "for", "pay.py:7", "--json"))[0] == "at rate"


@pytest.mark.parametrize("place", ["../x", "/etc/passwd", ""])
def test_for_what_is_elsewhere(mem: Mem, place: str) -> None:
    """Not in this repository: exit code 1."""
    mem("gotcha", "for", place, code=1)


def test_for_odd_files(mem: Mem) -> None:
    """Names with spaces and line ends, bytes that are no text, binary, huge and missing files."""
    for name, data in (
        ("a b\n🚀.py", b"x = 1\n"),
        ("latin.py", b"# \xe9t\xe9\nx = 1\n"),
        ("bin.dat", b"\0\1\2"),
        ("big.txt", b"x\n" * (5 << 20)),
    ):
        (mem.folder / name).write_bytes(data)
        new(mem, f"about {name!r}", "--anchor", name)
        assert titles(mem("gotcha", "for", name, "--json")) == [f"about {name!r}"]
        mem("gotcha", "for", f"{name}:1")
    assert mem("gotcha", "for", "none.py").out == ""


# -- wherever, and however it is shown


@pytest.mark.parametrize("kind", ["bare", "worktree"])
def test_any_repository(make_repo, mem: Mem, kind: str) -> None:
    """Every command answers."""
    there = mem.at(make_repo(kind))
    id = new(there, "T")
    for args in (
        ("list",),
        ("resolve", id),
        ("reopen", id),
        ("snooze", id),
        ("verify",),
        ("verify", id),
        ("for", "code.py"),
    ):
        there("gotcha", *args)
    assert there.show(id)["confirmed"]


def test_empty_repository(tmp_path: Path, mem: Mem) -> None:
    """Before the first commit there is no commit to name."""
    git(tmp_path, "init", "-q", "empty")
    there = mem.at(tmp_path / "empty")
    id = new(there, "T")
    there("gotcha", "resolve", id)
    assert "commit" not in there.show(id)["resolved"]


def test_no_repository(outside: Mem) -> None:
    """Exit code 1 for each."""
    for args in (
        ("list",),
        ("add", "T"),
        ("resolve", "x"),
        ("for", "x"),
        ("verify",),
        ("snooze",),
    ):
        outside("gotcha", *args, code=1)


def test_hostile_text_and_colours(mem: Mem) -> None:
    """Shown, not obeyed; colours on a terminal only."""
    new(mem, "esc \x1b[31m bel \x07 bidi \u202e", "--workaround", "\u202e x", "--anchor", "code.py")
    for args in (
        ("list",),
        ("list", "--json"),
        ("for", "code.py"),
    ):
        assert not set("\x1b\x07\u202e") & set(mem("gotcha", *args).out), args
    seen = on_terminal(mem.folder, "--no-pager", "gotcha", "list")
    assert "\x1b[33m" in seen
    assert "\x1b[31m" not in seen
    assert "\u202e" not in seen


def test_unknown_command(mem: Mem) -> None:
    """It says which was meant."""
    assert "Did you mean list" in mem("gotcha", "lst", code=2).err
    err = mem("gotcha", "\x1b[31mred\u202e", code=2).err
    assert "\\x1b[31mred\\u202e" in err
    assert not set("\x1b\u202e") & set(err)
    assert "It has: add, list" in mem("gotcha", "qqqq", code=2).err
    assert data_of(mem("gotcha", "list", "--json").out) == []


def test_doctor_finds_nothing_wrong_with_a_pattern(mem: Mem) -> None:
    """SQLite's quick check stumbles over a table whose key has another order than its columns."""
    new(mem, "never edit a migration that ran", "--anchor", "migrations/**")
    mem("list")
    assert "damaged" not in mem("doctor").out
