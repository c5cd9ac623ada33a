"""Sessions are finished whatever their transcripts, clocks, names and stores are like."""

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitmem import app, repository
from gitmem.app import App, open_app
from gitmem.base import processes
from gitmem.clock import Clock, stamp
from gitmem.hooks.main import respond
from gitmem.records.items import DECISION, Extract, Item
from gitmem.records.record import Record
from gitmem.services.session_log import reader, rotation
from gitmem.services.sessions import finish, transcript_file
from gitmem.services.sessions.outcome import SessionServices
from gitmem.services.sessions.recovery import adopt
from gitmem.state import sessions
from gitmem.state.requests import LEASE
from gitmem.transcripts.turn import Turn
from gitmem.worker.session_jobs import desk
from tests.command_line import mem
from tests.conftest import git

NOW = float(int(time.time()))  # files have the time of the machine
DAY = 86400.0
SAMPLES = Path(__file__).parents[1] / "agents" / "samples"


def decided(turns: Iterable[Turn], beat: Callable[[], None]) -> Extract:
    """Return what turns decided: how well such things are found is tested elsewhere."""
    said = [turn for turn in turns if "decided to" in turn.text]
    return Extract(
        items=tuple(
            Item(DECISION, turn.text, at=turn.at, lines=(turn.line, turn.line)) for turn in said
        )
    )


class Machine:
    """A clone on a machine whose clock the test sets. Hooks run in this process; the drains that they ask for are counted."""

    def __init__(self, repo: Path) -> None:
        self.repo = repo
        self.now = NOW

    def hook(
        self,
        event: str,
        session: str = "s1",
        agent: str = "claude",
        after: float = 0.0,
        **fields: Any,
    ) -> str:
        """Send an event, some seconds after the last one; return what the model reads."""
        self.now += after
        data = {
            "hook_event_name": event,
            "session_id": session,
            "cwd": str(self.repo),
            "transcript_path": "",
            **fields,
        }
        out = respond(agent, "", json.dumps(data).encode(), os.environ, self.now)
        return (
            str(json.loads(out).get("hookSpecificOutput", {}).get("additionalContext", ""))
            if out
            else ""
        )

    def open(self) -> App:
        """Open the clone."""
        return open_app(str(self.repo), os.environ, Clock(now=lambda: self.now), "git")

    def drain(
        self, change: Callable[[SessionServices], SessionServices] = lambda it: it
    ) -> list[str]:
        """Finish what sessions asked for, as a drain does."""
        with self.open() as app:
            app.settle()
            done = finish.work_off(app.state, change(replace(desk(app), extract=decided)))
            rotation.expire_sessions(app.home, app.state, app.clock.now())
            app.index()  # hooks wait for it
            return done

    def requests(self) -> list[tuple[str, int]]:
        """Return (session, tries) of what is asked for."""
        with self.open() as app:
            return [
                (str(s), int(t))
                for s, t in app.state.db.execute("SELECT session, tries FROM requests ORDER BY n")
            ]

    def records(self) -> dict[str, Record]:
        """Return the records of sessions by their session."""
        with self.open() as app:
            rows = app.index().rows(kinds=("session",), limit=100)
            return {str(row["session"]): app.get(row["id"])[1].record for row in rows}

    def texts(self) -> list[str]:
        """Return the titles of the facts."""
        with self.open() as app:
            return [str(row["title"]) for row in app.rows(kinds=("memory",), limit=100)]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """What was started in the background; none of it runs."""
    found: list[Sequence[str]] = []

    def detach(args: Sequence[str], env: Any) -> int:
        found.append(args)
        return 0

    # a real one has another clock: it would finish the sessions of a test's days too
    for starts in (repository, app):
        monkeypatch.setattr(starts, "detach", detach)
    monkeypatch.setattr(processes, "agent", lambda: "")  # else every session is this process
    return found


@pytest.fixture
def machine(repo: Path, started: list[Sequence[str]]) -> Machine:
    return Machine(repo)


def row(number: int, kind: str, content: Any, **more: Any) -> str:
    """Return a line of a transcript of Claude Code."""
    about = {
        "sessionId": "s1",
        "cwd": "/x",
        "uuid": str(number),
        "timestamp": stamp(NOW + number),
        "type": kind,
    }
    return json.dumps({**about, "message": {"role": kind, "content": content}, **more}) + "\n"


# what sessions decide: sentences that are about different things
SAID = {
    "ocelot": "We decided to use ocelot for the payments service.",
    "heron": "We decided to use heron to send mails at night.",
    "badger": "We decided to use badger as the index of full-text search.",
    "pelican": "We decided to use pelican templates in every report.",
    "walrus": "We decided to use walrus because users stay logged in with it.",
    "gecko": "We decided to use gecko on Fridays, when images are deployed.",
}

DECIDED = row(1, "user", "We decided to use ocelot for the payments service.")


# -- transcripts


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _link_to_pipe(path: Path) -> None:
    os.mkfifo(path.with_suffix(".pipe"))
    path.symlink_to(path.with_suffix(".pipe"))


UNREADABLE: dict[str, Callable[[Path], object]] = {
    "none": lambda path: None,
    "folder": lambda path: path.mkdir(),
    "pipe": _pipe,
    "link to a pipe": _link_to_pipe,
    "link to itself": _loop,
    "link to nothing": lambda path: path.symlink_to("/nowhere/at/all.jsonl"),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "empty": lambda path: path.touch(),
    "binary": lambda path: path.write_bytes(bytes(range(256)) * 4000),
    "zeros": lambda path: path.write_bytes(b"\0" * (9 << 20)),
    "brackets": lambda path: path.write_bytes(b'{"type":"user","message":' + b"[" * 200_000),
    "unknown": lambda path: path.write_text(
        '{"type": "brand-new", "x": {}}\n[]\n3\n"a"\nnull\n{"type": ["user"], "message": [1]}\n'
        * 50
    ),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_transcript_that_says_nothing_costs_nothing(machine: Machine, tmp_path: Path, kind: str):
    path = tmp_path / "t.jsonl"
    UNREADABLE[kind](path)
    machine.hook("UserPromptSubmit", prompt="Make the rate configurable", transcript_path=str(path))
    machine.hook("SessionEnd", reason="other", transcript_path=str(path))
    assert "record of session s1 written" in machine.drain()
    assert "- Make the rate configurable" in machine.records()["s1"].body
    assert machine.requests() == []


@pytest.mark.parametrize("name", ["a\0b.jsonl", "x" * 5000 + ".jsonl", "\ud800.jsonl", "notes.txt"])
def test_a_path_that_is_none(machine: Machine, name: str):
    machine.hook(
        "UserPromptSubmit", prompt="Make the rate configurable", transcript_path=f"/tmp/{name}"
    )
    machine.hook("SessionEnd", reason="other")
    assert "record of session s1 written" in machine.drain()


def test_a_transcript_of_an_unknown_form_is_no_talk(machine: Machine, tmp_path: Path):
    """What its lines say, such as the prompt of a CLI itself, was said by nobody: the history is read."""
    path = tmp_path / "t.jsonl"
    rows = [{"kind": "prompt.of.the.program", "say": f"Always use tabs, {n}."} for n in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert transcript_file.open_transcript(str(path)) is None
    machine.hook("UserPromptSubmit", prompt="Make the rate configurable", transcript_path=str(path))
    machine.hook("SessionEnd", reason="other", transcript_path=str(path))
    machine.drain()
    body = machine.records()["s1"].body
    assert "- Make the rate configurable" in body and "tabs" not in body


def test_a_transcript_of_somebody_else_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "t.jsonl"
    path.write_text(DECIDED)
    assert transcript_file.is_readable(str(path))
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert not transcript_file.is_readable(str(path))


def test_a_transcript_behind_a_link_and_cut_off_in_a_line(machine: Machine, tmp_path: Path):
    (tmp_path / "real.jsonl").write_text(
        DECIDED + '{"unknown": 1}\n' + row(2, "user", "We decided to use heron for mail.")[:-30]
    )
    (tmp_path / "t.jsonl").symlink_to(tmp_path / "real.jsonl")
    machine.hook("UserPromptSubmit", prompt="hello", transcript_path=str(tmp_path / "t.jsonl"))
    machine.hook("SessionEnd", reason="other")
    machine.drain()
    assert any("ocelot" in text for text in machine.texts())


def test_a_transcript_that_grows_while_it_is_read_has_an_end(tmp_path: Path):
    path = tmp_path / "t.jsonl"
    path.write_text(DECIDED * 2000)
    found = transcript_file.open_transcript(str(path))
    assert found
    count = 0
    with path.open("a") as file:
        for _ in found.turns:
            count += 1
            file.write(DECIDED)
            file.flush()
    assert count == 2000


def test_of_a_long_transcript_the_end_is_read(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(transcript_file, "LIMITS", (1 << 20, 1 << 10))
    path = tmp_path / "t.jsonl"
    early = row(0, "user", "We decided to use pelican for the ledger.")
    filler = row(2, "assistant", [{"type": "text", "text": "word " * 400}])
    path.write_text(early + filler * 1000 + DECIDED)
    machine.hook("UserPromptSubmit", prompt="hello", transcript_path=str(path))
    machine.hook("SessionEnd", reason="other")
    machine.drain()
    texts = " ".join(machine.texts())
    assert "ocelot" in texts
    assert "pelican" not in texts
    assert "Of its transcript of 2 MiB only the last 1 were read." in machine.records()["s1"].body
    found = transcript_file.open_transcript(str(path), 1 << 20)
    assert found
    assert [turn.line for turn in found.turns][-1] == 1002


def test_of_a_long_document_the_beginning_is_read(tmp_path: Path):
    path = tmp_path / "session.json"
    messages = [
        {
            "id": str(n),
            "type": "user",
            "timestamp": stamp(NOW),
            "content": f"request {n} " + "word " * 200,
        }
        for n in range(2000)
    ]
    path.write_text(json.dumps({"sessionId": "s", "projectHash": "h", "messages": messages}))
    found = transcript_file.open_transcript(str(path), 1 << 20)
    assert found
    assert "only the first 1 were read" in found.missing
    turns = [turn.text.split()[1] for turn in found.turns]
    assert turns == [str(n) for n in range(len(turns))]
    assert len(turns) > 500


def test_what_takes_too_long_is_tried_with_less_and_holds_up_nobody(
    machine: Machine, tmp_path: Path
):
    """A drain that is killed at a session, each time: the next one begins with the others, and in the end the history alone is read."""
    path = tmp_path / "t.jsonl"
    path.write_text(DECIDED)
    machine.hook(
        "UserPromptSubmit", "bad", prompt="Make the rate configurable", transcript_path=str(path)
    )
    machine.hook("SessionEnd", "bad", reason="other")
    read: list[str] = []

    class Killed(BaseException):
        pass

    def killed(before: SessionServices) -> SessionServices:
        def extract(turns: Any, beat: Callable[[], None]) -> Extract:
            text = " ".join(turn.text for turn in turns)
            read.append(text)
            if "ocelot" in text:
                raise Killed
            return before.extract(iter(()), beat)

        return replace(before, extract=extract)

    for tries in range(1, len(transcript_file.LIMITS) + 1):
        with pytest.raises(Killed):
            machine.drain(killed)
        assert machine.requests()[0] == ("bad", tries)
        machine.now += LEASE + 1  # this process lives: the claim ends with its lease
        if tries == 1:
            machine.hook("UserPromptSubmit", "good", prompt="Write the page of invoices")
            machine.hook("SessionEnd", "good", reason="other")
            with pytest.raises(Killed):
                machine.drain(killed)
            assert "good" in machine.records()
            machine.now += LEASE + 1
            break
    while machine.requests():
        try:
            machine.drain(killed)
        except Killed:
            machine.now += LEASE + 1
    assert machine.requests() == []
    assert sum("ocelot" in text for text in read) == len(transcript_file.LIMITS)
    assert "Its transcript took too long, and was not read." in machine.records()["bad"].body


def test_one_that_fails_comes_back_after_its_lease_and_not_before(machine: Machine):
    machine.hook("UserPromptSubmit", prompt="Make the rate configurable")
    machine.hook("SessionEnd", reason="other")
    calls = []

    def failing(before: SessionServices) -> SessionServices:
        def extract(turns: Any, beat: Callable[[], None]) -> Extract:
            calls.append(1)
            raise OSError("the disk has gone")

        return replace(before, extract=extract)

    with pytest.raises(OSError, match="the disk has gone"):
        machine.drain(failing)
    machine.now += 10
    assert machine.drain(failing) == []
    assert len(calls) == 1
    machine.now += LEASE
    assert machine.drain()[0] == "record of session s1 written"


def test_who_was_overtaken_stops(machine: Machine):
    """A drain that was stopped for longer than its lease leaves the session to the one that has taken over."""
    machine.hook("UserPromptSubmit", prompt="Make the rate configurable")
    machine.hook("SessionEnd", reason="other")
    other: list[str] = []

    def slow(before: SessionServices) -> SessionServices:
        def extract(turns: Any, beat: Callable[[], None]) -> Extract:
            before.extract(turns, beat)
            machine.now += LEASE + 60
            other.extend(machine.drain())
            beat()
            raise AssertionError("it went on")

        return replace(before, extract=extract)

    assert machine.drain(slow) == []
    assert "record of session s1 written" in other
    assert machine.requests() == []


# -- time


def test_the_work_in_hand_lasts_an_hour_to_the_millisecond(machine: Machine, repo: Path):
    def kind(session: str) -> str:
        with machine.open() as app:
            found = sessions.get(app.state, session)
            assert found
            return found.kind

    machine.hook("UserPromptSubmit", "a", prompt="*develop docs/stories/1.md")
    machine.hook("SessionStart", "b", source="startup", after=3600.0)
    machine.hook("SessionStart", "c", source="startup", after=3600.001)
    machine.hook("UserPromptSubmit", "d", prompt="*develop docs/stories/1.md")
    machine.hook("SessionStart", "e", source="startup", after=3600.001)
    assert [kind(one) for one in "bce"] == ["existing", "new", "new"]


def test_a_clock_that_goes_back_loses_nothing(machine: Machine, repo: Path):
    machine.hook("SessionStart", source="startup")
    machine.hook("UserPromptSubmit", prompt=SAID["ocelot"], after=60)
    machine.hook("UserPromptSubmit", prompt=SAID["heron"], after=-7200)
    machine.hook("SessionEnd", reason="other", after=1)
    machine.hook("SessionStart", "s2", source="startup", after=-DAY)
    machine.hook("UserPromptSubmit", "s2", prompt=SAID["badger"], after=1)
    machine.hook("SessionEnd", "s2", reason="other", after=-3)
    machine.drain()
    found = machine.records()
    assert set(found) == {"s1", "s2"}
    assert f"{stamp(NOW)[11:16]} to {stamp(NOW + 60)[11:16]} UTC" in found["s1"].body
    assert {
        word
        for word in ("ocelot", "heron", "badger")
        if any(word in text for text in machine.texts())
    } == {
        "ocelot",
        "heron",
        "badger",
    }
    assert machine.requests() == []


def test_a_session_of_a_week(machine: Machine, repo: Path):
    """It is one session, told with both its dates; what is old goes, and it stays."""
    machine.now -= 40 * DAY
    machine.hook("UserPromptSubmit", "old", prompt="Something else")
    machine.hook("SessionEnd", "old", reason="other")
    machine.drain()
    machine.now += 26 * DAY
    begun = machine.now
    for day in range(7):
        machine.hook(
            "UserPromptSubmit",
            prompt=f"We decided to use animal{day} for service {day}.",
            after=DAY if day else 0,
        )
        machine.drain()
    machine.hook("SessionEnd", reason="other", after=60)
    machine.drain()
    (found,) = (one for id, one in machine.records().items() if id == "s1")
    assert (
        f"{stamp(begun)[:10]} {stamp(begun)[11:16]} to {stamp(machine.now)[:10]} {stamp(machine.now)[11:16]} UTC"
        in found.body
    )
    assert "7 prompts" in found.body
    with machine.open() as app:
        assert [one.id for one in sessions.some(app.state)] == ["s1"]
        assert sum(1 for _ in reader.rows(app.home, "s1")) == 8


def test_a_session_that_died_before_a_long_holiday_is_finished(machine: Machine, repo: Path):
    machine.hook("UserPromptSubmit", prompt=SAID["ocelot"])
    machine.hook("SessionStart", "s2", source="startup", after=45 * DAY)
    assert machine.requests() == [("s1", 0)]
    with machine.open() as app:
        stem = reader.stems(app.home, "s1")[0]
    os.utime(stem + reader.LIVE, (NOW, NOW))

    def failing(before: SessionServices) -> SessionServices:
        def extract(turns: Any, beat: Callable[[], None]) -> Extract:
            raise OSError("not now")

        return replace(before, extract=extract)

    with pytest.raises(OSError, match="not now"):
        machine.drain(failing)
    machine.now += LEASE + 1
    assert "record of session s1 written" in machine.drain()
    assert "It was interrupted" in machine.records()["s1"].body


# -- names


@pytest.mark.parametrize(
    "name",
    [
        "../../../etc/x",
        "a b\nc",
        "💡-日本",
        "x" * 300,
        "",
        ".",
        "-rf",
        "%s{}'\";--",
        "a/b\\c",
        "nul\0l",
    ],
)
def test_any_name_of_a_session(machine: Machine, repo: Path, name: str):
    machine.hook("UserPromptSubmit", name, prompt=SAID["ocelot"])
    machine.hook("SessionEnd", name, reason="other")
    machine.drain()
    (found,) = machine.records().values()
    assert SAID["ocelot"] in found.body
    (file,) = (repo / ".git/gitmem/sessions").iterdir()
    assert len(file.read_text().splitlines()) == 2


def test_two_agents_with_one_name_of_a_session(machine: Machine, repo: Path):
    """Each has a session and a record of its own; nothing that was said is lost."""
    machine.hook("UserPromptSubmit", "same", prompt=SAID["ocelot"])
    machine.hook("BeforeAgent", "same", "gemini", prompt=SAID["heron"])
    machine.hook("SessionEnd", "same", reason="other")
    machine.drain()
    machine.hook("BeforeAgent", "same", "gemini", prompt=SAID["badger"])
    machine.hook("SessionEnd", "same", "gemini", reason="exit")
    machine.drain()
    assert {
        word
        for word in ("ocelot", "heron", "badger")
        if any(word in text for text in machine.texts())
    } == {
        "ocelot",
        "heron",
        "badger",
    }
    assert "1 prompt," in machine.records()["same"].body
    assert "2 prompts" in machine.records()["same.gemini"].body


# -- Gemini CLI compresses before every request, or says so


def test_two_hundred_announcements_of_a_compression_cost_nothing(
    machine: Machine, started: list[Sequence[str]], tmp_path: Path, monkeypatch
):
    path = tmp_path / "session.jsonl"
    sample = json.loads((SAMPLES / "gemini" / "PreCompress.json").read_text())
    made: list[Any] = []
    spawn = os.posix_spawnp

    def counted(name: str, args: Any, *more: Any, **options: Any) -> int:
        made.append(args)
        return spawn(name, args, *more, **options)

    monkeypatch.setattr(os, "posix_spawnp", counted)
    monkeypatch.setattr(os, "fork", lambda: made.append("fork"))
    path.write_text('{"id":"1","type":"gemini","tokens":{"input":1200}}\n')
    fields = {
        key: value
        for key, value in sample.items()
        if key not in {"session_id", "cwd", "hook_event_name", "transcript_path"}
    }
    machine.hook("BeforeAgent", "g", "gemini", prompt="hello", transcript_path=str(path))
    started.clear()
    made.clear()
    for _ in range(200):
        assert (
            machine.hook("PreCompress", "g", "gemini", after=1, transcript_path=str(path), **fields)
            == ""
        )
    assert (started, made, machine.requests()) == ([], [], [])
    path.write_text('{"id":"1","type":"gemini","tokens":{"input":900000}}\n')
    for _ in range(200):
        machine.hook("PreCompress", "g", "gemini", after=1, transcript_path=str(path), **fields)
    assert (len(started), len(machine.requests())) == (1, 1)
    assert len(made) <= 1, made[:3]  # git is asked for the settings once
    machine.drain()
    assert Counter(machine.drain()) == Counter()


# -- clocks of two clones


def test_two_machines_whose_clocks_differ(machine: Machine, make_repo: Callable[..., Path]):
    """One is two hours ahead. Nothing is lost; what was changed on both is the same on both; the next change after a sync holds."""
    hub, there = make_repo("bare"), Machine(make_repo())
    there.now += 7200

    def sync() -> None:
        for clone in (machine, there, machine):
            mem(clone.repo, "sync")

    for clone in (machine, there):
        git(clone.repo, "remote", "add", "origin", str(hub))
        git(clone.repo, "config", "gitmem.shareSessions", "true")
        mem(clone.repo, "remote", "enable", "origin", "--yes")
    for n, (clone, word) in enumerate(
        [(machine, "ocelot"), (there, "heron"), (machine, "badger"), (there, "pelican")]
    ):
        clone.hook("UserPromptSubmit", f"s{n}", prompt=SAID[word], after=10)
        clone.hook("SessionEnd", f"s{n}", reason="other", after=10)
        clone.drain()
        mem(clone.repo, "inbox", "--accept-all")
    sync()
    assert sorted(machine.texts()) == sorted(there.texts())
    for word in ("ocelot", "heron", "badger", "pelican"):
        assert sum(word in text for text in machine.texts()) == 1
    for clone in (machine, there):
        assert set(clone.records()) == {"s0", "s1", "s2", "s3"}
    # the one whose clock is behind takes back what the other has said: it has seen it
    mem(machine.repo, "forget", _id(machine, "heron"))
    mem(there.repo, "pin", _id(there, "pelican"))
    sync()
    for clone in (machine, there):
        assert not any("heron" in text for text in clone.texts())
        with clone.open() as app:
            assert app.get(_id(clone, "pelican"))[1].record.status == "pinned"


def _id(clone: Machine, word: str) -> str:
    """Return the id of the fact that names a word."""
    with clone.open() as app:
        rows = app.rows(kinds=("memory",), limit=100)
        return next(str(row["id"]) for row in rows if word in row["title"])


# -- what else may be in the way


def test_a_damaged_index_is_made_anew_while_a_session_is_finished(machine: Machine, repo: Path):
    machine.hook("UserPromptSubmit", prompt=SAID["ocelot"])
    machine.hook("SessionEnd", reason="other")
    machine.drain()
    for path in (repo / ".git/gitmem").glob("index*.db*"):
        path.write_bytes(b"no database " * 1000)
    machine.hook("UserPromptSubmit", "s2", prompt=SAID["heron"])
    machine.hook("SessionEnd", "s2", reason="other")
    machine.drain()
    assert set(machine.records()) == {"s1", "s2"}
    assert len(machine.texts()) == 2


def test_a_database_that_is_locked_for_long(machine: Machine, repo: Path):
    """Events are kept while it is, and the session is finished when it is free."""
    machine.hook("SessionStart", source="startup")
    with machine.open() as app:
        app.state.db.execute("BEGIN EXCLUSIVE")
        answers: list[str] = []

        def ask() -> None:
            try:
                answers.append(machine.hook("UserPromptSubmit", prompt=SAID["ocelot"]))
            except Exception as error:  # noqa: BLE001 - a hook's process says so in its log, and ends well
                answers.append(str(error))

        thread = threading.Thread(target=ask)
        thread.start()
        thread.join(20)
        assert len(answers) == 1
        app.state.db.execute("ROLLBACK")
    machine.hook("SessionEnd", reason="other", after=5)
    machine.drain()
    assert any("ocelot" in text for text in machine.texts())


def test_two_who_finish_at_once(machine: Machine, repo: Path):
    """Each session is one's: what both have asked for is done once."""
    for n, text in enumerate(SAID.values()):
        machine.hook("UserPromptSubmit", f"s{n}", prompt=text)
        machine.hook("SessionEnd", f"s{n}", reason="other")
    done: list[str] = []
    threads = [threading.Thread(target=lambda: done.extend(machine.drain())) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(120)
    assert Counter(one for one in done if one.startswith("record")) == {
        f"record of session s{n} written": 1 for n in range(6)
    }
    assert len(machine.records()) == 6
    assert Counter(
        word for word in SAID for text in machine.texts() if word in text
    ) == dict.fromkeys(SAID, 1)


def test_a_session_of_which_only_the_history_is_left(machine: Machine, repo: Path):
    """The database was lost, or was busy for as long as the session went on: its events are there, and it is recorded, once."""
    machine.hook("UserPromptSubmit", "done", prompt=SAID["heron"])
    machine.hook("SessionEnd", "done", reason="other")
    machine.drain()
    machine.hook("UserPromptSubmit", "left", prompt=SAID["ocelot"])
    machine.hook("UserPromptSubmit", "busy", prompt=SAID["badger"])
    before = machine.records()["done"]
    with machine.open() as app:
        app.state.db.execute("DELETE FROM sessions")
        for id in ("done", "left"):
            os.utime(reader.stems(app.home, id)[0] + reader.LIVE, (NOW, NOW))
    machine.hook("UserPromptSubmit", "busy", prompt="go on", after=sessions.SILENCE + 1)

    def adopted() -> int:
        with machine.open() as app:
            ids = {one.id for one in before_and_now(app)}
            return adopt(app.home, app.state, ids.__contains__, str(repo), machine.now)

    def before_and_now(app: App) -> list[Record]:
        return [
            app.store("private").get(row["id"]).record
            for row in app.index().rows(kinds=("session",), limit=50)
            if row["session"]
        ]

    assert [adopted(), adopted()] == [1, 0]
    assert machine.requests() == [("left", 0)]
    machine.drain()
    found = machine.records()
    assert set(found) == {"done", "left"}
    assert found["done"].body == before.body
    assert "claude" in found["left"].body
    assert "It was interrupted" in found["left"].body
