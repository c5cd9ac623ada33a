"""Reports of Python: pytest, unittest, and the tracebacks of the language.

Each reader returns the number and the text of the line that names the error, None when the output
is not what it seemed. Pure, read by hooks.
"""

from gitmem.base.fast import Lazy
from gitmem.fingerprint.line_text import bared, completed, with_added

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    PickedLine = tuple[int, str] | None

_RAISED = Lazy(r"(?:[A-Za-z_][\w.]*)(?:: .*|:)?$")
_TEST = Lazy(r"(?:FAILED \S+::|_{3,} (?:ERROR (?:at \w+ of|collecting) )?)([\w.:\[\]/-]+)")


def read_pytest(lines: "Sequence[str]") -> "PickedLine":
    """Return the last exception of the first test that failed.

    A bare comparison means something only with its test.
    """
    blocks: list[list[int]] = []
    for number, line in enumerate(lines):
        # the dots of a quiet report end so
        if line.startswith("E   ") and not line.endswith(("%]", "%)")):
            if blocks and blocks[-1][-1] == number - 1:
                blocks[-1].append(number)
            else:
                blocks.append([number])
        elif blocks and line.startswith(("____", "====")):
            break
    if not blocks:
        return None
    at = min(
        blocks[-1],
        key=lambda n: (
            len(lines[n][1:]) - len(lines[n][1:].lstrip()) if lines[n][1:].strip() else 999
        ),
    )
    said = lines[at][1:].strip()
    return at, (
        _named(lines, at, said)
        if said.startswith(("assert ", "AssertionError", "Failed:"))
        else completed(lines, at, said)
    )


def _named(lines: "Sequence[str]", at: int, said: str) -> str:
    above = [
        match[1] for line in lines[:at] if line.startswith("____") and (match := _TEST.match(line))
    ]
    names = above or [match[1] for line in lines if (match := _TEST.match(line))]
    name = names[-1 if above else 0].split("[")[0] if names else ""
    return f"{name}: {said}" if name and "/" not in name else said


def read_pytest_summary(lines: "Sequence[str]") -> "PickedLine":
    """Return the first line of pytest's summary that says something."""
    fallback = None
    for number, line in enumerate(lines):
        if not line.startswith(("FAILED ", "ERROR ")):
            continue
        name, dash, said = line.partition(" ")[2].partition(" - ")
        if dash and (".py" in name or "::" in name):
            return number, _test_said(lines, name, said)
        if "::" in name and fallback is None:
            fallback = number, f"FAILED {name.rpartition('::')[2]}"
    return fallback


def _test_said(lines: "Sequence[str]", name: str, said: str) -> str:
    """Return what a line of the summary says.

    It is whole when the report has more of it, and has the test when it says little.
    """
    if said.endswith("..."):
        start = said[:-3].partition(": ")[2] or said[:-3]
        whole = next(
            (
                line
                for line in lines
                if start in line and not line.startswith(("FAILED ", "ERROR "))
            ),
            "",
        )
        said = said[:-3] + whole.partition(start)[2] if whole else said
    return (
        f"{name.rpartition('::')[2].split('[')[0]}: {said}"
        if "::" in name and said.startswith(("assert", "Assert", "[XPASS"))
        else said
    )


def read_unittest(lines: "Sequence[str]") -> "PickedLine":
    """Return the exception of the first test that failed."""
    for number, line in enumerate(lines):
        if (
            line.startswith(("FAIL: ", "ERROR: "))
            and " (" in line
            and lines[number + 1 : number + 2] == ["-" * 70]
        ):
            end = next(
                (
                    n
                    for n in range(number + 2, len(lines))
                    if lines[n].startswith(("=====", "-----"))
                ),
                len(lines),
            )
            traceback = read_traceback(lines[:end])
            if traceback is None:
                return None
            name = line.split(": ", 1)[1].split(" (")[0]
            return traceback[0], f"{name}: {traceback[1]}" if traceback[1].startswith(
                "AssertionError"
            ) else traceback[1]
    return None


def read_traceback(lines: "Sequence[str]") -> "PickedLine":
    """Return the last exception of the last Python traceback."""
    starts = [n for n, line in enumerate(lines) if "Traceback (most recent call last)" in line]
    if not starts:
        return None
    margin = lines[starts[-1]].partition("Traceback")[0]
    for number in range(starts[-1] + 1, len(lines)):
        line = _without_margin(lines[number], margin)
        if line.strip() and not line.startswith((" ", "|", "+")) and _RAISED.match(line):
            said = line.strip()
            is_open = said.endswith(":")
            said = (completed if is_open else with_added)(lines, number, said)
            return number, _named(lines, number, said) if said.startswith("AssertionError") and any(
                map(_TEST.match, lines[: starts[-1]])
            ) else said
    return None


def _without_margin(line: str, margin: str) -> str:
    """Return a line without what stands before a traceback: blanks, a frame, or the same text."""
    before = line[: len(margin)].strip(" |+-")
    return line[len(margin) :] if before in {"", margin.strip()} else line


def read_none_ran(lines: "Sequence[str]") -> "PickedLine":
    """Return why pytest had no test to run.

    An error of the command line comes after the line that says so.
    """
    for number, line in enumerate(lines):
        if "no tests ran in " in line:
            summary = next(
                (
                    n
                    for n in range(number, min(len(lines), number + 8))
                    if lines[n].startswith("ERROR: ")
                ),
                -1,
            )
            return (summary, lines[summary].strip()) if summary >= 0 else None
        count, _, rest = bared(line).partition(" deselected")
        if count.isdigit() and (
            rest.startswith(" in ") or ("warning" in rest and rest.startswith(", "))
        ):
            return number, f"no tests ran: {count} deselected"
    return None


READERS: "dict[str, Callable[[Sequence[str]], PickedLine]]" = {
    "pytest": read_pytest,
    "pytest_summary": read_pytest_summary,
    "unittest": read_unittest,
    "traceback": read_traceback,
    "none_ran": read_none_ran,
}
