"""A place in the code as a person writes it: a path, lines, a symbol, a glob."""

import re
from collections.abc import Callable
from typing import Any

from gitmem.errors import UserError
from gitmem.text.globs import glob_match

__all__ = ["glob_match", "parse"]

WILD = "*?["

_SPEC = re.compile(
    r"(?P<path>[^:#]+?)(?::(?P<from>\d{1,9})(?:-(?P<to>\d{1,9}))?)?(?:#"
    r"(?P<symbol>[^\s\x00-\x1f][^\x00-\x1f]{0,199}))?"
)
_TAIL = re.compile(
    r"(?::(?P<from>\d{1,9})(?:-(?P<to>\d{1,9}))?)?(?:#"
    r"(?P<symbol>[^\s\x00-\x1f][^\x00-\x1f]{0,199}))?"
)


def parse(spec: str, exists: Callable[[str], bool] | None = None) -> dict[str, Any]:
    """Return the anchor of `path`, `path:12`, `path:12-20`, `path#Symbol` or a glob.

    Raises UserError.

    `exists` says whether a path is a file: one that is there is meant even when its name has `[`,
    `#` or `:` in it, or blanks around it.
    """
    text = _below(spec.strip())
    match = (_of_file(_below(spec), exists) or _of_file(text, exists)) if exists else None
    path, tail = match or _usual(text)
    if not text or tail is None or path.startswith("/") or ".." in path.split("/"):
        raise UserError(
            f"'{spec}' is not a place in this repository.",
            "Write path, path:12, path:12-20, path#Symbol or a glob such as 'migrations/**'.",
        )
    if match is None and any(c in path for c in WILD):
        if tail["from"] or tail["symbol"]:
            raise UserError(
                f"'{spec}' is a glob with lines or a symbol.",
                "A glob stands for whole files; leave out what follows it.",
            )
        return {"glob": path}
    out: dict[str, Any] = {"path": path.rstrip("/")}
    if tail["from"]:
        out["lines"] = _lines(spec, tail)
    if tail["symbol"]:
        out["symbol"] = tail["symbol"].strip()
    return out


def _usual(text: str) -> tuple[str, re.Match[str] | None]:
    """Return the path of a place, and what follows it, where no file says otherwise."""
    tail = _SPEC.fullmatch(text)
    return (tail["path"] if tail else ""), tail


def _lines(spec: str, tail: re.Match[str]) -> list[int]:
    first, last = int(tail["from"]), int(tail["to"] or tail["from"])
    if first < 1 or last < first:
        raise UserError(
            f"'{spec}' names no lines.", "Lines count from 1, the first before the last."
        )
    return [first, last]


def _below(text: str) -> str:
    """Return a path with `/` between its parts, without `./` in front."""
    text = text.replace("\\", "/")
    while text.startswith("./"):
        text = text[2:].lstrip("/")
    return text


def beginnings(text: str) -> list[str]:
    """Return what may be the name of a file in front of lines and a symbol, the longest first."""
    ends = [len(text), *(at for at in range(len(text) - 1, 0, -1) if text[at] in ":#")]
    return [text[:end] for end in ends[:8]]


def _of_file(text: str, exists: Callable[[str], bool]) -> tuple[str, re.Match[str]] | None:
    """Return the longest beginning that is a file, and what follows it.

    None when the usual reading needs no help.
    """
    if not any(c in text for c in f"{WILD}:#") and text == text.strip():
        return None
    for name in beginnings(text):
        tail = _TAIL.fullmatch(text, len(name))
        if tail and not name.startswith("/") and ".." not in name.split("/") and exists(name):
            return name, tail
    return None
