"""Any file that tells of a session, as turns: what it is, is told by its content."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

from gitmem.errors import UserError
from gitmem.transcripts.cleanup import string
from gitmem.transcripts.formats.claude import claude
from gitmem.transcripts.formats.codex import codex
from gitmem.transcripts.formats.commits import commits
from gitmem.transcripts.formats.copilot import copilot, is_event
from gitmem.transcripts.formats.gemini import gemini, gemini_document
from gitmem.transcripts.formats.history import exported, history
from gitmem.transcripts.formats.plan_files import plan, state
from gitmem.transcripts.formats.text import text
from gitmem.transcripts.jsonl import JsonLine, replayed, value
from gitmem.transcripts.turn import Turn

PEEK = 64 << 10  # bytes by which a file is told
READERS: Mapping[str, Callable[[IO[bytes]], Iterator[Turn]]] = {
    "claude": claude,
    "gemini": gemini,
    "gemini-document": gemini_document,
    "codex": codex,
    "copilot": copilot,
    "history": history,
    "export": exported,
    "text": text,
    "plan": plan,
    "state": state,
    "commits": commits,
}
# of a text's bytes that may be control characters: what terminals drew, a few that came in by
# accident
STRAY = 0.01
HINT = (
    "What can be read: transcripts of Claude Code, Gemini CLI, Codex and Copilot CLI, histories "
    "and exports of sessions, plans, notes, commit messages; in UTF-8."
)
WIDE = "it is in UTF-16"
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\r\f\b\x1b")
_MAGIC = (
    (b"\x89PNG\r\n", "it is a picture"),
    (b"\xff\xd8\xff", "it is a picture"),
    (b"GIF8", "it is a picture"),
    (b"SQLite format 3\0", "it is a database"),
    (b"PK\x03\x04", "it is an archive or a document that is packed like one"),
    (b"PK\x05\x06", "it is an archive"),
    (b"\x1f\x8b", "it is compressed"),
    (b"BZh", "it is compressed"),
    (b"\xfd7zXZ", "it is compressed"),
    (b"7z\xbc\xaf", "it is an archive"),
    (b"(\xb5/\xfd", "it is compressed"),
    (b"%PDF-", "it is a PDF"),
    (b"\x7fELF", "it is a program"),
    (b"\xff\xfe", WIDE),
    (b"\xfe\xff", WIDE),
)
_COMMIT = re.compile(
    rb"\s*commit [0-9a-f]{7,64}\b[^\n]*\n(?:Merge|Author|AuthorDate|Commit|Date|gpg|\s)"
)
_LINES = re.compile(
    rb"\s*+(?:(?:[*|/\\ ]*\* )?[0-9a-f]{7,64} (?:\([^()\n]{1,400}\) )?\S[^\n]*(?:\n(?:[*|/\\ ]+\n)*"
    rb"|\Z)){2}"
)
# a document of `git mem session export`, or a list of them, in whatever order its keys are
_EXPORT = re.compile(rb'"interactions"\s*:\s*\[\s*(?:[{\]]|\Z)')
_BOXES = re.compile(rb"(?m)^[ \t]*[-*] \[[ xX]\] ")
_CODEX = {
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "world_state",
    "inter_agent_communication_metadata",
}
_CLAUDE = {
    "user",
    "assistant",
    "system",
    "summary",
    "attachment",
    "queue-operation",
    "file-history-snapshot",
    "last-prompt",
    "progress",
}


def read(stream: IO[bytes], name: str = "", form: str = "auto") -> Iterator[Turn]:
    """Yield the turns of a stream in memory that is bounded.

    `name` is the file's; `form` one of READERS where it is known.
    """
    head = b""
    while len(head) < PEEK and (more := stream.read(PEEK - len(head))):
        head += more
    form = detect(head, name) if form == "auto" else form
    if form in ("gemini", "gemini-document"):
        form = "gemini-document" if _is_document(head) else "gemini"
    if form in ("plan", "state"):
        form = "state" if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" else "plan"
    yield from READERS[form](replayed(head, stream))


def readable(stream: IO[bytes], name: str) -> IO[bytes]:
    """Return a stream of what this one has, from its beginning.

    Raises UserError when that is not text.
    """
    head = b""
    while len(head) < PEEK and (more := stream.read(PEEK - len(head))):
        head += more
    why = _no_text(head)
    if why:
        raise UserError(f"{name} is not {'UTF-8' if why == WIDE else 'text'}: {why}.", HINT)
    return replayed(head, stream)


def _no_text(head: bytes) -> str:
    """Return what bytes are that are not text.

    Empty when they may be text, in whatever encoding of single bytes.
    """
    kind = next((kind for magic, kind in _MAGIC if head.startswith(magic)), "")
    # of JSON lines, those that a crash has damaged are passed over
    if kind or head.startswith(b'{"'):
        return kind
    bare = head.rstrip(b"\0")  # a file that a crash left with zeros at its end
    controls = len(bare) - len(bare.translate(None, _CONTROLS))
    return "it has bytes that no text has" if controls > len(bare) * STRAY else ""


def detect(head: bytes, name: str = "") -> str:
    """Return what a file is, one of READERS, by its beginning, else by its name."""
    if _COMMIT.match(head) or _LINES.match(head):
        return "commits"
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    format = _of_rows(head) if start == b"{" or b"\n{" in head else ""
    if not format and start in (b"{", b"["):
        format = _of_document(head, start, name.lower())
    if format:
        return format
    if name.lower().endswith((".md", ".markdown")) and _BOXES.search(head):
        return "plan"
    return "text"


def _of_document(head: bytes, start: bytes, name: str) -> str:
    """Return what a JSON document is; empty when its beginning does not tell."""
    if _EXPORT.search(head) and (b'"session_id"' in head or b'"metadata"' in head):
        return "export"
    if start == b"[":
        return "gemini-document" if b'"parts"' in head and b'"role"' in head else ""
    if b'"messages"' in head and (b'"sessionId"' in head or b'"projectHash"' in head):
        return "gemini-document"
    return "state" if name.endswith(".json") or _is_document(head) else ""


def _is_document(head: bytes) -> bool:
    """Return whether a text is one JSON document, and not JSON lines.

    It is if its first line is not a whole object, or if that line holds the messages.
    """
    first = head.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0].strip()
    if first[:1] == b"[" or first in (b"{", b""):
        return True
    row = value(JsonLine(1, first.decode("utf-8", "replace"), first.endswith(b"}")))
    return not isinstance(row, dict) or "messages" in row


def _by_type(row: dict[str, Any], kind: str) -> str:
    """Return what a file is whose rows have such a type; empty when that does not tell."""
    if is_event(row):
        return "copilot"
    return "codex" if isinstance(row.get("payload"), dict) and kind in _CODEX else ""


def _of_rows(head: bytes) -> str:
    """Return what a file of JSON lines is; empty when its lines do not tell."""
    rows = head.split(b"\n")
    for number, data in enumerate(rows[:200]):
        whole = number < len(rows) - 1
        row = value(JsonLine(2, data.decode("utf-8", "replace"), whole))
        format = _of_row(row) if isinstance(row, dict) else ""
        if format:
            return format
    return ""


def _of_row(row: dict[str, Any]) -> str:
    """Return what a file with such a row is; empty when the row does not tell."""
    kind = string(row.get("type"))
    by_type = _by_type(row, kind)
    if by_type:
        return by_type
    return next((format for format, fits in _ROWS if fits(row, kind)), "")


def _is_gemini(row: dict[str, Any], kind: str) -> bool:
    if "projectHash" in row or "$set" in row or "$rewindTo" in row:
        return True
    return kind in ("gemini", "user") and "content" in row and "message" not in row


def _is_claude(row: dict[str, Any], kind: str) -> bool:
    if isinstance(row.get("message"), dict) or "parentUuid" in row:
        return True
    return kind in _CLAUDE and ("sessionId" in row or "leafUuid" in row or "messageId" in row)


# formats with the mark of their rows, the surest first
_ROWS: tuple[tuple[str, Callable[[dict[str, Any], str], bool]], ...] = (
    (
        "gemini-document",
        lambda row, _: "messages" in row and ("sessionId" in row or "projectHash" in row),
    ),
    ("export", lambda row, _: isinstance(row.get("interactions"), list)),
    ("gemini", _is_gemini),
    ("claude", _is_claude),
    (
        "codex",
        lambda row, kind: (
            kind == "message" and "role" in row and isinstance(row.get("content"), list)
        ),
    ),
    (
        "history",
        lambda row, _: isinstance(row.get("role"), str) and ("content" in row or "metadata" in row),
    ),
    (
        "codex",
        lambda row, kind: kind in ("session_meta", "record_type") or "instructions" in row,
    ),
)
