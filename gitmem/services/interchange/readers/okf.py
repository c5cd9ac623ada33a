"""Open Knowledge Format: a folder of Markdown files with YAML front matter, one a concept."""

import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from urllib.parse import unquote

from gitmem.base.regular_files import read_regular
from gitmem.services.interchange.files import files_below, read_text, with_front
from gitmem.services.interchange.item import (
    ForeignFormat,
    ForeignItem,
    ForeignSource,
    Surroundings,
)
from gitmem.services.interchange.okf import (
    GOTCHA,
    LINK,
    MADE,
    NAME,
    OWN_KEY,
    RESERVED,
    TYPES,
)
from gitmem.services.interchange.own_fields import is_fact_id, taken_over
from gitmem.services.interchange.values import headline, map_of, maps_of, text_of, texts_of, time_of

PLACES = ("knowledge", "okf", ".okf", "docs/knowledge")
HEAD = 4096  # bytes of a file that tell the format
LOOKED_AT = 50  # files of a folder that may be a bundle
_FOLDED = {name.casefold(): ours for name, ours in TYPES.items()}


def _places(here: Surroundings) -> Sequence[str]:
    return here.below_root(*PLACES)


def _fits(path: str) -> bool:
    """Say whether a folder is a bundle: some exporters write no version, or no index."""
    if not os.path.isdir(path):
        return False
    index = os.path.join(path, "index.md")
    if b"okf_version" in read_regular(index, HEAD):
        return True
    names = files_below(ForeignSource(NAME, path), path, ".md")
    heads = [read_regular(name, HEAD) for name in islice(names, LOOKED_AT)]
    is_typed = any(head.startswith(b"---") and b"\ntype:" in head for head in heads)
    return os.path.exists(index) and is_typed


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    root = source.path
    paths = [os.path.relpath(path, root) for path in files_below(source, root, ".md")]
    concepts = [path for path in paths if os.path.basename(path) not in RESERVED]
    bundle = os.path.basename(os.path.abspath(root))
    for path in concepts:
        text = read_text(source, os.path.join(root, path))
        if text is None:
            continue
        noted = len(source.unmapped)
        front, body = with_front(source, path, text)
        if not front:
            if len(source.unmapped) == noted:
                source.leave_out(path, "it has no front matter")
            continue
        if not text_of(front.get("type")):
            source.leave_out(path, "it has no type: it is taken as a fact")
        yield _concept(path, front, body, bundle, frozenset(concepts))


def _concept(
    path: str, front: dict[str, Any], body: str, bundle: str, concepts: frozenset[str]
) -> ForeignItem:
    own = map_of(front.get(OWN_KEY))
    id, kind = text_of(own.get("id")), text_of(own.get("kind"))
    is_own = is_fact_id(id, kind)
    theirs = text_of(front.get("type")).casefold()
    if not is_own:
        kind = "gotcha" if theirs == GOTCHA.casefold() else "memory"
    said = body.partition(MADE)[0] if is_own else body
    title = text_of(front.get("title")) or headline(body)[0] or posixpath.basename(path)[:-3]
    at = time_of(map_of(front.get("generated")).get("at")) or time_of(front.get("timestamp"))
    links = texts_of(own.get("links")) if is_own else _links(path, body, bundle, concepts)
    status = text_of(front.get("status"))
    return ForeignItem(
        NAME,
        id if is_own else f"{bundle}/{path}",
        title,
        kind=kind,
        type=text_of(own.get("type")) or _FOLDED.get(theirs, "fact"),
        body=said,
        created=time_of(own.get("created")) or at,
        updated=time_of(own.get("updated")) or _last_verified(front) or at,
        author=text_of(own.get("author")),
        agent=text_of(own.get("agent")),
        tags=texts_of(front.get("tags")),
        links=links,
        supersedes=texts_of(own.get("supersedes")) if is_own else (),
        status=text_of(own.get("status")) or ("archived" if status == "deprecated" else "active"),
        done=time_of(map_of(own.get("done")).get("at")),
        expires=text_of(own.get("expires")) or text_of(front.get("stale_after")),
        id=id if is_own else "",
        fields=taken_over(own, kind) if is_own else {},
        place="" if is_own else path,
        extra={"front": front},
    )


def _links(path: str, body: str, bundle: str, concepts: frozenset[str]) -> tuple[str, ...]:
    """Return the source ids of the concepts that a text links to."""
    out = []
    for target in LINK.findall(body):
        plain = unquote(target.partition("#")[0])
        if "://" in plain or not plain.endswith(".md"):
            continue
        inner = plain.lstrip("/")
        if not plain.startswith("/"):
            inner = posixpath.normpath(posixpath.join(posixpath.dirname(path), plain))
        if inner in concepts and inner != path:
            out.append(f"{bundle}/{inner}")
    return tuple(dict.fromkeys(out))


def _last_verified(front: Mapping[str, Any]) -> str:
    given = front.get("verified")
    entries = maps_of(given if isinstance(given, list) else [given])
    return max((time_of(entry.get("at")) for entry in entries), default="")


FORMAT = ForeignFormat(NAME, "an OKF bundle", _places, _fits, _read)
