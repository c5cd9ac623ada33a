"""Reports of test runners other than those of Python.

Each reader returns the number and the text of the line that names the error, None when the output
is not what it seemed. Pure, read by hooks.
"""

from gitmem.base.fast import Lazy
from gitmem.fingerprint.line_score import COMPARED, rank_of
from gitmem.fingerprint.line_text import completed, next_said, tidy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    PickedLine = tuple[int, str] | None

_GO_TEST = Lazy(r"(?:=== RUN|=== NAME|=== CONT|--- FAIL:) +([^\s/]+)")
_GO_SAID = Lazy(r"\s+[\w.-]+\.go:\d+: ?(.*)")


def read_bullet(lines: "Sequence[str]") -> "PickedLine":
    """Return what Jest says under the first bullet of a test or a suite."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith("● ") or line.lstrip().startswith("● Console"):
            continue
        more = next_said(lines, number + 1)
        if more is None:
            return None
        name = line.strip()[2:].rpartition(" › ")[2].rpartition(" > ")[2]
        said = more[1].removeprefix("thrown: ").strip('"')
        if said == "Jest encountered an unexpected token":
            return _syntax_error(lines, number) or (more[0], said)
        needs_name = said.startswith(("expect(", "Exceeded timeout", "AssertionError", "assert"))
        return more[0], f"{name}: {said}" if needs_name else said
    return None


def _syntax_error(lines: "Sequence[str]", start: int) -> "PickedLine":
    """Return the first line that names a syntax error."""
    for number in range(start, len(lines)):
        if "SyntaxError:" in lines[number]:
            return number, lines[number].strip()
    return None


def read_vitest(lines: "Sequence[str]") -> "PickedLine":
    """Return what Vitest says under the first test or suite that failed."""
    for number, line in enumerate(lines):
        if line.startswith(" FAIL  ") and (" > " in line or " [ " in line):
            more = next_said(lines, number + 1)
            if more is None or more[1].startswith("FAIL"):
                continue
            name = line.rpartition(" > ")[2].strip()
            said = completed(lines, *more)
            return more[0], f"{name}: {said}" if " > " in line and said.startswith(
                "AssertionError"
            ) else said
    return None


def read_mocha(lines: "Sequence[str]") -> "PickedLine":
    """Return what Mocha says of the first test that failed."""
    at = next(
        (
            n
            for n, line in enumerate(lines)
            if line.strip().endswith(" failing") and line.split()[0].isdigit()
        ),
        len(lines),
    )
    name = ""
    for number in range(at + 1, min(len(lines), at + 12)):
        bare = lines[number].strip()
        # the error comes after an empty line, or right after the name of the test
        is_after = bool(name) and (not bare or lines[number - 1].rstrip().endswith(":"))
        if is_after:
            more = next_said(lines, number)
            needs_name = more and ("Assertion" in more[1] or "Timeout" in more[1])
            said = completed(lines, *more) if more else ""
            return more and (more[0], f"{name}: {said}" if needs_name else said)
        name = bare.rstrip(":").partition(") ")[2] or bare.rstrip(":") or name
    return None


def read_tap(lines: "Sequence[str]") -> "PickedLine":
    """Return the error of the first test that failed in TAP."""
    at = next((n for n, line in enumerate(lines) if line.lstrip().startswith("not ok ")), -1)
    if at < 0:
        return None
    name = lines[at].partition(" - ")[2].split(" # ")[0].strip()
    for number in range(at, min(len(lines), at + 30)):
        key, _, said = lines[number].strip().partition(": ")
        if key == "error":
            more = next_said(lines, number + 1) if said.startswith("|") else None
            return number, f"{name}: {more[1] if more else said.strip(chr(39))}"
    return at, f"not ok: {name}"


def read_surefire(lines: "Sequence[str]") -> "PickedLine":
    """Return the exception of the first JUnit test that failed under Maven."""
    for number, line in enumerate(lines):
        if line.rstrip().endswith(("<<< FAILURE!", "<<< ERROR!")) and "Tests run" not in line:
            more = next_said(lines, number + 1)
            name = ".".join(tidy(line).split(" ")[0].split("(")[0].split(".")[-2:])
            if more is not None:
                return more[0], f"{name}: {more[1]}" if "Assertion" in more[1] else more[1]
    return None


def read_ctest(lines: "Sequence[str]") -> "PickedLine":
    """Return the name of the first test that failed under CTest."""
    at = next(n for n, line in enumerate(lines) if line.startswith("The following tests FAILED:"))
    more = next_said(lines, at + 1)
    return more and (more[0], more[1].partition(" - ")[2])


def read_minitest(lines: "Sequence[str]") -> "PickedLine":
    """Return what the first minitest test that failed says, with its name."""
    at = next(
        (n for n, line in enumerate(lines) if line.strip() in {"1) Failure:", "1) Error:"}), -1
    )
    if at < 0 or len(lines) < at + 3:
        return None
    return at + 2, f"{lines[at + 1].partition(' [')[0].strip(' :')}: {lines[at + 2].strip()}"


def read_exunit(lines: "Sequence[str]") -> "PickedLine":
    """Return what the first ExUnit test that failed says, with its name."""
    at = next(n for n, line in enumerate(lines) if line.startswith("  1) test "))
    more = next_said(lines, at + 2)  # after its place
    return more and (more[0], f"{lines[at].partition(') ')[2].strip()}: {more[1]}")


def read_playwright(lines: "Sequence[str]") -> "PickedLine":
    """Return what Playwright says of the first test that failed, with its name."""
    at = next((n for n, line in enumerate(lines) if line.startswith("  1) ") and " › " in line), -1)
    more = next_said(lines, at + 1) if at >= 0 else None
    return more and (more[0], f"{lines[at].rpartition(' › ')[2].strip(' ─')}: {more[1]}")


def read_jasmine(lines: "Sequence[str]") -> "PickedLine":
    """Return what Jasmine says of the first spec that failed, with its name."""
    at = next((n for n, line in enumerate(lines) if line == "  Message:"), 0)
    more = next_said(lines, at + 1)
    return more and (more[0], f"{lines[at - 1].partition(') ')[2]}: {more[1]}") if at else None


def read_uvu(lines: "Sequence[str]") -> "PickedLine":
    """Return what uvu says of the first test that failed, with its name."""
    at = next(n for n, line in enumerate(lines) if line.startswith('   FAIL  "'))
    more = next_said(lines, at + 1)
    return more and (more[0], f"{lines[at].strip()[6:].strip(chr(34))}: {more[1]}")


def read_bun(lines: "Sequence[str]") -> "PickedLine":
    """Return the error above the first test of Bun's that failed.

    A comparison means something only with its test.
    """
    end = next(n for n, line in enumerate(lines) if line.startswith("(fail) "))
    at = next((n for n in range(end) if lines[n].startswith("error: ")), -1)
    name = lines[end].removeprefix("(fail) ").rpartition(" [")[0].rpartition(" > ")[2]
    return (
        (at, f"{name}: {lines[at]}" if "expect(" in lines[at] else lines[at]) if at >= 0 else None
    )


def read_go(lines: "Sequence[str]") -> "PickedLine":
    """Return what the first Go test that failed says.

    A comparison means something only with its test.
    """
    failed = {
        match[1]
        for line in lines
        if line.lstrip().startswith("--- FAIL:") and (match := _GO_TEST.match(line.lstrip()))
    }
    name, written = _first_go_test(lines, failed)
    written = [(number, said) for number, said in written if said]
    if not written:
        return None
    at, said = next(
        (entry for entry in written if COMPARED.search(entry[1]) or rank_of(entry[1]) >= 4),
        written[-1],
    )
    return at, f"{name}: {said}" if COMPARED.search(said) else completed(lines, at, said)


def _first_go_test(
    lines: "Sequence[str]", failed: "set[str]"
) -> "tuple[str, list[tuple[int, str]]]":
    """Return the first of the failed tests that wrote something: its log, and why it failed."""
    name = ""
    written: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        test = _GO_TEST.match(line.lstrip())
        if test and test[1] != name:
            if written:
                break
            name = test[1]
        match = _GO_SAID.fullmatch(line) if name in failed else None
        if match:
            written.append((number, match[1].strip() or _testify(lines[number + 1 : number + 12])))
    return name, written


def _testify(lines: "Sequence[str]") -> str:
    """Return what the table of an assertion library tells."""
    at = next((n for n, line in enumerate(lines) if line.lstrip().startswith("Error:")), -1)
    said = " ".join(lines[at].partition("Error:")[2].split()) if at >= 0 else ""
    return (
        f"{said} {' '.join(lines[at + 1].split())}"
        if said.endswith(":") and at + 1 < len(lines)
        else said
    )


READERS: "dict[str, Callable[[Sequence[str]], PickedLine]]" = {
    "bullet": read_bullet,
    "vitest": read_vitest,
    "mocha": read_mocha,
    "tap": read_tap,
    "surefire": read_surefire,
    "ctest": read_ctest,
    "minitest": read_minitest,
    "exunit": read_exunit,
    "playwright": read_playwright,
    "jasmine": read_jasmine,
    "uvu": read_uvu,
    "bun": read_bun,
    "go": read_go,
}
