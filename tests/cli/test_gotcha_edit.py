"""What a gotcha is given, and how it is changed: triggers that cannot be used, one that is there already, the editor."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.cli.conftest import Mem, commits, spawn, venv_path


def new(mem: Mem, title: str, *args: str) -> str:
    """Record a gotcha; return its id."""
    return str(mem("gotcha", "add", title, *args, "--json").json["id"])


# -- triggers


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (("--code", ""), "--code is empty"),
        (("--code", "  "), "--code is empty"),
        (("--error", ""), "--error is empty"),
        (("--query", "", "--language", "python"), "--query is empty"),
        (("--language", ""), "--language is empty"),
        (("--language", "python"), "goes with --code or --query"),
        (("--code", "("), "missing )"),
        (("--code", "(?=x)"), "look-around"),
        (("--query", "(", "--language", "python"), "not a query for python"),
        (("--query", "(nosuchnode)", "--language", "python"), "nosuchnode"),
        (("--query", "(call)"), "--query needs the language"),
        (("--code", "x", "--language", "klingon"), "'klingon' is not a language"),
        (("--anchor", ""), "--anchor is empty"),
    ],
)
def test_trigger_that_cannot_be_used(mem: Mem, args: tuple[str, ...], reason: str) -> None:
    """Wrong usage, with the reason; nothing is written, whichever command is asked."""
    assert reason in mem("gotcha", "add", "a trap", *args, code=2).err
    assert reason in mem("add", "-k", "gotcha", "a trap", *args, code=2).err
    id = new(mem, "there")
    before = commits(mem.folder)
    assert reason in mem("edit", id, *args, code=2).err
    assert commits(mem.folder) == before


def test_trigger_is_changed_and_taken_away(mem: Mem) -> None:
    """An empty text takes one away; the language goes with what it was for."""
    id = new(
        mem, "a trap", "--code", "sleep", "--language", "python", "--error", "KeyError: 'rate'"
    )
    mem("edit", id, "--language", "rust")
    assert mem.show(id)["triggers"] == {
        "code": "sleep",
        "language": "rust",
        "error": "KeyError: 'rate'",
    }
    mem("edit", id, "--code", "")
    assert mem.show(id)["triggers"] == {"error": "KeyError: 'rate'"}
    mem("edit", id, "--error", "")
    assert not mem.show(id).get("triggers")


def test_error_from_a_tool_may_be_any_bytes(mem: Mem) -> None:
    """As `error record` reads them."""
    out = mem(
        "gotcha", "add", "a trap", "--error", "-", "--json", stdin=b"KeyError: 'rate' \xff\n"
    ).json
    assert out["triggers"]["error"].startswith("KeyError: 'rate'")


def test_language_of_a_query_is_checked_with_it(mem: Mem) -> None:
    """A query that is none in the new language is refused."""
    id = new(mem, "a trap", "--query", "(call) @here", "--language", "python")
    assert "not a query for rust" in mem("edit", id, "--language", "rust", code=2).err
    assert mem.show(id)["triggers"]["language"] == "python"


# -- one that is there already


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (
            ("The linker runs out of memory",),
            ("the linker runs out of memory!",),
            "nearly the same title",
        ),
        (
            ("one", "--error", "KeyError: 'rate'"),
            ("two", "--error", "  KeyError: 'rate'"),
            "the same error",
        ),
        (("one", "--anchor", "README.md:1"), ("two", "--anchor", "README.md:1"), "the same code"),
    ],
)
def test_new_one_that_is_there_already(
    mem: Mem, first: tuple[str, ...], second: tuple[str, ...], said: str
) -> None:
    """It is kept, and a remark names the other, with its id to change."""
    (mem.folder / "README.md").write_text("text\n")
    old = new(mem, *first)
    done = mem("gotcha", "add", *second)
    assert said in done.err
    assert f"git mem edit {old[-8:]}" in done.err
    assert done.out.startswith("remembered ")
    assert "forget" in mem("gotcha", "add", *second, "--json").err


def test_another_one_is_no_double(mem: Mem) -> None:
    """Other words, another error, the same file: no remark; nor for what is put aside."""
    (mem.folder / "README.md").write_text("text\n")
    new(
        mem, "the linker runs out of memory", "--error", "KeyError: 'rate'", "--anchor", "README.md"
    )
    assert (
        mem(
            "gotcha",
            "add",
            "the linker is slow",
            "--error",
            "KeyError: 'tax'",
            "--anchor",
            "README.md",
        ).err
        == ""
    )
    mem("archive", new(mem, "put aside"))
    assert mem("gotcha", "add", "put aside").err == ""


# -- the editor


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"EDITOR": "vim -f"},
        {"VISUAL": "/usr/bin/nano"},
        {"GIT_EDITOR": "emacs -nw"},
        {"TERM": "dumb"},
    ],
)
def test_no_terminal_no_editor(mem: Mem, env: dict[str, str]) -> None:
    """It fails at once, and says what to type instead, with an editor that would wait for keys or none."""
    id = new(mem, "a trap")
    clean = {
        key: value
        for key, value in os.environ.items()
        if key not in {"EDITOR", "VISUAL", "GIT_EDITOR", "TERM"}
    }
    clean |= {"PATH": venv_path(), "TERM": "xterm", **env}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gitmem", "edit", id],
        cwd=mem.folder,
        env=clean,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "no terminal" in done.stderr
    assert "--title" in done.stderr


def test_editor_that_needs_no_terminal(mem: Mem, editor: Callable[[str], dict[str, str]]) -> None:
    """A script works in a pipe, and an editor that is told to work alone is not refused."""
    id = new(mem, "old")
    spawn(
        mem.folder,
        "edit",
        id,
        env={**editor("text = text.replace('old', 'new')"), "TERM": "dumb"},
    )
    assert mem.show(id)["title"] == "new"
    spawn(mem.folder, "edit", id, env={"GIT_EDITOR": ":", "EDITOR": "vim"})
    assert mem.show(id)["title"] == "new"


# -- forgotten


def test_forgotten_error_is_captured_no_more(mem: Mem) -> None:
    """One that a person wrote for an error is muted like a captured one, until it comes back."""
    id = new(mem, "rates are not loaded", "--error", "KeyError: 'rate'")
    mem("forget", id)
    for _ in range(4):
        answer = mem("error", "record", "KeyError: 'rate'", "--json").json
    assert answer["gotcha"] is None
    assert mem("inbox", "--json").json == []
    assert "muted: it was forgotten" in mem("error", "list").out

    mem("restore", id)
    assert mem("error", "record", "KeyError: 'rate'", "--json").json["gotcha"] == id
    mem("edit", id, "--error", "")
    assert mem("error", "record", "KeyError: 'rate'", "--json").json["gotcha"] not in {None, id}


def test_muting_leaves_the_captured_one(mem: Mem) -> None:
    """Of two about one error, forgetting one forgets one; an undo lifts the mute too."""
    captured = [
        mem("error", "record", "KeyError: 'rate'", "--json").json["gotcha"] for _ in range(3)
    ][-1]
    id = new(mem, "rates are not loaded", "--error", "KeyError: 'rate'")
    mem("forget", id)
    assert mem("error", "record", "KeyError: 'rate'", "--json").json["gotcha"] == captured

    other = new(mem, "tax is not loaded", "--error", "KeyError: 'tax'")
    mem("forget", other)
    mem("undo")
    mem("edit", other, "--error", "")
    assert [mem("error", "record", "KeyError: 'tax'", "--json").json["gotcha"] for _ in range(3)][
        -1
    ]
