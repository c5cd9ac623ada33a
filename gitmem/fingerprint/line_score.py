"""What a line of an output says: how probably it names an error.

The line is taken without marks and places, and with the line that completes it.

Pure, read by hooks: most tests are plain string methods, because a pattern costs more to compile.
"""

from gitmem.base.fast import Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Found = tuple[int, str] | None

# lines that wrap an error without telling anything about it
WRAPPING = Lazy(
    r"(?i)(?:error: )?(?:command failed with )?exit (?:code|status):? -?\d+\.?"
    r"|</?(?:untrusted_context|tool_use_error|error|stderr|stdout|system)>"
)
_MARKS = (
    "│",
    "╷",
    "╵",
    "╭",
    "╰",
    "✖ ",
    "✗ ",
    "✘ ",
    "× ",
    "❯ ",
    "❌ ",
    "🚨 ",
    "⨯ ",
    "[ERROR]",
    "[error]",
    "[warn]",
    "[FATAL]",
    "[!] ",
    "INTERNALERROR>",
    "remote: ",
    "| ",
    "^-- ",
)
NOISE = (
    "$ ",
    "> ",
    "+ ",
    ">>> ",
    "at ",
    "--- ",
    "+++ ",
    "@@ ",
    "#",
    "warning",
    "info:",
    "info ",
    "note:",
    "note ",
    "hint:",
    "hint ",
    "help:",
    "help ",
    "debug:",
    "debug ",
    "[info",
    "[warning",
    "[debug",
    "npm warn",
    "npm notice",
    "npm err! code",
    "npm error code",
    "npm err! path",
    "npm error path",
    "npm err! errno",
    "npm error errno",
    "npm err! syscall",
    "npm error syscall",
    "npm err! dest",
    "npm error dest",
    "npm err! a complete log",
    "npm error a complete log",
    "npm err! command",
    "npm error command",
    "npm err! cwd",
    "npm error cwd",
    "npm err! in workspace",
    "npm error in workspace",
    "npm error location",
    "npm error engine unsupported",
    "npm err! engine unsupported",
    "npm err! location",
    "compiling ",
    "downloading ",
    "downloaded ",
    "collecting ",
    "finished ",
    "running ",
    "using cached",
    "requirement already",
    "building ",
    "installing ",
    "reading package",
    "node.js v",
    "for more information",
    "run with",
    "stack backtrace",
    "goroutine ",
    "process exited",
    "traceback (most recent",
    "during handling of",
    "the above exception",
    'file "',
    "test session starts",
    "collected ",
    "usage: pytest",
    "error: usage:",
    "entering directory",
    "auto-merging",
    "transforming",
    "rendering chunks",
    "vite v",
    "(use `node",
    "****",
    "to restore the original",
    "when you have resolved",
    "if you prefer",
    "--2",
    "oops!",
    "eslint: ",
    "checking formatting",
    "to see the full stack",
    "re-run maven",
    "[help ",
    "after correcting",
    "testing started",
    "enter passphrase",
)
# lines that say that something failed, and that another line says what
_SUMMARY = (
    "error: could not compile",
    "error: aborting due to",
    "error: test failed",
    "error: doctest failed",
    "error: process completed",
    "error: command failed",
    "error: subprocess-exited",
    "error: failed to build",
    "error: metadata-generation-failed",
    "error: failed to push some refs",
    "error: build failed",
    "error in ",
    "error command failed",
    "error during build",
    "error when starting",
    "error occurred",
    "errors:",
    "collect2:",
    "clang: error: linker",
    "cc1: all warnings",
    "command failed",
    "build failed",
    "failed:",
    "failed (",
    "fail:",
    "fail ",
    "fail\t",
    "failures",
    "failed to execute goal",
    "failed to load config",
    "test suite failed",
    "ninja: build stopped",
    "tests run:",
    "tests:",
    "test suites:",
    "test result:",
    "found ",
    "fatal: could not read from remote",
    "automatic merge failed",
    "tar: error is not",
    "tar: child",
    "exit status",
    "compilation failure",
    "there were failing tests",
    "execution failed for task",
    "errors were encountered",
    "could not apply",
    "subprocess-exited",
    "compilation error",
    "execution of ",
    "hook failed",
    "ruff failed",
    "some problems were",
    "failing",
    "short test summary",
    "failed suites",
    "failed tests",
    "error: failed to run custom",
    "error: linking with",
)
_SAID = (
    "command not found",
    "permission denied",
    "no such file or directory",
    "segmentation fault",
    "out of memory",
    "undefined reference",
    "multiple definition of",
    "double free",
    "stack smashing",
    "bus error",
    "connection refused",
    "connection timed out",
    "no route to host",
    "network is unreachable",
    "name or service not known",
    "temporary failure in name resolution",
    "module not found: ",
    "unrecognized arguments",
    "panicked at ",
    "is not recognized as",
    ": error: ",
    ": fatal error: ",
)
_STARTS = (
    "error: ",
    "error[",
    "fatal: ",
    "panic: ",
    "caused by: ",
    "e: ",
    "error in ",
    "exception in thread",
    "conflict (",
    "conflict(",
    "konflikt (",
    "conflit (",
    "could not resolve",
    "could not find",
    "could not connect",
    "could not open",
    "cannot connect",
    "curl: (",
    "psql: ",
    "the connection to the server",
    "php fatal error",
    "php parse error",
    "e   ",
    "killed",
)
_SURE = Lazy(
    r"(?i)^(?:uncaught |unhandled )?(?:[\w$]+[./:])*\w*(?:Error|Exception|Exit|Interrupt|Fault"
    r"|Timeout|Warning)(?: \[\w+\])?(?::\s|$| at \S+:\d+$)"
    r"|(?:^|[:\]-] ?|\d\s+)(?:fatal |runtime |internal |syntax |parse )?(?:error|erreur|fehler"
    r"|errore|erro|ошибка|エラー|错误|schwerwiegend)(?: ?[A-Z]*\d+"
    r"| \d+ \(\w+\))?(?:\[\w+\])?(?: at line \d+)? ?[:：]"
    r"|(?-i:\b(?:ERROR|FATAL|CRITICAL)\b|^[A-Z]{1,5}\d{3,5}:? )|\berror TS\d+:|^\d+:\d+\s+error\s"
    r"|_test\.go:\d+: |\bkilled\b|\(\.\w+\+0x|^\S+\.go:\d+:\d+: |assertion .{0,200} failed"
    r"|^no tests? (?:files? )?(?:ran|found)|^\S+\.rb:\d+:in "
    r"|^\S+:\d+:\d+: (?-i:[A-Z]{1,5}\d{3,5}:? )|\bSC\d{4}\b"
)
_STEMS = (
    "error",
    "err!",
    "fail",
    "fatal",
    "panic",
    "exception",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "unable",
    "not found",
    "denied",
    "refused",
    "undefined",
    "unknown",
    "unexpected",
    "invalid",
    "missing",
    "mismatch",
    "not set",
    "by zero",
    "premature",
    "unterminated",
    "no such",
    "abort",
    "timed out",
    "timeout",
    "conflict",
    "rejected",
    "not installed",
    "not allowed",
    "not permitted",
    "does not exist",
    "doesn't exist",
    "not defined",
    "unresolved",
    "already exists",
    "unbound",
    "deadlock",
    "not a ",
    "no matching",
    "declined",
    "issues found",
    "too many",
    "not in ",
    "requires ",
    "nothing to",
    "nothing added",
    "erro",
    "fehler",
    "fehlge",
    "nicht ",
    "introuvable",
    "impossible",
    "échec",
    "échou",
    "refus",
    "aucun",
    "no se ",
    "no existe",
    "no encontr",
    "denegado",
    "falha",
    "falhou",
    "não ",
    "inexistente",
    "ошибка",
    "не ",
    "нет ",
    "отказано",
    "错误",
    "没有",
    "未找到",
    "失败",
    "エラー",
    "ありません",
    "見つかり",
    "fallo",
    "non ",
    "negat",
    "impossib",
)
# a tool counts what it found, and it is nothing
_COUNTS_NONE = Lazy(
    r"\b(?:0|no) (?:\w+ )?(?:error|fail|problem|issue|vulnerabilit)(?!\w+:)|\b(?:errors?|fail(?:ed"
    r"|ures?)?)\b ?[:=]? ?0\b|^test result: ok|^(?:tests|test suites):(?!.*fail)"
    r"|\d passed\b(?!.*\bfail)"
)
_COUNTS_SOME = Lazy(
    r"\b[1-9]\d* (?:\w+ )?(?:error|fail|problem|issue|vulnerabilit)|\b(?:errors?|fail(?:ed"
    r"|ures?)?)\b ?[:=]? ?[1-9]"
)
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
_ENDS_OPEN = (" type", " of", " the", " to", " with", " for", " and", " or")
_CODE_ALONE = Lazy(r"(?:Error: )?[A-Z]{2,}(?:_[A-Z]+)+")
_WISHES = ("want", "wants", "wanted", "expect", "expects", "expected", "expecting")
COMPARED = Lazy(
    r"(?i)\b(?:got|wants?|wanted|expect(?:ed|s)?|actual|should|not equal)\b|[!=]=|\bgave\b"
)
_LEAD = Lazy(
    r"(?:[-\w./]+:\d+\.\d+(?:-\d+(?:\.\d+)?)?: |:?(?:[A-Za-z]:)?[-\w./\\@+~]+\.\w{1,8}(?::\d+"
    r"(?::\d+)?|:\[\d+,\d+\]|\(\d+(?:,\d+)?\)):? ?(?:- )?"
    r"|[-\w./\\@+~]*(?:\.\w{1,4})?:?\(\.\w+\+0x[0-9a-f]+\): |\S*/(?:ld|collect2): ?(?=\S)"
    r"|\d+:\d+ +(?=error|warning|✖|×)"
    r"|\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z"
    r"|[+-]\d\d:?\d\d)?\]?(?: \[?\d+\]?)?:? +|[EWF]\d{4} [\d:.]+ +\d+ \S+\] +|==\d+=="
    r"|#\s+(?=Failed)|= note: |m4:[-\w./]+:\d+: |\[(?:emerg|alert|crit"
    r"|error)\] \d+#\d+: (?:\*\d+ )?|[0-9A-F]{8,16}:(?=error:[0-9A-F]{8}:)"
    r"|<internal:[^>\n]{1,200}>:\d+:|in [`'][^'\n]{1,80}': "
    r"|[-\w./\\@+~]+\.\w{1,8}: (?=(?:fatal )?error\b)|\(node:\d+\) |E\s{2,}|-\s+(?=error|fatal))+"
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
        or low in {"npm error", "npm err!"}
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
        or any(sign in low for sign in _SAID)
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
    while bare and bare[0] in "│╷╵╭╰✖✗✘×❯❌🚨⨯[Ir|^" and bare.startswith(_MARKS):
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
    if said.endswith(_ENDS_OPEN) and more[0] == at + 1 and lines[more[0]].startswith("    "):
        return f"{said} {more[1]}"
    is_open = (
        said.count("(") > said.count(")")
        and more[0] == at + 1
        and not more[1].startswith(("at ", "^"))
    )
    return f"{said} {more[1]}" if is_open else said
