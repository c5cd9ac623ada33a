"""Commands that agents' CLIs call.

`hook` itself takes the hot path (`gitmem.hooks.main`): here are its help and its settings.
"""

import click

from gitmem.agents.events import ADAPTERS
from gitmem.install import agent_packages


@click.command("hook", short_help="Answer a hook of an agent's CLI")
@click.argument("agent", type=click.Choice(tuple(ADAPTERS)))
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
def hook_command(
    ctx: click.Context, /, agent: str, settings: bool, package: bool, **_: str | None
) -> None:
    """Answer one hook call.

    The command reads the event's JSON from stdin, writes at most one JSON object to stdout, and
    always exits with code 0.

    The agent's CLI calls this, not you. Failures are written to hook.log in the repository's gitmem
    folder; 'git mem doctor' shows them.

    \b
    Examples:
      git mem hook claude --settings        what to merge into .claude/settings.json
      claude plugin marketplace add "$(git mem hook claude --package)"
    """
    if settings:
        click.echo(agent_packages.block(agent), nl=False)
    elif package:
        click.echo(agent_packages.package(agent))
    else:
        click.echo(ctx.get_help(), err=True)
