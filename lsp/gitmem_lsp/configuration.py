"""The editor's settings: asked for where it can be asked, else as given at the start."""

import logging
from typing import Any

from lsprotocol import types as t

from gitmem_lsp.background import Background
from gitmem_lsp.client import Client
from gitmem_lsp.settings import SECTION, Options, from_editor

log = logging.getLogger("gitmem_lsp")


class Configuration:
    """What the editor has set. It lies over what git has set for a repository."""

    def __init__(self, client: Client, background: Background) -> None:
        self._client = client
        self._background = background
        self._given: Any = None
        self._made: dict[int, tuple[Options, Options]] = {}

    def over(self, base: Options) -> Options:
        """Return the settings in force on top of a repository's."""
        kept = self._made.get(id(base))
        if kept is None or kept[0] is not base:
            if len(self._made) > 100:
                self._made.clear()
            kept = self._made[id(base)] = base, from_editor(self._given, base)[0]
        return kept[1]

    def set(self, given: Any) -> None:
        """Take settings as the editor sends them; what is wrong with them is logged."""
        if isinstance(given, dict) and isinstance(given.get(SECTION), dict):
            given = given[SECTION]  # some editors send the section, some the whole
        self._given = given
        self._made.clear()
        for problem in from_editor(given)[1]:
            self._background.warn(problem)

    @property
    def can_ask(self) -> bool:
        """Whether the editor answers `workspace/configuration`."""
        workspace = self._client.client_capabilities.workspace
        return bool(workspace and workspace.configuration)

    async def ask(self) -> None:
        """Ask the editor."""
        params = t.ConfigurationParams(items=[t.ConfigurationItem(section=SECTION)])
        answer = await self._client.workspace_configuration_async(params)
        if answer and answer[0] is not None:
            self.set(answer[0])
