"""Passwords that people choose, found after an explicit key, an option or a word.

The word may be any word of a sentence that announces a password.

A chosen password is made of words, so that its form alone says little; what announces it decides
how much form it needs. Pure; each expression is bounded.
"""

from __future__ import annotations

import re
from functools import cache

from gitmem.redaction import formats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

HUMAN = (
    "pass(?:word|wd|phrase|code)|passwd|pwd|passwort|kennwort|contrase[ñn]a|senha|wachtwoord"
    "|mot[ ]de[ ]passe"
    "|parola[ ]d['’]ordine|(?<![a-z])(?:pass|pw|psk|clave|parola)(?![a-z])"
)
ACCOUNTS = (
    "zugangsdaten|anmeldedaten|credentials?|creds|credenziali|credenciales|credenciais"
    "|identifiants?|logins?"
)
USER = r"[\w.@+-]{1,64}"
VALUE = r"""[\\"'`“«]{0,2}(?P<v>[^\s"'`<>,;()\[\]{}”»]{6,64})"""
WORD = r"""["'`“«]?(?P<v>[^\s"'`<>”»]{6,64})"""
# what announces it: "key" needs a digit or a hyphen in it, "prose" a digit that no name of a method
# has, "bare" a stronger form
ANNOUNCED = (
    (
        "key",
        (
            rf"""(?:{HUMAN})(?:[-_.]?(?:value|string|text"""
            rf"""|\d{{1,2}}))?(?:\\?["'\]]){{0,2}}[ \t]{{0,4}}(?:=>|:?=|->"""
            rf"""|[:：])[ \t]{{0,4}}{VALUE}"""
        ),
    ),
    (
        "key",
        (
            rf"""(?:{HUMAN})["']?[ \t]{{0,4}}/?\n?[ \t]{{0,12}}(?:value"""
            rf"""|val)["']?[ ]{{0,2}}[=:][ ]{{0,2}}["']{VALUE}"""
        ),
    ),
    ("key", rf"(?:{HUMAN})[\"']?>{VALUE}</"),
    ("key", rf"""(?:{HUMAN})[\w."-]{{0,20}}[ ]?\(["']{VALUE}["']\)"""),
    (
        "key",
        (
            rf"""(?:{HUMAN})["'][ ]?\)?[ ]?\{{[^}}]{{0,120}}?default[ ]{{0,9}}=[ ]{{0,9}}"""
            rf"""["']{VALUE}"""
            rf"""["']"""
        ),
    ),
    (
        "key",
        (
            rf"""\[(?:db|database|mysql|client|postgres|smtp"""
            rf"""|mail)\][^\[]{{0,200}}?pass[ ]{{0,4}}=[ ]{{0,4}}{VALUE}"""
        ),
    ),
    (
        "key",
        (
            rf"""(?<=[\s'"])--?(?:[a-z]{{1,12}}-){{0,2}}[a-z]{{0,6}}(?:pass|passwd|password"""
            rf"""|passphrase|pwd|secret)[ =]["']?{VALUE}"""
        ),
    ),
    (
        "key",
        (
            rf"""(?:sqlcmd|bcp|mongo(?:sh|dump|restore)?|az|docker|sshpass|bosh"""
            rf"""|cf)[ ][^\n|;]{{0,120}}?[ ]-[pP][ ]?["']?{VALUE}"""
        ),
    ),
    ("key", rf"""(?:https?|xh|curlie)[ ][^\n|;]{{0,60}}?-a[ ]?{USER}:{VALUE}"""),
    ("key", rf"""(?:lftp|ncftp)[ ][^\n|;]{{0,60}}?-u[ ]?{USER}[, ]{VALUE}"""),
    ("key", rf"""-U[ ]?["']?(?:{USER}\\{{1,2}})?{USER}%{VALUE}"""),
    ("key", rf"""net[ ]use[ ][^\n]{{0,120}}?/user:[^\s]{{1,64}}[ ]{VALUE}"""),
    ("key", rf"""net[ ]user[ ]{USER}[ ]{VALUE}"""),
    ("key", rf"""sqlplus[ ][^\n/]{{0,40}}?{USER}/{VALUE}@"""),
    ("key", rf"""identified[ ]by[ ](?:values[ ])?["']{VALUE}["']"""),
    (
        "key",
        (
            rf"""(?:requirepass|masterauth|enable[ ](?:secret|password)"""
            rf"""|password[ ][057])[ ](?:[05789][ ])?{VALUE}"""
        ),
    ),
    (
        "prose",
        (
            rf"""(?:{HUMAN})(?:[ ][^\s.:=?!]{{1,20}}){{0,4}}?[ ](?:is|was|are|es|era|é|ist|war"""
            rf"""|lautet"""
            rf"""|est|è|sera|será)[ ](?:now[ ]|set[ ]to[ ])?{WORD}"""
        ),
    ),
    (
        "prose",
        rf"""(?:{HUMAN})(?:[ ][^\s.:=?!]{{1,20}}){{1,3}}?[ ]{{0,2}}(?:->|=>|[:：])[ ]{WORD}""",
    ),
    (
        "prose",
        (
            rf"""(?:{ACCOUNTS})[^\n\w]{{0,6}}(?:(?:are|is|sind|son|são|sono"""
            rf"""|sont)[ ])?(?:for[ ]\w{{1,20}}[: ]{{1,2}})?{USER}[ ]?[/:|,][ ]?{WORD}"""
        ),
    ),
    (
        "prose",
        (
            rf"""(?<![\w/])(?:use|with|mit|con|com|avec)[ ]{USER}:{WORD}[ ](?:for|to|as|für|para"""
            rf"""|pour"""
            rf"""|per)[ ]"""
        ),
    ),
    (
        "prose",
        (
            rf"""(?:with|mit|con|com|avec|use|and)[ ]{USER}[ ]?(?:/|and|und|y|e"""
            rf"""|et)[ ]?{WORD}[ ](?:as"""
            rf"""|als|como|comme)[ ]"""
        ),
    ),
    ("bare", rf"""(?:{HUMAN})[ ]{{1,2}}{WORD}"""),
    (
        "bare",
        (
            rf"""(?<![^\s"'`“«])(?P<v>[^\s"'`<>”»]{{6,64}}+)["'`”»]?[ ](?:as|is|als|ist|como"""
            rf"""|comme|es"""
            rf"""|é|est|è)[ ](?:the|das|la|a|le|our|my)[ ](?:\w{{1,12}}[ ])?(?:{HUMAN})"""
        ),
    ),
)
_HINTS = (
    *(
        "pass",
        "pwd",
        "pw",
        "wort",
        "contrase",
        "senha",
        "parola",
        "psk",
        "clave",
        "zugang",
        "daten",
        "cred",
        "identifi",
        "login",
    ),
    *(
        "sqlcmd",
        "bcp",
        "mongo",
        "lftp",
        "ncftp",
        "net use",
        "net user",
        "sqlplus",
        "enable",
        "auth",
        "-u",
        " -a ",
        " with ",
        "use ",
    ),
    *("mit ", "con ", "com ", "avec "),
)
_METHODS = (
    r"(?i)(?:scram|sha|md|aes|utf|base|argon|pbkdf|bcrypt|scrypt|ed|rsa|ec|hs|rs|es|ps|iso|rfc"
    r"|oauth|tls|ssl|v|x|http|ipv|cost|level|step|python|node|php)"
    r"[-_ ]?\d{1,5}(?:[-_ ]?[a-z]{1,12})?(?:[-_][a-z]{1,12}|[-_]\d{1,4}){0,2}"
)
_NUMBERED = (
    r"(?i)\d{1,4}[-_ ]?[a-z]{1,14}(?:[-_][a-z]{1,14}){0,2}|[a-z]{1,14}[-_]\d{1,2}|\d[\d.,:/-]*"
)
_NAME = (
    r"[a-z_$][a-z0-9$]*+(?:_[a-z0-9]+)+|[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+|[A-Za-z_][\w]*\(.*"
    r"|.*[/\\].*"
)
_OF_CODE = (
    r"(?i)(?:new|old|current|confirm|your|user|admin|my|reset|forgot|hash|field|input|label|form"
    r"|secret|token|key|name|string|type|env|file|path|min|max|length|expire)"
)
_FEWEST = 6


@cache
def _rx(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _announced() -> tuple[tuple[str, re.Pattern[str], bool], ...]:
    """Return (strength, what announces a password, whether a word for it is a part of that)."""
    return tuple(
        (strength, re.compile(pattern, re.IGNORECASE), f"(?:{HUMAN})" in pattern)
        for strength, pattern in ANNOUNCED
    )


@cache
def _human() -> re.Pattern[str]:
    return re.compile(HUMAN, re.IGNORECASE)


def chosen(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of passwords that something announces."""
    low = text.lower()
    if not any(hint in low for hint in _HINTS):
        return
    has_word = _human().search(text) is not None
    for strength, announced, needs_word in _announced():
        if needs_word and not has_word:
            continue
        for match in announced.finditer(text):
            value = match["v"].rstrip(".,:;!?)…")
            if _is_chosen(value, strength):
                yield match.start("v"), match.start("v") + len(value)


def _is_two_words(value: str) -> bool:
    parts = value.split("-")
    is_words = all(part.isalpha() and len(part) > 2 for part in parts)
    return len(parts) == 2 and is_words and value == value.lower()


def _is_chosen(value: str, strength: str) -> bool:
    """Say whether a value has the form that what announces it asks for."""
    if len(value) < _FEWEST or _stands_for_another(value):
        return False
    has_digit = any(char.isdigit() for char in value)
    has_letter = any(char.isalpha() for char in value)
    has_case = value != value.lower() and value != value.upper()
    has_sign = any(not char.isalnum() and char not in "_-." for char in value)
    if strength == "key":
        return (has_digit and has_letter) or (has_sign and has_case) or _is_two_words(value)
    if not (has_digit and has_letter):
        return False
    if strength == "prose":
        return has_case or has_sign or "-" in value or value.isalnum()
    return has_case or has_sign or value.count("-") > 1


def _stands_for_another(value: str) -> bool:
    """Say whether a value is a reference, a placeholder, a name in code, a method or an amount."""
    if (
        _rx(formats.REFERENCE).search(value)
        or _rx(formats.PLACEHOLDER).search(value)
        or _rx(formats.HASH).fullmatch(value)
    ):
        return True
    if value[0] in "$%{[(&*-<@" or "()" in value or "${" in value or "://" in value:
        return True
    if (
        _rx(_METHODS).fullmatch(value)
        or _rx(_NUMBERED).fullmatch(value)
        or _rx(_NAME).fullmatch(value)
    ):
        return True
    words = re.split(r"[-_.]|(?<=[a-z])(?=[A-Z])", value)
    return len(words) > 1 and any(
        _rx(_OF_CODE).fullmatch(word) or word.lower().startswith("pass") for word in words
    )


# -- mnemonics: twelve to twenty-four words of BIP-39, which are three to eight letters long

_STOP = frozenset("the and for are not but from has was its were been had who how why too".split())
_PHRASE = r"(?<![\w'’-])[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,24}(?![\w'’-])"
_SPOKEN_OF = ("mnemonic", "seed", "recovery", "wallet", "phrase", "bip39", "bip-39")
_COUNTS = (12, 15, 18, 21, 24)


def mnemonics(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of word lists that open a wallet.

    Such a list is named as one, or it stands alone on a line and is not a sentence.
    """
    if text.count(" ") < _COUNTS[0] - 1:
        return
    at = 0
    for line in text.split("\n"):
        may_list = line.count(" ") + line.count(",") >= _COUNTS[0] - 1
        for match in _rx(_PHRASE).finditer(line) if may_list else ():
            bare = line.strip(" \t\"'`.")
            spoken = any(word in line.lower() for word in _SPOKEN_OF)
            words = match[0].replace(",", " ").split()
            skipped = _announcing(words) if spoken else 0
            listed = words[skipped:]
            if len(listed) in _COUNTS and _STOP.isdisjoint(listed) and (spoken or match[0] == bare):
                start = match.start() + (
                    match[0].index(listed[0], len(" ".join(words[:skipped]))) if skipped else 0
                )
                yield at + start, at + match.end()
        at += len(line) + 1


def _announcing(words: list[str]) -> int:
    """Return how many words at the beginning of a list only say what it is."""
    for number, word in enumerate(words[:8]):
        if word in _SPOKEN_OF or word in {"words", "phrase", "are", "wallet"}:
            continue
        return number
    return 0
