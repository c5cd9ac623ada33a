"""Hooks of git: small scripts, or a few lines in scripts that are there; see docs/git-hooks.md."""

import functools
import os
import re
import stat
import subprocess

from gitmem.base.git_guard import OFFLINE
from gitmem.base.resources import read_text
from gitmem.errors import GitmemError, UserError
from gitmem.git.process import Git, child_env
from gitmem.install import file_changes, hook_command
from gitmem.install.file_changes import SettingsChange
from gitmem.install.hook_command import HookCommand
from gitmem.install.plan import InstallContext
from gitmem.repo import sequences

WHAT = "git-hooks"
NAMES = (
    "pre-commit",
    "prepare-commit-msg",
    "post-commit",
    "post-merge",
    "post-checkout",
    "post-rewrite",
    "pre-push",
)
SESSION_HOOK = "prepare-commit-msg"  # the hook that is needed for the setting commitTrailer alone
CALL = "@GIT_MEM@"  # in a template: how git-mem is called
UNDER_WAY = "@UNDER_WAY@"  # in a template: the folders of commands that make several commits
START = "#!/bin/sh\n"
OLD = ".before-git-mem"  # behind the name of a hook that is not a shell script, and that ours calls
_BLOCK = re.compile(
    rb"(?m)^# >>> git mem\b[^\n]*+\n(?:(?!# >>> git mem\b)[^\n]*+\n)*?# <<< git mem\n"
)
_SHELL = re.compile(
    rb"#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-\S+[ \t]+)*)?(?:\S*/)?(?:sh|bash|dash|ksh|mksh|zsh"
    rb"|ash)(?:[ \t\r][^\n]*)?(?:\n|$)"
)


def hooks_folder(world: InstallContext) -> str:
    """Return the folder in which git looks for hooks here."""
    root = world.root
    assert world.where is not None
    # not through `Git`, whose calls look into no folder at all
    argv = [
        "git",
        "--git-dir",
        world.where.gitdir,
        "--work-tree",
        root,
        "rev-parse",
        "--git-path",
        "hooks",
    ]
    try:
        done = subprocess.run(
            argv,
            cwd=root,
            env={**child_env(world.env), **OFFLINE},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise UserError(
            "git does not say where its hooks are.", "Try: git rev-parse --git-path hooks"
        ) from error
    return os.path.normpath(os.path.join(root, os.fsdecode(done.stdout.removesuffix(b"\n"))))


def wanted(world: InstallContext, path: str) -> tuple[str, ...]:
    """Return the hooks to install in a folder.

    Each hook costs time for every commit of a rebase, so that none is installed that a setting
    makes useless.
    """
    assert world.where is not None
    args = ("config", "--type=bool", "--get", "gitmem.commitTrailer")
    output = Git(world.where.gitdir, world.env).call(*args, ok=(0, 1, 128))[1]
    if output.strip() == b"true" or state(world, path, SESSION_HOOK)[0]:
        return NAMES
    return tuple(name for name in NAMES if name != SESSION_HOOK)


def scope_of(world: InstallContext, path: str) -> str:
    """Return whom the hooks in a folder are for.

    They are for you in this repository, for everybody who uses it, or for you in all repositories.
    """
    assert world.where is not None
    real, common, root = (
        os.path.realpath(path),
        os.path.realpath(world.where.commondir),
        os.path.realpath(world.root),
    )
    if real.startswith(common + os.sep):
        return "local"
    if not real.startswith(root + os.sep):
        return "user"
    git = Git(world.where.gitdir, world.env)
    name = os.path.relpath(real, root).replace(os.sep, "/")
    try:  # a folder that a tool makes and ignores, as husky does, is not shared
        return (
            "local"
            if git.call(
                "-C",
                root,
                "--work-tree",
                root,
                "check-ignore",
                "-q",
                f"./{name}/post-commit",
                ok=(0, 1, 128),
            )[0]
            == 0
            else "project"
        )
    except GitmemError:
        return "project"


def target(world: InstallContext, scope: str) -> str:
    """Return the folder to write for a scope.

    Raises UserError when git's folder is one for others.
    """
    path = hooks_folder(world)
    real = scope_of(world, path)
    husky = (
        os.path.basename(path) == "_"
        and real == "local"
        and os.path.basename(os.path.dirname(path)) == ".husky"
    )
    if husky and scope == "project":
        return os.path.dirname(path)
    if scope == real:
        return path
    where = world.shown(path)
    if real == "project":
        raise UserError(
            f"git's hooks are in '{where}' here, a folder that the repository shares.",
            "Say --project to write there, for everybody who uses it.",
        )
    if real == "user":
        raise UserError(
            f"git's hooks are in '{where}' here, for other repositories too.",
            "Say --user to write there.",
        )
    raise UserError(
        f"git's hooks are in '{where}' here: yours, in this repository.", "Say --local, or nothing."
    )


def path_of(world: InstallContext, path: str, name: str) -> str:
    """Return the file of a hook.

    Raises UserError for a link that leads to a file that is used elsewhere too.
    """
    file = os.path.join(path, name)
    real = os.path.realpath(file)
    if os.path.dirname(real) != os.path.realpath(path):
        raise UserError(
            f"the hook {world.shown(file)} is a link to '{real}', which others may use too.",
            "Put a copy in its place, or leave git-hooks out.",
        )
    return file


def install(world: InstallContext, scope: str, path: str, name: str) -> SettingsChange:
    """Return the change that has one hook of git call us."""
    file = path_of(world, path, name)
    before = file_changes.read(file)
    block = _block(world.command(scope), name).encode()
    if before is None:
        after = START.encode() + block
        return SettingsChange(
            WHAT, scope, file, "installed", None, after, [(0, 0, after)], fresh=True, mode=0o777
        )
    if _BLOCK.search(before):
        after = _BLOCK.sub(lambda _: block, before, count=1)
        spans = [(*match.span(), block) for match in _BLOCK.finditer(before)][:1]
        return SettingsChange(
            WHAT, scope, file, "unchanged" if after == before else "updated", before, after, spans
        )
    # husky runs what is not executable
    if not os.stat(file).st_mode & stat.S_IXUSR and os.path.basename(path) != ".husky":
        hint = f"Make it executable, or remove it: {world.shown(file)}"
        raise UserError(
            f"the hook {name} is there but not executable, so that git does not run it.", hint
        )
    if (before.startswith(b"#!") and not _SHELL.match(before)) or b"\0" in before[:1024]:
        if os.path.lexists(file + OLD):
            raise UserError(
                f"'{world.shown(file + OLD)}' is there already.",
                "Move it away, then run this again.",
            )
        after = START.encode() + block + f'exec "$0{OLD}" "$@"\n'.encode()
        return SettingsChange(
            WHAT,
            scope,
            file,
            "installed",
            before,
            after,
            [(0, len(before), after)],
            fresh=True,
            mode=0o777,
            move=(file, file + OLD),
        )
    at = before.find(b"\n") + 1 if before.startswith(b"#!") else 0
    if before.startswith(b"#!") and not at:
        at, block = len(before), b"\n" + block
    edits = [(at, at, block)]
    return SettingsChange(
        WHAT, scope, file, "installed", before, before[:at] + block + before[at:], edits, fresh=True
    )


def remove(world: InstallContext, scope: str, path: str, name: str) -> SettingsChange:
    """Return the change that takes our lines out of one hook, or the hook that we made away."""
    file = os.path.join(path, name)
    before = file_changes.read(file)
    if before is None or not (match := _BLOCK.search(before)):
        return SettingsChange(WHAT, scope, file, "absent", before, before)
    rest = before[: match.start()] + before[match.end() :]
    if os.path.exists(file + OLD) and rest == START.encode() + f'exec "$0{OLD}" "$@"\n'.encode():
        return SettingsChange(WHAT, scope, file, "removed", before, None, move=(file + OLD, file))
    is_ours, old = file_changes.original(world.ledger(scope).entry(file), before)
    if is_ours:
        return SettingsChange(WHAT, scope, file, "removed", before, old)
    return SettingsChange(
        WHAT, scope, file, "removed", before, None if rest == START.encode() else rest
    )


def state(world: InstallContext, path: str, name: str) -> tuple[str, str]:
    """Return how one hook stands, `current`, `outdated`, `broken` or nothing, and why."""
    data = file_changes.read(os.path.join(path, name))
    match = _BLOCK.search(data) if data else None
    if not match:
        return "", ""
    lines = match[0].decode("utf-8", "surrogateescape").split("\n")
    before = next(line for line in _template(name).split("\n") if CALL in line).partition(CALL)[0]
    line = next((line for line in lines if " git-hook " in line and line.startswith(before)), "")
    calls = line.removeprefix(before).partition(" git-hook ")[0]
    words = hook_command.parse(f"{calls} hook git")
    call = (
        hook_command.Call((hook_command.PROGRAM,), "git", shared=True)
        if calls.startswith("PATH=")
        else words
    )
    if call is None:
        return "outdated", ""
    if why := hook_command.fault(call.words, world.env):
        return "broken", why
    return (
        "current" if _block(hook_command.of(call), name).encode() == match[0] else "outdated"
    ), ""


def _block(calls: HookCommand, name: str) -> str:
    return _template(name).removeprefix(START).replace(CALL, calls.start())


@functools.cache
def _template(name: str) -> str:
    """Return the script of a hook, but for how git-mem is called.

    Raises External when the installation lacks it.
    """
    return read_text("git-hooks", name).replace(UNDER_WAY, " ".join(sequences.FOLDERS))
