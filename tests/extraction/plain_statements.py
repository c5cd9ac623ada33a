"""Plain statements, one or two sentences each, with what should be found in them: `plain/*.toml`."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gitmem.extraction.extractor import extract
from gitmem.transcripts.turn import ASSISTANT, USER, Turn
from tests.extraction.matching import Found, Judged, judge
from tests.extraction.source import Label

HERE = Path(__file__).parent / "plain"
HELD = Path(__file__).parent / "held"  # nobody looked at these to write a phrase
AT = "2026-11-21T10:00:0{}Z"
# what is said of how things are done may be any of these
ALIKE = ({"preference", "pattern"}, {"decision", "preference"}, {"decision", "pattern"})


@dataclass(frozen=True, slots=True)
class PlainStatement:
    """What somebody said, after what the other one said before, and the kind and gist of it."""

    language: str
    role: str
    kind: str
    text: str
    gist: str = ""
    before: str = ""
    why: str = ""  # a statement of no kind is none

    def turns(self) -> Iterator[Turn]:
        """Yield the turns of a session in which it is said."""
        role, other = (USER, ASSISTANT) if self.role == "user" else (ASSISTANT, USER)
        opening = "Hello." if other == USER else "Hello, what shall we do?"
        yield Turn(other, self.before or opening, AT.format(0), 1)
        yield Turn(role, self.text, AT.format(1), 2)
        yield Turn(other, "ok", AT.format(2), 3)

    def judged(self) -> Judged:
        """Compare what is found in it with its gist."""
        kinds = (self.kind, *(kind for pair in ALIKE if self.kind in pair for kind in pair))
        labels = [] if self.kind == "none" else [Label(tuple(dict.fromkeys(kinds)), self.gist)]
        items = extract(self.turns()).items
        return judge(labels, [Found(one.kind, one.text, one.detail) for one in items])


def plain_statements(folder: Path = HERE) -> list[PlainStatement]:
    """Return the statements of all files of a folder."""
    return [
        PlainStatement(**row)
        for path in sorted(folder.glob("*.toml"))
        for row in tomllib.loads(path.read_text(encoding="utf-8"))["statement"]
    ]
