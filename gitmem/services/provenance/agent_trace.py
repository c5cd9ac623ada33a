"""Agent Trace records: which lines of a commit which agent wrote, in a form that other tools read. Pure.

Specification 0.1: https://agent-trace.dev (media type application/vnd.agent-trace.record+json). A record has `version`, `id` (a UUID), `timestamp`,
`vcs` {type, revision}, `tool`, and `files`, each with `path` and `conversations` of {url, contributor {type, model_id}, ranges}, a range with
`start_line` and `end_line` (from 1, inclusive, as the revision has them) and `content_hash`.
"""

import json
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from gitmem.clock import seconds, stamp
from gitmem.state.links import WROTE, Link

VERSION = "0.1"
MEDIA_TYPE = "application/vnd.agent-trace.record+json"
URL = "urn:gitmem:session:"
FILES, RANGES = 2000, 5000  # of one record that are read
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://agent-trace.dev")
_OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# models are named as models.dev does, provider/model; agents that use one provider's models do not say it
_PROVIDERS = (
    ("claude", "anthropic"),
    ("gemini", "google"),
    ("gpt", "openai"),
    ("codex", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
)
_PEOPLE = frozenset({"", "person"})


def record(oid: str, links: Sequence[Link], text: Callable[[str], list[str] | None], tool: str) -> dict[str, Any] | None:
    """Return the record of a commit; None where no lines of it are known to be anybody's. `text` gives a file's lines as the commit has them."""
    files: dict[str, list[dict[str, Any]]] = {}
    for link in links:
        for path, spans in link.files.items():
            lines = text(path)
            if lines is None or not spans:
                continue
            kind = "human" if link.agent in _PEOPLE and not link.model else "ai"
            who = {"type": kind, **({"model_id": model_id(link.model)} if link.model else {})}
            url = link.session if "://" in link.session or link.session.startswith("urn:") else URL + link.session
            ranges = [_range(first, last, lines) for first, last, *_ in spans]
            files.setdefault(path, []).append({"url": url, "contributor": who, "ranges": ranges})
    if not files:
        return None
    agents = sorted({link.agent for link in links if link.agent})
    return {
        "version": VERSION, "id": str(uuid.uuid5(_NAMESPACE, f"git {oid}")), "timestamp": stamp(max(link.at for link in links)),
        "vcs": {"type": "git", "revision": oid}, "tool": {"name": "git-mem", "version": tool},
        "files": [{"path": path, "conversations": rows} for path, rows in sorted(files.items())],
        **({"metadata": {"agents": agents}} if agents else {}),
    }  # fmt: skip


def _range(first: int, last: int, lines: Sequence[str]) -> dict[str, Any]:
    text = "\n".join(lines[first - 1 : last])
    return {"start_line": first, "end_line": last, "content_hash": f"sha256:{sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()}"}


def model_id(model: str) -> str:
    """Return a model's name with its provider, where that can be told."""
    provider = next((name for start, name in _PROVIDERS if model.lower().startswith(start)), "")
    return model if "/" in model or not provider else f"{provider}/{model}"


def records(text: str) -> list[dict[str, Any]]:
    """Return the records in a text: one, a list of them, or one a line; what is none is passed over."""
    try:
        found: Any = [json.loads(text)]
    except (ValueError, RecursionError):
        found = []
        for line in text.splitlines():
            try:
                found.append(json.loads(line))
            except (ValueError, RecursionError):
                continue
    rows = [row for one in found for row in (one if isinstance(one, list) else [one])]
    return [row for row in rows if isinstance(row, dict) and isinstance(row.get("files"), list) and isinstance(row.get("version"), str)]


def links(row: Mapping[str, Any], commit: str = "") -> list[Link]:
    """Return what a record says of its commit: of `commit`, where it was kept beside that; none when it names no lines of one."""
    vcs = _map(row.get("vcs"))
    oid = commit or str(vcs.get("revision") or "")
    if not _OID.fullmatch(oid) or vcs.get("type", "git") != "git":
        return []
    tool = _map(row.get("tool")).get("name")
    agent = str(tool)[:100] if isinstance(tool, str) else ""
    try:
        at = seconds(str(row.get("timestamp") or "").replace("+00:00", "Z"))
    except (ValueError, IndexError):
        at = 0.0
    found: dict[tuple[str, str], dict[str, list[list[Any]]]] = {}
    left = RANGES
    for file in row["files"][:FILES]:
        path = _map(file).get("path")
        for talk in _list(_map(file).get("conversations")) if isinstance(path, str) and path else ():
            whole = _map(_map(talk).get("contributor"))
            for one in _list(_map(talk).get("ranges")):
                span = _map(one)
                first, last = span.get("start_line"), span.get("end_line")
                who = _map(span.get("contributor")) or whole
                if (
                    type(first) is int
                    and type(last) is int
                    and 0 < first <= last
                    and left > 0
                    and who.get("type", "ai") in {"ai", "mixed", "unknown"}
                ):
                    left -= 1
                    model = str(who.get("model_id") or "")[:200]
                    url = str(_map(talk).get("url") or "").removeprefix(URL)[:500] or f"{agent or 'agent'} of {oid[:10]}"
                    found.setdefault((url, model), {}).setdefault(str(path)[:4096], []).append([first, last, at])
    out: dict[str, Link] = {}
    for (session, model), files in found.items():
        if session not in out:
            out[session] = Link(oid, session, agent, model, WROTE, at, files)
        else:  # one conversation, two models
            out[session] = Link(oid, session, agent, out[session].model, WROTE, at, {**files, **out[session].files})
    return list(out.values())


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
