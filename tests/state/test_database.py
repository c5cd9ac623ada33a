"""Working state: counts that no process loses, a window that really slides, and a file that may be damaged."""

import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.repo.location import Home
from gitmem.services.maintenance import purge_local
from gitmem.state import injections
from gitmem.state.database import KEPT, NAME, State

HERE = str(Path(__file__).parents[2])
HOUR = 3600.0
DAY = 24 * HOUR
T0 = 1_800_000_000.0


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(str(tmp_path / "gitmem"))


@pytest.fixture
def state(home: Home):
    made = State(home)
    yield made
    made.close()


# -- errors in a window


def hits(state: State, *hours: float, pattern: str = "p", session: str = "s") -> list[int]:
    """Return what each hit at these hours counts within 24 h."""
    return [state.add_error(pattern, T0 + h * HOUR, session, DAY) for h in hours]


def test_three_hits_over_forty_hours_are_not_three_in_a_day(state):
    """At 0, 20 and 40 h no 24 h hold more than two: a bucket of days would have said three."""
    assert [1, 2, 2] == hits(state, 0, 20, 40)


def test_three_hits_across_midnight_are_three_in_a_day(state):
    """At 23, 24.5 and 25 h they are three, whatever the calendar says."""
    assert [1, 2, 3] == hits(state, 23, 24.5, 25)


def test_hit_at_the_edge_of_the_window_is_out(state):
    """A hit exactly a window ago no longer counts."""
    assert [1, 1] == hits(state, 0, 24)
    assert [1, 2] == hits(state, 0, 23.999, pattern="q")


def test_window_slides_on_after_a_capture(state):
    """Each hit counts those before it within a window, not since the last capture."""
    assert [1, 2, 3, 3, 3, 1] == hits(state, 0, 10, 20, 25, 40, 70)


def test_patterns_are_counted_apart_and_sessions_together(state):
    """Another pattern does not count; another session's hit of the same does."""
    assert [1] == hits(state, 0, session="a")
    assert [1] == hits(state, 0.1, pattern="other")
    assert [2, 3] == hits(state, 0.2, 0.3, session="b")


def test_hits_in_the_same_instant_are_all_counted(state):
    """Two tools that fail at the same clock tick are two hits."""
    assert [1, 2, 3, 4] == hits(state, 1, 1, 1, 1)


def test_clock_that_went_back_loses_nothing(state):
    """Hits that another process has noted with a later time count too; once the clock is right again the window is exact."""
    assert [1, 2] == hits(state, 30, 2)
    assert [2] == hits(state, 31)


def test_old_hits_are_dropped_after_a_week(state):
    """The table does not grow without end; a longer window keeps what it needs."""
    hits(state, 0)
    state.add_error("p", T0 + KEPT + HOUR, "s", DAY)
    assert [("p", 1, T0 + KEPT + HOUR)] == state.errors(0)
    for at in (T0, T0 + 20 * DAY):
        count = state.add_error("long", at, "s", 30 * DAY)
    assert 2 == count


def test_most_frequent_errors_come_first(state):
    """Errors since a time, most first."""
    hits(state, 0, 1, 2, pattern="a")
    hits(state, 5, pattern="b")
    hits(state, -50, pattern="old")
    assert [("a", 3, T0 + 2 * HOUR), ("b", 1, T0 + 5 * HOUR)] == state.errors(T0 - 1)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 100), min_size=1, max_size=25).map(sorted))
def test_count_is_that_of_a_true_window(tmp_path_factory, times):
    """For any times the count is the number of hits in the 24 h that end with the hit."""
    state = State(Home(str(tmp_path_factory.mktemp("s"))))
    got = hits(state, *times)
    # hits of one instant are put a microsecond apart, so the edge of a window is tested from a
    # distance
    for n, at in enumerate(times):
        near = [abs(at - 24 - t) < 1e-6 for t in times[: n + 1]]
        want = sum(t > at - 24 for t in times[: n + 1])
        assert any(near) or want == got[n]
    state.close()


# -- many at once


COUNT = """
import sys
sys.path.insert(0, {here!r})
from gitmem.repo.location import Home
from gitmem.state.database import State
for n in range({rounds}):
    state = State(Home({home!r}), timeout=30.0)
    state.add_error("p", 1_800_000_000.0 + n, sys.argv[1], 86400.0)
    state.add_reads("shared", ["a", "b"], "2026-01-01T00:00:00Z")
    assert not state.in_memory
    state.close()
"""


def test_parallel_counting_loses_none(home):
    """Eight processes that start together on no file at all count every hit and every read."""
    code = COUNT.format(here=HERE, home=home.path, rounds=20)
    runs = [
        subprocess.Popen([sys.executable, "-c", code, str(n)], stderr=subprocess.PIPE, text=True)
        for n in range(8)
    ]
    assert [""] * 8 == [run.communicate()[1] for run in runs]
    state = State(home)
    assert 161 == state.add_error("p", 1_800_000_030.0, "last", DAY)
    assert {"a": (160, "2026-01-01T00:00:00Z"), "b": (160, "2026-01-01T00:00:00Z")} == state.reads(
        "shared"
    )
    state.close()


def test_threads_on_their_own_connections(home):
    """So do threads, each with a connection of its own."""

    def work() -> None:
        state = State(home, timeout=30.0)
        for n in range(25):
            state.add_error("p", T0 + n, threading.current_thread().name, DAY)
        state.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state = State(home)
    assert 101 == state.add_error("p", T0 + 100, "x", DAY)
    state.close()


# -- reads


def test_reads_are_taken_as_they_were_committed(state):
    """What was read between the commit and the taking stays for the next."""
    state.add_reads("shared", ["a", "a", "b"], "2026-01-01T00:00:00Z")
    taken = state.reads("shared")
    state.add_reads("shared", ["a"], "2026-01-02T00:00:00Z")
    state.add_reads("private", ["a"], "2026-01-02T00:00:00Z")
    state.take_reads("shared", taken, 1.0)
    assert {"a": (1, "2026-01-02T00:00:00Z")} == state.reads("shared")
    assert {"a": (1, "2026-01-02T00:00:00Z")} == state.reads("private")


def test_no_reads_write_nothing(state):
    """Counting nothing is not an error."""
    state.add_reads("shared", [], "x")
    assert {} == state.reads("shared")


# -- sessions and what they were told


def test_session_is_told_once_and_again_when_it_changed(state):
    """A record is told to a session once in each form; after a compaction again."""
    assert ["a", "b"] == injections.claim(state, "s", [("a", "1"), ("b", "1")], 1.0)
    assert ["b"] == injections.claim(state, "s", [("a", "1"), ("b", "2")], 1.0)
    assert ["a"] == injections.claim(state, "t", [("a", "1")], 1.0)
    injections.forget(state, "s")
    assert ({}, {"a": "1"}, ["a"]) == (
        injections.injected(state, "s"),
        injections.injected(state, "t"),
        injections.claim(state, "s", [("a", "1")], 1.0),
    )


# -- the file


@pytest.mark.parametrize(
    "data",
    [os.urandom(4096), b"", b"SQLite format 3\0" + b"\xff" * 4080, b"x", b"SQLite format 3\0"],
    ids=["random", "empty", "damaged", "x", "head"],
)
def test_damaged_file_does_not_stop_anything(home, data):
    """Counting goes on whatever is in the file; a file that is not a database is put aside."""
    Path(home.make(), NAME).write_bytes(data)
    state = State(home)
    assert 1 == state.add_error("p", T0, "s", DAY)
    state.close()


def test_random_bytes_are_put_aside_and_counting_is_durable_again(home):
    """After a file of random bytes the next process finds what this one counted."""
    Path(home.make(), NAME).write_bytes(b"\1" * 4096)
    for want in (1, 2):
        state = State(home)
        assert (want, False) == (state.add_error("p", T0 + want, "s", DAY), state.in_memory)
        state.close()
    assert b"\1" * 4096 == Path(home.join(NAME + ".damaged")).read_bytes()


@pytest.mark.parametrize(
    "work",
    [
        lambda s: s.add_error("p", T0, "s", DAY),
        lambda s: s.claim_hits("p", T0, DAY),
        lambda s: s.add_reads("shared", ["a"], "now"),
        lambda s: s.reads("shared"),
        lambda s: s.errors(0.0),
    ],
    ids=["error", "claim", "read", "reads", "errors"],
)
def test_damage_that_shows_late_is_healed(home, work):
    """A page that is destroyed while two processes have the file open: each goes on, on one new file, and what they count is kept."""
    with contextlib.closing(State(home)) as first:
        for n in range(2000):
            first.add_error(f"pattern {n}", T0, "s", DAY)
            first.add_reads("shared", [f"id {n}"], "now")
        first.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    path = Path(home.join(NAME))
    path.write_bytes(path.read_bytes()[:4096] + b"\xff" * (path.stat().st_size - 4096))
    one, two = State(home), State(home)
    work(one)
    work(two)
    one.add_reads("private", ["x"], "then")
    two.add_reads("private", ["x"], "then")
    assert (False, False) == (one.in_memory, two.in_memory)
    one.close()
    two.close()
    assert Path(home.join(NAME + ".damaged")).exists()
    with contextlib.closing(State(home)) as again:
        assert {"x": (2, "then")} == again.reads("private")


def test_disk_that_refuses(tmp_path):
    """Where no file can be made, counting goes on in memory."""
    (tmp_path / "gitmem").write_text("a file where the folder should be")
    state = State(Home(str(tmp_path / "gitmem")))
    assert (1, True) == (state.add_error("p", T0, "s", DAY), state.in_memory)
    state.close()


def test_file_of_an_earlier_process_is_read(home):
    """State is kept from process to process."""
    one = State(home)
    one.add_error("p", T0, "s", DAY)
    one.close()
    two = State(home)
    assert 2 == two.add_error("p", T0 + 1, "s", DAY)
    two.close()
    db = sqlite3.connect(home.join(NAME))
    assert "wal" == db.execute("PRAGMA journal_mode").fetchone()[0]
    db.close()


def test_many_that_make_the_file_at_once_lose_nothing(home):
    """Each process writes one hit as its first act: whoever makes the tables, nobody makes them twice."""
    code = COUNT.format(here=HERE, home=home.path, rounds=1)
    for round_ in range(4):
        runs = [
            subprocess.Popen(
                [sys.executable, "-c", code, f"{round_}-{n}"], stderr=subprocess.PIPE, text=True
            )
            for n in range(8)
        ]
        assert [""] * 8 == [run.communicate()[1] for run in runs]
        state = State(home)
        assert 8 == state.hits("p", 1_800_000_001.0, DAY)
        state.close()
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(home.join("state.db") + suffix):
                os.unlink(home.join("state.db") + suffix)


def test_nobody_waits_for_whoever_makes_the_file(home, monkeypatch):
    """It comes to its place whole: another process gets by while one is at it, without a moment to wait, and both use the same."""
    link, others = os.link, []

    def later(source: str, target: str) -> None:
        monkeypatch.setattr(os, "link", link)
        others.append(State(home, timeout=0))
        others[0].add_error("p", T0, "other", DAY)
        link(source, target)

    monkeypatch.setattr(os, "link", later)
    with contextlib.closing(State(home, timeout=0)) as state:
        assert [False, False] == [state.in_memory, others[0].in_memory]
        assert 2 == state.add_error("p", T0, "s", DAY)
        assert [] == [name for name in os.listdir(home.path) if name.endswith(".tmp")]
    others[0].close()


def test_a_name_that_a_killed_process_left_goes(home, monkeypatch):
    """Between the link and the end of the other name: the next to open the file takes that away, and nothing else."""
    with monkeypatch.context() as killed:
        killed.setattr(os, "unlink", lambda _: None)
        with contextlib.closing(State(home)) as state:
            state.add_error("p", T0, "s", DAY)
    (left,) = [name for name in os.listdir(home.path) if name.endswith(".tmp")]
    assert list(purge_local._files(home)) == []  # it is not text that a purge may write anew
    Path(home.join("another.tmp")).touch()
    with contextlib.closing(State(home)) as state:
        assert (1, False) == (state.hits("p", T0, DAY), state.in_memory)
    assert not os.path.exists(home.join(left)) and os.path.exists(home.join("another.tmp"))


def test_a_log_without_its_file_is_not_played_into_the_new_one(home):
    """Somebody removed the file alone."""
    with contextlib.closing(State(home)) as state:
        state.snooze("of the old file", T0)
        os.unlink(home.join(NAME))
        assert os.path.exists(home.join(NAME + "-wal"))
        with contextlib.closing(State(home)) as new:
            assert ({}, False) == (new.snoozed(0.0), new.in_memory)
            new.snooze("of the new file", T0)
            assert ["ok"] == [row[0] for row in new.db.execute("PRAGMA integrity_check")]


def test_without_hard_links_the_file_is_made_in_place(home, monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError(1, "no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    with contextlib.closing(State(home)) as state:
        assert 1 == state.add_error("p", T0, "s", DAY)
    with contextlib.closing(State(home)) as again:
        assert (1, False) == (again.hits("p", T0, DAY), again.in_memory)
    assert [NAME] == os.listdir(home.path)


def test_a_file_with_other_tables_is_begun_anew(home):
    """Nothing in it is a record, so nothing is taken over."""
    with contextlib.closing(State(home)) as state:
        state.add_reads("shared", ["a"], "2026-01-01T00:00:00Z")
        state.db.execute("DROP TABLE errors")
        state.db.execute("CREATE TABLE errors (pattern TEXT)")
        state.db.execute("CREATE TABLE tables_of_another_version (a)")
        state.db.execute("PRAGMA user_version = 1")
    with contextlib.closing(State(home)) as state:
        assert (1, {}) == (state.add_error("p", T0, "s", DAY), state.reads("shared"))
        sql = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'tables_of_another_version'"
        assert state.db.execute(sql).fetchone() == (0,)


def test_a_file_of_a_newer_version_is_left_alone(home):
    """An older process goes on in memory; the newer one finds its file as it was."""
    with contextlib.closing(State(home)) as state:
        state.snooze("got-1", T0)
        state.db.execute("PRAGMA user_version = 99")
    with contextlib.closing(State(home)) as state:
        assert state.in_memory
    with contextlib.closing(sqlite3.connect(home.join(NAME))) as db:
        assert db.execute("SELECT id FROM snoozes").fetchall() == [("got-1",)]
