"""Tree-sitter queries in a separate process.

A query that hangs or crashes there is ended, and nothing else is affected.

`ask` talks to one child, started when it is first needed. The child (`python -P -m
gitmem.codemap.symbols.query_worker`) reads a length and JSON, answers JSON in a line, and ends with
its input. It evaluates predicates itself: tree-sitter's `match?` runs on Python's `re`, which has
no limit, and its `eq?` of two captures can crash.
"""

import atexit
import json
import re
import select
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

START = 5.0  # seconds that the child may take to start
IN_PROGRESS = 256  # unfinished matches that a query may hold
MAX_LINE = 2_000  # characters of a captured text that a predicate sees
MEMORY = 1 << 30  # bytes that the child may have

OURS = "gitmem-"  # before the name of each predicate, so that tree-sitter leaves it to us
_STRING = r'"(?:[^"\\]|\\.)*+(?:"|\Z)'
_PARTS = re.compile(
    rf"(?P<mark>[#.])(?P<name>[A-Za-z_][\w.-]{{0,60}}[?!])|{_STRING}|;[^\n]*", re.DOTALL
)

_lock = threading.Lock()
_child: "subprocess.Popen[bytes] | None" = None


def ask(request: dict[str, Any], seconds: float) -> dict[str, Any] | None:
    """Return the child's answer to a query; None when it crashed or took longer than it may."""
    data = json.dumps(request).encode()
    with _lock:
        for again in (True, False):
            child = _started()
            if child is None:
                return {"error": "queries need a process of their own, which could not be started."}
            try:
                assert child.stdin is not None
                child.stdin.write(struct.pack(">I", len(data)) + data)
                child.stdin.flush()
            except OSError:  # it was ended from outside since
                _end()
                if again:
                    continue
                return None
            line = _line(child, seconds)
            if line is None:
                _end()
                return None
            return dict(json.loads(line))
    return None


def _started() -> "subprocess.Popen[bytes] | None":
    global _child
    if _child is not None and _child.poll() is None:
        return _child
    _end()
    try:
        _child = subprocess.Popen(
            [sys.executable, "-P", "-m", "gitmem.codemap.symbols.query_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
    except OSError:
        return None
    if _line(_child, START) is None:
        _end()
    return _child


def _line(child: "subprocess.Popen[bytes]", seconds: float) -> bytes | None:
    """Return a line of the child, None when there is none in time."""
    assert child.stdout is not None
    until = time.monotonic() + seconds
    out = b""
    while not out.endswith(b"\n"):
        ready, _, _ = select.select([child.stdout], [], [], max(0.0, until - time.monotonic()))
        part = child.stdout.read(65_536) if ready else b""
        if not part:
            return None
        out += part
    return out


def _end() -> None:
    """End the child, and wait for it."""
    global _child
    if _child is not None:
        _child.kill()
        for pipe in (_child.stdin, _child.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:  # unsent input to a child that is gone
                pass
        _child.wait()
        _child = None


atexit.register(_end)


# -- inside the child


def answer(query: str, language: str, text: str, most: int) -> dict[str, Any]:  # noqa: C901
    """Return the lines of a query's matches, or what is wrong with it."""
    from tree_sitter import Query, QueryCursor, QueryError

    from gitmem.codemap import grammars
    from gitmem.codemap.symbols.linear_regex import compiled
    from gitmem.errors import UserError

    grammar = grammars.grammar(language)
    if grammar is None:
        return {
            "error": f"the grammar of {language} is not installed, or does not work.",
            "hint": f"pip install tree-sitter-{language}",
        }
    try:
        made = Query(
            grammar, _PARTS.sub(lambda p: f"#{OURS}{p['name']}" if p["name"] else p[0], query)
        )
    except (QueryError, ValueError) as error:
        return {
            "error": f"this is not a query for {language}: {str(error).rstrip('.')}.",
            "hint": "See https://tree-sitter.github.io/tree-sitter/using-parsers/queries",
        }
    if not made.capture_count:
        return {
            "error": "the query captures nothing.",
            "hint": "Name what is meant: (call function: (identifier) @here)",
        }
    refused: list[UserError] = []
    if "match?" in query:  # an expression is refused even where nothing in the text would try it
        for part in re.finditer(rf"match\?\s*@[\w.?!-]+\s*({_STRING})", query):
            try:
                compiled(
                    re.sub(
                        r"\\(.)",
                        lambda m: {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}.get(m[1], m[1]),
                        part[1][1:-1],
                        flags=re.DOTALL,
                    )
                )
            except UserError as error:
                return {"error": str(error), "hint": error.hint}
    tree = grammars.tree_of(text.encode("utf-8", "replace"), language)
    if tree is None:
        return {"lines": []}

    def holds(
        predicate: str,
        args: list[tuple[str, Any]],
        pattern_index: int,  # noqa: ARG001 - as it is called
        captures: dict[str, list[Any]],
    ) -> bool:
        try:
            return _holds(predicate.removeprefix(OURS), args, captures)
        except UserError as error:
            refused.append(error)
            return False

    found: set[int] = set()
    for _, captures in QueryCursor(made, match_limit=IN_PROGRESS).matches(tree.root_node, holds):
        spots = [node.start_point[0] + 1 for nodes in captures.values() for node in nodes]
        if spots:
            found.add(min(spots))
    if refused:
        return {"error": str(refused[0]), "hint": refused[0].hint}
    return {"lines": sorted(found)[:most]}


def _holds(name: str, args: Sequence[tuple[str, str]], captures: dict[str, list[Any]]) -> bool:
    """Say whether a predicate holds; those that are only for editors do."""
    from gitmem.codemap.symbols.linear_regex import compiled

    kind = re.fullmatch(r"((?:any-|not-)*)(eq|match|any-of)\?", name)
    if kind is None or not args or args[0][1] != "capture":
        return True

    def said(arg: tuple[str, str]) -> list[str]:
        return (
            [n.text.decode("utf-8", "replace")[:MAX_LINE] for n in captures.get(arg[0], [])]
            if arg[1] == "capture"
            else [arg[0]]
        )

    have = said(args[0])
    want = [text for arg in args[1:] for text in said(arg)]
    if kind[2] == "match":
        search = compiled(want[0]).search if want else None
        hits = [bool(search and search(text)) for text in have]
    else:
        hits = [text in want for text in have]
    if "not-" in kind[1]:
        hits = [not hit for hit in hits]
    return any(hits) if "any-" in kind[1] else all(hits)


def main() -> None:
    """Answer until the input ends."""
    import resource

    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except (ValueError, OSError):  # a lower limit is set already
        pass
    source, out = sys.stdin.buffer, sys.stdout.buffer
    out.write(b"{}\n")
    out.flush()
    while len(head := source.read(4)) == 4:
        request = json.loads(source.read(struct.unpack(">I", head)[0]))
        out.write(json.dumps(answer(**request)).encode() + b"\n")
        out.flush()


if __name__ == "__main__":
    main()
