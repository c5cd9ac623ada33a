"""Outputs in which the error has a place of its own.

They come from test runners, build tools and languages that wrap the error in pages of other text.

Each shape returns the number and the text of the line that names the error, None when the output is
not what it seemed. Pure, read by hooks.
"""

from gitmem.base.fast import Lazy
from gitmem.fingerprint.line_score import (
    COMPARED,
    bared,
    completed,
    next_said,
    rank_of,
    ranked,
    tidy,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Found = tuple[int, str] | None

_GO_TEST = Lazy(r"(?:=== RUN|=== NAME|=== CONT|--- FAIL:) +([^\s/]+)")
_GO_SAID = Lazy(r"\s+[\w.-]+\.go:\d+: ?(.*)")
_RAISED = Lazy(r"(?:[A-Za-z_][\w.]*)(?:: .*|:)?$")
_TEST = Lazy(r"(?:FAILED \S+::|_{3,} (?:ERROR (?:at \w+ of|collecting) )?)([\w.:\[\]/-]+)")


def _pytest(lines: "Sequence[str]") -> "Found":
    """Return the last exception of the first test that failed.

    A bare comparison means something only with its test.
    """
    blocks: list[list[int]] = []
    for number, line in enumerate(lines):
        if line.startswith("E   ") and not line.endswith("%]"):  # the quiet report's dots end so
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
        found[1] for line in lines[:at] if line.startswith("____") and (found := _TEST.match(line))
    ]
    names = above or [found[1] for line in lines if (found := _TEST.match(line))]
    name = names[-1 if above else 0].split("[")[0] if names else ""
    return f"{name}: {said}" if name and "/" not in name else said


def _pytest_summary(lines: "Sequence[str]") -> "Found":
    told = None
    for number, line in enumerate(lines):
        if not line.startswith(("FAILED ", "ERROR ")):
            continue
        name, dash, said = line.partition(" ")[2].partition(" - ")
        if dash and (".py" in name or "::" in name):
            return number, _test_said(lines, name, said)
        if "::" in name and told is None:
            told = number, f"FAILED {name.rpartition('::')[2]}"
    return told


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


def _unittest(lines: "Sequence[str]") -> "Found":
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
            found = _traceback(lines[:end])
            if found is None:
                return None
            name = line.split(": ", 1)[1].split(" (")[0]
            return found[0], f"{name}: {found[1]}" if found[1].startswith(
                "AssertionError"
            ) else found[1]
    return None


def _traceback(lines: "Sequence[str]") -> "Found":
    """Return the last exception of the last Python traceback."""
    starts = [n for n, line in enumerate(lines) if "Traceback (most recent call last)" in line]
    if not starts:
        return None
    margin = lines[starts[-1]].find("Traceback")
    for number in range(starts[-1] + 1, len(lines)):
        line = (
            lines[number][margin:]
            if lines[number][:margin].strip(" |+-") in {"", lines[starts[-1]][:margin].strip()}
            else lines[number]
        )
        if line.strip() and not line.startswith((" ", "|", "+")) and _RAISED.match(line):
            said = line.strip()
            said = completed(lines, number, said) if said.endswith(":") else said
            return number, _named(lines, number, said) if said.startswith("AssertionError") and any(
                map(_TEST.match, lines[: starts[-1]])
            ) else said
    return None


def _java(lines: "Sequence[str]") -> "Found":
    caused = [n for n, line in enumerate(lines) if line.lstrip().startswith("Caused by: ")]
    return (caused[-1], lines[caused[-1]].strip()) if caused else None


def _cargo(lines: "Sequence[str]") -> "Found":
    causes = [
        more
        for n, line in enumerate(lines)
        if line == "Caused by:" and (more := next_said(lines, n + 1))
    ]
    if not causes:
        return None
    said = ": ".join(cause[1].removeprefix("error: ") for cause in causes[-2:])
    return causes[-1][0], completed(lines, causes[-1][0], f"error: {said}")


def _bullet(lines: "Sequence[str]") -> "Found":
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
            detail = next((n for n in range(number, len(lines)) if "SyntaxError:" in lines[n]), -1)
            return (detail, lines[detail].strip()) if detail >= 0 else (more[0], said)
        return more[0], f"{name}: {said}" if said.startswith(
            ("expect(", "Exceeded timeout", "AssertionError", "assert")
        ) else said
    return None


def _vitest(lines: "Sequence[str]") -> "Found":
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


def _mocha(lines: "Sequence[str]") -> "Found":
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
        if name and not bare:
            more = next_said(lines, number + 1)
            return more and (
                more[0],
                f"{name}: {more[1]}" if "Assertion" in more[1] or "Timeout" in more[1] else more[1],
            )
        name = bare.rstrip(":").partition(") ")[2] or bare.rstrip(":") or name
    return None


def _cmake(lines: "Sequence[str]") -> "Found":
    """Return the paragraph of CMake's first error that says most."""
    start = next((n for n, line in enumerate(lines) if line.startswith("CMake Error")), -1)
    if start < 0:
        return None
    if not lines[start].endswith(":"):
        return start, lines[start]
    said: list[list[str]] = [[]]
    for line in lines[start + 1 : start + 40]:
        if line[:1].strip():
            break
        if line.strip():
            said[-1].append(line.strip())
        elif said[-1]:
            said.append([])
    parts = [" ".join(part) for part in said if part]
    which = next(
        (i for i, part in enumerate(parts) if part.startswith(("Could not", "Cannot", "No "))), 0
    )
    best = " ".join(parts[which : which + 1 + (parts[which].endswith(":"))]) if parts else ""
    return start, f"CMake Error: {best}" if best else lines[start]


def _rust(lines: "Sequence[str]") -> "Found":
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


def _gradle(lines: "Sequence[str]") -> "Found":
    """Return Gradle's innermost reason, unless a compiler or a test said more before."""
    at = next((n for n, line in enumerate(lines) if line.strip() == "* What went wrong:"), -1)
    if at < 0:
        return None
    for number, line in enumerate(lines[:at]):
        if line.endswith(" FAILED") and " > " in line:
            more = next_said(lines, number + 1)
            name = line.removesuffix(" FAILED").rpartition(" > ")[2]
            return more and (more[0], f"{name}: {more[1].rpartition(' at ')[0] or more[1]}")
    told = ranked(["" if line.startswith(("FAILURE: ", "> ")) else line for line in lines[:at]])[0]
    if told is not None and rank_of(told[1]) == 5:
        return told[0], completed(lines, *told)
    said = [n for n in range(at + 1, min(len(lines), at + 12)) if lines[n].strip()]
    end = next((i for i, n in enumerate(said) if lines[n].startswith("* ")), len(said))
    reasons = [
        n
        for n in said[:end]
        if lines[n].lstrip().startswith("> ")
        and "See the " not in lines[n]
        and "Run with" not in lines[n]
    ]
    number = reasons[-1] if reasons else said[0] if said else -1
    return (
        (number, completed(lines, number, lines[number].strip().removeprefix("> ")))
        if number >= 0
        else None
    )


def _tap(lines: "Sequence[str]") -> "Found":
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


def _terminate(lines: "Sequence[str]") -> "Found":
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


def _surefire(lines: "Sequence[str]") -> "Found":
    """Return the exception of the first JUnit test that failed under Maven."""
    for number, line in enumerate(lines):
        if line.rstrip().endswith(("<<< FAILURE!", "<<< ERROR!")) and "Tests run" not in line:
            more = next_said(lines, number + 1)
            name = ".".join(tidy(line).split(" ")[0].split("(")[0].split(".")[-2:])
            if more is not None:
                return more[0], f"{name}: {more[1]}" if "Assertion" in more[1] else more[1]
    return None


def _ctest(lines: "Sequence[str]") -> "Found":
    at = next(n for n, line in enumerate(lines) if line.startswith("The following tests FAILED:"))
    more = next_said(lines, at + 1)
    return more and (more[0], more[1].partition(" - ")[2])


def _minitest(lines: "Sequence[str]") -> "Found":
    at = next(
        (n for n, line in enumerate(lines) if line.strip() in {"1) Failure:", "1) Error:"}), -1
    )
    if at < 0 or len(lines) < at + 3:
        return None
    return at + 2, f"{lines[at + 1].partition(' [')[0].strip(' :')}: {lines[at + 2].strip()}"


def _exunit(lines: "Sequence[str]") -> "Found":
    """Return what the first ExUnit test that failed says, with its name."""
    at = next(n for n, line in enumerate(lines) if line.startswith("  1) test "))
    more = next_said(lines, at + 2)  # after its place
    return more and (more[0], f"{lines[at].partition(') ')[2].strip()}: {more[1]}")


def _playwright(lines: "Sequence[str]") -> "Found":
    """Return what Playwright says of the first test that failed, with its name."""
    at = next((n for n, line in enumerate(lines) if line.startswith("  1) ") and " › " in line), -1)
    more = next_said(lines, at + 1) if at >= 0 else None
    return more and (more[0], f"{lines[at].rpartition(' › ')[2].strip(' ─')}: {more[1]}")


def _jasmine(lines: "Sequence[str]") -> "Found":
    at = next((n for n, line in enumerate(lines) if line == "  Message:"), 0)
    more = next_said(lines, at + 1)
    return more and (more[0], f"{lines[at - 1].partition(') ')[2]}: {more[1]}") if at else None


def _uvu(lines: "Sequence[str]") -> "Found":
    at = next(n for n, line in enumerate(lines) if line.startswith('   FAIL  "'))
    more = next_said(lines, at + 1)
    return more and (more[0], f"{lines[at].strip()[6:].strip(chr(34))}: {more[1]}")


def _bun(lines: "Sequence[str]") -> "Found":
    """Return the error above the first test of Bun's that failed.

    A comparison means something only with its test.
    """
    end = next(n for n, line in enumerate(lines) if line.startswith("(fail) "))
    at = next((n for n in range(end) if lines[n].startswith("error: ")), -1)
    name = lines[end].removeprefix("(fail) ").rpartition(" [")[0].rpartition(" > ")[2]
    return (
        (at, f"{name}: {lines[at]}" if "expect(" in lines[at] else lines[at]) if at >= 0 else None
    )


def _lisp(lines: "Sequence[str]") -> "Found":
    """Return the condition that nobody handled, which stands below its thread."""
    start = next(
        n
        for n, line in enumerate(lines)
        if line.startswith("Unhandled ") and " in thread #<" in line
    )
    end = next((n for n in range(start, min(len(lines), start + 4)) if lines[n].endswith(">:")), -1)
    return next_said(lines, end + 1) if end >= 0 else None


def _go(lines: "Sequence[str]") -> "Found":
    """Return what the first Go test that failed says.

    A comparison means something only with its test.
    """
    failed = {
        found[1]
        for line in lines
        if line.lstrip().startswith("--- FAIL:") and (found := _GO_TEST.match(line.lstrip()))
    }
    name = ""
    told: list[tuple[int, str]] = []  # what the test wrote: its log, and why it failed
    for number, line in enumerate(lines):
        test = _GO_TEST.match(line.lstrip())
        if test and test[1] != name:
            if told:
                break
            name = test[1]
        found = _GO_SAID.fullmatch(line) if name in failed else None
        if found:
            told.append((number, found[1].strip() or _testify(lines[number + 1 : number + 12])))
    told = [(number, said) for number, said in told if said]
    if not told:
        return None
    at, said = next(
        (one for one in told if COMPARED.search(one[1]) or rank_of(one[1]) >= 4), told[-1]
    )
    return at, f"{name}: {said}" if COMPARED.search(said) else completed(lines, at, said)


def _testify(lines: "Sequence[str]") -> str:
    """Return what the table of an assertion library tells."""
    at = next((n for n, line in enumerate(lines) if line.lstrip().startswith("Error:")), -1)
    said = " ".join(lines[at].partition("Error:")[2].split()) if at >= 0 else ""
    return (
        f"{said} {' '.join(lines[at + 1].split())}"
        if said.endswith(":") and at + 1 < len(lines)
        else said
    )


def _none_ran(lines: "Sequence[str]") -> "Found":
    """Return why pytest had no test to run.

    An error of the command line comes after the line that says so.
    """
    for number, line in enumerate(lines):
        if "no tests ran in " in line:
            told = next(
                (
                    n
                    for n in range(number, min(len(lines), number + 8))
                    if lines[n].startswith("ERROR: ")
                ),
                -1,
            )
            return (told, lines[told].strip()) if told >= 0 else None
        count, _, rest = bared(line).partition(" deselected")
        if count.isdigit() and (
            rest.startswith(" in ") or ("warning" in rest and rest.startswith(", "))
        ):
            return number, f"no tests ran: {count} deselected"
    return None


def _npm(lines: "Sequence[str]") -> "Found":
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


SHAPES: "tuple[tuple[str, Callable[[Sequence[str]], Found]], ...]" = (
    ("\nE   ", _pytest),
    ("\nFAIL: ", _unittest),
    ("\nERROR: ", _unittest),
    ("Traceback (most recent call last)", _traceback),
    ("\n FAIL  ", _vitest),
    (" failing\n", _mocha),
    ("● ", _bullet),
    ("<<< ", _surefire),
    ("Caused by: ", _java),
    ("\nFAILED ", _pytest_summary),
    ("\nERROR ", _pytest_summary),
    ("\n* What went wrong:", _gradle),
    ("\nCMake Error", _cmake),
    ("panicked at", _rust),
    ("\nCaused by:\n", _cargo),
    ("terminate called after throwing", _terminate),
    ("not ok ", _tap),
    ("\nThe following tests FAILED:", _ctest),
    ("\n  1) test ", _exunit),
    ("\n  1) ", _minitest),
    ("\n(fail) ", _bun),
    (" › ", _playwright),
    ("\n  Message:\n", _jasmine),
    ('\n   FAIL  "', _uvu),
    (" in thread #<", _lisp),
    ("--- FAIL: ", _go),
    (" deselected", _none_ran),
    ("no tests ran in ", _none_ran),
    (" 404 ", _npm),
)
