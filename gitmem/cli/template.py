"""The `--format` option: a text with names of fields in braces, printed for each record."""

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import click

from gitmem.cli.terminal import plain

SCHEMAS = os.path.join(os.path.dirname(__file__), "schemas")
_NAME = re.compile(r"\{(\w+)\}")


def template_option(schema: str, example: str) -> Callable[[Any], Any]:
    """Return the option for a command whose JSON has this schema.

    A name that is no field is a usage error.
    """
    return click.option(
        "--format",
        "template",
        metavar="TEXT",
        help=f"Print '{example}' for each.",
        callback=partial(_checked, schema),
    )


def _checked(
    schema: str, _context: click.Context, _option: click.Parameter, template: str | None
) -> str | None:
    if template is not None:
        check_names(template, fields_of(schema))
    return template


def check_names(template: str, fields: Collection[str]) -> None:
    """Raise UsageError for a name in a template that is no field."""
    for name in names(template):
        if name not in fields:
            raise click.UsageError(
                f"--format: there is no field '{name}'. The fields: {', '.join(sorted(fields))}."
            )


def filled(template: str, rows: Sequence[Mapping[str, Any]], schema: str) -> Iterator[str]:
    """Return rows by a template, which may also name what other versions wrote into them.

    Raises UsageError for a name that is no field.
    """
    check_names(template, fields_of(schema).union(*rows))
    return (formatted(template, row) for row in rows)


def fields_of(schema: str) -> set[str]:
    """Return the names of the fields that each item of a command's JSON may have."""
    items = _schema(schema)["properties"]["data"]["items"]
    return set(_properties(items, _schema("common")["$defs"]))


def _schema(name: str) -> dict[str, Any]:
    with open(os.path.join(SCHEMAS, f"{name}.json"), encoding="utf-8") as file:
        loaded: dict[str, Any] = json.load(file)
    return loaded


def _properties(part: Mapping[str, Any], shared: Mapping[str, Any]) -> Iterable[str]:
    """Yield the properties of a part of a schema, those of the parts that it names too."""
    yield from part.get("properties", ())
    for named in (part, *part.get("allOf", ())):
        if "$ref" in named:
            yield from _properties(shared[str(named["$ref"]).rpartition("/")[2]], shared)


def formatted(template: str, row: Mapping[str, Any]) -> str:
    """Return a row by a template: `{id} {title}`; `\\t` and `\\n` as in git.

    A field without a value gives nothing.
    """
    text = template.replace("\\t", "\t").replace("\\n", "\n")
    return _NAME.sub(lambda match: _text(row.get(match[1])), text)


def _text(value: object) -> str:
    if value is None:
        return ""
    return plain(", ".join(map(str, value)) if isinstance(value, list) else str(value))


def names(template: str) -> tuple[str, ...]:
    """Return the names in a template."""
    return tuple(_NAME.findall(template))
