"""`git mem extract`: files of all forms, standard input, commits, the inbox; and the wrong thing typed."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Mem, spawn
from tests.conftest import git

NOTES = (
    "# Notes\n\nDecision: use Postgres for the session store\n\nTODO: write the migration guide\n"
)


def row(kind: str, content: Any) -> str:
    return (
        json.dumps(
            {
                "type": kind,
                "message": {"role": kind, "content": content},
                "uuid": "u",
                "sessionId": "s",
                "timestamp": "2026-11-21T03:06:42Z",
            }
        )
        + "\n"
    )


def test_what_is_found_is_shown_by_kind(mem: Mem) -> None:
    (mem.folder / "notes.md").write_text(NOTES)

    done = mem("extract", "notes.md")

    assert done.out.splitlines()[-5:] == [
        "Decisions",
        "  Use Postgres for the session store  (line 3)",
        "",
        "To do",
        "  Write the migration guide  (line 5)",
    ]


def test_json(mem: Mem) -> None:
    (mem.folder / "s.jsonl").write_text(
        row("user", "hi") + row("user", "from now on write the commit messages in English")
    )

    out = mem("extract", "s.jsonl", "--json").json

    assert out["extractor"] == "offline"
    (item,) = out["items"]
    assert item | {"text": ""} == {
        "kind": "preference",
        "text": "",
        "detail": None,
        "source": "s.jsonl",
        "at": "2026-11-21T03:06:42Z",
        "line": 2,
        "end_line": 2,
        "paths": [],
        "speaker": "user",
        "sure": True,
        "commit_name": None,
    }


def test_kinds_and_several_files(mem: Mem) -> None:
    (mem.folder / "a.md").write_text(NOTES)
    (mem.folder / "b c.md").write_text("- [x] a parser for dates\n- [ ] the printer\n")

    out = mem("extract", "a.md", "b c.md", "--kind", "task", "--kind", "done", "--json").json

    assert [(one["kind"], one["source"]) for one in out["items"]] == [
        ("task", "a.md"),
        ("done", "b c.md"),
        ("task", "b c.md"),
    ]


def test_standard_input_outside_of_a_repository(tmp_path: Path) -> None:
    done = spawn(tmp_path, "extract", "-", "--json", stdin=NOTES.encode())

    assert [one["kind"] for one in done.json["items"]] == ["decision", "task"]


def test_commits_the_newest_decision_wins(mem: Mem) -> None:
    for n, text in enumerate(
        (
            "feat: a cache\n\nDecision: use Redis for the cache",
            "feat: another cache\n\nDecision: use Memcached for the cache",
        )
    ):
        (mem.folder / "f").write_text(str(n))
        git(mem.folder, "add", "f")
        git(mem.folder, "commit", "-qm", text)

    out = mem("extract", "--commits", "-2", "--json").json

    assert [one["text"] for one in out["items"] if one["kind"] == "decision"] == [
        "Use Memcached for the cache"
    ]
    assert [one["text"] for one in out["items"] if one["kind"] == "done"] == [
        "A cache",
        "Another cache",
    ]


def test_commits_are_named(mem: Mem) -> None:
    git(
        mem.folder,
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "Switch from requests to httpx because requests has no HTTP/2",
    )
    id = git(mem.folder, "rev-parse", "HEAD").strip()

    shown = mem("extract", "--commits", "-1", "--save")

    assert f"(commit {id[:10]})" in shown.out
    (item,) = mem("extract", "--commits", "-1", "--json").json["items"]
    assert (item["kind"], item["commit_name"], item["detail"]) == (
        "decision",
        id,
        "requests has no HTTP/2",
    )
    log = git(mem.folder, "log", "-1", "--oneline")
    (mem.folder / "log.txt").write_text(log + "\n")
    (item,) = mem("extract", "log.txt", "--from", "commits", "--json").json["items"]
    assert (item["commit_name"], item["source"]) == (log.split()[0], "log.txt")
    (row,) = mem("inbox", "--json").json
    assert f"commit {id[:12]}" in mem("show", row["id"]).out


@pytest.mark.parametrize("name", ["the la tin.txt", "-x.txt", "state.json"])
def test_letters_that_are_not_utf_8(mem: Mem, name: str) -> None:
    """It is said that letters are lost, and what to do; what it proposes works."""
    told = (
        '{"decisions": ["Usar PostgreSQL para la información"]}'
        if name == "state.json"
        else "Decisión: Usar PostgreSQL para la información\n"
    )
    (mem.folder / name).write_bytes(told.encode("latin-1"))

    for shown in (mem("extract", "--", name), mem("extract", "--save", "--", name)):
        assert f"{name} is not all UTF-8" in shown.err
    command = (
        shown.err.partition("first: ")[2]
        .splitlines()[0]
        .replace("git mem", f"{sys.executable} -m gitmem")
    )
    again = subprocess.run(command, shell=True, cwd=mem.folder, capture_output=True, check=True)
    assert "Usar PostgreSQL para la información  (line 1)" in again.stdout.decode()
    assert not again.stderr


def test_a_letter_that_stands_for_one_that_was_lost_is_no_flaw(mem: Mem) -> None:
    (mem.folder / "v.txt").write_text(
        "Decision: replace the letter \ufffd in all names by a question mark\n"
    )
    assert not mem("extract", "v.txt").err


def test_saved_once_and_not_again(mem: Mem) -> None:
    mem("init")
    (mem.folder / "notes.md").write_text(NOTES)

    first, second = mem("extract", "notes.md", "--save"), mem("extract", "notes.md", "--save")

    assert "2 put into the inbox" in first.out
    assert "nothing new for the inbox" in second.err
    assert {one["title"] for one in mem("inbox", "--json").json} == {
        "Use Postgres for the session store",
        "Write the migration guide",
    }


def test_all_that_was_found_is_saved(mem: Mem) -> None:
    """Somebody asked for it: what bounds a session that ends by itself is no bound here."""
    tools = "redis kafka celery flask django pytest ruff mypy nginx docker helm vault consul minio"
    lines = [f"Decision: use {tool} for the {tool[::-1]} part" for tool in tools.split()]
    (mem.folder / "notes.md").write_text("\n\n".join(lines))

    assert f"{len(lines)} put into the inbox" in mem("extract", "notes.md", "--save").out


def test_an_error_with_its_fix_becomes_a_gotcha(mem: Mem) -> None:
    mem("init")
    (mem.folder / "notes.md").write_text(
        "Error: the build hangs on arm64\n\nFix: pin esbuild to 0.19\n"
    )

    mem("extract", "notes.md", "--save")

    (one,) = mem("inbox", "--json").json
    assert (one["kind"], one["title"], one["workaround"]) == (
        "gotcha",
        "The build hangs on arm64",
        "pin esbuild to 0.19.",
    )


def test_nothing_found_is_said(mem: Mem) -> None:
    (mem.folder / "empty.txt").write_text("")

    assert (
        "nothing worth keeping was found in empty.txt (0 turns)" in mem("extract", "empty.txt").err
    )
    assert (
        "nothing of the kind task was found in empty.txt"
        in mem("extract", "--kind", "task", "empty.txt").err
    )


@pytest.mark.parametrize(
    ("args", "code", "reason"),
    [
        ((), 2, "what shall be read?"),
        (("-", "-"), 2, "once only"),
        (("a", "--commits", "x"), 2, "one of them at a time"),
        (("gone.md",), 1, "'gone.md' cannot be read: No such file"),
        ((".",), 1, "'.' cannot be read: Is a directory"),
        (("--commits", "no-such-branch"), 1, "no-such-branch"),
        (("--commits", "--output=x"), 1, "is not a range of commits"),
        (("--session", "nope"), 1, "no session"),
        (("--kind", "nonsense", "x"), 2, "nonsense"),
    ],
)
def test_the_wrong_thing(mem: Mem, args: tuple[str, ...], code: int, reason: str) -> None:
    assert reason in mem("extract", *args, code=code).err


def test_text_of_others_does_not_reach_the_terminal_raw(mem: Mem) -> None:
    (mem.folder / "evil.txt").write_text("Decision: use \x1b[31mred\x1b[0m ink for it\n")

    assert "\x1b" not in mem("extract", "evil.txt").out


def test_a_repository_without_commits_is_said_to_be_one(mem: Mem, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", str(tmp_path / "empty"))
    assert "no commits yet" in mem.at(tmp_path / "empty")("extract", "--commits", "-20", code=1).err


def test_a_proposed_gotcha_is_merged_into_one_that_everybody_has(mem: Mem) -> None:
    known = mem("gotcha", "add", "Builds hang on arm64 machines", "--json").json["id"]
    (mem.folder / "notes.md").write_text(
        "Error: esbuild never ends under emulation\n\nFix: pin esbuild to 0.19\n"
    )
    mem("extract", "notes.md", "--save")
    (one,) = mem("inbox", "--json").json

    mem("inbox", "--merge", one["id"], "--into", known)

    assert mem("inbox", "--json").json == []
    shown = mem.show(known)
    assert "pin esbuild" in json.dumps(shown) and shown["store"] == "shared"
    mem("extract", "notes.md", "--save")
    assert mem("inbox", "--json").json == []


def test_a_folder_is_no_file(mem: Mem) -> None:
    assert "files in it" in mem("extract", ".", code=1).err


def test_an_exported_session_is_read_back(mem: Mem, tmp_path: Path) -> None:
    """One session, and the list of a day; whatever wrote the JSON anew; in `opening` too."""
    id = mem("session", "start", "--json").json["id"]
    env = {"GITMEM_SESSION": id}
    mem("session", "note", "We decided to use Postgres 16 for the orders service", env=env)
    mem("session", "mark", "Never log request bodies", env=env)
    one, day = tmp_path / "one.json", tmp_path / "day"
    mem("session", "export", id, "-o", str(one))
    mem("session", "export", "--date", "today", "-o", str(day))
    short, mixed = tmp_path / "short.json", tmp_path / "mixed"
    short.write_text(json.dumps(json.loads(one.read_text())))
    mixed.write_text(
        json.dumps(
            [*json.loads(day.read_text()), {"interactions": [], "session_id": "x"}], sort_keys=True
        )
    )
    for file in (one, day, short, mixed):
        items = mem("extract", str(file), "--json").json["items"]
        assert [(item["kind"], item["text"]) for item in items] == [
            ("decision", "We decided to use Postgres 16 for the orders service"),
            ("preference", "Never log request bodies"),
        ], file
        # notes wait for no answer
        assert mem("session", "opening", "--history", str(file)).out.startswith(
            "silent: the last session ended"
        )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", "is not text: it is a picture"),
        (b"SQLite format 3\0\x10\0\x01\x01", "is not text: it is a database"),
        (b"PK\x03\x04\x14\0\0\0\0\0We decided to use tabs", "is not text: it is an archive"),
        (bytes(range(256)) * 20, "is not text: it has bytes"),
        ("We decided to use tabs".encode("utf-16"), "is not UTF-8: it is in UTF-16"),
    ],
)
def test_what_is_no_text_is_refused(mem: Mem, data: bytes, said: str) -> None:
    """With what can be read, as a file, from standard input, and where an opening looks."""
    (mem.folder / "x y").write_bytes(data)
    for args in (
        ["extract", "x y"],
        ["extract", "x y", "--json"],
        ["session", "opening", "--history", "x y"],
    ):
        done = mem(*args, code=1)
        assert (done.out, said in done.err, "What can be read: " in done.err) == ("", True, True)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ("Nós decidimos usar Postgres.\n".encode("latin-1"), ["N\ufffds decidimos usar Postgres."]),
        (b"\x1b[1mWe decided to use tabs.\x1b[0m\n", ["We decided to use tabs."]),
        (
            b"\x1b]8;;http://a.org\x1b\\We decided to use\x1b]8;;\x1b\\ \x1b[38;5;196mtabs.\x1b[m\n",
            ["We decided to use tabs."],
        ),
        (b"", []),
        (b"We decided to use tabs.\n" + bytes(900), ["We decided to use tabs."]),
    ],
)
def test_odd_texts_are_read(mem: Mem, data: bytes, found: list[str]) -> None:
    """Another encoding, colours and links of a terminal, nothing at all, zeros that a crash left."""
    (mem.folder / "x").write_bytes(data)
    made = mem("extract", "x", "--json").json
    assert [(one["kind"], one["text"], one["line"], one["end_line"]) for one in made["items"]] == [
        ("decision", text, 1, 1) for text in found
    ]
    assert made["topics"] == ["Postgres" if "Postgres" in text else "tabs" for text in found]


def test_a_form_that_a_file_does_not_have_is_named(mem: Mem) -> None:
    """Nothing is read; where the form was told by the content, nothing more is said."""
    (mem.folder / "x").write_text("user: We decided to use tabs.\n", encoding="utf-8")
    assert "--from claude" in mem("extract", "--from", "claude", "x").err
    (mem.folder / "x").write_text("", encoding="utf-8")
    assert "(0 turns)" in (told := mem("extract", "x").err)
    assert "--from" not in told
