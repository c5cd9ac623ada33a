"""Definitions of agents in files: Markdown with front matter.

These are the repository's own files, those of Claude Code and of Gemini CLI, then the user's.

    ---
    name: dev
    title: Full stack developer
    icon: 🛠
    role: Implements stories and keeps their tests green
    commands:
      - {name: develop, description: Implement a story, visibility: key}
    ---
    What the agent is told about itself; nothing of it is read here.

`docs/session-start.md` says it for users. A definition is data: nothing in it is executed, nothing
that it names is opened.
"""

import difflib
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from gitmem.base.regular_files import read_regular
from gitmem.errors import InvalidRecord, UserError
from gitmem.text import safe_yaml

OWN = ".gitmem/agents"
FOLDERS = (OWN, ".claude/agents", ".gemini/agents")  # of a work tree; the last two also of the user
SIZE = 64 << 10  # bytes of a definition
FILES, DEPTH = 500, 6  # that are looked at, below one folder
NESTED = 20  # levels of a front matter
COMMANDS, LENGTH, ROLE = 100, 160, 400  # of a definition; characters of a text, of a role
# who sees a command: a new session, one that goes on, one in a workflow
FULL, QUICK, KEY = "full", "quick", "key"
_WIDER = {KEY: (KEY, QUICK, FULL), QUICK: (QUICK, FULL), FULL: (FULL,)}
_PLAIN = re.compile(r"([A-Za-z_-]{1,40}):[ \t]*(.*)")
_TEXTS = frozenset({"name", "id", "title", "icon", "role", "description"})


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """Something that an agent can be asked for.

    `visibility` holds the kinds of session that list it, empty when nothing was said.
    """

    name: str
    description: str = ""
    visibility: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Agent:
    """A definition. Texts are single lines; `problem` says why the rest of them is not known."""

    name: str
    path: str
    title: str = ""
    role: str = ""
    icon: str = ""
    commands: tuple[AgentCommand, ...] = ()
    problem: str = ""


def folders(root: str, env: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return (how it is called, path) of the folders that define agents, the nearest first.

    '' as a root names those of the user alone.
    """
    home = env.get("HOME", "")
    out = [(folder, os.path.join(root, folder)) for folder in FOLDERS if root]
    claude = env.get("CLAUDE_CONFIG_DIR") or (os.path.join(home, ".claude") if home else "")
    out += [("~/.claude/agents", os.path.join(claude, "agents"))] if claude else []
    out += [("~/.gemini/agents", os.path.join(home, ".gemini/agents"))] if home else []
    return out


def files(root: str, env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (path as it is shown, path) of all definitions, those that go before others first.

    No link of a repository leads out of it.
    """
    inside = os.path.join(os.path.realpath(root), "") if root else ""
    for shown, folder in folders(root, env):
        free = shown.startswith("~")  # the user's own: its links may lead anywhere
        if not free and not os.path.realpath(folder).startswith(inside):
            continue
        definitions = (
            path
            for path in _markdown_files(folder)
            if free or not os.path.islink(path) or os.path.realpath(path).startswith(inside)
        )
        for path in islice(definitions, FILES):
            yield os.path.join(shown, os.path.relpath(path, folder)), path


def _markdown_files(folder: str) -> Iterator[str]:
    """Yield the paths of the Markdown files below a folder, what is hidden left out."""
    for place, names, files in os.walk(folder):
        if place.count(os.sep) - folder.count(os.sep) < DEPTH:
            names[:] = sorted(name for name in names if not name.startswith("."))
        else:
            names.clear()
        for name in sorted(files):
            if name.endswith(".md") and not name.startswith("."):
                yield os.path.join(place, name)


def definitions(root: str, env: Mapping[str, str]) -> list[Agent]:
    """Return all agents that are defined; of those with one name the first.

    A file without front matter defines none in an agent CLI's folder.
    """
    out: dict[str, Agent] = {}
    for shown, path in files(root, env):
        agent = read(shown, path)
        if agent is not None:
            out.setdefault(agent.name.casefold(), agent)
    return list(out.values())


def find(name: str, root: str, env: Mapping[str, str]) -> Agent:
    """Return an agent by its name, or that of its file.

    Raises UserError when no file defines it.
    """
    wanted = name.strip().removeprefix("@").casefold()
    every = definitions(root, env)
    for agent in every:
        if agent.name.casefold() == wanted:
            return agent
    for agent in every:
        if os.path.basename(agent.path).removesuffix(".md").casefold() == wanted:
            return agent
    raise unknown(name, every)


def unknown(name: str, every: Sequence[Agent]) -> UserError:
    """Return the error for a name that no file defines."""
    if not every:
        return UserError(
            f"there is no agent '{name}': no file defines one.",
            f"Write {OWN}/{_file_name(name)}.md; what belongs in it: git mem session activate -h",
        )
    names = [agent.name for agent in every]
    folded = {name.casefold(): name for name in names}
    near = [
        folded[close_match]
        for close_match in difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)
    ]
    shown = (
        f"Did you mean {' or '.join(near)}? "
        if near
        else f"There {'are' if len(names) > 1 else 'is'} "
        f"{', '.join(names[:8])}{' …' if len(names) > 8 else ''}. "
    )
    return UserError(
        f"there is no agent '{name}'.", f"{shown}See all: git mem session activate --list"
    )


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name.strip().removeprefix("@")).strip("-.") or "dev"


def _role(head: Mapping[str, Any]) -> str:
    """Return what an agent is for, in its own words; empty where it does not say."""
    for key in ("role", "description"):
        if isinstance(head.get(key), str) and head[key].strip():
            return _line(head[key], ROLE)
    return ""


def read(shown: str, path: str) -> Agent | None:
    """Return what a file defines, None if it is not a definition.

    A definition that cannot be read has a `problem`.
    """
    stem = os.path.basename(path).removesuffix(".md")
    name = _line(stem, LENGTH)
    try:
        about = os.stat(path)
    except OSError as error:
        return Agent(name, shown, problem=f"it cannot be read: {os.strerror(error.errno or 0)}")
    if not stat.S_ISREG(about.st_mode):
        return Agent(name, shown, problem="it is not a file")
    if about.st_size > SIZE:
        return Agent(name, shown, problem=f"it has more than {SIZE >> 10} KiB")
    data = read_regular(path, SIZE + 1)
    if not data and about.st_size:
        return Agent(name, shown, problem="it cannot be read: check its owner and mode")
    try:
        head = front_matter(data.decode("utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError:
        return Agent(name, shown, problem="it is not UTF-8")
    except InvalidRecord as error:
        return Agent(name, shown, problem=str(error))
    if head is None:
        return Agent(name, shown) if shown.startswith(OWN) else None
    texts = {
        key: _line(head[key], LENGTH)
        for key in ("name", "id", "title", "icon")
        if isinstance(head.get(key), str)
    }
    return Agent(
        texts.get("id") or texts.get("name") or name,
        shown,
        texts.get("title", ""),
        _role(head),
        texts.get("icon", "")[:8],
        tuple(_commands(head.get("commands"))),
    )


def front_matter(text: str) -> dict[str, Any] | None:
    """Return the front matter of a text, its values texts, lists and mappings.

    None when it has none. Raises InvalidRecord.

    Agents' CLIs take front matter that is not YAML (`description: Use this when: ...`): of such a
    one the lines `key: text` are taken.
    """
    text = text.replace("\r\n", "\n")
    if not text.startswith("---\n"):
        return None
    try:
        head, _ = _HANDLER.split(text)
    except ValueError:
        raise InvalidRecord("its front matter has no end: a line with --- is missing") from None
    document = _HANDLER.load(head)
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise InvalidRecord("its front matter is not a mapping of names to values")
    return document


class _BoundedHandler(YAMLHandler):
    """YAML front matter of others: bounded depth, no anchors, scalars as texts.

    Where it is not YAML, its lines `key: text`.
    """

    def load(self, fm: str, **_: object) -> Any:
        """Return what the front matter holds; raises InvalidRecord."""
        loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        try:
            safe_yaml.check(fm, loader, NESTED)
            return yaml.load(fm, Loader=loader)  # noqa: S506 - it makes texts, lists and mappings alone
        except (yaml.YAMLError, RecursionError, TypeError, ValueError):
            lines = (
                match
                for line in fm.split("\n")
                if (match := _PLAIN.fullmatch(line)) and match[1] in _TEXTS
            )
            fields = {match[1]: match[2].strip().strip("\"'") for match in lines}
            if not fields:
                raise InvalidRecord("its front matter is not YAML") from None
            return fields


_HANDLER = _BoundedHandler()


def _commands(given: object) -> Iterator[AgentCommand]:
    some: list[Any] = given[:COMMANDS] if isinstance(given, list) else []
    for command in some:
        if isinstance(command, str) and command.strip():
            name, _, description = command.partition(": ")
            yield AgentCommand(_line(name, 60), _line(description, LENGTH))
        elif (
            isinstance(command, dict)
            and isinstance(command.get("name"), str)
            and command["name"].strip()
        ):
            about = command.get("description")
            yield AgentCommand(
                _line(command["name"], 60),
                _line(about, LENGTH) if isinstance(about, str) else "",
                _visibility(command.get("visibility")),
            )
        # `- develop: Implement a story`
        elif isinstance(command, dict) and len(command) == 1 and "description" not in command:
            key, text = next(iter(command.items()))
            if isinstance(key, str) and isinstance(text, str) and key.strip():
                yield AgentCommand(_line(key, 60), _line(text, LENGTH))


def _visibility(given: object) -> tuple[str, ...]:
    """Return the kinds of session that list a command.

    A list names these kinds. A word stands for the kinds that include it. Any other word hides the
    command from all kinds.
    """
    if isinstance(given, list):
        return tuple(level for level in given if level in _WIDER) or ("none",)
    if isinstance(given, str) and given.strip():
        return _WIDER.get(given.strip().lower(), ("none",))
    return ()


def listed(commands: Sequence[AgentCommand], level: str, most: int) -> list[AgentCommand]:
    """Return the commands to list at a level; the first ones where nothing was said of any."""
    some = (
        [command for command in commands if not command.visibility or level in command.visibility]
        if any(command.visibility for command in commands)
        else commands
    )
    return list(some[:most])


def _line(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
