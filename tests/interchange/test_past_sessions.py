"""Past sessions of Claude Code, Gemini CLI and Codex become proposals."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitmem.app import open_app
from tests.cli.conftest import Mem, commits, spawn
from tests.conftest import git
from tests.interchange import past
from tests.interchange.past import APRIL, LINT, MARCH, MAY, REDIS, id_of, proposed, read

PRIVATE = "refs/gitmem/local/main"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize("agent", past.AGENTS)
def test_a_past_session_becomes_proposals(mem: Mem, agent: str) -> None:
    """They are private and unconfirmed, have the time when it was said, and name their place."""
    past.WRITERS[agent](mem.folder, 1, MARCH, REDIS)

    done = mem("import", "sessions")

    assert done.out == (
        "read 1 past session.\n1 proposal of 1 session waits for you: git mem inbox\n"
    )
    (row,) = proposed(mem).values()
    fact = mem.show(row["id"])
    assert (fact["title"], fact["store"], fact["origin"]) == (REDIS, "private", "extracted")
    assert fact["created"] == MARCH
    (source,) = fact["sources"]
    assert (source["session"], source["role"], source["at"]) == (id_of(1), "user", MARCH)
    assert source["lines"]
    session = [row for row in mem("list", "--all", "--json").json if row["kind"] == "session"]
    assert [row["session"] for row in session] == [id_of(1)]


def test_sessions_of_other_folders_are_left_out(mem: Mem, tmp_path: Path) -> None:
    """So are those of a repository inside of this one, and of a place that only has a like name."""
    nested = mem.folder / "vendor" / "other"
    nested.mkdir(parents=True)
    git(nested, "init", "-q")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for number, folder in enumerate((nested, elsewhere, Path(f"{mem.folder}-two"))):
        for step, write in enumerate(past.WRITERS.values()):
            write(folder, 10 * number + step, MARCH, REDIS)
    foreign = past.claude(elsewhere, 90, MARCH, LINT)
    foreign.rename(_made(past.claude_folder(mem.folder)) / foreign.name)

    done = mem("import", "sessions")

    assert "no past session in this repository was found." in done.out
    assert ".claude/projects" in done.err
    assert proposed(mem) == {}


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_a_gemini_session_of_another_project_in_its_folder_is_left_out(mem: Mem) -> None:
    """The digest of the project in the file counts, not the folder's name alone."""
    path = past.gemini(mem.folder, 1, MARCH, REDIS)
    text = path.read_text()
    head = json.loads(text.splitlines()[0])
    path.write_text(text.replace(head["projectHash"], "0" * 64))
    past.aged(path, MARCH)

    assert read(mem)["past_sessions"] == []


def test_older_folders_of_gemini_have_the_name_of_a_digest(mem: Mem) -> None:
    """They hold a document each, and no mark."""
    path = past.gemini(mem.folder, 1, MARCH)
    head = json.loads(path.read_text().splitlines()[0])
    place = path.parent.parent.with_name(head["projectHash"]) / "chats"
    place.mkdir(parents=True)
    message = {"id": "m", "timestamp": MARCH, "type": "user", "content": REDIS}
    document = place / "session-2026-03-01T10-00-00000001.json"
    document.write_text(json.dumps({**head, "messages": [message]}, indent=2))
    path.unlink()
    past.aged(document, MARCH)

    read(mem)

    assert list(proposed(mem)) == [REDIS]


def test_linked_work_trees_subfolders_and_folders_that_are_gone_count(
    mem: Mem, tmp_path: Path
) -> None:
    """Also with spaces and pictures in their names."""
    tree = tmp_path / "second träe 🎉"
    git(mem.folder, "worktree", "add", "-q", "-b", "second", str(tree))
    past.claude(tree, 1, MARCH, REDIS)
    past.codex(mem.folder / "gone" / "deep", 2, APRIL, LINT)
    past.gemini(tree, 3, MAY, "We decided to store money as NUMERIC.")

    assert [row["session"] for row in read(mem)["past_sessions"]] == [
        id_of(1),
        id_of(2),
        id_of(3),
    ]
    assert len(proposed(mem)) == 3


def test_odd_files_stop_nothing(mem: Mem, tmp_path: Path) -> None:
    """A pipe, a folder, a broken, an empty and an unreadable file are passed over."""
    place = past.claude(mem.folder, 1, MARCH, REDIS).parent
    os.mkfifo(place / f"{id_of(2)}.jsonl")
    (place / f"{id_of(3)}.jsonl").mkdir()
    (place / f"{id_of(4)}.jsonl").touch()
    past.aged(_filled(place / f"{id_of(5)}.jsonl", b'{"cwd": "\xff\xfe'), MARCH)
    past.aged(_filled(place / f"{id_of(6)}.jsonl", b"\0" * 5000), MARCH)
    (place / f"{id_of(7)}.jsonl").symlink_to(tmp_path / "nowhere.jsonl")
    half = past.claude(mem.folder, 8, APRIL, LINT)
    past.aged(_filled(half, half.read_bytes()[:-40]), APRIL)
    codex = past.codex(mem.folder, 9, APRIL).parent
    os.mkfifo(codex / f"rollout-2026-04-01T10-00-00-{id_of(10)}.jsonl")

    done = mem("import", "sessions")

    assert set(proposed(mem)) == {REDIS, LINT}
    assert "reading it failed" not in done.err


def _filled(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_a_huge_first_line_is_not_read_for_long(mem: Mem) -> None:
    """The folder's name tells whose it is, as no folder is named in the part that is looked at."""
    path = past.claude(mem.folder, 1, MARCH, REDIS)
    text = path.read_text()
    path.write_text(json.dumps({"type": "summary", "summary": "x" * 3_000_000}) + "\n" + text)
    past.aged(path, MARCH)

    assert len(read(mem)["past_sessions"]) == 1
    assert list(proposed(mem)) == [REDIS]


def test_what_a_later_session_says_of_an_earlier_one_counts(mem: Mem) -> None:
    """They are read in the order in which they were, whatever agent it was."""
    past.codex(
        mem.folder,
        2,
        MAY,
        "We no longer use Redis for the session store. "
        "We decided to use Postgres for the session store.",
    )
    past.claude(mem.folder, 1, MARCH, REDIS)

    rows = read(mem)["past_sessions"]

    assert [row["started"] for row in rows] == [MARCH, MAY]
    postgres = proposed(mem)["We decided to use Postgres for the session store."]
    assert mem.show(postgres["id"])["supersedes"] == [proposed(mem)[REDIS]["id"]]
    assert "said to be replaced in session" in mem("inbox").out


def test_again_it_adds_nothing(mem: Mem) -> None:
    """Not even where the working state was lost."""
    for number, write in enumerate(past.WRITERS.values()):
        write(mem.folder, number, MARCH, REDIS, LINT)
    read(mem)
    before = proposed(mem), git(mem.folder, "rev-parse", f"{PRIVATE}^{{tree}}")

    again = mem("import", "sessions")
    assert "no past session is left to read here." in again.out
    assert "3 sessions, read before and unchanged" in again.err
    (mem.folder / ".git/gitmem/state.db").unlink()
    for name in ("state.db-wal", "state.db-shm"):
        (mem.folder / ".git/gitmem" / name).unlink(missing_ok=True)
    rows = read(mem)["past_sessions"]

    assert [row["proposal_ids"] for row in rows] == [[], [], []]
    assert (proposed(mem), git(mem.folder, "rev-parse", f"{PRIVATE}^{{tree}}")) == before


def test_a_session_without_facts_makes_no_second_commit(mem: Mem) -> None:
    """Not even where its transcript was touched."""
    path = past.claude(mem.folder, 1, MARCH, "The tests pass now.")
    read(mem)
    before = git(mem.folder, "rev-parse", PRIVATE)
    os.utime(path, (1, 1))

    read(mem)

    assert git(mem.folder, "rev-parse", PRIVATE) == before


def test_a_time_in_the_future_is_no_running_session(mem: Mem) -> None:
    """As of a file from a machine whose clock is wrong."""
    path = past.claude(mem.folder, 1, MARCH, REDIS)
    os.utime(path, (4e9, 4e9))

    assert len(read(mem)["past_sessions"]) == 1


def test_a_session_that_went_on_is_read_again(mem: Mem) -> None:
    """Its new part alone is news."""
    past.claude(mem.folder, 1, MARCH, REDIS)
    read(mem)
    past.claude(mem.folder, 1, APRIL, REDIS, LINT)

    (row,) = read(mem)["past_sessions"]

    assert row["proposal_ids"] == [proposed(mem)[LINT]["id"]]


def test_what_was_rejected_does_not_come_back(mem: Mem) -> None:
    """Also by another session that says it."""
    past.claude(mem.folder, 1, MARCH, REDIS)
    read(mem)
    mem("inbox", "--reject", proposed(mem)[REDIS]["id"])
    past.gemini(mem.folder, 2, APRIL, REDIS)
    past.claude(mem.folder, 1, APRIL, REDIS, LINT)

    read(mem)

    assert set(proposed(mem)) == {LINT}


def test_recorded_forgotten_and_running_sessions_are_left_out(mem: Mem) -> None:
    """Each with its reason."""
    event = {"session_id": id_of(1), "cwd": str(mem.folder), "hook_event_name": "SessionStart"}
    spawn(mem.folder, "hook", "claude", stdin=json.dumps({**event, "source": "startup"}).encode())
    past.claude(mem.folder, 1, MARCH, REDIS)
    past.codex(mem.folder, 2, MARCH, REDIS)
    past.claude(mem.folder, 3, APRIL, LINT)
    read(mem, "--agent", "codex")
    mem("session", "forget", id_of(2), "--yes")
    os.utime(past.gemini(mem.folder, 4, MARCH, REDIS))  # written this moment

    counts = read(mem, env={"CLAUDE_CODE_SESSION_ID": id_of(3)})["session_counts"]

    assert counts == {
        "open_count": 0,
        "recorded_count": 1,
        "read_count": 0,
        "running_count": 2,
        "forgotten_count": 1,
    }
    assert proposed(mem) == {}


def test_the_newest_are_read_first_up_to_a_limit(mem: Mem) -> None:
    """The next run goes on with older ones, and --agent narrows the choice."""
    for number, at in enumerate((MARCH, APRIL, MAY)):
        past.claude(mem.folder, number, at, f"We decided to use tool number {number} for builds.")
    past.codex(mem.folder, 7, "2026-06-01T10:00:00Z", LINT)

    first = mem("import", "sessions", "--agent", "claude", "--limit", "2")
    assert "1 older session is left: run this again, or with --limit 1" in first.err
    assert {row["created"] for row in proposed(mem).values()} == {APRIL, MAY}
    assert [row["session"] for row in read(mem)["past_sessions"]] == [id_of(0), id_of(7)]


def test_a_dry_run_lists_and_writes_nothing(mem: Mem) -> None:
    """Agent, date, size, number of proposals, first words."""
    mem("init")
    past.claude(mem.folder, 1, MARCH, REDIS, LINT)
    past.codex(mem.folder, 2, APRIL, "hello", REDIS)

    done = mem("import", "sessions", "--dry-run")

    first, second, last = done.out.splitlines()
    assert first.split()[:3] == ["codex", "2026-04-01", "10:00"]
    assert "0 proposals" in first  # the older one says it already
    assert second.startswith("claude 2026-03-01 10:00")
    assert "2 proposals" in second
    assert second.endswith(REDIS)
    assert last == "2 sessions would bring at most 2 proposals: git mem import sessions"
    assert git(mem.folder, "rev-parse", "--verify", "-q", PRIVATE, ok=(0, 1)) == ""
    assert len(read(mem, "--dry-run")["past_sessions"]) == 2


def test_undo_takes_all_of_it_back(mem: Mem) -> None:
    """One commit a session, one command; after that they can be read again."""
    past.claude(mem.folder, 1, MARCH, REDIS)
    past.codex(mem.folder, 2, APRIL, LINT)
    mem("init")
    done = mem("import", "sessions")
    assert "git mem undo" in done.err
    assert commits(mem.folder, PRIVATE) == 3

    mem("undo")
    assert proposed(mem) == {}
    read(mem)
    assert set(proposed(mem)) == {REDIS, LINT}


def test_secrets_private_parts_injected_text_and_ignored_files_stay_out(mem: Mem) -> None:
    """Neither a fact nor a session's record has them."""
    (mem.folder / ".gitmemignore").write_text("secret.md\n")
    past.claude(
        mem.folder,
        1,
        MARCH,
        f"We decided to use the token {TOKEN} for the deploy job.",
        "We decided to deploy on Fridays. <private>We decided to use plan Zebra.</private>",
        "<system-reminder>We decided to use plan Yak.</system-reminder> Fix the build now.",
        "We decided to keep the plan of secret.md for releases.",
    )

    assert TOKEN not in mem("import", "sessions", "--dry-run").out
    read(mem)

    with open_app(str(mem.folder), os.environ) as app:
        text = "".join(
            f"{stored.record.title}{stored.record.body}{stored.record.fields}"
            for stored in app.store("private").records()
        )
    for word in (TOKEN, "Zebra", "Yak", "secret.md"):
        assert word not in text
    assert "We decided to deploy on Fridays." in proposed(mem)


def test_no_session_brings_more_than_a_person_can_read(mem: Mem) -> None:
    """The limit of a session's end holds."""
    names = ("alpha", "bravo", "castor", "delta", "echo", "foxtrot", "golf", "hotel", "india")
    said = [
        f"We decided to use {name}{kind} for the {kind} of {name}."
        for name in names
        for kind in ("cache", "queue")
    ]
    past.claude(mem.folder, 1, MARCH, *said)

    assert len(read(mem)["past_sessions"][0]["proposal_ids"]) == 12


def test_times_that_make_no_sense_are_not_taken(mem: Mem) -> None:
    """Nothing was said in the future, and what has no time is of the turn before."""
    path = past.claude(mem.folder, 1, MARCH, REDIS, LINT)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[1]["timestamp"] = "2999-01-01T00:00:00Z"
    rows[3]["timestamp"] = "yesterday"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    past.aged(path, MARCH)

    read(mem)

    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    assert all(row["created"] <= now for row in proposed(mem).values())
    assert len(proposed(mem)) == 2


def test_a_killed_import_goes_on(mem: Mem) -> None:
    """What was read stays, and nothing comes twice."""
    mem("init")
    words = [f"We decided to use engine{number}x for part{number}x." for number in range(30)]
    for number, text in enumerate(words):
        past.claude(mem.folder, number, f"2026-03-{number % 28 + 1:02d}T10:00:00Z", text)
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "gitmem", "import", "sessions", "--limit", "30"],
        cwd=mem.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60
    while git(mem.folder, "rev-parse", "-q", "--verify", PRIVATE, ok=(0, 1)) == "":
        assert time.monotonic() < end
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert len(proposed(mem)) < 30

    read(mem, "--limit", "30")

    assert set(proposed(mem)) == set(words)
    assert mem("doctor").code == 0


def test_two_at_once(mem: Mem) -> None:
    """Each session is read once; the second one goes on when the first has ended, or says why not."""
    mem("init")
    for number in range(6):
        past.codex(mem.folder, number, MARCH, f"We decided to use engine{number}x for all.")
    command = [sys.executable, "-P", "-m", "gitmem", "import", "sessions"]
    children = [
        subprocess.Popen(command, cwd=mem.folder, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    errors = [child.communicate()[1] for child in children]

    assert any(child.returncode == 0 for child in children)
    for child, error in zip(children, errors, strict=True):
        assert child.returncode == 0 or "another 'git mem import sessions' runs" in error
    assert len(proposed(mem)) == 6
    assert commits(mem.folder, PRIVATE) == 7


@pytest.mark.parametrize(
    "args",
    [
        ("sessions", "--from", "beads"),
        ("sessions", "--project", "x"),
        ("sessions", "--shared"),
        ("sessions", "--private"),
        ("sessions", "-v"),
        ("sessions", "--limit", "0"),
        ("--limit", "3"),
        ("docs", "--agent", "claude"),
    ],
)
def test_options_that_make_no_sense_are_usage_errors(mem: Mem, args: tuple[str, ...]) -> None:
    """Nothing is read."""
    mem("import", *args, code=2)


def test_a_folder_called_sessions_is_named_as_one(mem: Mem) -> None:
    """As ./sessions."""
    (mem.folder / "sessions").mkdir()
    (mem.folder / "sessions" / "0001-use-go.md").write_text(
        "# 1. Use Go\n\n## Status\n\nAccepted\n"
    )

    assert "Use Go" in str(mem("import", "./sessions", "--json").json["imports"])


def test_import_alone_names_past_sessions_and_reads_none(mem: Mem) -> None:
    """Both on paper and as JSON."""
    past.claude(mem.folder, 1, MARCH, REDIS)
    past.codex(mem.folder, 2, MARCH, REDIS)

    done = mem("import")

    assert (
        "and 2 past sessions (1 of Claude Code and 1 of Codex): git mem import sessions" in done.out
    )
    assert mem("import", "--json").json["session_counts"]["open_count"] == 2
    assert proposed(mem) == {}
