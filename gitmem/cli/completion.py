"""`git-mem __complete SHELL`: what shell completion asks for, answered from click's tree.

The scripts in `docs/completion/` send the words before the cursor's in COMP_WORDS, one a line, and
the part of the word before the cursor in COMP_WORD. The answer is that of click's own completion
classes: a type (`plain`, `file`, `dir`) and a value for each proposal. What a value may be follows
from its name in the usage line (ID, FILE).
"""

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Sequence

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    split_arg_string,
)

from gitmem.agents.events import ADAPTERS
from gitmem.cli.commands import words_of
from gitmem.cli.group import named
from gitmem.cli.help import context_of, help_command
from gitmem.codemap.grammars import GRAMMARS
from gitmem.config import SETTINGS
from gitmem.errors import GitmemError, NotARepository
from gitmem.git.process import Git, check_owner
from gitmem.index.reader import NAME, open_index
from gitmem.records.kinds import PREFIX
from gitmem.repo.location import Location, locate, user_repository

Items = list[CompletionItem[str]]
MOST = 50  # records that are proposed, the newest
SHORT = 8  # characters of an id's end that lists show
MENU = frozenset({"37", "42"})  # COMP_TYPE of menu-complete and insert-completions
# command -> kinds of the records that its ids name; all kinds for the others
KINDS = {
    "gotcha": ("gotcha",),
    "inbox": ("memory", "gotcha"),
    "check": ("memory", "gotcha"),
    "snapshot": ("snapshot",),
}
PLAIN_WORD = re.compile(r"[\w./:@=+,%-]+")  # what a shell reads as it stands


def plain(values: Sequence[str], incomplete: str) -> Items:
    """Return the values that begin as the incomplete word does."""
    return [CompletionItem(value) for value in values if value.startswith(incomplete)]


def record_ids(kinds: Sequence[str], incomplete: str) -> Items:
    """Return ids of records of some kinds (none: all) with their titles, the newest first.

    An id may be given whole, without its prefix, or as the end that lists show. The end is
    proposed where it is unique.
    """
    word = incomplete.lower()
    if not all(letter.isalnum() or letter in "._-" for letter in word):
        return []
    titles = dict(_matching(kinds, word))
    ends = [_short(id) for id in titles]
    items = []
    for id, title in list(titles.items())[:MOST]:
        forms = [form for form in (_short(id), id, id[4:]) if form.startswith(word)]
        is_unique = forms[0] != _short(id) or ends.count(forms[0]) == 1
        help = "".join(letter if letter.isprintable() else " " for letter in title)[:120]
        items.append(CompletionItem(forms[0] if is_unique else id, help=help, is_id=True))
    return items


def _short(id: str) -> str:
    return id[-SHORT:] if len(id) > 20 else id


def _matching(kinds: Sequence[str], word: str) -> Iterator[tuple[str, str]]:
    """Yield (id, title) of the records whose id begins with a word, from each index."""
    among = ""
    if kinds:
        marks = ", ".join(f"?{number}" for number in range(4, 4 + len(kinds)))
        among = f"AND kind IN ({marks})"
    sql = (
        "SELECT id, title FROM records WHERE (id LIKE ?1 ESCAPE '\\' "
        "OR substr(id, 5) LIKE ?1 ESCAPE '\\' OR substr(id, ?2) LIKE ?1 ESCAPE '\\') "
        f"{among} ORDER BY created DESC, id DESC LIMIT ?3"
    )
    pattern = word.replace("_", "\\_") + "%"
    folders = [os.path.join(user_repository(os.environ), "gitmem")]
    with contextlib.suppress(NotARepository):  # the user's own store can be read anywhere
        folders.insert(0, _repository().home)
    for folder in folders:
        index = open_index(os.path.join(folder, NAME))
        if index is not None:
            yield from index.db.execute(sql, (pattern, -SHORT, MOST, *kinds)).fetchall()
            index.db.close()


def _repository() -> Location:
    """Return the repository of this folder; raises GitmemError where git would not read it."""
    where = locate(".", os.environ)
    check_owner(where, ".", os.environ)
    return where


def _git_lines(*args: str) -> list[str]:
    """Return the lines that a git command prints."""
    done = Git(_repository().commondir, os.environ).run(*args)
    return done.decode("utf-8", "replace").splitlines()


def _setting_values(key: str) -> list[str]:
    """Return the values that a setting may have, as far as these can be listed."""
    kind = SETTINGS[key][0] if key in SETTINGS else ""
    if key == "remote":
        return _git_lines("remote")
    if kind == "bool":
        return ["true", "false"]
    return kind.split("|") if "|" in kind else []


# source of values -> its values
LISTS: dict[str, Callable[[], list[str]]] = {
    "agents": lambda: list(ADAPTERS),
    "agents or all": lambda: [*ADAPTERS, "all", "none"],
    "branches": lambda: _git_lines("for-each-ref", BRANCH_FORMAT, "refs/heads", "refs/remotes"),
    "kinds": lambda: list(PREFIX),
    "languages": lambda: list(GRAMMARS),
    "memory files": lambda: ["claude", "gemini", "agents", "agent:"],
    "nothing": list,
    "remotes": lambda: _git_lines("remote"),
    "store revisions": lambda: ["@", *_git_lines("remote")],
}
BRANCH_FORMAT = "--format=%(refname:short)"
# (command, name of the parameter) -> source of its values, where the tables below would be wrong
PARAMETERS = {
    ("init", "agents"): "agents or all",
    ("help", "words"): "commands",
    ("config", "key"): "settings",
    ("config", "value"): "setting values",
    ("native push", "names"): "memory files",
    ("native sync", "names"): "memory files",
    ("remote enable", "name"): "remotes",
    ("remote disable", "name"): "remotes",
    ("sync", "remote"): "remotes or files",
    ("inbox", "merged"): "gotchas",
    ("inbox", "into"): "gotchas",
    ("code refs", "what"): "file",
    ("undo", "what"): "nothing",
    ("work story", "ids"): "nothing",
    **dict.fromkeys([("work start", "name"), ("work import", "name")], "nothing"),
    **{
        (f"work {act}", "name"): "epics"
        for act in "pause abort complete resume discard show".split()
    },
}
# name of a parameter in any command -> source of its values
NAMES = {
    "agent": "agents",
    "branch": "branches",
    "epic": "epics",
    "executor": "agents",
    "language": "languages",
    **dict.fromkeys(["revision", "revisions", "refs"], "branches"),
    "remote": "remotes",
    "sender": "agents",
    # ids, but not of records
    **dict.fromkeys(["session", "story", "stories", "following", "ref"], "nothing"),
}
# name of the value in the usage line -> source of its values
METAVARS = {
    **dict.fromkeys(["FILE", "FILENAME", "PATH", "PATHS", "PLACE"], "file"),
    **dict.fromkeys(["DIR", "FOLDER"], "dir"),
    **dict.fromkeys(["ID", "IDS", "OLD", "OTHER", "TARGET"], "ids"),
    **dict.fromkeys(["A", "B", "REV"], "store revisions"),
    "AGENT": "agents",
    "KIND": "kinds",
}


def source_of(parameter: click.Parameter, command: str, metavar: str) -> str:
    """Return where the values of an option or an argument come from."""
    name = str(parameter.name)
    first = re.search(r"[A-Z]+", metavar)
    return (
        PARAMETERS.get((command, name))
        or NAMES.get(name)
        or METAVARS.get(first[0] if first else "", "nothing")
    )


def values_of(parameter: click.Parameter, context: click.Context, incomplete: str) -> Items:
    """Return the proposals for the value of an option or an argument."""
    if isinstance(parameter.type, click.Choice):
        return parameter.shell_complete(context, incomplete)
    words = context.command_path.split()[1:]
    metavar = parameter.make_metavar(context)
    source = source_of(parameter, " ".join(words), metavar)
    if source in {"file", "dir"}:
        return [CompletionItem(incomplete, type=source)]
    if source == "ids":
        return record_ids(KINDS.get(words[0], ()), incomplete)
    if source in {"epics", "gotchas"}:
        return record_ids(("work",) if source == "epics" else ("gotcha",), incomplete)
    if source == "remotes or files":
        return [*plain(LISTS["remotes"](), incomplete), CompletionItem(incomplete, type="file")]
    if source == "settings":
        rows = [(key, row[2]) for key, row in SETTINGS.items() if key.startswith(incomplete)]
        return [CompletionItem(key, help=about) for key, about in rows]
    if source == "commands":
        return _commands(context, incomplete)
    if source == "setting values":
        return plain(_setting_values(str(context.params.get("key"))), incomplete)
    literal = re.findall(r"(?<![\w-])[a-z][a-z-]+", metavar)  # [AGENT|git-hooks|all]
    return plain([*LISTS[source](), *literal], incomplete)


def _commands(context: click.Context, incomplete: str) -> Items:
    """Return what may follow the words after `git mem help`: commands, or a command's variants."""
    words: tuple[str, ...] = context.params.get("words") or ()
    above = context_of(context.find_root(), words)
    if above.command_path.split()[1:] != list(words):
        return []
    items: Items = []
    if isinstance(above.command, click.Group):
        items = above.command.shell_complete(above, incomplete)
    variants = words_of(words[0]) if len(words) == 1 else {}
    return [item for item in items if item.value[:1] != "-"] + named(variants, incomplete)


class _Words(ShellComplete):
    """Reads the words that all scripts send alike, and answers from the tree."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the complete words after `git-mem`, and the word at the cursor."""
        before = os.environ.get("COMP_WORDS", "").split("\n")[1:]
        sent = self.joined([*before, os.environ.get("COMP_WORD", "")])
        unquoted = [split_arg_string(word) for word in sent]
        return [word[0] for word in unquoted[:-1] if word], "".join(unquoted[-1][:1])

    def joined(self, words: list[str]) -> list[str]:
        """Return the words as the command line has them."""
        return words

    def get_completions(self, args: list[str], incomplete: str) -> Items:
        """Return the proposals; none where the line is wrong already."""
        from click.shell_completion import _resolve_context, _resolve_incomplete

        try:
            context = _resolve_context(self.cli, self.ctx_args, self.prog_name, args)
            for folder in context.find_root().params.get("folders") or ():
                _enter(folder)
            target, word = _resolve_incomplete(context, args, incomplete)
            if isinstance(target, click.Parameter):
                return values_of(target, context, word)
            items = target.shell_complete(context, word)
            if context.command is help_command:  # a variant's name begins as an option does
                items = [*_commands(context, word), *items]
            return items
        except (click.ClickException, GitmemError, OSError):
            return []


def _enter(folder: str) -> None:
    """Go to the folder of -C; to one that is in no repository when it cannot be entered."""
    try:
        os.chdir(os.path.expanduser(folder))
    except OSError:
        os.chdir(os.sep)


class Bash(_Words, BashComplete):
    """Ids come with their titles where there is a choice to make."""

    def joined(self, words: list[str]) -> list[str]:
        """Return the words with `--kind=memory` and `-C a:b` in one, as they were typed."""
        out: list[str] = []
        for number, word in enumerate(words):
            is_option = bool(out) and out[-1].startswith("--")
            is_last = number == len(words) - 1
            if (is_option and (word == "=" or out[-1].endswith("="))) or (
                out and not is_last and (word == ":" or out[-1].endswith(":"))
            ):
                out[-1] += word
            else:
                out.append(word)
        return out

    def complete(self) -> str:
        """Return one line a proposal."""
        items = self.get_completions(*self.get_completion_args())
        is_choice = len(items) > 1 and os.environ.get("COMP_TYPE") not in MENU
        lines = []
        for item in items:
            if item.type == "plain" and not PLAIN_WORD.fullmatch(item.value):
                continue  # the shell would read it as something else, or run it
            title = f"  {item.help}" if is_choice and getattr(item, "is_id", False) else ""
            lines.append(f"{item.type},{item.value}{title}")
        return "\n".join(lines)


class Fish(_Words, FishComplete):
    """One line a proposal: type, value, help."""


class Zsh(_Words, ZshComplete):
    """Three lines a proposal: type, value, help."""


SHELLS = {"bash": Bash, "fish": Fish, "zsh": Zsh}


def main(args: Sequence[str]) -> int:
    """Print the proposals for a shell; nothing when anything is wrong."""
    from gitmem.cli.main import cli

    shell = SHELLS.get(args[0] if args else "")
    if shell is not None:
        try:
            print(shell(cli, {}, "git-mem", "").complete())  # noqa: T201 - the shell reads it
        except Exception:  # noqa: BLE001 - a message would land in the user's command line
            pass
    return 0
