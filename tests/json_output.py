"""What `--json` prints, checked against the schema of its command."""

import functools
import json
import re
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator
from referencing import Registry, Resource

SCHEMAS = Path(__file__).parents[1] / "gitmem" / "cli" / "schemas"


def schema_path(command: str) -> Path:
    """Return the schema file of a command such as 'gotcha list' or 'forget --purge'."""
    return SCHEMAS / f"{re.sub('[ -]+', '-', command)}.json"


@functools.cache
def registry() -> "Registry[Any]":
    """Return all schema files, by name."""
    return Registry().with_resources(
        (path.name, Resource.from_contents(json.loads(path.read_text("utf-8"))))
        for path in SCHEMAS.glob("*.json")
    )


@functools.cache
def validator(command: str) -> Validator:
    """Return what checks the output of a command."""
    schema = json.loads(schema_path(command).read_text("utf-8"))
    return Draft202012Validator(
        schema, registry=registry(), format_checker=Draft202012Validator.FORMAT_CHECKER
    )


def _rejected(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def check_output(output: str | bytes) -> dict[str, Any]:
    """Return the envelope that `--json` printed; it fits the schema of its command."""
    found: dict[str, Any] = json.loads(output, parse_constant=_rejected)
    assert list(found) == ["command", "format", "data"], found
    assert found["format"] == 1
    if errors := list(validator(found["command"]).iter_errors(found)):
        faults = [f"{error.json_path}: {error.message[:300]}" for error in errors[:5]]
        raise AssertionError(f"git mem {found['command']} --json: {faults}")
    return found


def data_of(output: str | bytes) -> Any:
    """Return the data that `--json` printed."""
    return check_output(output)["data"]
