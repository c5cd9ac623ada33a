"""The purge command: a secret's bytes are really gone, here and, when asked, on the remote."""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitmem.repo.location import Home
from gitmem.state.database import State
from tests.cli.conftest import PRIVATE, SHARED, Mem, commits, on_terminal, tip
from tests.conftest import fsck, git

SECRET = "xyzzy-plugh-42"  # nothing that the redaction would know


def holds(folder: Path, text: str = SECRET) -> list[str]:
    """Return where a text is found: any object of the database, any file of the git dir."""
    dot = Path(git(folder, "rev-parse", "--absolute-git-dir"))
    found = []
    dump = subprocess.run(
        ["git", "-C", str(folder), "cat-file", "--batch-all-objects", "--batch", "--unordered"],
        capture_output=True,
        check=True,
    ).stdout
    if text.encode() in dump:
        found.append("objects")
    found += [
        str(p.relative_to(dot))
        for p in dot.rglob("*")
        if p.is_file() and text.encode() in p.read_bytes()
    ]
    return found


def holds_after_drop(mem: Mem, text: str = SECRET) -> list[str]:
    """Return where a text is found in a clone that followed a purge, once its quarantine is removed."""
    assert {os.path.dirname(place) for place in holds(mem.folder, text)} <= {"gitmem/quarantine"}
    mem("forget", "--purge", "--quarantine-drop")
    return holds(mem.folder, text)


@pytest.fixture
def tainted(mem: Mem) -> tuple[Mem, str]:
    """A store whose history holds a secret in several versions, and records beside it."""
    mem("add", "before", ago=300)
    id = mem.add("the key", "-m", f"it is {SECRET}", ago=240)
    mem("edit", id, "-m", f"it still is {SECRET}", "--tag", "key", ago=180)
    mem("add", "after", ago=120)
    mem("search", "xyzzy")
    mem("show", id)
    assert "objects" in holds(mem.folder)
    return mem, id


def test_a_purged_record_is_gone(tainted: tuple[Mem, str]) -> None:
    """No object, no cache, no log holds it; the other records and the repository are sound."""
    mem, id = tainted
    done = mem("forget", "--purge", id[-8:], "--yes")

    assert done.out.startswith("shared: rewrote ")
    assert "change it at its source" in done.err
    assert holds(mem.folder) == []
    assert fsck(mem.folder) == ""
    assert mem.titles("--all") == ["after", "before"]
    mem("doctor")
    mem("show", id, code=1)
    assert [
        r["id"] for r in mem("restore", "--list", "--json").json if r["title"] != "(purged)"
    ] == []
    mem("restore", id, code=1)
    assert mem("log", "-p").out.count(SECRET) == 0


def test_a_purged_text_is_masked(tainted: tuple[Mem, str]) -> None:
    """With --text the record stays, in all its versions, without the secret."""
    mem, id = tainted
    before = commits(mem.folder)
    mem("forget", "--purge", "--text", SECRET, "--yes")

    assert holds(mem.folder) == []
    assert fsck(mem.folder) == ""
    row = mem.show(id)
    assert (row["body"], row["tags"]) == ("it still is [purged]\n", ["key"])
    assert "it is [purged]" in mem("log", id, "-p").out
    assert commits(mem.folder) >= before
    mem("doctor")


def test_what_was_forgotten_can_be_purged(tainted: tuple[Mem, str]) -> None:
    """A record that is gone from the tip is still in history: purge reaches it by its cut id."""
    mem, id = tainted
    mem("forget", id)
    assert "objects" in holds(mem.folder)
    mem("forget", "--purge", id[-8:], "--yes")

    assert holds(mem.folder) == []
    assert mem.titles() == ["after", "before"]


def test_packed_objects_are_purged(tainted: tuple[Mem, str]) -> None:
    """It does not matter whether the objects are loose or packed, or the ref."""
    mem, id = tainted
    git(mem.folder, "gc", "-q")
    mem("forget", "--purge", id, "--yes")

    assert holds(mem.folder) == []
    assert fsck(mem.folder) == ""


def test_a_secret_in_the_title_is_purged(mem: Mem) -> None:
    """The title is in commit messages too."""
    id = mem.add(f"the key is {SECRET}")
    mem("pin", id)
    mem("edit", id, "--title", "the key")
    mem("forget", "--purge", "--text", SECRET, "--yes")

    assert holds(mem.folder) == []
    assert mem.titles() == ["the key"]


def test_the_private_store_is_purged_too(mem: Mem) -> None:
    """Both stores of a repository are cleaned."""
    mem("add", "ours", "-m", SECRET)
    mem("add", "mine", "-m", SECRET, "--private")
    mem("forget", "--purge", "--text", SECRET, "--yes")

    assert holds(mem.folder) == []
    assert sorted(mem.titles()) == ["mine", "ours"]
    assert tip(mem.folder, PRIVATE)


def test_unreachable_objects_of_the_user_stay(tainted: tuple[Mem, str]) -> None:
    """Only our own unreachable objects are deleted: a dropped stash can still be rescued."""
    mem, id = tainted
    lost = git(mem.folder, "hash-object", "-w", "--stdin", stdin=b"the user's own lost work\n")
    mem("forget", "--purge", id, "--yes")

    assert git(mem.folder, "cat-file", "blob", lost) == "the user's own lost work"


def test_a_blob_that_the_project_has_too_stays(mem: Mem) -> None:
    """An object that a branch needs is not deleted, and that is not a failure."""
    id = mem.add("T", "-m", "text")
    data = mem("show", id, "--raw").out
    (mem.folder / "copy.md").write_text(data)
    git(mem.folder, "add", "copy.md")
    git(mem.folder, "commit", "-qm", "copy")
    mem("forget", "--purge", id, "--yes")

    assert git(mem.folder, "show", "HEAD:copy.md") == data.strip()
    assert fsck(mem.folder) == ""


def test_purge_asks(tainted: tuple[Mem, str]) -> None:
    """Without a terminal and without --yes nothing is done; on a terminal no is the default."""
    mem, id = tainted
    before = tip(mem.folder)
    assert "nothing was changed" in mem("forget", "--purge", id, code=1).err
    assert "nothing was changed" in on_terminal(
        mem.folder, "forget", "--purge", id, keys="\n", code=1
    )
    assert tip(mem.folder) == before

    on_terminal(mem.folder, "forget", "--purge", id, keys="y\n")
    assert holds(mem.folder) == []


def test_purge_says_no(tainted: tuple[Mem, str]) -> None:
    """Unknown ids, too short a text, nothing named."""
    mem, _ = tainted
    before = tip(mem.folder)
    mem("forget", "--purge", "zzzzzzzz", "--yes", code=1)
    mem("forget", "--purge", "--text", "abc", "--yes", code=1)
    mem("forget", "--purge", code=2)

    assert tip(mem.folder) == before


def test_the_secret_can_be_typed(tainted: tuple[Mem, str]) -> None:
    """`--text -` asks for it, so that it is in no shell history, and does not echo it."""
    mem, _ = tainted
    seen = on_terminal(mem.folder, "forget", "--purge", "--text", "-", "--yes", keys=f"{SECRET}\n")

    assert SECRET not in seen
    assert holds(mem.folder) == []


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_the_secret_can_come_from_a_pipe(tainted: tuple[Mem, str], end: bytes) -> None:
    """Without a warning that it may be shown; a terminal of the process is not asked."""
    mem, _ = tainted
    done = mem("forget", "--purge", "--text", "-", "--yes", stdin=SECRET.encode() + end)

    assert "arning" not in done.err + done.out
    assert holds(mem.folder) == []


def test_a_secret_of_several_lines_is_read_whole(mem: Mem) -> None:
    secret = "-----BEGIN KEY-----\nMIIEvQIBADAN\n-----END KEY-----"
    id = mem.add("the key", "-m", f"it is\n\n{secret}")
    mem("forget", "--purge", "--text", "-", "--yes", stdin=f"{secret}\n".encode())

    assert mem.show(id)["body"] == "it is\n\n[purged]\n"


def test_remote_and_clones_are_told(clones: tuple[Mem, Mem], hub: Path) -> None:
    """Purge names the remote that may still hold it; sync does not bring it back; with --remote it is replaced there, and clones follow."""
    one, two = clones
    id = one.add("the key", "-m", SECRET)
    one("add", "kept")
    one("sync")
    two("sync")
    two("add", "not sent yet")
    done = one("forget", "--purge", id, "--yes")
    assert "Remotes and clones may still hold it: origin" in done.err
    assert "git mem forget --purge --remote origin" in done.err
    assert holds(one.folder) == []

    assert "still holds what was purged" in one("sync", code=1).err
    assert holds(one.folder) == []

    one("forget", "--purge", "--remote", "origin")
    git(hub, "reflog", "expire", "--expire=now", "--all")
    git(hub, "gc", "-q", "--prune=now")
    assert holds(hub) == []

    assert "purged" in two("sync").err
    assert sorted(two.titles("--all")) == ["kept", "not sent yet"]
    assert holds_after_drop(two) == []
    one("sync")
    assert sorted(one.titles("--all")) == ["kept", "not sent yet"]
    assert tip(one.folder) == tip(two.folder) == tip(hub)


def test_purge_with_the_remote_in_one_go(clones: tuple[Mem, Mem], hub: Path) -> None:
    """`purge ID --remote NAME` does both; what others sent meanwhile is kept."""
    one, two = clones
    id = one.add("the key", "-m", SECRET)
    one("sync")
    two("sync")
    two("add", "from two")
    two("sync")
    one("forget", "--purge", id, "--remote", "origin", "--yes")

    one("sync")
    assert one.titles("--all") == ["from two"]
    assert SECRET not in git(hub, "log", "-p", SHARED)
    assert holds(one.folder) == []


def test_a_text_that_is_nowhere_is_told(tainted: tuple[Mem, str], clones: tuple[Mem, Mem]) -> None:
    """Exit 0, and nothing moved: so a purge can be checked. Words that the store needs cannot go, and that is a failure."""
    mem, _ = tainted
    before = tip(mem.folder)
    done = mem("forget", "--purge", "--text", SECRET + "x", "--yes")
    assert done.out.startswith("it is nowhere on this machine; nothing was changed.")
    report = mem("forget", "--purge", "--text", SECRET + "x", "--yes", "--json").json
    assert report["complete"]
    names = {row["name"] for row in report["locations"] if row["state"] == "clean"}
    assert {
        "shared history",
        "shared objects",
        "session histories",
        "state.db",
        "journal",
        "quarantine",
        "hook.log",
    } <= names
    assert (
        "names and words that the store itself needs"
        in mem("forget", "--purge", "--text", "created:", "--yes", code=1).err
    )
    assert (
        "is a part of [purged]" in mem("forget", "--purge", "--text", "purge", "--yes", code=1).err
    )
    assert (
        "neither letters nor digits"
        in mem("forget", "--purge", "--text", '"},{"', "--yes", code=1).err
    )
    assert tip(mem.folder) == before
    one, _ = clones
    one.add("T")
    one("sync")
    assert (
        "nowhere" in one("forget", "--purge", "--text", SECRET, "--remote", "origin", "--yes").out
    )


def test_a_text_in_quotes_is_purged(mem: Mem) -> None:
    """What JSON escapes is found in the form in which it is written."""
    secret = 'pa"ss\\wo-canary'
    id = mem.add("T", "-k", "gotcha", "--workaround", f"use {secret} here", "-m", f"or {secret}")
    mem("forget", "--purge", "--text", secret, "--yes")

    assert holds(mem.folder, "wo-canary") == []
    assert mem.show(id)["workaround"] == "use [purged] here"


@pytest.mark.parametrize("word", ["memory", "format", "kind"])
def test_a_word_of_the_format_breaks_nothing(mem: Mem, word: str) -> None:
    """It is masked in texts; the store stays readable."""
    mem("add", f"the {word}", "-m", f"a {word} of mine")
    mem("add", "two")
    mem("forget", "--purge", "--text", word, "--yes")

    assert sorted(mem.titles()) == ["the [purged]", "two"]
    mem("doctor")
    mem("sync", code=None)


def test_the_users_store_is_purged_too(mem: Mem) -> None:
    """A text, and a record by its id, in the store of all projects."""
    mem("add", "ours", "-m", SECRET)
    mem("add", "everywhere", "-m", SECRET, "--user")
    id = mem.add("by id", "--user")
    user = Path(os.environ["HOME"]) / ".local/share/gitmem/user.git"
    assert holds(user)
    done = mem("forget", "--purge", "--text", SECRET, "--yes")

    assert "user: rewrote" in done.out
    assert (holds(mem.folder), holds(user)) == ([], [])
    mem("forget", "--purge", id, "--yes")
    assert sorted(mem.titles()) == ["everywhere", "ours"]


def indexed(mem: Mem) -> str:
    """Return the commit that the index is of, as a hook reads it."""
    with contextlib.closing(sqlite3.connect(mem.folder / ".git" / "gitmem" / "index.db")) as db:
        tips: dict[str, str] = dict(db.execute("SELECT store, tip FROM tips"))
    return tips["shared"]


def test_our_own_files_are_cleaned(mem: Mem) -> None:
    """Errors that were seen, hits that wait, what sessions and killed writes left: wherever the text is, and lines on the record."""
    home = mem.folder / ".git" / "gitmem"
    id = mem.add("T", "-m", SECRET)
    with contextlib.closing(State(Home(str(home)))) as state:
        state.add_error(f"cannot log in with {SECRET}", time.time(), "s", 86400)
        state.add_error("another error", time.time(), "s", 86400)
    files = [
        "errors.jsonl",
        "errors.jsonl.77",
        "sessions/a.jsonl",
        "journal/x.json.bad",
        "journal/x.json.1.2.tmp",
    ]
    for name in files:
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(f'{{"keep": 1}}\n{{"text": "{SECRET}"}}\n{{"id": "{id}"}}\n')
        (home / name).chmod(0o600)
    mem("forget", "--purge", "--text", SECRET, "--yes")

    assert holds(mem.folder) == []
    assert indexed(mem) == tip(mem.folder)
    assert (home / "sessions/a.jsonl").stat().st_mode & 0o777 == 0o600
    with contextlib.closing(State(Home(str(home)))) as state:
        assert [pattern for pattern, _, _ in state.errors(0.0)] == ["another error"]
    mem("forget", "--purge", id, "--yes")
    for name in files:
        assert (home / name).read_text() == '{"keep": 1}\n{"text": "[purged]"}\n'


def test_a_purge_waits_for_the_journal(tainted: tuple[Mem, str]) -> None:
    """A write that could not be committed yet may hold the text too: then nothing is purged."""
    mem, _ = tainted
    lock = mem.folder / ".git" / f"{SHARED}.lock"
    lock.touch()
    mem("add", "waits", "-m", SECRET)
    assert (
        "writes wait in the journal"
        in mem("forget", "--purge", "--text", SECRET, "--yes", code=1).err
    )
    lock.unlink()
    mem("forget", "--purge", "--text", SECRET, "--yes")

    assert holds(mem.folder) == []
    assert "waits" in mem.titles()


def test_a_ref_of_the_user_that_keeps_it_is_told(clones: tuple[Mem, Mem]) -> None:
    """In branch mode git's own fetch keeps a copy of memory below refs/remotes: purge and sync name it."""
    one, two = clones
    for mem in clones:
        mem("remote", "enable", "origin", "--branch", "--yes")
    one.add("the key", "-m", SECRET)
    one("sync")
    two("sync")
    for mem in clones:
        git(mem.folder, "fetch", "-q", "origin")
    said = "refs/remotes/origin/gitmem/main still holds the old history"
    assert (
        said
        in one("forget", "--purge", "--text", SECRET, "--remote", "origin", "--yes", code=1).err
    )
    assert said in two("sync").err


def test_a_secret_in_the_newest_title_does_not_come_back(
    clones: tuple[Mem, Mem], hub: Path
) -> None:
    """The commit that is made anew has another message; what the remote has of it is not taken for something new."""
    one, two = clones
    one.add("other")
    one.add(f"pw is {SECRET}", "-m", f"use {SECRET}")
    one("sync")
    two("sync")
    one("forget", "--purge", "--text", SECRET, "--remote", "origin", "--yes")

    for folder in (one.folder, hub):
        assert SECRET not in git(folder, "log", "-p", SHARED)
    two("sync")
    assert (holds(one.folder), holds_after_drop(two)) == ([], [])


def test_a_record_that_was_forgotten_before_is_purged_everywhere(
    clones: tuple[Mem, Mem], hub: Path
) -> None:
    """Forgotten, then purged, while another clone has an unsent edit of it: it stays away."""
    one, two = clones
    id = one.add("X", "-m", SECRET)
    one("sync")
    two("sync")
    two("edit", id, "--tag", "mine")
    one("forget", id, "--reason", f"it was {SECRET}")
    one("forget", "--purge", id, "--remote", "origin", "--yes")
    two("sync")

    for folder in (one.folder, two.folder, hub):
        assert SECRET not in git(folder, "log", "-p", SHARED)
    assert (holds_after_drop(two), two.titles("--all")) == ([], [])


def test_two_purges_in_two_clones(clones: tuple[Mem, Mem], hub: Path) -> None:
    """Neither undoes the other: the second is asked for its text once more, and both hold in the end."""
    one, two = clones
    one.add("X", "-m", "canary-one")
    one.add("Y", "-m", "canary-two")
    one("sync")
    two("sync")
    one("forget", "--purge", "--text", "canary-one", "--remote", "origin", "--yes")
    two("forget", "--purge", "--text", "canary-two", "--yes")
    two.add("mine")
    for args in (("sync",), ("forget", "--purge", "--remote", "origin", "--yes")):
        assert "git mem forget --purge" in two(*args, code=1).err
        assert holds(two.folder, "canary-two") == []
    two("forget", "--purge", "--text", "canary-two", "--remote", "origin", "--yes")
    one("sync")

    for text in ("canary-one", "canary-two"):
        assert (holds_after_drop(one, text), holds_after_drop(two, text)) == ([], [])
        assert text not in git(hub, "log", "-p", SHARED)
    assert sorted(one.titles()) == ["X", "Y", "mine"]


def test_an_earlier_text_does_not_come_back(clones: tuple[Mem, Mem]) -> None:
    """A later purge that goes to the remote fetches what is there: nothing of it stays, in a history that is made anew either."""
    one, two = clones
    one.add("Y", "-m", "canary-two")
    id = one.add("X canary-one")
    one("edit", id, "--title", "X")
    one("sync")
    two("sync")
    two.add("mine")
    two("sync")
    one("forget", "--purge", "--text", "canary-one", "--yes")
    one("forget", "--purge", "--text", "canary-two", "--remote", "origin", "--yes")
    assert (holds(one.folder, "canary-one"), holds(one.folder, "canary-two")) == ([], [])
    assert sorted(one.titles()) == ["X", "Y", "mine"]


def test_a_record_that_begins_a_sentence_with_the_text(mem: Mem) -> None:
    """What git mem itself wrote with a capital letter goes too, and what it has told of the text is not kept."""
    mem("add", "T")
    hook = [sys.executable, "-P", "-m", "gitmem", "hook", "claude"]

    def send(event: str, **fields: str) -> None:
        data = {"hook_event_name": event, "session_id": "s1", "cwd": str(mem.folder), **fields}
        subprocess.run(
            hook, cwd=mem.folder, input=json.dumps(data).encode(), check=True, capture_output=True
        )

    mem("add", "-t", "task", "use zebraHatMoon here")
    send("SessionStart", source="startup")
    send("UserPromptSubmit", prompt="rotate it")
    send("Stop", last_assistant_message="Done: zebraHatMoon is used")
    send("SessionEnd", reason="exit")
    mem("drain")
    until = time.monotonic() + 30  # the background of the session may have the index open
    while mem("forget", "--purge", "--text", "zebraHatMoon", "--yes", code=None).code:
        assert time.monotonic() < until
        time.sleep(0.5)
    mem("drain")
    assert holds(mem.folder, "zebraHatMoon") == holds(mem.folder, "ZebraHatMoon") == []
