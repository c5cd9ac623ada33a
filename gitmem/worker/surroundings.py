"""Where stores of other tools may be, for one repository."""

import os

from gitmem.app import App
from gitmem.services.interchange.item import Surroundings


def surroundings(app: App) -> Surroundings:
    """Return where stores of other tools may be."""
    root = os.path.realpath(app.location.worktree) if app.location.worktree else ""
    folder = os.path.basename(os.path.dirname(os.path.realpath(app.location.commondir)))
    names = {app.project, os.path.basename(root), folder, root}
    home = app.env.get("HOME") or os.path.expanduser("~")
    return Surroundings(root, home, app.env, frozenset(name for name in names if name))
