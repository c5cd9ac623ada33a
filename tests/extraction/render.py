"""Labelled sessions: read from their sources, rendered byte for byte in the form in which agents leave them behind."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.extraction.render_claude import Clock, Row, claude, place
from tests.extraction.source import Label, Step, halves, label, split, steps

HERE = Path(__file__).parent / "others"
FORMATS = ("claude", "gemini", "history", "dialogue", "file")
LANGUAGES = ("en", "pt", "es", "zh")


@dataclass(frozen=True)
class Session:
    """A session with its labels; `data` are the bytes that the product is given."""

    id: str
    format: str
    language: str
    name: str
    data: bytes
    labels: tuple[Label, ...]
    turns: int


def load(folder: Path = HERE) -> list[Session]:
    """Return the sessions of a folder, by name."""
    return [
        session(path.stem, path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob("*.txt"))
    ]


def session(id: str, source: str) -> Session:
    """Return a session from its source."""
    head, body, tail = split(id, source)
    facts = dict(line.split(": ", 1) for line in head.splitlines() if line.strip())
    form, language = facts["format"], facts["language"]
    if form not in FORMATS or language not in LANGUAGES:
        raise ValueError(f"{id}: {form} or {language} is unknown")
    labels = tuple(label(id, line) for line in tail.splitlines() if line.strip())
    if form in RENDER:
        told = steps(id, body)
        rows = RENDER[form](Clock(id), told)
        data = "".join(
            json.dumps(row, ensure_ascii=form == "claude") + "\n" for row in rows
        ).encode()
        turns = sum(step.word != "hook" for step in told)
    else:
        data, turns = body.encode(), sum(bool(line.strip()) for line in body.splitlines())
    return Session(id, form, language, facts.get("name", f"{id}.jsonl"), data, labels, turns)


# -- Gemini CLI


def gemini(clock: Clock, told: list[Step]) -> Iterator[Row]:
    """Return the rows of a transcript of Gemini CLI: an answer that calls a tool is written twice, with one id."""
    at, calls, context, first = clock.tick(), 0, "", True
    yield {
        "sessionId": clock.session,
        "projectHash": sha256(clock.id.encode()).hexdigest(),
        "startTime": at,
        "lastUpdated": at,
        "kind": "main",
    }
    for step in told:
        at = clock.tick(30 if step.word == "user" else 2)
        if step.word in {"hook", "meta"}:
            context = f"<hook_context>{step.text}</hook_context>"
            continue
        if step.word == "user":
            # what a session's start puts in comes before the first prompt, in the same text
            text = f"{context}\n\n{step.text}" if context and first else step.text
            content = [{"text": text}, *([{"text": context}] if context and not first else [])]
            first = False
            yield {
                "id": clock.uuid(),
                "timestamp": at,
                "type": "user",
                "content": content,
                "displayContent": [{"text": text}],
            }
        else:
            if step.word not in {"agent", "think"}:
                yield from gemini_call(clock, step, calls, at)
                calls += 1
                at = clock.tick()
            else:
                thoughts = (
                    [{"subject": "Thinking", "description": step.text, "timestamp": at}]
                    if step.word == "think"
                    else []
                )
                yield {
                    "id": clock.uuid(),
                    "timestamp": at,
                    "type": "gemini",
                    "content": "" if thoughts else step.text,
                    "thoughts": thoughts,
                    **TOKENS,
                }
        context = ""
        yield {"$set": {"lastUpdated": at}}


TOKENS: Row = {
    "tokens": {
        "input": 9_120,
        "output": 84,
        "cached": 7_400,
        "thoughts": 40,
        "tool": 0,
        "total": 9_244,
    },
    "model": "gemini-2.5-flash",
}


def gemini_call(clock: Clock, step: Step, count: int, at: str) -> Iterator[Row]:
    """Yield an answer that calls a tool: bare, with its call, and the result as the user's turn."""
    bare = {
        "id": clock.uuid(),
        "timestamp": at,
        "type": "gemini",
        "content": "",
        "thoughts": [],
        **TOKENS,
    }
    yield bare
    yield {"$set": {"lastUpdated": at}}
    name, shown, given, said, display = gemini_tool(step)
    id = f"{name}__call_{count}"
    response: Row = {"output": said}
    failed = step.word == "edit" and bool(halves(step)[2])
    if failed:
        response = {"error": said}
    result = [{"functionResponse": {"id": id, "name": name, "response": response}}]
    call = {
        "id": id,
        "name": name,
        "args": given,
        "result": result,
        "status": "error" if failed else "success",
        "timestamp": clock.tick(),
        "resultDisplay": display,
        "description": step.head,
        "displayName": shown,
        "renderOutputAsMarkdown": name != "run_shell_command",
    }
    yield {**bare, "toolCalls": [call]}
    yield {"id": clock.uuid(), "timestamp": clock.tick(0.01), "type": "user", "content": result}


def gemini_tool(step: Step) -> tuple[str, str, Row, str, Any]:
    """Return a tool's name, how it is shown, what it was given, what it said to the model and on the screen."""
    path = place(step.head)
    if step.word in {"run", "fail"}:
        said = (
            f"Output: {step.body or '(empty)'}\n"
            + (f"Exit Code: {step.code}\n" if step.code else "")
            + "Process Group PGID: 14403"
        )
        said = f"<untrusted_context>\n{said}\n</untrusted_context>"
        return (
            "run_shell_command",
            "Shell",
            {"command": step.head, "description": "Runs " + step.head.split()[0]},
            said,
            step.body,
        )
    if step.word == "read":
        return "read_file", "ReadFile", {"file_path": path}, step.body + "\n", ""
    if step.word == "write":
        return (
            "write_file",
            "WriteFile",
            {"file_path": path, "content": step.body + "\n"},
            f"Successfully created and wrote to new file: {path}.",
            "",
        )
    old, new, why = halves(step)
    given = {"file_path": path, "instruction": "Change it", "old_string": old, "new_string": new}
    if why:
        return "replace", "Edit", given, why, why
    diff = "".join(f"-{x}\n" for x in old.splitlines()) + "".join(
        f"+{x}\n" for x in new.splitlines()
    )
    said = (
        f"Successfully modified file: {path} (1 replacements). Here is the updated code:\n{new}\n"
    )
    return (
        "replace",
        "Edit",
        given,
        said,
        {
            "fileDiff": f"--- {step.head}\tCurrent\n+++ {step.head}\tProposed\n{diff}",
            "fileName": step.head,
            "filePath": path,
        },
    )


# -- our own history

ACTIONS = {"run": "command", "fail": "command", "read": "read", "write": "write", "edit": "write"}


def history(clock: Clock, told: list[Step]) -> Iterator[Row]:
    """Return the rows of a history that hooks left: prompts, last answers, commands with what they said when they failed."""
    state = {"agent": "claude", "model": "claude-opus-4-8", "branch": "main"}
    yield {
        "timestamp": clock.tick(),
        "role": "system",
        "content": "",
        "metadata": {"event": "SessionStart", "source": "startup"},
        "state": state,
    }
    for step in told:
        at = clock.tick(9)
        if step.word == "user":
            yield {
                "timestamp": at,
                "role": "user",
                "content": step.text,
                "metadata": {"event": "PromptSubmit"},
                "state": state,
            }
        elif step.word == "agent":
            yield {
                "timestamp": at,
                "role": "assistant",
                "content": step.text,
                "metadata": {"event": "TurnEnd"},
            }
        elif step.word in ACTIONS:
            yield from history_call(clock, step, at)
    yield {
        "timestamp": clock.tick(3),
        "role": "system",
        "content": "",
        "metadata": {"event": "SessionEnd", "source": "exit"},
    }


def history_call(clock: Clock, step: Step, at: str) -> Iterator[Row]:
    """Yield what hooks leave of a tool call: before it and after it."""
    command = step.word in {"run", "fail"}
    failed = step.word == "fail" or (step.word == "edit" and bool(halves(step)[2]))
    facts: Row = {
        "tool": "Bash" if command else step.word.capitalize(),
        "action": ACTIONS[step.word],
    }
    if not command:
        facts["files"] = [step.head]
    facts["call"] = f"toolu_{clock.uuid()[:8]}"
    before = step.head if command else ""
    after = (
        f"{before}\nExit code {step.code}\n{step.body}"
        if step.word == "fail"
        else halves(step)[2]
        if failed
        else before
    )
    yield {
        "timestamp": at,
        "role": "tool",
        "content": before,
        "metadata": {"event": "BeforeTool", **facts},
    }
    yield {
        "timestamp": clock.tick(1),
        "role": "tool",
        "content": after[:2000],
        "metadata": {"event": "ToolFailed" if failed else "AfterTool", **facts},
    }


RENDER = {"claude": claude, "gemini": gemini, "history": history}
