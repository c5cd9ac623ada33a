"""What an error's output is about: a pattern that tells the same error again, and how to speak of it.

Pure, and read by hooks: nothing but `re`. Time is linear in the text, of which the ends are looked at.
"""

import re

from gitmem.lazy import Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Location = tuple[str, int]

END = 64 << 10  # characters looked at from either end of an output
LINE, LINES = 2000, 4000  # characters of a line, lines of an output
PATTERN, TITLE, MESSAGE = 200, 72, 4000

_ANSI = Lazy(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])|[^\n]\x08")
_CONTROL = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), 0xFEFF, 0x200B, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
# lines that wrap an error without telling anything about it
_WRAPPING = Lazy(
    r"(?i)(?:error: )?(?:command failed with )?exit (?:code|status):? -?\d+\.?|</?(?:untrusted_context|tool_use_error|error|stderr|stdout|system)>"
)
_NOISE = Lazy(
    r"(?i)[$>+] |>>> |npm (?:warn|notice)\b|npm (?:err!|error) (?:code|path|errno|syscall|dest|a complete log|command|cwd|in workspace|location)\b|(?:\w+ )?warning\b|"
    r"(?:info|note|hint|help|debug)\b:?|(?:compiling|downloading|downloaded|collecting|finished|running|using cached|requirement already|building|installing) |at |"
    r"[\W\d_]+$|node\.js v|for more information|run with|stack backtrace|goroutine \d|make(?:\[\d+\])?: \*\*\*|process exited|"
    r"traceback \(most recent|during handling of|the above exception|file \"|test session starts|collected \d|error: process completed"
)
_SURE = Lazy(
    r"(?i)^(?:uncaught |unhandled )?(?:[\w$]+[./:])*\w*(?:Error|Exception|Exit|Interrupt|Fault|Timeout)(?: \[\w+\])?(?::\s|$)|^(?:fatal )?error(?:\[\w+\])?:|\berror TS\d+:|"
    r":\s(?:fatal )?error(?: [A-Z]+\d+)?:|^(?:fatal|panic|caused by): |\bpanicked at\b|^exception in thread|\bcommand not found\b|: not found$|permission denied|"
    r"no such file or directory|segmentation fault|^\S+_test\.go:\d+: |^E   |out of memory|^killed\b|undefined reference|^\S+\.go:\d+:\d+: "
)
_MAYBE = Lazy(
    r"(?i)\b(?:errors?|err!|fail(?:ed|ure|s)?|fatal|panic|exception|cannot|can't|could not|couldn't|unable|not found|denied|refused|undefined|unknown|unexpected|invalid|"
    r"missing|no such|abort(?:ed)?|timed out|timeout|conflict|rejected|erro|fehler|erreur|falha|fallo|ошибка|错误)\b"
)
_RAISED = Lazy(r"(?:[A-Za-z_][\w.]*)(?:: .*|:)?$")
_TEST = Lazy(r"(?:FAILED \S+::|_{3,} )([\w.:\[\]-]+)")
_BEFORE = Lazy(
    r"(?i)^(?:[-\w./\\@+]+[:(]\d+(?:[:,]\d+)?\)?: ?|E\s{2,}|\s*\|\s+|npm (?:ERR!|error) (?:\d{3} )?|uncaught |unhandled |caused by: )+"
)

_TOKEN = Lazy(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s\"'`<>]+|(?<!\w)([\"'`])(?:(?!\1).){0,300}\1(?!\w)|[^\s\"'`()\[\]{},;=|<>]+")
_UUID = Lazy(r"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = Lazy(
    r"(?i)\d{4}[-/]\d\d[-/]\d\d(?:[T_ ]\d\d:?\d\d(?::?\d\d(?:[.,]\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?|\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[ap]m)?"
)
_HASH = Lazy(r"(?i)(?=[a-z]*\d)(?=\d*[a-f])[0-9a-f]{7,128}")
_DRAWN = Lazy(r"(?=[^\W\d_]*\d|[\w-]*\d)(?=[\d_-]*[A-Za-z])[\w-]+")
_HEX = Lazy(r"(?i)\b0x[0-9a-f]+\b")
_NUMBER = Lazy(r"(?<![A-Za-z0-9_])\d+(?:[.,:_]\d+)*")
_VERSION = Lazy(r"(?i)v\d+(?:\.\d+)+[\w.+-]*")
_CODE = Lazy(r"(?i)(?:http(?:/\S+)?|status|code|errno|exit|signal|error)[ :=\[(]{0,2}$")
_NAMED = Lazy(
    r"(?i)(?:modules?|packages?|crate|command|named|resolve|import name|attribute|name|table|column|relation|KeyError|option|argument|unrecognized|feature|target|script|"
    r"service|import|from)[: (]{0,2}$"
)
_NAME = Lazy(r"@?[A-Za-z_-][A-Za-z_./:-]{0,60}")
EXTENSIONS = frozenset(
    "py pyi pyx ipynb js mjs cjs jsx ts tsx mts cts vue svelte rs go c h cc cpp cxx hpp hh java kt kts scala rb php cs fs swift m mm sh bash zsh ps1 bat sql json jsonc json5 "
    "toml yaml yml xml html css scss less md rst txt lock log ini cfg conf env csv tsv proto graphql tf gradle cmake mk so dll dylib a o jar whl gz tar zip db sqlite tmp".split()
)  # fmt: skip

_PLACE = Lazy(
    r"(?m)File \"([^\"\n]{1,400})\", line (\d{1,7})|(?:^|[\s(\[\"'=])(?:file://)?((?:[A-Za-z]:)?[\w./\\@+-]{1,400}\.\w{1,8})(?::(\d{1,7})(?!\w)|\((\d{1,7})(?:,\d+)?\))"
)

# Whole words only: `latest` is no `test`. The first that fits wins.
_CATEGORIES = (
    ("security", Lazy(r"(?i)\b(?:csrf|xss|unauthori[sz]ed|forbidden|authentication failed|permission denied \(publickey|vulnerabilit(?:y|ies)|sql injection|bad credentials|access denied)\b")),
    ("lint", Lazy(r"(?i)\b(?:eslint|ruff|flake8|pylint|mypy|pyright|prettier|stylelint|clippy|rubocop|shellcheck|golangci-lint|black|isort)\b")),
    ("test", Lazy(r"(?i)\b(?:pytest|unittest|jest|vitest|mocha|ctest|rspec|cypress|playwright|(?:cargo|go|npm|npm run|make|gradle|mvn|tox|nox)[ -]tests?|AssertionError|assert(?:ion)?|tests? failed)\b|--- FAIL")),
    ("build", Lazy(
    r"(?i)\b(?:compil(?:e|ing|ation|er)|undefined reference|linker|ld returned|error TS\d+|webpack|vite|esbuild|rollup|tsc|rustc|gcc|g\+\+|clang|cmake|make|ninja|maven|mvn|gradle|"
        r"(?:cargo|go|npm run|docker|yarn|pnpm) (?:build|check)|(?:pip|npm|yarn|pnpm|apt|apt-get|bundle|poetry|uv|cargo) (?:install|ci|add|sync)|could not find a version)\b|error\[E\d+\]"
)),
    ("integration", Lazy(
    r"(?i)\b(?:E?CONN(?:REFUSED|RESET|ECTION)|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|connection (?:refused|reset|timed out|error)|getaddrinfo|could not resolve host|https?|api|cors|webhook|graphql|"
        r"postgres(?:ql)?|psycopg2?|mysql|sqlite3?|mongodb|redis|kafka|rabbitmq|database|docker|kubectl|certificate|ssl|tls|curl|fetch failed)\b"
)),
)  # fmt: skip
_RUNTIME = Lazy(
    r"(?i)(?:\w|^)(?:Error|Exception)\b|\b(?:traceback|panic(?:ked)?|segmentation fault|core dumped|null pointer|killed|out of memory|exception|command not found)\b"
)
_CRITICAL = Lazy(
    r"(?i)\b(?:segmentation fault|core dumped|panic(?:ked)?|out of memory|oom|killed|corrupt(?:ed|ion)?|data loss|deadlock|stack overflow|MemoryError)\b"
)
_INFO = Lazy(r"\b(?:deprecat(?:ed|ion)|DeprecationWarning|FutureWarning)\b")


class Fingerprint:
    """One error: `pattern`, the same for the same error; the rest is found when it is asked for, because most errors come once."""

    __slots__ = ("_at", "_command", "_key", "_lines", "_root", "pattern")

    def __init__(self, pattern: str, lines: "Sequence[str]", at: int, key: str, root: str, command: str) -> None:
        self.pattern = pattern
        self._lines = lines
        self._at = at
        self._key = key
        self._root = root
        self._command = command

    @property
    def title(self) -> str:
        """One short line for people, as it was this time."""
        return shorten(_BEFORE.sub("", _relative(self._key, self._root)).strip() or self._key.strip(), TITLE)

    @property
    def category(self) -> str:
        """One of build, test, lint, runtime, integration, security, general; by whole words of the error, its command, its surroundings."""
        near = "\n".join(self._lines[max(0, self._at - 40) : self._at + 40])
        return _category(self._key, near, self._command)

    @property
    def severity(self) -> str:
        """One of critical, warning, info."""
        return "critical" if _CRITICAL.search(self._key) else "info" if _INFO.search(self._key) else "warning"

    @property
    def message(self) -> str:
        """The lines around the error, paths relative to the work tree."""
        return _message([_relative(line, self._root) for line in self._lines], self._at)

    @property
    def locations(self) -> "list[Location]":
        """The places (path, line from 1) that the output names, surest last."""
        return locate(self._lines, self._at)


def fingerprint(text: str, root: str = "", command: str = "") -> Fingerprint | None:
    """Return what the output of a failed command is about; None when it tells nothing.

    `root` is the work tree, whose paths are shown relative to it; `command` helps to name the category.
    """
    lines = _lines(text)
    chosen = _key(lines)
    if chosen is None:
        return None
    at, key = chosen
    pattern = normalise(key, root)
    if not any(c.isalpha() for c in re.sub(r"<\w+>", "", pattern)):
        return None
    return Fingerprint(pattern, lines, at, key, root, command)


def normalise(line: str, root: str = "") -> str:
    """Return a line without what differs from one time to the next, at most 200 characters; idempotent.

    `<path> <n> <hex> <hash> <uuid> <time> <url> <str>` stand for what was there. Names after words such as
    `module` or `command`, error codes and HTTP statuses stay: they make it another error.
    """
    now = " ".join(_relative(line[:LINE], root).split())
    for _ in range(8):
        last = now
        now = _TOKEN.sub(_token, last)
        for twice in ("<time> <time>", "<path> <path>", "<n> <n>"):
            while twice in now:
                now = now.replace(twice, twice[: len(twice) // 2])
        now = re.sub(r"^(?:E\s{2,}|<path>(?:\(<n>,<n>\))?:? ?)+", "", now).strip()
        if len(now) > PATTERN:
            now = now[:PATTERN].rsplit(" ", 1)[0].rstrip()
        if now == last:
            break
    return now


def locate(lines: "Sequence[str] | str", at: int = -1) -> "list[Location]":
    """Return the places (path, line from 1) that an output names, the one nearest to line `at` last."""
    if isinstance(lines, str):
        lines = _lines(lines)
    before: list[Location] = []
    after: list[Location] = []
    traced = False
    for number, line in enumerate(lines):
        for found in _PLACE.finditer(line):
            path, spot = (found[1], found[2]) if found[1] else (found[3], found[4] or found[5])
            traced = traced or bool(found[1])
            (after if number >= at >= 0 else before).append((path, int(spot)))
            if len(before) + len(after) > 400:
                break
    # a Python traceback ends at its error; everywhere else the place comes with the error or after it
    ordered = after[::-1] + before if traced and before else before + after[::-1]
    return ordered[-40:]


def shorten(text: str, most: int) -> str:
    """Return a text of at most so many characters, cut between words."""
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    cut = text[: most - 1].rsplit(" ", 1)[0]
    return (cut if len(cut) > most // 2 else text[: most - 1]).rstrip(" ,;:") + "…"


def bounded(text: str) -> str:
    """Return the part of an output that is looked at: its two ends."""
    return text if len(text) <= 2 * END + 1 else f"{text[:END]}\n{text[-END:]}"


def _lines(text: str) -> "list[str]":
    """Return an output's lines as a terminal would leave them."""
    text = bounded(text)
    if "\x1b" in text or "\x08" in text:
        text = _ANSI.sub("", text)
    text = text.replace("\r\n", "\n")
    out = []
    for line in text.split("\n"):
        if "\r" in line:  # a progress line overwrites itself: the last state counts
            line = next((part for part in reversed(line.split("\r")) if part.strip()), "")
        line = line[:LINE].expandtabs(4)
        out.append(line if line.isprintable() else line.translate(_CONTROL))
    return out if len(out) <= LINES else out[: LINES // 2] + out[-LINES // 2 :]


def _key(lines: "Sequence[str]") -> "tuple[int, str] | None":
    """Return the line that names the error, and its number."""
    traced = _traceback(lines)
    if traced is not None:
        return traced
    caused = [n for n, line in enumerate(lines) if line.lstrip().startswith("Caused by: ")]
    if caused:
        return caused[-1], lines[caused[-1]].strip()
    best: tuple[int, int] | None = None
    for number, line in enumerate(lines):
        bare = line.strip()
        if not bare or _WRAPPING.fullmatch(bare):
            continue
        rank = 1 if _NOISE.match(bare) else 4 if _SURE.search(bare) else 3 if _MAYBE.search(bare) else 2
        if best is None or rank > best[0]:
            best = rank, number
            if rank == 4:
                break
    if best is None:
        return None
    number, key = best[1], lines[best[1]].strip()
    if re.search(r"\bpanicked at\b.*:$", key):  # Rust tells what on the next line
        key = "panic: " + next((line.strip() for line in lines[number + 1 :] if line.strip()), key)
    if key.startswith("E   "):
        key = _asserted(lines, key[4:].strip())
    return number, key


def _asserted(lines: "Sequence[str]", said: str) -> str:
    """Return what a test runner's line says; a bare comparison means something only with its test."""
    if not said.startswith(("assert ", "AssertionError")):
        return said
    names = [found[1] for line in lines if (found := _TEST.match(line))]
    return f"{names[0].split('[')[0]}: {said}" if names else said


def _traceback(lines: "Sequence[str]") -> "tuple[int, str] | None":
    """Return the last exception of the last Python traceback."""
    starts = [n for n, line in enumerate(lines) if "Traceback (most recent call last)" in line]
    if not starts:
        return None
    margin = lines[starts[-1]].find("Traceback")
    for number in range(starts[-1] + 1, len(lines)):
        line = lines[number][margin:] if not lines[number][:margin].strip(" |+-") else lines[number]
        if line.strip() and not line.startswith((" ", "|", "+")) and _RAISED.match(line):
            said = line.strip()
            if said.endswith(":"):
                said += " " + next((more.strip() for more in lines[number + 1 :] if more.strip()), "")
            return number, said.strip()
    return None


def _relative(line: str, root: str) -> str:
    if len(root) < 2 or root not in line:
        return line
    return re.sub(rf"(?<![\w./-])(?:file://)?{re.escape(root.rstrip('/'))}/", "", line)


def _token(found: "re.Match[str]") -> str:
    """Return what stands for a word or a quoted text."""
    word = found[0]
    if found[1]:
        inner = word[1:-1]
        before = found.string[max(0, found.start() - 24) : found.start()]
        return word if inner == "" or (_NAMED.search(before) and _NAME.fullmatch(inner) and not _is_path(inner)) else "<str>"
    body = word.rstrip(".,:!?")
    tail = word[len(body) :]
    if not body:
        return word
    if "://" in body:
        return "<url>" + tail
    if body.isalpha():
        return word
    if any("0" <= c <= "9" for c in body):
        for stands, shape in (("<uuid>", _UUID), ("<time>", _TIME), ("<n>", _VERSION), ("<hash>", _HASH)):
            if shape.fullmatch(body):
                return stands + tail
    if len(body) >= 20 and _DRAWN.fullmatch(body):
        digits = re.findall(r"\d+", body)
        if len(digits) >= 4 or any(len(run) >= 5 for run in digits):  # a token: another one tomorrow, and no business in a pattern
            return "<hash>" + tail
    if body.isdigit() and len(body) <= 5 and _CODE.search(found.string[max(0, found.start() - 14) : found.start()]):
        return word
    if _is_path(re.sub(r"(?::\d+)+$", "", body)):
        return "<path>" + tail
    if body.isdecimal():
        return "<n>" + tail
    return str(_NUMBER.sub("<n>", _HEX.sub("<hex>", body)) + tail)


def _is_path(word: str) -> bool:
    if word.startswith(("/", "./", "../", "~/", "\\\\", ".\\", "..\\")) or re.match(r"[A-Za-z]:[\\/]", word):
        return len(word.strip("/\\.~")) > 0
    parts = re.split(r"[/\\]", word)
    end = parts[-1].rpartition(".")
    extension = end[2].lower() if end[0] else ""
    if word.startswith("@") and len(parts) == 2:  # a scoped npm package
        return False
    return len(parts) > 2 or extension in EXTENSIONS or (len(parts) == 2 and extension.isalpha())


def _category(key: str, near: str, command: str) -> str:
    for text in (key, command, near):
        for name, words in _CATEGORIES:
            if text and words.search(text):
                return name
        if text is key and _RUNTIME.search(key) and not command:
            return "runtime"
    return "runtime" if _RUNTIME.search(key) or _RUNTIME.search(near) else "general"


def _message(lines: "Sequence[str]", at: int) -> str:
    """Return the lines around the error, those before it first to go."""
    end = min(len(lines), at + 20)
    start = max(0, at - 30)
    kept = lines[start:end]
    while len(kept) > 1 and sum(len(line) + 1 for line in kept) > MESSAGE:
        if start < at:
            kept, start = kept[1:], start + 1
        else:
            kept = kept[:-1]
    return "\n".join(line.rstrip() for line in kept).strip("\n")[:MESSAGE]
