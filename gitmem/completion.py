"""`git-mem __complete ids PREFIX [KIND]`: what shell completion asks for.

Read-only, bounded, never an error.

Answers from the index as it is: a completion must not wait for git. Standard library only.
"""

import os
import sys

from gitmem.index.reader import NAME, open_index
from gitmem.repo.location import locate, user_repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST = 50
SHORT = 8  # characters of an id's end that lists show


def ids(
    prefix: str, start: str, env: "Mapping[str, str]", kind: str = "", most: int = MOST
) -> "list[tuple[str, str]]":
    """Return (id, title) of records whose id or short form begins with a prefix, newest first.

    Records are of all kinds or of one. The short form is returned if it is unique.
    """
    low = prefix.lower()
    if not all(c.isalnum() or c in "._-" for c in low):
        return []
    like = low.replace("_", "\\_") + "%"
    found: dict[str, str] = {}
    for path in _indexes(start, env):
        index = open_index(path)
        if index is None:
            continue
        fits = (
            "(id LIKE ?1 ESCAPE '\\' OR substr(id, 5) LIKE ?1 ESCAPE '\\' OR substr(id, ?2) LIKE "
            "?1 ESCAPE '\\')"
        )
        sql = (
            f"SELECT id, title FROM records WHERE {fits} AND ?4 IN ('', kind) ORDER BY created "
            f"DESC, id DESC LIMIT ?3"
        )
        for id, title in index.db.execute(sql, (like, -SHORT, most, kind)):
            found.setdefault(id, title)
        index.db.close()
    ends = [_short(id) for id in found]
    out = []
    for id, title in list(found.items())[:most]:
        short = _short(id)
        shown = next(form for form in (short, id, id[4:]) if form.startswith(low))
        out.append((shown if shown != short or ends.count(short) == 1 else id, title))
    return out


def _short(id: str) -> str:
    return id[-SHORT:] if len(id) > 20 else id


def _indexes(start: str, env: "Mapping[str, str]") -> "list[str]":
    """Return the index files that a reader joins: the repository's, then the user's own."""
    out = []
    try:
        out.append(os.path.join(locate(start, env).home, NAME))
    except Exception:  # noqa: BLE001 - no repository here
        pass
    user = os.path.join(user_repository(env), "gitmem", NAME)
    return out if user in out else [*out, user]


def _line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)[:120]


def main(args: "Sequence[str]") -> int:
    """Print `id<TAB>title` lines for `ids PREFIX [KIND]`.

    Print nothing for anything else, or when anything is wrong.
    """
    try:
        if args[:1] == ["ids"]:
            rows = ids(
                args[1] if len(args) > 1 else "",
                os.getcwd(),
                os.environ,
                args[2] if len(args) > 2 else "",
            )
            sys.stdout.buffer.write(
                "".join(f"{id}\t{_line(title)}\n" for id, title in rows).encode("utf-8", "replace")
            )
            sys.stdout.flush()
    except Exception:  # noqa: BLE001 - a message would land in the middle of the user's command line
        pass
    return 0
