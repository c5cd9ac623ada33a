"""`git mem session briefing`: what is told, and within which budget."""

import time
from pathlib import Path

import pytest

from tests.cli.conftest import DAY, Mem, on_terminal, spawn
from tests.conftest import git
from tests.fact_samples import fact, session_record, shared_facts


def lines(mem: Mem, *args: str) -> list[str]:
    """Return the lines of a briefing."""
    return mem("session", "briefing", *args).out.splitlines()


def section(some: list[str], title: str) -> list[str]:
    """Return the lines of one section."""
    start = some.index(f"## {title}") + 1
    end = next((at for at in range(start, len(some)) if some[at].startswith("## ")), len(some))
    return [line for line in some[start:end] if line]


def test_records_are_told_in_their_sections(mem: Mem) -> None:
    """Each record is where a reader looks for it, with its date, its id and its reason."""
    decision = mem.add(
        "Use SERIALIZABLE for payments",
        "-t",
        "decision",
        "-m",
        "Two runs lost updates.\n\nMore about it.",
    )
    mem.add("Small commits", "-t", "pattern")
    mem.add(
        "Rate must be set",
        "-k",
        "gotcha",
        "--severity",
        "critical",
        "--workaround",
        "export TAX_RATE=1",
        "--anchor",
        "code.py",
    )
    mem.add("Write the docs", "-t", "task")
    mem.add("Answers in Portuguese", "-t", "preference")
    pinned = mem.add("The API is frozen")
    mem("pin", pinned)
    told = lines(mem)
    day = mem("show", decision, "--json").json[0]["created"][:10]
    assert section(told, "Key decisions") == [
        f"- Use SERIALIZABLE for payments ({day}; {decision[-8:]})",
        "  Two runs lost updates.",
    ]
    assert "- [pinned] The API is frozen" in section(told, "Architecture and state")[1]
    assert section(told, "Recent errors")[0].startswith("- [critical] Rate must be set (code.py; ")
    assert section(told, "Recent errors")[1] == "  Fix: export TAX_RATE=1"
    assert section(told, "Progress")[0].startswith("- [ ] Write the docs")
    assert "Answers in Portuguese" in section(told, "Context")[0]
    assert "Small commits" in section(told, "Active patterns")[0]


def test_facts_are_told_once_each(mem: Mem) -> None:
    """What two facts say in other words is told once."""
    mem.add("Use SERIALIZABLE for payments", "-t", "decision")
    shared_facts(
        mem.folder,
        fact("decision", "use serializable for payments!"),
        fact("decision", "Money is in cents", detail="Floats lose some"),
        fact("task", "Port the tests"),
        fact("error", "Deadlock in pay()", detail="Lock by id"),
        fact("pattern", "A service a use case"),
        fact("preference", "No mocks"),
        fact("done", "Moved to SQLite", time.time()),
        fact("done", "Forgotten long ago", time.time() - 9 * DAY),
    )
    session_record(
        mem.folder,
        "s1",
        "Make the rate configurable",
        fact("task", "Write the changelog"),
        at=time.time(),
    )
    told = lines(mem)
    text = "\n".join(told)
    assert text.lower().count("use serializable for payments") == 1
    (cents, why) = [
        line for line in section(told, "Key decisions") if "cents" in line or "Floats" in line
    ]
    assert cents.startswith("- Money is in cents (2026-09-21; by Ada (ada@example.org); ")
    assert why == "  Floats lose some"
    progress = "\n".join(section(told, "Progress"))
    for part in (
        "- [ ] Port the tests",
        "- [ ] Write the changelog",
        "- [x] Moved to SQLite",
        "Session: Make the rate configurable",
    ):
        assert part in progress
    assert "Forgotten long ago" not in text
    assert "  Fix: Lock by id" in section(told, "Recent errors")
    assert "A service a use case" in "\n".join(section(told, "Active patterns"))
    assert "No mocks" in "\n".join(section(told, "Context"))


def test_what_was_forgotten_does_not_come_back(mem: Mem) -> None:
    """The record of a session still names it, by its id."""
    mem.add("Ship it", "-t", "task")
    gone = mem.add("Port the tests", "-t", "task")
    session_record(mem.folder, "s1", "Work", at=time.time(), facts=[{"id": gone, "what": "made"}])
    mem("forget", gone)
    text = mem("session", "briefing").out
    assert "Ship it" in text
    assert "Port the tests" not in text


def test_what_has_expired_or_a_successor_is_left_out(mem: Mem) -> None:
    """A day holds until its end; a successor that nobody confirmed takes no place of a confirmed one."""
    record = mem.show(mem.add("Use SQLite", "-t", "decision"))
    shared_facts(
        mem.folder,
        fact("decision", "Freeze until Monday", expires="2020-01-06"),
        fact("decision", "Freeze until the year 3000", expires="3000-01-01"),
    )
    mem("supersede", record["id"], "Use DuckDB", env={"CLAUDECODE": "1"})
    text = mem("session", "briefing").out
    assert ("until Monday" in text, "year 3000" in text) == (False, True)
    assert ("Use SQLite" in text, "Use DuckDB" in text) == (True, True)


@pytest.mark.parametrize("budget", ["12", "30", "60", "200t", "900t"])
def test_budgets_are_kept_and_what_is_left_out_is_counted(mem: Mem, budget: str) -> None:
    """By lines and by tokens; the pinned decision and the newest one stay."""
    for number in range(14):
        mem.add(
            f"Decision {number} about payments",
            "-t",
            "decision",
            "-m",
            "For a reason.",
            ago=(20 - number) * DAY,
        )
    mem("pin", mem.add("Pinned of old", "-t", "decision", ago=90 * DAY))
    told = lines(mem, "--budget", budget)
    if budget.endswith("t"):
        assert len("\n".join(told)) / 4 <= int(budget[:-1])
    else:
        assert len(told) <= int(budget)
    text = "\n".join(told)
    assert "Pinned of old" in text
    assert "Decision 13 " in text
    assert " more: git mem list -t decision -t rule" in text


def test_what_is_left_out_is_shown_by_the_command_that_is_named(mem: Mem) -> None:
    """Of each section, whatever type it has there."""
    types = ("decision", "rule", "pattern", "bug", "error", "task", "done", "preference")
    types += ("context", "fact", "insight")
    now = time.time()
    made = [fact(what, f"The {what} {n}", now - n) for what in types for n in range(3)]
    shown = {record.id for record in shared_facts(mem.folder, *made)}
    shown |= {session_record(mem.folder, f"s{n}", f"Work {n}", at=now).id for n in range(3)}
    short = mem("session", "briefing", "--json", "--budget", "24").json["parts"]
    every = mem("session", "briefing", "--json", "--budget", "1000").json["parts"]
    assert {one["id"] for part in every for one in part["entries"]} >= shown
    for few, all_of_it in zip(short, every, strict=True):
        commands = few["more_command"].split("; ")
        told = "".join(mem(*command.split()[2:]).out for command in commands)
        ids = {str(one["id"]) for one in all_of_it["entries"]} & shown
        assert {id for id in ids if id[-8:] not in told} == set()
        assert few["more_count"] + len(few["entries"]) == len(all_of_it["entries"])


def test_the_same_store_gives_the_same_bytes(mem: Mem) -> None:
    """All day long: nothing in it is an age."""
    for kind in ("decision", "pattern", "task", "fact"):
        for number in range(4):
            mem.add(f"The {kind} {number}", "-t", kind, ago=number * DAY)
    noon = time.time() // DAY * DAY - DAY / 2
    early, late = (
        mem("session", "briefing", ago=time.time() - at).out for at in (noon - 40000, noon + 40000)
    )
    assert early == late
    assert mem("session", "briefing").out == spawn(mem.folder, "session", "briefing").out


def test_json_has_what_the_text_has(mem: Mem) -> None:
    """Sections with their entries as values."""
    mem.add("Use SERIALIZABLE <b>", "-t", "decision", "-m", "Because.")
    found = mem("session", "briefing", "--json", "--budget", "60").json
    assert (found["budget"], found["unit"]) == (60, "lines")
    assert found["used"] == len(lines(mem, "--budget", "60"))
    (one,) = next(part for part in found["parts"] if part["name"] == "decisions")["entries"]
    assert (one["text"], one["detail"], one["kind"]) == (
        "Use SERIALIZABLE <b>",
        "Because.",
        "decision",
    )


def test_an_agent_sees_its_own(mem: Mem) -> None:
    """What is global, and its namespace; `all` shows every one."""
    mem.add("For QA alone", "-t", "decision", "--agent", "qa")
    assert "For QA alone" not in mem("session", "briefing").out
    assert "For QA alone" in mem("session", "briefing", "--agent", "qa").out
    assert "For QA alone" in mem("session", "briefing", "--agent", "all").out


def test_plans_and_epics_of_the_project_are_told(mem: Mem) -> None:
    """plan.md with its counts and open tasks; not when the project does not want it stored."""
    (mem.folder / "plan.md").write_text("# Plan\nPhase: build\n\n- [x] Parse\n- [ ] Print\n")
    told = lines(mem)
    assert "- plan.md: phase build, 1 of 2 tasks done" in section(told, "Architecture and state")
    assert "- [ ] Print (plan.md)" in section(told, "Progress")
    (mem.folder / ".gitmemignore").write_text("plan.md\n")
    assert "plan.md" not in mem("session", "briefing").out


@pytest.mark.parametrize(
    "args",
    [
        ["--budget", "ten"],
        ["--budget", "-5"],
        ["--budget", "3"],
        ["--budget", "20t"],
        ["--tokens", "3"],
        ["--budget", "60", "--tokens", "900"],
        ["more"],
    ],
)
def test_wrong_arguments_are_usage_errors(mem: Mem, args: list[str]) -> None:
    """They say what would be right."""
    assert mem("session", "briefing", *args, code=2).err


def test_odd_repositories(mem: Mem, tmp_path: Path) -> None:
    """None, bare, empty, detached, a linked work tree, an odd name."""
    mem.add("Use SERIALIZABLE", "-t", "decision")
    assert "not in a git repository" in mem.at(tmp_path)("session", "briefing", code=1).err
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    bare = mem.at(tmp_path / "bare.git")
    assert bare("session", "briefing").out.startswith("# Briefing: bare\n")
    git(tmp_path, "init", "-q", "new\n✓")
    empty = mem.at(tmp_path / "new\n✓")("session", "briefing")
    assert empty.out.startswith("# Briefing: new ✓\n")
    git(mem.folder, "worktree", "add", "-q", "--detach", str(tmp_path / "tree"))
    told = mem.at(tmp_path / "tree")("session", "briefing").out
    assert f"Detached at {git(mem.folder, 'rev-parse', 'HEAD')[:10]}; nothing changed" in told
    assert "SERIALIZABLE" in told


def test_on_a_terminal_headings_are_bold(mem: Mem) -> None:
    """Colours on a terminal only."""
    assert "\033" not in mem("session", "briefing").out
    assert "\033[1m# Briefing" in on_terminal(mem.folder, "--no-pager", "session", "briefing")
