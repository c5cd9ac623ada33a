"""Ten thousand messages, sound and broken, and random edits: no crash, no request without an answer, no diagnostic on a wrong line."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gitmem_lsp.features.commands import COMMANDS
from tests.lsp.raw import Raw
from tests.scale import scaled

MESSAGES = scaled(10_000, 1_500)
BATCH = scaled(625, 500)
SEEDS = scaled(6, 2)
MARKED = 12
MEMORY = 400  # MiB that the server may have grown to

ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    1e308,
    2**31,
    -(2**63),
    "",
    "x" * 5000,
    "\u202e\x00",
    [],
    [[[]]],
    {},
    {"line": "x"},
    {"uri": 7},
    "file:///",
    "file:///%00",
]
REQUESTS = [
    "textDocument/hover",
    "textDocument/codeAction",
    "textDocument/codeLens",
    "textDocument/completion",
    "textDocument/documentLink",
    "workspace/symbol",
    "completionItem/resolve",
    "documentLink/resolve",
    "workspaceSymbol/resolve",
    "workspace/executeCommand",
    "textDocument/unheardOf",
]


@pytest.fixture
async def raw(env: dict[str, str]) -> AsyncIterator[Raw]:
    """A server for a client without a library."""
    made = await Raw.start(env)
    yield made
    await made.close()


class Fuzz:
    """Random messages about two documents: one that is kept in step with the server's, one that anything is done to."""

    def __init__(self, seed: int, kept: str, wild: str, lines: list[str]) -> None:
        self.random = random.Random(seed)
        self.kept, self.wild, self.lines = kept, wild, lines
        self.version = 1
        self.ids = 10_000
        self.asked: set[int] = set()

    def position(self) -> dict[str, int]:
        return {"line": self.random.randint(0, 60), "character": self.random.randint(0, 40)}

    def range(self) -> dict[str, Any]:
        return {"start": self.position(), "end": self.position()}

    def params(self, method: str, uri: str) -> Any:
        """Return parameters that make sense."""
        document = {"uri": uri}
        if method == "workspace/executeCommand":
            name = self.random.choice(sorted(COMMANDS))
            id = "got-00000000000000000000000000"
            sound = {
                "gitmem.list": [uri],
                "gitmem.status": [uri],
                "gitmem.report": [uri],
                "gitmem.timeline": [uri, self.position()],
                "gitmem.record": [uri],
            }
            return {
                "command": name,
                "arguments": [id]
                if name not in sound
                else []
                if name == "gitmem.record"
                else sound[name],
            }
        if method == "workspace/symbol":
            return {"query": self.random.choice(["", "marked", '"', "a* OR", "(", "NEAR("])}
        if method.endswith("/resolve"):
            return {
                "label": "x",
                "name": "x",
                "kind": 1,
                "location": {"uri": uri},
                "range": self.range(),
                "data": {"id": "got-1", "uri": uri},
            }
        return {
            "textDocument": document,
            "position": self.position(),
            "range": self.range(),
            "context": {"diagnostics": []},
        }

    def broken(self, value: Any) -> Any:
        """Return a value with something in it replaced, taken away or added."""
        if isinstance(value, dict) and value and self.random.random() < 0.8:
            key = self.random.choice(sorted(value))
            out = dict(value)
            if self.random.random() < 0.3:
                del out[key]
            else:
                out[key] = self.broken(out[key])
            return out
        return self.random.choice(ODD)

    def edit(self) -> dict[str, Any]:
        """Edit the kept document and its copy here: lines are put in, taken out, changed; marked ones only go whole."""
        start = self.random.randint(0, len(self.lines) - 1)
        size = 0 if self.random.random() < 0.8 else self.random.randint(1, 2)
        fresh = [
            f"filler_{self.random.randint(0, 10**9)} = '😋é' * {n}"
            for n in range(self.random.randint(0, 3))
        ]
        end = min(len(self.lines), start + size)
        self.lines[start:end] = fresh
        if not self.lines:
            self.lines.append("")
        self.version += 1
        change = {
            "range": {
                "start": {"line": start, "character": 0},
                "end": {"line": end, "character": 0},
            },
            "text": "".join(line + "\n" for line in fresh),
        }
        return {
            "textDocument": {"uri": self.kept, "version": self.version},
            "contentChanges": [change],
        }

    def next(self, raw: Raw) -> None:
        """Send one random message."""
        dice = self.random.random()
        if dice < 0.25:
            raw.send("textDocument/didChange", self.edit())
        elif dice < 0.45:
            self._ask(
                raw,
                method := self.random.choice(REQUESTS),
                self.params(method, self.random.choice([self.kept, self.wild])),
            )
        elif dice < 0.65:
            self._ask(
                raw,
                method := self.random.choice(REQUESTS),
                self.broken(self.params(method, self.wild)),
            )
        elif dice < 0.75:
            raw.send(
                "textDocument/didChange",
                self.broken(
                    {
                        "textDocument": {"uri": self.wild, "version": 3},
                        "contentChanges": [{"range": self.range(), "text": "a\r\nb"}],
                    }
                ),
            )
        elif dice < 0.80:
            item = {
                "uri": self.wild,
                "languageId": "python",
                "version": 1,
                "text": self.random.choice(["", "x = 1\n" * 50, "a\0b", "\r" * 9]),
            }
            raw.send(
                "textDocument/didOpen", {"textDocument": self.broken(item) if dice < 0.77 else item}
            )
        elif dice < 0.84:
            raw.send(
                self.random.choice(["textDocument/didClose", "textDocument/didSave"]),
                {"textDocument": {"uri": self.wild}},
            )
        elif dice < 0.88:
            raw.send(
                "$/cancelRequest", {"id": self.random.choice([*sorted(self.asked)[-3:], "none", 0])}
            )
        elif dice < 0.92:
            raw.send(
                self.random.choice(
                    [
                        "$/unheardOf",
                        "workspace/didChangeConfiguration",
                        "initialized",
                        "workspace/didChangeWatchedFiles",
                    ]
                ),
                self.random.choice(ODD),
            )
        elif dice < 0.96:
            body = json.dumps(
                {
                    "jsonrpc": self.random.choice(["2.0", "1.0", None]),
                    "method": self.random.choice(ODD),
                    "params": self.random.choice(ODD),
                }
            )
            raw.send_bytes(body.encode())
        else:
            raw.send_bytes(
                self.random.choice(
                    [
                        b"",
                        b"{",
                        b"[]",
                        b"[1]",
                        b"null",
                        b"\xff\xfe",
                        b'{"jsonrpc": "2.0", "id": {}, "result": 1}',
                        b'"x"',
                        b"7",
                        bytes(99),
                    ]
                )
            )

    def _ask(self, raw: Raw, method: str, params: Any) -> None:
        self.ids += 1
        self.asked.add(self.ids)
        raw.send(method, params, self.ids)


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.stress) for seed in range(2, SEEDS + 1))]
)
async def test_thousands_of_messages(make_repo, raw, seed):
    """After each batch the server answers; at the end every gotcha whose line is there is on it, and none is on another line."""
    text = [
        f"filler_{n} = {n}" if n % 3 else f"marked_{n} = compute({n}, of='{n * 7919}')"
        for n in range(MARKED * 3)
    ]
    repo = make_repo(**{"kept.py": "".join(line + "\n" for line in text), "wild.py": "x = 1\n"})
    for n in range(0, MARKED * 3, 3):
        repo.gotcha(text[n], f"kept.py:{n + 1}")
    kept = repo.root / "kept.py"
    await raw.initialize(repo.root)
    raw.open(kept)
    fuzz = Fuzz(seed, kept.as_uri(), repo.uri("wild.py"), list(text))
    wrong, placed = 0, 0
    answered: set[int] = set()
    for _ in range(MESSAGES // BATCH):
        for _ in range(BATCH):
            fuzz.next(raw)
        answer = await raw.ask(
            "textDocument/hover",
            {"textDocument": {"uri": kept.as_uri()}, "position": {"line": 0, "character": 0}},
        )
        assert "error" not in answer
        shown = await settled(raw, kept.as_uri(), fuzz.version)
        w, p = judge(shown, fuzz.lines)
        wrong, placed = wrong + w, placed + p
        # a document where much of what was marked is left again
        raw.send("textDocument/didClose", {"textDocument": {"uri": kept.as_uri()}})
        fuzz.lines, fuzz.version = list(text), 1
        raw.open(kept)
        answered |= {
            m["id"] for m in raw.messages if isinstance(m.get("id"), int) and "method" not in m
        }
        raw.messages.clear()

    assert wrong == 0
    assert placed > MARKED
    left = fuzz.asked - answered
    while left:
        found = await raw.until(lambda m: m.get("id") in left)
        left.discard(found["id"])
    status = Path(f"/proc/{raw.process.pid}/status").read_text().splitlines()
    memory = next(int(row.split()[1]) for row in status if row.startswith("VmRSS"))
    assert memory / 1024 < MEMORY
    await raw.ask("shutdown")
    raw.send("exit")
    assert await raw.end() == 0


async def settled(raw: Raw, uri: str, version: int) -> list[dict[str, Any]]:
    """Return the diagnostics of a version of a document, once they are the last word on it."""

    def is_shown(m: dict[str, Any]) -> bool:
        return (
            m.get("method") == "textDocument/publishDiagnostics"
            and m["params"]["uri"] == uri
            and m["params"].get("version") == version
        )

    await raw.until(is_shown)
    await asyncio.sleep(0.1)
    return [m for m in raw.messages if is_shown(m)][-1]["params"]["diagnostics"]


def judge(shown: list[dict[str, Any]], lines: list[str]) -> tuple[int, int]:
    """Return how many gotchas are on a line that is not the one they name though that is there, or not adrift though it is gone; and how many are right."""
    wrong = placed = 0
    for diagnostic in shown:
        for title in diagnostic["message"].split("; "):
            name, _, state = title.partition(" (code")
            name = name.removesuffix(" (moved)")
            if not name.startswith("marked"):
                continue
            line = diagnostic["range"]["start"]["line"]
            if name in lines:
                right = line < len(lines) and lines[line] == name
                wrong += not right and not state
                placed += right
            else:
                wrong += not state
    return wrong, placed
