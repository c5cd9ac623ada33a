"""How probably a line of output names an error.

Pure, read by hooks: most tests are plain string methods, because a pattern costs more to compile.
"""

from gitmem.base.fast import Lazy
from gitmem.fingerprint.line_text import WRAPPING, bared, is_marked, tidy
from gitmem.fingerprint.tables import (
    CATEGORY_WORDS,
    LINE_WORDS,
    any_of,
    any_pattern,
    at_start,
    literal_start,
    of_tools,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    PickedLine = tuple[int, str] | None

NOISE = (*LINE_WORDS["noise"], *of_tools("noise"))
_NOISE_LINES = frozenset(of_tools("noise_lines"))
# lines that say that something failed, and that another line says what
_WRAPPERS = (*LINE_WORDS["summary"], *of_tools("wrappers"))
_WRAPPER_PATTERNS = [
    (literal_start(pattern), Lazy(at_start(pattern))) for pattern in of_tools("wrapper_patterns")
]
_PROGRAM_FAILED = Lazy(at_start(any_pattern(LINE_WORDS["wrapper_patterns"])))
_HEADINGS = {"error", "errors", "exception", "failure", "fatal"}
_PHRASES = (*LINE_WORDS["phrases"], *of_tools("phrases"))
_STARTS = (*LINE_WORDS["starts"], *of_tools("starts"))
_SURE = Lazy(
    rf"(?i:^(?:uncaught |unhandled )?(?:[\w$]+[./:])*\w*{any_of(LINE_WORDS['classes'])}"
    r"(?: \[\w+\])?(?::\s|$| at \S+:\d+$)"
    r"|^(?:[a-z-]+ ){1,2}error: \S"
    rf"|(?:^|[:\]-] ?|\d\s+)(?:{any_of(LINE_WORDS['label_kinds'])} )?{any_of(LINE_WORDS['labels'])}"
    r"(?: ?[A-Z]*\d+| \d+ \(\w+\))?(?:\[\w+\])?(?: at line \d+)? ?[:：]"
    rf"|\bkilled\b|assertion .{{0,200}} failed|^{any_of(CATEGORY_WORDS['no_tests'])})"
    rf"|\b{any_of(LINE_WORDS['levels'])}\b|{any_pattern(of_tools('errors'))}"
)
_STEMS = tuple(LINE_WORDS["stems"])
# a tool counts what it found, and it is nothing
_COUNTED, _COUNTERS = any_of(LINE_WORDS["counted"]), any_of(LINE_WORDS["counters"])
_COUNTS_NONE = Lazy(
    rf"\b(?:0|no) (?:\w+ )?{_COUNTED}(?!\w+:)|\b{_COUNTERS}\b ?[:=]? ?0\b"
    r"|^test result: ok|^(?:tests|test suites):(?!.*fail)|\d passed\b(?!.*\bfail)"
)
_COUNTS_SOME = Lazy(rf"\b[1-9]\d* (?:\w+ )?{_COUNTED}|\b{_COUNTERS}\b ?[:=]? ?[1-9]")
_QUEUED = Lazy(r"[0-9A-F]{8,16}:error:[0-9A-F]{8}:")
_WISHES = tuple(LINE_WORDS["wishes"])
COMPARED = Lazy(rf"(?i)\b{any_of(LINE_WORDS['compared'])}\b|[!=]=")


def ranked(lines: "Sequence[str]") -> "tuple[PickedLine, int]":
    """Return the first of the lines that most probably name an error, and how probably: 1 to 5."""
    best, at = 0, 0
    for number, line in enumerate(lines):
        bare = bared(line)
        if not bare or (bare[0] in "eEcC<" and WRAPPING.fullmatch(bare)):
            continue
        rank = 1 if _is_source(lines, number) else rank_of(bare)
        if rank == 2 and is_marked(line):
            rank = 4
        if rank > best:
            best, at = rank, number
        if best == 5:
            break
    return ((at, tidy(lines[at])) if best else None), best


def _is_source(lines: "Sequence[str]", number: int) -> bool:
    """Tell whether a line is one of source, with a mark under it."""
    under = lines[number + 1].strip() if number + 1 < len(lines) else ""
    return bool(under) and not under.strip("^~ ")


def rank_of(bare: str) -> int:
    """Return how probably a line without its marks names an error.

    The result is 1 (noise), 2 (other text), 3 (says that something failed), 4 or 5 (says what).
    """
    low = bare[:400].lower()
    if _is_noise(bare, low):
        return 1
    if bare.startswith("*** ") or ": *** " in bare:  # make
        return 3 if "*** [" in bare or low.startswith(_WRAPPERS) else 5
    is_go_log = bare[0] in "EWF" and bare[1:5].isdigit()
    if is_go_log or _QUEUED.match(bare):  # OpenSSL's own codes, after what the program says
        return 3
    if _counts_none(bare, low):
        return 2
    if _is_summary(low):
        return 3
    if low.startswith("0 ") or " 0 error" in low or " 0 fail" in low:
        return 2
    rank = _rank_by_words(bare, low)
    return 3 if rank >= 4 and _is_wrapper(bare, low) else rank


def _is_noise(bare: str, low: str) -> bool:
    """Tell whether a line says nothing about an error: a hint, a place, a line of source."""
    if low.startswith(NOISE) and "failed test" not in low:
        return True
    if not any(map(str.isalpha, bare)) or low in _NOISE_LINES:
        return True
    # a place alone
    if " " not in bare and "/" in bare and (bare[-1].isdigit() or "." in bare[-5:]):
        return True
    head, bar, _ = bare.partition("|")
    is_source = bool(bar) and head.strip().isdigit()  # with its number
    return is_source or "─────" in bare or _only_warns(bare, low)  # the edge of a box


def _only_warns(bare: str, low: str) -> bool:
    if _QUEUED.match(bare):
        return False
    if "level=info" in low or "level=warn" in low:
        return True
    return "warning" in low[:80] and "error" not in low and "too many" not in low


def _counts_none(bare: str, low: str) -> bool:
    """Tell whether a line counts errors, and there is none. "expected no error" is one."""
    may_count = "0" in low or "no " in low or " passed" in low
    if not may_count or not _COUNTS_NONE.search(low) or _COUNTS_SOME.search(low):
        return False
    return not _SURE.search(bare) and not COMPARED.search(low)


def _is_summary(low: str) -> bool:
    """Tell whether a line only says that something failed, or how many things did."""
    if low.startswith(_WRAPPERS) or low.endswith(("error]", "errors]")) or low in _HEADINGS:
        return True
    is_count = low.split(" ", 1)[0].isdigit() and len(low) < 90
    return is_count and any(word in low for word in (" error", " problem", " fail"))


def _is_wrapper(bare: str, low: str) -> bool:
    """Tell whether a tool says only of itself, or of what it ran, that it failed."""
    for start, pattern in _WRAPPER_PATTERNS:
        if bare.startswith(start) and pattern.match(bare):
            return True
    return ("fail" in low or "exit" in low or "code" in low) and bool(_PROGRAM_FAILED.match(bare))


def _rank_by_words(bare: str, low: str) -> int:
    if low.startswith(_STARTS) or low.endswith(": not found"):
        return 5
    if any(phrase in low for phrase in _PHRASES) or _SURE.search(bare):
        return 5
    if "no error" in low and not any(f"{word} no error" in low for word in _WISHES):
        return 2
    return 4 if any(stem in low for stem in _STEMS) else 2
