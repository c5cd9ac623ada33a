"""Facts that contradict each other are told together, what holds first, until somebody decides."""

import os
from pathlib import Path
from typing import Any

import pytest

from gitmem.app import open_app
from gitmem.base.sharing import sharing_of
from gitmem.repo.location import Home, locate
from gitmem.services.lifecycle import comparison
from gitmem.services.lifecycle.findings import Finding
from gitmem.state import contradictions
from gitmem.state.database import State
from tests.cli.conftest import DAY, Mem
from tests.hooks.conftest import Agent

pytestmark = pytest.mark.usefixtures("no_code_reading")
AGENT = {"CLAUDECODE": "1"}
POSTGRES, MYSQL = "The orders service uses PostgreSQL", "The orders service uses MySQL"
PROMPT = "the orders service: MySQL or PostgreSQL?"


def noted(folder: Path) -> list[tuple[str, str]]:
    """Return the pairs that the background has noted."""
    where = locate(str(folder), os.environ)
    state = State(Home(where.home, shared=sharing_of(where.commondir)))
    try:
        return [pair.ids for pair in contradictions.pairs(state)]
    finally:
        state.close()


@pytest.fixture
def pair(mem: Mem) -> tuple[str, str]:
    """Two facts of a person that contradict each other: the older, the newer."""
    older = mem.add(POSTGRES, "--type", "decision", ago=9 * DAY)
    newer = mem.add(MYSQL, "--type", "decision")
    mem("drain")
    return older, newer


def titles_in(text: str) -> list[str]:
    """Return which of the two a text tells, in its order."""
    places = {text.find(title): title for title in (POSTGRES, MYSQL) if title in text}
    return [places[at] for at in sorted(places)]


def test_the_background_notes_what_changed(mem: Mem, pair: tuple[str, str]) -> None:
    """A pair once; a second drain compares nothing."""
    older, newer = pair
    assert noted(mem.folder) == [(newer, older)]
    mem("drain")
    assert noted(mem.folder) == [(newer, older)]


def test_views_tell_both_marked_what_holds_first(mem: Mem, pair: tuple[str, str]) -> None:
    """Summary, briefing, and what an agent is told at its start and with a prompt."""
    older, newer = pair
    texts = [
        mem("page", "summary").out,
        mem("session", "briefing").out,
        Agent(mem.folder, "s1").hook("SessionStart"),
        Agent(mem.folder, "s2").hook("UserPromptSubmit", prompt=PROMPT),
    ]
    for text in texts:
        assert titles_in(text) == [MYSQL, POSTGRES]
        assert f"contradicts {older[-8:]}" in text
        assert f"contradicts {newer[-8:]}" in text


def test_what_a_person_confirmed_comes_before_what_an_agent_says(mem: Mem) -> None:
    """Although that is newer."""
    mem.add(POSTGRES, "--type", "decision", ago=9 * DAY)
    mem("add", MYSQL, "--type", "decision", env=AGENT)
    mem("drain")

    assert titles_in(mem("page", "summary").out) == [POSTGRES, MYSQL]
    assert titles_in(Agent(mem.folder, "s1").hook("SessionStart")) == [POSTGRES, MYSQL]


def test_the_loser_is_not_told_alone(mem: Mem) -> None:
    """A prompt that only it fits brings the fact that contradicts it along."""
    older = mem.add("The nightly export job runs at 3 am", ago=9 * DAY)
    newer = mem.add("The nightly export job runs at 5 am", ago=60)
    mem("drain")
    assert noted(mem.folder) == [(newer, older)]
    told = Agent(mem.folder, "s1").hook("UserPromptSubmit", prompt=f"look at {older}, please")

    assert told.index(newer[-8:]) < told.index("3 am")


def test_a_budget_without_room_for_the_winner_leaves_out_the_loser(mem: Mem) -> None:
    """Half the truth is told to nobody."""
    older = mem.add("The nightly export job runs at 3 am", ago=9 * DAY)
    mem.add(f"The nightly export job runs at 5 am: {'because of backups ' * 6}", ago=60)
    mem("drain")
    mem("config", "injectBudget", "240")
    told = Agent(mem.folder, "s1").hook("UserPromptSubmit", prompt=f"look at {older}, please")

    assert "3 am" not in told or "5 am" in told


@pytest.mark.parametrize("how", ["newer", "both", "forget", "edit", "archive"])
def test_what_a_person_decides_counts_at_once(mem: Mem, pair: tuple[str, str], how: str) -> None:
    """Before any drain: a decided loser is not told, and no mark is left."""
    older, newer = pair
    if how in {"newer", "both"}:
        mem("check", "--resolve", f"{newer},{older}={how}")
    elif how == "edit":
        mem("edit", older, "--title", "The invoice archive uses PostgreSQL")
    else:
        mem(how, older)
    told = Agent(mem.folder, "s1").hook("SessionStart")

    for text in (mem("page", "summary").out, told):
        assert "contradicts" not in text
        assert MYSQL in text
        assert (POSTGRES in text) == (how == "both")


def test_a_pair_comes_back_when_the_words_change(mem: Mem, pair: tuple[str, str]) -> None:
    """What both hold was said of other words."""
    older, newer = pair
    mem("check", "--resolve", f"{newer},{older}=both")
    mem("drain")
    assert noted(mem.folder) == []
    mem("edit", newer, "--title", "The orders service uses SQLite")
    mem("drain")

    assert noted(mem.folder) == [(newer, older)]
    assert "contradicts" in mem("page", "summary").out


def test_who_does_not_see_the_winner_is_told_the_other_fact(mem: Mem) -> None:
    """A fact of another namespace is nobody else's."""
    mem.add(POSTGRES, "--type", "decision", ago=9 * DAY)
    mem.add(MYSQL, "--type", "decision", "--agent", "qa")
    mem("drain")
    dev = Agent(mem.folder, "s1", {"GITMEM_AGENT": "dev"}).hook("SessionStart")
    qa = Agent(mem.folder, "s2", {"GITMEM_AGENT": "qa"}).hook("SessionStart")

    assert (titles_in(dev), "contradicts" in dev) == ([POSTGRES], False)
    assert titles_in(qa) == [MYSQL, POSTGRES]


def test_gotchas_of_a_file_are_told_in_pairs(mem: Mem) -> None:
    """The edit hook gives the newer first."""
    (mem.folder / "app.py").write_text("PORT = 80\n")
    args = ("-k", "gotcha", "--anchor", "app.py")
    mem.add("The proxy listens on port 8080", *args, ago=9 * DAY)
    mem.add("The proxy listens on port 9090", *args)
    mem("drain")
    tool: dict[str, Any] = {"file_path": str(mem.folder / "app.py")}
    told = Agent(mem.folder, "s1").hook("PreToolUse.Edit", tool_input=tool)

    assert told.index("9090") < told.index("8080")
    assert told.count("contradicts") == 2


def test_json_names_the_ids(mem: Mem, pair: tuple[str, str]) -> None:
    """`contradicts` of a fact in the summary."""
    older, newer = pair
    (part,) = mem("page", "summary", "--section", "key_decisions", "--json").json["sections"]

    assert [row["contradicts"] for row in part["records"]] == [[older], [newer]]


def test_the_summary_shows_a_fact_once(mem: Mem) -> None:
    """What holds stands in its own section, whichever section has the other one."""
    decision = mem.add("Zanzibar keeps the spare keys", "-t", "decision")
    fact = mem.add("Zanzibar keeps no spare keys")
    mem("drain")
    sections = mem("page", "summary", "--json").json["sections"]
    shown = {part["name"]: [row["id"] for row in part["records"]] for part in sections}
    assert shown["key_decisions"] == [decision]
    assert shown["general_context"] == [fact]


@pytest.mark.parametrize("is_compared", [False, True])
def test_a_change_during_a_comparison_is_compared(mem: Mem, is_compared: bool) -> None:
    """A model may take minutes to compare the old words; another process may be done earlier."""
    older = mem.add(POSTGRES, "--type", "decision", ago=9 * DAY)
    newer = mem.add("The invoice archive uses MySQL", "--type", "decision")

    def edit_meanwhile(findings: list[Finding]) -> list[Finding]:
        mem("edit", newer, "--title", MYSQL)
        with open_app(str(mem.folder), os.environ) as other:
            stores = {scope: other.store(scope) for scope in ("shared", "private")}
            comparison.note_changed(other.state, stores)
        if is_compared:
            mem("drain")
        return findings

    with open_app(str(mem.folder), os.environ) as app:
        stores = {scope: app.store(scope) for scope in ("shared", "private")}
        comparison.note_changed(app.state, stores)
        comparison.compare(
            app.state,
            app.indexes(),
            lambda name: app.get(name)[1].record,
            app.clock.stamp(),
            judge=edit_meanwhile,
        )
    if not is_compared:
        mem("drain")
    assert noted(mem.folder) == [(newer, older)]
