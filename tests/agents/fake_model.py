"""A stand-in for the model servers of Anthropic, Google and OpenAI (responses) on loopback, so that the real CLIs run without a network.

A run is a list of steps: `{"text": "..."}` or `{"tool": NAME, "input": {...}}`, the latter with what is said before it as `say`. The step that answers a request is the number of tool
results that are already in the conversation, so a run needs no state here; past the end the answer is "done". A run whose conversation is
compacted on its way is counted by its requests instead. `tokens` of a step is how full the context is said to be. Requests that offer no
tools (titles, routing, summaries) get an aside. A conversation whose user says SUBAGENT is a subagent's: it has steps of its own. Each request
is kept: what a hook told stands in it.
"""

import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Step = dict[str, Any]
ASIDE = '{"title": "test", "isNewTopic": false}'
SUBAGENT = "(for a subagent)"  # in the task that an agent delegates


@dataclass(frozen=True)
class Request:
    """What a CLI sent to its model."""

    path: str
    body: dict[str, Any]

    @property
    def offers_tools(self) -> bool:
        """Say whether the model is asked to work, not for a title or a summary."""
        choice = self.body.get("tool_choice")
        if isinstance(choice, dict) and choice.get("type") == "none":
            return False
        return any(tool.get("functionDeclarations", True) for tool in self.body.get("tools") or [])

    @property
    def is_subagents(self) -> bool:
        """Say whether it is of a subagent's conversation."""
        return any(SUBAGENT in text for text in _said_by_user(self.body))

    @property
    def text(self) -> str:
        """All strings in it, a line each, without what JSON escapes."""
        return "\n".join(_strings(self.body))


class FakeModel:
    """A server on a free port, as long as the `with` block lasts.

    `steps`, `delegated`, the steps of subagents, `delay`, the seconds that an answer takes, `before_end`, which is called before an answer that
    ends a turn, and `compacts`, whether conversations are compacted or gone on with, may be changed between two runs.
    """

    def __init__(self, steps: Sequence[Step] = (), aside: str = ASIDE, delay: float = 0.0) -> None:
        self.steps = list(steps)
        self.aside = aside
        self.delay = delay
        self.before_end: Callable[[], object] = lambda: None
        self.compacts = False
        self.delegated: list[Step] = []
        self.answers = 0
        self.requests: list[Request] = []
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def asked(self) -> list[Request]:
        """The requests that offered tools, in the order in which they came."""
        return [request for request in self.requests if request.offers_tools]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def step(self, request: Request) -> Step:
        """Return the step that answers a request."""
        if not request.offers_tools:
            return {"text": self.aside}
        steps, n = self.steps, _tool_results(request.body)
        if request.is_subagents:
            steps = self.delegated
        elif self.compacts:
            n = sum(not other.is_subagents for other in self.asked) - 1
        return steps[n] if n < len(steps) else {"text": "done"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: FakeModel) -> None:
        self.model = model
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing when a CLI that was killed no longer listens."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._reply(b"")

    def do_GET(self) -> None:
        self._json({"data": [], "models": []})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            self._json({"error": {"type": "invalid_request_error", "message": "not JSON"}}, 400)
            return
        request = Request(self.path, body)
        model = self.server.model
        with self.server.lock:
            model.requests.append(request)
            step = model.step(request)
            model.answers += 1
            n = model.answers  # no two tool calls have one id, also where a conversation goes on
        if "count_tokens" in self.path or "countTokens" in self.path:
            self._json({"input_tokens": 10, "totalTokens": 10})
            return
        time.sleep(model.delay)
        if "tool" not in step:
            model.before_end()
        if "/messages" in self.path:
            self._anthropic(body, step, n)
        elif "enerateContent" in self.path:
            self._gemini(step, n)
        elif self.path.endswith("/responses"):
            self._stream(_responses(step, n))
        else:
            self._json({})

    def _anthropic(self, body: dict[str, Any], step: Step, n: int) -> None:
        message, blocks = _message(body, step, n)
        stop = "tool_use" if "tool" in step else "end_turn"
        if not body.get("stream"):
            whole = [
                {
                    **block,
                    **({"text": delta["text"]} if "text" in delta else {"input": step["input"]}),
                }
                for block, delta in blocks
            ]
            self._json({**message, "content": whole, "stop_reason": stop})
            return
        rows: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
        for at, (block, delta) in enumerate(blocks):
            rows += [
                {"type": "content_block_start", "index": at, "content_block": block},
                {"type": "content_block_delta", "index": at, "delta": delta},
                {"type": "content_block_stop", "index": at},
            ]
        rows.append(
            {
                "type": "message_delta",
                "delta": {"stop_reason": stop, "stop_sequence": None},
                "usage": message["usage"],
            }
        )
        self._stream([*rows, {"type": "message_stop"}])

    def _gemini(self, step: Step, n: int) -> None:
        call = {"id": f"call_{n}", "name": step.get("tool"), "args": step.get("input")}
        spent = step.get("tokens", 10)
        parts = [{"text": step["say"]}] if "say" in step else []
        parts.append({"functionCall": call} if "tool" in step else {"text": step["text"]})
        answer = {
            "candidates": [
                {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {
                "promptTokenCount": spent,
                "candidatesTokenCount": 5,
                "totalTokenCount": spent + 5,
            },
            "modelVersion": "fake",
        }
        if "stream" in self.path:
            self._reply(f"data: {json.dumps(answer)}\n\n".encode(), "text/event-stream")
        else:
            self._json(answer)

    def _stream(self, rows: list[dict[str, Any]]) -> None:
        text = "".join(f"event: {row['type']}\ndata: {json.dumps(row)}\n\n" for row in rows)
        self._reply(text.encode(), "text/event-stream")

    def _json(self, data: dict[str, Any], code: int = 200) -> None:
        self._reply(json.dumps(data).encode(), "application/json", code)

    def _reply(self, data: bytes, kind: str = "text/plain", code: int = 200) -> None:
        self.send_response(code)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _message(
    body: dict[str, Any], step: Step, n: int
) -> tuple[dict[str, Any], list[tuple[dict[str, Any], dict[str, Any]]]]:
    """Return Anthropic's message, its blocks, and what the stream adds to each."""
    usage = {
        "input_tokens": step.get("tokens", 10),
        "output_tokens": 5,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
    message = {
        "id": f"msg_{n:04d}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "fake"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    said = step.get("say", "") if "tool" in step else step["text"]
    blocks: list[tuple[dict[str, Any], dict[str, Any]]] = (
        [({"type": "text", "text": ""}, {"type": "text_delta", "text": said})] if said else []
    )
    if "tool" in step:
        block = {"type": "tool_use", "id": f"toolu_{n:04d}", "name": step["tool"], "input": {}}
        blocks.append(
            (block, {"type": "input_json_delta", "partial_json": json.dumps(step["input"])})
        )
    return message, blocks


def _responses(step: Step, n: int) -> list[dict[str, Any]]:
    """Return the rows of OpenAI's stream; a step's `kind` may be `custom_tool_call`."""
    items = [_answer(step["say"], f"{n}_said")] if "say" in step else []
    if "tool" in step:
        kind = step.get("kind", "function_call")
        item = {
            "type": kind,
            "id": f"fc_{n}",
            "call_id": f"call_{n}",
            "name": step["tool"],
            "status": "completed",
        }
        item |= (
            {"input": step["input"]}
            if kind == "custom_tool_call"
            else {"arguments": json.dumps(step["input"])}
        )
        items.append(item)
    else:
        items.append(_answer(step["text"], str(n)))
    spent = step.get("tokens", 10)
    usage = {
        "input_tokens": spent,
        "output_tokens": 5,
        "total_tokens": spent + 5,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    head = {"id": f"resp_{n}", "object": "response", "status": "in_progress", "output": []}
    rows: list[dict[str, Any]] = [{"type": "response.created", "response": head}]
    for at, one in enumerate(items):
        rows += [
            {"type": f"response.output_item.{what}", "output_index": at, "item": one}
            for what in ("added", "done")
        ]
    return [
        *rows,
        {
            "type": "response.completed",
            "response": {**head, "status": "completed", "output": items, "usage": usage},
        },
    ]


def _answer(text: str, id: str) -> dict[str, Any]:
    """Return what is said as an item of OpenAI's."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "type": "message",
        "id": f"msg_{id}",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def _tool_results(body: dict[str, Any]) -> int:
    """Return how many tool results a conversation has, in any of the three forms."""
    said = [
        block
        for message in body.get("messages", [])
        if isinstance(message.get("content"), list)
        for block in message["content"]
    ]
    parts = [part for content in body.get("contents", []) for part in content.get("parts", [])]
    items = body["input"] if isinstance(body.get("input"), list) else []
    return (
        sum(block.get("type") == "tool_result" for block in said)
        + sum("functionResponse" in part for part in parts)
        + sum(str(item.get("type", "")).endswith("call_output") for item in items)
    )


def _said_by_user(body: dict[str, Any]) -> list[str]:
    """Return the texts of a conversation's user, without tool results, in any of the three forms."""
    items = body["input"] if isinstance(body.get("input"), list) else []
    texts: list[str] = []
    for message in (*body.get("messages", []), *body.get("contents", []), *items):
        if message.get("role") != "user":
            continue
        content = message.get("content") or message.get("parts") or []
        parts = [{"text": content}] if isinstance(content, str) else content
        texts += [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return texts


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inner for text in _strings(item)]
