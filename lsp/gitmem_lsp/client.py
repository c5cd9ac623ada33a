"""What the server's parts need of the editor's side of the connection.

`server.Server` provides it.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from lsprotocol import types as t
from pygls.progress import Progress as WorkDoneProgress

from gitmem.clock import Clock
from gitmem_lsp.protocol.documents import LineWorkspace
from gitmem_lsp.settings import Options


class Client(Protocol):
    """One editor: what it can do, its open documents, and messages to it."""

    clock: Clock

    @property
    def client_capabilities(self) -> t.ClientCapabilities:
        """Return what the editor said that it can do."""

    @property
    def workspace_lines(self) -> LineWorkspace:
        """Return the editor's documents."""

    @property
    def work_done_progress(self) -> WorkDoneProgress:
        """Return the progress bars of pygls."""

    def notify(self, method: str, params: Any) -> None:
        """Send a notification, without the cost of making protocol objects."""

    def say(self, message: str, kind: t.MessageType) -> None:
        """Show a message to the user."""

    async def show_document(self, uri: str) -> bool:
        """Have the editor open a document; False for one that cannot or will not."""

    def tell_changed(self, uris: Sequence[str]) -> None:
        """Tell an editor that asked for it that what is known of documents has changed."""

    def tell_saved(self, uri: str, id: str) -> None:
        """Tell an editor that asked for it that saving a draft has recorded it."""

    def refuse(self, message: str) -> dict[str, Any] | None:
        """Return the answer of a command that was not carried out.

        An editor that asked for it gets the error as the answer, any other null and a message.
        """

    def redraw(self) -> None:
        """Ask the editor for new lenses and hints."""

    async def workspace_configuration_async(self, params: t.ConfigurationParams) -> Sequence[Any]:
        """Ask the editor for its settings."""

    def settings_over(self, base: Options) -> Options:
        """Return the editor's settings on top of a repository's."""
