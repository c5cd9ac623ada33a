"""What a purge puts in the place of a text: in records, in other files, in commit messages.

A record is masked value by value and written anew, because its bytes hold a text in escaped forms,
and because ids, kinds, times and keys are the store's own words, which a mask must not touch.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

from gitmem.errors import InvalidRecord
from gitmem.records.codec import decode, encode_canonical
from gitmem.records.record import ENUMS, SCHEMA, Record, canonical, kind_of
from gitmem.records.texts import clean_text
from gitmem.store.history.forms import Forms
from gitmem.store.layout import FOLDER, FORMAT_PATH, PURGES, id_of_path
from gitmem.text.equality import plain
from gitmem.text.normal_words import normal_words
from gitmem.text.slugs import LONGEST, slug_words

MASK = "[purged]"
SHORTEST = 4  # characters; a shorter text would tear holes into everything
_TYPED = frozenset({"time", "int", "number", "bool"})
_WORDY = frozenset({"status", "origin", "phase"})  # one small word each, mostly ours
_WORD = re.compile(r"[a-z_]{1,20}")
_TRAILER = re.compile(r"Gitmem-(?:Op|Id|Key|Was|Command|Undoes): ")
_START = re.compile(rf"(?:(?:undo|redo): )*(?:{'|'.join(FOLDER)}|gitmem): [a-z]+ ")
_NAMED = re.compile(r"^Gitmem-Id: (\S+)$", re.MULTILINE)
_MARKS = ("reason", "pattern", "said", "by")


class Mask:
    """Replaces texts, in every form in which a store may hold them.

    `found` becomes true with the first text replaced, `places` counts them; `left` names the files
    where one is part of what must not be touched.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.texts = sorted({f for t in texts for f in _forms(t)}, key=lambda f: (-len(f), f))
        self.forms = Forms(self.texts)
        self._rows = {f" {plain(text)} " for text in self.texts}
        self.found = False
        self.places = 0
        self.left: set[str] = set()
        self.named: set[str] = set()  # of those, the files whose own path holds one

    def __bool__(self) -> bool:
        return bool(self.texts)

    def text(self, text: str) -> str:
        """Return a text without the secrets, plain or in JSON's escapes."""
        clean, count = self.forms.replace(text, MASK)
        self.places += count
        return clean

    def raw(self, data: bytes) -> bytes:
        """Return bytes without the secrets, plain or in JSON's escapes."""
        clean, count = self.forms.replace_bytes(data, MASK.encode())
        self.places += count
        return clean

    def holds(self, data: bytes) -> bool:
        """Say whether bytes hold a secret."""
        return self.forms.are_in(data)

    def file(self, path: str, data: bytes) -> bytes:
        """Return a store's file without the secrets: the same bytes when they are not in there."""
        if self.holds(path.encode("utf-8", "surrogateescape")):
            self.left.add(path)
            self.named.add(path)
        has_topics = b"\ntopics: " in data
        is_decoded = (has_topics or b"\\" in data) and _record_id(path) is not None
        if not (self.holds(data) or is_decoded):
            return data
        if path in {FORMAT_PATH, PURGES} or path.startswith("usage/"):
            clean = data
        elif path.startswith("tombstones/"):
            clean = self._tombstone(data)
        elif _record_id(path):
            clean = self._record(data)
        else:
            clean = self.raw(data)
        self.found = self.found or clean != data
        if self.holds(clean):
            self.left.add(path)
        return clean

    def message(self, message: str) -> str:
        """Return a commit message without the secrets.

        Its ids and the words it begins with stay.
        """
        first, *rest = message.split("\n")
        start = _START.match(first)
        head = start[0] if start else ""
        ids = "|".join(re.escape(id) for id in _NAMED.findall(message) if kind_of(id))
        parts = re.split(f"({ids})", first[len(head) :]) if ids else [first[len(head) :]]
        subject = head + "".join(
            part if number % 2 else self.text(part) for number, part in enumerate(parts)
        )
        out = "\n".join(
            [subject, *(line if _TRAILER.match(line) else self.text(line) for line in rest)]
        )
        self.found = self.found or out != message
        return out

    def _record(self, data: bytes) -> bytes:
        try:
            record = decode(data)
            clean = Record(
                record.id,
                record.kind,
                self.text(record.title),
                self.text(record.body),
                {k: self._field(record, k) for k in record.fields},
            )
            same = (clean.title, clean.body, clean.fields) == (
                record.title,
                record.body,
                dict(record.fields),
            )
            return data if same else encode_canonical(canonical(clean))
        except InvalidRecord:
            return self.raw(data)

    def _field(self, record: Record, key: str) -> Any:
        value, kind = record.fields[key], SCHEMA[record.kind].get(key)
        if key == "topics" and isinstance(value, list):
            value = [topic for topic in value if not self._is_part(topic)]
        if key == "stamps" or kind in _TYPED or (record.kind, key) in ENUMS:
            return value
        if key in _WORDY and isinstance(value, str) and _WORD.fullmatch(value):
            return value
        # what a program put there may hold anything, in its keys too; the other fields' keys are
        # known names
        return self._value(value, keys=kind in {"any", None})

    def _value(self, value: Any, *, keys: bool) -> Any:
        if isinstance(value, str):
            return value if kind_of(value) else self.text(value)
        if isinstance(value, list):
            return [self._value(v, keys=keys) for v in value]
        if isinstance(value, dict):
            return {
                self.text(k) if keys else k: self._value(v, keys=keys) for k, v in value.items()
            }
        return value

    def _is_part(self, topic: object) -> bool:
        """Say whether a topic is some of the words of a text: topics are made of those."""
        words = f" {plain(topic)} " if isinstance(topic, str) else "  "
        return words != "  " and any(words in row for row in self._rows)

    def _tombstone(self, data: bytes) -> bytes:
        try:
            mark = json.loads(data)
            clean = {
                k: self.text(v) if k in _MARKS and isinstance(v, str) else v
                for k, v in mark.items()
            }
        except (ValueError, AttributeError, RecursionError):
            return self.raw(data)
        return data if clean == mark else mark_bytes(clean)


def mark_bytes(mark: dict[str, Any]) -> bytes:
    """Return a tombstone's file."""
    return json.dumps(mark, ensure_ascii=False, sort_keys=True).encode() + b"\n"


def purged_mark(data: bytes, id: str) -> bytes:
    """Return the tombstone of a purged record that replaces an older one.

    The older one may quote the record.
    """
    try:
        old = json.loads(data)
    except (ValueError, RecursionError):
        old = None
    kept = (
        {k: old[k] for k in ("at", "by") if isinstance(old.get(k), str)}
        if isinstance(old, dict)
        else {}
    )
    return mark_bytes({**kept, "id": id, "purged": True})


def taken_out(path: str, old: bytes, new: bytes, texts: Iterable[str] = ()) -> set[str] | None:
    """Return the texts that a mask took out of a file to give its new form.

    None when that does not explain the new form.

    Lets a clone that still has the old form mask what it has not sent.
    """
    taken = set(texts)
    if Mask(taken).file(path, old) == new:
        return taken
    before = list(_strings(path, old))
    for text in _strings(path, new):
        if MASK in text:
            taken |= {cut for other in before if other != text for cut in _cuts(other, text)}
    return taken if Mask(taken).file(path, old) == new else None


def _cuts(old: str, new: str) -> list[str]:
    """Return what stands in an old text where the new one has the mask.

    Nothing if they do not fit.
    """
    first, *rest = new.split(MASK)
    if not old.startswith(first):
        return []
    out, at = [], len(first)
    for number, part in enumerate(rest):
        end = len(old) - len(part) if number == len(rest) - 1 else old.find(part, at + SHORTEST)
        if end < at + SHORTEST or not old.startswith(part, end):
            return []
        out.append(old[at:end])
        at = end + len(part)
    return out


def _strings(path: str, data: bytes) -> Iterator[str]:
    """Yield the texts that a mask looks at in a file."""
    if _record_id(path):
        try:
            record = decode(data)
        except InvalidRecord:
            pass
        else:
            yield record.title
            yield record.body
            yield from _inside(dict(record.fields))
            return
    yield data.decode("utf-8", "surrogateescape")


def _inside(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from _inside(inner)
    elif isinstance(value, dict):
        yield from value
        for inner in value.values():
            yield from _inside(inner)


def _record_id(path: str) -> str | None:
    """Return the id of the record whose text a file holds, in its place or in the attic."""
    parts = path.split("/")
    if len(parts) == 3 and parts[0] == "attic" and parts[2].endswith(".md"):
        return parts[1] if kind_of(parts[1]) else None
    return id_of_path(path)


def _forms(text: str) -> set[str]:
    """Return a text as it was given, as a record and its name have it, and as it is compared."""
    clean = clean_text(text)
    composed = {unicodedata.normalize(form, text) for form in ("NFC", "NFD")}
    forms = {
        *composed,
        clean,
        clean.strip(),
        " ".join(clean.split()),
        unicodedata.normalize("NFD", clean),
        clean.lower(),
        normal_words(text),
    }
    name = slug_words(text)
    if _letters(name) >= _letters(text[:LONGEST]):  # of a text in other letters it has little
        forms.add(name)
    return {text, *(f for f in forms if len(f) >= SHORTEST)}


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))
