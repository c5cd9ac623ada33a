"""Where in a text a file's gotchas are.

Pure but for what the placer reads; runs on the thread that reads code.
"""

import json
import logging
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from gitmem.git.object_codec import object_id
from gitmem_lsp.protocol.positions import content, git_lines
from gitmem_lsp.workspace.repository_view import Row, applies
from gitmem_lsp.workspace.tree_marks import Marks, reason_of

log = logging.getLogger("gitmem_lsp")
PLACED = 200  # gotchas of a file that are looked for in its text, the most severe first
MAX_LINES = 50_000
MAX_CHARS = 10_000_000
HITS = 5  # lines of a file on which one trigger is shown
TRIGGER_SECONDS = 0.3  # that all triggers together may take on a text

RANK = {"critical": 0, "warning": 1, "info": 2}
ADRIFT = frozenset({"adrift", "approximate"})  # its code is not there any more
# surest first
STATES = ("same", "moved", "changed", "approximate", "trigger", "file", "glob", "adrift")


class NotePlacement(Protocol):
    """Where an anchor is in a text: lines from 1."""

    @property
    def first(self) -> int:
        """The first line."""

    @property
    def last(self) -> int:
        """The last line."""

    @property
    def state(self) -> str:
        """How sure that is."""

    @property
    def stale(self) -> bool:
        """Whether the code is not what the record spoke of any more."""


class Placer(Protocol):
    """What finds anchors in a text."""

    def place_all(
        self, anchors: Sequence[dict[str, Any]], path: str, lines: Sequence[str], blob: str = ""
    ) -> Sequence[NotePlacement]:
        """Return where anchors are in one text of a file called `path` today."""


@dataclass(frozen=True, slots=True)
class EditorNote:
    """A gotcha at its best place in a text; lines count from 0."""

    row: Row
    line: int
    state: str
    stale: bool = False
    last: int = -1
    anchor: int = -1  # which of the row's anchors that is
    went: str = ""  # path and line of its code, where that is in another file

    @property
    def id(self) -> str:
        """The record's id."""
        return str(self.row["id"])

    @property
    def spot(self) -> dict[str, Any] | None:
        """The record's anchor that it is at, as the record has it."""
        if "came" in self.row:
            return dict(self.row["came"])
        anchors = self.row["anchors"]
        return dict(anchors[self.anchor]) if 0 <= self.anchor < len(anchors) else None

    @property
    def rank(self) -> int:
        """How severe it is: 0 is worst."""
        return RANK.get(str(self.row.get("severity")), 1)

    @property
    def whole_file(self) -> bool:
        """Whether it is about no line in particular, or its line was not found."""
        return self.state in {"file", "glob", "adrift"}

    @property
    def unconfirmed(self) -> bool:
        """Whether it was captured or extracted, and nobody has said that it is so."""
        return bool(self.row.get("unconfirmed"))


def notes_of_tree(notes: Sequence[EditorNote], marks: Marks) -> list[EditorNote]:
    """Return the notes as a work tree with some marks has them.

    A memory is beside its code only where it may be out of date; a gotcha is there in any case.
    """
    out = []
    for note in notes:
        reason = reason_of(note.row, marks)
        if reason == note.row.get("out_of_date", ""):
            kept = note
        else:
            row = {key: value for key, value in note.row.items() if key != "out_of_date"}
            kept = replace(note, row={**row, "out_of_date": reason} if reason else row)
        if reason or note.row.get("kind") != "memory":
            out.append(kept)
    return out


def bounded(text: str, lines: Sequence[str]) -> bool:
    """Return whether a text is worth looking at: not binary, not huge.

    The text is given in its lines too.
    """
    return len(text) <= MAX_CHARS and len(lines) <= MAX_LINES and "\0" not in text


def blob_ids(text: str, lengths: Iterable[int]) -> frozenset[str]:
    """Return the oids that git could know a text by.

    They are of the text as it is, and of the text with the line ends that git keeps for a CRLF
    file.
    """
    forms = {text, text.replace("\r\n", "\n")} if "\r" in text else {text}
    kinds = {"sha256" if length == 64 else "sha1" for length in lengths}
    return frozenset(
        object_id("blob", form.encode("utf-8", "replace"), kind) for form in forms for kind in kinds
    )


def choose(
    rows: Sequence[Row], paths: Sequence[str]
) -> list[tuple[Row, list[tuple[int, dict[str, Any]]]]]:
    """Return the rows that are searched for, the most severe first.

    Each comes with its anchors in a file and their numbers.
    """
    ranked = sorted(rows, key=lambda row: RANK.get(str(row.get("severity")), 1))
    return [
        (row, [(n, a) for n, a in enumerate(row["anchors"]) if applies(a, paths)])
        for row in ranked[:PLACED]
    ]


def notes_of_same(
    chosen: Sequence[tuple[Row, list[tuple[int, dict[str, Any]]]]],
    blobs: Collection[str],
    count: int,
) -> list[EditorNote] | None:
    """Return the notes if every anchor was made on this very text, else None.

    `blobs` are the oids of the text, `count` is the number of its lines. No search is needed then.
    """
    anchors = [anchor for _, numbered in chosen for _, anchor in numbered]
    if not all(_is_span(anchor) and anchor.get("blob") in blobs for anchor in anchors):
        return None
    out = []
    for row, numbered in chosen:
        spots = [
            (min(a["lines"][0], count) - 1, min(a["lines"][1], count) - 1, n) for n, a in numbered
        ]
        if spots:
            line, last, number = min(spots)
            state = "moved" if "came" in row else "same"
            out.append(EditorNote(row, line, state, last=last, anchor=number))
    return out


def covering(notes: Sequence[EditorNote], line: int) -> list[EditorNote]:
    """Return the notes whose code has a line, from 0; those of the whole file on its first line."""
    return [note for note in notes if note.line <= line <= max(note.line, note.last)]


def _is_span(anchor: Mapping[str, Any]) -> bool:
    span = anchor.get("lines")
    return (
        isinstance(span, list)
        and len(span) == 2
        and all(type(n) is int for n in span)
        and 1 <= span[0] <= span[1]
    )


def find_notes(
    rows: Sequence[Row], paths: Sequence[str], lines: Sequence[str], placer: Placer
) -> list[EditorNote]:
    """Return each gotcha at its best place in a text, the most severe first."""
    chosen = choose(rows, paths)
    lengths = {len(str(a["blob"])) for _, numbered in chosen for _, a in numbered if a.get("blob")}
    text = "".join(lines)
    blobs = blob_ids(text, lengths) if lengths else frozenset()
    same = notes_of_same(chosen, blobs, len(lines)) if "\r" not in text else None
    if same is not None:
        return same
    placements = _placed(chosen, paths[0], lines, blobs, placer)
    out = []
    for row, anchors in chosen:
        spots = [(*placements[_key(anchor)], number) for number, anchor in anchors]
        if spots:
            line, last, state, stale, number = min(
                spots, key=lambda spot: (STATES.index(spot[2]), spot[0])
            )
            state = "moved" if state == "same" and "came" in row else state
            out.append(EditorNote(row, line, state, stale, last, number))
    return out


def _key(anchor: Mapping[str, Any]) -> str:
    return json.dumps(anchor, sort_keys=True)


def _placed(
    chosen: Sequence[tuple[Row, list[tuple[int, dict[str, Any]]]]],
    path: str,
    lines: Sequence[str],
    blobs: Collection[str],
    placer: Placer,
) -> dict[str, tuple[int, int, str, bool]]:
    """Return {anchor: (first line, last line, state, stale)}; lines from 0."""
    ended, starts = git_lines(lines)
    texts = [content(line) for line in ended]
    keyed = {_key(anchor): anchor for _, numbered in chosen for _, anchor in numbered}
    by_blob: dict[str, list[str]] = {}
    for key, anchor in keyed.items():
        blob = str(anchor.get("blob") or "")
        by_blob.setdefault(blob if blob in blobs else "", []).append(key)
    out: dict[str, tuple[int, int, str, bool]] = {}
    for blob, keys in by_blob.items():
        places = _place(placer, [keyed[key] for key in keys], path, texts, blob)
        out |= {key: _in_lines(place, starts) for key, place in zip(keys, places, strict=True)}
    return out


def _in_lines(place: NotePlacement | None, starts: Sequence[int]) -> tuple[int, int, str, bool]:
    """Return where a placement is in the lines of the protocol; `starts` has those of git's."""
    if place is None:
        return 0, 0, "adrift", True
    first, last = (starts[max(0, min(n, len(starts)) - 1)] for n in (place.first, place.last))
    state = place.state if place.state in STATES else "adrift"
    return first, max(first, last), state, bool(place.stale)


def _place(
    placer: Placer, anchors: Sequence[dict[str, Any]], path: str, lines: Sequence[str], blob: str
) -> Sequence[NotePlacement | None]:
    """Return where anchors are.

    All in one call, or one by one when that fails: an anchor may hold anything, and must not hide
    the others.
    """
    try:
        return placer.place_all(anchors, path, lines, blob)
    except Exception as error:  # noqa: BLE001 - see above
        log.info("an anchor cannot be placed: %s", error)
        return (
            [None]
            if len(anchors) == 1
            else [
                placement
                for anchor in anchors
                for placement in _place(placer, [anchor], path, lines, blob)
            ]
        )


def trigger_notes(
    rows: Sequence[Row], path: str, lines: Sequence[str], seconds: float = TRIGGER_SECONDS
) -> list[EditorNote]:
    """Return the lines on which gotchas without a place fire, the most severe first.

    What does not fit the time is left out.
    """
    if not rows:
        return []
    from gitmem.codemap.symbols.triggers import TriggerText
    from gitmem.services.gotchas.triggers import fired

    texts, starts = git_lines(lines)
    # a client may have sent half of a letter, which no engine takes
    if not "".join(texts).isascii():
        texts = [line.encode("utf-8", "replace").decode() for line in texts]
    text = TriggerText(path, texts)
    until = time.monotonic() + seconds
    out: list[EditorNote] = []
    for row in sorted(rows, key=lambda row: RANK.get(str(row.get("severity")), 1)):
        if time.monotonic() > until or len(out) >= PLACED:
            break
        hits = fired(row, text, HITS, max(0.01, until - time.monotonic()))
        out += [
            EditorNote(row, starts[hit - 1], "trigger", last=starts[hit - 1])
            for hit in hits
            if hit <= len(starts)
        ]
    return out
