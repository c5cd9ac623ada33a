"""What a session read of ignored files is in nothing that it teaches: not in the session record, the summary, the inbox, nor in what a model is asked."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.conftest import git
from tests.hooks.conftest import run, wait_for
from tests.hooks.test_taught import decide, facts, inbox, record_of
from tests.json_output import data_of

WORD = "quicksilver"
AT = "2026-11-21T10:00:00.000Z"


def rows(path: Path) -> str:
    """Return a transcript in which an ignored file is read, printed and spoken of."""

    def row(kind: str, content: Any) -> dict[str, Any]:
        return {
            "type": kind,
            "cwd": str(path),
            "sessionId": "s1",
            "uuid": "u",
            "timestamp": AT,
            "message": {"role": kind, "content": content},
        }

    def use(id: str, tool: str, given: dict[str, Any], output: str) -> list[dict[str, Any]]:
        result = {"type": "tool_result", "tool_use_id": id, "content": output}
        return [
            row("assistant", [{"type": "tool_use", "id": id, "name": tool, "input": given}]),
            row("user", [result]),
        ]

    said = f"DECISION: use PostgreSQL for the orders service.\n\nDECISION: the {WORD} in secret/plan.md is the way to go\n\nTODO: write the {WORD} of secret/plan.md anew"
    every = [
        row("user", "Choose a database for the orders service"),
        *use(
            "t1",
            "Read",
            {"file_path": str(path / "secret/plan.md")},
            f"DECISION: we use {WORD} for all customers",
        ),
        *use(
            "t2",
            "Bash",
            {"command": "cat secret/plan.md"},
            f"DECISION: we use {WORD} for all customers\nTODO: sell {WORD}",
        ),
        row("assistant", [{"type": "text", "text": said}]),
    ]
    return "".join(json.dumps(one) + "\n" for one in every)


def session(project: Path, agent: Any, **env: str) -> None:
    (project / ".gitmemignore").write_text("secret/\n")
    (project / "secret").mkdir()
    (project / "secret/plan.md").write_text(WORD)
    file = Path(os.environ["HOME"]) / "t.jsonl"
    file.write_text(rows(project))
    one = agent(**env)
    decide(one, "Done.")
    one.hook("SessionEnd", transcript_path=str(file))
    wait_for(lambda: facts(project))
    wait_for(lambda: inbox(project))


def test_an_ignored_file_teaches_nothing(project: Path, agent: Any) -> None:
    session(project, agent)
    assert any("PostgreSQL" in fact["title"] for fact in facts(project))
    told = json.dumps([record_of(project, "s1"), facts(project), inbox(project)])
    for word in (WORD, "secret/", "plan.md"):
        assert word not in told
    every = git(project, "log", "-p", "--all")
    assert WORD not in every


def test_a_model_is_not_asked_about_it(project: Path, agent: Any) -> None:
    asked = Path(os.environ["HOME"]) / "asked"
    program = Path(os.environ["HOME"]) / "model.py"
    program.write_text(
        f'import sys\nopen({str(asked)!r}, "a").write(sys.stdin.read())\nprint(\'{{"items": [], "topics": []}}\')\n'
    )
    git(project, "config", "--global", "gitmem.summariser", "command")
    git(project, "config", "--global", "gitmem.modelCommand", f"{sys.executable} {program}")
    (project / ".gitmemignore").write_text("secret/\n")
    file = Path(os.environ["HOME"]) / "t.jsonl"
    file.write_text(rows(project))
    one = agent()
    decide(one, "Done.")
    one.hook("SessionEnd", transcript_path=str(file))
    text = wait_for(lambda: asked.exists() and asked.read_text())
    assert "PostgreSQL" in text
    assert WORD not in text and "secret/" not in text


def test_what_is_saved_by_hand_names_no_ignored_file_and_no_home(project: Path) -> None:
    (project / ".gitmemignore").write_text("secret/\n")
    (project / "secret").mkdir()
    (project / "secret/plan.md").write_text(
        "Decision: use Postgres for the session store\n\nDecision: the rules of secret/other.md hold for all\n"
    )
    outside = Path(os.environ["HOME"]) / "ada" / "notes.md"
    outside.parent.mkdir()
    outside.write_text("Decision: deploy with the pipeline on Mondays\n")
    run(project, "extract", str(project / "secret/plan.md"), str(outside), "--save")
    shown = [data_of(run(project, "show", row["id"], "--json"))[0] for row in inbox(project)]
    assert {one["title"] for one in shown} == {
        "Use Postgres for the session store",
        "Deploy with the pipeline on Mondays",
    }
    assert "secret" not in json.dumps(shown) and str(outside.parent) not in json.dumps(shown)
    assert any("notes.md" in one["sources"][0]["in"] for one in shown)
