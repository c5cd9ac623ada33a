"""Requests of any sort read nothing that they may not, and do not stop the server."""

import json
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitmem.dashboard.server import BODY
from tests.dashboard.conftest import Served
from tests.scale import scaled

SECRETS = (b"READ COMMITTED", b"Webhooks", b"idempotent", b"root:x:")
METHODS = (
    "GET",
    "POST",
    "HEAD",
    "PUT",
    "DELETE",
    "OPTIONS",
    "TRACE",
    "CONNECT",
    "PATCH",
    "g\0t",
    "",
)
PATHS = (
    "/",
    "//",
    "/api",
    "/api/",
    "/api/facts",
    "/api/facts/",
    "/api/facts/..",
    "/api/do",
    "/api/events",
    "/../../../../etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/app.js/../../server.py",
    "/app.js%00",
    "/static/../gate.py",
    "/.git/config",
    "http://evil.example/api/facts",
    "*",
    "/api/facts?" + "a=1&" * 99,
    "/api/search?q=%00",
    "/api/search?q=%ff%fe",
    "/api/timeline?since=--help",
    "/api/timeline?file=/etc/passwd",
    "/api/today?file=../../etc/passwd",
    "/api/facts/--help",
    "/api/sessions/..%2f..%2fetc",
    "/api/facts/%F0%28",
    "/" + "a" * 5000,
    "/api/" + "%41" * 300,
)
BODIES = (
    b"",
    b"{",
    b"[]",
    b"null",
    b"1e999",
    b'"x"',
    b"\xff\xfe",
    b"[" * 5000,
    b'{"action": null}',
    b'{"action": "forget"}',
    b'{"action": "forget", "id": "--all"}',
    b'{"action": "pin", "id": ["a"]}',
    b'{"action": "edit", "id": "mem-aaaaaa", "title": "\\u0000"}',
    b'{"action": "resolve", "ids": "x", "choice": "drop"}',
    b'{"action": "../../x"}',
    b'{"action": "__class__"}',
)


def _requests(served: Served, count: int) -> Iterator[tuple[bytes, bool]]:
    """Yield requests as bytes, and whether they have the token and the right address."""
    random.seed(7)
    own = f"127.0.0.1:{served.port}"
    for _ in range(count):
        is_good = random.random() < 0.3
        host = (
            own
            if is_good
            else random.choice((own, "evil.example", "", f"{own}, evil", "127.0.0.1:80"))
        )
        token = (
            served.token
            if is_good
            else random.choice((None, "", "x", served.token[:-1], served.token + "x"))
        )
        lines = [
            f"{random.choice(METHODS)} {random.choice(PATHS)} {random.choice(('HTTP/1.1', 'HTTP/1.0', 'HTTP/9', ''))}"
        ]
        lines += [f"Host: {host}"] * random.choice((1, 1, 1, 2, 0) if not is_good else (1,))
        if token is not None:
            lines.append(f"Authorization: Bearer {token}")
        body = random.choice(BODIES)
        length = random.choice((str(len(body)), str(len(body)), "-1", "999999999999", "x", "0"))
        lines.append(
            f"Content-Type: {random.choice(('application/json', 'text/plain', 'multipart/form-data'))}"
        )
        lines += [f"Content-Length: {length}"] * random.choice((1, 1, 2))
        lines += random.choice(
            (
                [],
                ["Transfer-Encoding: chunked"],
                ["X" * 70_000 + ": y"],
                [f"X-{n}: y" for n in range(150)],
                ["no colon"],
            )
        )
        yield "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body, is_good


def _send(port: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.settimeout(0.4)  # some requests promise more than they send
        out = b""
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(1 << 16):
                out += part
                if b"event: ready" in out:
                    break
        except OSError:
            pass
        return out


@pytest.fixture
def served(shop: Path, serve: Callable[..., Served]) -> Served:
    """A process whose threads can be counted."""
    return serve(shop, cold=True)


def test_requests_of_any_sort(served: Served) -> None:
    before = served.data("facts")
    for data, is_good in _requests(served, scaled(3000, 250)):
        answer = _send(served.port, data)

        assert b"Traceback" not in answer
        assert b"root:x:" not in answer
        if not is_good:
            head = answer.split(b"\r\n", 1)[0]
            is_page = data.split(b" ")[1:2] in ([b"/"], [b"//"]) and b" 200 " in head
            assert is_page or not any(secret in answer for secret in SECRETS), (data, answer)
    assert served.data("facts") == before
    assert served.process.poll() is None


def test_a_flood_of_connections(served: Served) -> None:
    """A thousand connections that say nothing, or half of something, cost the page nothing."""
    held: list[socket.socket] = []
    for number in range(1000):
        try:
            connection = socket.create_connection(("127.0.0.1", served.port), timeout=5)
            connection.send(b"GET /api/facts HTTP/1.1\r\nHost: " if number % 2 else b"")
            held.append(connection)
        except OSError:
            continue
        if number % 250 == 249:
            begun = time.monotonic()
            assert served.data("about")["project"] == "shop"
            assert time.monotonic() - begun < 5
    try:
        assert served.memory < 150
        assert _threads(served) < 200
    finally:
        for connection in held:
            connection.close()
    assert served.data("about")["project"] == "shop"


def _threads(served: Served) -> int:
    with open(f"/proc/{served.process.pid}/status", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("Threads:")).split()[1])


def test_many_at_once_are_all_answered(served: Served, ids: dict[str, str]) -> None:
    """Reads and writes at the same time: each is answered, and what was written is there."""
    statuses: list[int] = []

    def edit(text: str) -> int:
        while True:  # until no other was quicker
            given = {"id": ids["naming"], "message": text, "seen": served.seen(ids["naming"])}
            status = served.ask("/api/do", "POST", {"action": "edit", **given}).status
            if status != 409:
                return status

    def work(number: int) -> None:
        if number % 3:
            statuses.append(served.ask("/api/facts").status)
        else:
            statuses.append(edit(f"Text {number}."))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert statuses == [200] * 24
    assert served.data(f"facts/{ids['naming']}")["record"]["body"].startswith("Text ")


def test_a_body_in_other_forms_is_refused(served: Served, ids: dict[str, str]) -> None:
    """What a form of any page can send is no action: it needs JSON by name, of a known length."""
    body = json.dumps({"action": "forget", "id": ids["refunds"]}).encode()
    plain = served.ask("/api/do", "POST", body, Content_Type="text/plain")
    form = served.ask("/api/do", "POST", body, Content_Type="application/x-www-form-urlencoded")
    long = served.ask("/api/do", "POST", b"x" * (BODY + 1))

    assert (plain.status, form.status, long.status) == (415, 415, 413)
    assert served.data(f"facts/{ids['refunds']}")["record"]["status"] == "active"
