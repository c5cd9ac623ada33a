"""Entries of a summary: one dated item each, known by its `id`.

How two lists of them merge, and when two say the same. Pure.

An entry: `id` (`item.item_id` of its first text), `kind`, `text`, `detail`, `at`, `session`,
`files`, `pinned`, `critical`, `by`, and `of` where it stands for several older ones. The format is
in `docs/format.md`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from gitmem.records.items import SECTION, Extract, Item, item_id, plain
from gitmem.text.equality import SIGNS
from gitmem.text.same_statement import same

Entry = dict[str, Any]
FLAGS = ("pinned", "critical")  # what keeps an entry whatever its age
DETAIL = 240  # characters of a detail

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_RUN = re.compile(rf"[{_CJK}]+|[^\W{_CJK}_]+(?:{SIGNS})?")
_STOP = frozenset(
    """a an the and or of to in on at for by with from as is are be been was were it its
this that we you they i do does did has have had will would should can not no so o os um
uma e em de da do das dos para por com se que não foi ser está ao as el la los las un
una y en del al con su es lo sus le les""".split()
)
_TOLD = re.compile(
    r"\b(?:instead of|rather than|no longer(?: use)?|in place of|and not|not|em vez d[eoa]s?"
    r"|ao invés d[eoa]s?|não mais|en (?:lugar|vez) de|ya no)\s++(?P<a>[^,.;:()]{2,60})"
    r"|\b(?:from|replac\w+|drop(?:ped|ping)?|remov\w+|substitu\w+"
    r"|reemplaz\w+)\s++(?P<b>[^\s,.;:()][^,.;:()]{1,39}?)\s{1,9}(?:to|with|by|por|pel[oa]|con"
    r"|in favou?r of)\b"
    r"|(?:而不是|不再使?用|不要再?用|而非|代替|取代)(?P<c>[^，。；、,.;]{1,20})",
    re.IGNORECASE,
)

_FOR = re.compile(
    r"\s(?:for|to|in|on|as|when|because|since|para|como|porque|en|em|nos?|nas?)\s", re.IGNORECASE
)

_REASON = re.compile(
    r"\s(?:because|since|as it|so that|porque|pois|já que|ya que|puesto que)\s|因为|由于",
    re.IGNORECASE,
)
_PURPOSE = frozenset("for in on as para como en em no na nos nas".split())  # what a choice is for

# after these comes what was chosen
_CHOOSING = frozenset(
    """use uses using used adopt adopts adopted choose chose chosen pick picked prefer
with to on usar usamos uso usa adotar adotamos escolher escolhemos com preferir utilizar
utilizamos elegir elegimos adoptar adoptamos con preferimos 用 使用 采用 选择 选用 改用""".split()
)


@lru_cache(maxsize=8192)
def words(text: str) -> frozenset[str]:
    """Return the telling words of a text, endings off.

    Of scripts without spaces pairs of characters.
    """
    out: set[str] = set()
    for run in _RUN.findall(plain(text)):
        if "\u3040" <= run[0] <= "\ud7af":
            out.update(run[i : i + 2] for i in range(len(run) - 1)) if len(run) > 1 else out.add(
                run
            )
        elif run not in _STOP:
            out.add(_stem(run))
    return frozenset(out)


def _stem(word: str) -> str:
    """Return a word without its plural ending, cut to a stem.

    It is cut where most endings of the languages that we know begin. A name with signs stays as it
    is.
    """
    if word[-1] in "+#":
        return word
    if len(word) > 3:
        word = word.removesuffix("s")
        word = word[:-2] + "y" if word.endswith("ie") else word
    return word[:6]


@lru_cache(maxsize=8192)
def overruled(text: str) -> tuple[frozenset[str], ...]:
    """Return what a text says is no longer so, as telling words.

    Of `use X instead of Y`, these are the words of Y.
    """
    found = (match["a"] or match["b"] or match["c"] for match in _TOLD.finditer(text))
    return tuple(said for one in found if (said := words(_FOR.split(one, maxsplit=1)[0])))


def _matter(text: str) -> frozenset[str]:
    """Return what a decision is about, as far as it says so.

    Of `use X for Y, because Z`, these are the words of Y.
    """
    return words(" ".join(_FOR.split(without_reason(text))[1:]))


@lru_cache(maxsize=8192)
def _row(text: str) -> tuple[str, ...]:
    """Return the words of a text in their order, as they are compared."""
    return tuple(plain(text).split())


def without_reason(text: str) -> str:
    """Return what a text says without why: of `use X, because Y`, `use X,`."""
    return _REASON.split(text, maxsplit=1)[0]


def replaces(new: str, old: str) -> bool:
    """Return whether a newer text replaces an older one about the same matter.

    It says so, or is the same but for one choice.
    """
    ours, theirs = words(new), words(old)
    if not ours & theirs or same(new, old):
        return False
    chosen = theirs.difference(*overruled(old))  # what it refused itself was never chosen
    for gone in overruled(new):
        here, there = _matter(new) - gone, _matter(old) - gone
        if (
            gone <= chosen
            and len(gone) < len(theirs)
            and (ours & theirs) - gone
            and (not here or not there or here & there)
        ):
            return True
    a, b = _row(new), _row(old)
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    after = a[len(a) - end :]
    differing = max(len(a), len(b)) - start - end
    # the same sentence with another choice in its place: what follows says for what, and that must
    # be the same; a reason does not
    says_for = bool(after) and after[0] in _PURPOSE and bool(words(" ".join(after)))
    return (
        0 < differing <= 2
        and start > 0
        and a[start - 1] in _CHOOSING
        and says_for
        and min(len(a), len(b)) - start - end > 0
    )


def shortened(text: str) -> str:
    """Return the first sentences of a text, as many as an entry has room for."""
    line = " ".join(text.split())
    if len(line) <= DETAIL:
        return line
    end = max(line.rfind(mark, 0, DETAIL) for mark in (". ", "! ", "。", "; "))
    return line[: end + 1] if end > DETAIL // 3 else line[: DETAIL - 1].rstrip() + "…"


def beside(text: str, detail: str) -> str:
    """Return a detail as far as a text does not say it already: all of it, or nothing."""
    return "" if plain(detail) in plain(text) else detail


def entry_of(item: Item, session: str, by: str, at: str) -> Entry:
    """Return an item as an entry; `at` is when, if the item does not say it."""
    out: Entry = {
        "id": item_id(item.text),
        "kind": item.kind,
        "text": item.text,
        "at": item.at or at,
        "session": session,
    }
    more = {
        "detail": shortened(beside(item.text, item.detail)),
        "files": list(item.files),
        "critical": item.marked or None,
        "by": by if by != "offline" else "",
    }
    return {**out, **{k: v for k, v in more.items() if v}}


def sections_of(extract: Extract, session: str, at: str) -> dict[str, list[Entry]]:
    """Return the items of an extract that are sure, as the sections of a summary.

    Each text once.
    """
    out: dict[str, list[Entry]] = {}
    seen: set[str] = set()
    for item in extract.items:
        entry = entry_of(item, session, extract.by, at)
        if (item.sure or item.marked) and entry["id"] not in seen and item.text.strip():
            seen.add(entry["id"])
            out.setdefault(SECTION[item.kind], []).append(entry)
    return out


def key_of(entry: Mapping[str, Any]) -> str:
    """Return what an entry is known by: its id; of one without, its words."""
    return str(entry.get("id") or item_id(str(entry.get("text", ""))))


def known_as(entry: Mapping[str, Any]) -> set[str]:
    """Return the ids of an entry and of what it stands for beside itself."""
    return {key_of(entry), *(entry.get("also") or ())}


def ordered(entries: Iterable[Entry]) -> list[Entry]:
    """Return entries in the one order of the format: by time, then by id."""
    return sorted(entries, key=lambda e: (str(e.get("at", "")), key_of(e)))


def is_sections(*values: Any) -> bool:
    """Say whether values are sections as this module has them: maps of lists of maps."""
    return all(
        isinstance(value, Mapping)
        and all(
            isinstance(part, list) and all(isinstance(e, Mapping) for e in part)
            for part in value.values()
        )
        for value in values
    )


def merge_sections(
    base: Mapping[str, Any],
    ours: Mapping[str, Any],
    theirs: Mapping[str, Any],
    gone: Iterable[Any] = (),
) -> dict[str, list[Entry]] | None:
    """Merge the sections of two versions of a summary, entry by entry; None when nothing is left.

    Both sides' additions stay. What one side took away is gone if the other left it alone; a change
    wins over that, but not over a person who took it out (`gone`), unless it is pinned. Of two
    changes the newer (`at`, then the greater bytes) holds, and a flag that one side set or took
    off. Commutative, idempotent, associative for one base.
    """
    out_for_good = {id for id in gone if isinstance(id, str)}
    out: dict[str, list[Entry]] = {}
    for section in sorted({*base, *ours, *theirs}):
        o, x, y = (
            {key_of(e): dict(e) for e in side.get(section) or []} for side in (base, ours, theirs)
        )
        merged = [
            kept
            for key in {*o, *x, *y}
            if (kept := _merge_entry(o.get(key), x.get(key), y.get(key))) is not None
            and (key not in out_for_good or kept.get("pinned"))
        ]
        if merged:
            out[section] = ordered(merged)
    return out or None


def _merge_entry(o: Entry | None, x: Entry | None, y: Entry | None) -> Entry | None:
    if x == y or y == o:
        return x
    if x == o:
        return y
    if x is None or y is None:
        return x or y  # a change here, taken away there
    base = o or {}
    bare: list[Entry] = [{k: v for k, v in side.items() if k not in FLAGS} for side in (x, y)]
    plain_base = {k: v for k, v in base.items() if k not in FLAGS}
    changed = [one for one in bare if one != plain_base] or bare
    won: Entry = dict(max(changed, key=_rank))
    for flag in FLAGS:
        was, one, two = bool(base.get(flag)), bool(x.get(flag)), bool(y.get(flag))
        if one if one != was else two:
            won[flag] = True
    return won


def _rank(entry: Any) -> tuple[str, str]:
    return str(entry.get("at", "")), repr(sorted(entry.items()))


def sound(entry: Mapping[str, Any]) -> Entry:
    """Return an entry with its known parts of the form that they should have, whoever wrote it.

    What else it has stays.
    """
    out = dict(entry)
    for key in ("id", "kind", "text", "detail", "at", "since", "session", "by"):
        if key in out and not isinstance(out[key], str):
            out[key] = "" if out[key] is None else str(out[key])
    for key in ("files", "also"):
        if key in out:
            out[key] = (
                [x for x in out[key] if isinstance(x, str)] if isinstance(out[key], list) else []
            )
    if "of" in out and type(out["of"]) is not int:
        del out["of"]
    return {"text": "", **out}


def texts(sections: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Return the texts of all entries."""
    return [str(entry.get("text", "")) for part in sections.values() for entry in part]
