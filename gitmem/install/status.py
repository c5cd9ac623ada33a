"""What is installed where, and whether it still works.

Runs nothing that a file names: the file may be anybody's.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gitmem import __version__
from gitmem.agents.events import ADAPTERS
from gitmem.base.extras import MCP, is_installed
from gitmem.errors import GitmemError
from gitmem.install import file_changes, git_hooks, hook_command, mcp_entry, plan
from gitmem.install.hook_entries import merge
from gitmem.install.jsonc import Document
from gitmem.install.mcp_clients import CLIENTS
from gitmem.install.plan import InstallContext
from gitmem.install.settings_formats import SHAPES
from gitmem.services.maintenance.doctor import HealthFinding

_STRING = re.compile(rb'"(?:[^"\\\n\x00-\x1f]|\\["\\/bfnrtu])*+(?:"|[\n\x00-\x1f]|\Z)')


@dataclass(frozen=True, slots=True)
class Row:
    """Our hooks, or the entry for our MCP server, in one place; `part` says which.

    `state` is current, outdated, broken, custom (the user's own commands) or unreadable; `why` says
    more.

    `version` is that of the git-mem that wrote them, or, when it is this one that runs, its own; ''
    when it is not known.
    """

    what: str
    title: str
    scope: str
    path: str
    state: str
    why: str = ""
    program: str = ""
    version: str = ""
    part: str = "hooks"

    @property
    def label(self) -> str:
        """What there is, in words."""
        if self.part == mcp_entry.PART:
            return f"the MCP settings of {self.title}"
        return f"the hooks of {self.title}"

    @property
    def arguments(self) -> str:
        """The words of `install` and `uninstall` that mean this."""
        flag = " --mcp" if self.part == mcp_entry.PART else ""
        return f"{self.what}{flag} --{self.scope}"


def survey(world: InstallContext) -> list[Row]:
    """Return all places in which hooks of ours, or entries for our server, are."""
    rows = [row for agent in ADAPTERS for row in _agent(agent, world)]
    servers = [row for name in CLIENTS for row in _servers(name, world)]
    return [*rows, *_git(world), *servers]


def _servers(name: str, world: InstallContext) -> Iterator[Row]:
    for scope in ("project", "user"):
        try:
            goal = mcp_entry.target(name, scope, world)
        except GitmemError:
            continue
        if row := _server(goal, world):
            yield row


def _server(goal: mcp_entry.McpTarget, world: InstallContext) -> Row | None:
    """Return how the entry for our server stands in a file, None where there is none."""

    def row(state: str, why: str = "", program: str = "") -> Row:
        title, version = goal.client.title, _version(world, goal.scope, goal.path, program)
        part = mcp_entry.PART
        return Row(goal.name, title, goal.scope, goal.path, state, why, program, version, part)

    try:
        value = mcp_entry.entry_in_file(goal, world)
        if value is None:
            return None
        if not mcp_entry.is_ours(value, goal.client):
            return row("custom")
        program = mcp_entry.program_of(value)
        if why := hook_command.fault((program,), world.env) or _lacks_sdk(program, world):
            return row("broken", why, program)
        is_same = value == mcp_entry.entry(goal, world) or goal.client.pins
        return row("current" if is_same else "outdated", program=program)
    except GitmemError as error:
        is_noted = bool(world.ledger(goal.scope).entry(goal.path))
        return row("unreadable", str(error)) if is_noted else None


def _lacks_sdk(program: str, world: InstallContext) -> str:
    """Return why a program cannot be our MCP server, '' where it can or is not this one."""
    is_missing = _is_own(program, world) and not is_installed(MCP)
    return mcp_entry.NO_SDK if is_missing else ""


def _is_own(program: str, world: InstallContext) -> bool:
    """Return whether a program is the git-mem that runs."""
    own = hook_command.installed(world.env)[0]
    executable = shutil.which(program, path=world.env.get("PATH", os.defpath)) or program
    return os.path.realpath(executable) == os.path.realpath(own)


def _version(world: InstallContext, scope: str, path: str, program: str) -> str:
    """Return the version of the git-mem that wrote a file, or, when it is this one, its own."""
    if program and _is_own(program, world):
        return __version__
    return str(world.ledger(scope).entry(path).get("version", ""))


def _agent(agent: str, world: InstallContext) -> Iterator[Row]:
    seen = set()
    for scope in plan.SCOPES:
        try:
            goal = plan.target(agent, scope, world)
        except GitmemError:
            continue
        if goal.path not in seen and (row := _file(goal, world)):
            seen.add(goal.path)
            yield row


def _file(goal: plan.InstallTarget, world: InstallContext) -> Row | None:
    """Return what the file of a target holds of ours, None for nothing."""
    try:
        data = file_changes.read(goal.path)
    except GitmemError:
        return None
    if data is None:
        return None
    try:
        return _contents(goal, world, data)
    except GitmemError as error:
        return _plain_row(goal, "unreadable", str(error)) if b"git-mem" in data else None


def _contents(goal: plan.InstallTarget, world: InstallContext, data: bytes) -> Row | None:
    adapter = goal.adapter
    shape = SHAPES[adapter.settings.shape]
    form = shape(adapter, hook_command.shared())
    if form.text and form.mark.encode() not in data:
        return None
    doc = None if form.text else Document(data, world.shown(goal.path))
    merged = merge(doc, adapter.name, form) if doc else None
    ours = merged.ours if merged else _calls(data, adapter.name)
    if not ours:
        return _plain_row(goal, "custom") if merged is None or merged.custom else None
    call = ours[0]
    scope = "project" if call.shared else _own(goal)
    why, program = _fault(ours, world)
    if not why and doc and _is_off(doc):
        why, program = "the file turns all hooks off", call.words[0]
    if why:
        return _row(goal, world, scope, "broken", why, program)
    again = shape(adapter, hook_command.of(call))
    same = not merge(doc, adapter.name, again).edits if doc else again.text.encode() == data
    return _row(goal, world, scope, "current" if same else "outdated", program=call.words[0])


def _fault(calls: Sequence[hook_command.Call], world: InstallContext) -> tuple[str, str]:
    """Return (why, program) of the first call that does not work, ('', '') when all do."""
    for call in calls:
        if why := hook_command.fault(call.words, world.env):
            return why, call.words[0]
    return "", ""


def _plain_row(goal: plan.InstallTarget, state: str, why: str = "") -> Row:
    return Row(goal.adapter.name, goal.title, goal.scope, goal.path, state, why)


def _is_off(doc: Document) -> bool:
    """Return whether a settings file turns off what is in it.

    Claude Code and Gemini CLI have switches for that.
    """
    value = doc.value(doc.root) if doc.root else None
    switch = value.get("hooksConfig") if isinstance(value, dict) else None
    return isinstance(value, dict) and (
        value.get("disableAllHooks") is True
        or (isinstance(switch, dict) and switch.get("enabled") is False)
    )


def _calls(data: bytes, agent: str) -> list[hook_command.Call]:
    """Return our calls in a file that is ours alone.

    Commands are strings in it, as JSON writes them.
    """
    texts = [json.loads(match[0]) for match in _STRING.finditer(data)]
    return [call for text in texts if (call := hook_command.parse(text)) and call.agent == agent]


def _own(goal: plan.InstallTarget) -> str:
    """Return the scope of a file with a path of this machine.

    A project's file may be used as one's own.
    """
    return "local" if goal.scope == "project" and not goal.adapter.settings.local else goal.scope


def _row(
    goal: plan.InstallTarget,
    world: InstallContext,
    scope: str,
    state: str,
    why: str = "",
    program: str = "",
) -> Row:
    version = _version(world, goal.scope, goal.path, program)
    return Row(goal.adapter.name, goal.title, scope, goal.path, state, why, program, version)


def _git(world: InstallContext) -> Iterator[Row]:
    try:
        path = git_hooks.hooks_folder(world)
        scope = git_hooks.scope_of(world, path)
        states = [
            (name, *git_hooks.state(world, path, name)) for name in git_hooks.wanted(world, path)
        ]
    except GitmemError:
        return
    there = [(name, state, why) for name, state, why in states if state]
    if not there:
        return
    missing = [name for name, state, _ in states if not state]
    broken = next(((state, why) for _, state, why in there if state == "broken"), None)
    state, why = broken or (
        ("outdated", f"not there: {', '.join(missing)}")
        if missing
        else max(("current", ""), *((s, w) for _, s, w in there))
    )
    yield Row(git_hooks.WHAT, "git hooks", scope, path, state, why)


def findings(world: InstallContext) -> Iterator[HealthFinding]:
    """Yield what `git mem doctor` says of installed hooks, and of entries for our MCP server."""
    rows = survey(world)
    for row in rows:
        if finding := _finding(row, world):
            yield finding
    yield from _doubled(world, [row for row in rows if row.part != mcp_entry.PART])


def _doubled(world: InstallContext, hooks: Sequence[Row]) -> Iterator[HealthFinding]:
    """Yield the agents whose hooks are in two places."""
    for what in dict.fromkeys(row.what for row in hooks):
        places = [row for row in hooks if row.what == what and row.state in {"current", "outdated"}]
        if len(places) > 1:
            where = " and ".join(world.shown(row.path) for row in places)
            yield HealthFinding(
                "note",
                f"the hooks of {places[0].title} are installed twice, in {where}: where "
                f"their commands differ, each event starts two processes",
                f"Run: git mem uninstall {what} --{places[-1].scope}",
            )


def _finding(row: Row, world: InstallContext) -> HealthFinding | None:
    """Return what is to be said of one place, None for the user's own commands."""
    place, again = world.shown(row.path), f"Run: git mem install {row.arguments}"
    if row.state == "broken":
        return HealthFinding("warning", f"{row.label} in {place} do not work: {row.why}", again)
    if row.state == "outdated":
        why = f" ({row.why})" if row.why else ""
        return HealthFinding(
            "note", f"{row.label} in {place} are not those of this version{why}", again
        )
    if row.state == "unreadable":
        return HealthFinding(
            "warning",
            f"the settings of {row.title} are broken: {row.why}",
            "Mend the file: the agent cannot read it either.",
        )
    if row.state == "current":
        return HealthFinding("ok", f"{row.label} in {place} work")
    return None
