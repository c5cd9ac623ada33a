"""Reports of build tools, and of languages that wrap an error in other text.

Each reader returns the number and the text of the line that names the error, None when the output
is not what it seemed. Pure, read by hooks.
"""

from gitmem.fingerprint.line_score import rank_of, ranked
from gitmem.fingerprint.line_text import completed, next_said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    PickedLine = tuple[int, str] | None


def read_cmake(lines: "Sequence[str]") -> "PickedLine":
    """Return the paragraph of CMake's first error that says most."""
    start = next((n for n, line in enumerate(lines) if line.startswith("CMake Error")), -1)
    if start < 0:
        return None
    if not lines[start].endswith(":"):
        return start, lines[start]
    parts = _paragraphs(lines[start + 1 : start + 40])
    which = next(
        (i for i, part in enumerate(parts) if part.startswith(("Could not", "Cannot", "No "))), 0
    )
    best = " ".join(parts[which : which + 1 + (parts[which].endswith(":"))]) if parts else ""
    return start, f"CMake Error: {best}" if best else lines[start]


def _paragraphs(lines: "Sequence[str]") -> "list[str]":
    """Return the indented paragraphs at the start of some lines, each as one line."""
    paragraphs: list[list[str]] = [[]]
    for line in lines:
        if line[:1].strip():
            break
        if line.strip():
            paragraphs[-1].append(line.strip())
        elif paragraphs[-1]:
            paragraphs.append([])
    return [" ".join(paragraph) for paragraph in paragraphs if paragraph]


def read_gradle(lines: "Sequence[str]") -> "PickedLine":
    """Return Gradle's innermost reason, unless a compiler or a test said more before."""
    at = next((n for n, line in enumerate(lines) if line.strip() == "* What went wrong:"), -1)
    if at < 0:
        return None
    tested = _failed_test(lines[:at])
    if tested is not None:
        return tested
    before = ["" if line.startswith(("FAILURE: ", "> ")) else line for line in lines[:at]]
    chosen, rank = ranked(before)
    if chosen is not None and rank == 5:
        return chosen[0], completed(lines, *chosen)
    number = _innermost_reason(lines, at + 1)
    if number < 0:
        return None
    chosen, rank = ranked(["", *lines[number + 1 : number + 4]])
    if chosen is not None and rank == 5:  # what the reason says of another tool
        return number + chosen[0], chosen[1]
    return number, completed(lines, number, lines[number].strip().removeprefix("> "))


def _failed_test(lines: "Sequence[str]") -> "PickedLine":
    """Return what Gradle says under the name of the first test that failed."""
    for number, line in enumerate(lines):
        if line.endswith(" FAILED") and " > " in line:
            more = next_said(lines, number + 1)
            name = line.removesuffix(" FAILED").rpartition(" > ")[2]
            return more and (more[0], f"{name}: {more[1].rpartition(' at ')[0] or more[1]}")
    return None


def _innermost_reason(lines: "Sequence[str]", start: int) -> int:
    """Return the number of the line with Gradle's last reason, or of its first line; else -1."""
    first, reason = -1, -1
    for number in range(start, min(len(lines), start + 11)):
        line = lines[number]
        if not line.strip():
            continue
        if first < 0:
            first = number
        if line.startswith("* "):
            break
        said = line.strip()
        is_hint = "See the " in line or "Run with" in line
        if said.startswith("> ") and not is_hint and rank_of(said[2:]) != 3:
            reason = number
    return reason if reason >= 0 else first


def read_cargo(lines: "Sequence[str]") -> "PickedLine":
    """Return the two innermost causes, as Cargo and other programs in Rust list them."""
    causes = [
        more
        for n, line in enumerate(lines)
        if line == "Caused by:" and (more := next_said(lines, n + 1))
    ]
    if not causes:
        return None
    listed = _last_listed(lines, causes[-1][0])
    if listed is not None:
        return listed
    said = ": ".join(cause[1].removeprefix("error: ") for cause in causes[-2:])
    return causes[-1][0], completed(lines, causes[-1][0], f"error: {said}")


def _last_listed(lines: "Sequence[str]", start: int) -> "PickedLine":
    """Return the last of the causes that stand in lines with numbers: `    1: the file is gone`."""
    last = None
    for number in range(start, min(len(lines), start + 12)):
        count, colon, said = lines[number].strip().partition(": ")
        if colon and count.isdigit():
            last = number, said
    return last


def read_npm(lines: "Sequence[str]") -> "PickedLine":
    """Return npm's line that names the package that it did not find."""
    at = next(
        (
            n
            for n, line in enumerate(lines)
            if line.startswith(("npm error 404 ", "npm ERR! 404 "))
            and "'" in line
            and " GET " not in line
        ),
        -1,
    )
    return (at, lines[at]) if at >= 0 else None


def read_rust(lines: "Sequence[str]") -> "PickedLine":
    """Return what a panic of Rust says; an assertion has the name of its thread."""
    at = next(
        (n for n, line in enumerate(lines) if "panicked at" in line and line.endswith(":")), -1
    )
    more = next_said(lines, at + 1) if at >= 0 else None
    if more is None:
        return None
    name = lines[at].split("'")[1] if lines[at].count("'") > 1 else "main"
    return at, f"{name.rpartition('::')[2]}: {more[1]}" if name != "main" and more[1].startswith(
        "assertion"
    ) else f"panic: {more[1]}"


def read_terminate(lines: "Sequence[str]") -> "PickedLine":
    """Return the exception that ended a C++ program."""
    at = next(n for n, line in enumerate(lines) if "terminate called after throwing" in line)
    kind = lines[at].split("'")[1] if lines[at].count("'") > 1 else ""
    said = next(
        (
            line.split("what():", 1)[1].strip()
            for line in lines[at + 1 : at + 3]
            if "what():" in line
        ),
        "",
    )
    return at, f"{kind}: {said}" if kind and said and said != kind else kind or lines[at].strip()


def read_java(lines: "Sequence[str]") -> "PickedLine":
    """Return the innermost cause of a Java exception."""
    caused = [
        (number, line.strip())
        for number, line in enumerate(lines)
        if line.lstrip().startswith("Caused by: ")
    ]
    # a sentence is of another language, which may have said more before
    is_class = bool(caused) and " " not in caused[-1][1][11:].partition(": ")[0]
    return caused[-1] if is_class else None


def read_lisp(lines: "Sequence[str]") -> "PickedLine":
    """Return the condition that nobody handled, which stands below its thread."""
    for start, line in enumerate(lines):
        if not line.startswith("Unhandled ") or " in thread #<" not in line:
            continue
        for number in range(start, min(len(lines), start + 4)):
            if lines[number].endswith(">:"):
                return next_said(lines, number + 1)
        return None
    return None


READERS: "dict[str, Callable[[Sequence[str]], PickedLine]]" = {
    "cmake": read_cmake,
    "gradle": read_gradle,
    "cargo": read_cargo,
    "npm": read_npm,
    "rust": read_rust,
    "terminate": read_terminate,
    "java": read_java,
    "lisp": read_lisp,
}
