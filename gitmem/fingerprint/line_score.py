"""What a line of an output says: how probably it names an error.

The line is taken without marks and places, and with the line that completes it.

Pure, read by hooks: most tests are plain string methods, because a pattern costs more to compile.
"""

from gitmem.base.fast import Lazy
from gitmem.fingerprint.tables import (
    CATEGORY_WORDS,
    LINE_WORDS,
    any_of,
    any_pattern,
    lines_of_tools,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Found = tuple[int, str] | None

# lines that wrap an error without telling anything about it
WRAPPING = Lazy(
    r"(?i)(?:error: )?(?:command failed with )?exit (?:code|status):? -?\d+\.?"
    rf"|</?{any_of(LINE_WORDS['wrappers'])}>"
)
_MARKS = (*LINE_WORDS["marks"], *lines_of_tools("marks"))
_MARK_STARTS = "".join([mark[0] for mark in _MARKS])
NOISE = (*LINE_WORDS["noise"], *lines_of_tools("noise"))
_NOISE_LINES = frozenset(lines_of_tools("noise_lines"))
# lines that say that something failed, and that another line says what
_SUMMARY = (*LINE_WORDS["summary"], *lines_of_tools("summary"))
_PHRASES = (*LINE_WORDS["phrases"], *lines_of_tools("phrases"))
_STARTS = (*LINE_WORDS["starts"], *lines_of_tools("starts"))
_SURE = Lazy(
    rf"(?i:^(?:uncaught |unhandled )?(?:[\w$]+[./:])*\w*{any_of(LINE_WORDS['classes'])}"
    r"(?: \[\w+\])?(?::\s|$| at \S+:\d+$)"
    rf"|(?:^|[:\]-] ?|\d\s+)(?:{any_of(LINE_WORDS['label_kinds'])} )?{any_of(LINE_WORDS['labels'])}"
    r"(?: ?[A-Z]*\d+| \d+ \(\w+\))?(?:\[\w+\])?(?: at line \d+)? ?[:：]"
    rf"|\bkilled\b|assertion .{{0,200}} failed|^{any_of(CATEGORY_WORDS['no_tests'])})"
    rf"|\b{any_of(LINE_WORDS['levels'])}\b|{any_pattern(lines_of_tools('errors'))}"
)
_STEMS = tuple(LINE_WORDS["stems"])
# a tool counts what it found, and it is nothing
_COUNTED, _COUNTERS = any_of(LINE_WORDS["counted"]), any_of(LINE_WORDS["counters"])
_COUNTS_NONE = Lazy(
    rf"\b(?:0|no) (?:\w+ )?{_COUNTED}(?!\w+:)|\b{_COUNTERS}\b ?[:=]? ?0\b"
    r"|^test result: ok|^(?:tests|test suites):(?!.*fail)|\d passed\b(?!.*\bfail)"
)
_COUNTS_SOME = Lazy(rf"\b[1-9]\d* (?:\w+ )?{_COUNTED}|\b{_COUNTERS}\b ?[:=]? ?[1-9]")
# a missing command, as the shells say it
_ABSENT = Lazy(
    r"(?:\S+: )?(?:line )?(?:\(eval\):)?(?:\d+: )?(?:(\S+): (?:command )?not found"
    r"|(?:\S+:\d+: )?command not found: (\S+))"
)
_SHELL = Lazy(r"(?:[-\w./\\]*(?:sh|make)(?:\[\d+\])?|[-\w./]+\.sh|\(eval\)):(?: line)?(?: ?\d+:)? ")
_FOLDER = Lazy(
    r"(?:\S+ ?: )?(?:\w+ \d+ ?: )?(cd: (?!no such).+)"
    r"|(?:\S+:)?cd:(?:\d+:)? no such file or directory: (.+)"
)
_QUEUED = Lazy(r"[0-9A-F]{8,16}:error:[0-9A-F]{8}:")
# the next line goes on
_OPEN_ENDS = tuple([f" {word}" for word in LINE_WORDS["open_ends"]])
_CODE_ALONE = Lazy(r"(?:Error: )?[A-Z]{2,}(?:_[A-Z]+)+")
_WISHES = tuple(LINE_WORDS["wishes"])
COMPARED = Lazy(rf"(?i)\b{any_of(LINE_WORDS['compared'])}\b|[!=]=")
_LEAD = Lazy(
    r"(?:[-\w./]+:\d+\.\d+(?:-\d+(?:\.\d+)?)?: |:?(?:[A-Za-z]:)?[-\w./\\@+~]+\.\w{1,8}(?::\d+"
    r"(?::\d+)?|:\[\d+,\d+\]|\(\d+(?:,\d+)?\)):? ?(?:- )?"
    r"|\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z"
    r"|[+-]\d\d:?\d\d)?\]?(?: \[?\d+\]?)?:? +|[-\w./\\@+~]+\.\w{1,8}: (?=(?:fatal )?error\b)"
    rf"|-\s+(?=error|fatal)|{any_pattern(lines_of_tools('leads'))})+"
)


def tidy(line: str) -> str:
    """Return a line without marks, times and places in front of what it says.

    As it is when nothing else is in it.
    """
    bare = bared(line)
    if "not found" in bare:
        absent = _ABSENT.fullmatch(bare)
        if absent and (absent[2] or "command" in bare or _SHELL.match(bare)):
            return f"{absent[1] or absent[2]}: command not found"
    if "cd:" in bare:
        folder = _FOLDER.fullmatch(bare)
        if folder:
            return folder[1] or f"cd: {folder[2]}: No such file or directory"
    if bare.startswith("Failed to execute goal ") and " on project " in bare:
        return (
            bare.split(" on project ", 1)[1].partition(": ")[2].removesuffix(" -> [Help 1]") or bare
        )
    # all of it is quoted
    if bare.startswith(('Error: "', 'panic: "')) and bare.endswith('"') and bare.count('"') == 2:
        return bare.replace('"', "")
    first, _, rest = bare.partition(" ")
    name = first.rstrip(":")
    # the usual: `Error: ...`
    if (
        name.replace(".", "").isidentifier()
        and len(name) > 2
        and not rest.startswith(("error", "fatal"))
    ):
        return bare
    lead = _LEAD.match(bare)
    return bare[lead.end() :].strip() or bare if lead else bare


def ranked(lines: "Sequence[str]") -> "tuple[Found, int]":
    """Return the first of the lines that most probably name an error, and how probably: 1 to 5."""
    best: tuple[int, int] | None = None
    for number, line in enumerate(lines):
        bare = bared(line)
        if not bare or (bare[0] in "eEcC<" and WRAPPING.fullmatch(bare)):
            continue
        under = lines[number + 1].strip() if number + 1 < len(lines) else ""
        # a line of source, with a mark under it
        rank = 1 if under and not under.strip("^~ ") else rank_of(bare)
        if best is None or rank > best[0]:
            best = rank, number
            if rank == 5:
                break
    return (None, 0) if best is None else ((best[1], tidy(lines[best[1]])), best[0])


def rank_of(bare: str) -> int:  # noqa: C901
    """Return how probably a line without its marks names an error.

    The result is 1 (noise), 2 (other text), 3 (says that something failed), 4 or 5 (says what).
    """
    low = bare[:400].lower()
    if (
        (low.startswith(NOISE) and "failed test" not in low)
        or not any(map(str.isalpha, bare))
        or low in _NOISE_LINES
    ):
        return 1
    # a place alone
    if " " not in bare and "/" in bare and (bare[-1].isdigit() or "." in bare[-5:]):
        return 1
    head, bar, _ = bare.partition("|")
    if bar and head.strip().isdigit():  # a line of source, with its number
        return 1
    if "─────" in bare:  # the edge of a box
        return 1
    if _QUEUED.match(bare):  # OpenSSL's own codes, after what the program says
        return 3
    if "level=info" in low or "level=warn" in low:
        return 1
    if "warning" in low[:80] and "error" not in low and "too many" not in low:
        return 1
    if bare.startswith("*** ") or ": *** " in bare:  # make
        return 3 if "*** [" in bare else 5
    if bare[0] in "EWF" and bare[1:5].isdigit():  # the log of a Go program
        return 3
    is_count = (
        ("0" in low or "no " in low or " passed" in low)
        and _COUNTS_NONE.search(low)
        and not _COUNTS_SOME.search(low)
    )
    # "expected no error" is one
    if is_count and not _SURE.search(bare) and not COMPARED.search(low):
        return 2
    if low.startswith(_SUMMARY) or (
        low.split(" ", 1)[0].isdigit()
        and len(low) < 90
        and any(w in low for w in (" error", " problem", " fail"))
    ):
        return 3
    if low.endswith(("error]", "errors]")):
        return 3
    if low.startswith("0 ") or " 0 error" in low or " 0 fail" in low:
        return 2
    if (
        low.startswith(_STARTS)
        or low.endswith(": not found")
        or any(phrase in low for phrase in _PHRASES)
        or _SURE.search(bare)
    ):
        return 5
    if "no error" in low and not any(f"{word} no error" in low for word in _WISHES):
        return 2
    return 4 if any(stem in low for stem in _STEMS) else 2


def bared(line: str) -> str:
    """Return a line without the marks that tools draw in front of it.

    Of a structured log, its message.
    """
    bare = line.strip()
    if bare.startswith(("====", "____", "----", "⎯⎯⎯")):
        bare = bare.strip("=_-⎯ ")
    elif bare.startswith('{"') or "level=error" in bare:
        bare = _logged(bare)
    elif bare.startswith("[") and bare[1:].partition(" ")[0].endswith("Error:"):
        bare = bare[1:].removesuffix(" {").removesuffix("]")
    while bare and bare[0] in _MARK_STARTS and bare.startswith(_MARKS):
        mark = next(mark for mark in _MARKS if bare.startswith(mark))
        bare = bare[len(mark) :].strip()
        if mark == "│":  # a box has two sides
            bare = bare.removesuffix("│").rstrip()
    return bare


def _logged(line: str) -> str:
    """Return the message of a structured log's line."""
    for key in ('"Output":"', '"msg":"', '"message":"', '"error":"', ' msg="'):
        start = line.find(key)
        if start >= 0:
            said = line[start + len(key) :].replace('\\"', "'").partition('"')[0]
            return said.replace("\\n", " ").replace("\\t", " ").strip()
    return line


def next_said(lines: "Sequence[str]", at: int) -> "Found":
    """Return the next line that has letters in it."""
    return next(
        (
            (n, bared(lines[n]))
            for n in range(at, min(len(lines), at + 12))
            if any(map(str.isalnum, lines[n]))
        ),
        None,
    )


def completed(lines: "Sequence[str]", at: int, said: str) -> str:
    """Return what a line says with what the next line adds: after a colon, in an open bracket."""
    more = next_said(lines, at + 1)
    if more is None or len(said) > 400:
        return said
    if (
        said.endswith((":", "：", ": -"))
        and not said.startswith("Caused by")
        and not said[-2:-1].isdigit()
    ):  # after a place comes its source
        if more[1].endswith(":") and " " not in more[1]:  # a heading
            more = next_said(lines, more[0] + 1) or more
        added = more[1].lstrip("-*• ").removeprefix("npm error ")
        return f"{said} {added}" if not added.startswith(("at ", "File ")) else said
    if said.endswith("cannot find symbol"):  # javac tells which, under the line of source
        symbol = next(
            (
                line.split("symbol:", 1)[1]
                for line in lines[at + 1 : at + 6]
                if line.lstrip().startswith("symbol:")
            ),
            "",
        )
        return f"{said}: {' '.join(symbol.split())}" if symbol else said
    if said.endswith("fetch failed"):
        cause = next((line for line in lines[at + 1 :] if "[cause]: " in line), "")
        return f"{said}: {cause.split('[cause]: ', 1)[1]}" if cause else said
    if _CODE_ALONE.fullmatch(said):
        return f"{said} {more[1]}"
    if said.endswith(_OPEN_ENDS) and more[0] == at + 1 and lines[more[0]].startswith("    "):
        return f"{said} {more[1]}"
    is_open = (
        said.count("(") > said.count(")")
        and more[0] == at + 1
        and not more[1].startswith(("at ", "^"))
    )
    return f"{said} {more[1]}" if is_open else said
