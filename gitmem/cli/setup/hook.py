"""`git mem hook`: what agents' CLIs call, and what turns their hooks off and on.

A hook itself takes the hot path (`gitmem.hooks.main`): here are its help and its settings.
"""

import click

from gitmem.agents.events import ADAPTERS
from gitmem.cli.group import Parts
from gitmem.install import agent_packages

TABLE = {
    "off": ("setup.hooks_on_off", "off_command", "Turn hooks of agents off"),
    "on": ("setup.hooks_on_off", "on_command", "Turn hooks of agents on again"),
}


class HookCommands(Parts):
    """The commands of the table, and one for each agent whose CLI calls hooks."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now."""
        return agent_command if cmd_name in ADAPTERS else super().get_command(ctx, cmd_name)


@click.group(
    "hook",
    cls=HookCommands,
    table=TABLE,
    subcommand_metavar="AGENT [EVENT]|off|on",
    short_help="Answer a hook of an agent's CLI; turn hooks off and on",
)
def hook_command() -> None:
    """Answer one hook call of an agent's CLI, or turn all hooks off and on.

    With an agent's name, the command reads the event's JSON from stdin, writes at most one JSON
    object to stdout, and always exits with code 0. The agent's CLI calls this, not you. Failures
    are written to hook.log in the repository's gitmem folder; 'git mem doctor' shows them.

    With --settings, it prints the hooks to merge into the agent's settings; with --package, the
    folder of the agent's plugin, extension or instructions.

    \b
    Examples:
      git mem hook off --for 1h
      git mem hook on
      git mem hook claude --settings        what to merge into .claude/settings.json
      claude plugin marketplace add "$(git mem hook claude --package)"
    """


@click.command("agent", short_help="Answer a hook of an agent's CLI")
@click.argument("event", required=False)
@click.option(
    "--settings", is_flag=True, help="Print the hooks to merge into the agent's settings."
)
@click.option(
    "--package",
    is_flag=True,
    help="Print the folder of the agent's plugin, extension or instructions.",
)
@click.pass_context
def agent_command(ctx: click.Context, /, settings: bool, package: bool, **_: str | None) -> None:
    """Answer one hook call of an agent's CLI.

    \b
    Example:
      git mem hook claude --settings
    """
    agent = str(ctx.info_name)
    if settings:
        click.echo(agent_packages.block(agent), nl=False)
    elif package:
        click.echo(agent_packages.package(agent))
    else:
        click.echo(ctx.get_help(), err=True)
