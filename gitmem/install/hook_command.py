"""The command that is written into the settings of others.

The module makes it, recognises it, and finds out that it no longer works.

It must cost nothing and say nothing where git-mem is not: the shell that an agent's CLI starts
anyway runs it, its errors go nowhere, and the exit code is 0. It runs in sh, bash, zsh and fish;
fish complains of a program that is not there, so that it is looked for first.
"""

import os
import re
import shlex
import shutil
import string
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gitmem.errors import External, UserError

PROGRAM = "git-mem"
# Where a colleague may have it when the PATH does not say: pip --user, pipx and uv; Homebrew;
# pyenv.
PLACES = ("$HOME/.local/bin", "/usr/local/bin", "/opt/homebrew/bin", "$HOME/.pyenv/shims")
_PATH = f'PATH="$PATH:{":".join(PLACES)}"'
_SHARED = re.compile(r'export PATH="\$PATH:[^"]*"; command -v git-mem >/dev/null && ')
_PLAIN = frozenset(string.ascii_letters + string.digits + "@%+=:,./-_")
_QUIET = "2>/dev/null || true"


@dataclass(frozen=True, slots=True)
class HookCommand:
    """The way in which a file calls git-mem.

    It consists of words of the shell, and of none when it may name no place on this machine.
    """

    words: tuple[str, ...]

    def hook(self, agent: str, event: str = "") -> str:
        """Return the shell command that answers an agent's hook.

        `event` for a CLI whose payload does not name it.
        """
        if self.words:
            start = f"test -x {self.words[0]} && {' '.join(self.words)}"
        else:
            start = f"export {_PATH}; command -v {PROGRAM} >/dev/null && {PROGRAM}"
        return " ".join(filter(None, [start, "hook", agent, event, _QUIET]))

    def start(self) -> str:
        """Return the words that a shell command begins with."""
        return " ".join(self.words) or f"{_PATH} {PROGRAM}"


@dataclass(frozen=True, slots=True)
class Call:
    """What a command in a file calls; `words` begin with the program."""

    words: tuple[str, ...]
    agent: str
    shared: bool


def private(env: Mapping[str, str]) -> HookCommand:
    """Return the command for files of one user.

    It is the absolute path of this installation, as an upgrade leaves it.
    """
    words = installed(env)
    try:
        "".join(words).encode()
    except UnicodeEncodeError as error:
        raise UserError(
            f"the path of git-mem is not UTF-8: {words[0]!r}.",
            "Install git-mem in a folder whose name is.",
        ) from error
    if any(character in word for word in words for character in "\n\0"):
        raise UserError(
            f"the path of git-mem has a line's end in it: {words[0]!r}.",
            "Install git-mem in a folder whose name has none.",
        )
    return HookCommand(tuple(map(_quoted, words)))


def shared() -> HookCommand:
    """Return the command for files that colleagues get too.

    It is found on the PATH, or in the usual places.
    """
    return HookCommand(())


def installed(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return how this installation is called.

    It is called by the link that the user's PATH has, which outlives upgrades, else by its script.
    """
    folders = [
        os.path.dirname(sys.executable or ""),
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", f"{os.name}_user"),
    ]
    scripts = [
        path
        for path in (sys.argv[0], *(os.path.join(folder, PROGRAM) for folder in folders if folder))
        if _is_program(path)
    ]
    program = shutil.which(PROGRAM, path=env.get("PATH", os.defpath))
    if program and any(os.path.realpath(program) == os.path.realpath(script) for script in scripts):
        return (os.path.abspath(program),)
    if scripts:
        return (os.path.abspath(scripts[0]),)
    if not sys.executable:
        raise External(
            "the place where git-mem is installed cannot be found.",
            "Install it with pip, pipx or uv.",
        )
    return sys.executable, "-P", "-m", "gitmem"


def _is_program(path: str) -> bool:
    return os.path.basename(path) == PROGRAM and os.path.isfile(path) and os.access(path, os.X_OK)


def _quoted(word: str) -> str:
    """Return a word quoted so that sh and fish read it alike.

    Fish reads backslashes between single quotes.
    """
    if word and not set(word) - _PLAIN:
        return word
    return "'" + word.translate({0x5C: "'\\\\'", 0x27: "'\\''"}) + "'"


def parse(text: str) -> Call | None:
    """Return what a command calls when it is one that we wrote, or that people were told to paste.

    None for anything else.
    """
    line = text.strip()
    prefix = _SHARED.match(line)
    line = line[prefix.end() :] if prefix else line
    for tail in ("|| true", "2>/dev/null"):
        line = line.removesuffix(tail).rstrip()
    # what does more than to call us becomes words too many
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        return None
    if words[:2] == ["test", "-x"] and words[3:4] == ["&&"] and words[2:3] == words[4:5]:
        words = words[4:]
    start = 4 if words[1:4] == ["-P", "-m", "gitmem"] else 2 if words[:2] == ["git", "mem"] else 1
    if start == 1 and os.path.basename(words[0] if words else "") != PROGRAM:
        return None
    if (
        words[start : start + 1] != ["hook"]
        or not 2 <= len(words) - start <= 3
        or not words[-1].replace("-", "").isalnum()
    ):
        return None
    return Call(tuple(words[:start]), words[start + 1], prefix is not None)


def of(call: Call) -> HookCommand:
    """Return the command that a call was written by."""
    return shared() if call.shared else HookCommand(tuple(map(_quoted, call.words)))


def calls(text: str, agent: str) -> bool:
    """Say whether a command of the user's own making seems to call our hook."""
    return (
        re.search(rf"(?<![\w-])git[ -]mem['\"]?\s+hook\s+{re.escape(agent)}(?![\w-])", text)
        is not None
    )


def fault(words: Sequence[str], env: Mapping[str, str]) -> str:
    """Return what is wrong with a program that a file names; empty when it can be run.

    Nothing is run: the file may be anybody's.
    """
    name = words[0]
    if name == "git":
        return ""
    if os.sep not in name:
        home = env.get("HOME", "")
        places = os.pathsep.join(
            [env.get("PATH", ""), *(place.replace("$HOME", home) for place in PLACES)]
        )
        return "" if shutil.which(name, path=places) else f"'{name}' is not on the PATH"
    if not os.path.isfile(name):
        return f"'{name}' is not there"
    if not os.access(name, os.X_OK):
        return f"'{name}' cannot be run"
    try:
        with open(name, "rb") as file:
            first, second = [*file.read(4096).split(b"\n"), b""][:2]
    except OSError:
        return ""
    try:
        if second.startswith(b"'''exec' "):  # what pip writes for a long path
            interpreter = shlex.split(
                second[len(b"'''exec' ") :].decode("utf-8", "surrogateescape")
            )[:1]
        else:
            interpreter = os.fsdecode(first[2:]).split()[:1] if first.startswith(b"#!") else []
    except ValueError:
        return ""
    return (
        f"'{interpreter[0]}', which '{name}' needs, is not there"
        if interpreter and not os.path.exists(interpreter[0])
        else ""
    )
