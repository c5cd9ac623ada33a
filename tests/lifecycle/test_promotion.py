"""What is seen in several sessions becomes a pattern, then a rule; what is said again is no record."""

import os
from typing import Any

import pytest

from gitmem.app import open_app
from gitmem.services.records import write
from tests.benchmarks.common import fill
from tests.cli.conftest import DAY, Mem
from tests.conftest import git, record
from tests.hooks.conftest import Agent, wait_for
from tests.lifecycle.memories import work

pytestmark = pytest.mark.usefixtures("no_code_reading")
SAID = "use PostgreSQL for the orders service"


def talk(mem: Mem, session: str, *, user: str = "", agent: str = "") -> None:
    """Have a session in which somebody says something, and its record written."""
    mine = Agent(mem.folder, session)
    mine.hook("UserPromptSubmit", prompt=user or "Choose a database for the orders service")
    if agent:
        mine.hook("Stop", last_assistant_message=agent, transcript_path="")
    mine.hook("SessionEnd")
    wait_for(lambda: not mem("status", "--json").json["requests"])


def the_fact(mem: Mem) -> dict[str, Any]:
    """Return the one fact about the database, as `show` gives it."""
    rows = mem("list", "--kind", "memory", "--json").json
    (id,) = [row["id"] for row in rows if "PostgreSQL" in row["title"]]
    return mem.show(id)


def test_three_sessions_in_which_the_user_said_it_make_a_rule(mem: Mem) -> None:
    """One record, three sources; each adds to its importance, and a rule does not fade."""
    levels = []
    for number in range(3):
        talk(mem, f"s{number}", user=f"DECISION: {SAID}")
        fact = the_fact(mem)
        levels.append((fact["promotion"]["level"], fact["decay"]["bonus"]))

    assert levels == [("insight", 0), ("pattern", 2), ("rule", 3)]
    assert [source["session"] for source in fact["sources"]] == ["s0", "s1", "s2"]
    assert fact["promotion"]["counted_sources"] == ["session s0", "session s1", "session s2"]
    assert "Promotion:    rule: seen in 3 sessions: s0, s1, s2" in mem("show", fact["id"]).out
    assert fact["decay"]["half_life_hours"] is None


def test_what_a_session_says_twice_counts_once(mem: Mem) -> None:
    """Also where its record is written anew."""
    for _ in range(2):
        talk(mem, "s1", user=f"DECISION: {SAID}", agent=f"DECISION: {SAID}.")

    assert the_fact(mem)["promotion"]["counted_sources"] == ["session s1"]


def test_an_agent_that_was_told_it_is_no_witness(mem: Mem) -> None:
    """It repeats what it was told, as subagents do; a user who says so is one."""
    talk(mem, "s1", user=f"DECISION: {SAID}")
    mem("drain")
    told = Agent(mem.folder, "s2").hook("SessionStart")
    assert "PostgreSQL" in told
    talk(mem, "s2", agent=f"DECISION: {SAID}.")
    assert the_fact(mem)["promotion"]["counted_sources"] == ["session s1"]

    Agent(mem.folder, "s3").hook("SessionStart")
    talk(mem, "s3", user=f"DECISION: {SAID}")
    assert the_fact(mem)["promotion"]["counted_sources"] == ["session s1", "session s3"]


def test_what_is_shared_gets_a_source_without_quotes(mem: Mem) -> None:
    """Session, role and time; where it was read stays on this machine."""
    id = mem.add("Use PostgreSQL for the orders service", "--type", "decision")
    mem("drain")
    talk(mem, "s1", user=f"DECISION: {SAID}")
    (source,) = mem.show(id)["sources"]

    assert set(source) == {"session", "role", "at"}
    assert mem.show(id)["store"] == "shared"


def test_agents_alone_make_no_rule(mem: Mem) -> None:
    """What only agents said stays a pattern until a person confirms it."""
    env = {"CLAUDECODE": "1"}
    sessions = [
        {"session": f"s{n}", "role": "agent", "at": f"2026-10-0{n}T00:00:00Z"} for n in (1, 2, 3)
    ]
    id = mem("add", SAID, "--json", env=env).json["id"]
    _give_sources(mem, id, sessions)
    assert mem.show(id)["promotion"]["level"] == "pattern"

    mem("inbox", "--accept", id)
    assert mem.show(id)["promotion"]["level"] == "rule"


def _give_sources(mem: Mem, id: str, sources: list[dict[str, str]]) -> None:
    """Write the sources of a fact, as sessions leave them."""
    with open_app(str(mem.folder), os.environ) as app:
        scope, stored = app.get(id)
        after = stored.record.change(sources=sources)
        write.update(app.store(scope), app.writer(), stored.record, after, "test")


def test_a_contradiction_lowers_it_by_one_level(mem: Mem) -> None:
    """A rule that something newer contradicts is a pattern, until that is decided."""
    sources = [
        {"session": f"s{n}", "role": "user", "at": f"2026-10-0{n}T00:00:00Z"} for n in (1, 2, 3)
    ]
    id = mem.add("The orders service uses PostgreSQL", "--type", "decision", ago=9 * DAY)
    _give_sources(mem, id, sources)
    assert mem.show(id)["promotion"]["level"] == "rule"

    newer = mem.add("The orders service uses MySQL", "--type", "decision")
    mem("drain")
    shown = mem.show(id)["promotion"]
    assert (shown["level"], shown["is_refuted"]) == ("pattern", True)
    assert "a check refutes it" in mem("show", id).out
    mem("check", "--resolve", f"{newer},{id}=both")
    assert mem.show(id)["promotion"] == {**shown, "level": "rule", "is_refuted": False}
    assert git(mem.folder, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("places", "line"),
    [
        (({"session": "a"}, {}), "pattern: seen in 2 places: a, elsewhere"),
        (({"session": "a"}, {"session": "b"}), "pattern: seen in 2 sessions: a, b"),
        (({"commit": "c0ffee00"}, {"commit": "ab"}), "pattern: seen in 2 commits: c0ffee00, ab"),
        (
            ({"session": "a"}, {"commit": "c0ffee00"}),
            "pattern: seen in 2 sessions and commits: a, c0ffee00",
        ),
    ],
)
def test_show_names_where_it_was_seen(
    mem: Mem, places: tuple[dict[str, str], ...], line: str
) -> None:
    """A source may name neither a session nor a commit."""
    id = mem.add("The build takes 5 minutes")
    sources = [
        {**place, "role": "user", "at": f"2026-10-0{day}T00:00:00Z"}
        for day, place in enumerate(places, 1)
    ]
    _give_sources(mem, id, sources)
    assert f"Promotion:    {line}\n" in mem("show", id).out


@pytest.mark.parametrize(("hours", "is_hearsay"), [(100, True), (130, False)])
def test_a_refuted_pattern_fades_as_an_insight(mem: Mem, hours: int, is_hearsay: bool) -> None:
    """Lists and a prompt agree: with a pattern's importance it would not have faded yet."""
    work(mem.folder, hours)
    title = "The nightly export job runs at 3 am"
    id = mem.add(title, ago=hours * 3600)
    sources = [
        {"session": f"s{n}", "role": "user", "at": f"2026-10-0{n}T00:00:00Z"} for n in (1, 2)
    ]
    _give_sources(mem, id, sources)
    mem.add("The nightly export job runs at 5 am", ago=60)
    mem("drain")
    answer = Agent(mem.folder, "s1").hook("UserPromptSubmit", prompt=f"look at {id}, please")

    assert (title in mem.titles()) == is_hearsay
    assert ("3 am" in answer) == is_hearsay


def test_a_rule_is_told_however_old_until_it_is_archived(mem: Mem) -> None:
    """As what is pinned is: among many newer facts; what is put aside is not told."""
    id = mem.add("Release on Thursdays", "--type", "pattern", ago=90 * DAY)
    said = [
        {"session": f"s{n}", "role": "user", "at": f"2026-10-0{n}T00:00:00Z"} for n in (1, 2, 3)
    ]
    _give_sources(mem, id, said)
    with open_app(str(mem.folder), os.environ) as app:
        items = [
            record("memory", f"Pattern number {n}", type="pattern", created="2026-11-20T00:00:00Z")
            for n in range(70)
        ]
        fill(app.store(), items)
    mem("drain")
    assert "Release on Thursdays" in mem("session", "briefing").out
    assert "Release on Thursdays" in Agent(mem.folder, "s1").hook("SessionStart")

    mem("archive", id)
    assert "Release on Thursdays" not in mem("session", "briefing").out
    assert "Release on Thursdays" not in Agent(mem.folder, "s2").hook("SessionStart")
