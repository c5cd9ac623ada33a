"""Cue phrases by language: what shows that a sentence decides, prefers, asks, supposes. They are data, in `phrases/`, read when a language is met."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

REMEMBERED = 4000  # texts of which is known what cues are in them
LANGUAGES = ("en", "pt", "es", "zh")
_OTHERS = re.compile("用(户|例|途|法|于)")  # words with a letter that alone means `use`
_NOTHING = r"(?!)"
_ESCAPE, _CAPITAL = re.compile(r"\\."), re.compile(r"[^\W\d_a-zß-öø-ÿ\u3400-\u9fff]")


class _Looked:
    """What was found in one text."""

    __slots__ = ("found", "low", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        low = text.lower()
        self.low = low if len(low) == len(text) else "".join(one if len(one.lower()) > 1 else one.lower() for one in text)
        self.found: dict[tuple[str, str], re.Match[str] | None] = {}


_looked: dict[tuple[str, str], _Looked] = {}  # of the texts of late: sentences come again and again


@dataclass(frozen=True, slots=True)
class Cues:
    """The cues of a language: `of[kind][list]` is one expression, compiled when it is looked for."""

    language: str
    stop: frozenset[str]
    words: frozenset[str]
    of: Mapping[str, Mapping[str, str]]

    def find(self, kind: str, name: str, text: str) -> re.Match[str] | None:
        """Return where a cue of a list is in a text; its groups may be in lower case."""
        at = self.language, text
        looked = _looked.get(at)
        if looked is None:
            if len(_looked) >= REMEMBERED:
                _looked.clear()
            looked = _looked[at] = _Looked(_OTHERS.sub(r"＿\1", text) if self.language == "zh" else text)
        key = kind, name
        if key not in looked.found:
            pattern = _compiled(self.of.get(kind, {}).get(name, _NOTHING))
            looked.found[key] = pattern.search(looked.text if pattern.flags & re.IGNORECASE else looked.low)
        return looked.found[key]


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    """Return an expression that ignores case: by its flag, which makes it three times slower, only where the expression has capitals."""
    return re.compile(expression, re.IGNORECASE if _CAPITAL.search(_ESCAPE.sub("", expression)) else 0)


@cache
def cues(language: str) -> Cues:
    """Return the cues of a language."""
    data = tomllib.loads(resources.files("gitmem.summarise").joinpath("phrases", f"{language}.toml").read_text(encoding="utf-8"))
    general = data["general"]
    data["general"] = {name: rules for name, rules in general.items() if isinstance(rules, list)}
    of = {
        kind: {
            name: "|".join(f"(?:{one})" for one in rules) for name, rules in lists.items() if rules and name not in ("marker", "heading")
        }
        for kind, lists in data.items()
    }
    return Cues(language, frozenset(general["stop"].split()), frozenset(general["words"].split()), of)


@cache
def markers() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]:
    """Return (kind, marker, heading) of all languages together: what stands before a colon, and what headings are made of."""
    marker: dict[str, list[str]] = {}
    heading: dict[str, list[str]] = {}
    for language in LANGUAGES:
        data = tomllib.loads(resources.files("gitmem.summarise").joinpath("phrases", f"{language}.toml").read_text(encoding="utf-8"))
        for kind, lists in data.items():
            marker.setdefault(kind, []).extend(lists.get("marker", ()))
            heading.setdefault(kind, []).extend(lists.get("heading", ()))
    out = []
    for kind, names in marker.items():
        if names:
            joined = "|".join(sorted(set(names), key=len, reverse=True))
            out.append(
                (
                    kind,
                    re.compile(
                        rf"^(?:\[(?:{joined})\]\s*[:：—–-]?\s*|(?:{joined})\s*(?:\([^()]{{1,40}}\)\s*)?[:：]\s*|(?:{joined})\s+[—–]\s+)",
                        re.IGNORECASE,
                    ),
                    re.compile("|".join(heading[kind]) if heading[kind] else r"(?!)", re.IGNORECASE),
                )
            )
    return tuple(out)
