"""Files that ship beside the code: hook scripts, completion scripts, editor clients.

In a wheel they are in the package; in a checkout (an editable install too) they are where they are
edited.
"""

import sys
from pathlib import Path

from gitmem.errors import External

REINSTALL = "pip install --force-reinstall git-mem"
_IN_CHECKOUT = {
    "completion": ("docs", "completion"),
    "git-hooks": ("git-hooks",),
    "agent-hooks": ("agent-hooks",),
    "nvim": ("lsp", "nvim"),
    "setup": ("lsp", "setup"),
    "vscode": ("lsp", "vscode"),
}


def folder(name: str) -> Path:
    """Return the folder of a shipped part; raises External when the installation lacks it."""
    here = Path(__file__).parent.parent
    for path in (here / "_shipped" / name, here.parent.joinpath(*_IN_CHECKOUT[name])):
        if path.is_dir():
            return path
    raise External(
        f"this installation lacks its '{name}' files.",
        f"Install it again: {REINSTALL}",
    )


def server_path(name: str) -> str:
    """Return the path of a program of this installation; its name where it is not beside Python."""
    path = Path(sys.executable).parent / name
    return str(path) if path.is_file() else name


def read_text(name: str, file: str) -> str:
    """Return the text of a shipped file."""
    return (folder(name) / file).read_text(encoding="utf-8")
