"""Decision records: one Markdown file a decision, as adr-tools and MADR write them."""

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from gitmem.services.interchange.files import name_in, read_text, with_front
from gitmem.services.interchange.item import (
    ForeignFormat,
    ForeignItem,
    ForeignSource,
    Surroundings,
)
from gitmem.services.interchange.values import text_of, texts_of, time_of

NAME = "adr"
FOLDERS = (
    "doc/adr",
    "docs/adr",
    "docs/adrs",
    "docs/decisions",
    "docs/architecture/decisions",
    "adr",
)
ACCEPTED = re.compile(r"\b(?:accepted|approved|aceit[ao]|aprovad[ao]|aceptad[ao])\b", re.IGNORECASE)
ENDED = re.compile(
    r"\b(?:superseded|superceded|deprecated|rejected|substituíd[ao]|rejeitad[ao]|obsolet[ao])\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?:adr[-_ ]?)?(\d{1,6})[-_ .]", re.IGNORECASE)
_TITLE = re.compile(r"^#[ \t]+(\S.*)$", re.MULTILINE)
# what stands before the words of a title: `1. `, `ADR-0001: `, `12 - `
_NUMBER = re.compile(r"(?:ADR[- ]?)?\d{1,6}[.:)]?[ \t]{1,9}(?:[-–:][ \t]{1,9})?", re.IGNORECASE)
_STATUS = re.compile(
    r"^##[ \t]+status[ \t]*\n(.*?)(?=^##?[ \t]|\Z)", re.IGNORECASE | re.MULTILINE | re.DOTALL
)
_LINE = re.compile(
    r"^[-*][ \t]+\**(status|date|deciders)\**:\**[ \t]*(.+)$|^(date|status):[ \t]*(.+)$",
    re.IGNORECASE | re.MULTILINE,
)
_HEAD = re.compile(r"\A\s*(?:(?:date|status):[^\n]*(?:\n\s*|\Z))+", re.IGNORECASE)
_LINK = re.compile(r"\]\(([^()\[\]\s<>#]+\.md)")
_REPLACES = re.compile(r"supersedes|supercedes|replaces|substitui", re.IGNORECASE)
_MENTION = re.compile(r"\bADR[- ]?(\d{1,6})\b", re.IGNORECASE)


class DecisionStatus(NamedTuple):
    """What a record says of itself: its status, its date, the text about its status."""

    status: str
    date: str
    text: str


def _places(here: Surroundings) -> Sequence[str]:
    return here.below_root(*FOLDERS)


def _fits(path: str) -> bool:
    return os.path.isdir(path) and any(_NUMBERED.match(name) for name in _names(path))


def _names(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".md"))
    except OSError:
        return []


def _numbers(names: Sequence[str]) -> dict[int, str]:
    """Return the files of decisions by their number."""
    out = {}
    for name in names:
        if number := _NUMBERED.match(name):
            out[int(number[1])] = name
    return out


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    names = _names(source.path)
    numbers = _numbers(names)
    for name in names:
        if not _NUMBERED.match(name):
            if name.lower() not in {"readme.md", "index.md", "template.md", "adr-template.md"}:
                source.leave_out(name, "its name does not begin with a number")
            continue
        path = os.path.join(source.path, name)
        text = read_text(source, path)
        if text is None:
            continue
        front, body = with_front(source, name, text)
        title = text_of(front.get("title")) or _heading(body)
        if title:
            yield _decision(source, path, title, front, body, numbers)
        else:
            source.leave_out(name, "it has no title")


def _decision(
    source: ForeignSource,
    path: str,
    title: str,
    front: dict[str, Any],
    body: str,
    numbers: dict[int, str],
) -> ForeignItem:
    standing = _standing(front, body)
    name = os.path.basename(path)
    older, others = _relations(standing.text, name, numbers)
    linked = [os.path.basename(link) for link in _LINK.findall(body)]
    links = dict.fromkeys([*others, *(link for link in linked if link in numbers.values())])
    at = time_of(standing.date)
    is_ended = bool(ENDED.search(standing.status))
    return ForeignItem(
        NAME,
        _id(source, path),
        title,
        type="decision",
        body=_without_head(body),
        created=at,
        updated=at,
        is_agents=not ACCEPTED.search(standing.status) and not is_ended,
        tags=texts_of(front.get("tags")),
        links=tuple(_sibling(source, path, link) for link in links if link not in {name, *older}),
        supersedes=tuple(_sibling(source, path, link) for link in older),
        status="archived" if is_ended else "active",
        path=os.path.relpath(path, source.root) if source.root else "",
        extra={"status": standing.status} if standing.status else {},
    )


def _heading(body: str) -> str:
    """Return the words of the first heading, without the number of the decision."""
    heading = _TITLE.search(body)
    text = heading[1].rstrip("# \t") if heading else ""
    number = _NUMBER.match(text)
    return text[number.end() :] if number else text


def _standing(front: dict[str, Any], body: str) -> DecisionStatus:
    lines: dict[str, str] = {}
    for line in _LINE.finditer(body):
        lines.setdefault((line[1] or line[3]).lower(), (line[2] or line[4]).strip())
    whole = _STATUS.search(body)
    text = whole[1].strip() if whole else ""
    status = text_of(front.get("status")) or lines.get("status") or text.partition("\n")[0]
    date = text_of(front.get("date")) or lines.get("date", "")
    return DecisionStatus(status.strip(" *_"), date, f"{status}\n{text}")


def _relations(text: str, name: str, numbers: dict[int, str]) -> tuple[list[str], list[str]]:
    """Return the files of the decisions that one replaces, and those that it names otherwise."""
    older: list[str] = []
    others: list[str] = []
    for line in text.split("\n"):
        mentioned = [os.path.basename(link) for link in _LINK.findall(line)]
        mentioned += [numbers.get(int(number), "") for number in _MENTION.findall(line)]
        row = older if _REPLACES.search(line) and "superseded" not in line.lower() else others
        row += [other for other in mentioned if other in numbers.values() and other != name]
    return list(dict.fromkeys(older)), list(dict.fromkeys(others))


def _id(source: ForeignSource, path: str) -> str:
    return os.path.relpath(path, source.root) if source.root else name_in(source, path)


def _sibling(source: ForeignSource, path: str, name: str) -> str:
    return _id(source, os.path.join(os.path.dirname(path), name))


def _without_head(body: str) -> str:
    """Return a text without its title, and without the lines below it that have their own field."""
    return _HEAD.sub("", _TITLE.sub("", body, count=1))


FORMAT = ForeignFormat(NAME, "decision records", _places, _fits, _read)
