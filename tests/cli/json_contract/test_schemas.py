"""The schemas of all commands speak one language: each name has one meaning."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator

from gitmem.cli.commands import VARIANTS
from gitmem.cli.main import cli
from tests.cli.json_contract.cases import CASES, TRAPS
from tests.json_output import SCHEMAS, schema_path

Schema = dict[str, Any]
SHARED = {"common.json", "failure.json"}
# these have the names of the record format, docs/format.md
FORMAT = {"record", "anchor", "event_mark", "fact_source", "answer", "session_fact", "completion"}
BANNED = {
    *("by", "date", "time", "timestamp", "when", "who", "what", "why", "where", "file", "lines"),
    *("first", "last", "told", "known", "found", "said", "adrift", "oid", "tip", "seconds", "ms"),
    *("bytes", "worktree", "root", "email", "content", "result", "from", "to", "one", "two"),
}


def _files() -> dict[str, Schema]:
    return {path.name: json.loads(path.read_text("utf-8")) for path in SCHEMAS.glob("*.json")}


FILES = _files()


def _commands(group: click.Group, before: str = "") -> Iterator[str]:
    """Yield the commands that take `--json`, each with the group that it is in."""
    context = click.Context(group, **cli.context_settings)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _commands(command, f"{before}{name} ")
        elif command is not None and any("--json" in p.opts for p in command.params):
            yield before + name


def _options(variant: str) -> set[str]:
    command = cli.get_command(click.Context(cli, **cli.context_settings), variant)
    assert command is not None, variant
    return {option for parameter in command.params for option in parameter.opts}


def _properties(schema: Any, path: str) -> Iterator[tuple[str, str, Schema]]:
    """Yield (where, name, schema) of all properties but those of the record format."""
    if isinstance(schema, list):
        for part in schema:
            yield from _properties(part, path)
    if not isinstance(schema, dict):
        return
    yield from ((path, name, part) for name, part in schema.get("properties", {}).items())
    for key, part in schema.items():
        if key in {"properties", "$defs"}:
            for name in part.keys() - FORMAT:
                yield from _properties(part[name], f"{path}.{name}")
        else:
            yield from _properties(part, path)


def _named() -> Iterator[tuple[str, str, Schema]]:
    for file, schema in sorted(FILES.items()):
        yield from _properties(schema, file)


def _resolved(schema: Mapping[str, Any], file: str) -> tuple[Mapping[str, Any], str]:
    """Return what a reference means, and the file that it is in."""
    while "$ref" in schema:
        other, _, pointer = schema["$ref"].partition("#")
        file = other or file
        schema = FILES[file]
        for part in pointer.strip("/").split("/") if pointer else ():
            schema = schema[part]
    return schema, file


def _type(schema: Mapping[str, Any], file: str) -> str:
    """Return the type of a property in words; whether it may be null makes no difference."""
    schema, file = _resolved(schema, file)
    for key in ("anyOf", "oneOf"):
        kinds = {_type(part, file) for part in schema.get(key, ())} - {""}
        if kinds:
            return " or ".join(sorted(kinds))
    if "allOf" in schema or "properties" in schema:
        return "object"
    if "const" in schema or "enum" in schema:
        return "string"
    types = schema.get("type", "any")
    names = sorted(set([types] if isinstance(types, str) else types) - {"null"})
    if names == ["array"]:
        return f"list of {_type(schema.get('items', {}), file)}"
    return " or ".join([*names, *([schema["format"]] if "format" in schema else [])])


def test_every_command_has_a_schema_and_a_case() -> None:
    """No schema and no case is left over either."""
    assert isinstance(cli, click.Group)
    variants = [name for name in VARIANTS if "--json" in _options(name)]
    commands = {*_commands(cli), *variants}

    assert {schema_path(command).name for command in commands} == set(FILES) - SHARED
    for command in commands:
        assert any(f"{name} ".startswith(f"{command} ") for name in (*CASES, *TRAPS)), command


@pytest.mark.parametrize("file", sorted(FILES))
def test_schema_is_valid(file: str) -> None:
    """It is JSON Schema, and says which output it is about."""
    schema = FILES[file]
    Draft202012Validator.check_schema(schema)

    assert schema["$id"] == file
    assert schema["title"]
    if file not in SHARED:
        command = schema["properties"]["command"]["const"]
        assert schema_path(command).name == file
        assert (schema["required"], schema["additionalProperties"]) == (
            ["command", "format", "data"],
            False,
        )


def test_the_same_name_has_the_same_type() -> None:
    """Across all commands and shapes."""
    types: dict[str, dict[str, list[str]]] = {}
    for path, name, schema in _named():
        if path.endswith(".json") and name in {"command", "data", "format"}:
            continue
        file = path.split(".json")[0] + ".json"
        types.setdefault(name, {}).setdefault(_type(schema, file), []).append(path)

    assert [name for name, found in types.items() if len(found) > 1] == []


def test_names_are_plain() -> None:
    """No word that means another thing elsewhere, no private word."""
    assert {(path, name) for path, name, _ in _named() if name in BANNED} == set()
    assert [name for _, name, _ in _named() if not name.isascii() or name != name.lower()] == []


def test_names_of_times_lists_and_durations_say_so() -> None:
    """Times are RFC 3339, durations end in `_seconds`, lists have names in the plural."""
    times = {"at", "created", "updated", "started", "ended", "completed"}
    for path, name, schema in _named():
        file = path.split(".json")[0] + ".json"
        kind = _type(schema, file)
        if name in times or name.endswith(("_seen", "_until", "_since")):
            assert kind in {"string or date-time", "string"}, (path, name, kind)
        if kind.startswith("list of") and name not in {"data", "undone", "made"}:
            assert name.endswith("s") or name in {"evidence", "loaders"}, (path, name)
        if name.endswith("_seconds"):
            assert kind == "number", (path, name)
        if name.endswith(("_bytes", "_count")):
            assert kind == "integer", (path, name)


def test_every_shared_field_is_described_and_used() -> None:
    """`common.json` is the glossary."""
    text = "".join(json.dumps(schema) for schema in FILES.values())
    for name, schema in FILES["common.json"]["$defs"].items():
        assert schema.get("description"), name
        assert f'#/$defs/{name}"' in text, name
