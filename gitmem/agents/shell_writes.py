"""What a shell command writes to files, as far as its words tell it.

Pure; hooks read commands only that `may_write`.

Texts that `cat`, `tee`, `echo` and `printf` put into a named file are read from the command. A
command that edits files in place (`sed -i`) tells only their names: what it changed is seen by
comparing the files before and after.
"""

import posixpath

from gitmem.agents.shell_words import ELSEWHERE, LONGEST, OPERATORS, simple_commands
from gitmem.base.fast import Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NAMED = 8  # files of one command that are compared
NAMES = 64  # words of one command that may name them
NAME = 300  # characters of a name
_HEREDOC = Lazy(r"<<-?[ \t]*(['\"]?)([A-Za-z_]\w{0,40})\1")
_NOT_IN_NAMES = frozenset(" \t\r\n\f\v;|&<>()'\"=`$*?{}")
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", "r": "\r", '"': '"', "'": "'"}
# heads of commands that write what they are told, or text that stands in a file that they name;
# formatters are none
_EDITORS = frozenset(
    "awk cat cd chmod cp echo export false head ls mkdir mv perl printf pwd rm sed sort tail "
    "tee touch tr true".split()
)
_GIT = frozenset("add commit diff log mv rm status".split())


class Write:
    """A text that a command puts into a file: as all of it, or at its end."""

    __slots__ = ("append", "path", "text")

    def __init__(self, path: str, text: str, *, append: bool) -> None:
        self.path = path
        self.text = text
        self.append = append


def writes(command: str) -> "list[Write]":
    """Return the texts that a command puts into files, the last for each file.

    Nothing for what is not understood.
    """
    if ">" not in command and "tee" not in command:
        return []
    rest, bodies = without_heredocs(command[:LONGEST])
    out: dict[str, Write] = {}
    folder = ""
    for words in simple_commands(rest):
        if words[0] == "cd" and len(words) == 2:
            folder = posixpath.join(folder, words[1])
            continue
        write = _write(words, bodies)
        if write is None:
            continue
        write.path = posixpath.join(folder, write.path)
        before = out.get(write.path)
        if before is not None and write.append:
            write = Write(write.path, before.text + write.text, append=before.append)
        out[write.path] = write
    return list(out.values())


def patches(command: str) -> str:
    """Return the patch that a command hands to `apply_patch`, '' when there is none."""
    start = command.find("*** Begin Patch")
    if start < 0 or "apply_patch" not in command[:start]:
        return ""
    end = command.find("*** End Patch", start)
    return command[start : end if end >= 0 else None]


def edited_names(command: str) -> "list[str]":
    """Return what may be names of files that a command changes, the first ones.

    Nothing where others' text may come in.
    """
    if len(command) > LONGEST or "$(" in command or "`" in command:
        return []
    rest, _ = without_heredocs(command)
    folder = ""
    names: dict[str, None] = {}
    for words in simple_commands(rest):
        head = posixpath.basename(words[0])
        if head == "cd" and len(words) == 2:
            folder = posixpath.join(folder, words[1])
        elif not _is_editor(head, words):
            return []
        elif len(names) < NAMES:
            names.update(
                (posixpath.join(folder, word), None) for word in filter(_is_name, words[1:])
            )
    return list(names)[:NAMES]


def _is_editor(head: str, words: "Sequence[str]") -> bool:
    return head in _EDITORS or (head == "git" and not _GIT.isdisjoint(words[1:2]))


def _is_name(word: str) -> bool:
    return 0 < len(word) <= NAME and word[0] != "-" and _NOT_IN_NAMES.isdisjoint(word)


def without_heredocs(command: str) -> "tuple[str, list[str]]":
    """Return a command without the bodies of its here-documents, and these."""
    if "<<" not in command:
        return command, []
    kept, bodies = [], []
    lines = iter(command.split("\n"))
    for line in lines:
        kept.append(line)
        for match in _HEREDOC.finditer(line):
            body = []
            for row in lines:
                if row.strip("\t") == match[2]:
                    break
                body.append(row)
            bodies.append("".join(f"{row}\n" for row in body))
    return "\n".join(kept), bodies


def _write(words: "Sequence[str]", bodies: "list[str]") -> Write | None:
    """Return what a simple command puts into a file.

    here-documents are taken from `bodies` in their order.
    """
    command = _Redirected(words, bodies)
    if command.has_operator or not command.words:
        return None
    head, arguments = posixpath.basename(command.words[0]), command.words[1:]
    if head == "tee" and command.body is not None:
        names = [word for word in arguments if not word.startswith("-")]
        append = "-a" in arguments
        return Write(names[0], command.body, append=append) if len(names) == 1 else None
    said = command.body if head == "cat" and not arguments else _said(head, arguments)
    if not command.target or said is None:
        return None
    return Write(command.target, said, append=command.append)


class _Redirected:
    """A simple command without its redirections, and what they say."""

    __slots__ = ("append", "body", "has_operator", "target", "words")

    def __init__(self, words: "Sequence[str]", bodies: "list[str]") -> None:
        self.words: list[str] = []
        self.target, self.append = "", False
        self.body: str | None = None
        self.has_operator = False
        rest = iter(words)
        for word in rest:
            if word in {">", ">>", ">|"}:
                self.target, self.append = next(rest, ""), word == ">>"
            elif word == ELSEWHERE:
                next(rest, "")  # what it says of errors is not what it was told to write
            elif word in {"<<", "<<-"}:
                next(rest, "")
                self.body = bodies.pop(0) if bodies else None
            elif word in OPERATORS:
                self.has_operator = True
                return
            else:
                self.words.append(word)


def _said(head: str, words: "Sequence[str]") -> str | None:
    """Return what `echo` or `printf` prints."""
    if head == "echo":
        flags = set()
        while words and words[0] in {"-n", "-e", "-ne", "-en"}:
            flags |= set(words[0][1:])
            words = words[1:]
        text = " ".join(words)
        return (_unescaped(text) if "e" in flags else text) + ("" if "n" in flags else "\n")
    if head != "printf" or not words:
        return None
    form, values = _unescaped(words[0]), list(words[1:])
    if form.replace("%%", "").count("%") == 0:
        return form.replace("%%", "%")
    if form.replace("%s", "").count("%"):
        return None
    count = form.count("%s")
    out = ""
    while values:
        part = values[:count] + [""] * (count - len(values[:count]))
        values = values[count:]
        pieces = form.split("%s")
        out += "".join(piece + value for piece, value in zip(pieces, [*part, ""], strict=True))
    return out


def _unescaped(text: str) -> str:
    """Return a text with its backslash escapes resolved."""
    out, at = [], 0
    while at < len(text):
        char = text[at]
        following = text[at + 1 : at + 2]
        if char == "\\" and following in _ESCAPES and following:
            out.append(_ESCAPES[following])
            at += 2
        else:
            out.append(char)
            at += 1
    return "".join(out)
