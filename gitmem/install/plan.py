"""An agent's settings file for a scope, and the change that installs or removes our hooks."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from gitmem.agents import adapter as agents
from gitmem.agents import events
from gitmem.agents.adapter import Adapter
from gitmem.errors import GitmemError, NotARepository, UserError
from gitmem.git.process import Git
from gitmem.git.worktree import WorkTree
from gitmem.install import file_changes, hook_command
from gitmem.install.disk import Disk
from gitmem.install.file_changes import Ledger, SettingsChange
from gitmem.install.hook_command import HookCommand
from gitmem.install.hook_entries import merge
from gitmem.install.jsonc import Document, applied
from gitmem.install.settings_formats import SHAPES, Form
from gitmem.repo.location import Location, user_repository
from gitmem.repo.worktree_files import WorkTreeFiles as WorkTreeFiles

SCOPES = ("local", "project", "user")


@dataclass(frozen=True, slots=True)
class InstallContext:
    """Where things are: the repository, None outside of one, and the environment."""

    where: Location | None
    env: Mapping[str, str]

    @property
    def home(self) -> str:
        """The user's home folder."""
        return self.env.get("HOME") or os.path.expanduser("~")

    @property
    def root(self) -> str:
        """The work tree's root; raises UserError when there is none."""
        if self.where is None:
            raise NotARepository(
                "this is not in a git repository.",
                "Change to one, or say --user: for you, in all repositories.",
            )
        if self.where.worktree is None:
            raise UserError(
                "this repository is bare: no agent works in it.",
                "Change to a work tree, or say --user: for you, in all repositories.",
            )
        return self.where.worktree

    def disk(self, scope: str) -> Disk:
        """Return the object that changes the files of a scope.

        The user's own files may be links to wherever the user keeps them.
        """
        if scope == "user" or self.where is None or self.where.worktree is None:
            return Disk()
        return Disk(WorkTreeFiles(self.where.worktree, (self.where.gitdir, self.where.commondir)))

    def ledger(self, scope: str) -> Ledger:
        """Return the ledger for the files of a scope: the repository's own, or the user's."""
        if scope == "user":
            return Ledger(os.path.dirname(user_repository(self.env)))
        assert self.where is not None
        return Ledger(self.where.home)

    def command(self, scope: str) -> HookCommand:
        """Return how files of a scope call git-mem."""
        return hook_command.shared() if scope == "project" else hook_command.private(self.env)

    def shown(self, path: str) -> str:
        """Return a path as people read it."""
        if (
            self.where is not None
            and self.where.worktree
            and path.startswith(self.where.worktree + os.sep)
        ):
            return path[len(self.where.worktree) + 1 :]
        return "~" + path[len(self.home) :] if path.startswith(self.home + os.sep) else path


@dataclass(frozen=True, slots=True)
class InstallTarget:
    """One agent's settings file."""

    adapter: Adapter
    scope: str
    path: str

    @property
    def title(self) -> str:
        """How people call the agent."""
        return events.ADAPTERS[self.adapter.name]


def is_agent_installed(adapter: Adapter, world: InstallContext) -> bool:
    """Return whether an agent's CLI seems to be on this machine.

    Its program is on the PATH, or it left its folder.
    """
    path = world.env.get("PATH", os.defpath)
    return any(
        shutil.which(name, path=path) for name in adapter.settings.programs or (adapter.name,)
    ) or os.path.isdir(_own_folder(adapter, world))


def _user_folder(adapter: Adapter, world: InstallContext) -> str:
    settings = adapter.settings
    given = world.env.get(settings.override, "") if settings.override else ""
    return given or os.path.join(world.home, settings.user.split("/", 1)[0])


def _own_folder(adapter: Adapter, world: InstallContext) -> str:
    """Return the folder that a CLI makes for itself in the user's home."""
    parts = adapter.settings.user.split("/")
    folder = _user_folder(adapter, world)
    return os.path.join(folder, parts[1]) if parts[0] == ".config" else folder


def target(agent: str, scope: str, world: InstallContext) -> InstallTarget:
    """Return an agent's file of a scope; raises UserError when there is none."""
    adapter = agents.find(agent)
    settings = adapter.settings
    if scope == "user":
        if not settings.user:
            raise UserError(
                f"{events.ADAPTERS[agent]} has no settings of yours for all repositories.",
                "Say --local or --project.",
            )
        return InstallTarget(
            adapter,
            scope,
            os.path.join(_user_folder(adapter, world), *settings.user.split("/")[1:]),
        )
    name = settings.local or settings.project if scope == "local" else settings.project
    if not name:
        raise UserError(
            f"{events.ADAPTERS[agent]} has no settings in a project.",
            "Say --user: for you, in all repositories.",
        )
    path = os.path.join(world.root, *name.split("/"))
    if not os.path.realpath(path).startswith(os.path.realpath(world.root) + os.sep):
        raise UserError(
            f"{name} is a link that leads out of the repository.",
            "Say --user to write settings of yours.",
        )
    world.disk(scope).real(path)  # a link into git's folder is refused
    return InstallTarget(adapter, scope, path)


def install(goal: InstallTarget, world: InstallContext) -> SettingsChange:
    """Return the change that has a file hold our hooks."""
    form = SHAPES[goal.adapter.settings.shape](goal.adapter, world.command(goal.scope))
    hidden = excluded(goal, world) if goal.scope == "local" else None
    before = file_changes.read(goal.path)
    if before is not None:
        file_changes.check(os.path.realpath(goal.path))
    if form.text:
        return _own_file(goal, form, before, hidden)
    doc = Document(before or b"", world.shown(goal.path))
    merged = merge(doc, goal.adapter.name, form)
    after = applied(doc.data, merged.edits)
    lines = ", ".join(map(str, sorted(set(merged.custom))))
    notes = (
        [
            (
                f"line {lines} of {world.shown(goal.path)} calls our hook in a way of its own: it "
                "was left as it is."
            )
        ]
        if merged.custom
        else []
    )
    if not merged.edits:
        return SettingsChange(
            goal.adapter.name, goal.scope, goal.path, "unchanged", before, before, notes=notes
        )
    assert not merge(Document(after, goal.path), goal.adapter.name, form).edits, (
        "what was written would be changed again"
    )
    return SettingsChange(
        goal.adapter.name,
        goal.scope,
        goal.path,
        "updated" if merged.ours else "installed",
        before,
        after,
        merged.edits,
        fresh=not merged.ours,
        defaults=merged.defaults,
        exclude=hidden,
        notes=notes,
    )


def remove(goal: InstallTarget, world: InstallContext) -> SettingsChange:
    """Return the change that removes our hooks from a file.

    The file is restored to the byte when nothing else has changed since.
    """
    name, before = goal.adapter.name, file_changes.read(goal.path)
    if before is None:
        return SettingsChange(name, goal.scope, goal.path, "absent")
    entry = world.ledger(goal.scope).entry(goal.path)
    # what is looked for is the same for each command
    form = SHAPES[goal.adapter.settings.shape](goal.adapter, hook_command.shared())
    if form.text:
        ours = form.mark.encode() in before
        return SettingsChange(
            name,
            goal.scope,
            goal.path,
            "removed" if ours else "absent",
            before,
            None if ours else before,
        )
    is_ours, old = file_changes.original(entry, before)
    if is_ours:
        return SettingsChange(name, goal.scope, goal.path, "removed", before, old)
    doc = Document(before, world.shown(goal.path))
    merged = merge(doc, name, form, remove=True, made=tuple(entry.get("defaults", ())))
    if not merged.edits:
        return SettingsChange(name, goal.scope, goal.path, "absent", before, before)
    file_changes.check(os.path.realpath(goal.path))
    after = None if merged.empty and entry.get("created") else applied(doc.data, merged.edits)
    return SettingsChange(name, goal.scope, goal.path, "removed", before, after, merged.edits)


def _own_file(
    goal: InstallTarget, form: Form, before: bytes | None, hidden: tuple[str, bytes] | None
) -> SettingsChange:
    """Return the change for a file that is ours alone."""
    after = form.text.encode()
    if before is not None and form.mark.encode() not in before:
        raise UserError(
            f"'{goal.path}' is there, and not by us.",
            "Move it away, then run this again. Nothing was changed.",
        )
    if before == after:
        return SettingsChange(goal.adapter.name, goal.scope, goal.path, "unchanged", before, before)
    action, edits = (
        "updated" if before is not None else "installed",
        [(0, len(before or b""), after)],
    )
    return SettingsChange(
        goal.adapter.name,
        goal.scope,
        goal.path,
        action,
        before,
        after,
        edits,
        fresh=before is None,
        exclude=hidden,
    )


def excluded(goal: InstallTarget, world: InstallContext) -> tuple[str, bytes] | None:
    """Return git's file of local patterns, and the line that keeps a user's file out of git.

    The result is None when git ignores the file already.

    Raises UserError for one that git tracks, or would: colleagues would get a path of this machine.
    """
    root, where = world.root, world.where
    assert where is not None
    name = os.path.relpath(goal.path, root).replace(os.sep, "/")
    hint = "Say --project to write it for all of them, or --user: for you, in all repositories."
    if tracked(world, name):
        raise UserError(
            f"git tracks {name}: what is written there goes to everybody who uses the repository.",
            hint,
        )
    if WorkTree(where, world.env).ignored([name]):
        return None
    if os.path.exists(goal.path) and not goal.adapter.settings.local:
        raise UserError(
            f"{name} is there and git does not ignore it: it may go to everybody who uses the "
            f"repository.",
            hint,
        )
    path = os.path.join(where.commondir, "info", "exclude")
    data = file_changes.read(path) or b""
    return path, (b"\n" if data and not data.endswith(b"\n") else b"") + f"/{name}\n".encode(
        "utf-8", "surrogateescape"
    )


def tracked(world: InstallContext, name: str) -> bool:
    """Say whether git tracks a path of the work tree."""
    assert world.where is not None
    git = Git(world.where.gitdir, world.env)
    try:
        return bool(
            git.run(
                "-C",
                world.root,
                "--work-tree",
                world.root,
                "ls-files",
                "-z",
                "--",
                f":(top,literal){name}",
            )
        )
    except GitmemError:
        return False
