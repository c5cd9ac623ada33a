"""Dates that users type: a bare day is a whole local day, for every command; clocks that were wrong."""

import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from gitmem.errors import UserError
from gitmem.git.dates import since, until
from gitmem.git.process import Git
from tests.codemap.graph.projects import mem, new
from tests.conftest import git
from tests.json_output import data_of

ZONE = "America/New_York"
# commits by their local time, the newest last
COMMITS = {
    "before": "2026-11-25T23:59:59 -0500",
    "first second": "2026-11-26T00:00:00 -0500",
    "noon": "2026-11-26T12:00:00 -0500",
    "last second": "2026-11-26T23:59:59 -0500",
    "after": "2026-11-27T00:00:00 -0500",
}


def commit(repo: Path, subject: str, date: str) -> None:
    """Commit a change of one file at a time."""
    (repo / "a.py").write_text(f"A = {subject!r}\n")
    git(repo, "add", "a.py")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_AUTHOR_DATE", date)
        patch.setenv("GIT_COMMITTER_DATE", date)
        git(repo, "commit", "-q", "-m", subject)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with commits around one day, in a zone west of UTC."""
    monkeypatch.setenv("TZ", ZONE)
    made = new(tmp_path / "repo")
    for subject, date in COMMITS.items():
        commit(made, subject, date)
    mem(made, "init", "--no-remote")
    return made


@pytest.mark.parametrize("day", ["2026-11-26", "2026/11/26", "Nov 26 2026", "26 Nov 2026"])
def test_a_bare_day_is_a_whole_local_day(repo: Path, day: str):
    """It begins at local midnight and ends with its last second."""
    rows = data_of(
        mem(repo, "timeline", "--source", "commit", "--since", day, "--until", day, "--json").stdout
    )
    assert [row["title"] for row in rows] == ["last second", "noon", "first second"]
    trends = data_of(
        mem(repo, "timeline", "--trends", "--since", day, "--until", day, "--json").stdout
    )
    assert trends["commit_count"] == 3
    steps = data_of(
        mem(repo, "code", "evolution", "a.py", "--since", day, "--until", day, "--json").stdout
    )
    assert len(steps) == 3


@pytest.mark.parametrize(
    ("day", "titles"),
    [
        ("2026-11-26 UTC", ["noon", "first second", "before"]),
        ("20261126 gmt", ["noon", "first second", "before"]),
        ("2026-11-26 -0800", ["after", "last second", "noon"]),
        ("2026-11-26 -05:00", ["last second", "noon", "first second"]),
        ("20261126", ["last second", "noon", "first second"]),
    ],
)
def test_a_day_with_a_zone_is_a_whole_day_of_that_zone(repo: Path, day: str, titles: list[str]):
    """Without a zone it is a local one, also where it is written without signs between."""
    span = ("--since", day, "--until", day)
    rows = data_of(mem(repo, "timeline", "--source", "commit", *span, "--json").stdout)
    assert [row["title"] for row in rows] == titles


def test_a_day_of_the_week_is_the_last_such_day(tmp_path: Path):
    """It begins at its midnight, and may be today."""
    process = Git(str(new(tmp_path / "repo") / ".git"), os.environ)
    today = datetime.now().replace(hour=0, minute=0, second=0, microsecond=0)
    for back in range(7):
        day = today - timedelta(days=back)
        for name in (day.strftime("%A").lower(), day.strftime("%a")):
            assert since(process, name) == int(day.timestamp())
            assert until(process, name) == int((day + timedelta(days=1)).timestamp()) - 1


@pytest.mark.parametrize("digits", ["2026", "202611", "20261399", "2026112"])
def test_digits_that_are_no_day_are_refused(tmp_path: Path, digits: str):
    """Git takes them for now."""
    process = Git(str(new(tmp_path / "repo") / ".git"), os.environ)
    with pytest.raises(UserError, match="is not a date"):
        since(process, digits)


def test_a_time_is_exact(repo: Path):
    """What has a time of the day, or is a length, is no whole day."""
    span = ("--since", "2026-11-26 12:00", "--until", "2026-11-26 23:00")
    rows = data_of(mem(repo, "timeline", "--source", "commit", *span, "--json").stdout)
    assert [row["title"] for row in rows] == ["noon"]


def test_what_was_made_today_is_of_today(repo: Path):
    """Records and sessions, whatever the time of the day."""
    mem(repo, "add", "--type", "decision", "Payments use serializable isolation")
    for day in (
        "today",
        git(
            repo,
            "log",
            "-1",
            "--format=%cd",
            "--date=format-local:%Y-%m-%d",
            "refs/gitmem/heads/main",
        ),
    ):
        listed = mem(repo, "list", "--since", day, "--until", day, "--json").stdout
        assert len(data_of(listed)) == 1
        assert data_of(
            mem(repo, "search", "--sessions", "payments", "--since", day, "--json").stdout
        )["records"]
    assert data_of(mem(repo, "list", "--until", "yesterday", "--json").stdout) == []


def test_one_wrong_clock_hides_nothing_and_breaks_no_order(repo: Path):
    """Commits of 1971 and of 2038 between others: what is asked for is there, by time."""
    commit(repo, "old clock", "1971-01-01T00:00:00 +0000")
    for number in range(8):
        commit(repo, f"old clock {number}", f"1971-01-0{number + 1}T00:00:00 +0000")
    commit(repo, "early clock", "2037-01-01T00:00:00 +0000")
    commit(repo, "newest", "2026-11-28T12:00:00 -0500")
    rows = data_of(
        mem(repo, "timeline", "--source", "commit", "--since", "2026-11-26", "--json").stdout
    )
    titles = [row["title"] for row in rows]
    assert titles == ["early clock", "newest", "after", "last second", "noon", "first second"]
    some = data_of(mem(repo, "timeline", "--source", "commit", "--limit", "4", "--json").stdout)
    assert [row["title"] for row in some] == titles[:4]
    trends = data_of(
        mem(
            repo, "timeline", "--trends", "--since", "2026-11-26", "--until", "2026-11-27", "--json"
        ).stdout
    )
    assert trends["commit_count"] == 4
