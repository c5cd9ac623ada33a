"""What each editor needs to run the language server: the lines, and the file to put them into."""

import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from gitmem.base import resources
from gitmem.errors import External

SERVER, PROGRAM = "git-mem-lsp", "git-mem"
EDITORS = {"nvim": "Neovim", "vim": "Vim", "emacs": "Emacs", "vscode": "VS Code"}
PACKAGE = "gitmem.vsix"
# an installation does not know the checkout it was made from
HOW_TO_BUILD = (
    "In a checkout of git mem, with Node.js: make vscode-package && code --install-extension "
    "lsp/vscode/gitmem.vsix"
)


@dataclass(frozen=True, slots=True)
class EditorSetup:
    """How an editor is set up.

    `text` is for the file `path`; without a path it is a command for the shell. `needs` says what
    has to be there.
    """

    editor: str
    text: str
    path: str = ""
    needs: str = ""


def editor_setup(name: str, env: Mapping[str, str]) -> EditorSetup:
    """Return how an editor is set up. Raises External where this installation lacks its files."""
    if name == "nvim":
        folder = str(resources.folder("nvim"))
        return EditorSetup(
            name, f"vim.opt.runtimepath:append({_lua(folder)})\n", "~/.config/nvim/init.lua"
        )
    if name == "vscode":
        package = resources.folder("vscode") / PACKAGE
        if not package.is_file():
            raise External(f"this installation lacks the extension, {package}.", HOW_TO_BUILD)
        return EditorSetup(name, f"code --install-extension {shlex.quote(str(package))}\n")
    ending, path, needs = {
        "vim": ("vim", "~/.vim/after/plugin/gitmem.vim", "ALE, the plugin that lints"),
        "emacs": ("el", "~/.emacs.d/init.el", "eglot, which is in Emacs since 29"),
    }[name]
    text = resources.read_text("setup", f"gitmem.{ending}")
    return EditorSetup(name, _with_program(text, env), path, needs)


def _with_program(text: str, env: Mapping[str, str]) -> str:
    """Name our programs by their full paths where an editor would not find them."""
    for name in (SERVER, PROGRAM):
        if shutil.which(name, path=env.get("PATH", "")):
            continue
        program = resources.server_path(name)
        in_vim = program.replace("'", "''")
        in_lisp = program.replace("\\", "\\\\").replace('"', '\\"')
        text = text.replace(f"'{name}'", f"'{in_vim}'").replace(f'"{name}"', f'"{in_lisp}"')
    return text


def _lua(text: str) -> str:
    path = text.replace(",", "\\,")  # the option is a list with commas
    escaped = path.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
