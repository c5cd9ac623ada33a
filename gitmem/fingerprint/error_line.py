"""Which line of an output names the error.

Test runners, build tools and languages that wrap an error in pages of other text have reports, in
which it has a place of its own: `tool_lines.json` says by which sign a report is recognised, and
which reader finds the error. Everything else is ranked line by line (`line_score`).
"""

from gitmem.base.fast import Lazy
from gitmem.fingerprint.line_score import NOISE, WRAPPING, bared, completed, rank_of, ranked, tidy
from gitmem.fingerprint.tables import LINE_WORDS, REPORTS, any_of, lines_of_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Found = tuple[int, str] | None

# without any of these, and without a line that ranks, a longer output tells no error
_SIGNS = lines_of_tools("signs")
_DOING = Lazy(rf"(?i){any_of(LINE_WORDS['progress'])}(?:ing|ed|t)\b")
_SCRIPT = Lazy(r"> (?:(?:@[\w.-]+/)?[\w.-]+@\S+ )?([\w:.-]+)")


def choose(lines: "Sequence[str]", *, failed: bool = True) -> "Found":
    """Return the number and the text of the line that names the error, without its place.

    None when no line says anything.

    What is known to have `failed` may say so in words that are not sign of it.
    """
    text = "\n".join(["", *lines])
    found = _reported(lines, text)
    if found is not None:
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


def _reported(lines: "Sequence[str]", text: str) -> "Found":
    """Return the number and the text of the line that names the error in the report of a tool.

    None when the text of the lines, with a newline before each of them, is no such report.
    """
    for report in REPORTS:
        if report["sign"] in text:
            found = _read(report["reader"], lines)
            if found is not None and found[1]:
                return found
    return None


def _read(reader: str, lines: "Sequence[str]") -> "Found":
    """Return what a reader finds in the lines of a report. Only its own group is imported."""
    group, _, name = reader.partition(".")
    if group == "python":
        from gitmem.fingerprint.python_reports import READERS
    elif group == "runners":
        from gitmem.fingerprint.runner_reports import READERS
    else:
        from gitmem.fingerprint.build_reports import READERS
    return READERS[name](lines)
