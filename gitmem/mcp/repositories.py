"""Which repository a call is about."""

import os
from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urlsplit

from gitmem.app import App, open_app
from gitmem.errors import NotARepository
from gitmem.repo.caller import environment_of

HINT = "Open a folder of a git repository, or start the server with: git mem mcp --repo DIR"


def uri_of(root: object) -> str:
    """Return the URI of a root as a client sends it; '' where there is none."""
    uri = root.get("uri") if isinstance(root, Mapping) else None
    return uri if isinstance(uri, str) else ""


def folders_to_serve(roots: Sequence[str] | None) -> list[str]:
    """Return the folders that roots name; the current one where None says that none is named.

    Raises NotARepository where all are elsewhere, or the current folder is there no more: the
    memory of another project is not given.
    """
    if roots is None:
        try:
            return [os.getcwd()]
        except OSError as error:
            raise NotARepository("the folder of the server no longer exists.", HINT) from error
    folders = list(filter(None, map(_folder_of, roots)))
    if not folders:
        raise NotARepository("no root of the client is a folder of this machine.", HINT)
    return folders


def _folder_of(uri: str) -> str:
    """Return the folder that a URI names; '' for one that names none of this machine."""
    try:
        parts = urlsplit(uri)
        is_here = parts.scheme == "file" and parts.netloc in {"", "localhost"}
    except ValueError:
        return ""
    path = unquote(parts.path) if is_here else ""
    return "" if "\0" in path else path


def open_repository(folders: Sequence[str], env: Mapping[str, str], program: str) -> App:
    """Open the first of some folders that is in a repository, for an agent.

    Raises NotARepository, UntrustedRepository.
    """
    for folder in folders:
        if not os.path.isdir(folder):
            continue
        try:
            return open_app(folder, environment_of(program, env), prefer="libgit2")
        except NotARepository:
            continue
    names = ", ".join(repr(folder) for folder in folders)
    raise NotARepository(f"no git repository is at {names}.", HINT)
