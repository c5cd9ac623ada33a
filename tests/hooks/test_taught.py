"""What a session taught: its record, the inbox, the summary; told to the next session."""

import json
from pathlib import Path
from typing import Any

import pytest

from gitmem.store import operations
from gitmem.store.store import Message
from tests.conftest import CLOCK, git, new_store, record
from tests.hooks.conftest import Agent, run, wait_for
from tests.json_output import data_of

DECISION = "use PostgreSQL for the orders service"
SAID = f"I looked at both. DECISION: {DECISION}, because it has SERIALIZABLE isolation.\n\nWe still need to load-test the checkout endpoint."


def record_of(path: Path, session: str) -> dict[str, Any]:
    """Return a session's record, empty when there is none."""
    found = [
        r
        for r in data_of(run(path, "list", "--kind", "session", "--json"))
        if r.get("session") == session and r["store"] == "private"
    ]
    return data_of(run(path, "show", found[0]["id"], "--json"))[0] if found else {}


def facts(path: Path, section: str = "key_decisions") -> list[dict[str, Any]]:
    """Return the facts of a section of the summary."""
    (part,) = data_of(run(path, "page", "summary", "--section", section, "--json"))["sections"]
    return list(part["records"])


def inbox(path: Path) -> list[dict[str, Any]]:
    """Return what waits."""
    return list(data_of(run(path, "inbox", "--json")))


def decide(one: Agent, said: str = SAID) -> None:
    """Let a session decide something, without an end."""
    one.hook("SessionStart")
    one.hook("UserPromptSubmit", prompt="Choose a database for the orders service")
    one.hook("Stop", last_assistant_message=said, transcript_path="")


def ended(one: Agent, path: Path, **fields: Any) -> dict[str, Any]:
    """End a session; return its record."""
    one.hook("SessionEnd", **fields)
    return dict(wait_for(lambda: record_of(path, one.session)))


def test_a_decision_is_one_fact_in_the_inbox_and_the_summary(project: Path, agent):
    one = agent()
    decide(one)
    found = ended(one, project)
    assert found["by"] == "offline"
    (proposal,) = [row for row in inbox(project) if row["type"] == "decision"]
    assert DECISION.casefold() in proposal["title"].casefold()
    assert (proposal["origin"], proposal["store"], proposal["tags"], proposal["unconfirmed"]) == (
        "extracted",
        "private",
        ["proposed"],
        True,
    )
    assert [fact["id"] for fact in facts(project)] == [proposal["id"]]
    assert any("load-test" in fact["title"] for fact in facts(project, "pending_tasks"))
    # the record of the session names the fact, and says none of its words
    named = {fact["id"]: fact for fact in found["facts"]}
    assert (named[proposal["id"]]["what"], named[proposal["id"]]["role"]) == ("made", "agent")
    assert "PostgreSQL" not in found["title"] + json.dumps(found["facts"])
    (source,) = data_of(run(project, "show", proposal["id"], "--json"))[0]["sources"]
    assert (source["session"], source["role"]) == ("s1", "agent")
    assert "Evidence: said by the agent in the history of session s1" in run(project, "inbox")
    # one commit, and nothing of it is shared
    log = git(project, "log", "--format=%s", "refs/gitmem/local/main").splitlines()
    assert [line for line in log if line.startswith(("session", "inbox"))] == [
        f"session: {found['title']}"
    ]
    assert "PostgreSQL" not in git(
        project, "log", "-p", "refs/gitmem/heads/main", "--", ok=(0, 128)
    )


def test_what_is_accepted_is_everybodys_and_what_is_rejected_stays_away(project: Path, agent):
    decide(agent())
    ended(agent(), project)
    waiting = wait_for(lambda: inbox(project))
    decision = next(row for row in waiting if row["type"] == "decision")
    run(project, "inbox", "--accept", decision["id"])
    for row in waiting:
        if row["id"] != decision["id"]:
            run(project, "inbox", "--reject", row["id"])
    shown = data_of(run(project, "show", decision["id"], "--json"))[0]
    assert (shown["store"], bool(shown["confirmed"]), shown.get("tags", [])) == ("shared", True, [])
    assert (
        len([r for r in data_of(run(project, "list", "--json")) if r["id"] == decision["id"]]) == 1
    )
    again = agent("s2")
    decide(again)
    ended(again, project)
    assert inbox(project) == []
    assert [fact["id"] for fact in facts(project)] == [decision["id"]]
    # the agent says again what it was told: that is no other source
    assert "facts" not in record_of(project, "s2")
    three = agent("s3")
    three.hook("SessionStart")
    three.hook("UserPromptSubmit", prompt=f"DECISION: {DECISION}")
    ended(three, project)
    (seen,) = record_of(project, "s3")["facts"]
    assert (seen["id"], seen["what"], seen["role"]) == (decision["id"], "seen", "user")


def test_what_is_known_is_not_proposed_again(project: Path, agent):
    run(project, "add", "Use PostgreSQL for the orders service", "--type", "decision")
    decide(agent())
    ended(agent(), project)
    assert [row for row in inbox(project) if row["type"] == "decision"] == []
    assert len(facts(project)) == 1


def test_a_session_that_is_resumed_has_one_record_and_says_nothing_twice(project: Path, agent):
    one = agent()
    decide(one)
    ended(one, project)
    before = facts(project)
    one.hook("SessionStart", source="resume")
    one.hook("UserPromptSubmit", prompt="And who writes the migration?")
    one.hook(
        "Stop",
        last_assistant_message="The platform team does. TODO: ask them for a date.",
        transcript_path="",
    )
    one.hook("SessionEnd")
    wait_for(lambda: "2 prompts" in record_of(project, "s1").get("body", ""))
    assert facts(project) == before
    assert any("date" in fact["title"] for fact in facts(project, "pending_tasks"))
    made = [one["id"] for one in record_of(project, "s1")["facts"] if one["what"] == "made"]
    assert len(set(made)) == len(made) == 3


@pytest.mark.parametrize(
    ("key", "value", "without"),
    [
        ("gitmem.recordSessions", "false", "record"),
        ("gitmem.propose", "false", "inbox"),
    ],
)
def test_each_of_the_two_can_be_turned_off(
    project: Path, agent, key: str, value: str, without: str
):
    git(project, "config", key, value)
    decide(agent())
    agent().hook("SessionEnd")
    there = {
        "record": lambda: record_of(project, "s1"),
        "inbox": lambda: inbox(project),
    }
    for name, look in there.items():
        if name != without:
            wait_for(look)
    assert not there[without]()


def test_a_published_record_has_no_quotes(project: Path, agent):
    """Others see which files and commits; the owner's record has what was said, and comes first."""
    git(project, "config", "gitmem.shareSessions", "true")
    decide(agent())
    agent().hook("SessionEnd")

    def log() -> str:
        return git(project, "log", "-p", "refs/gitmem/heads/main", "--", ok=(0, 128))

    text = wait_for(lambda: log() if "Session of" in log() else "")
    assert "Choose a database" not in text
    assert "PostgreSQL" not in text
    assert "facts:" not in text and "topics:" not in text
    # the owner's record is written after what others get
    wait_for(
        lambda: (
            [row["store"] for row in data_of(run(project, "list", "-k", "session", "--json"))]
            == ["private"]
        )
    )
    assert "Choose a database" in record_of(project, "s1")["body"]


def test_before_a_compaction_what_was_said_so_far_is_kept(project: Path, agent):
    one = agent()
    decide(one)
    one.hook("PreCompact") if (
        Path(__file__).parent / "samples/claude/PreCompact.json"
    ).exists() else one.raw(
        json.dumps(
            {
                "session_id": "s1",
                "cwd": str(project),
                "hook_event_name": "PreCompact",
                "trigger": "auto",
                "transcript_path": "",
            }
        ).encode()
    )
    found = wait_for(lambda: record_of(project, "s1"))
    assert "It goes on." in found["body"]
    assert facts(project)


def test_a_mark_becomes_a_fact_and_a_note_does_not(project: Path, agent):
    """A mark that looks like no decision is kept too; a note is of this session alone."""
    one = agent()
    decide(one, "All good.")
    run(project, "session", "mark", "--session", "s1", "the billing job and Fridays do not mix")
    run(project, "session", "note", "--session", "s1", "halfway through the billing job")
    ended(one, project)
    assert [row["title"] for row in inbox(project)] == ["The billing job and Fridays do not mix"]


def test_the_transcript_is_read_where_there_is_one(project: Path, agent, tmp_path: Path):
    path = tmp_path / "transcript.jsonl"
    rows = [
        {
            "type": "user",
            "message": {"role": "user", "content": "Choose a queue"},
            "uuid": "1",
            "timestamp": "2026-11-21T10:00:00.000Z",
        },
        {
            "type": "assistant",
            "message": {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "DECISION: use Redis streams for the job queue."}
                ],
                "usage": {"input_tokens": 100, "output_tokens": 20},
            },
            "uuid": "2",
            "timestamp": "2026-11-21T10:01:00.000Z",
        },
        {
            "type": "assistant",
            "message": {
                "role": "assistant",
                "content": [{"type": "text", "text": "Done."}],
                "usage": {"input_tokens": 100, "output_tokens": 20},
            },
            "uuid": "3",
            "timestamp": "2026-11-21T10:02:00.000Z",
        },
    ]
    # it is still being written
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"type": "assist')
    one = agent()
    one.hook("SessionStart", transcript_path=str(path))
    one.hook("UserPromptSubmit", prompt="Choose a queue", transcript_path=str(path))
    one.hook("Stop", last_assistant_message="Done.", transcript_path=str(path))
    found = ended(one, project, transcript_path=str(path))
    assert "Redis streams" in json.dumps(facts(project))
    assert found["tokens"] == 240


def test_private_parts_and_secrets_of_a_transcript_are_not_kept(
    project: Path, agent, tmp_path: Path
):
    path = tmp_path / "transcript.jsonl"
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    texts = [
        "DECISION: <private>sell to Initech</private> use Redis streams for the queue.",
        f"DECISION: deploy with the key {key} from CI.",
    ]
    rows = [
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "text", "text": t}]},
            "uuid": str(n),
        }
        for n, t in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    one = agent()
    one.hook("SessionStart", transcript_path=str(path))
    one.hook("UserPromptSubmit", prompt="Choose a queue", transcript_path=str(path))
    one.hook("SessionEnd", transcript_path=str(path))
    wait_for(lambda: inbox(project))
    for ref in ("refs/gitmem/heads/main", "refs/gitmem/local/main"):
        text = git(project, "log", "-p", ref, "--", ok=(0, 128))
        assert "Initech" not in text
        assert key not in text


def test_a_model_command_reads_the_session(project: Path, agent, tmp_path: Path):
    program = tmp_path / "model.py"
    answer = {
        "items": [
            {"kind": "decision", "text": "Orders live in PostgreSQL.", "detail": "isolation"}
        ],
        "topics": ["orders"],
    }
    program.write_text(f"import sys\nsys.stdin.read()\nprint({json.dumps(json.dumps(answer))})\n")
    import sys

    git(project, "config", "--global", "gitmem.summariser", "command")
    git(project, "config", "--global", "gitmem.modelCommand", f"{sys.executable} {program}")
    decide(agent())
    found = ended(agent(), project)
    assert found["by"].startswith("command"), found["body"]
    assert "Orders live in PostgreSQL" in json.dumps(facts(project))


def test_a_model_that_fails_costs_nothing(project: Path, agent):
    git(project, "config", "--global", "gitmem.summariser", "command")
    git(project, "config", "--global", "gitmem.modelCommand", "false")
    decide(agent())
    found = ended(agent(), project)
    assert found["by"] == "offline"
    assert "Read offline: " in found["body"]
    assert any(DECISION.casefold() in fact["title"].casefold() for fact in facts(project))


def proposal(path: Path, kind: str) -> dict[str, Any]:
    """Return the one proposal of a kind that waits."""
    return dict(
        wait_for(lambda: next((row for row in inbox(path) if row.get("type") == kind), None))
    )


def test_what_is_rejected_leaves_every_view(project: Path, agent):
    decide(agent())
    ended(agent(), project)
    id = proposal(project, "decision")["id"]
    run(project, "inbox", "--reject", id, "--reason", "wrong")
    assert facts(project) == []
    assert "PostgreSQL" not in agent("s2").hook("SessionStart")
    assert "PostgreSQL" not in run(project, "session", "briefing")
    assert "PostgreSQL" not in run(project, "search", "PostgreSQL")


def test_what_is_reworded_and_accepted_is_told_once(project: Path, agent):
    decide(agent())
    ended(agent(), project)
    id = proposal(project, "decision")["id"]
    run(project, "edit", id, "--title", "Orders are kept in PostgreSQL 16")
    run(project, "inbox", "--accept", id)
    assert [fact["title"] for fact in facts(project)] == ["Orders are kept in PostgreSQL 16"]
    told = agent("s2").hook("SessionStart")
    assert told.count("PostgreSQL 16") == 1
    assert DECISION.casefold() not in told.casefold()


def test_a_task_that_a_later_session_has_done_waits_for_an_answer(project: Path, agent):
    decide(agent())
    ended(agent(), project)
    task = proposal(project, "task")
    run(project, "inbox", "--accept", task["id"])
    two = agent("s2")
    two.hook("SessionStart")
    two.hook("UserPromptSubmit", prompt="Load-test the checkout endpoint")
    two.hook(
        "PostToolUse.Edit",
        tool_input={"file_path": str(project / "app/pay.py"), "old_string": "a", "new_string": "b"},
    )
    two.hook(
        "Stop",
        last_assistant_message="I added the load test of the checkout endpoint.",
        transcript_path="",
    )
    ended(two, project)
    (waiting,) = [row for row in inbox(project) if row["kind"] == "statement"]
    assert (waiting["id"], waiting["session"]) == (task["id"], "s2")
    assert "said to be done in session s2: ask the user" in agent("s3").hook("SessionStart")
    run(project, "inbox", "--accept", task["id"])
    done = data_of(run(project, "show", task["id"], "--json"))[0]
    assert (done["status"], done["completion"]["session"]) == ("archived", "s2")
    assert "[task" not in agent("s4").hook("SessionStart")
    assert "load-test" in run(project, "session", "briefing")  # what was done lately


def test_a_task_that_is_still_open_is_asked_about_once(project: Path, agent):
    run(project, "add", "Load-test the checkout endpoint", "-t", "task")
    decide(agent(), "I added the load test of the checkout endpoint.")
    ended(agent(), project)
    (waiting,) = [row for row in inbox(project) if row["kind"] == "statement"]
    run(project, "inbox", "--reject", waiting["id"])
    assert [row for row in inbox(project) if row["kind"] == "statement"] == []
    assert [fact["title"] for fact in facts(project, "pending_tasks")] == [
        "Load-test the checkout endpoint"
    ]


def test_of_two_proposals_the_later_is_told(project: Path, agent):
    decide(agent(), "DECISION: use MySQL for the orders store.")
    ended(agent(), project)
    two = agent("s2")
    decide(two, "DECISION: use PostgreSQL for the orders store.")
    ended(two, project)
    assert [fact["title"] for fact in facts(project)] == ["Use PostgreSQL for the orders store."]


def test_accepting_what_replaces_a_decision_puts_it_aside(project: Path, agent):
    """Until then both are there: nobody confirmed the new one."""
    old = data_of(
        run(project, "add", "Use MySQL for the orders store", "--type", "decision", "--json")
    )["id"]
    decide(agent(), "DECISION: use PostgreSQL for the orders store.")
    ended(agent(), project)
    assert len(facts(project)) == 2
    run(project, "inbox", "--accept", proposal(project, "decision")["id"])
    assert data_of(run(project, "show", old, "--json"))[0]["status"] == "archived"
    assert [fact["title"] for fact in facts(project)] == ["Use PostgreSQL for the orders store."]
    assert "MySQL" not in agent("s3").hook("SessionStart")


@pytest.mark.parametrize("how", ["expired", "superseded"])
def test_what_does_not_hold_any_more_is_told_by_no_hook(project: Path, agent, how: str):
    """A date that has passed, or a live successor: neither start, prompt nor edit gives the fact."""
    title = "The frobnicator of the orders service runs at midnight"
    (project / "orders.py").write_text("frobnicator = 1\n")
    old = data_of(run(project, "gotcha", "add", title, "--anchor", "orders.py", "--json"))["id"]
    rule = data_of(run(project, "add", f"{title} on UTC", "-t", "rule", "--json"))["id"]
    one = agent()
    asked = "Change when the frobnicator of the orders service runs, in orders.py"
    assert "midnight on UTC" in one.hook("UserPromptSubmit", prompt=asked)

    store = new_store(project)
    for id in (old, rule):
        before = store.get(id).record
        if how == "expired" and before.kind == "memory":
            after = before.change(expires="2020-01-06").touched(CLOCK.stamp())
            todo = [operations.put(after, before)]
        else:
            new = record(before.kind, "It runs at noon", supersedes=[id])
            todo = [operations.put(new)]
        store.write(todo, Message("change", "edit", (id,)))
    store.objects.close()
    run(project, "list")  # the index has all
    two = agent("s2")
    told = [
        two.hook("SessionStart"),
        two.hook("UserPromptSubmit", prompt=asked),
        two.hook("PreToolUse.Edit", tool_input={"file_path": str(project / "orders.py")}),
    ]
    assert "midnight" not in "".join(told)
