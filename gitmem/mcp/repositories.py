"""Which repository a call is about."""

from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urlsplit

from gitmem.app import App, open_app
from gitmem.errors import NotARepository
from gitmem.repo.caller import environment_of

HINT = "Open a folder of a git repository, or start the server with: git mem mcp --repo DIR"


def folders_of(uris: Sequence[str]) -> list[str]:
    """Return the folders of a client's roots; a root that is no folder of this machine is none."""
    parts = [urlsplit(uri) for uri in uris]
    return [unquote(part.path) for part in parts if part.scheme == "file" and part.path]


def open_repository(folders: Sequence[str], env: Mapping[str, str], program: str) -> App:
    """Open the first of some folders that is in a repository, for an agent.

    Raises NotARepository, UntrustedRepository.
    """
    for folder in folders:
        try:
            return open_app(folder, environment_of(program, env), prefer="libgit2")
        except NotARepository:
            continue
    names = ", ".join(repr(folder) for folder in folders)
    raise NotARepository(f"no git repository is at {names or 'the folders of the client'}.", HINT)
