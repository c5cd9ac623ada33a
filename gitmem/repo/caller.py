"""Who runs a command: a person in a terminal, or the CLI of an agent, as the environment tells.

The variables are a label, not a border: whoever wants to can unset them.
"""

from collections.abc import Mapping

# CLI -> variables that only the commands of an agent have. The terminal of an editor that has an
# agent too is a person's: Cursor sets CURSOR_TRACE_ID there, and CURSOR_AGENT in its agent's shell.
VARIABLES: Mapping[str, tuple[str, ...]] = {
    "claude": ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID"),
    "gemini": ("GEMINI_CLI",),
    "codex": ("CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_SANDBOX"),
    "cursor": ("CURSOR_AGENT",),
    "opencode": ("OPENCODE", "OPENCODE_SESSION_ID"),
    "copilot": ("COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"),
}
BACKGROUND = "git mem"  # work of ours that nobody looks at
ANY = "AI_AGENT"  # set by others: its value is their name
UNNAMED = "an unnamed agent"
LONGEST_NAME = 40  # characters


def agent_program(env: Mapping[str, str]) -> str:
    """Return the agent's CLI that runs a command; empty for a person."""
    for name, variables in VARIABLES.items():
        if any(env.get(variable) for variable in variables):
            return name
    return env.get(ANY, "")[:LONGEST_NAME]


def environment_of(program: str, env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which a program is the agent that runs commands.

    None runs them as a person, or as work of ours, whatever it calls itself.
    """
    others = {variable for variables in VARIABLES.values() for variable in variables}
    kept = {key: value for key, value in env.items() if key not in others}
    return {**kept, ANY: UNNAMED if program in {"", BACKGROUND} else program}
