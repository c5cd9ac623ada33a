"""Anchors whose code is nowhere in a work tree any more.

Code that moved is looked for in all files, which takes git a while for each anchor. What came of it
holds as long as the code stays as it is, and is kept for the next check.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from gitmem.codemap.anchors.tracker import Follower
from gitmem.services.gotchas.placement import settle
from gitmem.services.lifecycle.code_view import CodeView
from gitmem.services.lifecycle.findings import Finding
from gitmem.services.lifecycle.gone_names import GoneNames, when

Row = dict[str, Any]
UNSEARCHED = ""  # outcome of an anchor that there was no time to look for
LOST = "adrift"


class AnchorSearches:
    """Searches of anchors in one state of the code.

    `outcomes` are those that are kept, by the anchor's key. `go_on` says whether there is time for
    one more. With `retries`, those that there was no time for are done now.
    """

    def __init__(
        self,
        follower: Follower,
        go_on: Callable[[], bool],
        outcomes: Mapping[str, str],
        *,
        retries: bool = False,
    ) -> None:
        self.follower = follower
        self.go_on = go_on
        self.made: dict[str, str] = {}
        self._kept = outcomes
        self._retries = retries

    def outcome(self, anchor: Row) -> str:
        """Return the state of an anchor's place now; `UNSEARCHED` where there was no time."""
        key = _key(anchor, self.follower.worktree or "")
        kept = self._kept.get(key)
        if kept is not None and (kept != UNSEARCHED or not self._retries):
            return kept
        if key not in self.made:
            self.made[key] = self.follower.now(anchor).state if self.go_on() else UNSEARCHED
        return self.made[key]


def _key(anchor: Row, root: str) -> str:
    """Return what tells an anchor, and its file on disk, from any others."""
    try:
        about = os.lstat(os.path.join(root, anchor["path"]))
        file = (about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
    except (OSError, ValueError):
        file = (0, 0, 0, 0)
    text = json.dumps([anchor, file], sort_keys=True, default=str)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def lost_anchors(
    rows: Sequence[Row], code: CodeView, gone: GoneNames | None, searches: AnchorSearches
) -> dict[str, list[Finding]]:
    """Return the anchors whose code is nowhere, by fact. Files that did not change are passed."""
    out: dict[str, list[Finding]] = {}
    places = [(row["id"], anchor) for row in rows for anchor in row["anchors"] if _is_place(anchor)]
    looked_at = _changed_paths([anchor for _, anchor in places], code, searches)
    for id, anchor in places:
        if anchor["path"] not in looked_at or searches.outcome(anchor) != LOST:
            continue
        if reason := _loss(anchor, code, gone):
            key = f"{anchor['path']} {anchor.get('lines')} {anchor.get('symbol')}"
            out.setdefault(id, []).append(Finding((id,), "anchor", reason, "edit", code=key))
    return out


def _changed_paths(anchors: Sequence[Row], code: CodeView, searches: AnchorSearches) -> set[str]:
    """Return the paths of anchors whose files changed, or are gone from the project."""
    bases: dict[str, set[str]] = {}
    for anchor in anchors:
        is_whole = not anchor.get("lines") and not anchor.get("symbol")
        blob = "" if is_whole else str(anchor.get("blob") or "?")
        bases.setdefault(anchor["path"], set()).add(blob)
    changed = set(settle(bases, searches.follower, searches.go_on)[0])
    missing = sorted(path for path in changed if not code.has(path))
    return changed - code.absences(missing).keys()


def _is_place(anchor: object) -> bool:
    return isinstance(anchor, dict) and isinstance(anchor.get("path"), str)


def _loss(anchor: Row, code: CodeView, gone: GoneNames | None) -> str:
    """Return how the code of a lost anchor went; '' if this branch never had it."""
    path = anchor["path"]
    if code.has(path):
        what = anchor.get("symbol") or "its code"
        return f"{what} is not found any more in {path}"
    file = gone.file(path) if gone else None
    return f"{path} was removed {when(file)}" if file else ""
