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


def _named_once(
    context: click.Context, option: click.Parameter, value: bool, other: str | None, what: str
) -> None:
    """Put what a flag names into the parameter `scope`; two that differ are a usage error."""
    name = str(option.name).removeprefix("to_")
    if not value:
        context.params.setdefault("scope", other)
        return
    if "scope" in context.params:  # options that were given come first, in the order of the line
        raise click.UsageError(
            f"--{context.params['scope']} and --{name} name two {what}: give one of them."
        )
    context.params["scope"] = name


def scope_flags(
    *flags: tuple[str, str], default: str | None = "shared", what: str = "stores"
) -> Callable[[F], F]:
    """Add flags of which one may be given, from (name, help) each: the parameter `scope`."""

    def add(command: F) -> F:
        for name, text in reversed(flags):
            command = click.option(
                f"--{name}",
                f"to_{name}",
                is_flag=True,
                expose_value=False,
                callback=lambda ctx, flag, value: _named_once(ctx, flag, value, default, what),
                help=text,
            )(command)
        return command

    return add


def scope_options(command: F) -> F:
    """Add `--shared`, `--private` and `--user`: which store to write."""
    return scope_flags(
        ("shared", "The shared store (default)."),
        ("private", "This repository's private store, never pushed by git mem."),
        ("user", "Your own store, for every project."),
    )(command)


def fact_scope_options(command: F) -> F:
    """Add the flags of `scope_options` for a fact; without one, `App.store_of_facts` says where."""
    return scope_flags(
        ("shared", "The shared store (default; for agents as the setting share says)."),
        ("private", "This repository's private store, never pushed by git mem."),
        ("user", "Your own store, for every project."),
        default=None,
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


def first_step(app: App) -> str:
    """Return what to do where there is no memory yet."""
    return app.unfetched_hint() or "Remember something with: git mem add 'title'"


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
