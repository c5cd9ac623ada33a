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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Query, Tree

START = 5.0  # seconds that the child may take to start
BUSY = 10  # times as long as it may work is waited for it: others may have the processor
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
    """Return the child's answer to a query.

    None when it crashed, or took more than these seconds of the processor's time.
    """
    data = json.dumps({**request, "seconds": seconds}).encode()
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
            line = _line(child, BUSY * seconds)
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


def answer(query: str, language: str, text: str, most: int) -> dict[str, Any]:
    """Return the lines of a query's matches, or what is wrong with it."""
    from tree_sitter import Query, QueryError

    from gitmem.codemap import grammars
    from gitmem.errors import UserError

    grammar = grammars.grammar(language)
    if grammar is None:
        return {
            "error": f"the grammar of {language} is not installed, or does not work.",
            "hint": f"Install it: {grammars.install_command([language])}",
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
    try:
        _check_expressions(query)
        tree = grammars.tree_of(text.encode("utf-8", "replace"), language)
        return {"lines": _matched_lines(made, tree)[:most] if tree is not None else []}
    except UserError as error:
        return {"error": str(error), "hint": error.hint}


def _check_expressions(query: str) -> None:
    """Raise UserError for an expression even where nothing in the text would try it."""
    from gitmem.codemap.symbols.linear_regex import compiled

    escapes = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}
    parts = re.finditer(rf"match\?\s*@[\w.?!-]+\s*({_STRING})", query)
    for part in parts if "match?" in query else ():
        inner = part[1][1:-1]
        compiled(re.sub(r"\\(.)", lambda m: escapes.get(m[1], m[1]), inner, flags=re.DOTALL))


def _matched_lines(query: "Query", tree: "Tree") -> list[int]:
    """Return the first line of each match; raises UserError for what a predicate may not ask."""
    from tree_sitter import QueryCursor

    from gitmem.errors import UserError

    refused: list[UserError] = []

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

    lines: set[int] = set()
    for _, captures in QueryCursor(query, match_limit=IN_PROGRESS).matches(tree.root_node, holds):
        spots = [node.start_point[0] + 1 for nodes in captures.values() for node in nodes]
        if spots:
            lines.add(min(spots))
    if refused:
        raise refused[0]
    return sorted(lines)


def _holds(name: str, args: Sequence[tuple[str, str]], captures: dict[str, list[Any]]) -> bool:
    """Say whether a predicate holds; those that are only for editors do."""
    kind = re.fullmatch(r"((?:any-|not-)*)(eq|match|any-of)\?", name)
    if kind is None or not args or args[0][1] != "capture":
        return True
    have = _texts(args[0], captures)
    want = [text for arg in args[1:] for text in _texts(arg, captures)]
    hits = _searched(have, want) if kind[2] == "match" else [text in want for text in have]
    if "not-" in kind[1]:
        hits = [not hit for hit in hits]
    return any(hits) if "any-" in kind[1] else all(hits)


def _texts(arg: tuple[str, str], captures: dict[str, list[Any]]) -> list[str]:
    """Return what a predicate's argument says: a text, or what a capture has."""
    if arg[1] != "capture":
        return [arg[0]]
    return [node.text.decode("utf-8", "replace")[:MAX_LINE] for node in captures.get(arg[0], [])]


def _searched(texts: Sequence[str], expressions: Sequence[str]) -> list[bool]:
    """Return for each text whether the first expression is in it."""
    from gitmem.codemap.symbols.linear_regex import compiled

    if not expressions:
        return [False] * len(texts)
    search = compiled(expressions[0]).search
    return [bool(search(text)) for text in texts]


def main() -> None:
    """Answer until the input ends, or until an answer takes too long, which ends the process."""
    import resource
    import signal

    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except (ValueError, OSError):  # a lower limit is set already
        pass
    source, out = sys.stdin.buffer, sys.stdout.buffer
    out.write(b"{}\n")
    out.flush()
    while len(head := source.read(4)) == 4:
        request = json.loads(source.read(struct.unpack(">I", head)[0]))
        signal.setitimer(signal.ITIMER_PROF, request.pop("seconds"))
        out.write(json.dumps(answer(**request)).encode() + b"\n")
        signal.setitimer(signal.ITIMER_PROF, 0)
        out.flush()


if __name__ == "__main__":
    main()
