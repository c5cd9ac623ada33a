"""Which line of an output names the error.

Tools that wrap an error in pages of other text have their own shape here; everything else is ranked line
by line. Pure, read by hooks: most tests are plain string methods, because a pattern costs more to compile.
"""

from gitmem.lazy import Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Found = tuple[int, str] | None

# lines that wrap an error without telling anything about it
_WRAPPING = Lazy(
    r"(?i)(?:error: )?(?:command failed with )?exit (?:code|status):? -?\d+\.?|</?(?:untrusted_context|tool_use_error|error|stderr|stdout|system)>"
)
_MARKS = ("│", "╷", "╵", "╭", "╰", "✖ ", "✗ ", "✘ ", "× ", "❯ ", "❌ ", "⨯ ", "[ERROR]", "[error]", "[warn]", "[FATAL]", "[!] ", "INTERNALERROR>", "remote: ", "| ", "^-- ")  # fmt: skip
_NOISE = (
    "$ ", "> ", "+ ", ">>> ", "at ", "--- ", "+++ ", "@@ ", "#", "warning", "info:", "info ", "note:", "note ", "hint:", "hint ", "help:", "help ", "debug:", "debug ", "[info", "[warning", "[debug",
    "npm warn", "npm notice", "npm err! code", "npm error code", "npm err! path", "npm error path", "npm err! errno", "npm error errno", "npm err! syscall", "npm error syscall", "npm err! dest", "npm error dest",
    "npm err! a complete log", "npm error a complete log", "npm err! command", "npm error command", "npm err! cwd", "npm error cwd", "npm err! in workspace", "npm error in workspace", "npm error location", "npm error engine unsupported", "npm err! engine unsupported",
    "npm err! location", "compiling ", "downloading ", "downloaded ", "collecting ", "finished ", "running ", "using cached", "requirement already", "building ", "installing ", "reading package", "node.js v",
    "for more information", "run with", "stack backtrace", "goroutine ", "process exited", "traceback (most recent", "during handling of", "the above exception", "file \"", "test session starts", "collected ",
    "usage: pytest", "error: usage:", "entering directory", "auto-merging", "transforming", "rendering chunks", "vite v", "(use `node", "****", "to restore the original", "when you have resolved", "if you prefer", "--2", "oops!", "eslint: ", "checking formatting", "to see the full stack", "re-run maven", "[help ", "after correcting", "testing started", "enter passphrase",
)  # fmt: skip
# lines that say that something failed, and that another line says what
_SUMMARY = (
    "error: could not compile", "error: aborting due to", "error: test failed", "error: doctest failed", "error: process completed", "error: command failed", "error: subprocess-exited", "error: failed to build",
    "error: metadata-generation-failed", "error: failed to push some refs", "error: build failed", "error in ", "error command failed", "error during build", "error when starting", "error occurred", "errors:", "collect2:",
    "clang: error: linker", "cc1: all warnings", "command failed", "build failed", "failed:", "failed (", "fail:", "fail ", "fail\t", "failures", "failed to execute goal", "failed to load config", "test suite failed",
    "ninja: build stopped", "tests run:", "tests:", "test suites:", "test result:", "found ", "fatal: could not read from remote", "automatic merge failed", "tar: error is not", "tar: child", "exit status",
    "compilation failure", "there were failing tests", "execution failed for task", "errors were encountered", "could not apply", "subprocess-exited", "compilation error", "execution of ","hook failed", "ruff failed", "some problems were", "failing", "short test summary", "failed suites", "failed tests", "error: failed to run custom", "error: linking with",
)  # fmt: skip
_SAID = (
    "command not found", "permission denied", "no such file or directory", "segmentation fault", "out of memory", "undefined reference", "multiple definition of", "double free", "stack smashing", "bus error",
    "connection refused", "connection timed out", "no route to host", "network is unreachable", "name or service not known", "temporary failure in name resolution",
    "module not found: ", "unrecognized arguments", "panicked at ", "is not recognized as", ": error: ", ": fatal error: ",
)  # fmt: skip
_STARTS = (
    "error: ", "error[", "fatal: ", "panic: ", "caused by: ", "e: ", "error in ", "exception in thread", "conflict (", "conflict(", "konflikt (", "conflit (", "could not resolve", "could not find", "could not connect", "could not open",
    "cannot connect", "curl: (", "psql: ", "the connection to the server", "php fatal error", "php parse error", "e   ", "killed",
)  # fmt: skip
_SURE = Lazy(
    r"(?i)^(?:uncaught |unhandled )?(?:[\w$]+[./:])*\w*(?:Error|Exception|Exit|Interrupt|Fault|Timeout|Warning)(?: \[\w+\])?(?::\s|$| at \S+:\d+$)"
    r"|(?:^|[:\]-] ?|\d\s+)(?:fatal |runtime |internal |syntax |parse )?(?:error|erreur|fehler|errore|erro|ошибка|エラー|错误|schwerwiegend)(?: ?[A-Z]*\d+| \d+ \(\w+\))?(?:\[\w+\])?(?: at line \d+)? ?[:：]"
    r"|(?-i:\b(?:ERROR|FATAL|CRITICAL)\b|^[A-Z]{1,5}\d{3,5}:? )|\berror TS\d+:|^\d+:\d+\s+error\s|_test\.go:\d+: |\bkilled\b|\(\.\w+\+0x|^\S+\.go:\d+:\d+: |assertion .{0,200} failed"
    r"|^no tests? (?:files? )?(?:ran|found)|^\S+\.rb:\d+:in |^\S+:\d+:\d+: (?-i:[A-Z]{1,5}\d{3,5}:? )|\bSC\d{4}\b"
)
_STEMS = (
    "error", "err!", "fail", "fatal", "panic", "exception", "cannot", "can't", "could not", "couldn't", "unable", "not found", "denied", "refused", "undefined", "unknown", "unexpected", "invalid", "missing",
    "no such", "abort", "timed out", "timeout", "conflict", "rejected", "not installed", "not allowed", "not permitted", "does not exist", "doesn't exist", "not defined", "unresolved", "already exists", "unbound",
    "deadlock", "not a ", "no matching", "declined", "issues found", "too many", "not in ", "requires ", "nothing to", "nothing added", "erro", "fehler", "fehlge", "nicht ", "introuvable", "impossible", "échec", "échou", "refus", "aucun", "no se ", "no existe", "no encontr", "denegado", "falha", "falhou",
    "não ", "inexistente", "ошибка", "не ", "нет ", "отказано", "错误", "没有", "未找到", "失败", "エラー", "ありません", "見つかり", "fallo", "non ", "negat", "impossib",
)  # fmt: skip
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
_DOING = Lazy(r"(?i)(?:start|stopp|load|listen|build|download|fetch|install|connect|serv|runn|process|read|writ|creat|generat|initiali[sz]|prepar|check|updat|watch|wait|resolv|us|fork|clean|copy|open|clos|send|receiv|bundl|clon|search|add|remov|chang|audit|collect)(?:ing|ed|t)\b")  # fmt: skip
# a missing command, as the shells say it
_ABSENT = Lazy(r"(?:\S+: )?(?:line )?(?:\(eval\):)?(?:\d+: )?(?:(\S+): (?:command )?not found|(?:\S+:\d+: )?command not found: (\S+))")
_SHELL = Lazy(r"(?:[-\w./\\]*(?:sh|make)(?:\[\d+\])?|[-\w./]+\.sh|\(eval\)):(?: line)?(?: ?\d+:)? ")
_FOLDER = Lazy(r"(?:\S+ ?: )?(?:\w+ \d+ ?: )?(cd: (?!no such).+)|(?:\S+:)?cd:(?:\d+:)? no such file or directory: (.+)")
_WISHES = ("want", "wants", "wanted", "expect", "expects", "expected", "expecting")
_COMPARED = Lazy(r"(?i)\b(?:got|wants?|wanted|expect(?:ed|s)?|actual|should|not equal)\b|[!=]=|\bgave\b")
_GO_TEST = Lazy(r"(?:=== RUN|=== NAME|=== CONT|--- FAIL:) +([^\s/]+)")
_GO_SAID = Lazy(r"\s+[\w.-]+\.go:\d+: ?(.*)")
_SCRIPT = Lazy(r"> (?:(?:@[\w.-]+/)?[\w.-]+@\S+ )?([\w:.-]+)")
_RAISED = Lazy(r"(?:[A-Za-z_][\w.]*)(?:: .*|:)?$")
_TEST = Lazy(r"(?:FAILED \S+::|_{3,} (?:ERROR (?:at \w+ of|collecting) )?)([\w.:\[\]/-]+)")
_LEAD = Lazy(
    r"(?::?(?:[A-Za-z]:)?[-\w./\\@+~]+\.\w{1,8}(?::\d+(?::\d+)?|:\[\d+,\d+\]|\(\d+(?:,\d+)?\)):? ?(?:- )?|[-\w./\\@+~]*(?:\.\w{1,4})?:?\(\.\w+\+0x[0-9a-f]+\): |\S*/(?:ld|collect2): ?(?=\S)|\d+:\d+ +(?=error|warning|✖|×)"
    r"|\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?(?: \[?\d+\]?)?:? +|[EWF]\d{4} [\d:.]+ +\d+ \S+\] +|==\d+==|#\s+(?=Failed)|= note: |<internal:[^>\n]{1,200}>:\d+:|in [`'][^'\n]{1,80}': |[-\w./\\@+~]+\.\w{1,8}: (?=(?:fatal )?error\b)|\(node:\d+\) |E\s{2,}|-\s+(?=error|fatal))+"
)


def choose(lines: "Sequence[str]") -> "Found":
    """Return the number and the text of the line that names the error, without its place; None when no line says anything."""
    text = "\n".join(["", *lines])
    for sign, shape in _SHAPES:
        if sign in text:
            found = shape(lines)
            if found is not None and found[1]:
                return found
    found, rank = _ranked(lines)
    if found is None or (rank <= 2 and not any(sign in text for sign in _SIGNS)):
        return _alone(lines)
    return found[0], _whole(lines, *found) if _rank(found[1]) >= 4 else found[1]


def tidy(line: str) -> str:
    """Return a line without marks, times and places in front of what it says; as it is when nothing else is in it."""
    bare = _bare(line)
    if "not found" in bare:
        absent = _ABSENT.fullmatch(bare)
        if absent and (absent[2] or "command" in bare or _SHELL.match(bare)):
            return f"{absent[1] or absent[2]}: command not found"
    if "cd:" in bare:
        folder = _FOLDER.fullmatch(bare)
        if folder:
            return folder[1] or f"cd: {folder[2]}: No such file or directory"
    if bare.startswith("Failed to execute goal ") and " on project " in bare:
        return bare.split(" on project ", 1)[1].partition(": ")[2].removesuffix(" -> [Help 1]") or bare
    if bare.startswith(('Error: "', 'panic: "')) and bare.endswith('"') and bare.count('"') == 2:  # all of it is quoted
        return bare.replace('"', "")
    first, _, rest = bare.partition(" ")
    name = first.rstrip(":")
    if name.replace(".", "").isidentifier() and len(name) > 2 and not rest.startswith(("error", "fatal")):  # the usual: `Error: ...`
        return bare
    return _LEAD.sub("", bare, 1).strip() or bare if _LEAD.match(bare) else bare


def _ranked(lines: "Sequence[str]") -> "tuple[Found, int]":
    """Return the first of the lines that most probably name an error, and how probably: 1 to 5."""
    best: tuple[int, int] | None = None
    for number, line in enumerate(lines):
        bare = _bare(line)
        if not bare or (bare[0] in "eEcC<" and _WRAPPING.fullmatch(bare)):
            continue
        under = lines[number + 1].strip() if number + 1 < len(lines) else ""
        rank = 1 if under and not under.strip("^~ ") else _rank(bare)  # a line of source, with a mark under it
        if best is None or rank > best[0]:
            best = rank, number
            if rank == 5:
                break
    return (None, 0) if best is None else ((best[1], tidy(lines[best[1]])), best[0])


def _alone(lines: "Sequence[str]") -> "Found":
    """Return the line of an output that says no more than it, when no line has a sign of an error: scripts print "boom" and fail."""
    said = [n for n, line in enumerate(lines) if line.strip() and not _WRAPPING.fullmatch(line.strip())]
    heads = [n for n in said if _SCRIPT.fullmatch(lines[n]) and "".join(lines[n + 1 : n + 2]).startswith("> ")]
    if heads:  # npm shows the script and what it runs; when nothing else is told, all that is known is that it failed
        told = [n for n in said if n not in {heads[-1], heads[-1] + 1} and _rank(_bare(lines[n])) > 1]
        name = _SCRIPT.fullmatch(lines[heads[-1]])
        return (heads[-1], f"script '{name[1]}' failed: {lines[heads[-1] + 1][2:].strip()}") if name and not told else None
    if len(said) > 2 or any(len(lines[n]) > 400 for n in said):
        return None
    for number in said:
        bare = _bare(lines[number])
        low = bare.lower()
        is_noise = low.startswith(_NOISE) and (len(said) > 1 or not low.startswith("warning"))
        if is_noise or low.endswith(("...", "…")) or _DOING.match(bare):
            continue
        return (number, tidy(lines[number])) if any(map(str.isalpha, bare)) else None
    return None


def _rank(bare: str) -> int:
    low = bare[:400].lower()
    if (low.startswith(_NOISE) and "failed test" not in low) or not any(map(str.isalpha, bare)) or low in {"npm error", "npm err!"}:
        return 1
    if " " not in bare and "/" in bare and (bare[-1].isdigit() or "." in bare[-5:]):  # a place alone
        return 1
    head, bar, _ = bare.partition("|")
    if bar and head.strip().isdigit():  # a line of source, with its number
        return 1
    if "level=info" in low or "level=warn" in low:
        return 1
    if "warning" in low[:80] and "error" not in low and "too many" not in low:
        return 1
    if bare.startswith("*** ") or ": *** " in bare:  # make
        return 3 if "*** [" in bare else 5
    if bare[0] in "EWF" and bare[1:5].isdigit():  # the log of a Go program
        return 3
    if low.startswith(_SUMMARY) or (
        low.split(" ", 1)[0].isdigit() and len(low) < 90 and any(w in low for w in (" error", " problem", " fail"))
    ):
        return 3
    if low.endswith(("error]", "errors]")):
        return 3
    if low.startswith("0 ") or " 0 error" in low or " 0 fail" in low:
        return 2
    if low.startswith(_STARTS) or low.endswith(": not found") or any(sign in low for sign in _SAID) or _SURE.search(bare):
        return 5
    if "no error" in low and not any(f"{word} no error" in low for word in _WISHES):
        return 2
    return 4 if any(stem in low for stem in _STEMS) else 2


def _bare(line: str) -> str:
    bare = line.strip()
    if bare.startswith(("====", "____", "----", "⎯⎯⎯")):
        bare = bare.strip("=_-⎯ ")
    elif bare.startswith('{"') or "level=error" in bare:
        bare = _logged(bare)
    elif bare.startswith("[") and bare[1:].partition(" ")[0].endswith("Error:"):
        bare = bare[1:].removesuffix(" {").removesuffix("]")
    while bare and bare[0] in "│╷╵╭╰✖✗✘×❯❌⨯[Ir|^" and bare.startswith(_MARKS):
        mark = next(mark for mark in _MARKS if bare.startswith(mark))
        bare = bare[len(mark) :].strip()
    return bare


def _logged(line: str) -> str:
    """Return the message of a structured log's line."""
    for key in ('"Output":"', '"msg":"', '"message":"', '"error":"', ' msg="'):
        start = line.find(key)
        if start >= 0:
            said = line[start + len(key) :].replace('\\"', "'").partition('"')[0]
            return said.replace("\\n", " ").replace("\\t", " ").strip()
    return line


def _next(lines: "Sequence[str]", at: int) -> "Found":
    """Return the next line that has letters in it."""
    return next(((n, _bare(lines[n])) for n in range(at, min(len(lines), at + 12)) if any(map(str.isalnum, lines[n]))), None)


def _whole(lines: "Sequence[str]", at: int, said: str) -> str:
    """Return what a line says with what the next line adds: after a colon, in an open bracket."""
    more = _next(lines, at + 1)
    if more is None or len(said) > 400:
        return said
    if said.endswith((":", "：", ": -")) and not said.startswith("Caused by"):
        if more[1].endswith(":") and " " not in more[1]:  # a heading
            more = _next(lines, more[0] + 1) or more
        added = more[1].lstrip("-*• ").removeprefix("npm error ")
        return f"{said} {added}" if not added.startswith(("at ", "File ")) else said
    if said.endswith("cannot find symbol"):  # javac tells which, under the line of source
        symbol = next((line.split("symbol:", 1)[1] for line in lines[at + 1 : at + 6] if line.lstrip().startswith("symbol:")), "")
        return f"{said}: {' '.join(symbol.split())}" if symbol else said
    if said.endswith("fetch failed"):
        cause = next((line for line in lines[at + 1 :] if "[cause]: " in line), "")
        return f"{said}: {cause.split('[cause]: ', 1)[1]}" if cause else said
    is_open = said.count("(") > said.count(")") and more[0] == at + 1 and not more[1].startswith(("at ", "^"))
    return f"{said} {more[1]}" if is_open else said


def _pytest(lines: "Sequence[str]") -> "Found":
    """Return the last exception of the first test that failed; a bare comparison means something only with its test."""
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
    at = min(blocks[-1], key=lambda n: len(lines[n][1:]) - len(lines[n][1:].lstrip()) if lines[n][1:].strip() else 999)
    said = lines[at][1:].strip()
    return at, (_named(lines, at, said) if said.startswith(("assert ", "AssertionError", "Failed:")) else _whole(lines, at, said))


def _named(lines: "Sequence[str]", at: int, said: str) -> str:
    above = [found[1] for line in lines[:at] if line.startswith("____") and (found := _TEST.match(line))]
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
    """Return what a line of the summary says, whole when the report has more of it, with the test when it says little."""
    if said.endswith("..."):
        start = said[:-3].partition(": ")[2] or said[:-3]
        whole = next((line for line in lines if start in line and not line.startswith(("FAILED ", "ERROR "))), "")
        said = said[:-3] + whole.partition(start)[2] if whole else said
    return f"{name.rpartition('::')[2].split('[')[0]}: {said}" if "::" in name and said.startswith(("assert", "Assert", "[XPASS")) else said


def _unittest(lines: "Sequence[str]") -> "Found":
    """Return the exception of the first test that failed."""
    for number, line in enumerate(lines):
        if line.startswith(("FAIL: ", "ERROR: ")) and " (" in line and lines[number + 1 : number + 2] == ["-" * 70]:
            end = next((n for n in range(number + 2, len(lines)) if lines[n].startswith(("=====", "-----"))), len(lines))
            found = _traceback(lines[:end])
            if found is None:
                return None
            name = line.split(": ", 1)[1].split(" (")[0]
            return found[0], f"{name}: {found[1]}" if found[1].startswith("AssertionError") else found[1]
    return None


def _traceback(lines: "Sequence[str]") -> "Found":
    """Return the last exception of the last Python traceback."""
    starts = [n for n, line in enumerate(lines) if "Traceback (most recent call last)" in line]
    if not starts:
        return None
    margin = lines[starts[-1]].find("Traceback")
    for number in range(starts[-1] + 1, len(lines)):
        line = lines[number][margin:] if lines[number][:margin].strip(" |+-") in {"", lines[starts[-1]][:margin].strip()} else lines[number]
        if line.strip() and not line.startswith((" ", "|", "+")) and _RAISED.match(line):
            said = line.strip()
            said = _whole(lines, number, said) if said.endswith(":") else said
            return number, _named(lines, number, said) if said.startswith("AssertionError") and any(
                map(_TEST.match, lines[: starts[-1]])
            ) else said
    return None


def _java(lines: "Sequence[str]") -> "Found":
    caused = [n for n, line in enumerate(lines) if line.lstrip().startswith("Caused by: ")]
    return (caused[-1], lines[caused[-1]].strip()) if caused else None


def _cargo(lines: "Sequence[str]") -> "Found":
    causes = [more for n, line in enumerate(lines) if line == "Caused by:" and (more := _next(lines, n + 1))]
    if not causes:
        return None
    said = ": ".join(cause[1].removeprefix("error: ") for cause in causes[-2:])
    return causes[-1][0], _whole(lines, causes[-1][0], f"error: {said}")


def _bullet(lines: "Sequence[str]") -> "Found":
    """Return what Jest says under the first bullet of a test or a suite."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith("● ") or line.lstrip().startswith("● Console"):
            continue
        more = _next(lines, number + 1)
        if more is None:
            return None
        name = line.strip()[2:].rpartition(" › ")[2].rpartition(" > ")[2]
        said = more[1].removeprefix("thrown: ").strip('"')
        if said == "Jest encountered an unexpected token":
            detail = next((n for n in range(number, len(lines)) if "SyntaxError:" in lines[n]), -1)
            return (detail, lines[detail].strip()) if detail >= 0 else (more[0], said)
        return more[0], f"{name}: {said}" if said.startswith(("expect(", "Exceeded timeout", "AssertionError", "assert")) else said
    return None


def _vitest(lines: "Sequence[str]") -> "Found":
    """Return what Vitest says under the first test or suite that failed."""
    for number, line in enumerate(lines):
        if line.startswith(" FAIL  ") and (" > " in line or " [ " in line):
            more = _next(lines, number + 1)
            if more is None or more[1].startswith("FAIL"):
                continue
            name = line.rpartition(" > ")[2].strip()
            said = _whole(lines, *more)
            return more[0], f"{name}: {said}" if " > " in line and said.startswith("AssertionError") else said
    return None


def _mocha(lines: "Sequence[str]") -> "Found":
    at = next((n for n, line in enumerate(lines) if line.strip().endswith(" failing") and line.split()[0].isdigit()), len(lines))
    name = ""
    for number in range(at + 1, min(len(lines), at + 12)):
        bare = lines[number].strip()
        if name and not bare:
            more = _next(lines, number + 1)
            return more and (more[0], f"{name}: {more[1]}" if "Assertion" in more[1] or "Timeout" in more[1] else more[1])
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
    which = next((i for i, part in enumerate(parts) if part.startswith(("Could not", "Cannot", "No "))), 0)
    best = " ".join(parts[which : which + 1 + (parts[which].endswith(":"))]) if parts else ""
    return start, f"CMake Error: {best}" if best else lines[start]


def _rust(lines: "Sequence[str]") -> "Found":
    at = next((n for n, line in enumerate(lines) if "panicked at" in line and line.endswith(":")), -1)
    more = _next(lines, at + 1) if at >= 0 else None
    if more is None:
        return None
    name = lines[at].split("'")[1] if lines[at].count("'") > 1 else "main"
    return at, f"{name.rpartition('::')[2]}: {more[1]}" if name != "main" and more[1].startswith("assertion") else f"panic: {more[1]}"


def _gradle(lines: "Sequence[str]") -> "Found":
    """Return Gradle's innermost reason, unless a compiler or a test said more before."""
    at = next((n for n, line in enumerate(lines) if line.strip() == "* What went wrong:"), -1)
    if at < 0:
        return None
    for number, line in enumerate(lines[:at]):
        if line.endswith(" FAILED") and " > " in line:
            more = _next(lines, number + 1)
            name = line.removesuffix(" FAILED").rpartition(" > ")[2]
            return more and (more[0], f"{name}: {more[1].rpartition(' at ')[0] or more[1]}")
    told = _ranked(["" if line.startswith(("FAILURE: ", "> ")) else line for line in lines[:at]])[0]
    if told is not None and _rank(told[1]) == 5:
        return told[0], _whole(lines, *told)
    said = [n for n in range(at + 1, min(len(lines), at + 12)) if lines[n].strip()]
    end = next((i for i, n in enumerate(said) if lines[n].startswith("* ")), len(said))
    reasons = [n for n in said[:end] if lines[n].lstrip().startswith("> ") and "See the " not in lines[n] and "Run with" not in lines[n]]
    number = reasons[-1] if reasons else said[0] if said else -1
    return (number, _whole(lines, number, lines[number].strip().removeprefix("> "))) if number >= 0 else None


def _tap(lines: "Sequence[str]") -> "Found":
    at = next((n for n, line in enumerate(lines) if line.lstrip().startswith("not ok ")), -1)
    if at < 0:
        return None
    name = lines[at].partition(" - ")[2].split(" # ")[0].strip()
    for number in range(at, min(len(lines), at + 30)):
        key, _, said = lines[number].strip().partition(": ")
        if key == "error":
            more = _next(lines, number + 1) if said.startswith("|") else None
            return number, f"{name}: {more[1] if more else said.strip(chr(39))}"
    return at, f"not ok: {name}"


def _terminate(lines: "Sequence[str]") -> "Found":
    at = next(n for n, line in enumerate(lines) if "terminate called after throwing" in line)
    kind = lines[at].split("'")[1] if lines[at].count("'") > 1 else ""
    said = next((line.split("what():", 1)[1].strip() for line in lines[at + 1 : at + 3] if "what():" in line), "")
    return at, f"{kind}: {said}" if kind and said and said != kind else kind or lines[at].strip()


def _surefire(lines: "Sequence[str]") -> "Found":
    """Return the exception of the first JUnit test that failed under Maven."""
    for number, line in enumerate(lines):
        if line.rstrip().endswith(("<<< FAILURE!", "<<< ERROR!")) and "Tests run" not in line:
            more = _next(lines, number + 1)
            name = ".".join(tidy(line).split(" ")[0].split("(")[0].split(".")[-2:])
            if more is not None:
                return more[0], f"{name}: {more[1]}" if "Assertion" in more[1] else more[1]
    return None


def _ctest(lines: "Sequence[str]") -> "Found":
    at = next(n for n, line in enumerate(lines) if line.startswith("The following tests FAILED:"))
    more = _next(lines, at + 1)
    return more and (more[0], more[1].partition(" - ")[2])


def _minitest(lines: "Sequence[str]") -> "Found":
    at = next((n for n, line in enumerate(lines) if line.strip() in {"1) Failure:", "1) Error:"}), -1)
    if at < 0 or len(lines) < at + 3:
        return None
    return at + 2, f"{lines[at + 1].partition(' [')[0].strip(' :')}: {lines[at + 2].strip()}"


def _go(lines: "Sequence[str]") -> "Found":
    """Return what the first Go test that failed says; a comparison means something only with its test."""
    failed = {found[1] for line in lines if line.lstrip().startswith("--- FAIL:") and (found := _GO_TEST.match(line.lstrip()))}
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
    at, said = next((one for one in told if _COMPARED.search(one[1]) or _rank(one[1]) >= 4), told[-1])
    return at, f"{name}: {said}" if _COMPARED.search(said) else _whole(lines, at, said)


def _testify(lines: "Sequence[str]") -> str:
    """Return what the table of an assertion library tells."""
    at = next((n for n, line in enumerate(lines) if line.lstrip().startswith("Error:")), -1)
    said = " ".join(lines[at].partition("Error:")[2].split()) if at >= 0 else ""
    return f"{said} {' '.join(lines[at + 1].split())}" if said.endswith(":") and at + 1 < len(lines) else said


def _none_ran(lines: "Sequence[str]") -> "Found":
    """Return why pytest had no test to run: an error of the command line comes after the line that says so."""
    for number, line in enumerate(lines):
        if "no tests ran in " in line:
            told = next((n for n in range(number, min(len(lines), number + 8)) if lines[n].startswith("ERROR: ")), -1)
            return (told, lines[told].strip()) if told >= 0 else None
        count, _, rest = _bare(line).partition(" deselected")
        if count.isdigit() and (rest.startswith(" in ") or ("warning" in rest and rest.startswith(", "))):
            return number, f"no tests ran: {count} deselected"
    return None


def _npm(lines: "Sequence[str]") -> "Found":
    """Return npm's line that names the package that it did not find."""
    at = next(
        (n for n, line in enumerate(lines) if line.startswith(("npm error 404 ", "npm ERR! 404 ")) and "'" in line and " GET " not in line),
        -1,
    )
    return (at, lines[at]) if at >= 0 else None


_SHAPES: "tuple[tuple[str, Callable[[Sequence[str]], Found]], ...]" = (
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
    ("\n  1) ", _minitest),
    ("--- FAIL: ", _go),
    (" deselected", _none_ran),
    ("no tests ran in ", _none_ran),
    (" 404 ", _npm),
)
