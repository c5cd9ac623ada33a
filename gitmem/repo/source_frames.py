"""Where in the project's own code an error comes from.

Standard library only: the hot path imports this.
"""

import os

from gitmem.base.regular_files import open_regular
from gitmem.repo.location import inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

SOURCE = 1 << 20  # bytes of a source file that are read for an anchor
AROUND = 3  # lines of context beside an anchored line
# An error inside of these is where it came up, not where it belongs.
FOREIGN = frozenset(
    {
        "node_modules",
        "site-packages",
        "dist-packages",
        "vendor",
        "third_party",
        ".git",
        ".venv",
        "venv",
        ".tox",
        "target",
        "build",
        "dist",
    }
)
SECRET_NAMES = frozenset(
    {
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
        "id_ecdsa_sk",
        "id_ed25519_sk",
        "credentials",
        "secrets.yaml",
        "secrets.yml",
        "secrets.json",
    }
)
SECRET_ENDS = (
    ".env",
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".tfvars",
    ".kdbx",
    ".netrc",
    ".npmrc",
    ".pypirc",
)


def anchors(
    locations: "Sequence[tuple[str, int]]", root: str, folder: str, commit: str | None = None
) -> "list[dict[str, Any]]":
    """Return the anchor of the deepest location in the project's own code.

    A location is (path, line from 1). The list is empty if there is no such location.

    Paths are meant from `folder`, else from `root`, the work tree; `commit` is the one that is
    checked out.
    """
    for path, line in list(locations)[-20:][::-1]:
        for start in (folder, root):
            place = inside(path, root, start)
            parts = place.lower().split("/")
            if (
                not place
                or FOREIGN & set(parts)
                or parts[-1].startswith(".env")
                or parts[-1] in SECRET_NAMES
                or parts[-1].endswith(SECRET_ENDS)
            ):
                continue
            lines = read_lines(os.path.join(root, place))
            if 1 <= line <= len(lines):
                around = {
                    "before": lines[max(0, line - 1 - AROUND) : line - 1],
                    "lines": lines[line - 1 : line],
                    "after": lines[line : line + AROUND],
                }
                context = {k: [x.rstrip("\r\n ")[:200] for x in v] for k, v in around.items()}
                return [
                    {
                        "path": place,
                        "lines": [line, line],
                        **({"commit": commit} if commit else {}),
                        "context": context,
                    }
                ]
    return []


def read_lines(path: str) -> "list[str]":
    """Return the lines of a regular file, as far as they are looked at; none of anything else."""
    try:
        with open_regular(path, os.O_NOFOLLOW) as file:
            data = file.read(SOURCE)
    except (OSError, ValueError):
        return []
    return [] if b"\0" in data else data.decode("utf-8", "replace").split("\n")
