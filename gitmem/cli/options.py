"""Options that several commands share."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gitmem.app import App
from gitmem.records.kinds import KIND, PREFIX

if TYPE_CHECKING:
    from gitmem.store.store import Written

F = TypeVar("F", bound=Callable[..., Any])


def json_option(command: F) -> F:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def scope_options(command: F) -> F:
    """Add `--private` and `--user`: which store to write."""
    command = click.option(
        "--user", "scope", flag_value="user", help="Your own store, for every project."
    )(command)
    command = click.option(
        "--private",
        "scope",
        flag_value="private",
        help="This repository's private store, never pushed by git mem.",
    )(command)
    return click.option(
        "--shared",
        "scope",
        flag_value="shared",
        default="shared",
        help="The shared store (default).",
    )(command)


def read_scopes(command: F) -> F:
    """Add `--shared`, `--private`, `--user` as filters: which stores to read (default: all)."""
    for name, text in (
        ("user", "your own store"),
        ("private", "the private store"),
        ("shared", "the shared store"),
    ):
        command = click.option(
            f"--{name}", f"only_{name}", is_flag=True, help=f"Only {text}. Several may be named."
        )(command)
    return command


def scopes(options: dict[str, Any]) -> tuple[str, ...]:
    """Return the scopes that the filters name, and take the filters out."""
    return tuple(
        name for name in ("shared", "private", "user") if options.pop(f"only_{name}", False)
    )


def kinds(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return kinds for what the user typed: a kind, its prefix, or its plural."""
    out = []
    for value in values:
        low = value.lower()
        kind = KIND.get(low) or (
            low
            if low in PREFIX
            else low[:-1]
            if low[:-1] in PREFIX
            else {"memories": "memory"}.get(low)
        )
        if kind is None:
            raise click.BadParameter(f"'{value}' is not a kind. Kinds: {', '.join(PREFIX)}.")
        out.append(kind)
    return tuple(out)


def agents(app: App, agent: str | None) -> tuple[str, ...]:
    """Return the namespaces a reader sees: its own and global; all when it has none."""
    if agent == "all":
        return ()
    chosen = agent or app.namespace
    return () if chosen == "global" and not agent else tuple(dict.fromkeys((chosen, "global")))


def journaled(written: "Written") -> str:
    """Return what to say when a write waits in the journal."""
    return (
        " (saved in the journal: the next git mem command commits it)" if written.journaled else ""
    )


class CountedCommand(click.Command):
    """A command that takes `-3` for `-n 3`, as `git log` does."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments."""
        return super().parse_args(
            ctx, [f"-n{a[1:]}" if a[:1] == "-" and a[1:].isdecimal() else a for a in args]
        )
