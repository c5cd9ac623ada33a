"""What a session taught: its digest, the summary, the inbox; told to the next session."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.hooks.conftest import Agent, run, wait_for
from tests.json_output import data_of

DECISION = "use PostgreSQL for the orders service"
SAID = f"I looked at both. DECISION: {DECISION}, because it has SERIALIZABLE isolation.\n\nWe still need to load-test the checkout endpoint."


def digest_of(path: Path, session: str) -> dict[str, Any]:
    """Return a session's digest, empty when there is none."""
    found = [
        r
        for r in data_of(run(path, "list", "--kind", "summary", "--json"))
        if r.get("session") == session and r["store"] == "private"
    ]
    return data_of(run(path, "show", found[0]["id"], "--json"))[0] if found else {}


def entries(path: Path, *args: str) -> list[dict[str, Any]]:
    """Return the entries of the summary."""
    return [
        e
        for part in data_of(run(path, "summary", "show", *args, "--json"))["sections"].values()
        for e in part
    ]


def inbox(path: Path) -> list[dict[str, Any]]:
    """Return what waits."""
    return list(data_of(run(path, "inbox", "--json")))


def decide(one: Agent, said: str = SAID) -> None:
    """Let a session decide something, without an end."""
    one.hook("SessionStart")
    one.hook("UserPromptSubmit", prompt="Choose a database for the orders service")
    one.hook("Stop", last_assistant_message=said, transcript_path="")


def ended(one: Agent, path: Path, **fields: Any) -> dict[str, Any]:
    """End a session; return its digest."""
    one.hook("SessionEnd", **fields)
    return dict(wait_for(lambda: digest_of(path, one.session)))


def test_a_decision_is_in_the_digest_the_summary_and_the_inbox(project: Path, agent):
    one = agent()
    decide(one)
    found = ended(one, project)
    assert found["by"] == "offline"
    texts = [e["text"] for e in found["sections"]["key_decisions"]]
    assert any(DECISION.casefold() in text.casefold() for text in texts)
    (decision,) = wait_for(lambda: entries(project, "--kind", "decision"))
    assert (decision["session"], DECISION.casefold() in decision["text"].casefold()) == ("s1", True)
    assert any("load-test" in e["text"].casefold() for e in entries(project, "--kind", "task"))
    waiting = wait_for(lambda: inbox(project))
    proposal = next(row for row in waiting if row["type"] == "decision")
    assert (
        proposal["origin"],
        proposal["store"],
        proposal["tags"],
        proposal.get("confirmed", False),
    ) == (
        "extracted",
        "private",
        ["proposed"],
        False,
    )
    body = data_of(run(project, "show", proposal["id"], "--json"))[0]["body"]
    assert "Evidence: said by the agent in the history of session s1" in body
    assert (
        git(project, "log", "--format=%s", "refs/gitmem/heads/main", "--", ok=(0, 128)).count(
            "proposal"
        )
        == 0
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
    assert wait_for(
        lambda: [e for e in entries(project, "--kind", "decision") if e["session"] == "s2"]
    )
    assert inbox(project) == []


def test_what_is_known_is_not_proposed_again(project: Path, agent):
    run(project, "add", "Use PostgreSQL for the orders service", "--type", "decision")
    decide(agent())
    ended(agent(), project)
    wait_for(lambda: entries(project))
    run(project, "status")
    assert [row for row in inbox(project) if row["type"] == "decision"] == []


def test_a_session_that_is_resumed_has_one_digest_and_says_nothing_twice(project: Path, agent):
    one = agent()
    decide(one)
    ended(one, project)
    before = entries(project)
    one.hook("SessionStart", source="resume")
    one.hook("UserPromptSubmit", prompt="And who writes the migration?")
    one.hook(
        "Stop",
        last_assistant_message="The platform team does. TODO: ask them for a date.",
        transcript_path="",
    )
    one.hook("SessionEnd")
    wait_for(lambda: "2 prompts" in digest_of(project, "s1").get("body", ""))
    after = wait_for(lambda: found if len(found := entries(project)) > len(before) else None)
    assert len({e["id"] for e in after}) == len(after)
    assert [e for e in after if e["kind"] == "decision"] == [
        e for e in before if e["kind"] == "decision"
    ]


@pytest.mark.parametrize(
    ("key", "value", "without"),
    [
        ("gitmem.digest", "off", "digest"),
        ("gitmem.summary", "off", "summary"),
        ("gitmem.propose", "false", "inbox"),
    ],
)
def test_each_of_the_three_can_be_turned_off(
    project: Path, agent, key: str, value: str, without: str
):
    git(project, "config", key, value)
    decide(agent())
    agent().hook("SessionEnd")
    there = {
        "digest": lambda: digest_of(project, "s1"),
        "summary": lambda: entries(project),
        "inbox": lambda: inbox(project),
    }
    for name, look in there.items():
        if name != without:
            wait_for(look)
    assert not there[without]()


def test_the_summary_is_private_where_the_setting_says_so(project: Path, agent):
    git(project, "config", "gitmem.summary", "private")
    decide(agent())
    ended(agent(), project)
    wait_for(lambda: entries(project))
    assert data_of(run(project, "summary", "--json"))["store"] == "private"
    assert DECISION not in git(project, "log", "-p", "refs/gitmem/heads/main", "--", ok=(0, 128))


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
    found = wait_for(lambda: digest_of(project, "s1"))
    assert "It goes on." in found["body"]
    assert wait_for(lambda: entries(project, "--kind", "decision"))


def test_marks_and_notes_reach_the_digest(project: Path, agent):
    one = agent()
    decide(one, "All good.")
    run(project, "session", "note", "--session", "s1", "Never deploy the billing job on Fridays")
    ended(one, project)
    assert "billing job on Fridays" in json.dumps(digest_of(project, "s1"))


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
    assert "Redis streams" in json.dumps(found["sections"]["key_decisions"])
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
    wait_for(lambda: entries(project))
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
    assert "Orders live in PostgreSQL" in json.dumps(found["sections"]["key_decisions"])


def test_a_model_that_fails_costs_nothing(project: Path, agent):
    git(project, "config", "--global", "gitmem.summariser", "command")
    git(project, "config", "--global", "gitmem.modelCommand", "false")
    decide(agent())
    found = ended(agent(), project)
    assert found["by"] == "offline"
    assert "Read offline: " in found["body"]
    assert any(
        DECISION.casefold() in e["text"].casefold() for e in entries(project, "--kind", "decision")
    )


def proposal(path: Path, kind: str) -> dict[str, Any]:
    """Return the one proposal of a kind that waits."""
    return dict(
        wait_for(lambda: next((row for row in inbox(path) if row.get("type") == kind), None))
    )


def test_what_is_rejected_leaves_the_summary_and_is_not_told(project: Path, agent):
    decide(agent())
    ended(agent(), project)
    said = run(
        project, "inbox", "--reject", proposal(project, "decision")["id"], "--reason", "wrong"
    )
    assert "taken out of the summary" in said
    assert entries(project, "--kind", "decision") == []
    assert "PostgreSQL" not in agent("s2").hook("SessionStart")
    run(project, "summary", "update")
    assert entries(project, "--kind", "decision") == []


def test_what_is_reworded_and_accepted_is_told_once(project: Path, agent):
    decide(agent())
    ended(agent(), project)
    id = proposal(project, "decision")["id"]
    run(project, "edit", id, "--title", "Orders are kept in PostgreSQL 16")
    run(project, "inbox", "--accept", id)
    assert [e["text"] for e in entries(project, "--kind", "decision")] == [
        "Orders are kept in PostgreSQL 16"
    ]
    told = agent("s2").hook("SessionStart")
    assert told.count("PostgreSQL 16") == 1
    assert DECISION.casefold() not in told.casefold()


@pytest.mark.parametrize("accepted", [False, True])
def test_a_task_that_a_later_session_has_done_is_open_no_more(project: Path, agent, accepted: bool):
    decide(agent())
    ended(agent(), project)
    task = proposal(project, "task")
    if accepted:
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
    wait_for(
        lambda: (
            not [
                r
                for r in data_of(run(project, "list", "--type", "task", "--json"))
                if r["status"] == "active"
            ]
        )
    )  # put aside last
    assert "[task" not in agent("s3").hook("SessionStart")


def test_a_proposed_decision_that_is_overruled_makes_room_for_the_new_one(project: Path, agent):
    decide(agent(), "DECISION: use MySQL for the orders store.")
    ended(agent(), project)
    assert "MySQL" in proposal(project, "decision")["title"]
    two = agent("s2")
    decide(two, "DECISION: use PostgreSQL for the orders store.")
    ended(two, project)
    wait_for(lambda: ["PostgreSQL" in row["title"] for row in inbox(project)] == [True])
    assert [e["text"] for e in entries(project, "--kind", "decision")] == [
        "Use PostgreSQL for the orders store."
    ]


def test_accepting_what_overrules_puts_the_older_decision_aside(project: Path, agent):
    old = data_of(
        run(project, "add", "Use MySQL for the orders store", "--type", "decision", "--json")
    )["id"]
    run(project, "edit", old, "--importance", "8")
    decide(agent(), "DECISION: use PostgreSQL for the orders store.")
    ended(agent(), project)
    run(project, "inbox", "--accept", proposal(project, "decision")["id"])
    assert data_of(run(project, "show", old, "--json"))[0]["status"] in {"archived", "active"}


def test_a_note_stays_with_its_session(project: Path, agent):
    one = agent()
    decide(one, "All good.")
    run(project, "session", "note", "--session", "s1", "halfway through the billing job")
    found = ended(one, project)
    assert "halfway" in json.dumps(found["sections"]).casefold()
    run(project, "status")
    assert "halfway" not in json.dumps(entries(project)).casefold()
