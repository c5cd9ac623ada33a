"""Choose the implementation of `Objects` for a repository, and sign commits with git."""

from collections.abc import Mapping

from gitmem.errors import External, GitFailed, GitmemError, UntrustedRepository
from gitmem.git.objects import Commit, Identity, Objects
from gitmem.git.objects_cli import CliObjects, algorithm_of, needs_git
from gitmem.git.process import Git, check_owner
from gitmem.repo.location import Location
from gitmem.repo.refs import has_reftable


def open_objects(location: Location, env: Mapping[str, str], prefer: str = "auto") -> Objects:
    """Return the objects of a repository.

    `prefer` is `libgit2`, `git`, or `auto`: libgit2 where it can open the repository. A command
    that ends after one write asks for `git`: starting it is quicker than importing pygit2 (10
    against 60 ms).
    """
    git = Git(location.commondir, env)
    must = needs_git(location.commondir) or has_reftable(location.commondir)
    if prefer != "git" and not must:
        try:
            from gitmem.git.objects_pygit2 import Pygit2Objects

            return Pygit2Objects(git, location.commondir)
        except UntrustedRepository:  # libgit2 reads no `safe.directory` of the command
            check_owner(location, location.worktree or location.commondir, env)
        except (ImportError, External):
            if prefer == "libgit2":
                raise
    return CliObjects(git, algorithm_of(git) if must else "sha1")


def sign(git: Git, commit: Commit, timeout: float = 10.0) -> str | None:
    """Return the oid of the same commit, signed as the user's git configuration says.

    None if that fails.

    Best effort: a missing key, a locked agent or a pass phrase prompt must not cost a memory.
    """

    def person(role: str, who: Identity) -> dict[str, str]:
        sign_ = "-" if who.offset < 0 else "+"
        zone = f"{sign_}{abs(who.offset) // 60:02d}{abs(who.offset) % 60:02d}"
        return {
            f"GIT_{role}_NAME": who.name,
            f"GIT_{role}_EMAIL": who.email,
            f"GIT_{role}_DATE": f"@{who.time} {zone}",
        }

    args = [
        "commit-tree",
        "-S",
        commit.tree,
        *(x for parent in commit.parents for x in ("-p", parent)),
    ]
    env = {**person("AUTHOR", commit.author), **person("COMMITTER", commit.committer)}
    try:
        out = git.run(*args, stdin=commit.message.encode(), env=env, timeout=timeout)
    except (GitFailed, GitmemError):
        return None
    return out.decode().strip() or None
