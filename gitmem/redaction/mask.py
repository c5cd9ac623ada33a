"""Mask secrets in text before it becomes a git blob: what git has stored, every clone keeps.

Our own formats come first, then the detectors of detect-secrets (`detectors`) on what is left and
looks drawn by a machine. Pure: no I/O, no clock. A pattern is compiled when one of its hints is in
the text, so plain prose compiles nothing. Patterns are linear: what may repeat without end starts
at a fixed prefix and ends the pattern, everything else is bounded. docs/decisions/store.md says
why there are two.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import namedtuple
from functools import cache
from math import log2

from gitmem.redaction import detectors, formats, passwords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, NamedTuple

    # start, end, rank (the lower names the kind where two overlap), kind
    _Span = tuple[int, int, int, str]

    class SecretFinding(NamedTuple):
        """A masked secret, but never the secret itself.

        `preview` is at most 4 characters and at most a fifth of the secret.
        """

        kind: str
        line: int
        preview: str

    class Scrubbed(NamedTuple):
        """A text without its secrets, and what was masked, in order of place."""

        text: str
        findings: tuple[SecretFinding, ...]

else:  # the same, without the import of `typing`: hooks scrub what they keep
    SecretFinding = namedtuple("Finding", "kind line preview")
    Scrubbed = namedtuple("Scrubbed", "text findings")


_JUDGED = 128  # characters of an unquoted value that decide what it is; all of it is masked

_KINDS = {
    "mnemonic",
    "private key",
    "session cookie",
    "password",
    "token",
    "key",
    "secret",
    "credential",
}
_PREFIXED = tuple((kind, prefixes.split(), body) for kind, prefixes, body in formats.PREFIXED)
_PATTERNS = tuple(
    (kind, hints.split(), pattern, check) for kind, hints, pattern, check in formats.PATTERNS
)
_KINDS |= (
    {row[0] for row in formats.PREFIXED} | {row[0] for row in formats.PATTERNS} | detectors.KINDS
)


# a time, or the id of a record: they are no secrets, and most records have several
# what `codemap.linemap` knows up to nine lines by: four characters a line
_LINE_CODES = re.compile(r"(?:[A-Za-z0-9+/]{4}|\.{4}){0,9}")
_PLAIN_VALUE = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z"
    r"|(?:mem|got|ses|snp|evt)-[0-7][0-9a-hjkmnp-tv-z]{25}"
)


@cache
def _rx(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def scrub(
    text: str, allow: Sequence[str] = (), *, quick: bool = False, is_name: bool = False
) -> Scrubbed:
    """Return the text with each secret replaced by `[redacted: <kind>]`.

    Its other characters stay as they are.

    What is marked private is left out. Every run of characters that a machine may have drawn is
    masked. `quick` does without detect-secrets, which only tells whose token such a run is, and
    whose import a hook cannot pay for; `is_name` leaves those runs, which names of files are full
    of. Idempotent: what is masked is taken out of sight and the rest is searched again until
    nothing is found. A value that a regex of `allow` finds itself in is kept; what is not a safe
    regex is taken as literal text.
    """
    text = formats.public(text)
    hidden = (
        _hide(text, [m.span() for m in _rx(formats.MARKER).finditer(text) if m[1] in _KINDS])
        if "[redacted: " in text
        else text
    )
    spans = _secrets(
        text, hidden, [_allowance(a) for a in allow if a], quick=quick, is_name=is_name
    )
    return _masked(text, _joined(spans)) if spans else Scrubbed(text, ())


def _secrets(
    text: str, hidden: str, tests: Sequence[re.Pattern[str]], *, quick: bool, is_name: bool
) -> list[_Span]:
    """Return where secrets are; `hidden` is the text without those that are masked already."""
    out: list[_Span] = []
    for _ in range(16):
        own = _detect(hidden)
        # what is allowed must not be seen by the second either, whole or in part
        spans = _kept(own, text, tests)
        if not spans and not is_name:
            rest = _hide(hidden, sorted(s[:2] for s in own))
            named = [] if quick else _second(rest)
            spans = _kept([*named, *_drawn(rest)], text, tests)
        if not spans:
            break
        out += spans
        hidden = _hide(hidden, sorted(s[:2] for s in spans))
    return out


def scrub_all(value: Any, scrub_text: Callable[[str], str] = lambda text: scrub(text).text) -> Any:
    """Return a value of lists, mappings and texts with each text scrubbed, keys too.

    A `blob` is an object id and stays, and so do a time, the id of a record, and `far`, the codes
    of lines around an anchor.
    """
    if isinstance(value, str):
        return scrub_text(value)
    if isinstance(value, dict):
        out: dict[str, Any] = {}
        numbers: dict[str, int] = {}
        for key, entry in value.items():
            out[_free_name(scrub_text(key), out, numbers)] = _entry(key, entry, scrub_text)
        return out
    return [scrub_all(v, scrub_text) for v in value] if isinstance(value, list) else value


def _free_name(name: str, taken: dict[str, Any], numbers: dict[str, int]) -> str:
    """Return a name that is not taken: two names that were masked may have become one text.

    `numbers` has the last number that each name was given.
    """
    free = name
    while free in taken:
        numbers[name] = numbers.get(name, 1) + 1
        free = f"{name} ({numbers[name]})"
    return free


def _entry(name: str, value: Any, scrub_text: Callable[[str], str]) -> Any:
    if name == "far" and isinstance(value, list) and all(map(_is_line_codes, value)):
        return value
    if not isinstance(value, str):
        return scrub_all(value, scrub_text)
    return value if name == "blob" or is_plain_value(value) else _named(name, value, scrub_text)


def _is_line_codes(value: Any) -> bool:
    """Return whether a value is codes of lines, which have 24 bits each and no text."""
    return isinstance(value, str) and _LINE_CODES.fullmatch(value) is not None


def is_plain_value(text: str) -> bool:
    """Return whether a text is a time or the id of a record."""
    return _PLAIN_VALUE.fullmatch(text) is not None


def _named(name: str, value: str, scrub_text: Callable[[str], str]) -> str:
    """Return a value scrubbed by itself, and then together with its name: `{"password": …}`."""
    head, masked = f'"{name}": "', scrub_text(value)
    whole = scrub_text(f'{head}{masked}"')
    return whole[len(head) : -1] if whole.startswith(head) and whole.endswith('"') else masked


def _kept(spans: Iterable[_Span], text: str, allowed: Sequence[re.Pattern[str]]) -> list[_Span]:
    return [s for s in spans if not any(t.search(text[s[0] : s[1]][:160]) for t in allowed)]


def _hide(text: str, spans: list[tuple[int, int]]) -> str:
    """Put line ends over the spans: no detector looks across them, and every position stays."""
    out, at = [], 0
    for start, end in spans:
        if end > at:
            out += [text[at:start], "\n" * (end - max(start, at))]
            at = end
    return "".join(out) + text[at:]


def _joined(spans: list[_Span]) -> list[_Span]:
    out: list[_Span] = []
    for span in sorted(spans):
        if out and span[0] < out[-1][1]:
            first = out.pop()
            out.append((first[0], max(first[1], span[1]), *min(first[2:], span[2:])))
        else:
            out.append(span)
    return out


def _masked(text: str, spans: list[_Span]) -> Scrubbed:
    out, findings, at, line = [], [], 0, 1
    for start, end, _, kind in spans:
        line += text.count("\n", at, start)
        findings.append(
            SecretFinding(kind, line, text[start : start + min(4, (end - start) // 5)] + "…")
        )
        line += text.count("\n", start, end)
        out += [text[at:start], f"[redacted: {kind}]"]
        at = end
    return Scrubbed("".join(out) + text[at:], tuple(findings))


@cache
def _allowance(pattern: str) -> re.Pattern[str]:
    """Compile a regex of the allow-list.

    One that could take exponential time, or is none, matches itself only.

    Repeated groups and back-references are refused, and more than three repetitions.
    """
    plain = re.sub(r"\\[^0-9]", "", pattern)
    if (
        not re.search(r"\)[*+{]|\\[0-9]|\(\?P=", plain)
        and len(re.findall(r"[*+]|\{\d*,", plain)) <= 3
    ):
        try:
            return re.compile(pattern)
        except Exception:  # noqa: BLE001 - a warning made an error, RecursionError, OverflowError: the user's own text is at fault
            return re.compile(re.escape(pattern))
    return re.compile(re.escape(pattern))


def _detect(text: str) -> list[_Span]:
    spans = list(_key_blocks(text)) if "PRIVATE KEY" in text or "PuTTY-User" in text else []
    spans += _prefixed(text)
    low = text.lower()
    spans += _formatted(text, low)
    if "cookie" in low:
        spans += _cookies(text)
    if "secret" in low and "data" in low:
        spans += _kubernetes(text)
    if any(w in low for w in formats.KEYWORDS):
        spans += _assignments(text)
    if any(w in low for w in formats.NEAR_WORDS):
        spans += _near(text)
    spans += [(start, end, 360, "password") for start, end in passwords.chosen(text)]
    spans += [(start, end, 370, "mnemonic") for start, end in passwords.mnemonics(text)]
    return spans


def _prefixed(text: str) -> Iterator[_Span]:
    """Find tokens whose first characters say whose they are."""
    for rank, (kind, prefixes, body) in enumerate(_PREFIXED, 1):
        here = [p for p in prefixes if p in text]
        if here:
            rx = _rx(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, here))}){body}")
            for match in rx.finditer(text):
                if _real(match[0]):
                    yield *match.span(), rank, kind


def _formatted(text: str, low: str) -> Iterator[_Span]:
    """Find secrets of a known format; a pattern without hints looks at long runs alone."""
    long = _rx(r"[A-Za-z0-9_+/-]{32}|\d{8}:|[\w-]{24}\.").search(text) is not None
    for rank, (kind, hints, pattern, check) in enumerate(_PATTERNS, 100):
        if any(h in low for h in hints) if hints else long:
            rx, test = _rx(pattern), _CHECKS[check]
            for match in rx.finditer(text):
                if test(match[rx.groups]):
                    yield *match.span(rx.groups), rank, kind


def _second(text: str) -> list[_Span]:
    """Ask detect-secrets about what our own formats left."""
    return [
        (start, end, 400, kind)
        for start, end, kind in detectors.detect(text)
        if _real(text[start:end]) and _given(text[start:end])
    ]


def _drawn(text: str) -> list[_Span]:
    """Return what looks drawn by a machine."""
    public = _public_keys(text)
    firsts = [first for first, _ in public]
    spans: list[_Span] = []
    for start, end in detectors.runs(text):
        at = bisect_right(firsts, start) - 1
        is_public = at >= 0 and start < public[at][1]
        if not is_public and _given(text[start:end]) and not _is_digest(text, start):
            spans.append((start, end, 401, "token"))
    return spans


# Public keys and certificates: lines of base64 up to their end, and keys of SSH, which begin with
# the length and the name of their type: https://www.rfc-editor.org/rfc/rfc4253#section-6.6
_PUBLIC = (
    r"-----BEGIN (?:[A-Z0-9 ]{0,20}PUBLIC KEY(?: BLOCK)?|CERTIFICATE(?: REQUEST)?)-----(?:\r?\n"
    r"|\\n)"
    r"(?:[A-Za-z0-9+/=]{0,76}+(?:\r?\n|\\n)){1,400}+-----END "
    r"|(?:ssh-[a-z0-9]{2,10}|ecdsa-sha2-[a-z0-9-]{4,20}) "
    r"AAAA(?:B3NzaC1|C3NzaC1|E2VjZHNhLXNoYTIt)[A-Za-z0-9+/=]*+"
)


def _public_keys(text: str) -> list[tuple[int, int]]:
    """Return where public keys and certificates begin and end, in order."""
    if "BEGIN" not in text and "AAAA" not in text:
        return []
    return [block.span() for block in _rx(_PUBLIC).finditer(text)]


def _is_digest(text: str, at: int) -> bool:
    """Return whether a place is in a digest, a public key or an image in base64.

    Examples are `sha512-…`, `h1:…`, `AAAAC3…` and `data:image/png;base64,…`.
    """
    word = text[max(text.rfind(mark, 0, at) for mark in " \n\t\"'(<`") + 1 : at]
    return bool(
        _rx(r"(?:sha\d{1,3}[-:]|h1:|AAAA[A-Z][A-Za-z0-9]|data:[\w/+.-]{1,40};base64,)").match(word)
    )


def _key_blocks(text: str) -> Iterator[_Span]:
    """Find blocks of private keys; one without an end goes to the end of the text."""
    stops, at, done = [m.end() for m in _rx(formats.END).finditer(text)], 0, 0
    for begin in _rx(formats.BEGIN).finditer(text):
        while at < len(stops) and stops[at] <= begin.end():
            at += 1
        end = stops[at] if at < len(stops) else len(text)
        if begin.start() >= done and _rx(formats.BODY).match(text, begin.end(), end):
            yield begin.start(), end, 0, "private key"
            done = end
    yield from _cut_off_blocks(text, done)


def _cut_off_blocks(text: str, done: int) -> Iterator[_Span]:
    """Find blocks whose beginning was cut off: the lines above an end that can be nothing else."""
    for stop in _rx(formats.END).finditer(text):
        if stop.start() < done:
            continue
        start = stop.start()
        while start > 0:
            line = text.rfind("\n", 0, start - 1) + 1
            if not _rx(r"[ \t|>]*+(?:E[ \t]++)?+[A-Za-z0-9+/=]{16,}+[ \t\r]*+\n?").fullmatch(
                text, line, start
            ):
                break
            start = line
        if start < stop.start():
            yield start, stop.end(), 0, "private key"
        done = stop.end()


def _cookies(text: str) -> Iterator[_Span]:
    for header in _rx(
        r"""(?i)(?:cookie["']?[ \t]{0,4}[:=]|--cookie)[ \t=]{0,4}["']?([^\n"']+)"""
    ).finditer(text):
        for pair in _rx(r"""([\w.-]{1,64})=([^;\s,"']{6,})""").finditer(text, *header.span(1)):
            named = _rx(r"(?i)sess|sid|auth|token|jwt|csrf|xsrf|remember|login|ticket").search(
                pair[1]
            )
            if _given(pair[2]) and (_mixed(pair[2]) or (named and _rx(r"\d").search(pair[2]))):
                yield *pair.span(2), 200, "session cookie"


def _kubernetes(text: str) -> Iterator[_Span]:
    """Find the values of a Kubernetes secret, in YAML or JSON, whatever their names."""
    if not _rx(r"""kind["']?:[ ]{0,4}["']?Secret(?!\w)""").search(text):
        return
    sections = list(
        _rx(
            r"""(?m)(?<![\w-])(data|stringData)["']?:(?:[ \t]*(?:\{|$)|(?=[ ][\w.-]+:))"""
        ).finditer(text)
    )
    for section, following in zip(sections, [*sections[1:], *[None] * bool(sections)], strict=True):
        end = following.start() if following else len(text)
        for pair in _rx(r"""(?<![\w.-])[\w.-]{1,128}["']?:[ ]{1,4}["']?([^\s"',}]{4,})""").finditer(
            text, section.end(), end
        ):
            if section[1] == "stringData" or _decoded(pair[1]):
                yield *pair.span(1), 200, "secret"


def _near(text: str) -> Iterator[_Span]:
    """Find what looks like a chosen password after a word that announces it, or its option."""
    done = 0  # each place is looked at once, whatever the words around it
    for word in _rx(formats.NEAR).finditer(text):
        line = text.find("\n", word.end())
        start, end = max(word.end(), done), min(len(text) if line < 0 else line, word.end() + 120)
        for match in _rx(formats.CHOSEN).finditer(text, start, end) if start < end else ():
            if _given(match[0]) and not _rx(formats.NOT_CHOSEN).search(match[0]):
                yield *match.span(), 350, "password"
        done = max(done, end - 64)


class _SecretName:
    """A name that promises a secret, and the notation in which it gets a value."""

    __slots__ = ("env", "human", "is_assigned", "listed", "verb", "word")

    def __init__(self, text: str, key: re.Match[str]) -> None:
        sep = key["sep"] or ""
        head = text[max(0, key.start() - 40) : key.start()].rpartition(" ")[2].lstrip("\"'[(`")
        flag = head.startswith("-")
        self.word = key["word"].lower()
        self.human = key["human"] is not None
        self.verb = key["verb"] is not None
        self.listed = bool(
            sep == "," and key["shut"] and text[key.end() : key.end() + 1] in ('"', "'", "`")
        )
        is_given = bool(sep or key["verb"] or flag or key[0].endswith(">"))
        self.is_assigned = self.listed if sep == "," else is_given
        self.env = flag or (sep == "=" and key["word"].isupper() and not key[0].endswith(" "))

    def value(
        self, text: str, at: int, runs: dict[str, tuple[int, int]]
    ) -> tuple[int, int, bool] | None:
        """Return where the value after the name is, and whether it is quoted; None for none."""
        quoted = _rx(formats.QUOTED).match(text, at)
        if quoted:
            return *quoted.span(quoted.lastindex or 0), True
        start, end = _run(text, at, formats.LITERAL if self.env else formats.BARE, runs)
        if end < 0 or (not self.env and text[end : end + 1] in ("(", "[", "{")):
            return None
        more = _rx(r"&[\w.-]+=").search(text, start, min(end, start + _JUDGED))
        value = text[start : more.start() if more else end].rstrip(".,:;*)]}\\")
        return start, start + len(value), False

    @property
    def kind(self) -> str:
        """Return what the secret is."""
        if self.human:
            return "password"
        return next((k for k in ("token", "key", "secret") if k in self.word), "credential")


def _assignments(text: str) -> Iterator[_Span]:
    """Find `name = value` in its many notations.

    The notations are JSON, YAML, env files, code, flags, tables and plain words.
    """
    runs: dict[str, tuple[int, int]] = {}
    for key in _rx(formats.ASSIGNMENT).finditer(text):
        name = _SecretName(text, key)
        value = name.value(text, key.end(), runs) if name.is_assigned else None
        if value is None:
            continue
        start, end, quoted = value
        unsure = name.listed or (name.verb and not quoted)
        human = name.human or ((quoted or name.env) and "secret" in name.word)
        judged = text[start : min(end, start + _JUDGED)]
        if _secretive(judged, human, quoted, name.env, unsure):
            yield start, end, 300, name.kind


def _run(text: str, at: int, pattern: str, runs: dict[str, tuple[int, int]]) -> tuple[int, int]:
    """Return the span of an unquoted value, (-1, -1) if there is none.

    `runs` saves reading one long run again for each key in it.
    """
    first, last = runs.get(pattern, (0, 0))
    if first <= at < last:
        slashes = len(text[at : min(at + 2, last - 1)]) - len(
            text[at : min(at + 2, last - 1)].lstrip("\\")
        )
        return at + slashes, last
    value = _rx(pattern).match(text, at)
    if value is None:
        return -1, -1
    runs[pattern] = value.span(1)
    return value.span(1)


def _secretive(value: str, human: bool, quoted: bool, env: bool, unsure: bool) -> bool:
    """Tell whether the value of a name that promises a secret is one.

    People choose words, machines do not.
    """
    if not _may_be_secret(value, 6 if human else 8, quoted):
        return False
    core, digits = value.rstrip("!?"), any(map(str.isdigit, value))
    letters = any(map(str.isalpha, value))
    mixed = letters and digits
    if " " in core and not (mixed and human and quoted and env):
        return human and quoted and env and not digits and _is_phrase(core)
    if unsure and not (mixed and _strong(core)):
        return False
    if human and digits:
        is_term = not core.isalnum() or _rx(formats.TERM).fullmatch(core)
        return not (letters and is_term and _wordy(value))
    if human and (quoted or env):
        return _is_chosen_word(core, env)
    return letters and (digits or len(value) >= 16) and not _wordy(value)


def _may_be_secret(value: str, least: int, quoted: bool) -> bool:
    """Return whether a value is long enough, and is neither a reference nor a placeholder."""
    if len(value) < least or not _given(value):
        return False
    return quoted or value[0] not in "&*([{\\-"


def _is_phrase(core: str) -> bool:
    """Return whether words without digits may be somebody's pass phrase."""
    return any(map(str.isalpha, core)) and not _promises(core)


def _is_chosen_word(core: str, env: bool) -> bool:
    """Return whether a word without digits may be somebody's password."""
    if not core.isalpha():
        return bool(re.search(r"[^\w\s./:,;()\[\]{}'-]", core))
    return (env or core.islower()) and len(core) >= (6 if env else 8) and not _promises(core)


def _promises(core: str) -> bool:
    """Return whether a value says itself that it is a password or a key."""
    return any(word in core.lower() for word in formats.KEYWORDS)


def _strong(value: str) -> bool:
    """Tell a secret where only a sentence or a list suggests one."""
    if _rx(formats.HASH).fullmatch(value):
        return False
    return len(value) >= (16 if value.isalnum() and value.islower() else 8)


def _wordy(value: str) -> bool:
    """Return whether a value consists of words and is not machine-generated.

    Names, paths and versions consist of words: `db-password-v2`, `TokenProvider`, `a/b.py`.
    """
    if re.search(r"[^\w./:,@+ ~=-]", value):
        return False
    for part in re.split(r"[^A-Za-z0-9]+", value):
        if (
            len(part) >= 20
            and len(re.findall(r"\d+", part)) >= 3
            and re.search("[a-z]", part)
            and re.search("[A-Z]", part)
        ):
            return False
        words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", part)
        size = sum(map(len, words))
        if (
            len(part) > 3
            and not _rx(formats.TERM).fullmatch(part)
            and (len(part) - size > (3 if words else 4) or size < 2.5 * len(words))
        ):
            return False
    return True


def _real(value: str) -> bool:
    return not re.search(r"(?i)x{6}|\*{3}|\.{3}|…|your|placeholder|<", value)


def _given(value: str) -> bool:
    return not _rx(formats.REFERENCE).search(value) and not _rx(formats.PLACEHOLDER).search(value)


def _meant(value: str) -> bool:
    return not _rx(formats.REFERENCE).search(value) and value not in {
        "PASSWORD",
        "PASS",
        "PWD",
        "SECRET",
        "TOKEN",
    }


def _mixed(value: str) -> bool:
    plain = value.rstrip("=")
    return _real(value) and not _wordy(plain) and not _rx(formats.HASH).fullmatch(plain)


def _entropic(value: str) -> bool:
    """Tell random text between quotes; digests in base64 have the length of one."""
    sorts = all(re.search(c, value) for c in ("[a-z]", "[A-Z]", "[0-9]"))
    if (
        not sorts
        or (value.endswith("=") and len(value) in (44, 88))
        or not (_mixed(value) and _given(value))
    ):
        return False
    return -sum(n / len(value) * log2(n / len(value)) for n in map(value.count, set(value))) >= 4.5


def _decoded(value: str) -> str:
    """Return what a base64 text says, '' if that is no text."""
    from binascii import Error, a2b_base64

    try:
        said = a2b_base64(value).decode() if len(value) % 4 == 0 else ""
    except (Error, ValueError):
        return ""
    return said if said.isprintable() else ""


def _pair(value: str) -> bool:
    """Tell `user:password` in base64."""
    return ":" in _decoded(value)


def _chosen(value: str) -> bool:
    """Tell what a sentence names as a password: letters and digits, as nobody writes a word."""
    core = value.rstrip(".,;:)")
    drawn = any(c.isdigit() for c in core) and any(c.isalpha() for c in core) and len(core) >= 6
    return (
        drawn
        and _given(core)
        and not _rx(formats.HASH).fullmatch(core)
        and not (core.replace("-", "").replace("_", "").isalnum() and _wordy(core))
    )


def _machine_drawn(value: str) -> bool:
    return (
        _mixed(value) and _given(value) and any(c.isdigit() for c in value) and "/" not in value[:2]
    )


_CHECKS: dict[str, Callable[[str], bool]] = {
    "real": _real,
    "meant": _meant,
    "mixed": _mixed,
    "entropic": _entropic,
    "given": _given,
    "pair": _pair,
    "chosen": _chosen,
    "drawn": _machine_drawn,
}
