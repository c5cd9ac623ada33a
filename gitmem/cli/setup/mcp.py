"""`git mem mcp`: the server for clients that speak the Model Context Protocol."""

import gc
import sys

import click

from gitmem.cli.terminal import Terminal
from gitmem.install.mcp_entry import require_server


@click.command("mcp", short_help="Serve memory to clients that speak MCP")
@click.option(
    "--repo",
    metavar="DIR",
    default="",
    help="The repository.  [default: the client's folders, else the current one]",
)
@click.pass_obj
def mcp_command(term: Terminal, repo: str) -> None:
    """Serve the memory of a repository over standard input and output, by MCP.

    A client starts this; it ends with its input. To have a client start it: git mem install CLIENT
    --mcp. What a client writes counts as an agent's, and is unconfirmed until a person accepts it.

    \b
    Examples:
      git mem mcp
      git mem mcp --repo ~/src/shop
    """
    require_server()
    if sys.stdin.isatty():
        term.note("this waits for a client that speaks MCP on standard input; Ctrl-C ends it.")
    gc.disable()  # what the SDK makes when it is loaded stays, and looking it over takes 0.1 s
    from gitmem.mcp.server import serve

    gc.freeze()
    gc.enable()
    serve(repo, term.environ)
