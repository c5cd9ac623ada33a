"""What a command line says when it fails: text for people, one line of JSON with `--json`.

The line has `code` (the kind of failure, a stable word), `message` and `hint` (what to do next, may
be empty). Both go to standard error.
"""

import contextlib
import json
import os
import sys
from collections.abc import Sequence

import click

from gitmem.base.failures import SYSTEM, CommandFailure, of_exception

USAGE, INTERRUPTED = "usage", "interrupted"


def report(error: BaseException, args: Sequence[str]) -> int:
    """Write why a command line failed to standard error; return its exit code."""
    failure = failure_of(error, args)
    if isinstance(error, (OSError, MemoryError)):  # nothing is left for Python to write at the end
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    try:
        click.echo("\n".join(_lines(failure, as_json=wants_json(args))), err=True)
    except (OSError, MemoryError, ImportError):  # there is no room for more than the bare words
        with contextlib.suppress(OSError):
            os.write(2, f"error: {failure.message}\nhint: {failure.hint}\n".encode())
    return failure.exit_code


def wants_json(args: Sequence[str]) -> bool:
    """Return whether a command line asks for JSON; after `--` words are no options."""
    end = args.index("--") if "--" in args else len(args)
    return "--json" in args[:end]


def _lines(failure: CommandFailure, *, as_json: bool) -> list[str]:
    if as_json:
        row = {"code": failure.code, "message": failure.message, "hint": failure.hint}
        return [json.dumps(row, ensure_ascii=False)]
    from gitmem.cli.terminal import fitted, plain

    if failure.code == INTERRUPTED:
        return [failure.message]
    if failure.code == USAGE:
        usage = [failure.usage, failure.hint, ""] if failure.usage else []
        return [*usage, *fitted(f"Error: {plain(failure.message)}", sys.stderr)]
    lines = [f"error: {plain(failure.message)}"]
    if failure.hint:
        lines.append(f"hint: {plain(failure.hint)}")
    return [part for line in lines for part in fitted(line, sys.stderr)]


def failure_of(error: BaseException, args: Sequence[str]) -> CommandFailure:
    """Return what an exception means for the user."""
    if isinstance(error, click.UsageError):
        return _usage(error)
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        return CommandFailure(INTERRUPTED, "interrupted.", exit_code=130)
    if isinstance(error, click.ClickException):
        return CommandFailure(SYSTEM, error.format_message())
    return of_exception(error, f"git mem {' '.join(args[:1])}")


def _usage(error: click.UsageError) -> CommandFailure:
    usage = hint = ""
    if error.ctx is not None:
        usage = error.ctx.get_usage()
        hint = (
            f"Try '{error.ctx.command_path} {max(error.ctx.help_option_names, key=len)}' for help."
        )
        if isinstance(error, click.NoSuchOption) and _takes_text(error.ctx.command):
            hint += (
                f" A text that begins with '-' goes after '--': {error.ctx.command_path} -- TEXT"
            )
    return CommandFailure(USAGE, error.format_message(), hint, 2, usage)


def _takes_text(command: click.Command) -> bool:
    """Return whether words of any number may be given to a command."""
    return any(isinstance(param, click.Argument) and param.nargs < 0 for param in command.params)
