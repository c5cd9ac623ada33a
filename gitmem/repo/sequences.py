"""Commands of git that make several commits one after the other. Part of the hot path."""

import os

# Folders of a git directory while such a command is at work; the hooks' scripts have them too.
FOLDERS = ("rebase-merge", "rebase-apply", "sequencer")
PICKS = "sequencer"  # of `git cherry-pick` and `git revert` of several commits


def is_under_way(gitdir: str) -> bool:
    """Say whether git is in the middle of making several commits."""
    return any(os.path.isdir(os.path.join(gitdir, folder)) for folder in FOLDERS)


def goes_on(gitdir: str) -> bool:
    """Say whether a hook of git follows the commit that was just made.

    After a rebase git runs `post-rewrite`. After picks it runs nothing: at the last commit their
    folder is still there, with the one command that is being done.
    """
    folders = [name for name in FOLDERS if os.path.isdir(os.path.join(gitdir, name))]
    return any(name != PICKS for name in folders) or (PICKS in folders and _has_more(gitdir))


def _has_more(gitdir: str) -> bool:
    commands = 0
    try:
        with open(os.path.join(gitdir, PICKS, "todo"), "rb") as file:
            for line in file:
                commands += bool(line.strip()) and not line.startswith(b"#")
                if commands > 1:
                    return True
    except OSError:
        return False
    return False
