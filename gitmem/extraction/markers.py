"""Markers and headings: `Decision: ...`, `[todo] ...`, `## Next steps`. Pure."""

import re
from functools import cache, lru_cache
from itertools import product

from gitmem.extraction.phrases import LANGUAGES, in_any_language, language_data, tokenized
from gitmem.records.items import DECISION, DONE, KINDS, PATTERN, PREFERENCE, TASK

FIX, REASON = "fix", "reason"  # markers that explain the item before
HEADING = 90  # characters of a heading that names a kind
LEAD = 40  # characters of a line before a list that is its heading
_MARKER = re.compile(
    r"(?:\[(?P<boxed>[^\]\n]{2,30})\]\s*[:：—–-]?"
    r"|(?P<name>[^\W\d_][\w '’-]{0,30}?)(?: \d{1,4})?\s{0,9}(?:[(（][^()]{1,40}[)）]\s{0,9})?"
    r"(?:[:：]|\s[—–](?=\s)))\s*(?P<rest>.*)",
    re.DOTALL,
)
_BARE = re.compile(r"(TODO|FIXME|DECISION)\s+(\S.*)", re.DOTALL)
_QUALIFIED = re.compile(  # `my verdict`, `TODO for the next session`
    r"(?:(?:my|our|the|one more|mi|nuestra|la|el|una|minha|nossa|a|uma) )?(.+?)"
    r"(?: (?:for|from|para|pra|here|aqui|aquí)\b.*)?"
)
_PLANNED = (DECISION, PREFERENCE, PATTERN, TASK)  # kinds whose markers may say for what
_AROUND = re.compile(r"^\W+|\W+$")


@cache
def _names() -> dict[str, str]:
    """Return the kinds of all markers, by their names."""
    out: dict[str, str] = {}
    for language in LANGUAGES:
        for kind, names in language_data(language).data["markers"].items():
            out.update(dict.fromkeys(names.split("|"), kind))
    return out


@lru_cache(maxsize=2048)
def labelled(text: str) -> tuple[str, str] | None:
    """Return the kind that a marker in front of a text names, and the rest."""
    match = _MARKER.match(text)
    if match:
        name = " ".join((match["boxed"] or match["name"]).lower().split()).replace("’", "'")
        kind = _names().get(name) or _qualified(name)
        return (kind, match["rest"].strip(" *_-—–")) if kind else None
    bare = _BARE.match(text)
    return (_names()[bare[1].lower()], bare[2]) if bare else None


def _qualified(name: str) -> str | None:
    """Return the kind that a marker names with a word before or after it."""
    match = _QUALIFIED.fullmatch(name)
    kind = _names().get(match[1]) if match else None
    return kind if kind in _PLANNED else None


def tells(text: str) -> bool:
    """Return whether a marked text says anything: `none yet` and `-` do not."""
    bare = _AROUND.sub("", text)
    says_nothing = in_any_language("guards", "nothing", f"{tokenized(bare)}$ ")
    return len(bare) > 1 and any(map(str.isalpha, bare)) and not says_nothing


@cache
def _lead_ins(language: str) -> re.Pattern[str]:
    data = language_data(language).data
    apart, bare = (
        "|".join(sorted(map(re.escape, " ".join(data[key].split()).split(", ")), key=len)[::-1])
        for key in ("lead_in", "lead_in_bare")
    )
    gap = r"\s*" if language == "zh" else r"\s+"
    return re.compile(
        rf"(?i)(?:(?:{apart})(?:\s*[,.!:;，。：！、；…]+|\s[-–—]){gap}|(?:{bare}){gap})(?=\S)"
    )


@lru_cache(maxsize=4096)
def stripped(text: str, language: str) -> str:
    """Return a sentence without what leads to it, its first letter in upper case."""
    for _ in range(4):
        leading = _lead_ins(language).match(text)
        if not leading or len(text) - leading.end() < 4:
            break
        text = text[leading.end() :].lstrip(" ,;:：，、-—–")
    text = text.strip()
    first = text.split(" ", 1)[0].strip(",.:;").replace("'", "").replace("’", "")
    return text[:1].upper() + text[1:] if text[:1].islower() and first.isalpha() else text


@lru_cache(maxsize=1024)
def _named(words: str) -> tuple[str, int]:
    """Return the kind that a heading names, and how many of its tokens name it."""
    said = tokenized(words) + "$ "
    named = {}
    for language, kind in product(LANGUAGES, KINDS):
        if match := language_data(language).phrases("headings", kind).search(said):
            size = len(said[match.start : match.end].replace("$", "").split())
            named[match.start, kind] = size
    kinds = {kind for _, kind in named}
    if {TASK, DONE} <= kinds:  # `not done yet`
        return TASK, max(named.values())
    first = min(named, default=None)
    return (first[1], named[first]) if first else ("", 0)


def headed(words: str) -> str:
    """Return the kind that a heading names; empty where it names none."""
    if not words or len(words) > HEADING or words.endswith(("?", "？")):
        return ""
    return "" if heading_is(words, "about_errors") else _named(words)[0]


def heading_is(words: str, name: str) -> bool:
    """Return whether a heading is in a list of headings, such as `options`."""
    return in_any_language("headings", name, tokenized(re.sub(r"[()]", " ", words)) + "$ ")


def lead(text: str) -> str:
    """Return the heading that a line before a list is: `Done`, `Still to do:`; else nothing."""
    bare = text.strip().strip("*_ ")
    name = bare.rstrip(":： *_")
    if not name or "\n" in bare or len(name) > LEAD or name[-1] in ".!?。！？":
        return ""
    if not (name[0].isupper() or name[0] > "\u2e7f" or name != bare):
        return ""
    marker = labelled(bare)
    if marker and marker[1]:
        return ""  # `Decision: use Redis` is an item
    kind, size = _named(name)
    bare_name = re.sub(r"\([^()]*\)", "", name)
    return name if kind and 2 * size >= len(tokenized(bare_name).split()) else ""


def ends_list(text: str) -> bool:
    """Return whether a line is a name before a list that names no kind: `Notes:`."""
    bare = text.strip().strip("*_ ")
    name = bare.rstrip(":： *_")
    return name != bare and heading_is(name, "ends")
