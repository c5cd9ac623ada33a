"""The page: its files for the server, and all of it with data in one file."""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from gitmem.app import App
from gitmem.cli.rows import whole_record_json
from gitmem.clock import stamp
from gitmem.dashboard import api
from gitmem.dashboard.place import DashboardPlace
from gitmem.records.kinds import FACTS
from gitmem.records.record import Record
from gitmem.services.records import history
from gitmem.store.reader import Damaged
from gitmem.store.store import Store

FILES = {"app.js": "text/javascript", "app.css": "text/css"}
# what the views of a file show; searching and single sessions need a server
VIEWS = ("about", "today", "facts", "inbox", "conflicts", "timeline", "code", "health", "sessions")
# what ends a script early, or starts a comment in it, and what some parsers take for a line's end
_UNSAFE = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def static_file(name: str) -> tuple[bytes, str]:
    """Return the bytes of one of `FILES` or of index.html, and its type."""
    return _read(name), FILES.get(name, "text/html")


def _read(name: str) -> bytes:
    return (files("gitmem.dashboard") / "static" / name).read_bytes()


def json_for_html(data: Any) -> str:
    """Return JSON that nothing in an HTML file can end early."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode().translate(_UNSAFE)


def whole_page(data: Mapping[str, Any]) -> bytes:
    """Return one HTML file with the page and its data; it asks no server for anything."""
    script, style = _read("app.js").decode(), _read("app.css").decode()
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    parts = (
        "<!doctype html>",
        '<html lang="en">',
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        "<title>git mem</title>",
        f"<style>{style}</style>",
        '<body><div id="app"></div>',
        f'<script type="application/json" id="data">{json_for_html(data)}</script>',
        f"<script>{script}</script>",
        "</body></html>",
    )
    return "\n".join(parts).encode("utf-8", "replace")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def snapshot(place: DashboardPlace) -> dict[str, Any]:
    """Return what the page of one file shows: every view, and each fact with its history."""
    views: dict[str, Any] = {name: api.answer(place, name, {}) for name in VIEWS}
    with place.open() as app:
        details = _details(app)
        at = stamp(app.clock.now())
    views["about"]["is_read_only"] = True
    return {"at": at, "views": views, "facts": details}


def _details(app: App) -> dict[str, Any]:
    """Return each fact with its text and the commits that changed it, without their diffs."""
    stores = {scope: store for scope, store in _stores(app).items() if store.tip() is not None}
    out: dict[str, Any] = {}
    for scope, store in stores.items():
        for id, record in _facts(store):
            # of a fact in two stores, the one that everything else shows
            shown = (scope, record) if id not in out else _shown(app, id)
            out[id] = {"record": whole_record_json(*shown), "steps": []}
    for scope, store in stores.items():
        for step in history.log(store, list(out)):
            _add_step(out, step, scope)
    for detail in out.values():
        detail["steps"].sort(key=lambda step: str(step["at"]), reverse=True)
    return out


def _stores(app: App) -> dict[str, Store]:
    """Return the stores whose facts the table has, by their scopes."""
    scopes = ["private", "shared"]
    if app.has_user() and not app.is_user_store():
        scopes.append("user")
    return {scope: app.store(scope) for scope in scopes}


def _facts(store: Store) -> Iterator[tuple[str, Record]]:
    for stored in store.records():
        if not isinstance(stored, Damaged) and stored.record.kind in FACTS:
            yield stored.record.id, stored.record


def _shown(app: App, id: str) -> tuple[str, Record]:
    scope, stored = app.get(id)
    return scope, stored.record


def _add_step(out: dict[str, Any], step: history.HistoryStep, scope: str) -> None:
    commit = step.commit
    ids: Sequence[str] = [id for _, id in step.changes if id in out]
    for id in ids:
        out[id]["steps"].append(
            {
                "commit": commit.oid,
                "at": stamp(commit.author.time),
                "author": commit.author.name,
                "subject": commit.message.partition("\n")[0],
                "store": scope,
                "diff": [],
            }
        )
