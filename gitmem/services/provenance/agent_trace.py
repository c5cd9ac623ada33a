"""Agent Trace records: which lines of a commit which agent wrote, in a form that other tools read.

Pure.

Specification 0.1.0: https://agent-trace.dev (media type application/vnd.agent-trace.record+json). A
record has `version`, `id` (a UUID), `timestamp`, `vcs` {type, revision}, `tool`, and `files`, each
with `path` and `conversations` of {url, contributor {type, model_id}, ranges}, a range with
`start_line` and `end_line` (from 1, inclusive, as the revision has them) and `content_hash`.
"""

import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import quote, unquote

from gitmem.clock import seconds, stamp
from gitmem.redaction.mask import scrub
from gitmem.state.links import AI, HUMAN, MIXED, UNKNOWN, WROTE, Link

VERSION = "0.1.0"
URL = "urn:gitmem:session:"
FILES, RANGES = 2000, 5000  # of one record that are read
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://agent-trace.dev")
_OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# models are named as models.dev does, provider/model; agents that use one provider's models do not
# say it
_PROVIDERS = (
    ("claude", "anthropic"),
    ("gemini", "google"),
    ("gpt", "openai"),
    ("codex", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
)
_KINDS = frozenset({AI, HUMAN, MIXED, UNKNOWN})
_MODEL = 250  # characters of a model's name
# https://www.rfc-editor.org/rfc/rfc3986#section-3: a scheme, then characters that a URI may have
_URI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+"
)
# of what stands in a URN beside letters and digits,
# https://www.rfc-editor.org/rfc/rfc8141#section-2
_SAFE = "-._~:@"


def _conversations(
    links: Sequence[Link], text: Callable[[str], list[str] | None]
) -> dict[str, list[dict[str, Any]]]:
    """Return the conversations that lines of files come from, by path."""
    files: dict[str, list[dict[str, Any]]] = {}
    for link in links:
        for path, spans in link.files.items():
            lines = text(path) if spans else None
            conversation = None if lines is None else _conversation(link, spans, lines)
            if conversation:
                files.setdefault(path, []).append(conversation)
    return files


def record(
    oid: str, links: Sequence[Link], text: Callable[[str], list[str] | None], tool: str
) -> dict[str, Any] | None:
    """Return the record of a commit; None where no lines of it are known to be anybody's.

    `text` gives a file's lines as the commit has them.
    """
    files = _conversations(links, text)
    if not files:
        return None
    agents = sorted({link.agent for link in links if link.agent})
    return {
        "version": VERSION,
        "id": str(uuid.uuid5(_NAMESPACE, f"git {oid}")),
        "timestamp": stamp(max(link.at for link in links)),
        "vcs": {"type": "git", "revision": oid},
        "tool": {"name": "git-mem", "version": tool},
        "files": [{"path": path, "conversations": rows} for path, rows in sorted(files.items())],
        **({"metadata": {"agents": agents}} if agents else {}),
    }


def _conversation(
    link: Link, spans: Sequence[Sequence[Any]], lines: Sequence[str]
) -> dict[str, Any] | None:
    """Return what a session wrote of a file; None where the file is too short for any of it."""
    ranges = [_range(first, last, lines) for first, last, *_ in spans if last <= len(lines)]
    if not ranges:
        return None
    contributor = {"type": link.kind}
    if link.model:
        contributor["model_id"] = model_id(link.model)
    return {"url": url_of(link.session), "contributor": contributor, "ranges": ranges}


def url_of(session: str) -> str:
    """Return the URI of a session: its id where that is one, else a name of ours."""
    if (
        ("://" in session or session.startswith("urn:"))
        and _URI.fullmatch(session)
        and not session.startswith(URL)
    ):
        return session
    return URL + quote(session.encode("utf-8", "surrogateescape"), safe=_SAFE)


def session_of(url: str) -> str:
    """Return the session that a URI names."""
    return unquote(url.removeprefix(URL), errors="surrogateescape") if url.startswith(URL) else url


def _range(first: int, last: int, lines: Sequence[str]) -> dict[str, Any]:
    text = "\n".join(lines[first - 1 : last])
    return {
        "start_line": first,
        "end_line": last,
        "content_hash": f"sha256:{sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()}",
    }


def model_id(model: str) -> str:
    """Return a model's name with its provider, where that can be told."""
    provider = next((name for start, name in _PROVIDERS if model.lower().startswith(start)), "")
    return (model if "/" in model or not provider else f"{provider}/{model}")[:_MODEL]


def records(text: str) -> list[dict[str, Any]]:
    """Return the records in a text: one, a list of them, or one a line.

    What is none is passed over.
    """
    try:
        values: Any = [json.loads(text)]
    except (ValueError, RecursionError):
        values = []
        for line in text.splitlines():
            try:
                values.append(json.loads(line))
            except (ValueError, RecursionError):
                continue
    rows = [row for value in values for row in (value if isinstance(value, list) else [value])]
    return [
        row
        for row in rows
        if isinstance(row, dict)
        and isinstance(row.get("files"), list)
        and isinstance(row.get("version"), str)
    ]


def links(row: Mapping[str, Any], commit: str = "") -> list[Link]:
    """Return what a record says of its commit: of `commit`, where it was kept beside that.

    None when it names no lines of one.
    """
    vcs = _map(row.get("vcs"))
    oid = commit or str(vcs.get("revision") or "")
    if not _OID.fullmatch(oid) or vcs.get("type", "git") != "git":
        return []
    tool = _map(row.get("tool")).get("name")
    agent = scrub(tool).text[:100] if isinstance(tool, str) else ""
    try:
        at = seconds(str(row.get("timestamp") or "").replace("+00:00", "Z"))
    except (ValueError, IndexError):
        at = 0.0
    ranges: dict[tuple[str, str, str], dict[str, list[list[Any]]]] = {}
    left = RANGES
    for path, talk, span in _spans(row):
        first, last = span.get("start_line"), span.get("end_line")
        if type(first) is not int or type(last) is not int or not 0 < first <= last or left <= 0:
            continue
        left -= 1
        who = _map(span.get("contributor")) or _map(talk.get("contributor"))
        kind = str(who.get("type") or UNKNOWN)
        # an address is an identifier: runs that a machine drew belong into it
        url = (
            scrub(session_of(str(talk.get("url") or "")), is_name=True).text[:500]
            or f"{agent or 'agent'} of {oid[:10]}"
        )
        key = (
            url,
            kind if kind in _KINDS else UNKNOWN,
            scrub(str(who.get("model_id") or "")).text[:200],
        )
        ranges.setdefault(key, {}).setdefault(path, []).append([first, last, at])
    return _merged(oid, agent, at, ranges)


def _spans(row: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield (file, conversation, range) of a record."""
    for file in row["files"][:FILES]:
        path = _map(file).get("path")
        if not isinstance(path, str) or not path:
            continue
        for talk in _list(_map(file).get("conversations")):
            for span in _list(_map(talk).get("ranges")):
                yield path[:4096], _map(talk), _map(span)


def _merged(
    oid: str,
    agent: str,
    at: float,
    ranges: Mapping[tuple[str, str, str], Mapping[str, list[list[Any]]]],
) -> list[Link]:
    """Return one link for each conversation and kind of contributor.

    Of two models the first is named.
    """
    out: dict[tuple[str, str], Link] = {}
    for (session, kind, model), files in ranges.items():
        before = out.get((session, kind))
        if before is None:
            out[session, kind] = Link(
                oid, session, "" if kind == HUMAN else agent, model, WROTE, at, files, kind=kind
            )
            continue
        joined = {
            path: [*before.files.get(path, ()), *files.get(path, ())]
            for path in {**before.files, **files}
        }
        out[session, kind] = before._replace(files=joined)
    return list(out.values())


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
