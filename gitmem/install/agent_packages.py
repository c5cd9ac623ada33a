"""The content of an agent's settings or package, for those who do not use `git mem install`."""

from gitmem.agents import adapter as agents
from gitmem.base.resources import folder
from gitmem.install import hook_command
from gitmem.install.hook_entries import merge
from gitmem.install.jsonc import Document, applied
from gitmem.install.settings_formats import SHAPES, Form

# what a CLI takes below agent-hooks: Claude Code a marketplace, Gemini CLI an extension; the others
# read a section of AGENTS.md
_PACKAGES = {"claude": "", "gemini": "gemini"}
_FOR_READERS = "agents-md"


def form(agent: str) -> Form:
    """Return what of ours a file has that goes to any machine."""
    adapter = agents.find(agent)
    return SHAPES[adapter.settings.shape](adapter, hook_command.shared())


def block(agent: str) -> str:
    """Return a settings file of an agent that holds our hooks and nothing else."""
    ours = form(agent)
    return ours.text or applied(b"", merge(Document(b"", agent), agent, ours).edits).decode()


def package(agent: str) -> str:
    """Return the folder of an agent's package; raises External when the installation lacks it."""
    return str(folder("agent-hooks") / _PACKAGES.get(agent, _FOR_READERS))
