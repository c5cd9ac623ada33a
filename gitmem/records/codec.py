"""Record <-> bytes: YAML front matter, `# Title`, Markdown.

Canonical bytes are a small subset of YAML: one key a line, a value either a plain word or JSON,
lists of objects one object a line. They are written, and read back, without a YAML library (0.03 ms
against 0.5 ms); anything else that is YAML (a hand-edited file) is read by PyYAML's safe loader.
"""

import json
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from gitmem.errors import InvalidRecord
from gitmem.records.record import SCHEMA, Record, canonical, kind_of

SIZE_LIMIT = 64 * 1024
LARGE_LIMIT = 256 * 1024
DEPTH_LIMIT = 14

# Plain scalars that every YAML reader takes for the same text: no indicator, no number, no boolean.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./@+<>() -]*[A-Za-z0-9_./@+<>)-]|[A-Za-z]")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_-]{0,63}):(?: (.+))?")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,18})(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?")
# What PyYAML refuses or folds inside a double-quoted scalar, though JSON allows it.
_ESCAPE = re.compile("[\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def limit(kind: str) -> int:
    """Return how many bytes a record of a kind may have."""
    return LARGE_LIMIT if kind == "work" else SIZE_LIMIT


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return (
        _ESCAPE.sub(lambda m: f"\\u{ord(m.group()):04x}", text)
        if not text.isascii() or "\x7f" in text
        else text
    )


def _scalar(value: Any) -> str:
    if isinstance(value, str) and (
        (_PLAIN.fullmatch(value) and value.lower() not in _WORDS) or _TIME.fullmatch(value)
    ):
        return value
    return _json(value)


def encode(record: Record) -> bytes:
    """Return a record's canonical bytes; raises InvalidRecord when it is not valid or too large."""
    data = encode_canonical(canonical(record))
    if len(data) > limit(record.kind):
        raise InvalidRecord(
            f"the record has {len(data):,} bytes; a {record.kind} may have {limit(record.kind):,}.",
            "Shorten it, or split it into several that link to each other.",
        )
    return data


def encode_canonical(record: Record) -> bytes:
    """Return the bytes of a record that is canonical already.

    Such a record was made by `make`, `canonical` or `decode`.
    """
    lines = ["---", f"id: {record.id}", f"kind: {record.kind}"]
    schema = SCHEMA[record.kind]
    fields = record.fields
    for key in [k for k in schema if k in fields] + sorted(k for k in fields if k not in schema):
        value = fields[key]
        if isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
            lines.append(f"{key}:")
            lines += [f"  - {_json(v)}" for v in value]
        else:
            lines.append(f"{key}: {_scalar(value)}")
    lines += ["---", f"# {record.title}", ""]
    text = "\n".join(lines)
    return (text + ("\n" + record.body if record.body else "")).encode()


def decode(data: bytes, max_bytes: int | None = None) -> Record:
    """Return the record of a file's bytes, in canonical form.

    Raises InvalidRecord, saying what is wrong.
    """
    if len(data) > (max_bytes or LARGE_LIMIT):
        raise InvalidRecord(f"the file has {len(data):,} bytes, more than a record may have.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRecord(f"the file is not UTF-8 (byte {error.start}).") from error
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if not text.startswith("---\n"):
        raise InvalidRecord("the file does not start with front matter ('---').")
    end = text.find("\n---\n", 3)
    if end < 0:
        if not text.endswith("\n---"):
            raise InvalidRecord("the front matter does not end ('---').")
        end = len(text) - 4
    fields = _front(text[4 : end + 1])
    title, body = _split(text[end + 5 :], fields)
    id, kind = fields.pop("id", None), fields.pop("kind", None)
    if not isinstance(id, str) or not isinstance(kind, str):
        raise InvalidRecord("the front matter lacks an id or a kind.")
    record = canonical(Record(id, kind, title, body, MappingProxyType(fields)))
    most = limit(kind)
    # hand-written YAML can be shorter than its canonical form, never by a factor of eight: `{a,b}`
    # is {"a": null, "b": null}
    if len(data) > most or (len(data) * 8 > most and len(encode_canonical(record)) > most):
        raise InvalidRecord(f"the file has {len(data):,} bytes, more than a {kind} may have.")
    return record


def _split(text: str, fields: dict[str, Any]) -> tuple[str, str]:
    """Return title and body: the first heading, else the front matter's `title`."""
    rest = text.lstrip("\n")
    first, _, body = rest.partition("\n")
    if first.startswith("# "):
        fields.pop("title", None)
        return first[2:], body
    title = fields.pop("title", None)
    if isinstance(title, str) and title.strip():
        return title, rest
    raise InvalidRecord("the file has no title ('# Title' after the front matter).")


def _front(text: str) -> dict[str, Any]:
    fields = _fast(text)
    return front_fields(text) if fields is None else fields


def _fast(text: str) -> dict[str, Any] | None:
    """Return the fields of canonical front matter; None when it is not canonical."""
    fields: dict[str, Any] = {}
    items: list[Any] | None = None
    for line in filter(None, text.split("\n")):
        if items is not None and line.startswith("  - {"):
            value = _fast_json(line[4:])
            if not isinstance(value, dict):
                return None
            items.append(value)
            continue
        match = _LINE.fullmatch(line)
        if match is None or match[1] in fields:
            return None
        items = [] if match[2] is None else None
        fields[match[1]] = items if match[2] is None else _fast_value(match[2])
    return None if any(value is None or value == [] for value in fields.values()) else fields


def _fast_value(raw: str) -> Any:
    """Return the value of a canonical line; None when it is not canonical."""
    if raw[0] in '"[{':
        return _fast_json(raw)
    if raw in {"true", "false"}:
        return raw == "true"
    if _TIME.fullmatch(raw):
        return raw
    if _NUMBER.fullmatch(raw):
        return float(raw) if "." in raw or "e" in raw else int(raw)
    return raw if _PLAIN.fullmatch(raw) and raw.lower() not in _WORDS else None


def _fast_json(raw: str) -> Any:
    # a flow value that is not a strict JSON is YAML's business; so is one that nests deeply
    if raw.count("[") + raw.count("{") > 2000:
        return None
    try:
        return json.loads(raw, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(_: str) -> Any:
    raise ValueError


def front_fields(text: str) -> dict[str, Any]:
    """Return the fields of any YAML front matter.

    It may have no anchors and no tags, its depth is bounded, and its types are JSON's only.
    """
    import yaml

    if re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text):
        raise InvalidRecord("the front matter holds control characters.")
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_events(yaml.parse(text, Loader=base))
        loaded = yaml.load(text, Loader=_core_loader(base))  # noqa: S506 - a SafeLoader with fewer types
    except InvalidRecord:
        raise
    except (yaml.YAMLError, ValueError, RecursionError, TypeError, OverflowError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = f" (line {line + 2})" if line is not None else ""
        raise InvalidRecord(f"the front matter is not valid YAML{where}.") from error
    if loaded is None:
        loaded = {}
    if not isinstance(loaded, Mapping) or not all(isinstance(k, str) for k in loaded):
        raise InvalidRecord("the front matter is not a list of 'key: value' lines.")
    return {k: v for k, v in loaded.items() if v is not None}


def _check_events(events: Iterable[Any]) -> None:
    """Raise InvalidRecord for what of YAML a front matter may not have."""
    import yaml

    depth = 0
    for event in events:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise InvalidRecord("the front matter uses YAML anchors or aliases.")
        if getattr(event, "tag", None):
            raise InvalidRecord("the front matter uses YAML tags.")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > DEPTH_LIMIT:
            raise InvalidRecord("the front matter is nested too deeply.")


def _core_loader(base: Any) -> Any:
    """Return a safe loader that knows YAML 1.2's core types only.

    It takes no dates, no `yes`, no octal and no duplicate keys.
    """
    global _LOADER
    if _LOADER is None:

        class Core(base):  # type: ignore[misc]
            def construct_mapping(self, node: Any, deep: bool = False) -> Any:
                keys = [k.value for k, _ in node.value]
                if len(keys) != len(set(map(str, keys))):
                    raise InvalidRecord("the front matter gives one key twice.")
                return super().construct_mapping(node, deep)

        Core.yaml_implicit_resolvers = {}
        for tag, pattern, first in (
            ("null", r"~|null|Null|NULL|", "~nN\0"),
            ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
            ("int", r"[-+]?(?:0|[1-9][0-9]{0,18})", "-+0123456789"),
            (
                "float",
                r"[-+]?(?:0|[1-9][0-9]{0,18})(?:\.[0-9]{0,20})?(?:[eE][-+]?[0-9]{1,3})?",
                "-+0123456789",
            ),
        ):
            Core.add_implicit_resolver(
                f"tag:yaml.org,2002:{tag}",
                re.compile(f"(?:{pattern})\\Z"),
                list(first.replace("\0", "")) + ([""] if "\0" in first else []),
            )
        _LOADER = Core
    return _LOADER


_LOADER: Any = None


def sane(data: bytes, path_id: str | None = None) -> Record | str:
    """Return the record of a file, or one sentence that says why it is damaged; never raises."""
    try:
        record = decode(data)
    except InvalidRecord as error:
        return str(error)
    if path_id is not None and record.id != path_id:
        return f"the file holds {record.id}, which belongs at another path."
    if kind_of(record.id) is None:
        return "the record has no valid id."
    return record
