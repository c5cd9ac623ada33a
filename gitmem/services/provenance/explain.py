"""One place in the code: its lines, and where they come from."""

from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.codemap.symbols.spans import symbol_span
from gitmem.errors import UserError
from gitmem.git.blame import blame
from gitmem.services.provenance.known import ProvenanceSources
from gitmem.services.provenance.why import Origin, origins


@dataclass(frozen=True, slots=True)
class Explained:
    """Lines `first` to `last` of a file, counted from 1, and the commits that made them.

    `symbol` is the qualified name of the definition that was asked for, '' for none; `older` counts
    the commits that were left out; `lines` and `data` are the whole file.
    """

    first: int
    last: int
    symbol: str
    data: bytes
    lines: Sequence[str]
    origins: Sequence[Origin]
    older: int


def explain(
    sources: ProvenanceSources,
    path: str,
    first: int = 0,
    last: int = 0,
    symbol: str = "",
    at: str = "",
    revision: str = "",
) -> Explained:
    """Return why lines of a file, or of a definition in it, are as they are; 0 is the whole file.

    `at` is the commit to look into, '' for the work tree, and `revision` how the user called it.
    Raises UserError for a place that is not there.
    """
    data = sources.history.text(path, at)
    if data is None:
        raise UserError(
            f"there is no file '{path}'{f' in {revision}' if revision else ''}.",
            "Name a file that git tracks: git ls-files",
        )
    lines = data.decode("utf-8", "replace").split("\n")
    count = len(lines) - (lines[-1] == "")
    first, last, qualified = first or 1, last or count, ""
    if symbol:
        first, last, qualified = symbol_span("\n".join(lines), path, symbol)
    if first > count:
        raise UserError(
            f"'{path}' has {count} line{'' if count == 1 else 's'}.",
            "Name lines that are there: FILE:LINE or FILE:FIRST-LAST",
        )
    last = min(last, count)
    blamed = blame(sources.history, path, [(first, last)], at)
    made_by = origins(sources, path, blamed)
    older = len({span.commit for span in blamed}) - len(made_by)
    return Explained(first, last, qualified, data, lines, made_by, older)
