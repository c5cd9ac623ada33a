"""Documents that git mem makes for the editor, under `gitmem/editing` in the common dir.

These are drafts that are committed when they are saved, and pages to read.

A draft has a file of facts beside it: what it was made from and what is to be done with it, so that
it outlives the server. A draft that is closed without having been saved soundly is kept: nothing
that somebody typed is thrown away. On the repository's thread.
"""

import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gitmem.app import App
from gitmem.base.files import listing, write_atomic
from gitmem.errors import External, UserError
from gitmem.git.code_history import CodeHistory
from gitmem.records.codec import decode, encode
from gitmem.records.record import Record
from gitmem.repo.location import inside, locate
from gitmem.repo.refs import head
from gitmem.services.records import write
from gitmem_lsp.editing.draft_text import parse, render
from gitmem_lsp.editing.record_changes import hash_of, writer

KEPT_DAYS = 30
DRAFTS = ("edit-", "new-", "supersede-")  # how the names of drafts begin; a page's never does
EDIT_HINT = "saving this file commits the change; closing it without saving changes nothing"
NEW_HINT = (
    "write a title behind the '#' and what happens below it; saving this file records the gotcha"
)
REPLACE_HINT = "saving this file records this in place of {}"


@dataclass(frozen=True, slots=True)
class SavedDraft:
    """What saving a draft did: the record as it is now, and the operation."""

    record: Record
    op: str
    journaled: bool
    changed: bool


class Editing:
    """The documents of one repository."""

    def __init__(self, app: App, folder: str, worktree: str | None = None) -> None:
        self.app = app
        self.folder = folder
        self.worktree = worktree

    # -- making documents

    def page(self, name: str, text: str) -> str:
        """Write a page to read; return its path. Raises External."""
        safe = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:80] or "page"
        return self._write(f"{safe}.md", text)

    def edit(self, id: str) -> str:
        """Return the path of a draft of a record."""
        scope, stored = self.app.get(id)
        record = stored.record
        return self._draft(
            f"edit-{record.id}.md",
            render(record, EDIT_HINT),
            {"mode": "edit", "id": record.id, "scope": scope, "base": encode(record).decode()},
        )

    def record(self, anchors: Sequence[Mapping[str, Any]], given: Mapping[str, Any]) -> str:
        """Return the path of a draft of a new gotcha."""
        fields = {
            key: str(given[key]) for key in ("severity", "category", "workaround") if given.get(key)
        }
        who = writer(self.app)
        base = write.draft(
            who,
            "gotcha",
            "untitled",
            str(given.get("body") or ""),
            anchors=[dict(a) for a in anchors] or None,
            **fields,
        )
        facts = {"mode": "record", "id": base.id, "scope": "shared", "base": encode(base).decode()}
        return self._draft(f"new-{base.id}.md", render(replace(base, title=""), NEW_HINT), facts)

    def supersede(self, id: str) -> str:
        """Return the path of a draft of what takes a record's place."""
        scope, stored = self.app.get(id)
        old = stored.record
        kept = {
            k: v
            for k, v in old.fields.items()
            if k
            in {
                "severity",
                "category",
                "workaround",
                "type",
                "importance",
                "tags",
                "anchors",
                "triggers",
                "project",
            }
        }
        # it stays in the namespace of what it replaces
        who = writer(self.app)._replace(agent=old.get("agent"))
        base = write.draft(who, old.kind, old.title, old.body, **kept)
        facts = {
            "mode": "supersede",
            "id": base.id,
            "old": old.id,
            "scope": scope,
            "base": encode(base).decode(),
        }
        return self._draft(
            f"supersede-{old.id}.md", render(base, REPLACE_HINT.format(old.id)), facts
        )

    def _draft(self, name: str, text: str, facts: dict[str, Any]) -> str:
        """Return the path of a draft; text in it that was never committed stays as it is."""
        path = os.path.join(self.folder, name)
        if self._is_touched(name):
            return path
        facts |= {"worktree": self.worktree, "text": text, "saved": False}
        if self._facts(name) is not None or not os.path.exists(path):
            self._write(name, text)
        self._keep(name, facts)
        return path

    def _write(self, name: str, text: str) -> str:
        path = os.path.join(self.folder, name)
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            write_atomic(path, text.encode("utf-8", "surrogatepass"), durable=False)
        except OSError as error:
            raise External(
                f"{self.folder} cannot be written: {error.strerror}.",
                "Use the command line: git mem edit ID",
            ) from error
        return path

    def _keep(self, name: str, facts: Mapping[str, Any]) -> None:
        self._write(name + ".json", json.dumps(facts, ensure_ascii=False))

    def _facts(self, name: str) -> dict[str, Any] | None:
        try:
            facts = json.loads(Path(self.folder, name + ".json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return (
            facts
            if isinstance(facts, dict) and {"mode", "base", "scope", "text"} <= set(facts)
            else None
        )

    def _is_touched(self, name: str) -> bool:
        facts = self._facts(name)
        try:
            return (
                facts is not None
                and Path(self.folder, name).read_text(encoding="utf-8") != facts["text"]
            )
        except (OSError, ValueError):
            return False

    # -- what becomes of them

    def save(self, name: str, text: str) -> SavedDraft | None:
        """Commit what a draft says; None for a page.

        Raises GitmemError, and then nothing is written and the text stays.
        """
        facts = self._facts(name)
        if facts is None:
            return None
        base = decode(facts["base"].encode())
        after = parse(text, base, self._anchor)
        who, store = writer(self.app), self.app.store(facts["scope"])
        if facts["mode"] == "record":
            change = write.add(store, who, after)
        elif facts["mode"] == "supersede":
            change = write.supersede(
                store, who, self.app.get(facts["old"], (facts["scope"],))[1].record, after
            )
        else:
            change = write.update(store, who, base, after, "edit")
        # from now on it is the draft of a record that there is
        self._keep(
            name,
            facts
            | {"mode": "edit", "base": encode(change.after).decode(), "text": text, "saved": True},
        )
        return SavedDraft(
            change.after, facts["mode"], change.written.journaled, change.before != change.after
        )

    def close(self, name: str) -> bool:
        """Remove a document that the editor has closed.

        False for a draft that is kept because of what was typed into it, or may have been.
        """
        is_draft = name.startswith(DRAFTS)
        if self._is_touched(name) or (is_draft and self._facts(name) is None):
            return False
        for path in (os.path.join(self.folder, name), os.path.join(self.folder, name + ".json")):
            try:
                os.unlink(path)
            except OSError:
                pass  # it is gone, or the disk is read-only
        return True

    def sweep(self) -> None:
        """Remove what nobody has touched for a month; a draft and its facts go together."""
        names = {str(path).removesuffix(".json") for path in listing(self.folder, ".json")}
        for name in names | set(map(str, listing(self.folder, ".md"))):
            pair = [path for path in (name, f"{name}.json") if os.path.exists(path)]
            try:
                last = max(map(os.path.getmtime, pair))
                if time.time() - last > KEPT_DAYS * 86400:
                    for path in pair:
                        os.unlink(path)
            except (OSError, ValueError):
                continue

    def _anchor(self, place: str) -> dict[str, Any]:
        from gitmem.codemap.anchors.spec import parse as parse_place
        from gitmem.services.records.anchoring import with_code  # compares whole texts

        anchor = parse_place(place)
        if self.worktree is None:
            return anchor
        root = os.path.realpath(self.worktree)
        where = locate(root, {})  # to git a work tree is not a git dir
        history = CodeHistory(where, self.app.env)

        def read(path: str) -> bytes | None:
            data = history.text(path) if inside(path, root, root) else None
            return data.replace(b"\r\n", b"\n") if data is not None else None

        try:
            return with_code(anchor, read, root, hash_of(self.app), head(where))
        except UserError as error:
            raise UserError(f"places: '{place}': {error}") from error
