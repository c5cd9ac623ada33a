"""Make the packages for agents' CLIs from one source: `python scripts/make_packages.py [ROOT]`.

Reads the texts in `agent-hooks/source`, the adapters and the project's own data; writes the plugin
for Claude Code with its marketplace, the extension for Gemini CLI, and the section for AGENTS.md
below ROOT (the checkout, if nothing else is said). The same sources give the same bytes. What a
package held before and does not hold now is removed.

A command's source says above its text what it is for, its arguments, and what it may run without a
question: `uses` of `git mem`, `git` of git.
"""

import json
import shutil
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gitmem import __version__
from gitmem.agents import adapter
from gitmem.install import agent_packages

CHECKOUT = Path(__file__).resolve().parents[1]
SOURCE = CHECKOUT / "agent-hooks" / "source"
NAME = "git-mem"
ARGUMENTS = "$ARGUMENTS"  # as the sources have it, and Claude Code
BEGIN, END = "<!-- git-mem: begin -->", "<!-- git-mem: end -->"

Files = dict[str, str]  # by path below a package


@dataclass(frozen=True)
class Text:
    """A source: its front matter, and what follows."""

    name: str
    head: dict[str, Any]
    body: str


def read(path: Path) -> Text:
    """Return a source; one without front matter has an empty one."""
    whole = path.read_text(encoding="utf-8")
    if not whole.startswith("---\n"):
        return Text(path.stem, {}, whole)
    head, body = whole.removeprefix("---\n").split("\n---\n", 1)
    return Text(path.stem, yaml.safe_load(head), body.lstrip("\n"))


def project() -> dict[str, Any]:
    """Return the data of the project that packages repeat."""
    data: dict[str, Any] = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    return data


def commands() -> list[Text]:
    """Return the commands, by name."""
    return [read(path) for path in sorted((SOURCE / "commands").glob("*.md"))]


def claude() -> Files:
    """Return the plugin for Claude Code."""
    about = project()
    manifest = {
        "name": NAME,
        "version": __version__,
        "description": about["description"],
        "author": about["authors"][0],
        "license": about["license"],
        "keywords": about["keywords"],
    }
    return {
        ".claude-plugin/plugin.json": as_json(manifest),
        "hooks/hooks.json": hooks("claude"),
        "README.md": readme("claude"),
        **skill(),
        **{
            f"commands/{text.name}.md": with_head(claude_head(text), text.body)
            for text in commands()
        },
    }


def claude_head(text: Text) -> dict[str, str]:
    """Return the front matter of a command.

    It may run without a question what it needs, and nothing else.
    """
    allowed = [f"Bash(git mem {word}:*)" for word in text.head["uses"]] + [
        f"Bash(git {word}:*)" for word in text.head.get("git", ())
    ]
    return {
        "description": text.head["description"],
        "argument-hint": text.head["arguments"],
        "allowed-tools": ", ".join(allowed),
    }


def marketplace(plugin: str) -> str:
    """Return a marketplace with our plugin alone, which is in a folder beside it."""
    about = project()
    entry = {
        "name": NAME,
        "source": plugin,
        "description": about["description"],
        "version": __version__,
        "license": about["license"],
    }
    return as_json(
        {
            "name": NAME,
            "description": about["description"],
            "owner": about["authors"][0],
            "plugins": [entry],
        }
    )


def gemini() -> Files:
    """Return the extension for Gemini CLI."""
    about = project()
    manifest = {
        "name": NAME,
        "version": __version__,
        "description": about["description"],
        "contextFileName": "GEMINI.md",
    }
    return {
        "gemini-extension.json": as_json(manifest),
        "hooks/hooks.json": hooks("gemini"),
        "README.md": readme("gemini"),
        "GEMINI.md": read(SOURCE / "instructions.md").body,
        **skill(),
        **{f"commands/{text.name}.toml": gemini_command(text) for text in commands()},
    }


def gemini_command(text: Text) -> str:
    """Return a command as TOML."""
    prompt = text.body.replace(ARGUMENTS, "{{args}}")
    assert "'''" not in prompt, f"{text.name}: TOML has no way to quote this"
    return (
        f"description = {json.dumps(text.head['description'], ensure_ascii=False)}\nprompt = '''\n"
        f"{prompt}'''\n"
    )


def agents_md() -> Files:
    """Return the section for AGENTS.md."""
    return {
        "AGENTS.md": f"{BEGIN}\n{read(SOURCE / 'instructions.md').body}{END}\n",
        "README.md": readme("agents-md"),
        **skill(),
    }


def skill() -> Files:
    """Return the skill, which all CLIs read in the same form, and the file that it refers to."""
    text = read(SOURCE / "skill.md")
    return {
        f"skills/{NAME}/SKILL.md": with_head(text.head, text.body),
        f"skills/{NAME}/reference.md": read(SOURCE / "skill-reference.md").body,
    }


def hooks(agent: str) -> str:
    """Return the hooks of an agent in the form of `git mem install`.

    The settings that go beside them are left out.
    """
    return as_json(
        {
            "hooks": {
                event: list(groups) for event, groups in agent_packages.form(agent).events.items()
            }
        }
    )


def readme(package: str) -> str:
    """Return what a package says of itself."""
    text = read(SOURCE / f"readme-{package}.md").body
    rows = [
        f"| `/{item.name} {item.head['arguments'].replace('|', chr(92) + '|')}` "
        f"| {item.head['description']} |"
        for item in commands()
    ]
    if "{events}" in text:
        text = text.replace(
            "{events}", ", ".join(f"`{event}`" for event in adapter.find(package).events)
        )
    return text.replace("{commands}", "\n".join(rows))


def with_head(head: dict[str, Any], body: str) -> str:
    """Return a text below its front matter."""
    return (
        f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=100_000)}---\n\n"
        f"{body}"
    )


def as_json(value: dict[str, Any]) -> str:
    """Return JSON as people read it."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def write(root: Path) -> None:
    """Write all packages below a folder."""
    base = root / "agent-hooks"
    for package, files in (("claude", claude()), ("gemini", gemini()), ("agents-md", agents_md())):
        shutil.rmtree(base / package, ignore_errors=True)
        for name, text in files.items():
            put(base / package / name, text)
    # one for a repository's address, one for the folder that a wheel has
    put(root / ".claude-plugin" / "marketplace.json", marketplace("./agent-hooks/claude"))
    put(base / ".claude-plugin" / "marketplace.json", marketplace("./claude"))


def put(path: Path, text: str) -> None:
    """Write a file, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else CHECKOUT)
