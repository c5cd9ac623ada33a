"""Who is answered: the page that has the token, at the server's own address."""

import http.client
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gitmem.clock import Clock
from gitmem.dashboard.place import DashboardPlace
from gitmem.dashboard.server import DashboardServer
from tests.dashboard.conftest import Served

PRIVATE_WORDS = b"READ COMMITTED"


def test_the_page_is_served_without_the_token_and_holds_no_data(served: Served) -> None:
    """A browser cannot send a header with the address; the page asks for data itself."""
    for path in ("/", "/app.js", "/app.css"):
        answer = served.ask(path, Authorization=None)

        assert answer.status == 200
        assert PRIVATE_WORDS not in answer.body
        assert served.token.encode() not in answer.body


@pytest.mark.parametrize("given", [None, "", "Bearer ", "Bearer x", "Basic eDp4", "bearer"])
def test_nothing_is_read_without_the_token(served: Served, given: str | None) -> None:
    for path in ("/api/about", "/api/facts", "/api/events", "/api/nothing"):
        answer = served.ask(path, Authorization=given)

        assert answer.status == 401
        assert PRIVATE_WORDS not in answer.body
    assert served.ask("/api/do", "POST", {"action": "undo"}, Authorization=given).status == 401


def test_a_cookie_or_a_query_is_no_token(served: Served) -> None:
    cookie = served.ask("/api/facts", Authorization=None, Cookie=f"token={served.token}")
    query = served.ask(f"/api/facts?token={served.token}", Authorization=None)

    assert (cookie.status, query.status) == (401, 401)


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "0.0.0.0", "", "127.0.0.1.evil.example"]
)
def test_another_name_for_this_machine_is_refused(served: Served, host: str) -> None:
    """A name that was made to point here (DNS rebinding) reads nothing, not even the page."""
    for path in ("/", "/api/facts"):
        answer = served.ask(path, Host=host)

        assert answer.status == 421
        assert PRIVATE_WORDS not in answer.body


def test_another_port_is_another_place(served: Served) -> None:
    assert served.ask("/api/facts", Host=f"127.0.0.1:{served.port + 1}").status == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_a_page_of_another_origin_is_refused(served: Served, headers: dict[str, str]) -> None:
    """Even one that was given the token: another server of this machine is same-site."""
    answers = [
        served.ask("/api/facts", **headers),
        served.ask("/api/do", "POST", {"action": "undo"}, **headers),
    ]

    assert [answer.status for answer in answers] == [403, 403]
    assert PRIVATE_WORDS not in answers[0].body


def test_its_own_origin_is_answered(served: Served) -> None:
    for name in ("127.0.0.1", "localhost"):
        host = f"{name}:{served.port}"
        answer = served.ask("/api/facts", Host=host, Origin=f"http://{host}")

        assert answer.status == 200


def test_every_answer_has_the_policy(served: Served) -> None:
    """No script but the bundle, nothing from elsewhere, in no frame, in no cache."""
    for path, token in (("/", None), ("/api/facts", None), ("/api/nothing", served.token)):
        given = f"Bearer {token}" if token else None
        headers = served.ask(path, Authorization=given).headers

        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in headers
        assert "Python" not in headers.get("Server", "")


def test_it_listens_on_the_loopback_address_alone(served: Served) -> None:
    wanted = f"{served.port:04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = {row[1].split(":")[0] for row in rows if row[3] == "0A" and row[1].endswith(wanted)}

    assert listening == {"0100007F"}
    assert not [
        line for line in Path("/proc/net/tcp6").read_text().splitlines() if f":{wanted} " in line
    ]


def test_read_only_changes_nothing(
    shop: Path, serve: Callable[..., Served], ids: dict[str, str]
) -> None:
    served = serve(shop, "--read-only")
    answer = served.ask("/api/do", "POST", {"action": "pin", "id": ids["refunds"]})

    assert answer.status == 400
    assert "only reads" in answer.json["error"]["message"]
    assert served.data(f"facts/{ids['refunds']}")["record"]["status"] == "active"


def test_an_agent_that_starts_it_has_no_more_rights(
    shop: Path, serve: Callable[..., Served], ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a program starts is the program's: it cannot confirm what it proposed itself."""
    monkeypatch.setenv("CLAUDECODE", "1")
    served = serve(shop)

    assert served.data("about")["is_person"] is False
    given = {"id": ids["proposal"], "seen": served.seen(ids["proposal"])}
    answer = served.ask("/api/do", "POST", {"action": "accept", **given})
    assert answer.status == 400
    assert "an agent cannot confirm" in answer.json["error"]["message"]
    assert served.data(f"facts/{ids['proposal']}")["record"]["unconfirmed"] is True


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_with_ctrl_c_while_a_stream_is_open(served: Served, sign: signal.Signals) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    connection.request("GET", "/api/events", headers={"Authorization": f"Bearer {served.token}"})
    assert connection.getresponse().readline() == b"event: ready\n"

    served.process.send_signal(sign)
    _, err = served.process.communicate(timeout=10)

    assert served.process.returncode == 0
    assert "Traceback" not in err
    connection.close()


def test_it_ends_without_use_and_a_stream_is_no_use(shop: Path) -> None:
    """The clock is moved, not waited for."""
    now = [0.0]
    place = DashboardPlace(str(shop), dict(os.environ), Clock())
    server = DashboardServer(place, 0, "t" * 43, idle=3600, monotonic=lambda: now[0])
    import threading

    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        port = server.gate.port
        stream = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        stream.request("GET", "/api/events", headers={"Authorization": f"Bearer {'t' * 43}"})
        stream.getresponse().readline()
        now[0] = 3000
        asked = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        asked.request("GET", "/api/about", headers={"Authorization": f"Bearer {'t' * 43}"})
        assert asked.getresponse().status == 200
        asked.close()
        now[0] = 6500
        time.sleep(0.5)
        assert thread.is_alive()
        again = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        token = {"Authorization": f"Bearer {'t' * 43}", "X-Gitmem-Refresh": "1"}
        again.request("GET", "/api/about", headers=token)
        assert again.getresponse().status == 200
        again.close()
        now[0] = 6601
        thread.join(5)

        assert not thread.is_alive()
        assert server.ended_idle
        stream.close()
    finally:
        if thread.is_alive():
            server.shutdown()
            thread.join(5)


def test_the_token_is_in_no_argument_of_a_browser(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arguments are public on a machine: a file that only its owner reads leads to the page.

    It has another name each time, and is gone when the page has come, or with the server.
    """
    note = tmp_path / "opened"
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\nprintf "%s" "$*" >"{note}"\n')
    script.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(script))
    files = []
    for is_used in (True, False):
        note.unlink(missing_ok=True)
        with _opened(shop) as url:
            until = time.monotonic() + 10
            while not note.exists() or not note.read_text():
                assert time.monotonic() < until
                time.sleep(0.05)
            opened = note.read_text()
            file = Path(opened.removeprefix("file://"))
            token = url.partition("#token=")[2]

            assert token not in opened
            assert token in file.read_text()
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            if is_used:
                _come(url, "x")
                time.sleep(0.3)
                assert file.exists()
                _come(url, token)
                while file.exists():
                    assert time.monotonic() < until
                    time.sleep(0.05)
        assert not file.exists()
        files.append(file)
    assert files[0] != files[1]


@contextmanager
def _opened(shop: Path) -> Iterator[str]:
    """Start a dashboard that opens a browser; give its address."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "gitmem", "-C", str(shop), "dashboard", "--json"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    text = "".join(iter(process.stdout.readline, "}\n")) + "}"
    try:
        yield json.loads(text)["data"]["page_url"]
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


def _come(url: str, token: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(url).port or 0, timeout=10)
    connection.request("GET", "/api/about", headers={"Authorization": f"Bearer {token}"})
    connection.getresponse().read()
    connection.close()


def test_a_port_that_is_taken_is_said(shop: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        command = [sys.executable, "-P", "-m", "gitmem", "-C", str(shop), "dashboard"]
        done = subprocess.run(
            [*command, "--no-open", "--port", str(port)], capture_output=True, text=True
        )

    assert done.returncode == 1
    assert f"port {port} cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("is_moved", [True, False])
def test_a_repository_that_is_moved_or_deleted_is_said(
    served: Served, shop: Path, *, is_moved: bool
) -> None:
    """With the command to start again; nothing speaks of options that were not given."""
    if is_moved:
        shop.rename(shop.with_name("moved"))
    else:
        shutil.rmtree(shop / ".git")
    for answer in (
        served.ask("/api/about"),
        served.ask("/api/do", "POST", {"action": "undo", "command": "0" * 26}),
    ):
        error = answer.json["error"]

        assert answer.status == 410
        assert "moved or deleted" in error["message"]
        assert "git mem dashboard" in error["hint"]


def test_a_new_stream_closes_the_oldest(served: Served) -> None:
    """However many streams are open, requests are answered, and the newest stream lives."""
    streams = []
    for _ in range(100):
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
        header = {"Authorization": f"Bearer {served.token}"}
        connection.request("GET", "/api/events", headers=header)
        response = connection.getresponse()
        assert response.status == 200
        assert response.readline() == b"event: ready\n"
        streams.append((connection, response))
    try:
        assert served.ask("/api/about").status == 200
        assert b"event: change" not in streams[0][1].read()  # it has ended
        given = {"id": served.data("facts")["rows"][0][0]}
        served.act("pin", **given, seen=served.seen(given["id"]))
        rest = iter(streams[-1][1].readline, b"event: change\n")
        assert len(list(rest)) < 10
    finally:
        for connection, _ in streams:
            connection.close()
