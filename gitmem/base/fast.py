"""JSON, SQLite and regular expressions for hooks.

The module uses the standard library's C parts, without what its Python modules import beside them.

`json` imports `re`, `sqlite3` imports `datetime`: together 7 ms, half of what a bare Python takes
to start. A Python without these C parts gets the modules themselves. The classes are the same in
either case.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3 as sqlite
    from hashlib import _Hash
    from typing import Any

__all__ = ["Lazy", "dumps", "loads", "new_hash", "sqlite"]
_HASHES = {"sha1": ("_sha1",), "sha256": ("_sha256", "_sha2")}  # built-in modules, by Python


def __getattr__(name: str) -> "Any":
    """Return SQLite's module, loaded when it is first asked for: many hooks have no use for it."""
    if name != "sqlite":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import _sqlite3 as module
    except ImportError:
        import sqlite3 as module  # type: ignore[no-redef]
    globals()[name] = module
    return module


def new_hash(algorithm: str, data: bytes = b"") -> "_Hash":
    """Return a hash object, `sha1` or `sha256`, as `hashlib` makes it.

    `hashlib` loads OpenSSL, which takes longer than to hash a record.
    """
    for module in _HASHES[algorithm]:
        try:
            made: _Hash = getattr(__import__(module), algorithm)(data)
            return made
        except ImportError:
            continue
    import hashlib

    return hashlib.new(algorithm, data, usedforsecurity=False)


class _Rules:
    """What the C scanner asks for: those of `json.loads` without options."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = {
        "-Infinity": float("-inf"),
        "Infinity": float("inf"),
        "NaN": float("nan"),
    }.__getitem__
    memo: "dict[str, str]" = {}  # noqa: RUF012 - the scanner's own


try:
    from _json import encode_basestring_ascii as _quoted
    from _json import make_scanner as _make_scanner

    _scan: "Any" = _make_scanner(_Rules)  # type: ignore[arg-type]
except ImportError:
    import json

    _quoted = json.encoder.encode_basestring_ascii
    _scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
_SPACE = " \t\n\r"


def loads(text: str) -> "Any":
    """Return the value of a JSON text; raises ValueError."""
    try:
        value, end = _scan(text, len(text) - len(text.lstrip(_SPACE)))
        if not text[end:].strip(_SPACE):
            return value
    # the scanner alone does not find the error that it wants to raise
    except (StopIteration, ValueError, SystemError):
        pass
    import json

    return json.loads(text)


def dumps(value: "Any") -> str:
    """Return a value as JSON in ASCII, as `json.dumps` writes it.

    Raises TypeError for what JSON has no form for.
    """
    if isinstance(value, str):
        return _quoted(value)
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int | float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError("a number that JSON has no form for")
        return repr(value)
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join([f"{_quoted(key)}: {dumps(entry)}" for key, entry in value.items()])
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join([dumps(entry) for entry in value]) + "]"
    raise TypeError(f"JSON has no form for {type(value).__name__}")


class Lazy:
    """A regular expression with the methods of a compiled one."""

    def __init__(self, text: "str | bytes", flags: int = 0) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> "Any":
        """Return a method of the compiled pattern, and keep them all."""
        import re

        expression = re.compile(self._text, self._flags)
        self.__dict__.update(
            {
                m: getattr(expression, m)
                for m in ("search", "match", "fullmatch", "sub", "split", "finditer", "findall")
            }
        )
        return self.__dict__[name]
