"""A repository's own table of workflows: read, checked, joined with the one that ships.

Nothing in it is executed; names are words, texts are short.
"""

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from gitmem.base import documents
from gitmem.base.regular_files import read_regular
from gitmem.errors import InvalidRecord
from gitmem.repo.location import Home
from gitmem.services.work import workflow_table
from gitmem.state.workflow import WorkflowTable, normal
from gitmem.text import safe_yaml

NAME = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
COMMAND = re.compile(r"[a-z][a-z0-9]*(?:[_:-][a-z0-9]+)*(?: [^\x00-\x1f\x7f<>]{1,120})?")
MOST = 200  # workflows, transitions of one, tasks
NEXT = 10
NESTED = 20  # levels of a file
HINT = f"See: git mem session workflows --help, and {documents.page('work.md')}"


def load(home: Home, root: str) -> tuple[WorkflowTable, str]:
    """Return the table of a work tree, and the path of the repository's part of it.

    The path is '' if there is no such part. Raises InvalidRecord. What is
    compiled is kept for hooks.
    """
    path = workflow_table.own_file(root)
    base = workflow_table.preset(root)
    if not path:
        return WorkflowTable(base), ""
    table, fresh = workflow_table.quick(home, root)
    if fresh:
        return table, path
    data = joined(base, parse(path))
    workflow_table.keep(home, root, path, base, data)
    return WorkflowTable(data), path


def parse(path: str) -> dict[str, Any]:
    """Return a repository's table as its file has it, checked.

    Raises InvalidRecord, which names the place.
    """
    where = f"{workflow_table.FOLDER}/{os.path.basename(path)}"
    if os.path.getsize(path) > workflow_table.SIZE:
        raise InvalidRecord(f"{where} has more than {workflow_table.SIZE >> 10} KiB.", HINT)
    raw = read_regular(path, workflow_table.SIZE)
    try:
        text = raw.decode("utf-8")
        data = json.loads(text) if path.endswith(".json") else _yaml(text)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InvalidRecord(
            f"{where} cannot be read: {' '.join(str(error).split())[:200]}", HINT
        ) from error
    try:
        return checked(data)
    except ValueError as error:
        raise InvalidRecord(f"{where}: {error}", HINT) from error


def _yaml(text: str) -> Any:
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        safe_yaml.check(text, loader, NESTED)
        return yaml.load(text, Loader=loader)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def checked(data: Any) -> dict[str, Any]:
    """Return a table of our own making from what a file holds.

    Raises ValueError with the place and what is wrong there.
    """
    if data is None:
        return {"replace": False, "workflows": {}, "tasks": []}
    _keys(data, "the file", {"format", "replace", "workflows", "tasks"})
    if data.get("format", 1) != 1:
        raise ValueError("format is not 1: it was written for a newer git mem")
    if not isinstance(data.get("replace", False), bool):
        raise ValueError("replace is neither true nor false")
    return {
        "replace": data.get("replace", False),
        "workflows": _workflows(data.get("workflows") or {}),
        "tasks": _tasks(data.get("tasks") or []),
    }


def _workflows(given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping) or len(given) > MOST:
        raise ValueError(f"workflows is not a map of at most {MOST} names")
    return {
        _name(name, "a workflow's name"): None if flow is None else _flow(f"workflows.{name}", flow)
        for name, flow in given.items()
    }


def _tasks(given: Any) -> list[Any]:
    """Return the rows of tasks, which are given as a list or by their names."""
    if isinstance(given, Mapping):
        given = [
            {"task": key, **(row if isinstance(row, Mapping) else {"workflow": None})}
            for key, row in given.items()
        ]
    if not isinstance(given, list) or len(given) > MOST:
        raise ValueError(f"tasks is not a list of at most {MOST} rows")
    return [_task(f"tasks[{n}]", row) for n, row in enumerate(given)]


def _keys(value: Any, where: str, allowed: set[str]) -> None:
    if not isinstance(value, Mapping):
        raise ValueError(f"{where} is not a map")
    unknown = sorted(str(key) for key in value if key not in allowed)
    if unknown:
        raise ValueError(
            f"{where} has '{unknown[0][:60]}', which is not known; it may have "
            f"{', '.join(sorted(allowed))}"
        )


def _name(value: Any, where: str) -> str:
    if not isinstance(value, str) or len(value) > 64 or not NAME.fullmatch(value):
        raise ValueError(f"{where} is '{str(value)[:60]}': write small letters, digits, - and _")
    return value


def _command(value: Any, where: str) -> str:
    text = (
        " ".join(value.strip().split()).removeprefix("*").removeprefix("/")
        if isinstance(value, str)
        else ""
    )
    if not COMMAND.fullmatch(text):
        raise ValueError(
            f"{where} is '{str(value)[:60]}': write a command such as review-qa or 'git commit'"
        )
    return text


def _flow(where: str, flow: Any) -> dict[str, Any]:
    if isinstance(flow, list):
        flow = {"transitions": flow}
    _keys(flow, where, {"threshold", "transitions"})
    threshold = flow.get("threshold", 2)
    if not isinstance(threshold, int) or isinstance(threshold, bool) or not 1 <= threshold <= 10:
        raise ValueError(f"{where}.threshold is not a number from 1 to 10")
    rows = flow.get("transitions")
    if not isinstance(rows, list) or not rows or len(rows) > MOST:
        raise ValueError(f"{where}.transitions is not a list of 1 to {MOST} rows")
    return {
        "threshold": threshold,
        "transitions": [
            _transition(f"{where}.transitions[{n}]", row) for n, row in enumerate(rows)
        ],
    }


def _transition(where: str, row: Any) -> dict[str, Any]:
    _keys(row, where, {"state", "trigger", "next"})
    following = row.get("next") or []
    following = [following] if isinstance(following, str) else following
    if not isinstance(following, list) or len(following) > NEXT:
        raise ValueError(f"{where}.next is not a list of at most {NEXT} commands")
    return {
        "state": _name(row.get("state"), f"{where}.state"),
        "trigger": _command(row.get("trigger"), f"{where}.trigger"),
        "next": [_command(command, f"{where}.next[{n}]") for n, command in enumerate(following)],
    }


def _task(where: str, row: Any) -> dict[str, str]:
    _keys(row, where, {"task", "workflow", "state"})
    return {
        "task": _command(row.get("task"), f"{where}.task"),
        "workflow": _name(row.get("workflow"), f"{where}.workflow"),
        "state": _name(row.get("state"), f"{where}.state"),
    }


def joined(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a preset combined with a repository's table.

    The repository's rows come first. Its workflow replaces one of the same name, and null removes
    one.

    With `replace`, nothing that ships is left. Raises InvalidRecord for a task whose workflow is
    not there.
    """
    flows = {} if own["replace"] else dict(base["workflows"])
    mine = {name: flow for name, flow in own["workflows"].items() if flow is not None}
    kept = {
        name: mine.get(name, flow)
        for name, flow in flows.items()
        if own["workflows"].get(name, flow) is not None
    }
    flows = {**{name: flow for name, flow in mine.items() if name not in kept}, **kept}
    # what the repository says of a command, as a task or as a trigger, goes before what ships
    named = {row["task"] for row in own["tasks"]} | {
        normal(row["trigger"]) for flow in mine.values() for row in flow["transitions"]
    }
    old = (
        []
        if own["replace"]
        else [row for row in base["tasks"] if row["task"] not in named and row["workflow"] in flows]
    )
    lost = [row for row in own["tasks"] if row["workflow"] not in flows]
    if lost:
        raise InvalidRecord(
            f"{workflow_table.FOLDER}: the task '{lost[0]['task']}' names the workflow "
            f"'{lost[0]['workflow']}', which is not there.",
            HINT,
        )
    return {"workflows": flows, "tasks": [*own["tasks"], *old]}
