"""The MCP server: how soon a new one answers, and a search by it against the command.

A cold answer is the time from the start of the process until the first search is answered, the
handshake and the list of tools among it. The least of several is judged: what it takes where nothing else
runs. The client writes lines by hand, so that none of the time is its own.
"""

import itertools
import json
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.benchmarks.bench_cli import WORDS, program
from tests.benchmarks.common import Bench, alternate, ms, run, table, timed, times

COLD = 1.0  # seconds until the first answer
SEARCH = 2.0  # times the command


class Server:
    """A server in a repository, and its client."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [*program(), "mcp"], cwd=path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._numbers = itertools.count()

    def __enter__(self) -> Self:
        who = {"name": "bench", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=who)
        self._write({"method": "notifications/initialized"})
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request; return its result."""
        self._write({"id": next(self._numbers), "method": method, "params": params})
        assert self._process.stdout is not None
        return dict(json.loads(self._process.stdout.readline())["result"])

    def search(self, words: str) -> None:
        """Search, and check that something was found."""
        result = self.ask("tools/call", name="search", arguments={"query": words})
        text = result["content"][0]["text"]
        assert not result.get("isError") and "- [" in text, text


def first_answer(path: Path) -> float:
    """Start a server, list its tools, search, and end it; return the seconds until the answer."""
    began = time.perf_counter()
    with Server(path) as server:
        server.ask("tools/list")
        server.search(WORDS[0])
        return time.perf_counter() - began


def command(path: Path, words: str) -> None:
    """Search by the command."""
    subprocess.run([*program(), "search", words], cwd=path, stdout=subprocess.DEVNULL, check=True)


def nothing() -> None:
    """Start Python, for comparison."""
    subprocess.run([sys.executable, "-c", "pass"], check=True)


def at(bench: Bench, count: int) -> list[tuple[str, ...]]:
    """Return the rows of the table for one size."""
    path = bench.copy(count, f"at-{count}")
    rounds, name = bench.times(11), f"{count:,} records"
    first_answer(path)
    cold = [first_answer(path) for _ in range(rounds)]
    bare = [timed(nothing) for _ in range(rounds)]
    words = itertools.cycle(WORDS)
    with Server(path) as server:
        warm = alternate(
            lambda: server.search(next(words)), lambda: command(path, next(words)), rounds
        )
    seconds = bench.verdict(f"cold answer, {name}", min(cold), COLD)
    ratio = bench.verdict(f"search, {name}", warm.ratio, SEARCH)
    return [
        (
            f"cold answer, {name}",
            ms(cold),
            ms(bare),
            f"least {min(cold):.2f} s",
            f"{seconds} (s)",
        ),
        (f"search, {name}", ms(warm.left), ms(warm.right), times(warm.ratio), f"{ratio} (x)"),
    ]


def body(bench: Bench) -> None:
    """Measure at two sizes."""
    rows = [
        row
        for count in (bench.size(1_000, 100), bench.size(10_000, 200))
        for row in at(bench, count)
    ]
    table("MCP", ("what", "server", "python -c pass, or the command", "ratio", "budget"), rows)


if __name__ == "__main__":
    sys.exit(run("bench_mcp", body))
