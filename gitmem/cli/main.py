"""The command group: each command's module is loaded when it is called.

Errors become text in `failures.py`.
"""

import contextlib
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gitmem.base.deferred import defer

defer()  # before click imports them

import click  # noqa: E402

from gitmem.errors import UserError  # noqa: E402

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# command -> (module below gitmem.cli, or the whole name of one above it; one line for the
# overview; section of the overview)
COMMANDS: dict[str, tuple[str, str, str]] = {
    "init": ("setup.init", "Make the store of this repository", "Start"),
    "status": ("setup.status_config", "Show where you are, and what needs a look", "Start"),
    "doctor": ("setup.doctor", "Check everything; --fix repairs it", "Start"),
    "config": ("setup.status_config", "Show and change settings", "Start"),
    "wipe": ("setup.wipe", "Remove gitmem from this repository", "Start"),
    "model": ("setup.model", "Ask the model that reads sessions, as a test", "Start"),
    "completion": ("setup.status_config", "Print the completion script of a shell", "Start"),
    "add": ("records.add_edit", "Add a record", "Write"),
    "edit": ("records.add_edit", "Change a record in your editor or by flags", "Write"),
    "supersede": ("records.add_edit", "Replace a record by a newer one", "Write"),
    "link": ("records.status", "Link a record to others", "Write"),
    "unlink": ("records.status", "Remove links between records", "Write"),
    "pin": ("records.status", "Pin a record, so that it never decays", "Write"),
    "unpin": ("records.status", "Unpin a record", "Write"),
    "done": ("records.status", "Say that a task is done", "Write"),
    "archive": ("records.status", "Archive a record", "Write"),
    "restore": ("records.status", "Restore what was archived or forgotten", "Write"),
    "forget": ("records.status", "Delete a record", "Write"),
    "purge": ("records.purge", "Remove a secret from all of history", "Write"),
    "gotcha": ("gotchas.group", "Record, find and resolve gotchas", "Gotchas"),
    "inbox": ("inbox.command", "Confirm or reject what was captured", "Gotchas"),
    "check": ("lifecycle.check", "Find facts that are out of date", "Gotchas"),
    "consolidate": (
        "lifecycle.consolidate",
        "Collect what faded, merge what is said twice",
        "Gotchas",
    ),
    "health": ("lifecycle.health", "Show how healthy the memory is", "Gotchas"),
    "error": ("gotchas.error", "Count an error, and see what is counted", "Gotchas"),
    "show": ("records.show", "Show records", "Read"),
    "list": ("records.list", "List records", "Read"),
    "search": ("records.list", "Find records by their words", "Read"),
    "recall": ("sessions.recall", "Search this session and memory", "Read"),
    "extract": (
        "sessions.extract",
        "Find decisions, fixes and tasks in a session or a file",
        "Read",
    ),
    "graph": ("records.graph", "Show what links to what", "Read"),
    "briefing": (
        "sessions.briefing",
        "Show what is known about this project, within a budget",
        "Read",
    ),
    "page": ("interchange.page", "Print or write pages of facts", "Read"),
    "summary": ("sessions.summary", "Show what is known, section by section", "Read"),
    "code": (
        "code.code",
        "Show definitions, references, imports, what hangs on which file",
        "Code",
    ),
    "scout": ("code.scout", "Find what matters for a task: files, definitions, memories", "Code"),
    "dna": ("code.dna", "Show what a project is made of, on one page", "Code"),
    "dashboard": (
        "gitmem.dashboard.command",
        "Show the memory in a browser, or as one page in a file",
        "Read",
    ),
    "log": ("records.history", "Show the history of the store", "History"),
    "diff": ("records.history", "Compare two states of the store", "History"),
    "undo": ("records.undo", "Take back your last command", "History"),
    "redo": ("records.undo", "Do again what you took back last", "History"),
    "evolution": ("code.evolution", "Show how a file or a symbol came to be", "History"),
    "drift": ("code.drift", "Show which branches change the same code", "History"),
    "timeline": ("code.timeline", "Show what happened, in one order", "History"),
    "trends": ("code.timeline", "Show hot files, hours, errors, what was learned", "History"),
    "event": ("code.timeline", "Note what happened outside of git", "History"),
    "why": ("code.why", "Show why lines are as they are", "History"),
    "trace": ("code.trace", "Exchange who wrote which lines with other tools", "History"),
    "snapshot": ("snapshot", "Save the work in hand, and bring it back", "History"),
    "sync": ("sync", "Exchange memory with a remote", "Share"),
    "remote": ("sync", "Choose where memory is pushed to", "Share"),
    "import": ("interchange.importing", "Read what another tool remembers", "Share"),
    "export": ("interchange.exporting", "Write facts for other tools", "Share"),
    "install": ("setup.install", "Install hooks for an agent's CLI or git", "Agents"),
    "uninstall": ("setup.install", "Remove hooks", "Agents"),
    "mcp": ("setup.mcp", "Serve memory to clients that speak MCP", "Agents"),
    "session": ("sessions.group", "Start, end, list, show and hand over sessions", "Agents"),
    "work": ("work.group", "Track epics and stories", "Agents"),
    "activate": ("sessions.activate", "Print an agent's greeting", "Agents"),
    "opening": (
        "sessions.opening",
        "Decide how a session opens: greet, ask or say nothing",
        "Agents",
    ),
    "off": ("setup.hooks_on_off", "Turn hooks of agents off", "Agents"),
    "on": ("setup.hooks_on_off", "Turn hooks of agents on again", "Agents"),
    "native": ("setup.memory_files", "Exchange memory with agents' own files", "Agents"),
    "hook": ("setup.hook", "Answer a hook of an agent's CLI", "Agents"),
    "drain": ("setup.drain", "Do now what hooks left for later", "Agents"),
}
# words that people try -> the command that does it
GUESSED = {
    "remember": "add",
    "note": "add",
    "decision": "add",
    "save": "add",
    "new": "add",
    "store": "add",
    "memo": "add",
    "tidy": "consolidate",
    "dedupe": "consolidate",
    "contradictions": "check",
    "fix": "doctor",
    "repair": "doctor",
    "fsck": "doctor",
    "remove": "forget",
    "rm": "forget",
    "delete": "forget",
    "del": "forget",
    "where": "status",
    "st": "status",
    "info": "status",
    "now": "status",
    "ls": "list",
    "find": "search",
    "grep": "search",
    "query": "search",
    "history": "log",
    "get": "show",
    "cat": "show",
    "view": "show",
    "trap": "gotcha",
    "gotchas": "gotcha",
    "push": "sync",
    "pull": "sync",
    "share": "sync",
    "fetch": "sync",
    "ingest": "import",
    "load": "import",
    "migrate": "import",
    "dump": "export",
    "todo": "summary",
    "tasks": "summary",
    "task": "summary",
    "finish": "done",
    "close": "done",
    "sessions": "session",
    "resume": "session",
    "epic": "work",
    "story": "work",
    "proposals": "inbox",
    "review": "inbox",
    "settings": "config",
    "brief": "briefing",
    "context": "briefing",
    "replace": "supersede",
    "update": "edit",
    "change": "edit",
    "setup": "install",
    "hooks": "install",
    "memory": "list",
    "memories": "list",
    "reset": "wipe",
    "enable": "on",
    "disable": "off",
    "revert": "undo",
    "blame": "why",
    "annotate": "why",
    "symbols": "code",
    "refs": "code",
    "references": "code",
    "imports": "code",
    "rank": "code",
    "map": "code",
    "gc": "consolidate",
    "locate": "scout",
    "explore": "scout",
    "overview": "dna",
    "about": "dna",
}
HIDDEN = {"read-code": "code.dna", "git-hook": "setup.install"}


class Commands(click.Group):
    """Loads a command's module on look-up, so that one command never pays for another."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the overview."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now."""
        module = COMMANDS[cmd_name][0] if cmd_name in COMMANDS else HIDDEN.get(cmd_name)
        if module is None:
            return None
        # an edge above this one is reached by its name alone: nothing here imports it
        is_whole = module.startswith("gitmem.")
        loaded = importlib.import_module(module if is_whole else f"gitmem.cli.{module}")
        command: click.Command = getattr(loaded, cmd_name.replace("-", "_") + "_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; for an unknown one, say which was probably meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            from gitmem.cli.group import near_names

            guessed = GUESSED.get(args[0].lower())
            near = [guessed] if guessed else near_names(args[0], COMMANDS, 3)
            hint = (
                f" Did you mean: git mem {' or git mem '.join(near)}"
                if near
                else " See 'git mem -h'."
            )
            raise click.UsageError(f"git mem: '{args[0]}' is not a command.{hint}", ctx) from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem[str]]":
        """Return the commands that begin so, or the options, without importing a command."""
        from gitmem.cli.group import named

        rows = {name: row[1] for name, row in COMMANDS.items()}
        return [*named(rows, incomplete), *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the overview by section, without importing a command."""
        for section in dict.fromkeys(row[2] for row in COMMANDS.values()):
            rows = [(name, row[1]) for name, row in COMMANDS.items() if row[2] == section]
            with formatter.section(section):
                formatter.write_dl(rows)


@click.command(
    cls=Commands,
    name="git mem",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
)
@click.option(
    "-C",
    "folders",
    metavar="DIR",
    multiple=True,
    help="Run as if started in DIR. May be repeated; each is meant from the one before it.",
)
@click.option("--no-pager", is_flag=True, help="Write long output straight to the terminal.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="When to colour the output.",
)
@click.option("--version", "version", is_flag=True, help="Print the version.")
@click.pass_context
def cli(
    ctx: click.Context, folders: tuple[str, ...], no_pager: bool, color: str, version: bool
) -> None:
    """A memory for coding agents and people, kept in a ref of your git repository.

    \b
    Examples:
      git mem add "Use SERIALIZABLE for payments" -m "Two runs lost updates." --type decision
      git mem search isolation level
      git mem log
    """
    from gitmem.cli.terminal import Terminal

    # before the command's own arguments are read: their paths are meant from there
    for folder in folders:
        try:
            os.chdir(folder)
        except OSError as error:
            raise UserError(
                f"cannot change to '{folder}': {os.strerror(error.errno or 0)}.",
                "Check the path given with -C.",
            ) from error
    environ = dict(os.environ)
    if "GITMEM_SESSION" not in environ:  # what an agent or a person writes belongs to the session
        if any(key.endswith(("_SESSION_ID", "_THREAD_ID", "_CLI")) for key in environ):
            from gitmem.cli.sessions.group import current

            environ["GITMEM_SESSION"] = current(environ)
        else:
            from gitmem.services.sessions.current import here

            if mine := here(environ):
                environ["GITMEM_SESSION"] = mine
    ctx.obj = Terminal(folder=".", environ=environ, color=color, pager=not no_pager)
    if version:
        from gitmem import __version__

        click.echo(f"git-mem version {__version__}")
        ctx.exit()
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def run(args: Sequence[str]) -> int:
    """Run a command line.

    Return the exit code: 0, 1 for what went wrong, 2 for wrong usage, 130 interrupted.
    """
    # `<&-` and `>&-`: else a file of ours would get its number
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))
    # Python would take any bytes in some locales, and lose them when they are stored
    if isinstance(sys.stdin, io.TextIOWrapper):
        # whoever runs this in a process of theirs has read from it
        with contextlib.suppress(io.UnsupportedOperation):
            sys.stdin.reconfigure(encoding="utf-8", errors="strict")
    before = _here()
    try:
        for option, word in zip(["", *args], args, strict=False):
            if option not in {"-C", "-F", "--file"}:  # a file's name may be any bytes, text may not
                word.encode()
        result: Any = cli.main(args=list(args), prog_name="git mem", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except (BrokenPipeError, SystemExit):
        # the reader of a pipe went away (`| head`), which click answers by leaving: no fault, and
        # no second message at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - a stranger must not see a traceback
        from gitmem.cli import failures

        return failures.report(error, args)
    finally:
        if before is not None and before != _here():  # -C holds for one command line
            os.chdir(before)


def _here() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # somebody removed it
        return None
