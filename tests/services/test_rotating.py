"""Histories that grow: rows are put aside and compressed; none is lost, read twice, or out of order."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.hooks.session_log import append
from gitmem.repo.location import Home
from gitmem.services.maintenance import purge_local
from gitmem.services.session_log import reader, rotation
from gitmem.services.session_log.reader import LIVE, PACKED, PART, SHORT
from gitmem.store.history.redact import Mask

NAME = "history_20260102_030405_s1"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Our folder, with a folder of histories."""
    (tmp_path / "gitmem/sessions").mkdir(parents=True)
    return Home(str(tmp_path / "gitmem"))


def stem(home: Home) -> str:
    return home.join("sessions", NAME)


def short(lines, first):
    return {"first": first, "lines": sum(1 for _ in lines)}


def calls(home: Home) -> list[int]:
    """Return the numbers of the rows, as a reader gets them."""
    return [row["metadata"]["call"] for row in reader.rows(home, "s1")]


def put(home: Home, number: int) -> None:
    append(
        stem(home) + LIVE,
        {
            "role": "tool",
            "content": "é" * (number % 50),
            "metadata": {"event": "AfterTool", "call": number},
        },
    )


def compress_all(home: Home) -> int:
    parts = rotation.waiting(home.join("sessions"))
    return rotation.each(
        lambda part: rotation.compress(home, part, short, settled=lambda _: True), parts
    )


def test_rows_that_are_put_aside_are_read_in_their_order_with_their_lines(home):
    for number in range(30):
        put(home, number)
        if number % 10 == 4:
            assert rotation.put_aside(home, stem(home), 10)
        if number == 17:
            assert compress_all(home) == 2
    with open(stem(home) + LIVE, "ab") as file:
        file.write(b'{"half": \n\xff\xfe\n[1]\n')
    put(home, 30)
    assert calls(home) == list(range(31))
    assert [line for line, _ in reader.numbered(home, "s1")] == [*range(1, 31), 34]
    names = sorted(os.listdir(home.join("sessions")))
    assert names == [
        NAME + end
        for end in (
            ".0001.json",
            ".0001.jsonl.gz",
            ".0002.json",
            ".0002.jsonl.gz",
            ".0003.part",
            LIVE,
        )
    ]
    assert {os.stat(home.join("sessions", name)).st_mode & 0o777 for name in names} == {0o600}
    assert [rotation.short_of(one)["first"] for one in reader.segments(stem(home))[:2]] == [1, 6]


def test_a_history_within_its_limit_stays(home):
    put(home, 1)
    assert rotation.put_aside(home, stem(home), 10_000) is None
    assert rotation.put_aside(home, stem(home) + "x", 0) is None
    assert os.listdir(home.join("sessions")) == [NAME + LIVE]


def test_other_sessions_are_not_read(home):
    put(home, 1)
    for other in ("s10", "xs1", "s1.0001", "s1.0001.part"):
        Path(home.join("sessions", f"history_20260102_030405_{other}.jsonl")).write_text(
            '{"metadata": {"call": 7}}\n'
        )
    Path(home.join("sessions", "notes.txt")).write_text("x")
    assert calls(home) == [1]
    assert [row["metadata"]["call"] for row in reader.rows(home, "s1.0001")] == [7]


def test_a_hook_that_had_the_file_open_is_waited_for(home):
    put(home, 1)
    slow = os.open(stem(home) + LIVE, os.O_WRONLY | os.O_APPEND)
    segment = rotation.put_aside(home, stem(home), 1)
    old = time.time() - 30
    clock = rotation.time.time
    try:
        rotation.time.time = lambda: clock() + 30  # it was renamed long ago
        assert not rotation.compress(home, segment, short)
        os.write(slow, b'{"metadata": {"call": 2}}\n')
        os.close(slow)
        assert rotation.compress(home, segment, short)
    finally:
        rotation.time.time = clock
    assert old < os.path.getmtime(segment.path(PACKED))
    assert calls(home) == [1, 2]
    assert not os.path.exists(segment.path(PART))


def test_a_segment_that_was_just_put_aside_is_left_alone(home):
    put(home, 1)
    segment = rotation.put_aside(home, stem(home), 1)
    assert not rotation.is_settled(segment.path(PART))


def test_what_a_kill_leaves_is_read_right_and_finished(home):
    for number in (1, 2):
        put(home, number)
    segment = rotation.put_aside(home, stem(home), 1)
    put(home, 3)
    data = Path(segment.path(PART)).read_bytes()
    assert compress_all(home) == 1
    Path(segment.path(PART)).write_bytes(data)  # killed before the plain file went
    Path(segment.path(PACKED) + ".99.tmp").write_bytes(b"half")
    empty = rotation._reserved(stem(home))  # killed before the live file got this name
    assert calls(home) == [1, 2, 3]
    assert rotation.put_aside(home, stem(home), 1).number == empty.number + 1
    assert compress_all(home) == 3
    assert calls(home) == [1, 2, 3]
    assert not os.path.exists(empty.path(PACKED))
    rotation.expire(home.join("sessions"), 0.0, time.time() + 7200)
    assert not [name for name in os.listdir(home.join("sessions")) if name.endswith((".tmp", PART))]


def test_a_damaged_segment_costs_itself_alone(home):
    for number in range(3):
        for more in range(200):
            put(home, number * 200 + more)
        rotation.put_aside(home, stem(home), 1)
    compress_all(home)
    second = reader.segments(stem(home))[1].path(PACKED)
    data = Path(second).read_bytes()
    Path(second).write_bytes(data[: len(data) // 2])
    found = calls(home)
    assert found[:200] == list(range(200))
    assert found[-200:] == list(range(400, 600))
    Path(second).write_bytes(b"no gzip")
    assert calls(home) == [*range(200), *range(400, 600)]


def test_all_of_a_session_goes_when_its_last_sign_is_old(home):
    put(home, 1)
    rotation.put_aside(home, stem(home), 1)
    compress_all(home)
    put(home, 2)
    folder, now = home.join("sessions"), time.time()
    for segment in reader.segments(stem(home)):
        for end in (PACKED, SHORT):
            os.utime(segment.path(end), (now - 90, now - 90))
    Path(folder, "history_20250101_010101_old.0001.part").write_text("{}\n")
    os.utime(Path(folder, "history_20250101_010101_old.0001.part"), (now - 90, now - 90))
    rotation.expire(folder, now - 60, now)
    assert calls(home) == [1, 2]  # it is alive
    assert not [name for name in os.listdir(folder) if "old" in name]
    os.utime(stem(home) + LIVE, (now - 90, now - 90))
    rotation.expire(folder, now - 60, now)
    assert os.listdir(folder) == []


def test_a_purge_reaches_what_was_compressed(home):
    secret = "hunter2-hunter2"
    append(stem(home) + LIVE, {"content": f"it is {secret}", "metadata": {"call": 1}})
    rotation.put_aside(home, stem(home), 1)
    compress_all(home)
    (histories,) = [
        place
        for place in purge_local.erase(home, Mask([secret]))
        if place.name == "session histories"
    ]
    assert (histories.state, histories.count) == ("removed", 1)
    (row,) = reader.rows(home, "s1")
    assert secret not in json.dumps(row)
    assert row["content"].startswith("it is ")


ACTS = st.lists(
    st.sampled_from(["put", "put", "aside", "compress", "killed", "again"]), max_size=40
)


@settings(max_examples=60, deadline=None)
@given(ACTS)
def test_whatever_happens_rows_are_all_there_once(tmp_path_factory, acts):
    home = Home(str(tmp_path_factory.mktemp("home")))
    os.makedirs(home.join("sessions"))
    count = 0
    for act in acts:
        if act == "put":
            put(home, count)
            count += 1
        elif act == "aside" and os.path.exists(stem(home) + LIVE):
            rotation.put_aside(home, stem(home), 0)
        elif act == "compress":
            compress_all(home)
        elif act == "killed":  # in the middle of compressing
            parts = rotation.waiting(home.join("sessions"))
            if parts and os.path.getsize(parts[0].path(PART)):
                rotation._pack(parts[0], os.stat(parts[0].path(PART)))
        elif act == "again":
            rotation._reserved(stem(home))
        assert calls(home) == list(range(count))


WRITER = """
import sys, time
from gitmem.hooks.session_log import append
path, me, many, acks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
with open(acks, "a") as file:
    for number in range(many):
        append(path, {"metadata": {"call": f"{me}-{number}"}, "content": "x" * (number % 300)})
        file.write(f"{me}-{number}\\n")
        file.flush()
        time.sleep(0.0005)
"""
MOVER = """
import sys, time
from gitmem.repo.location import Home
from gitmem.services.session_log import rotation as rotating
rotating.QUICK = 0.05
home, stem = Home(sys.argv[1]), sys.argv[2]
short = lambda lines, first: {"lines": sum(1 for _ in lines)}
while True:
    rotating.each(lambda one: rotating.put_aside(home, one, 4000) is not None, [stem])
    rotating.each(lambda part: rotating.compress(home, part, short), rotating.waiting(home.join("sessions")))
"""


@pytest.mark.stress
def test_nothing_acknowledged_is_lost_whoever_is_killed(home, tmp_path):
    chance = random.Random(5)
    path, many = stem(home) + LIVE, 4000
    acks = [tmp_path / f"acks{number}" for number in range(3)]
    writers = [
        subprocess.Popen(
            [sys.executable, "-P", "-c", WRITER, path, str(n), str(many), str(acks[n])]
        )
        for n in range(3)
    ]
    kills = 0
    while any(one.poll() is None for one in writers):
        mover = subprocess.Popen(
            [sys.executable, "-P", "-c", MOVER, home.path, stem(home)], stderr=subprocess.DEVNULL
        )
        time.sleep(chance.uniform(0.15, 0.6))
        seen = calls(home)
        if len(seen) != len(set(seen)):  # nothing of this test is to outlive it
            for one in (mover, *writers):
                one.kill()
                one.wait()
        assert len(seen) == len(set(seen))
        if kills == 2 and writers[0].poll() is None:
            writers[0].send_signal(signal.SIGKILL)
        mover.send_signal(signal.SIGKILL)
        mover.wait()
        kills += 1
    for one in writers:
        one.wait()
    told = [name for file in acks for name in file.read_text().split()]
    found = calls(home)
    assert len(found) == len(set(found))
    assert set(told) <= set(found)
    # the one that was killed had written one more than it could tell
    assert len(found) <= len(told) + 1
    assert len(told) > 2 * many
    assert kills > 3
    assert len(reader.segments(stem(home))) > 3
    compress_all(home)
    assert sorted(calls(home)) == sorted(found)
