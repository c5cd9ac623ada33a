"""Files to turns: each format, what is taken out of the text, what is damaged, and memory that is bounded."""

import io
import json
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.agents.prompt_text import bracketed, fence
from gitmem.transcripts.jsonl import healed
from gitmem.transcripts.reader import READERS, detect, read
from gitmem.transcripts.turn import ASSISTANT, SYSTEM, TOOL, USER, Turn
from tests.scale import scaled


def turns(data: bytes | str, name: str = "", form: str = "auto") -> list[Turn]:
    return list(read(io.BytesIO(data.encode() if isinstance(data, str) else data), name, form))


def rows(*values: Any) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def claude(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content, **more.pop("message", {})}
    return {
        "type": kind,
        "message": message,
        "uuid": "u",
        "sessionId": "s",
        "timestamp": "2026-11-21T03:06:42.856Z",
        "cwd": "/r",
        **more,
    }


def use(id: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def result(id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def spoken(found: Iterable[Turn]) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in found if turn.text]


# -- Codex


def test_codex_summary_of_a_context_is_no_answer() -> None:
    """It stands there as one, before the row of the compaction and what it cost."""

    def row(kind: str, **payload: Any) -> dict[str, Any]:
        return {"type": kind, "payload": payload}

    def message(role: str, text: str) -> dict[str, Any]:
        kind = "output_text" if role == ASSISTANT else "input_text"
        content = [{"type": kind, "text": text}]
        return row("response_item", type="message", role=role, content=content)

    tokens = {"info": {"total_token_usage": {"total_tokens": 9}}}
    found = turns(
        rows(
            message(USER, "fix it"),
            message(ASSISTANT, "I look."),
            message(ASSISTANT, "They chose MongoDB."),
            row("event_msg", type="token_count", **tokens),
            row("compacted", message="Another model began. Its summary:\nThey chose MongoDB."),
            message(ASSISTANT, "Done."),
        )
    )
    assert spoken(found) == [(USER, "fix it"), (ASSISTANT, "I look."), (ASSISTANT, "Done.")]
    assert sum(turn.tokens for turn in found) == 9


# -- Copilot CLI


def test_copilot_events_are_who_said_and_did_what() -> None:
    """The prompt of the CLI itself, and what hooks were called with, is said by nobody."""
    path = Path(__file__).parents[1] / "agents" / "samples" / "copilot" / "events.jsonl"
    found = [turn for turn in turns(path.read_bytes(), "events.jsonl") if not turn.tokens]
    assert [
        (turn.role, turn.side, turn.command or turn.files or turn.text, turn.failed)
        for turn in found
    ] == [
        (USER, False, "Hello", None),
        (ASSISTANT, False, "I delegate.", None),
        (USER, True, "Look", None),
        (TOOL, True, ("a.py",), False),
        (TOOL, True, "echo sub", False),
        (ASSISTANT, True, "sub done", None),
        (TOOL, False, "sub done", False),
        (TOOL, False, "echo main; sleep 0.2", False),
        (ASSISTANT, False, "bye", None),
    ]
    assert found[-2].text == "main"  # without the line of the CLI below it


def test_copilot_command_that_failed_failed() -> None:
    def event(kind: str, **data: Any) -> dict[str, Any]:
        return {"type": kind, "data": data, "id": "i", "parentId": None}

    (turn,) = turns(
        rows(
            event("session.start", context={"gitRoot": "/r"}),
            event(
                "tool.execution_start", toolCallId="1", toolName="bash", arguments={"command": "x"}
            ),
            event(
                "tool.execution_complete",
                toolCallId="1",
                success=True,
                shellExecution={"exitCode": 3},
                result={"content": "boom\n<shellId: 0 completed with exit code 3>"},
            ),
        )
    )
    assert (turn.command, turn.failed, turn.text) == ("x", True, "boom")


# -- Claude Code


def test_a_use_of_a_tool_and_its_result_are_one_turn() -> None:
    found = turns(
        rows(
            claude("user", "fix it"),
            claude(
                "assistant",
                [{"type": "text", "text": "I look."}, use("t1", "Bash", command="pytest -q")],
            ),
            claude(
                "user",
                [result("t1", [{"type": "text", "text": "Exit code 1\nboom"}], is_error=True)],
            ),
            claude("assistant", [use("t2", "Edit", file_path="/r/src/a.py")]),
            claude("user", [result("t2", "ok")]),
        )
    )

    assert [(t.role, t.line) for t in found] == [(USER, 1), (ASSISTANT, 2), (TOOL, 3), (TOOL, 5)]
    failed, edited = found[2:]
    assert (failed.tool, failed.command, failed.failed, failed.text) == (
        "Bash",
        "pytest -q",
        True,
        "Exit code 1\nboom",
    )
    assert (edited.tool, edited.files, edited.failed) == ("Edit", ("src/a.py",), False)


def test_what_the_program_says_itself_is_no_turn() -> None:
    found = turns(
        rows(
            {"type": "queue-operation", "operation": "enqueue", "content": "hi", "sessionId": "s"},
            claude("user", "Caveat: not said", isMeta=True),
            claude(
                "user",
                "<command-name>/clear</command-name><command-message>clear</command-message><command-args></command-args>",
            ),
            claude("user", "<local-command-stdout>Bye</local-command-stdout>"),
            claude("user", "[Request interrupted by user]"),
            {
                "type": "attachment",
                "attachment": {"type": "hook_additional_context", "content": ["DECISION: x"]},
                "uuid": "a",
                "sessionId": "s",
            },
            {"type": "a-type-of-tomorrow", "sessionId": "s", "message": {"content": "x"}},
            claude("user", [result("none", "<task-notification>done</task-notification>")]),
        )
    )

    assert spoken(found) == []


def test_what_was_typed_while_the_agent_worked_is_said() -> None:
    typed = {
        "type": "attachment",
        "attachment": {"type": "queued_command", "prompt": "no, use pnpm", "commandMode": "prompt"},
        "sessionId": "s",
    }

    assert spoken(turns(rows(claude("user", "go"), typed))) == [
        (USER, "go"),
        (USER, "no, use pnpm"),
    ]


def test_a_refusal_with_words_is_said_by_the_user() -> None:
    told = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nuse pnpm"

    found = turns(
        rows(
            claude("assistant", [use("t", "Bash", command="npm i")]),
            claude("user", [result("t", told, is_error=True)]),
        )
    )

    assert spoken(found) == [(USER, "use pnpm")]


def test_tokens_are_counted_once_a_message() -> None:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": 5}
    block = claude(
        "assistant", [{"type": "text", "text": "a"}], message={"id": "m1", "usage": usage}
    )
    later = claude(
        "assistant",
        [{"type": "text", "text": "b"}],
        message={"id": "m1", "usage": {**usage, "output_tokens": 9}},
    )

    assert sum(turn.tokens for turn in turns(rows(block, later))) == 119


def test_sides_and_summaries_are_marked_as_such() -> None:
    found = turns(
        rows(
            claude("user", "look", isSidechain=True),
            claude("user", "Summary: we chose X", isCompactSummary=True),
        )
    )

    assert [(t.role, t.side) for t in found] == [(USER, True), (SYSTEM, False)]


def test_lists_of_tasks_become_boxes() -> None:
    todo = use(
        "t1",
        "TodoWrite",
        todos=[
            {"content": "write docs", "status": "pending"},
            {"content": "add a flag", "status": "completed"},
        ],
    )
    made, changed = (
        use("t2", "TaskCreate", subject="tag it"),
        use("t3", "TaskUpdate", taskId="7", status="completed"),
    )
    found = turns(
        rows(
            claude("assistant", [todo]),
            claude("user", [result("t1", "ok")]),
            claude("assistant", [made]),
            claude("user", [result("t2", "Task #7 created successfully: tag it")]),
            claude("assistant", [changed]),
            claude("user", [result("t3", "Updated task #7 status")]),
        )
    )

    assert [turn.text for turn in found] == [
        "- [ ] write docs\n- [x] add a flag",
        "- [ ] tag it",
        "- [x] tag it",
    ]


def test_a_use_of_a_tool_that_never_ended_is_told_without_an_outcome() -> None:
    (killed,) = turns(rows(claude("assistant", [use("t", "Bash", command="sleep 9")])))

    assert (killed.command, killed.failed, killed.line) == ("sleep 9", None, 1)


# -- others


def test_gemini_lines_replace_earlier_ones() -> None:
    call = {
        "id": "c",
        "name": "run_shell_command",
        "args": {"command": "make"},
        "status": "success",
        "timestamp": "t",
        "result": [
            {
                "functionResponse": {
                    "response": {
                        "output": "<untrusted_context>\nOutput: boom\nExit Code: 2\n</untrusted_context>"
                    }
                }
            }
        ],
    }
    found = turns(
        rows(
            {"projectHash": "h", "startTime": "t", "kind": "main"},
            {
                "id": "1",
                "type": "user",
                "content": [{"text": "<hook_context>secret</hook_context>build it"}],
            },
            {
                "id": "0",
                "type": "user",
                "content": [
                    {
                        "text": "System: Potential loop detected. Details: x. Avoid repeating the same tool calls."
                    }
                ],
            },
            {"id": "2", "type": "gemini", "content": "", "tokens": {"total": 15}},
            {"$set": {"lastUpdated": "t"}},
            {
                "id": "2",
                "type": "gemini",
                "content": "I build.",
                "tokens": {"total": 15},
                "toolCalls": [call],
            },
            {"id": "3", "type": "user", "content": [{"functionResponse": {"name": "x"}}]},
            {"id": "4", "type": "info", "content": "Update available"},
        )
    )

    assert spoken(found)[:2] == [(USER, "build it"), (ASSISTANT, "I build.")]
    assert (found[2].command, found[2].failed) == ("make", True)
    assert "boom" in found[2].text
    assert sum(turn.tokens for turn in found) == 15


@pytest.mark.parametrize("indent", [None, 2])
def test_gemini_document(indent: int | None) -> None:
    """The older form: one document with all messages, also when it ends in the middle."""
    whole = json.dumps(
        {
            "sessionId": "s",
            "projectHash": "h",
            "messages": [
                {"id": str(n), "type": "user", "content": f'say "{{{n}]" \\'} for n in range(5)
            ],
        },
        indent=indent,
    )

    assert spoken(turns(whole)) == [(USER, f'say "{{{n}]" \\') for n in range(5)]
    assert len(turns(whole[: len(whole) // 2])) in {2, 3}


def test_codex_rollout() -> None:
    item = {"type": "response_item", "timestamp": "t"}
    hook = {"content_item_kinds": ["hooks.additional_context"]}
    found = turns(
        rows(
            {"type": "session_meta", "payload": {"cwd": "/r"}},
            {
                **item,
                "payload": {
                    "type": "message",
                    "role": "developer",
                    "content": [{"type": "input_text", "text": "rules"}],
                },
            },
            {
                **item,
                "payload": {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": "go"}],
                },
            },
            {
                **item,
                "payload": {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": "in"}],
                    "internal_chat_message_metadata_passthrough": hook,
                },
            },
            {
                **item,
                "payload": {
                    "type": "function_call",
                    "name": "shell",
                    "arguments": '{"command": ["bash", "-lc", "make"]}',
                    "call_id": "c",
                },
            },
            {
                "type": "event_msg",
                "payload": {"type": "item_completed", "item": {"type": "AgentMessage"}},
            },
            {
                **item,
                "payload": {
                    "type": "function_call_output",
                    "call_id": "c",
                    "output": '{"output": "no", "metadata": {"exit_code": 2}}',
                },
            },
            {
                **item,
                "payload": {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "done"}],
                },
            },
        )
    )

    assert [(t.role, t.text, t.command, t.failed) for t in found] == [
        (USER, "go", "", None),
        (TOOL, "no", "make", True),
        (ASSISTANT, "done", "", None),
    ]


def test_our_history() -> None:
    base = {"timestamp": "2026-11-21T03:06:42.856Z"}
    found = turns(
        rows(
            {**base, "role": "system", "content": "", "metadata": {"event": "SessionStart"}},
            {**base, "role": "user", "content": "go", "metadata": {"event": "PromptSubmit"}},
            {
                **base,
                "role": "tool",
                "content": "make\ntest",
                "metadata": {
                    "event": "BeforeTool",
                    "tool": "Bash",
                    "action": "command",
                    "call": "c",
                },
            },
            {
                **base,
                "role": "tool",
                "content": "make\ntest\nboom",
                "metadata": {
                    "event": "ToolFailed",
                    "tool": "Bash",
                    "action": "command",
                    "call": "c",
                },
            },
            {**base, "role": "system", "content": "remember this", "metadata": {"event": "Note"}},
        )
    )

    assert spoken(found) == [(USER, "go"), (TOOL, "boom"), (SYSTEM, "remember this")]
    assert (found[1].command, found[1].failed) == ("make\ntest", True)
    assert [turn.marked for turn in found] == [False, False, True]


def test_dialogues_and_notes() -> None:
    text = "User: use pnpm\n\n**Assistant:** I will.\n- one\n- two\n\n用户：好\n```\nUser: not this\n```\n"

    assert [(t.role, t.text, t.line) for t in turns(text)] == [
        (USER, "use pnpm", 1),
        (ASSISTANT, "I will.", 3),
        (ASSISTANT, "- one", 4),
        (ASSISTANT, "- two", 5),
        (USER, "好\n```\nUser: not this\n```", 7),
    ]


def test_commits() -> None:
    log = (
        "commit 1234567890abcdef1234567890abcdef12345678\nAuthor: A <a@b>\nDate:   2026-11-21T04:06:42+01:00\n\n"
        "    fix: retry\n\n    Because it times out.\n\n    Reviewed-by: B\n\nsrc/a.py\n\n"
        "commit 2234567890abcdef1234567890abcdef12345678\nAuthor: A <a@b>\nDate:   x\n\n    feat: b\n"
    )

    second, first = turns(log)  # git prints the newest first
    assert first.text == "fix: retry\n\nBecause it times out.\n\nReviewed-by: B"
    assert (first.at, first.files, first.line, first.tool) == (
        "2026-11-21T03:06:42Z",
        ("src/a.py",),
        1,
        "commit",
    )
    assert second.text == "feat: b"


def test_commits_come_the_oldest_first() -> None:
    def one(id: str, at: str) -> str:
        return f"commit {id * 40}\nAuthor: A <a@b>\nDate:   {at}\n\n    feat: {id}\n\n"

    days = [f"2026-11-{day}T09:00:00+00:00" for day in (16, 17, 18, 19)]
    newest_first = [one(id, day) for id, day in zip("dcba", reversed(days), strict=True)]
    for log in (
        newest_first,
        list(reversed(newest_first)),
        # one that was rebased is older than what is below it
        [one("d", days[0]), *newest_first[1:]],
        [one(id, days[0]) for id in "dcba"],
        [one("b", days[1]), one("a", days[0])],
        [one("a", days[0]), one("b", days[1])],
    ):
        assert [turn.text for turn in turns("".join(log))] == [
            f"feat: {id}" for id in "abcd"[: len(log)]
        ]


# -- what is taken out


@pytest.mark.parametrize(
    "wrap",
    [lambda text: text, bracketed, lambda text: text.replace("<", "&lt;").replace(">", "&gt;")],
)
def test_what_we_injected_is_not_read_again(wrap: Any) -> None:
    told = wrap(fence(["- [decision 12345678] use SQLite (2026-11-21; by A)"]))

    assert spoken(turns(rows(claude("user", f"{told}\nplease go on")))) == [(USER, "please go on")]


def test_private_parts_are_not_read() -> None:
    assert spoken(
        turns(
            "User: a <private>DECISION: b</private> c\n\n<private>\nDECISION: d\n\n- e\n</private>\nf\n"
        )
    ) == [
        (USER, "a  c"),
        (USER, "f"),
    ]
    assert spoken(turns(rows(claude("user", "x <private>y")))) == [(USER, "x")]
    assert spoken(turns("User: a b</private> c\n\nd\n")) == [(USER, "c"), (USER, "d")]


# -- what is damaged, and what is big


def test_a_half_line_is_left_for_later() -> None:
    data = rows(claude("user", "one"), claude("user", "two")).encode()

    assert [turn.text for turn in turns(data[:-9])] == ["one"]
    assert [turn.text for turn in turns(b"\xff\xfe\nnot json\n[]\n" + data + b"{")] == [
        "one",
        "two",
    ]


@pytest.mark.stress
def test_a_line_of_50_mb_costs_little_memory() -> None:
    """Its beginning is read, and the line after it; a list with many messages does not pile up either."""
    big = rows(
        claude("user", [result("t", "x" * (50 << 20), is_error=True)]), claude("user", "after")
    ).encode()
    document = json.dumps(
        {
            "sessionId": "s",
            "messages": [
                {"id": "0", "type": "user", "content": "y" * (50 << 20)},
                {"id": "1", "type": "user", "content": "z"},
            ],
        }
    ).encode()
    tracemalloc.start()

    found, older = turns(big), turns(document)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [turn.text[:5] for turn in found] == ["xxxxx", "after"]
    assert [turn.text[:1] for turn in older] == ["y", "z"]
    assert peak < 120 << 20  # most of it are the 50 MB that BytesIO has


_SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
_KEYS = st.sampled_from(
    [
        "type",
        "message",
        "content",
        "role",
        "id",
        "input",
        "name",
        "usage",
        "payload",
        "toolCalls",
        "result",
        "$set",
        "messages",
        "parts",
        "text",
        "metadata",
        "todos",
        "tool_use_id",
        "arguments",
        "output",
        "call_id",
        "command",
        "timestamp",
        "isSidechain",
        "attachment",
        "prompt",
        "status",
    ]
)
_KINDS = st.sampled_from(
    [
        "user",
        "assistant",
        "gemini",
        "tool_use",
        "tool_result",
        "text",
        "message",
        "function_call",
        "function_call_output",
        "response_item",
        "attachment",
        "queued_command",
        "TodoWrite",
        "token_count",
    ]
)
_JSON = st.recursive(
    _SCALARS | _KINDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=6),
    max_leaves=25,
)
_FORMS = st.sampled_from(["auto", *READERS])


@given(st.binary(max_size=400), _FORMS, st.sampled_from(["", "plan.md", "state.json"]))
def test_any_bytes_can_be_read(data: bytes, form: str, name: str) -> None:
    for turn in turns(data, name, form):
        assert turn.role in {USER, ASSISTANT, SYSTEM, TOOL}
        assert turn.line >= 0


@settings(max_examples=scaled(200, 50))
@given(st.lists(st.dictionaries(_KEYS, _JSON, max_size=8), max_size=6), _FORMS)
def test_any_rows_can_be_read(values: list[Any], form: str) -> None:
    """Rows that have the names of real ones, with values that have not."""
    for turn in turns(rows(*values), "", form):
        assert isinstance(turn.text, str)
        assert isinstance(turn.tokens, int)
        assert all(isinstance(path, str) for path in turn.files)


@given(_JSON.filter(lambda value: isinstance(value, dict)), st.data())
def test_a_cut_object_is_healed_or_refused(value: Any, data: Any) -> None:
    """What a cut leaves is JSON again, or no JSON at all; never an error of another kind."""
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(1, len(text)))]
    try:
        json.loads(healed(cut))
    except ValueError:
        pass
    assert json.loads(healed(text)) == value


@given(st.binary(max_size=2000))
def test_detection_knows_its_readers(head: bytes) -> None:
    assert detect(head) in READERS
