"""Parts of git-mem that are installed on request only, and the command that installs one.

The extras of `pyproject.toml` have the same names.
"""

import os
import shlex
import sys
from importlib.util import find_spec

GEMINI, GRAMMARS, MCP = "gemini", "grammars", "mcp"
MODULES = {GEMINI: "google.genai", MCP: "mcp"}  # what an extra is needed for


def is_installed(extra: str) -> bool:
    """Return whether the module of an extra can be found, without loading it."""
    try:
        return find_spec(MODULES[extra]) is not None
    except ModuleNotFoundError:  # of the package that it is in
        return False


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this installation, as pipx, uv or pip made it."""
    wanted = f"'git-mem[{extra}]'"
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        return f"pipx inject {shlex.quote(os.path.basename(sys.prefix))} {wanted}"
    if os.path.exists(os.path.join(sys.prefix, "uv-receipt.toml")):
        return f"uv tool install {wanted}"
    return f"{shlex.quote(sys.executable or 'python3')} -m pip install {wanted}"
