"""The HTTP server of the dashboard: on the loopback address, for the page that has its token."""

import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from gitmem.cli.failures import failure_of
from gitmem.dashboard import api
from gitmem.dashboard.changes import change
from gitmem.dashboard.connections import Connections
from gitmem.dashboard.events import Changes
from gitmem.dashboard.gate import HEADERS, Gate, RequestRefusal
from gitmem.dashboard.given import TEXT
from gitmem.dashboard.page import FILES, static_file
from gitmem.dashboard.place import DashboardPlace
from gitmem.errors import GitmemError, RecordChanged, UnknownId

IDLE = 3600.0  # seconds without use after which the server ends
PATIENCE = 10.0  # seconds that a connection may be silent
BODY = 16 * TEXT  # bytes of a body: each character of a text may be escaped with 6
DROPPED = 16 * BODY  # bytes of a body that is too long and is read all the same
TOO_LONG = f"A text has at most {TEXT:,} characters."
QUERY = 40  # fields of a query
AT_ONCE = 2  # requests that are answered at the same time; others wait
API, EVENTS = "/api/", "/api/events"
SLOW = "/api/check"  # takes minutes where there are many facts: others do not wait for it
REFRESH = "X-Gitmem-Refresh"  # a page that looks again by itself is not in use


class DashboardServer(ThreadingHTTPServer):
    """Serves one repository until it is closed, or was not used for `idle` seconds.

    `last_use` is in seconds of a monotonic clock. An open stream of events is not use.
    """

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(
        self,
        place: DashboardPlace,
        port: int,
        token: str,
        idle: float = IDLE,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.place = place
        self.gate = Gate(self.server_address[1], token)
        self.connections = Connections()
        self.changes = Changes(place)
        self.slots = threading.BoundedSemaphore(AT_ONCE)
        self.checking = threading.Lock()
        self.writing = threading.Lock()
        self.last_use = monotonic()
        self.was_used = threading.Event()  # a request with the token came
        self._idle = idle
        self._monotonic = monotonic
        self.ended_idle = False

    @property
    def url(self) -> str:
        """The address of the page, with the token in the part that a browser does not send."""
        return f"http://127.0.0.1:{self.server_address[1]}/#token={self.gate.token}"

    def run(self) -> None:
        """Serve until somebody interrupts, or nobody has used it for long."""
        self.changes.start()
        try:
            self.serve_forever(poll_interval=0.2)
        finally:
            self.changes.stop()
            self.connections.close_all()
            self.server_close()

    def note_use(self) -> None:
        """Note that somebody uses the page."""
        self.last_use = self._monotonic()

    def service_actions(self) -> None:
        """End when nobody has used the page for long. Called between requests."""
        if not self.ended_idle and self._monotonic() - self.last_use > self._idle:
            self.ended_idle = True
            threading.Thread(target=self.shutdown, daemon=True).start()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Begin to answer a connection, in a thread."""
        self.connections.add(request)
        try:
            super().process_request(request, client_address)
        except RuntimeError:  # no further thread can be started
            self.shutdown_request(request)

    def shutdown_request(self, request: Any) -> None:
        """End a connection."""
        self.connections.remove(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of connections that broke; anything else is a fault to be told."""
        error = sys.exception() if hasattr(sys, "exception") else sys.exc_info()[1]
        if not isinstance(error, (OSError, ValueError)):
            sys.stderr.write(f"error: a request failed: {type(error).__name__}\n")


class _Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    server: DashboardServer
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE

    def version_string(self) -> str:
        """Name the program, not its version or Python's."""
        return "git-mem"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: an address may hold what was searched for."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that is no HTTP: plain JSON, nothing of the request in it."""
        self.close_connection = True
        self._refuse(RequestRefusal(int(code), "this request cannot be answered."))

    def do_GET(self) -> None:
        """Answer with a file of the page, or with data."""
        path, query = self._target()
        name = path.removeprefix("/")
        if path in {"/", *(f"/{file}" for file in FILES)}:
            refusal = self.server.gate.refusal(self.headers, needs_token=False)
            if refusal:
                self._refuse(refusal)
            else:
                data, kind = static_file(name or "index.html")
                self._send(200, data, kind)
        elif self._is_allowed(path):
            if path == EVENTS:
                self._stream()
            else:
                turn = self.server.checking if path == SLOW else self.server.slots
                self._answer(lambda: api.answer(self.server.place, path[len(API) :], query), turn)

    def do_HEAD(self) -> None:
        """Answer as to GET, without a body."""
        self.do_GET()

    def do_POST(self) -> None:
        """Do an action."""
        path, _ = self._target()
        self.close_connection = True  # until the body is read, what follows is no request
        if not self._is_allowed(path):
            return
        given = self._body()
        if given is None:
            return
        self.close_connection = False

        def act() -> Any:
            with self.server.writing:
                return change(self.server.place, given)

        if path == "/api/do":
            self._answer(act, self.server.slots)
        else:
            self._refuse(RequestRefusal(404, "nothing is changed there."))

    def _target(self) -> tuple[str, Mapping[str, str]]:
        try:
            parts = urlsplit(self.path)
            pairs = parse_qsl(parts.query, max_num_fields=QUERY)
            return unquote(parts.path, errors="replace"), dict(pairs)
        except ValueError:
            return "", {}

    def _is_allowed(self, path: str) -> bool:
        """Say whether a request may read or change memory; if not, it is refused."""
        refusal = self.server.gate.refusal(self.headers, needs_token=True)
        if refusal is None and not path.startswith(API):
            refusal = RequestRefusal(404, "there is nothing here.")
        if refusal is None and not self.server.connections.prove(self.connection):
            refusal = RequestRefusal(503, "too many pages are open.", "Close some of them.")
        if refusal:
            self._refuse(refusal)
            return False
        self.server.was_used.set()
        if path != EVENTS and self.headers.get(REFRESH) is None:
            self.server.note_use()
        return True

    def _body(self) -> Mapping[str, Any] | None:
        """Return the JSON object of a body; None for anything else, which is refused."""
        length = self.headers.get("Content-Length", "")
        if self.headers.get("Transfer-Encoding") or not length.isdecimal():
            self._refuse(RequestRefusal(411, "the length of the body is not given."))
        elif len(length) > 9 or int(length) > BODY:
            self._drop(length)
            self._refuse(RequestRefusal(413, "the body is too long.", TOO_LONG))
        elif self.headers.get_content_type() != "application/json":
            self._refuse(RequestRefusal(415, "the body is not JSON."))
        else:
            try:
                given = json.loads(self.rfile.read(int(length)))
            except (ValueError, RecursionError):
                given = None
            if isinstance(given, dict):
                return given
            self._refuse(RequestRefusal(400, "the body is not a JSON object."))
        return None

    def _drop(self, length: str) -> None:
        """Read a body that is refused: a client that is still sending hears no answer."""
        left = int(length) if len(length) <= 9 else 0
        left = left if left <= DROPPED else 0
        while left > 0 and (part := self.rfile.read(min(left, TEXT))):
            left -= len(part)

    def _answer(self, work: Callable[[], Any], turn: AbstractContextManager[Any]) -> None:
        """Send what work returns, or why it failed; it is done when its turn comes."""
        with turn:
            try:
                data = _json_bytes(work())
                status = 200
            except Exception as error:  # noqa: BLE001 - a fault of one request ends no server
                status, data = _failed(error, self.server.place)
        self._send(status, data, "application/json")

    def _refuse(self, refusal: RequestRefusal) -> None:
        error = {"message": refusal.message, "hint": refusal.hint}
        self._send(refusal.status, _json_bytes({"error": error}), "application/json")

    def _send(self, status: int, data: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in HEADERS:
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self) -> None:
        self.close_connection = True
        self.send_response(200)
        for name, value in HEADERS:
            self.send_header(name, value)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "HEAD":
            return
        self.connection.settimeout(PATIENCE)
        connections = self.server.connections
        if connections.open_stream(self.connection):
            self.server.changes.wake()  # an older stream ends
        for text in self.server.changes.stream(
            is_over=lambda: not connections.is_stream(self.connection)
        ):
            self.wfile.write(text.encode())


def _json_bytes(data: Any) -> bytes:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def _failed(error: Exception, place: DashboardPlace) -> tuple[int, bytes]:
    """Return the status and the JSON for what an answer raised: never a trace of the program."""
    if not place.is_there():
        shown = {
            "message": f"the repository is not at '{place.folder}' any more: it was moved or "
            "deleted.",
            "hint": "Go to where it is now, and start again: git mem dashboard",
        }
        return 410, _json_bytes({"error": shown})
    failure = failure_of(error, ["dashboard"])
    status = 500
    if isinstance(error, UnknownId):
        status = 404
    elif isinstance(error, RecordChanged):
        status = 409
    elif isinstance(error, GitmemError) or failure.code == "usage":
        status = 400
    shown = {"message": failure.message, "hint": failure.hint}
    return status, _json_bytes({"error": shown})


def is_free(port: int) -> bool:
    """Say whether a port of the loopback address can be taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
