"""The language server against a trivial pygls server that publishes a constant: start-up, open to diagnostics, edits, freshness."""

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gitmem.codemap.anchors.resolve import attach
from gitmem.codemap.anchors.spec import parse
from gitmem.git.object_codec import object_id
from gitmem.records.record import Record
from gitmem.services.records import write
from tests.benchmarks.common import (
    Bench,
    Pairs,
    fill,
    git,
    ms,
    new_repo,
    opened,
    records,
    run,
    table,
    times,
    writer,
)

START_BUDGET = 1.5
OPEN_BUDGET = 1.3
EDIT_BUDGET = 1.0  # edits may not cost more than the trivial server's, which does nothing with them
FRESH_BUDGET = 1.0  # seconds
EDITS = 1_000
FILE = "src/pay.py"
OTHERS = 60  # files like it, each with as many gotchas
# seconds in which nothing is asked, before files are opened for the first time: what a server makes
# ahead it makes then
REST = 1.0
HERE = 10  # gotchas about the file that is opened

TRIVIAL = f"""
from lsprotocol import types as t
from pygls.lsp.server import LanguageServer

server = LanguageServer("trivial", "1")

def on_open(ls: LanguageServer, params: t.DidOpenTextDocumentParams) -> None:
    uri, line = params.text_document.uri, t.Range(t.Position(0, 0), t.Position(0, 1))
    ls.text_document_publish_diagnostics(t.PublishDiagnosticsParams(uri, [t.Diagnostic(line, str(n)) for n in range({HERE})]))

def on_hover(ls: LanguageServer, params: t.HoverParams) -> None:
    return None

server.feature(t.TEXT_DOCUMENT_DID_OPEN)(on_open)
server.feature(t.TEXT_DOCUMENT_HOVER)(on_hover)
server.start_io()
"""

OURS = [sys.executable, "-m", "gitmem_lsp"]
OTHER = [sys.executable, "-c", TRIVIAL]


class Client:
    """A server process and frames to and from it, as thin as can be."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._ids = itertools.count(1)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.ask("shutdown", None)
        self.tell("exit", None)
        self.process.wait(10)
        for stream in (self.process.stdin, self.process.stdout):
            assert stream
            stream.close()

    def tell(self, method: str, params: Any, **extra: Any) -> None:
        """Send a message."""
        assert self.process.stdin
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **extra}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        """Return the next message."""
        assert self.process.stdout
        length = 0
        while (line := self.process.stdout.readline()) != b"\r\n":
            if not line:
                raise RuntimeError("the server has ended")
            if line.startswith(b"Content-Length"):
                length = int(line.split(b":")[1])
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message

    def ask(self, method: str, params: Any) -> Any:
        """Send a request; return its result."""
        id = next(self._ids)
        self.tell(method, params, id=id)
        while (message := self.read()).get("id") != id:
            pass
        return message.get("result")

    def initialize(self, root: Path) -> None:
        """Begin a session."""
        folders = [{"uri": root.as_uri(), "name": "bench"}]
        self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "capabilities": {},
                "workspaceFolders": folders,
            },
        )
        self.tell("initialized", {})

    def open(self, uri: str, text: str) -> int:
        """Open a document; return how many diagnostics come."""
        self.tell(
            "textDocument/didOpen",
            {"textDocument": {"uri": uri, "languageId": "python", "version": 1, "text": text}},
        )
        return self.shown(uri)

    def close(self, uri: str) -> None:
        """Close a document; ours then publishes an empty list, which the next `shown` passes over."""
        self.tell("textDocument/didClose", {"textDocument": {"uri": uri}})

    def shown(self, uri: str) -> int:
        """Wait for the document's diagnostics; return how many there are."""
        while True:
            params = self.read().get("params") or {}
            if params.get("uri") == uri and params.get("diagnostics"):
                return len(params["diagnostics"])

    def peak(self) -> float:
        """Return the process's peak of resident memory in MiB."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
        raise RuntimeError("no VmHWM")


def source(lines: int) -> str:
    """Return a file of so many lines, each unlike the others."""
    return "".join(
        f"    total_{n} = charge(account_{n % 37}, amount={n}, currency='EUR')\n"
        for n in range(lines)
    )


def build(bench: Bench, count: int, lines: int) -> tuple[Path, str]:
    """Return a repository with `count` unresolved gotchas, few of them about one file, and that file's text."""
    path = bench.fresh(f"repo-{count}")
    new_repo(path)
    text = source(lines)
    (path / FILE).parent.mkdir()
    (path / FILE).write_text(text)
    for name in map(other_file, range(OTHERS)):
        (path / name).write_text(text)
    git(path, "add", "-A")
    git(path, "commit", "-qm", "code")
    blob = object_id("blob", text.encode(), "sha1")
    made: list[Record] = []
    for number, item in enumerate(
        itertools.islice((r for r in records(count * 5) if r.kind == "gotcha"), count)
    ):
        if number % (count // HERE) == 0:
            spot = attach(parse(f"{FILE}:{1 + number * (lines - 1) // count}"), text, blob)
        elif number < count // HERE and number <= OTHERS * HERE:
            spot = attach(
                parse(f"{other_file((number - 1) // HERE)}:{1 + number % HERE * 150}"), text, blob
            )
        else:
            spot = {
                "path": f"src/module_{number % 500}.py",
                "lines": [1 + number % 80, 1 + number % 80],
            }
        made.append(item.change(resolved=None, anchors=[spot]))
    with opened(path) as app:
        fill(app.store(), made)
        app.index()
    return path, text


def other_file(number: int) -> str:
    """Return the name of one of the files that are opened once."""
    return f"src/pay_{number}.py"


def in_turn(ours: Callable[[], float], other: Callable[[], float], rounds: int) -> Pairs:
    """Let two actions time themselves in turn, after one round that does not count."""
    pairs = Pairs([], [])
    for number in range(-1, rounds):
        a, b = (ours(), other()) if number % 2 else tuple(reversed((other(), ours())))
        if number >= 0:
            pairs.left.append(a)
            pairs.right.append(b)
    return pairs


def cold(command: list[str], path: Path, text: str | None) -> float:
    """Return the time from the start of a process to its answer to `initialize`, or with a text to the first diagnostics."""
    began = time.perf_counter()
    client = Client(command)
    client.initialize(path)
    if text is not None:
        client.open((path / FILE).as_uri(), text)
    took = time.perf_counter() - began
    with client:
        return took


def warm(client: Client, uri: str, text: str) -> float:
    """Return the time from opening a document to its diagnostics in a server that runs."""
    began = time.perf_counter()
    count = client.open(uri, text)
    took = time.perf_counter() - began
    assert count == HERE, count
    client.close(uri)
    return took


def edit(client: Client, uri: str, version: int, line: int, text: str) -> None:
    """Send an edit that puts a text at the start of a line."""
    at = {"line": line, "character": 0}
    change = {"range": {"start": at, "end": at}, "text": text}
    client.tell(
        "textDocument/didChange",
        {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]},
    )


def storm(client: Client, uri: str, text: str, count: int) -> float:
    """Return the time from the first of many edits of an open document to the answer of a request that was sent after the last."""
    client.open(uri, text)
    began = time.perf_counter()
    for number in range(count):
        edit(
            client,
            uri,
            number + 2,
            (number * 7919) % 10_000,
            f"v{number % 10} = {number}\n" if number % 2 else "x",
        )
    client.ask(
        "textDocument/hover",
        {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}},
    )
    took = time.perf_counter() - began
    client.close(uri)
    return took


def typing(client: Client, uri: str, text: str, count: int) -> tuple[float, float]:
    """Type into a document, a line every 5 ms; return how late the last edit was answered, and when its diagnostics were there."""
    client.open(uri, text)
    for number in range(count):
        edit(client, uri, number + 2, 0, "#\n")
        time.sleep(0.005)
    began = time.perf_counter()
    client.ask(
        "textDocument/hover",
        {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}},
    )
    late = time.perf_counter() - began
    lines: list[int] = []
    while not lines or min(lines) < count:
        params = client.read().get("params") or {}
        if params.get("uri") == uri and params.get("version") == count + 1:
            lines = [d["range"]["start"]["line"] for d in params["diagnostics"]]
    took = time.perf_counter() - began
    client.close(uri)
    return late, took


def fresh(client: Client, path: Path, uri: str, rounds: int) -> list[float]:
    """Return the times from a write of this process to the server's new diagnostics."""
    out = []
    with opened(path) as app:
        for number in range(rounds):
            draft = write.draft(
                writer(app),
                "gotcha",
                f"fresh {number}",
                "",
                anchors=[{"path": FILE, "lines": [2, 2]}],
            )
            write.add(app.store(), writer(app), draft)
            began = time.perf_counter()
            client.shown(uri)
            out.append(time.perf_counter() - began)
    return out


def body(bench: Bench) -> None:
    """Measure."""
    os.environ["GIT_CEILING_DIRECTORIES"] = str(bench.folder)
    count, lines = bench.size(10_000, 1_000), 2_000
    path, text = build(bench, count, lines)
    uri = (path / FILE).as_uri()
    starts = in_turn(
        lambda: cold(OURS, path, None), lambda: cold(OTHER, path, None), bench.times(10)
    )
    firsts = in_turn(
        lambda: cold(OURS, path, text), lambda: cold(OTHER, path, text), bench.times(10)
    )
    rounds = bench.times(50)
    fresh_texts = (f"# version {n}\n" + text for n in itertools.count())
    big = source(10_000)
    with Client(OURS) as ours, Client(OTHER) as other:
        for client in (ours, other):
            client.initialize(path)
        edited = "# one line more\n" + text
        same = in_turn(lambda: warm(ours, uri, text), lambda: warm(other, uri, text), rounds)
        again = in_turn(lambda: warm(ours, uri, edited), lambda: warm(other, uri, edited), rounds)
        time.sleep(REST)
        unseen = ((path / other_file(number)).as_uri() for number in range(OTHERS))
        first = in_turn(
            lambda: warm(ours, next(unseen), text), lambda: warm(other, uri, text), bench.times(25)
        )
        never = in_turn(
            lambda: warm(ours, uri, next(fresh_texts)),
            lambda: warm(other, uri, next(fresh_texts)),
            rounds,
        )
        edits = in_turn(
            lambda: storm(ours, uri, big, EDITS),
            lambda: storm(other, uri, big, EDITS),
            bench.times(6),
        )
        late, settled = typing(ours, uri, big, bench.size(EDITS, 100))
        ours.open(uri, text)
        delays = fresh(ours, path, uri, bench.times(10))
        peaks = ours.peak(), other.peak()

    rows = []
    for what, pairs, budget in (
        ("start to the answer of initialize", starts, START_BUDGET),
        ("start to the first diagnostics", firsts, START_BUDGET),
        ("open to diagnostics, text as recorded", same, OPEN_BUDGET),
        ("open to diagnostics, a file not opened before", first, OPEN_BUDGET),
        ("open to diagnostics, text edited since", again, OPEN_BUDGET),
        (f"{EDITS:,} edits at once to a document of 10,000 lines", edits, EDIT_BUDGET),
        ("open to diagnostics, a text never seen before", never, None),
    ):
        verdict = bench.verdict(what, pairs.ratio, budget) if budget else "none: the work itself"
        rows.append([what, ms(pairs.left), ms(pairs.right), times(pairs.ratio), verdict])
    title = (
        f"{count:,} unresolved gotchas in the store, {HERE} of them about a file of {lines:,} lines"
    )
    table(title, ["what", "git-mem-lsp", "trivial pygls server", "ratio", "budget"], rows)
    worst = max(delays)
    facts = [
        ["write of another process to diagnostics, median", ms(delays), ""],
        [
            "the same, worst",
            ms([worst]),
            f"in seconds: {bench.verdict('freshness', worst, FRESH_BUDGET)}",
        ],
        [f"typing {EDITS:,} lines, one every 5 ms: answer after the last", ms([late]), ""],
        [
            "the same: its diagnostics, a pause of 200 ms included",
            ms([settled]),
            f"in seconds: {bench.verdict('typing', settled, FRESH_BUDGET)}",
        ],
        ["peak of resident memory", f"{peaks[0]:.0f} MiB", f"trivial server: {peaks[1]:.0f} MiB"],
    ]
    table("Freshness, typing and memory", ["what", "git-mem-lsp", "budget or comparison"], facts)


if __name__ == "__main__":
    sys.exit(run("bench_lsp", body))
