"""What fades is shown and hidden: show, list, search, summary, briefing, start and prompt."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from gitmem.app import open_app
from gitmem.repo.location import COMMITS
from tests.cli.conftest import DAY, SHARED, Mem
from tests.conftest import git
from tests.hooks.conftest import Agent
from tests.lifecycle.memories import work

HOUR = 3600


def test_hours_without_work_do_not_count(mem: Mem) -> None:
    """A fact is as fresh after a holiday as before."""
    id = mem.add("The build takes 5 minutes", ago=90 * DAY)
    shown = mem.show(id)
    assert (shown["effective_score"], shown["decay"]["decay_hours"]) == (5.0, 0.0)


def test_a_fact_loses_half_in_its_half_life(mem: Mem) -> None:
    """Of the hours in which the repository was worked in."""
    id = mem.add("The build takes 5 minutes", ago=90 * DAY)
    work(mem.folder, 138)
    shown = mem.show(id)

    assert (shown["effective_score"], shown["decay"]["decay_hours"]) == (2.5, 138.0)
    assert shown["decay"]["half_life_hours"] == 138.3
    assert shown["decayed"] is True


def test_a_read_starts_it_anew_and_flattens_its_curve(mem: Mem) -> None:
    """It counts as an access, and slows the decay by a thousandth; it confirms nothing."""
    id = mem.add("The build takes 5 minutes", ago=90 * DAY)
    work(mem.folder, 138)
    mem("show", id)
    shown = mem.show(id)

    assert (shown["effective_score"], shown["decay"]["rate"]) == (5.0, 0.996)
    assert "confirmed" not in shown


def test_show_says_what_moves_the_score(mem: Mem) -> None:
    """In a few words: importance, hours and clock, half-life, reads."""
    id = mem.add("The build takes 5 minutes", ago=90 * DAY)
    work(mem.folder, 10)
    first = mem("show", id).out
    assert (
        "Score:        4.76 (importance 5; half-life 138 h, 10 h of work since it was made)\n"
        "Read:         never\n"
    ) in first
    assert "5 (importance 5; half-life 173 h, 0 h of work since it was last read)" in (
        mem("show", id).out
    )
    mem("pin", id)
    assert "Score:        5 (importance 5; does not fade)" in mem("show", id).out


def test_list_hides_what_has_decayed(mem: Mem) -> None:
    """It is found on request, and marked; the same holds of search."""
    mem.add("The build takes 5 minutes", ago=90 * DAY)
    mem.add("The build runs in Docker", "--type", "decision", ago=90 * DAY)
    work(mem.folder, 200)
    mem.add("The build needs Java")

    assert mem.titles() == ["The build needs Java", "The build runs in Docker"]
    assert mem.titles("--decayed") == ["The build takes 5 minutes"]
    assert len(mem.titles("--all")) == 3
    assert "(decayed)" in mem("list", "--all").out
    assert [row["decayed"] for row in mem("list", "--decayed", "--json").json] == [True]
    assert "minutes" not in mem("search", "build").out
    assert "takes 5 minutes (decayed)" in mem("search", "build", "--all").out
    assert "minutes" in mem("search", "build", "--decayed").out
    assert "Docker" not in mem("search", "build", "--decayed").out


def test_a_limit_counts_what_is_shown(mem: Mem) -> None:
    """What is hidden takes no place of the others."""
    for number in range(3):
        mem.add(f"Note {number}", ago=90 * DAY + number)
    mem.add("A decision", "--type", "decision", ago=91 * DAY)
    work(mem.folder, 200)

    assert mem.titles("-n", "1") == ["A decision"]


def test_list_sorts_by_score_over_all_stores(mem: Mem) -> None:
    """The highest first, with the score; facts alone."""
    mem.add("Old and important", "--type", "decision", "--importance", "9", ago=90 * DAY)
    work(mem.folder, 200, time.time() - HOUR)
    mem.add("New", "--private")
    mem.add("New and yours", "--user", "--importance", "6")

    rows = mem("list", "--sort", "score", "--json").json
    assert [(row["title"], row["effective_score"]) for row in rows] == [
        ("New and yours", 6.0),
        ("New", 5.0),
        ("Old and important", 3.29),
    ]
    assert "Old and important (score 3.29)" in mem("list", "--sort", "score").out
    assert len(mem("list", "--sort", "score", "-n", "1").out.splitlines()) == 1


def test_a_fact_of_low_importance_is_listed_when_it_was_just_made(mem: Mem) -> None:
    """An hour of work has to pass before it counts as decayed."""
    mem.add("A detail", "--importance", "1")
    assert mem.titles() == ["A detail"]


def test_views_tell_the_highest_score_first(mem: Mem) -> None:
    """And leave out what has decayed: summary and briefing."""
    mem.add("Use Redis", "--type", "decision", "--importance", "8", ago=90 * DAY)
    mem.add("Port 80 is taken", ago=90 * DAY)
    work(mem.folder, 200, time.time() - HOUR)
    mem.add("Use Postgres", "--type", "decision", "--importance", "5")

    for view in ("page summary", "session briefing"):
        told = mem(*view.split()).out
        assert told.index("Use Postgres") < told.index("Use Redis")
        assert "Port 80" not in told


@pytest.mark.usefixtures("no_code_reading")
def test_agents_are_told_by_score_and_not_what_has_decayed(mem: Mem) -> None:
    """At the start and with a prompt that is about it."""
    mem.add("Use Redis for the session cache", "--type", "decision", "--importance", "7", ago=9e6)
    mem.add("Port 8080 belongs to the billing proxy", "--importance", "7", ago=9e6)
    mem("drain")
    prompt = "which port belongs to the billing proxy?"
    assert "Port 8080" in Agent(mem.folder, "s1").hook("UserPromptSubmit", prompt=prompt)
    assert "Port 8080" in Agent(mem.folder, "s2").hook("SessionStart")

    work(mem.folder, 400, time.time() - HOUR)
    mem.add("Use Postgres for the ledger", "--type", "decision")
    mem("drain")
    assert Agent(mem.folder, "s3").hook("UserPromptSubmit", prompt=prompt) == ""
    told = Agent(mem.folder, "s4").hook("SessionStart")
    assert told.index("Use Postgres") < told.index("Use Redis")
    assert "Port 8080" not in told


def test_hours_are_of_the_repository_not_of_a_reader(clones: tuple[Mem, Mem]) -> None:
    """Each clone writes its own file, with another write, a day later; both count for both."""
    one, two = clones
    start = time.time() - 40 * DAY
    id = one.add("The build takes 5 minutes", ago=40 * DAY)
    one("sync")
    two("sync")
    work(one.folder, 30, start + 2 * DAY)
    work(two.folder, 30, start + 10 * DAY)
    for mine in clones:
        mine.add("Something else")
        mine("sync")
    for mine in clones:
        mine("sync")

    files = git(one.folder, "ls-tree", "-r", "--name-only", SHARED, "usage/").splitlines()
    assert len([path for path in files if path.endswith("/hours")]) == 2
    shown = [mine.show(id) for mine in clones]
    assert [row["decay"]["decay_hours"] for row in shown] == [61.0, 61.0]  # with this one
    assert shown[0]["effective_score"] == shown[1]["effective_score"] == 3.68


def test_hours_of_today_wait_for_tomorrow(mem: Mem) -> None:
    """A day is written once, when it is over."""
    mem.add("One", ago=3 * DAY)
    mem.add("Two", ago=2 * DAY)
    found = git(mem.folder, "ls-tree", "-r", "--name-only", SHARED, "usage/").split()
    assert [path for path in found if path.endswith("hours")]
    path = next(path for path in found if path.endswith("hours"))
    lines = git(mem.folder, "show", f"{SHARED}:{path}").splitlines()
    assert [len(line) for line in lines] == [17]
    assert lines[0][:10] == time.strftime("%Y-%m-%d", time.gmtime(time.time() - 3 * DAY))


def test_what_a_person_types_is_work(mem: Mem) -> None:
    """Each command that writes marks its hour; so an old fact of a busy repository fades."""
    id = mem.add("The build takes 5 minutes", ago=10 * HOUR)
    for hours in range(9, 0, -1):
        mem.add(f"Note {hours}", ago=hours * HOUR)

    assert mem.show(id)["decay"]["decay_hours"] == 9.0


@pytest.mark.usefixtures("no_code_reading")
def test_events_of_sessions_are_work(mem: Mem) -> None:
    """Each marks its hour, and needs no drain for that."""
    id = mem.add("The build takes 5 minutes", ago=5 * HOUR)
    Agent(mem.folder, "s1").hook("UserPromptSubmit", prompt="hello")

    assert mem.show(id)["decay"]["decay_hours"] == 1.0


def test_commits_that_the_hook_noted_are_work(mem: Mem) -> None:
    """By the time of the commit, whenever the background reads it."""
    id = mem.add("The build takes 5 minutes", ago=9 * HOUR)
    at = f"{int(time.time()) - 4 * HOUR} +0000"
    tree, parent = git(mem.folder, "rev-parse", "HEAD^{tree}", "HEAD").split()
    early = subprocess.run(
        ["git", "-C", str(mem.folder), "commit-tree", tree, "-p", parent, "-m", "Early"],
        env={**os.environ, **dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), at)}
        | dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "A")
        | dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "a@example.org"),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    notes = Path(git(mem.folder, "rev-parse", "--absolute-git-dir")) / "gitmem" / COMMITS
    notes.write_text(f"{early} - person a@example.org\n")
    mem("drain")

    assert mem.show(id)["decay"]["decay_hours"] == 1.0


def test_copies_of_a_clone_join_their_hours(clones: tuple[Mem, Mem]) -> None:
    """Two that write the same file lose none: a copied folder has the same replica."""
    one, two = clones
    id = one.add("The build takes 5 minutes", ago=40 * DAY)
    one("sync")
    two("sync")
    folders = [Path(git(mine.folder, "rev-parse", "--absolute-git-dir")) for mine in clones]
    with open_app(str(one.folder), os.environ) as app:
        app.replica()
    name = (folders[0] / "gitmem" / "replica").read_bytes()
    (folders[1] / "gitmem" / "replica").write_bytes(name)
    work(one.folder, 5, time.time() - 20 * DAY)
    work(two.folder, 7, time.time() - 10 * DAY)
    for mine in (*clones, *clones):
        mine.add("Something else", ago=DAY if mine is one else 0)
        mine("sync")
    files = git(one.folder, "ls-tree", "-r", "--name-only", SHARED, "usage/").splitlines()
    (path,) = [path for path in files if path.endswith("/hours")]
    lines = git(one.folder, "show", f"{SHARED}:{path}").splitlines()

    assert sum(int(line[11:], 16).bit_count() for line in lines) >= 12
    assert one.show(id)["decay"]["decay_hours"] == two.show(id)["decay"]["decay_hours"]
