"""The pattern of a line, without everything that differs from one time to the next.

`<path> <n> <hex> <hash> <uuid> <time> <url> <str>` stand for what was there. What makes it another
error stays: error codes, HTTP statuses, and the names of what is missing, unknown or refused. Pure,
read by hooks.
"""

import re

from gitmem.base.fast import Lazy
from gitmem.fingerprint.tables import EXTENSIONS, HEADERS, NAME_WORDS, any_of

LINE, PATTERN = 2000, 200  # characters of a line that are looked at, of a pattern

_QUOTES = str.maketrans(
    {
        "‘": "'",
        "’": "'",
        "‚": "'",
        "“": '"',
        "”": '"',
        "„": '"',
        "«": '"',
        "»": '"',
        "「": '"',
        "」": '"',
        "‹": '"',
        "›": '"',
        "\xa0": " ",
        "\u202f": " ",
    }
)
_GNU = Lazy(r"`([^`'\n]{1,120})'(?!\w)")  # `word' as old GNU tools quote
_TOKEN = Lazy(
    r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s\"'`<>]+|(?<!\w)([\"'`])(?:(?!\1).){0,300}\1(?!\w)"
    r"|[^\s\"'`()\[\]{},;=|<>]+"
)
_UUID = Lazy(r"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = Lazy(
    r"(?i)\d{4}[-/]\d\d[-/]\d\d(?:[T_ ]\d\d:?\d\d(?::?\d\d(?:[.,]\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d\d?:\d\d(?::\d\d(?:[.,]\d+)?(?:Z|[ap]m)?|Z|[ap]m)"
)
_HEXITS = frozenset("0123456789abcdef")
_DRAWN = Lazy(r"(?=[^\W\d_]*\d|[\w-]*\d)(?=[\d_-]*[A-Za-z])[\w-]+")
_HEX = Lazy(r"(?i)\b0x[0-9a-f]+\b")
_NUMBER = Lazy(
    r"(?<![A-Za-z0-9_])(?:(?<![\w.:-])-)?\d+(?:[.,:_]\d+)*(?:e[+-]?\d+\b)?(?:-(?:rc|alpha|beta|dev"
    r"|pre)[.\d]*)?"
)
_AMOUNT = Lazy(r"(?i)(?:\d+(?:\.\d+)?(h|m|s|ms|µs|us|ns))+|\d+(?:\.\d+)?(?:[kMGT]i?)?B")
_VERSION = Lazy(
    r"(?i)v\d++(?:\.\d++)++[\w.+-]*+|(?<!\d)\d++(?:\.\d++){2}(?:[-+~.]\w[\w.+~-]*+|(?:a|b|rc)\d++)"
)
_CODE = Lazy(
    rf"(?i)(?:http(?:/\S+)?|error(?: \d+)?|{any_of(NAME_WORDS['exit_codes'])})[ :=\[(]{{0,3}}$"
)
_COMPARED = Lazy(
    rf"(?i)\b(?:status|http)(?:[ :=,()!]|\d{{3}}|\b{any_of(NAME_WORDS['status'])}\b){{1,18}}$"
)
_COUNTED = Lazy(r"(?i)error: $")
_STATUS = Lazy(r"[45]\d\d [A-Z][A-Za-z' -]{2,30}")
_COMMIT = Lazy(rf"(?i)\b(?:sha\d*|{any_of(NAME_WORDS['hashes'])}) ['\"(]?$")
# the name after these words is what is missing, or wrong: with another name it is another error
_NAMED = tuple(NAME_WORDS["before"])
_UNKNOWN = Lazy(
    rf"(?i) ?:? ?(?:{any_of(NAME_WORDS['verbs'])}\b ?)?"
    rf"(?:{any_of(NAME_WORDS['after'])}\b|{any_of(NAME_WORDS['after_starts'])})"
)
_NAME = Lazy(r"@?[A-Za-z_$-](?:[A-Za-z_./:$@~*-]|(?<=[A-Za-z_])\d{1,2}(?!\d)){0,60}(?:\(\))?")
# code that is quoted: `total(int)`, `std::vector<int>`
_SYMBOL = Lazy(r"[^\W\d][\w :<>,*&()\[\]~.$|?@#=+-]{0,79}")
_IDS = tuple(NAME_WORDS["ids"])
_DATA = tuple(NAME_WORDS["data"])
_PASSING = ("tmp", "temp")  # the start of a name that is another one tomorrow
_IMPORTED = Lazy(rf"(?i){any_of(NAME_WORDS['imports'])}[: ]{{1,2}}$|providing package $")
# what is quoted after these is code: its numbers and paths go, not all of it
_INSIDE = tuple(NAME_WORDS["code"])
_STOPPED = tuple(NAME_WORDS["stopped"])
_MISSING = tuple(NAME_WORDS["missing"])
_GONE = tuple(NAME_WORDS["missing_after"])
_HEADER = Lazy(r"(?i)fatal error: ['\"]?$")
_TWICE = ("<time> <time>", "<path> <path>", "<n> <n>")


def normalise(line: str, root: str = "") -> str:
    """Return a line without what differs from one time to the next, at most 200 characters.

    Idempotent.

    `root` is the work tree: what is missing in it has a name, what is missing elsewhere has none.
    """
    line = line[:LINE]
    if len(root) > 1 and root in line:  # the project's own files have names, wherever it is
        folder = f"{root.rstrip('/')}/"
        line = line.replace(f"file://{folder}", "./").replace(folder, "./")
        if " " in root:
            line = line.replace(root.rstrip("/"), "/root")
    if "«" in line:
        # as French quotes
        line = re.sub(r"«[ \xa0\u202f]([^«»\n]{1,120}?)[ \xa0\u202f]»", r'"\1"', line)
    now = " ".join(line.translate(_QUOTES).split())
    for _ in range(8):
        last, now = now, _once(now)
        if now == last:
            break
    return now


def _once(line: str) -> str:
    if "`" in line and "'" in line:
        line = _GNU.sub(r"'\1'", line)
    now = " ".join(_TOKEN.sub(_token, line).split())
    for twice in _TWICE:
        while twice in now:
            now = now.replace(twice, twice[: len(twice) // 2])
    if "\\" in now and "<path> " in now:  # a Windows path with spaces in it
        now = re.sub(r"<path>(?: [\w().-]{1,40}\\[\w().\\-]+)+", "<path>", now)
    now = re.sub(r"^(?:E\s{2,}|<path>(?:\(<n>,<n>\))?:? ?)+", "", now).strip()
    return now if len(now) <= PATTERN else now[:PATTERN].rsplit(" ", 1)[0].rstrip()


def _token(match: "re.Match[str]") -> str:
    """Return what stands for a word or a quoted text."""
    word = match[0]
    text, start, end = match.string, match.start(), match.end()
    if match[1]:
        before, after = text[max(0, start - 48) : start], text[end : end + 48]
        is_compared = "assert" in text[:200].lower()
        return _quoted(word, before, after, is_compared=is_compared)
    body = word.rstrip(".,:!?")
    tail = word[len(body) :]
    if not body or body.isalpha():
        return word
    before = text[max(0, start - 24) : start]
    shape = _shape(body, before)
    if shape:
        return shape + tail
    number = body.removeprefix("-")
    if number.isdigit():
        is_kept = _is_status(number, text[max(0, start - 60) : start]) or _is_code(number, before)
        return word if is_kept else "<n>" + tail
    if body.isalnum() and body.upper() == body and len(body) <= 5 and _CODE.search(before):
        return word
    if not _is_path(re.sub(r"(?::\d{1,9}){1,4}$", "", body)):
        return str(_NUMBER.sub("<n>", _HEX.sub("<hex>", body)) + tail)
    is_column = "/" not in body and before.lower().endswith(("column ", "table "))
    if is_column or _is_spec(body, before):
        return word
    name = _own(body, text[max(0, start - 48) : start], tail + text[end : end + 48])
    return (name or "<path>") + tail


def _shape(body: str, before: str) -> str:
    """Return what stands for a word that shows by itself what it is; "" for another word."""
    if "://" in body:
        return "<url>"
    if not any("0" <= c <= "9" for c in body):
        return ""
    for stands, shape in (("<uuid>", _UUID), ("<time>", _TIME), ("<n>", _VERSION)):
        if shape.fullmatch(body):
            return stands
    amount = _AMOUNT.fullmatch(body)
    if amount and not _is_hash(body):
        return "<n>s" if amount[1] else "<n>B"
    is_commit = body.isdigit() and len(body) >= 7 and bool(_COMMIT.search(before))
    is_id = before.lower().endswith(_IDS)
    return "<hash>" if is_id or is_commit or _is_hash(body) or _is_drawn(body) else ""


def _is_drawn(body: str) -> bool:
    """Tell whether a word is a token: another one tomorrow, and no business in a pattern."""
    if len(body) < 20 or not _DRAWN.fullmatch(body):
        return False
    digits = re.findall(r"\d+", body)
    return len(digits) >= 4 or any(len(run) >= 5 for run in digits)


def _is_code(number: str, before: str) -> bool:
    """Tell whether a number is the code of an error: it makes another error."""
    if not number.isascii() or len(number) > 5 or not _CODE.search(before):
        return False
    return len(number) == 3 or not _COUNTED.search(before)


def _quoted(word: str, before: str, after: str, *, is_compared: bool) -> str:
    """Return what replaces a quoted text.

    A name, code and a sign stay, without their numbers and paths. A sentence is kept without its
    quotes. What the message calls a value, and what a test compares, counts as data.
    """
    inner, sign = word[1:-1], word[0]
    if inner[:3].isdigit() and _STATUS.fullmatch(inner):
        return word
    is_sign = not any(map(str.isalnum, inner))
    if is_sign and len(inner) <= 4 and "<" not in inner:
        return word
    if is_sign or _is_hash(inner):
        return "<str>"
    return _quoted_name(inner, sign, before, after, is_compared=is_compared)


def _quoted_name(inner: str, sign: str, before: str, after: str, *, is_compared: bool) -> str:
    """Return what replaces a quoted name or path; `_quoted_text` does what is more than that."""
    said_before = before.rstrip(" :(").lower()
    is_code = len(inner) <= 80 and said_before.endswith(_INSIDE)
    if _is_path(inner) and not (is_code and " " in inner):
        name = inner if _is_spec(inner, before) else _own(inner, before, after)
        return f"{sign}{name}{sign}" if name else "<str>"
    is_named = said_before.endswith(_NAMED) or bool(_UNKNOWN.match(after))
    is_data = is_compared or said_before.endswith(_DATA) or inner.startswith(_PASSING)
    if _NAME.fullmatch(inner):
        return "<str>" if is_data and not is_named else f"{sign}{inner}{sign}"
    return _quoted_text(inner, sign, is_code=is_code, is_data=is_data)


def _quoted_text(inner: str, sign: str, *, is_code: bool, is_data: bool) -> str:
    """Return what replaces a quoted text that is more than a name."""
    if is_code:
        return f"{sign}{_TOKEN.sub(_token, inner)}{sign}"
    if sign in inner:
        return "<str>"
    if inner.count(" ") >= 4 and "<str>" not in inner:
        return f" {_TOKEN.sub(_token, inner)} "  # a message inside of a message
    is_symbol = not is_data and bool(_SYMBOL.fullmatch(inner))
    return f"{sign}{_TOKEN.sub(_token, inner)}{sign}" if is_symbol else "<str>"


def _is_hash(word: str) -> bool:
    """Tell whether a word is a hash: long, hexadecimal, with letters and digits in it."""
    letters = set(word.lower()) if 7 <= len(word) <= 128 else set()
    return (
        bool(letters)
        and letters <= _HEXITS
        and not letters.isdisjoint("abcdef")
        and not letters.isdisjoint("0123456789")
    )


def _is_spec(word: str, before: str) -> bool:
    """Tell whether a relative path is what the source asks for: a module, or a header.

    It is the same on every machine.
    """
    if (
        word.startswith(("/", "~", "\\"))
        or ":\\" in word
        or any(map(str.isdigit, word))
        or "<" in word
    ):
        return False
    return bool(_IMPORTED.search(before)) or (
        word.rpartition(".")[2] in HEADERS and bool(_HEADER.search(before))
    )


def _is_status(number: str, before: str) -> bool:
    """Return whether a number is the actual or the expected HTTP status."""
    if len(number) != 3 or not "100" <= number < "600":
        return False
    low = before.lower()
    return ("status" in low or "http" in low) and bool(_COMPARED.search(before))


def _own(path: str, before: str, after: str) -> str:
    """Return the name of a project's file that is missing, or of its program that was stopped.

    Nothing for one that has another name tomorrow.
    """
    name = path.rstrip("/").rpartition("/")[2]
    # a part of a Windows path with spaces in it has no drive
    is_elsewhere = path[0] in "/~" or ":" in path or "\\" in path
    # the root of a container's build is that of the project
    if "<" in path or (is_elsewhere and not (path == f"/{name}" and "." in name)):
        return ""
    if name.startswith(_PASSING) or any(map(str.isdigit, name)):
        return ""
    if not name.replace(".", "").replace("-", "").replace("_", "").isalpha():
        return ""
    before, after = before.lower(), after.lower()
    is_missing = any(said in before and len(before.rpartition(said)[2]) < 16 for said in _MISSING)
    return (
        name
        if is_missing or before.rstrip().endswith(_STOPPED) or after.lstrip("'\"").startswith(_GONE)
        else ""
    )


def _is_path(word: str) -> bool:
    if word.startswith(("/", "./", "../", "~/", "\\\\", ".\\", "..\\")) or re.match(
        r"[A-Za-z]:[\\/]", word
    ):
        return len(word.strip("/\\.~")) > 0
    parts = re.split(r"[/\\]", word)
    end = parts[-1].rpartition(".")
    extension = end[2].lower() if end[0] else ""
    if word.startswith("@") and len(parts) == 2:  # a scoped npm package
        return False
    return len(parts) > 2 or extension in EXTENSIONS or (len(parts) == 2 and extension.isalpha())
