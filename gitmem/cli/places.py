"""Places in the code as the user types them: FILE, FILE:LINE, FILE:FIRST-LAST, FILE#SYMBOL.

From the current folder, or the root of the work tree.
"""

import os
from dataclasses import dataclass, replace

from gitmem.app import App
from gitmem.errors import UserError
from gitmem.repo.location import inside


@dataclass(frozen=True, slots=True)
class GivenPlace:
    """A path from the root of the work tree, with lines and the name of a symbol.

    Lines count from 1 and are inclusive; 0 stands for the whole file. The name may be ''.
    """

    path: str
    first: int = 0
    last: int = 0
    symbol: str = ""


def parse(app: App, given: str) -> GivenPlace:
    """Return the place that a text names; raises UserError for one outside of the repository."""
    from gitmem.codemap.anchors import spec

    root = os.path.realpath(app.location.worktree) if app.location.worktree else ""
    folder, last = os.path.split(given)
    anchor = (
        spec.parse(last, lambda base: os.path.lexists(os.path.join(folder, base))) if last else {}
    )
    if "path" not in anchor:
        raise UserError(
            f"'{given}' is not a file of this repository.",
            "Name it as path, path:12, path:12-20 or path#Symbol.",
        )
    name = os.path.join(folder, str(anchor["path"]))
    first, end = anchor.get("lines") or (0, 0)
    return GivenPlace(_inside(name, given, root), first, end, str(anchor.get("symbol") or ""))


def parse_symbol(app: App, given: str) -> GivenPlace:
    """Return the place of `FILE:SYMBOL` too, besides what `parse` takes."""
    name, colon, symbol = given.rpartition(":")
    if (
        colon
        and symbol
        and not os.path.lexists(given)
        and not symbol.replace("-", "").isdigit()
        and "#" not in symbol
        and "/" not in symbol
    ):
        return replace(parse(app, name), symbol=symbol)
    return parse(app, given)


def _inside(name: str, given: str, root: str) -> str:
    if not root:
        # a bare repository: as its commits have it
        return name.replace(os.sep, "/").removeprefix("./")
    path = inside(name, root, os.getcwd())
    from_root = name.replace(os.sep, "/").removeprefix("./")
    if (
        not os.path.lexists(name)
        and not os.path.isabs(name)
        and ".." not in from_root.split("/")
        and os.path.lexists(os.path.join(root, from_root))
    ):
        return from_root
    if not path:
        raise UserError(
            f"'{given}' is not in this repository.",
            "Name a file of the work tree, as path or path:line.",
        )
    return path


def span(text: str, place: GivenPlace) -> tuple[int, int, str]:
    """Return (first line, last line, qualified name) of a symbol in a text.

    Raises UserError when it has none of that name.
    """
    from gitmem.codemap.symbols.spans import symbol_span  # loads tree-sitter

    return symbol_span(text, place.path, place.symbol)
