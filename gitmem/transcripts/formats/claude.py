"""Transcripts of Claude Code: JSON lines, one a message or one block of it."""

import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from typing import IO, Any

from gitmem.transcripts.cleanup import mapping, number, said, sequence, string, texts
from gitmem.transcripts.formats.branches import Branches
from gitmem.transcripts.jsonl import objects
from gitmem.transcripts.tool_calls import used
from gitmem.transcripts.turn import ASSISTANT, SYSTEM, USER, Turn

OPEN_CALLS = 256  # uses of tools that have not ended yet
NAMES = 500  # tasks of the session's list
_INSTEAD = re.compile(r"(?s)\AThe user doesn't want to (?:proceed|take).*?the user said:\s*(.+)")
_CONTINUED = "This session is being continued from a previous conversation"
_CREATED = re.compile(r"Task #(\w+) created")
_ANSWERED = re.compile(r'"([^"\n]{1,400})"="([^"\n]{1,400})"')


def claude(stream: IO[bytes]) -> Iterator[Turn]:
    """Yield the turns of a transcript."""
    reading, branches = _ClaudeReading(), Branches()
    for line, row in objects(stream):
        turns = list(reading.row(line, row))
        if row.get("isSidechain") is True:
            branches.add(line, "", "", turns, is_prompt=False)
        else:
            parent = string(row.get("parentUuid")) or string(row.get("logicalParentUuid"))
            branches.add(line, string(row.get("uuid")), parent, turns, is_prompt=_is_prompt(row))
        yield from branches.ready()
    yield from branches.rest(reading.rest())


def _is_prompt(row: dict[str, Any]) -> bool:
    """Say whether a row is what a person typed: no result of a tool, no summary."""
    if (
        row.get("type") != "user"
        or row.get("isMeta") is True
        or row.get("isCompactSummary") is True
    ):
        return False
    content = mapping(row.get("message")).get("content")
    if texts(content).startswith(_CONTINUED):
        return False
    return isinstance(content, str) or not any(
        mapping(block).get("type") == "tool_result" for block in sequence(content)
    )


class _ClaudeReading:
    def __init__(self) -> None:
        self.calls: OrderedDict[str, tuple[int, str, dict[str, Any], str, bool]] = OrderedDict()
        self.root = ""
        # tokens of the latest messages: each of a message's lines tells them
        self.counted: OrderedDict[str, int] = OrderedDict()
        self.names: OrderedDict[str, str] = OrderedDict()

    def row(self, line: int, row: dict[str, Any]) -> Iterator[Turn]:
        kind = row.get("type")
        self.root = self.root or string(row.get("cwd")).replace("\\", "/")
        if kind == "attachment":
            at = string(row.get("timestamp"))
            yield from self.attached(line, at, mapping(row.get("attachment")))
        elif row.get("isMeta") is not True:
            if kind == "assistant":
                yield from self.answered(line, row)
            elif kind == "user":
                yield from self.asked(line, row)

    def answered(self, line: int, row: dict[str, Any]) -> Iterator[Turn]:
        at, side = string(row.get("timestamp")), row.get("isSidechain") is True
        message = mapping(row.get("message"))
        text = said(texts(message.get("content")))
        spent = self.spent(message)
        if text or spent:
            yield Turn(ASSISTANT, text, at, line, side=side, tokens=spent)
        for value in sequence(message.get("content")):
            block = mapping(value)
            id = string(block.get("id"))
            if block.get("type") == "tool_use" and id:
                self.calls[id] = (
                    line,
                    string(block.get("name")),
                    mapping(block.get("input")),
                    at,
                    side,
                )
                if len(self.calls) > OPEN_CALLS:
                    yield self.ended(self.calls.popitem(last=False)[1], "", None)

    def asked(self, line: int, row: dict[str, Any]) -> Iterator[Turn]:
        at, side = string(row.get("timestamp")), row.get("isSidechain") is True
        content = mapping(row.get("message")).get("content")
        for value in sequence(content):
            block = mapping(value)
            if block.get("type") == "tool_result":
                yield from self.result(line, at, block, side)
        text = said(texts(content))
        if text:
            role = SYSTEM if row.get("isCompactSummary") is True else USER
            yield Turn(role, text, at, line, side=side)

    def attached(self, line: int, at: str, attachment: dict[str, Any]) -> Iterator[Turn]:
        if (
            attachment.get("type") == "queued_command"
            and attachment.get("commandMode", "prompt") == "prompt"
        ):
            text = said(texts(attachment.get("prompt")))  # typed while the agent was at work
            if text:
                yield Turn(USER, text, at, line)

    def result(self, line: int, at: str, block: dict[str, Any], side: bool) -> Iterator[Turn]:
        call = self.calls.pop(string(block.get("tool_use_id")), None) or (line, "", {}, at, side)
        output = texts(block.get("content"))
        refused = (
            _INSTEAD.search(output)
            if block.get("is_error") is True and output.startswith("The user doesn't")
            else None
        )
        if refused:
            yield Turn(USER, said(refused[1]), at, line, side=side)
            return
        if call[1] == "AskUserQuestion" and not block.get("is_error"):
            for question, answer in _ANSWERED.findall(output[:8000]):
                yield Turn(USER, said(f"Decision: {question.rstrip('?？ ')}: {answer}"), at, line)
            return
        yield self.ended(call, output, block.get("is_error") is True, line)

    def ended(
        self,
        call: tuple[int, str, dict[str, Any], str, bool],
        output: str,
        failed: bool | None,
        line: int = 0,
    ) -> Turn:
        began, tool, given, at, side = call
        if tool in ("TaskCreate", "TaskUpdate"):
            given = self.named(tool, given, output)
        return used(tool, given, output, failed, self.root, at=at, line=line or began, side=side)

    def named(self, tool: str, given: dict[str, Any], output: str) -> dict[str, Any]:
        """Return what was said about a task of the session's list, with the task's name.

        An update has only the number of the task.
        """
        if tool == "TaskCreate":
            made = _CREATED.search(output)
            if made:
                self.names[made[1]] = string(given.get("subject"))
                if len(self.names) > NAMES:
                    self.names.popitem(last=False)
            return given
        return {"subject": self.names.get(string(given.get("taskId")), ""), **given}

    def spent(self, message: dict[str, Any]) -> int:
        """Return what a message cost that was not counted with an earlier line of it."""
        usage = mapping(message.get("usage"))
        total = sum(
            number(usage.get(key))
            for key in (
                "input_tokens",
                "cache_creation_input_tokens",
                "cache_read_input_tokens",
                "output_tokens",
            )
        )
        id = string(message.get("id"))
        before = self.counted.get(id, 0) if id else 0
        if id:
            self.counted[id] = max(before, total)
            if len(self.counted) > OPEN_CALLS:
                self.counted.popitem(last=False)
        return max(0, total - before)

    def rest(self) -> Iterator[Turn]:
        """Yield uses of tools whose end was never written: the session was killed."""
        for call in self.calls.values():
            yield replace(self.ended(call, "", None), failed=None)
