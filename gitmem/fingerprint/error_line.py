"""Which line of an output names the error.

Test runners, build tools and languages that wrap an error in pages of other text have reports, in
which it has a place of its own: `tools.json` says by which sign a report is recognised, and where
the error stands in it. Everything else is ranked line by line (`line_score`).
"""

from gitmem.base.fast import Lazy
from gitmem.fingerprint.frames import unframed
from gitmem.fingerprint.line_score import NOISE, rank_of, ranked
from gitmem.fingerprint.line_text import WRAPPING, bared, completed, next_said, tidy
from gitmem.fingerprint.report_rows import ReportRow
from gitmem.fingerprint.tables import LINE_WORDS, any_of, any_pattern, of_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    PickedLine = tuple[int, str] | None

# without any of these, and without a line that ranks, a longer output tells no error
_SIGNS = of_tools("signs")
_ALL = [ReportRow(row) for row in sorted(of_tools("reports"), key=lambda row: int(row["turn"]))]
_REPORTS = [report for report in _ALL if not report.is_fallback]
_FALLBACKS = [report for report in _ALL if report.is_fallback]
_DOING = Lazy(rf"(?i){any_of(LINE_WORDS['progress'])}(?:ing|ed|t)\b")
_SUCCESS = Lazy(rf"(?i)(?:[✓✔√] ?)?{any_pattern(LINE_WORDS['success_patterns'])}[.!]*")
_SCRIPT = Lazy(r"> (?:(?:@[\w.-]+/)?[\w.-]+@\S+ )?([\w:.-]+)")


def choose(lines: "Sequence[str]", *, failed: bool = True) -> "PickedLine":
    """Return the number and the text of the line that names the error, without its place.

    None when no line says anything.

    What is known to have `failed` may say so in words that are not sign of it.
    """
    lines, text = unframed(lines, "\n".join(["", *lines]))
    error_line = _reported(_REPORTS, lines, text)
    if error_line is not None:
        return error_line
    error_line, rank = ranked(lines)
    if error_line is not None and rank >= 4:
        is_open = error_line[1].endswith(":") or rank_of(error_line[1]) >= 4
        return error_line[0], completed(lines, *error_line) if is_open else error_line[1]
    reported = _reported(_FALLBACKS, lines, text)
    if reported is not None:
        return reported
    if error_line is None or (rank <= 2 and not any(sign in text for sign in _SIGNS)):
        return _alone(lines) if failed else None
    introduced = _introduced(lines, *error_line) if rank == 3 else None
    return introduced or error_line


def _introduced(lines: "Sequence[str]", at: int, said: str) -> "PickedLine":
    """Return the line that a heading announces: `Failed to build:`, and under it what failed."""
    if not said.endswith((":", "：")):
        return None
    more = next_said(lines, at + 1)
    is_said = more is not None and rank_of(more[1]) == 2
    return (more[0], completed(lines, more[0], tidy(more[1]))) if more and is_said else None


def _alone(lines: "Sequence[str]") -> "PickedLine":
    """Return the only line that an output has, when no line has a sign of an error.

    Scripts print "boom" and fail. A line that says that all went well is no error.
    """
    said = [n for n, line in enumerate(lines) if _says_something(line)]
    if any(is_success(lines[number]) for number in said):
        return None
    heads = [number for number in said if _is_script(lines, number)]
    if heads:
        return _failed_script(lines, said, heads[-1])
    if len(said) > 2 or any(len(lines[n]) > 400 for n in said):
        return None
    for number in said:
        if not _is_progress(lines[number], is_only=len(said) == 1):
            has_words = any(map(str.isalpha, bared(lines[number])))
            return (number, tidy(lines[number])) if has_words else None
    return None


def _is_progress(line: str, *, is_only: bool) -> bool:
    """Tell whether a line says what goes on. A warning that is the `only` line may be the error."""
    bare = bared(line)
    low = bare.lower()
    if low.startswith(NOISE) and not (is_only and low.startswith("warning")):
        return True
    return low.endswith(("...", "…")) or bool(_DOING.match(bare))


def is_success(text: str) -> bool:
    """Tell whether a text says that all went well, or is done, and nothing of an error."""
    said = [bared(line) for line in text.splitlines() if any(map(str.isalpha, line))]
    others = [line for line in said if not _SUCCESS.fullmatch(line)]
    return len(others) < len(said) and all(rank_of(line) <= 2 for line in others)


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not WRAPPING.fullmatch(line.strip())


def _is_script(lines: "Sequence[str]", number: int) -> bool:
    """Tell whether npm names a script in a line, and what it runs in the next."""
    is_followed = "".join(lines[number + 1 : number + 2]).startswith("> ")
    return is_followed and bool(_SCRIPT.fullmatch(lines[number]))


def _failed_script(lines: "Sequence[str]", said: "list[int]", head: int) -> "PickedLine":
    """Return that a script of npm failed, when nothing else is told."""
    others = [n for n in said if n not in {head, head + 1} and rank_of(bared(lines[n])) > 1]
    name = _SCRIPT.fullmatch(lines[head])
    if others or name is None:
        return None
    return head, f"script '{name[1]}' failed: {lines[head + 1][2:].strip()}"


def _reported(reports: "Sequence[ReportRow]", lines: "Sequence[str]", text: str) -> "PickedLine":
    """Return the number and the text of the line that names the error in the report of a tool.

    None when the text of the lines, with a newline before each of them, is no such report.
    """
    for report in reports:
        if report.sign not in text:
            continue
        error_line = _read(report.reader, lines) if report.reader else report.read(lines)
        if error_line is not None and error_line[1]:
            return error_line
    return None


def _read(reader: str, lines: "Sequence[str]") -> "PickedLine":
    """Return what a reader finds in the lines of a report. Only its own group is imported."""
    group, _, name = reader.partition(".")
    if group == "python":
        from gitmem.fingerprint.python_reports import READERS
    elif group == "runners":
        from gitmem.fingerprint.runner_reports import READERS
    else:
        from gitmem.fingerprint.build_reports import READERS
    return READERS[name](lines)
