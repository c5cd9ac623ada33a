"""Transcripts of Claude Code, rendered row by row as the program writes them. Ids and times come from the session's name."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from tests.extraction.source import Step, halves

ROOT = "/home/user/repo"
BEGIN = datetime(2026, 3, 2, 8, 30, tzinfo=UTC)

TOOLS = {"run", "fail", "read", "write", "edit"}

Row = dict[str, Any]


class Clock:
    """Ids and times of one session, the same at every run."""

    def __init__(self, id: str) -> None:
        self.id, self.count = id, 0
        self.now = BEGIN + timedelta(days=int(sha256(id.encode()).hexdigest()[:4], 16) % 200)
        self.session = self.uuid()

    def uuid(self) -> str:
        self.count += 1
        x = sha256(f"{self.id} {self.count}".encode()).hexdigest()
        return f"{x[:8]}-{x[8:12]}-4{x[13:16]}-9{x[17:20]}-{x[20:32]}"

    def tick(self, seconds: float = 0.4) -> str:
        self.now += timedelta(seconds=seconds)
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.now.microsecond // 1000:03d}Z"


def place(path: str) -> str:
    return path if path.startswith("/") else f"{ROOT}/{path}"


def claude(clock: Clock, told: list[Step]) -> Iterator[Row]:
    """Return the rows of a transcript of Claude Code."""
    tale = Claude(clock)
    for step, after in zip(told, [*told[1:], None], strict=True):
        yield from tale.rows(step, after is not None and after.word in TOOLS)
    last = next((step.text for step in reversed(told) if step.word == "user"), "")
    yield {
        "type": "last-prompt",
        "lastPrompt": last,
        "leafUuid": tale.parent,
        "sessionId": clock.session,
    }


class Claude:
    """A transcript that is being written: each row names the one before it."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.calls, self.answers = clock, 0, 0
        self.parent: str | None = None
        self.prompt = clock.uuid()
        self.fresh = True

    def common(self, side: bool = False) -> Row:
        return {
            "userType": "external",
            "entrypoint": "cli",
            "cwd": ROOT,
            "sessionId": self.clock.session,
            "version": "2.1.197",
            "gitBranch": "main",
            **({"agentId": "a4e9f01"} if side else {}),
        }

    def row(self, middle: Row, side: bool = False, wait: float = 0.4) -> Row:
        """Return a row in the order of keys of the real ones."""
        at, uuid = self.clock.tick(wait), self.clock.uuid()
        made = {
            "parentUuid": self.parent,
            "isSidechain": side,
            **middle,
            "uuid": uuid,
            "timestamp": at,
            **self.common(side),
        }
        self.parent = uuid
        return made

    def attachment(self, what: Row) -> Row:
        return self.row({"attachment": what, "type": "attachment"}, wait=0.01)

    def said(self, content: list[Row], stop: str, side: bool = False) -> Row:
        usage = {
            "input_tokens": 12,
            "cache_creation_input_tokens": 310,
            "cache_read_input_tokens": 18_220,
            "output_tokens": 96,
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "service_tier": "standard",
            "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 310},
            "inference_geo": "",
            "iterations": [],
            "speed": "standard",
        }
        message = {
            "id": f"msg_{self.answers:04d}",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-4-8",
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": usage,
            "stop_details": None,
        }
        return self.row({"message": message, "type": "assistant"}, side, 2.5)

    def rows(self, step: Step, calls: bool) -> Iterator[Row]:
        """Yield a turn's rows; what is said before a tool is called is a row of its own with the id of the same message."""
        match step.word:
            case "user":
                yield from self.asked(step.text)
            case "agent":
                yield self.said(
                    [{"type": "text", "text": step.text}], "tool_use" if calls else "end_turn"
                )
                self.answers += not calls
            case "think":
                yield self.said(
                    [{"type": "thinking", "thinking": step.text, "signature": "Ev4BCkYIBxgCKkDq"}],
                    "tool_use" if calls else "end_turn",
                )
                self.answers += not calls
            case "meta":
                yield self.row(
                    {
                        "type": "user",
                        "isMeta": True,
                        "message": {"role": "user", "content": step.text},
                    }
                )
            case "compact":
                boundary = {
                    "type": "system",
                    "subtype": "compact_boundary",
                    "content": "Conversation compacted",
                    "isMeta": False,
                    "level": "info",
                }
                yield self.row(
                    {**boundary, "compactMetadata": {"trigger": "auto", "preTokens": 155_014}}
                )
                told = {"role": "user", "content": step.text}
                yield self.row(
                    {
                        "type": "user",
                        "isCompactSummary": True,
                        "isVisibleInTranscriptOnly": True,
                        "message": told,
                    }
                )
            case "stop":
                said = [{"type": "text", "text": "[Request interrupted by user]"}]
                yield self.row(
                    {
                        "promptId": self.prompt,
                        "type": "user",
                        "message": {"role": "user", "content": said},
                    }
                )
            case "hook":
                yield from self.hooked(step.text)
            case "side-user":
                yield self.row(
                    {
                        "promptId": self.prompt,
                        "type": "user",
                        "message": {"role": "user", "content": step.text},
                    },
                    side=True,
                )
            case "side-agent":
                yield self.said([{"type": "text", "text": step.text}], "end_turn", side=True)
                self.answers += 1
            case _:
                yield from self.called(step)

    def asked(self, text: str) -> Iterator[Row]:
        """Yield a prompt: queued first, then said."""
        at = self.clock.tick(40)
        yield {
            "type": "queue-operation",
            "operation": "enqueue",
            "timestamp": at,
            "sessionId": self.clock.session,
            "content": text,
        }
        yield {
            "type": "queue-operation",
            "operation": "dequeue",
            "timestamp": self.clock.tick(0.001),
            "sessionId": self.clock.session,
        }
        if self.fresh:
            self.fresh = False
            snapshot = {"messageId": self.clock.uuid(), "trackedFileBackups": {}, "timestamp": at}
            yield {
                "type": "file-history-snapshot",
                "messageId": snapshot["messageId"],
                "snapshot": snapshot,
                "isSnapshotUpdate": False,
            }
            yield self.attachment(
                {
                    "type": "hook_success",
                    "hookName": "SessionStart:startup",
                    "toolUseID": self.clock.uuid(),
                    "hookEvent": "SessionStart",
                    "content": "",
                    "stdout": "",
                    "stderr": "",
                    "exitCode": 0,
                    "command": "git-mem hook claude",
                    "durationMs": 76,
                }
            )
        self.prompt = self.clock.uuid()
        yield self.row(
            {
                "promptId": self.prompt,
                "type": "user",
                "message": {"role": "user", "content": text},
                "permissionMode": "default",
                "promptSource": "typed",
            }
        )

    def hooked(self, text: str) -> Iterator[Row]:
        stdout = json.dumps(
            {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": text}}
        )
        base = {
            "hookName": "UserPromptSubmit",
            "toolUseID": "hook-" + self.clock.uuid(),
            "hookEvent": "UserPromptSubmit",
        }
        yield self.attachment(
            {
                "type": "hook_success",
                **base,
                "content": "",
                "stdout": stdout,
                "stderr": "",
                "exitCode": 0,
                "command": "git-mem hook claude",
                "durationMs": 9,
            }
        )
        yield self.attachment({"type": "hook_additional_context", "content": [text], **base})

    def called(self, step: Step) -> Iterator[Row]:
        """Yield a tool call and its result."""
        id = f"toolu_{self.calls:04d}"
        self.calls += 1
        name, given, content, failed, result = self.tool(step)
        yield self.said([{"type": "tool_use", "id": id, "name": name, "input": given}], "tool_use")
        self.answers += 1
        asked = self.parent
        block: Row = {"tool_use_id": id, "type": "tool_result", "content": content}
        if failed:
            block = {"type": "tool_result", "content": content, "is_error": True, "tool_use_id": id}
        elif name == "Bash":
            block["is_error"] = False
        yield self.row(
            {
                "promptId": self.prompt,
                "type": "user",
                "message": {"role": "user", "content": [block]},
                "toolUseResult": result,
                "sourceToolAssistantUUID": asked,
            }
        )

    def tool(self, step: Step) -> tuple[str, Row, str, bool, Any]:
        """Return a tool's name, what it was given, what it said, whether it failed, and the result as the program keeps it."""
        path = place(step.head)
        if step.word in {"run", "fail"}:
            given: Row = {"command": step.head, "description": "Run " + step.head.split()[0]}
            if step.code:
                said = f"Exit code {step.code}\n{step.body}"
                return "Bash", given, said, True, f"Error: {said}"
            return (
                "Bash",
                given,
                step.body,
                False,
                {
                    "stdout": step.body,
                    "stderr": "",
                    "interrupted": False,
                    "isImage": False,
                    "noOutputExpected": not step.body,
                },
            )
        if step.word == "read":
            lines = step.body.splitlines()
            said = "\n".join(f"{n}\t{line}" for n, line in enumerate(lines, 1))
            file = {
                "filePath": path,
                "content": step.body + "\n",
                "numLines": len(lines),
                "startLine": 1,
                "totalLines": len(lines),
            }
            return "Read", {"file_path": path}, said, False, {"type": "text", "file": file}
        if step.word == "write":
            said = f"File created successfully at: {path} (file state is current in your context — no need to Read it back)"
            made: Row = {"filePath": path, "content": step.body + "\n"}
            return (
                "Write",
                {"file_path": path, "content": step.body + "\n"},
                said,
                False,
                {"type": "create", **made},
            )
        old, new, why = halves(step)
        given = {"replace_all": False, "file_path": path, "old_string": old, "new_string": new}
        if why:
            return "Edit", given, f"<tool_use_error>{why}</tool_use_error>", True, f"Error: {why}"
        said = f"The file {path} has been updated successfully. (file state is current in your context — no need to Read it back)"
        result = {
            "filePath": path,
            "oldString": old,
            "newString": new,
            "userModified": False,
            "replaceAll": False,
        }
        return "Edit", given, said, False, result
