"""A server on loopback that speaks as much of the Gemini API as is asked: scripted answers, and what was asked is kept."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, Any, dict[str, str]]


def said(text: str, finish: str = "STOP", tokens: int = 15, **more: Any) -> Reply:
    """Return an answer with a text."""
    candidate = {
        "content": {"role": "model", "parts": [{"text": text}]} if text else {},
        "finishReason": finish,
        "index": 0,
    }
    usage = {"promptTokenCount": tokens - 5, "candidatesTokenCount": 5, "totalTokenCount": tokens}
    return (
        200,
        {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake", **more},
        {},
    )


def blocked(reason: str = "SAFETY") -> Reply:
    """Return the answer to a prompt that the server will not pass on."""
    return (
        200,
        {
            "promptFeedback": {"blockReason": reason},
            "usageMetadata": {"promptTokenCount": 7, "totalTokenCount": 7},
        },
        {},
    )


def error(
    code: int, status: str, message: str, details: list[Any] | None = None, **headers: str
) -> Reply:
    """Return an error in Google's form."""
    return (
        code,
        {"error": {"code": code, "message": message, "status": status, "details": details or []}},
        headers,
    )


@dataclass
class Gemini:
    """What the server was asked, and what it answers: the replies in turn, the last one again and again."""

    replies: list[Reply | Callable[[dict[str, Any]], Reply]]
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    delay: float = 0.0
    released: threading.Event = field(default_factory=threading.Event)

    def answer(self, body: dict[str, Any]) -> Reply:
        """Return the next reply."""
        reply = self.replies[min(len(self.asked), len(self.replies)) - 1]
        return reply(body) if callable(reply) else reply


@contextmanager
def serving(
    *replies: Reply | Callable[[dict[str, Any]], Reply],
    delay: float = 0.0,
    drip: float = 0.0,
    tls: str = "",
) -> Iterator[Gemini]:
    """Serve replies; `delay` holds an answer back, `drip` sends a byte of it now and then; `tls` is a certificate's file."""
    gemini = Gemini(list(replies) or [said("{}")], delay=delay)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: Any) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(
                self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}"
            )
            gemini.asked.append(body)
            gemini.paths.append(self.path)
            gemini.headers.append({k.lower(): v for k, v in self.headers.items()})
            code, data, headers = gemini.answer(body)
            gemini.released.wait(gemini.delay)
            raw = data if isinstance(data, bytes) else json.dumps(data).encode()
            try:
                self.send_response(code)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(raw)))
                for key, value in headers.items():
                    self.send_header(key.replace("_", "-"), value)
                self.end_headers()
                if not drip:
                    self.wfile.write(raw)
                for byte in raw if drip else b"":
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    if gemini.released.wait(drip):
                        break
            except OSError:
                self.close_connection = True  # the other side gave up

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign] # the other side hangs up, as it should
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    gemini.url = f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}"
    try:
        yield gemini
    finally:
        gemini.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
