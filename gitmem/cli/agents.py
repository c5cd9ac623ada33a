"""Commands that agents' CLIs call. `hook` itself takes the hot path (`gitmem.hot`): here is its help."""

import click

from gitmem.agents.events import ADAPTERS


@click.command("hook", short_help="Answer a hook of an agent's CLI")
@click.argument("agent", type=click.Choice(ADAPTERS))
@click.argument("event", required=False)
@click.pass_context
def hook_command(ctx: click.Context, /, **_: str | None) -> None:
    """Answer one hook call: the event's JSON on stdin, at most one JSON object on stdout, always exit code 0.

    You do not call this; the agent's CLI does, once its settings name it. What goes wrong is in the
    file hook.log of the repository's gitmem folder, and 'git mem doctor' tells of it.

    \b
    Example, for .claude/settings.json:
      {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "git-mem hook claude"}]}]}}
    """
    click.echo(ctx.get_help())
