"""The health of a memory, against the formula in plain words."""

import json
import re
from contextlib import closing
from pathlib import Path

import pytest

from gitmem.cli.lifecycle.health import sparkline
from gitmem.clock import Clock
from gitmem.index import health_cache
from gitmem.index.health_cache import HealthCache
from gitmem.services.lifecycle.health import HealthCounts, range_of
from gitmem.services.lifecycle.metrics import gaps
from tests.command_line import run_command
from tests.lifecycle.memories import DAY, add, count_each_hour, data, read


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> float:
    """The present time, where each hour counts."""
    count_each_hour(monkeypatch)
    return Clock().now()


def terms(repo: Path, *args: str) -> dict[str, float]:
    """Return the counts of `git mem check --health`."""
    return {
        term["term"]: term["number"] for term in data(repo, "check", "--health", *args)["terms"]
    }


def test_each_term(repo: Path, now: float) -> None:
    """Unread, double, old, low, pinned and linked facts are counted, on the facts that hold."""
    unread = add(repo, "Deploys happen on Fridays", at=now - 10 * DAY)
    fresh = add(repo, "Deploys happen on friday", at=now - 2 * DAY, links=[unread.id])
    add(repo, "The build prints a warning", at=now - 20 * DAY, importance=3)
    add(repo, "Squash before merging", at=now - 8 * DAY, status="pinned")
    add(repo, "Gone", at=now - 30 * DAY, status="archived")
    add(repo, "Over", at=now - 30 * DAY, expires="2020-01-01")
    read(repo, fresh.id, now)

    found = terms(repo)
    assert found["duplicates"] == 1
    assert (found["pinned"], found["links"]) == (1, 1)
    assert (found["unread"], found["low"]) == (3, 2)
    assert found["age"] == pytest.approx((10 + 2 + 20 + 8) / 4, abs=0.1)


def test_the_number_is_the_formula(repo: Path, now: float) -> None:
    """A memory of 20 facts has the same number raw and scaled; another one has not."""
    for number in range(10):
        add(repo, f"The service listens on port 80{number}0", at=now - 8 * DAY)
    raw, scaled = (
        data(repo, "check", "--health", "--raw")["health"],
        data(repo, "check", "--health")["health"],
    )
    assert raw == pytest.approx(100 - 2 * 10 - 0.5 * 8 - 1 * 10, abs=0.2)
    assert scaled == pytest.approx(100 - 2 * 20 - 0.5 * 8 - 1 * 20, abs=0.2)


def test_past_states_are_as_they_were(repo: Path, now: float) -> None:
    """`--at` gives the health of that commit, at its time."""
    add(repo, "Deploys happen on Fridays", at=now - 20 * DAY)
    add(repo, "Deploys happen on friday", at=now - 10 * DAY)
    assert terms(repo, "--at", "@~1") == terms(repo, "--at", "@~1")
    first, second = (data(repo, "check", "--health", "--at", rev) for rev in ("@~1", "@"))
    assert (first["fact_count"], second["fact_count"]) == (1, 2)
    assert first["health"] > second["health"] > data(repo, "check", "--health")["health"]
    points = data(repo, "check", "--health", "--history")["states"]
    assert [point["health"] for point in points] == [first["health"], second["health"]]


def test_a_removed_cache_changes_no_number(repo: Path, now: float) -> None:
    """It is derived; a damaged file is made again."""
    add(repo, "Deploys happen on Fridays", at=now - 20 * DAY)
    before = data(repo, "check", "--health", "--history")["states"]
    file = repo / ".git/gitmem/health.db"
    file.write_bytes(b"no database at all" * 100)
    assert data(repo, "check", "--health", "--history")["states"] == before
    file.unlink()
    assert data(repo, "check", "--health", "--history")["states"] == before


@pytest.mark.parametrize(
    "command",
    [
        ("check", "--health"),
        ("check", "--health", "--history"),
        ("consolidate",),
    ],
)
def test_damage_behind_the_first_page_is_mended(
    repo: Path, now: float, command: tuple[str, ...]
) -> None:
    """It shows only when rows are read or written."""
    for number in range(40):
        add(repo, f"Deploys happen on day {number}", at=now - 20 * DAY)
    assert run_command(repo, "check", "--health", "--history").returncode == 0
    before = data(repo, "check", "--health", "--history")["states"]
    file = repo / ".git/gitmem/health.db"
    size = file.stat().st_size
    with file.open("r+b") as stream:
        stream.seek(4096)
        stream.write(b"garbage!" * ((size - 4096) // 8))
    add(repo, "Deploys need a review", at=now)
    done = run_command(repo, *command)
    assert (done.returncode, done.stderr) == (0, "")
    assert data(repo, "check", "--health", "--history")["states"][: len(before)] == before
    assert file.stat().st_size >= size


def test_a_full_cache_gives_up_its_oldest_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that has more facts than fit still finds most of them."""
    monkeypatch.setattr(health_cache, "KEPT", 4)
    with closing(HealthCache(str(tmp_path))) as cache:
        cache.add_facts({name: [name] for name in "abcd"})
        cache.add_facts({"e": ["e"]})
        assert cache.facts("abcde") == {name: [name] for name in "bcde"}
        cache.add_facts({name: [name] for name in "fghijk"})
        assert cache.facts("abcdefghijk") == {name: [name] for name in "hijk"}


def test_what_is_printed(repo: Path, now: float) -> None:
    """A newcomer sees the number, the terms and what to do."""
    add(repo, "Deploys happen on Fridays", at=now - 40 * DAY)
    add(repo, "Deploys happen on friday", at=now - 30 * DAY)
    out = run_command(repo, "check", "--health").stdout
    assert out.startswith("0 critical")
    assert "said twice" in out
    assert "the largest loss: " in out
    assert "git mem consolidate" in out


def test_an_empty_store_is_healthy(repo: Path) -> None:
    """There is nothing to tidy, and a hint."""
    done = run_command(repo, "check", "--health")
    assert done.stdout.startswith("100 healthy")
    assert "git mem add" in done.stderr


def test_a_script_can_ask(repo: Path, now: float) -> None:
    """`--fail-under` exits with 1 below a number."""
    for day in (40, 30):
        add(repo, "Deploys happen on Fridays", at=now - day * DAY)
    assert run_command(repo, "check", "--health", "--fail-under", "0").returncode == 0
    done = run_command(repo, "check", "--health", "--fail-under", "50", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["data"]["level"] == "critical"
    assert run_command(repo, "check", "--health", "--fail-under", "101").returncode == 2
    assert run_command(repo, "check", "--health", "--at", "@", "--all").returncode == 2
    assert run_command(repo, "check", "--health", "--at", "no such").returncode == 1


@pytest.mark.parametrize("number", ["x", "", "nan", "inf", "-1", "101", "60%"])
def test_a_limit_is_a_number(repo: Path, number: str) -> None:
    """From 0 to 100, and the message says so."""
    done = run_command(repo, "check", "--health", f"--fail-under={number}")

    assert (done.returncode, done.stdout) == (2, "")
    assert f"'{number}' is no number from 0 to 100" in done.stderr


@pytest.mark.parametrize(
    "at", ["", " ", "nonsense", "2026-13-45", "9999-01-01", "-1", "2026-02-30"]
)
@pytest.mark.parametrize("command", ["check --health", "list"])
def test_a_state_of_the_past_has_a_name(repo: Path, now: float, command: str, at: str) -> None:
    """What names none is refused; git would take such dates for some other day."""
    add(repo, "Deploys happen on Fridays", at=now)
    done = run_command(repo, *command.split(), f"--at={at}")

    expected = f"'{at}' is not a revision of the store" if at.strip() else "the revision is empty"
    assert (done.returncode, done.stdout) == (1, "")
    assert expected in done.stderr


def test_one_is_no_plural(repo: Path, now: float) -> None:
    """Of one fact or link."""
    fact = add(repo, "Deploys happen on Fridays", at=now - 2 * DAY)
    add(repo, "The staging host is slow", at=now - DAY, links=[fact.id])
    out = run_command(repo, "check", "--health", "--all").stdout
    history = run_command(repo, "check", "--health", "--history").stdout

    assert "1 link  Deploys happen" in out
    assert not re.search(r"\b1 (?:facts|links)\b", out + history)


def test_metrics(repo: Path, now: float) -> None:
    """`--all` counts by agent, project, type and trust, and names the most linked fact."""
    target = add(repo, "Deploys happen on Fridays", type="decision", at=now)
    add(repo, "Squash before merging", links=[target.id], agent="qa", at=now, program="claude")
    numbers = data(repo, "check", "--health", "--all")["metrics"]
    assert numbers["totals"]["agent"] == {"global": 1, "qa": 1}
    assert numbers["totals"]["trust"] == {"confirmed": 1, "unconfirmed": 1}
    add(repo, "Tag each release", links=[target.id], at=now)
    numbers = data(repo, "check", "--health", "--all")["metrics"]
    most = {"id": target.id, "title": target.title, "link_count": 2}
    assert numbers["most_linked_facts"][0] == most
    assert numbers["mean_decay"] == pytest.approx(1, abs=0.01)


def test_gaps() -> None:
    """A folder that is worked in and that no fact is about; what is above a covered one is fine."""
    touched = [["src/pay/a.py", "README.md"]] * 4 + [["src/api/b.py"]] * 3 + [["docs/x.md"]]
    assert [gap.path for gap in gaps(touched, ["src/api/b.py"])] == ["src/pay"]


def test_ranges_and_sparkline() -> None:
    """The bounds belong to the better range; a long history is drawn in forty bars."""
    assert [range_of(n) for n in (80, 79.9, 60, 40, 39)] == [
        *("healthy", "attention", "attention", "alert", "critical")
    ]
    assert sparkline([0, 50, 100]) == "▁▅█"
    assert len(sparkline([50.0] * 200)) == 40
    assert HealthCounts(5, duplicates=1).points()["duplicates"] == -20
