"""What is peculiar to each agent's CLI: its settings, its words for a run, and its tools."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Step = dict[str, Any]
Settings = dict[str, str]  # path from the home folder -> text
# what Node.js has compiled of a CLI: without it, that is a third of a short run
COMPILED = Path(__file__).parents[2] / ".cache" / "agents" / "compile-cache"


@dataclass(frozen=True)
class Kind:
    """One agent's CLI without a person: where it finds the fake model, and how its tools are called."""

    shell_tool: str
    read_tool: str
    edit_tool: str

    def settings(self, url: str) -> Settings:
        """Return the files that make it use the model at `url`."""
        return {}

    def environment(self, url: str) -> dict[str, str]:
        """Return the variables that make it use the model at `url`."""
        raise NotImplementedError

    def words(self, prompt: str, args: tuple[str, ...]) -> list[str]:
        """Return the words of a run, without the program."""
        raise NotImplementedError

    def going_on(self) -> list[str]:
        """Return the words that make a run go on with the session before it."""
        return ["--continue"]

    def trusting(self, path: Path) -> list[str]:
        """Return the words that make it heed a project's settings."""
        return []

    def shell(self, command: str) -> Step:
        """Return a step that runs a command."""
        return {"tool": self.shell_tool, "input": {"command": command, "description": "work"}}

    def read(self, path: Path) -> Step:
        """Return a step that reads a file."""
        return {"tool": self.read_tool, "input": {"file_path": str(path)}}

    def edit(self, path: Path, old: str, new: str) -> Step:
        """Return a step that replaces one line of a file by others."""
        change = {"file_path": str(path), "old_string": old, "new_string": new}
        return {"tool": self.edit_tool, "input": change}

    def delegate(self, task: str) -> Step | None:
        """Return a step that has a subagent do a task; None where the CLI has none."""
        return None


class _Claude(Kind):
    def environment(self, url: str) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "IS_SANDBOX": "1",
        }

    def words(self, prompt: str, args: tuple[str, ...]) -> list[str]:
        allowed = ["--allowedTools", "Bash,Read,Edit,Write,Task,Agent"]
        return ["-p", prompt, *allowed, "--output-format", "text", *args]

    def delegate(self, task: str) -> Step | None:
        what = {"description": "look", "prompt": task, "subagent_type": "general-purpose"}
        return {"tool": "Agent", "input": what}


class _Gemini(Kind):
    def settings(self, url: str) -> Settings:
        chosen = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
        return {".gemini/settings.json": json.dumps(chosen)}

    def environment(self, url: str) -> dict[str, str]:
        return {
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_API_KEY": "dummy",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "1",  # else it starts itself again, with more memory
            "NODE_COMPILE_CACHE": str(COMPILED),
        }

    def words(self, prompt: str, args: tuple[str, ...]) -> list[str]:
        return ["-p", prompt, "--yolo", "-m", "gemini-2.5-flash", *args]

    def going_on(self) -> list[str]:
        return ["--resume", "latest"]

    def edit(self, path: Path, old: str, new: str) -> Step:
        step = super().edit(path, old, new)
        return {**step, "input": {**step["input"], "instruction": "change"}}


class _Codex(Kind):
    def settings(self, url: str) -> Settings:
        return {".codex/config.toml": _CODEX.format(url=url)}

    def environment(self, url: str) -> dict[str, str]:
        return {"FAKE_KEY": "dummy"}

    def words(self, prompt: str, args: tuple[str, ...]) -> list[str]:
        way = ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
        options = [word for word in args if word not in _RESUME]
        resumes = list(_RESUME) if len(options) < len(args) else []
        return [*way, *options, *resumes, prompt]

    def going_on(self) -> list[str]:
        return list(_RESUME)

    def trusting(self, path: Path) -> list[str]:
        return ["-c", f'projects={{"{path}"={{trust_level="trusted"}}}}']

    def shell(self, command: str) -> Step:
        return {"tool": self.shell_tool, "input": {"cmd": command}}

    def read(self, path: Path) -> Step:
        return self.shell(f"cat {path}")

    def edit(self, path: Path, old: str, new: str) -> Step:
        added = "\n".join(f"+{line}" for line in new.split("\n"))
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n{added}\n*** End Patch\n"
        return {"tool": self.edit_tool, "kind": "custom_tool_call", "input": patch}


class _OpenCode(Kind):
    def settings(self, url: str) -> Settings:
        model = {"name": "fake", "tool_call": True, "limit": {"context": 200_000, "output": 8000}}
        provider = {
            "npm": "@ai-sdk/anthropic",
            "name": "fake",
            "options": {"baseURL": f"{url}/v1", "apiKey": "dummy"},
            "models": {"claude-fake": model},
        }
        settings = {
            "model": "fake/claude-fake",
            "small_model": "fake/claude-fake",
            "autoupdate": False,
            "share": "disabled",
            "provider": {"fake": provider},
        }
        return {".config/opencode/opencode.json": json.dumps(settings)}

    def environment(self, url: str) -> dict[str, str]:
        return {
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "npm_config_offline": "true",  # it would fetch the types for plugins
        }

    def words(self, prompt: str, args: tuple[str, ...]) -> list[str]:
        return ["run", *args, prompt]

    def read(self, path: Path) -> Step:
        return {"tool": self.read_tool, "input": {"filePath": str(path)}}

    def edit(self, path: Path, old: str, new: str) -> Step:
        change = {"filePath": str(path), "oldString": old, "newString": new}
        return {"tool": self.edit_tool, "input": change}

    def delegate(self, task: str) -> Step | None:
        what = {"description": "look", "prompt": task, "subagent_type": "general"}
        return {"tool": "task", "input": what}


class _Copilot(Kind):
    def environment(self, url: str) -> dict[str, str]:
        return {
            "COPILOT_PROVIDER_BASE_URL": url,
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_API_KEY": "dummy",
            "COPILOT_MODEL": "claude-sonnet-4",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_ALLOW_ALL": "true",  # and the folder is trusted, so that its hooks run
        }

    def words(self, prompt: str, args: tuple[str, ...]) -> list[str]:
        return ["-p", prompt, "--allow-all", *args]

    def read(self, path: Path) -> Step:
        return {"tool": self.read_tool, "input": {"path": str(path)}}

    def edit(self, path: Path, old: str, new: str) -> Step:
        change = {"path": str(path), "old_str": old, "new_str": new}
        return {"tool": self.edit_tool, "input": change}

    def delegate(self, task: str) -> Step | None:
        what = {
            "description": "look",
            "prompt": task,
            "agent_type": "general-purpose",
            "name": "looker",
            "mode": "sync",
        }
        return {"tool": "task", "input": what}


_RESUME = ("resume", "--last")
_CODEX = """\
model = "gpt-5.5"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
"""

KINDS: dict[str, Kind] = {
    "claude": _Claude("Bash", "Read", "Edit"),
    "gemini": _Gemini("run_shell_command", "read_file", "replace"),
    "codex": _Codex("exec_command", "", "apply_patch"),
    "opencode": _OpenCode("bash", "read", "edit"),
    "copilot": _Copilot("bash", "view", "edit"),
}
