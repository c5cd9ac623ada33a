"""Rollouts of Codex: JSON lines of responses and events; what is told twice is read once."""

from collections import OrderedDict
from collections.abc import Iterator
from typing import IO, Any

from gitmem.base.fast import loads
from gitmem.transcripts.cleanup import mapping, number, said, string, texts
from gitmem.transcripts.jsonl import objects
from gitmem.transcripts.tool_calls import used
from gitmem.transcripts.turn import ASSISTANT, USER, Turn

OPEN_CALLS = 256
_INJECTED = "hooks.additional_context"


def codex(stream: IO[bytes]) -> Iterator[Turn]:
    """Yield the turns of a rollout.

    What a model wrote to sum up a context was said by nobody: it stands there as an answer, before
    the row that says that the context was compacted.
    """
    answer: Turn | None = None
    for turn, summary in _turns(stream):
        if turn is not None and turn.tokens:
            yield turn  # what an answer cost comes after it
            continue
        if answer is not None and not summary.endswith(answer.text):
            yield answer
        answer = None
        if turn is None:
            continue
        if turn.role == ASSISTANT and turn.text:
            answer = turn
        else:
            yield turn
    if answer is not None:
        yield answer


def _turns(stream: IO[bytes]) -> Iterator[tuple[Turn | None, str]]:
    """Yield each turn, or None and the summary where a context was compacted."""
    reading = _CodexReading()
    for line, row in objects(stream):
        at = string(row.get("timestamp"))
        payload = mapping(row.get("payload")) or row  # older ones have the item itself
        reading.root = reading.root or string(payload.get("cwd"))
        if row.get("type") == "compacted":
            yield None, string(payload.get("message")).strip()
        else:
            yield from ((turn, "") for turn in reading.row(payload, at, line))
    yield from ((turn, "") for turn in reading.rest())


class _CodexReading:
    """The uses of tools that have not ended, where the session works, and the tokens so far."""

    def __init__(self) -> None:
        self.calls: OrderedDict[str, tuple[int, str, dict[str, Any], str]] = OrderedDict()
        self.root = ""
        self.counted = 0

    def row(self, payload: dict[str, Any], at: str, line: int) -> Iterator[Turn]:
        kind = string(payload.get("type"))
        if kind == "token_count":
            yield from self._spent(payload, at, line)
        elif kind == "message":
            yield from _message(payload, at, line)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            is_shell = kind == "local_shell_call"
            given = mapping(payload.get("action")) if is_shell else _given(payload)
            tool = string(payload.get("name")) or "shell"
            self.calls[string(payload.get("call_id"))] = (line, tool, given, at)
            yield from self.rest(OPEN_CALLS)
        elif kind in ("function_call_output", "custom_tool_call_output", "local_shell_call_output"):
            missing: tuple[int, str, dict[str, Any], str] = (line, "", {}, at)
            _, tool, given, at = self.calls.pop(string(payload.get("call_id")), missing)
            output, failed = _output(payload.get("output"))
            yield used(tool, given, output, failed, self.root, at=at, line=line)

    def rest(self, most: int = 0) -> Iterator[Turn]:
        """Yield uses of tools of which no end was seen, the oldest first, until `most` are left."""
        while len(self.calls) > most:
            began, tool, given, at = self.calls.popitem(last=False)[1]
            yield used(tool, given, "", None, self.root, at=at, line=began)

    def _spent(self, payload: dict[str, Any], at: str, line: int) -> Iterator[Turn]:
        usage = mapping(mapping(payload.get("info")).get("total_token_usage"))
        total = number(usage.get("total_tokens"))
        if total > self.counted:
            yield Turn(ASSISTANT, "", at, line, tokens=total - self.counted)
            self.counted = total


def _message(payload: dict[str, Any], at: str, line: int) -> Iterator[Turn]:
    """Yield what somebody said in a message, if anybody did."""
    role = {"user": USER, "assistant": ASSISTANT}.get(string(payload.get("role")))
    text = said(texts(payload.get("content")))
    if role and text and not _put_in(payload):
        yield Turn(role, text, at, line)


def _put_in(payload: dict[str, Any]) -> bool:
    """Whether a message was put in by a hook, and not said by its user."""
    facts = mapping(payload.get("internal_chat_message_metadata_passthrough"))
    kinds = facts.get("content_item_kinds")
    return isinstance(kinds, list) and bool(kinds) and all(kind == _INJECTED for kind in kinds)


def _given(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call, which are JSON in a string, or one text such as a patch."""
    text = payload.get("arguments") or payload.get("input")
    if isinstance(text, dict):
        return text
    if not isinstance(text, str):
        return {}
    try:
        document = loads(text)
    except (ValueError, RecursionError):
        document = None
    return document if isinstance(document, dict) else {"input": text}


def _output(value: Any) -> tuple[str, bool | None]:
    """Return what a tool printed, and whether it failed; None where nobody said."""
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = loads(value)
        except (ValueError, RecursionError):
            return string(value), None
    if isinstance(value, dict):
        code = mapping(value.get("metadata")).get("exit_code")
        success = value.get("success")
        failed = (
            code != 0
            if isinstance(code, int)
            else (not success if isinstance(success, bool) else None)
        )
        return texts(value.get("output") or value.get("content")), failed
    return texts(value), None
