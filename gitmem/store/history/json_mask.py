"""Mask files of JSON: in the values of texts alone, so that each line stays what it was.

Keys of a row, and the words by which our own programs know it, are never masked. What is not JSON
is masked as plain text. A file of any size is read in pieces.
"""

import json
import re
from collections.abc import Iterable, Iterator

from gitmem.records.record import kind_of
from gitmem.store.history.redact import SHORTEST, Mask

PIECE = 1 << 20  # bytes of a file that are read at once
OVERLAP = 64 * 1024  # bytes of plain text that are looked at again with the next piece
OWN_KEYS = 2  # levels of a row whose keys are ours; deeper ones are what programs sent
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\Z)|[{}\[\]]', re.DOTALL)
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # of a pair, which only an escape can write
_COLON = re.compile(rb"\s*:")
_WORD = re.compile(r"[A-Za-z_]{1,40}")
_WORDS = frozenset(
    {"role", "event", "tool", "action", "source", "agent", "op", "kind", "type", "why"}
)
_NAMES = frozenset(
    {
        "timestamp",
        "id",
        "call",
        "agent_id",
        "key",
        "ref",
        "since",
        "session",
        "at",
        "oid",
    }
)


def mask_json(mask: Mask, data: bytes) -> bytes | None:
    """Return JSON with texts masked in its values, every other byte as it was.

    None for what is no JSON.
    """
    if not _is_json(data):
        return None
    out: list[bytes] = []
    end = depth = 0
    key = ""
    for match in _TOKEN.finditer(data):
        token = match[0]
        if token in b"{[":
            depth += 1
        elif token in b"}]":
            depth -= 1
        else:
            is_key = _COLON.match(data, match.end()) is not None
            out += [data[end : match.start()], _masked_token(mask, token, is_key, depth, key)]
            end = match.end()
            key = _decoded(token) if is_key else key
    return b"".join([*out, data[end:]])


def _masked_token(mask: Mask, token: bytes, is_key: bool, depth: int, key: str) -> bytes:
    if is_key and depth <= OWN_KEYS:
        return token
    text = _decoded(token)
    if not is_key and _is_own_word(key, text):
        return token
    clean = mask.text(text)
    if clean == text:
        return token
    written = json.dumps(clean, ensure_ascii=False)
    halves = _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", written)
    return halves.encode("utf-8", "surrogateescape")


def _is_own_word(key: str, text: str) -> bool:
    """Say whether a value is a name or a word that our own programs gave."""
    if kind_of(text) or key in _NAMES:
        return True
    return key in _WORDS and _WORD.fullmatch(text) is not None


def _decoded(token: bytes) -> str:
    return str(json.loads(token.decode("utf-8", "surrogateescape"), strict=False))


def _is_json(data: bytes) -> bool:
    try:
        return isinstance(json.loads(data.decode("utf-8", "surrogateescape")), dict | list)
    except (ValueError, RecursionError):
        return False


def mask_lines(mask: Mask, lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file of JSON rows without the texts.

    Rows in a row that are no JSON are masked as one text.
    """
    plain = b""
    for line in lines:
        clean = _masked_row(mask, line)
        if clean is None:
            plain += line
        else:
            yield mask.raw(plain) + clean
            plain = b""
        if len(plain) > PIECE:
            done, plain = _settled(mask, plain)
            yield done
    yield mask_end(mask, mask.raw(plain))


def _masked_row(mask: Mask, line: bytes) -> bytes | None:
    """Return a line without the texts; None when it is no row."""
    looks_whole = line.startswith(b"{") and line.endswith(b"}\n")
    if looks_whole and not mask.holds(line):
        return line
    return mask_json(mask, line) if line.endswith(b"\n") or len(line) < PIECE else None


def mask_plain(mask: Mask, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the pieces of a plain text without the texts, also of those that lie across two."""
    rest = b""
    for piece in pieces:
        rest += piece
        if len(rest) > PIECE:
            done, rest = _settled(mask, rest)
            yield done
    yield mask.raw(rest)


def _settled(mask: Mask, data: bytes) -> tuple[bytes, bytes]:
    """Return the beginning of a text, masked, and its end, which the next piece may go on with."""
    clean = mask.raw(data)
    return clean[:-OVERLAP], clean[-OVERLAP:]


def mask_end(mask: Mask, data: bytes) -> bytes:
    """Return a text whose last line was cut off, without the beginning of a secret at its end."""
    if not data or data.endswith(b"\n"):
        return data
    for text in mask.texts:
        encoded = text.encode("utf-8", "surrogateescape")
        least = max(SHORTEST, len(encoded) // 2)
        for length in range(len(encoded) - 1, least - 1, -1):
            if data.endswith(encoded[:length]):
                return data[:-length]
    return data
