"""The value that a settings file has at a key: TOML, JSON, YAML and INI. Pure."""

import configparser
import json
import posixpath
import re
from typing import Any

from gitmem.codemap.imports.files import parse_json, parse_toml
from gitmem.text.safe_yaml import load_yaml

MISSING = object()
_COMMENTS = re.compile(r"^[ \t]*(?:#|//|;).*$|^---$", re.MULTILINE)  # on lines of their own
FORMATS = {
    **dict.fromkeys((".toml", ".lock"), "toml"),
    **dict.fromkeys((".json", ".jsonc", ".json5"), "json"),
    **dict.fromkeys((".yaml", ".yml"), "yaml"),
    **dict.fromkeys((".ini", ".cfg", ".conf", ".properties"), "ini"),
}
_NAMED = {".editorconfig": "ini", ".flake8": "ini", ".coveragerc": "ini", ".npmrc": "ini"}
_INI = {".gitmodules": "ini", ".pylintrc": "ini", ".prettierrc": "json", ".babelrc": "json"}


def format_of(path: str) -> str:
    """Return the format of a settings file by its name; '' for another file."""
    name = posixpath.basename(path).lower()
    return {**_NAMED, **_INI}.get(name) or FORMATS.get(posixpath.splitext(name)[1], "")


def load_settings(path: str, text: str) -> Any:
    """Return what a settings file says, as maps and lists; None when it cannot be read."""
    how = format_of(path)
    if how and not _COMMENTS.sub("", text).strip():
        return {}  # JSON and YAML have no word for it
    match how:
        case "toml":
            return parse_toml(text)
        case "json":
            settings = parse_json(text)
            return settings if isinstance(settings, dict | list) else None
        case "yaml":
            return load_yaml(text)
        case "ini":
            return _ini(text)
    return None


def _ini(text: str) -> dict[str, dict[str, str]] | None:
    config = configparser.ConfigParser(
        interpolation=None, strict=False, default_section="", allow_no_value=True
    )
    config.optionxform = str  # type: ignore[method-assign,assignment]  # names keep their case
    try:
        config.read_string(text if text.lstrip().startswith("[") else f"[.]\n{text}")
    except (configparser.Error, ValueError):
        return None
    return {
        name: {key: value or "" for key, value in config[name].items()}
        for name in config.sections()
    }


def value_at(settings: Any, key: str) -> Any:
    """Return the value at a key such as `tool.ruff.line-length`; `MISSING` where there is none.

    A number stands for an item of a list. Of a file without sections, the name alone is the key.
    """
    parts = key.split(".")
    value = _at(settings, parts)
    if value is MISSING and isinstance(settings, dict) and set(settings) == {"."}:
        value = _at(settings["."], parts)
    return value


def _at(value: Any, parts: list[str]) -> Any:
    if not parts:
        return value
    if isinstance(value, list) and parts[0].isdecimal() and int(parts[0]) < len(value):
        return _at(value[int(parts[0])], parts[1:])
    if not isinstance(value, dict):
        return MISSING
    for end in range(len(parts), 0, -1):  # a name may have dots
        name = ".".join(parts[:end])
        inner = _at(value[name], parts[end:]) if name in value else MISSING
        if inner is not MISSING:
            return inner
    return MISSING


def as_text(value: Any) -> str:
    """Return a value of a settings file as people write it: texts bare, all else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return ""


def is_equal(value: Any, text: str) -> bool:
    """Return whether a value is what a text says: `true`, `3`, `["a"]`, or a text as it is."""
    if as_text(value).strip() == text.strip():
        return True
    try:
        return not isinstance(value, str) and bool(json.loads(text) == value)
    except (ValueError, RecursionError):
        return False
