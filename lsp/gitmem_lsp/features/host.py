"""What a feature's handler needs from the server.

It needs the editor, the repositories, and what the open documents show.
"""

from typing import Protocol

from gitmem_lsp.background import Background
from gitmem_lsp.client import Client
from gitmem_lsp.diagnostics.publisher import Publisher
from gitmem_lsp.workspace.repositories import Repositories


class Host(Client, Protocol):
    """The server as handlers see it."""

    background: Background
    publisher: Publisher
    repositories: Repositories
    diagnostics_in_hover: bool  # whether the editor shows diagnostics in the window of a hover
