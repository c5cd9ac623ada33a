"""Which line of an output names the error.

Tools that wrap an error in pages of other text have their own shape (`shapes`); everything else is
ranked line by line (`saying`).
"""

from gitmem.base.fast import Lazy
from gitmem.fingerprint.line_score import NOISE, WRAPPING, bared, completed, rank_of, ranked, tidy
from gitmem.fingerprint.tool_output import SHAPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Found = tuple[int, str] | None

# without any of these, and without a line that ranks, a longer output tells no error
_SIGNS = (
    "[ERROR]",
    "[error]",
    "Oops! ",
    "stack traceback:",
    "\nNode.js v",
    "would reformat ",
    "would be reformatted",
    "\nDiff in ",
    "\nhint: ",
    "\nWhen you have resolved",
)
_DOING = Lazy(
    r"(?i)(?:start|stopp|load|listen|build|download|fetch|install|connect|serv|runn|process|read"
    r"|writ|creat|generat|initiali[sz]|prepar|check|updat|watch|wait|resolv|us|fork|clean|copy|open"
    r"|clos|send|receiv|bundl|clon|search|add|remov|chang|audit|collect)(?:ing|ed|t)\b"
)
_SCRIPT = Lazy(r"> (?:(?:@[\w.-]+/)?[\w.-]+@\S+ )?([\w:.-]+)")


def choose(lines: "Sequence[str]", *, failed: bool = True) -> "Found":
    """Return the number and the text of the line that names the error, without its place.

    None when no line says anything.

    What is known to have `failed` may say so in words that are not sign of it.
    """
    text = "\n".join(["", *lines])
    for sign, shape in SHAPES:
        if sign in text:
            found = shape(lines)
            if found is not None and found[1]:
                return found
    found, rank = ranked(lines)
    if found is None or (rank <= 2 and not any(sign in text for sign in _SIGNS)):
        return _alone(lines) if failed else None
    return found[0], completed(lines, *found) if rank_of(found[1]) >= 4 else found[1]


def _alone(lines: "Sequence[str]") -> "Found":
    """Return the only line that an output has, when no line has a sign of an error.

    Scripts print "boom" and fail.
    """
    said = [
        n for n, line in enumerate(lines) if line.strip() and not WRAPPING.fullmatch(line.strip())
    ]
    heads = [
        n
        for n in said
        if _SCRIPT.fullmatch(lines[n]) and "".join(lines[n + 1 : n + 2]).startswith("> ")
    ]
    # npm shows the script and what it runs; when nothing else is told, all that is known is that it
    # failed
    if heads:
        told = [
            n for n in said if n not in {heads[-1], heads[-1] + 1} and rank_of(bared(lines[n])) > 1
        ]
        name = _SCRIPT.fullmatch(lines[heads[-1]])
        return (
            (heads[-1], f"script '{name[1]}' failed: {lines[heads[-1] + 1][2:].strip()}")
            if name and not told
            else None
        )
    if len(said) > 2 or any(len(lines[n]) > 400 for n in said):
        return None
    for number in said:
        bare = bared(lines[number])
        low = bare.lower()
        is_noise = low.startswith(NOISE) and (len(said) > 1 or not low.startswith("warning"))
        if is_noise or low.endswith(("...", "…")) or _DOING.match(bare):
            continue
        return (number, tidy(lines[number])) if any(map(str.isalpha, bare)) else None
    return None
