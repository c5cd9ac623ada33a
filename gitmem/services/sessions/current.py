"""Sessions of people, and of agents without hooks: which one a terminal has open.

Standard library's cheap modules only: every command asks.

A small file in our folder, named by terminal and work tree, holds the session's id while it is
open.
"""

import os

from gitmem.base import processes
from gitmem.errors import GitmemError
from gitmem.repo.location import Home, locate
from gitmem.repository import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = "own"
PERSON = "person"  # the agent of a session that is nobody's but its user's


def terminal() -> str:
    """Return the process that a terminal's commands share, '' if it is not known.

    The value has the form of `gitmem.base.processes`.
    """
    return processes.leader() or processes.agent()


def place(home: Home, root: str, process: str) -> str:
    """Return the path of the file that names a terminal's open session in a work tree."""
    from hashlib import sha256

    key = f"{process or f'sid {os.getsid(0)}'}\n{root}"
    return home.join(os.path.join(FOLDER, sha256(key.encode("utf-8", "replace")).hexdigest()[:20]))


def here(environ: "Mapping[str, str]") -> str:
    """Return the id of this terminal's open session in the current work tree, '' for none.

    The current work tree is that of the current folder.
    """
    try:
        repository = Repository(locate(".", environ), environ)
        if not os.path.isdir(repository.home.join(FOLDER)):
            return ""
        with open(place(repository.home, repository.root, terminal()), encoding="utf-8") as file:
            return file.read(200).strip()
    # which session it is, is not worth a command that fails
    except (GitmemError, OSError, ValueError):
        return ""


def opened(home: Home, root: str, process: str, id: str) -> None:
    """Note that a terminal has a session open."""
    from gitmem.base.files import write_atomic

    home.make(FOLDER)
    write_atomic(place(home, root, process), f"{id}\n".encode(), shared=home.shared, durable=False)


def named(home: Home) -> "dict[str, list[str]]":
    """Return {id: files} of the sessions that terminals have open."""
    out: dict[str, list[str]] = {}
    try:
        names = os.listdir(home.join(FOLDER))
    except OSError:
        return out
    for name in names:
        path = home.join(FOLDER, name)
        try:
            with open(path, encoding="utf-8") as file:
                out.setdefault(file.read(200).strip(), []).append(path)
        except (OSError, ValueError):
            continue
    return out


def closed(home: Home, id: str) -> None:
    """Note that a session is open in no terminal any more."""
    for path in named(home).get(id, ()):
        try:
            os.unlink(path)
        except OSError:
            continue
