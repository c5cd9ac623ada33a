"""Checks of YAML from other people's files, as events, before anything is built of it.

YAML that nests deeply would end the process, and aliases make large data of a small text.
"""

from typing import Any


def check(text: str, loader: Any, nested: int, *, simple: bool = True) -> None:
    """Raise ValueError for YAML that nests deeper than `nested`.

    If it has to be `simple`, anchors, aliases and tags raise it too.
    """
    import yaml

    depth = 0
    try:
        for event in yaml.parse(text, Loader=loader):
            line = getattr(event.start_mark, "line", 0) + 1
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(
                event, yaml.CollectionEndEvent
            )
            if depth > nested:  # libyaml builds on the C stack
                raise ValueError(f"line {line}: it is nested too deeply")
            if simple and (
                isinstance(event, yaml.AliasEvent)
                or getattr(event, "anchor", None)
                or getattr(event, "tag", None)
            ):
                raise ValueError(f"line {line}: anchors, aliases and tags are not taken")
    except yaml.MarkedYAMLError as error:
        # libyaml of PyYAML 6.0.4 and later has a limit of its own
        if "nesting depth" not in str(error.problem):
            raise
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ValueError(f"line {line}: it is nested too deeply") from error


def load_yaml(text: str) -> Any:
    """Return what a YAML text of others says; None when it is not plain YAML."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        check(text, loader, 16)
        return yaml.load(text, Loader=loader)  # noqa: S506 - a safe one
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
