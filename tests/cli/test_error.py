"""`git mem error`: counting by hand, the window that slides, what becomes a gotcha, and what never does."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.cli.conftest import Mem, spawn, tip
from tests.conftest import git

HOUR = 3600
TYPE = "TypeError: unsupported operand type(s) for +: 'int' and 'str'"
BROKEN = "code.py:1:7: error: expected ';' before 'hello'\n"


def gotchas(mem: Mem, *args: str) -> list[dict]:
    """Return what `gotcha list` gives."""
    return list(mem("gotcha", "list", *args, "--json").json)


def times(mem: Mem, n: int, text: str = TYPE, **options) -> dict:
    """Record an error so often; return the last answer."""
    return [mem("error", "record", text, "--json", **options).json for _ in range(n)][-1]


# -- the window


def test_third_hit_makes_a_gotcha(mem: Mem) -> None:
    """It says how often, then names the gotcha, which knows when and how often."""
    assert mem("error", "record", TYPE).out == f"counted {TYPE}: 1 of 3\n"
    assert mem("error", "record", TYPE).out == f"counted {TYPE}: 2 of 3\n"
    assert gotchas(mem) == []
    done = mem("error", "record", TYPE)

    (row,) = gotchas(mem)
    assert done.out == f"gotcha {row['id'][-8:]} {TYPE} (seen 3× lately)\n"
    assert (row["title"], row["category"], row["severity"], row["origin"], row["occurrences"]) == (
        TYPE,
        "runtime",
        "warning",
        "captured",
        3,
    )
    assert row["unconfirmed"] is True
    full = mem.show(row["id"])
    assert full["source"] == "auto_detected"
    assert full["first_seen"] <= full["last_seen"]


@pytest.mark.parametrize(
    ("hours", "captured"),
    [
        ((0, 20, 40), False),
        ((0, 20, 23), True),
        ((0, 24.01, 48.02), False),
        ((0, 20, 40, 43.9), True),
        ((23, 24.5, 25), True),
    ],
)
def test_window_slides(mem: Mem, hours: tuple[float, ...], captured: bool) -> None:
    """Three within any 24 hours: not three since the last quiet day, not three on a calendar day."""
    for hour in hours:
        mem("error", "record", TYPE, ago=(100 - hour) * HOUR)
    assert bool(gotchas(mem)) is captured


def test_the_threshold_is_a_setting(mem: Mem) -> None:
    """A threshold of 1 captures at once; what was before the last 24 hours does not count."""
    git(mem.folder, "config", "gitmem.captureThreshold", "1")
    assert times(mem, 1)["gotcha"]
    git(mem.folder, "config", "gitmem.captureThreshold", "2")
    other = "ValueError: it is too long"
    times(mem, 1, other, ago=25 * HOUR)
    assert times(mem, 1, other)["gotcha"] is None
    assert times(mem, 1, other)["gotcha"]


def test_capture_off(mem: Mem) -> None:
    """It is counted, and stays a count."""
    git(mem.folder, "config", "gitmem.capture", "false")
    answer = times(mem, 5)
    assert (answer["count"], answer["gotcha"]) == (5, None)
    assert "capture is off" in mem("error", "record", TYPE).out
    assert (tip(mem.folder), gotchas(mem)) == ("", [])
    git(mem.folder, "config", "gitmem.capture", "true")
    assert mem.show(times(mem, 1)["gotcha"])["occurrences"] == 7


def test_later_hits_count_on_the_gotcha(mem: Mem) -> None:
    """No hit is counted twice, none is lost, and the last one says when."""
    id = times(mem, 3, ago=2 * HOUR)["gotcha"]
    early = mem.show(id)["last_seen"]
    assert times(mem, 4)["gotcha"] == id
    full = mem.show(id)
    assert full["occurrences"] == 7
    assert full["last_seen"] > early >= full["first_seen"]


def test_hit_on_a_resolved_one_reopens_it(mem: Mem) -> None:
    """With a note; one hit is enough."""
    id = times(mem, 3)["gotcha"]
    mem("gotcha", "resolve", id, "-m", "cast it")
    assert gotchas(mem) == []
    assert times(mem, 1)["gotcha"] == id
    assert [row["id"] for row in gotchas(mem)] == [id]
    body = mem.show(id)["body"]
    assert "cast it" in body
    assert "Reopened" in body


@pytest.mark.parametrize("how", ["reject", "forget", "archive"])
def test_what_was_rejected_stays_so(mem: Mem, how: str) -> None:
    """It is counted, no gotcha comes of it, and the answer does not claim one."""
    id = times(mem, 3)["gotcha"]
    mem(*(["inbox", "--reject", id] if how == "reject" else [how, id]))
    answer = times(mem, 4)
    assert (answer["count"], answer["gotcha"]) == (7, None)
    assert gotchas(mem) == []
    assert "stays closed" in mem("error", "record", TYPE).out


def test_workaround_is_told(mem: Mem) -> None:
    """What is known to help is printed with the count."""
    id = mem(
        "gotcha", "add", "adding text", "--error", TYPE, "--workaround", "int(x) first", "--json"
    ).json["id"]
    answer = times(mem, 1)
    assert (answer["gotcha"], answer["workaround"]) == (id, "int(x) first")
    assert mem("error", "record", TYPE).out.endswith("    int(x) first\n")
    assert mem.show(id)["occurrences"] == 3


# -- what is an error


def test_numbers_paths_and_times_are_one_error(mem: Mem) -> None:
    """The same error with other details is the same."""
    for text in (
        "2026-01-01 10:00:00 ERROR could not open /tmp/a1/x.txt after 30 ms",
        "2026-02-03 11:22:33 ERROR could not open /tmp/b2/y.txt after 31 ms",
    ):
        answer = times(mem, 1, text)
    assert answer["count"] == 2


def test_output_on_stdin_is_anchored(mem: Mem) -> None:
    """The project's own line in it becomes the place."""
    for _ in range(3):
        answer = mem(
            "error", "record", "--command", "gcc code.py", "--json", stdin=BROKEN.encode()
        ).json
    (anchor,) = mem.show(answer["gotcha"])["anchors"]
    assert (anchor["path"], anchor["lines"]) == ("code.py", [1, 1])


@pytest.mark.parametrize("stdin", [b"", b"\n \n", b"\x00\x00"])
def test_nothing_is_no_error(mem: Mem, stdin: bytes) -> None:
    """It says so, and counts nothing."""
    mem("error", "record", stdin=stdin, code=1)
    assert mem("error", "list", "--json").json == []


SUCCESSES = [
    "ok",
    "Done.",
    "Done in 3s",
    "5 passed in 0.1s",
    "7 passed, 1 xfailed in 0.1s",
    "found 0 vulnerabilities",
    "0 errors, 0 warnings",
    "Success: no issues found in 3 source files",
    "test result: ok. 3 passed; 0 failed; 0 ignored",
    "Tests:       3 passed, 3 total",
    "Build succeeded.\n    0 Warning(s)\n    0 Error(s)",
    "100% tests passed, 0 tests failed out of 3",
    "[INFO] BUILD SUCCESS",
    "Ran 3 tests in 0.001s\n\nOK",
]


@pytest.mark.parametrize("text", ["all fine", *SUCCESSES])
def test_success_is_no_error(mem: Mem, text: str) -> None:
    """Nobody said that a command failed: what tells none is not counted in a pipe."""
    done = mem("error", "record", stdin=text.encode(), code=1)
    assert "no error was found" in done.err
    assert "git mem error record TEXT" in done.err
    assert mem("error", "list", "--json").json == []


@pytest.mark.parametrize("text", ["", "  ", "\n", *SUCCESSES])
def test_who_types_that_all_went_well_counts_no_error(mem: Mem, text: str) -> None:
    """It is refused with what to do, whoever says that it is one."""
    done = mem("error", "record", "--", text, stdin=b"", code=1)

    assert "no error was found" in done.err and "git mem error record TEXT" in done.err
    assert mem("error", "list", "--json").json == []


@pytest.mark.parametrize("text", ["it's broken, don't retry", "o deploy não funciona", "部署坏了"])
def test_what_a_person_types_is_an_error(mem: Mem, text: str) -> None:
    """Because they say so, whatever the words."""
    for _ in range(3):
        answer = mem("error", "record", text, "--json").json
    assert answer["gotcha"] and text[:8] in mem("show", answer["gotcha"]).out


def test_bytes_that_are_no_text(mem: Mem) -> None:
    """A tool may print anything; what can be read counts."""
    for _ in range(3):
        answer = mem(
            "error",
            "record",
            "--json",
            stdin=b"\xff\xfe\nValueError: \xe9t\xe9 \x1b[31mred\x1b[0m \xe2\x80\xae\n",
        ).json
    assert answer["gotcha"]
    assert "\x1b" not in mem.show(answer["gotcha"])["body"]


def test_huge_output(mem: Mem) -> None:
    """20 MB are read, bounded and counted; what is kept is small."""
    noise = b"compiling module number 12345 of many ... ok\n" * 450_000
    for _ in range(3):
        answer = mem("error", "record", "--json", stdin=noise + BROKEN.encode()).json
    assert answer["title"].endswith("expected ';' before 'hello'")
    assert len(mem("show", answer["gotcha"]).out) < 8000


def test_secret_in_an_error_is_masked(mem: Mem) -> None:
    """Neither the record nor the counted pattern keeps it."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for _ in range(3):
        out = mem("error", "record", f"RuntimeError: bad token {token} given", "--json")
    assert (
        token
        not in out.out
        + mem("error", "list", "--json").out
        + mem("show", out.json["gotcha"], "--json").out
    )
    assert token not in git(mem.folder, "log", "-p", "refs/gitmem/local/main")


# -- list


def test_list(mem: Mem) -> None:
    """Most first, with sessions and times; the window, or all of a week."""
    times(mem, 2)
    mem("error", "record", "ValueError: old", "--session", "s", ago=50 * HOUR)
    assert [
        (row["count"], row["session_count"], row["gotcha"])
        for row in mem("error", "list", "--json").json
    ] == [(2, 1, None)]
    assert [row["count"] for row in mem("error", "list", "--all", "--json").json] == [2, 1]
    out = mem("error", "list").out
    assert out.startswith("   2×  just now ")
    assert out.endswith("(2 of 3)\n")
    id = times(mem, 1)["gotcha"]
    assert f"(gotcha {id[-8:]})" in mem("error", "list").out
    assert mem("error", "list", "--json").json[0]["gotcha"] == id


def test_empty_list(mem: Mem) -> None:
    """Nothing on stdout; a remark on stderr."""
    done = mem("error", "list")
    assert (done.out, "no error was counted in the last 24 hours." in done.err) == ("", True)
    assert mem("error", "list", "--json").json == []


def test_hostile_text_is_shown(mem: Mem) -> None:
    """What would steer the terminal is not sent to it, not even as JSON."""
    git(mem.folder, "config", "gitmem.captureThreshold", "2")
    for _ in range(2):
        out = mem(
            "error", "record", "OSError: \x1b]0;title\x07 \u202eevil\u2066 \x9b31m broken"
        ).out
        out += mem("error", "list").out + mem("error", "list", "--json").out + mem("inbox").out
        assert not set("\x1b\x07\u202e\u2066\x9b") & set(out)


# -- wherever


@pytest.mark.parametrize("kind", ["bare", "worktree", "sha256"])
def test_any_repository(make_repo, mem: Mem, kind: str) -> None:
    """Bare and linked ones too."""
    there = mem.at(make_repo(kind))
    assert there.show(times(there, 3)["gotcha"])["occurrences"] == 3


def test_empty_repository_and_detached_head(tmp_path, mem: Mem) -> None:
    """Without a commit, without a name, and with HEAD on no branch."""
    git(tmp_path, "init", "-q", "empty")
    there = mem.at(tmp_path / "empty")
    assert times(there, 3)["gotcha"]
    git(mem.folder, "checkout", "-q", "--detach")
    assert times(mem, 3)["gotcha"]


def test_no_repository(outside: Mem) -> None:
    """It says so, with exit code 1."""
    assert "error: " in outside("error", "record", TYPE, code=1).err
    outside("error", "list", code=1)


def test_folder_that_cannot_be_written(mem: Mem) -> None:
    """A count that would be lost is an error, not a success."""
    gitdir = mem.folder / ".git"
    (gitdir / "gitmem").write_text("in the way")
    done = mem("error", "record", TYPE, code=1)
    assert "cannot be written" in done.err
    assert mem("error", "list").out == ""


def test_wrong_usage(mem: Mem) -> None:
    """Exit code 2, and what was meant."""
    assert "Did you mean record?" in mem("error", "recrd", code=2).err
    assert "It has: record, list." in mem("error", "xyz", code=2).err
    mem("error", "record", "--nope", code=2)
    mem("error", code=2)


# -- at once


def test_many_at_once_lose_no_hit(mem: Mem) -> None:
    """Processes that count at the same moment: each hit is on the gotcha once."""
    with ThreadPoolExecutor(4) as pool:
        answers = list(
            pool.map(
                lambda n: (
                    spawn(mem.folder, "error", "record", TYPE, "--session", f"s{n}", "--json").json
                ),
                range(8),
            )
        )
    ids = {answer["gotcha"] for answer in answers} - {None}
    assert max(answer["count"] for answer in answers) == 8
    (id,) = ids
    assert mem.show(id)["occurrences"] == 8


def test_piped_by_a_shell(mem: Mem) -> None:
    """As the help shows it."""
    line = f"python3 -c 'int(\"x\")' 2>&1 | {sys.executable} -P -m gitmem error record --command python3"
    done = subprocess.run(
        line, shell=True, cwd=mem.folder, capture_output=True, text=True, check=True
    )
    assert (
        done.stdout == "counted ValueError: invalid literal for int() with base 10: 'x': 1 of 3\n"
    )


def test_hits_outside_the_window_count_towards_nothing(mem: Mem) -> None:
    for hours in (60, 50, 2):
        mem("error", "record", "ValueError: the rate is missing", ago=hours * 3600)
    (row,) = mem("error", "list", "--all", "--json").json
    assert (row["count"], row["recent_count"], row["gotcha"]) == (3, 1, None)
    assert "1 of 3 in 24 hours" in mem("error", "list", "--all").out
    assert [one["count"] for one in mem("error", "list", "--json").json] == [1]
