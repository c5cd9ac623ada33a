"""Parts of git-mem that are installed on request only, and the command that installs one.

The extras of `pyproject.toml` have the same names.
"""

import os
import shlex
import sys
from importlib.util import find_spec

GEMINI, GRAMMARS, MCP = "gemini", "grammars", "mcp"
# what an extra is needed for
MODULES = {GEMINI: "google.genai", GRAMMARS: "tree_sitter_ruby", MCP: "mcp"}


def is_installed(extra: str) -> bool:
    """Return whether the module of an extra can be found, without loading it."""
    try:
        return find_spec(MODULES[extra]) is not None
    except ModuleNotFoundError:  # of the package that it is in
        return False


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this installation, as pipx, uv or pip made it.

    pipx 1.7 and 1.8 add nothing to a package that is there without `--force`. uv makes a tool's
    environment anew, with the extras that are named alone.
    """
    wanted, python = f"'git-mem[{extra}]'", shlex.quote(sys.executable or "python3")
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        return f"pipx inject --force {shlex.quote(os.path.basename(sys.prefix))} {wanted}"
    if os.path.exists(os.path.join(sys.prefix, "uv-receipt.toml")):
        present = [name for name in MODULES if name == extra or is_installed(name)]
        return f"uv tool install 'git-mem[{','.join(present)}]'"
    if find_spec("pip") is None:
        return f"uv pip install --python {python} {wanted}"
    return f"{python} -m pip install {wanted}"
