"""Shell completion, driven through the shells themselves."""

import os
import pty
import re
import select
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from gitmem.agents.events import ADAPTERS
from gitmem.cli.group import Parts
from gitmem.cli.main import COMMANDS
from gitmem.codemap.grammars import GRAMMARS
from gitmem.config import SETTINGS
from gitmem.records.kinds import CATEGORIES, PREFIX, SEVERITIES, STATUSES, TYPES
from tests.conftest import git
from tests.house.conftest import ROOT, commands, git_mem, groups, options, takes_value

SCRIPTS = ROOT / "docs" / "completion"
ALL = ("bash", "zsh", "fish")
SHELLS = [shell for shell in ALL if shutil.which(shell) or os.environ.get("GITMEM_REQUIRE_ALL")]
GIT_COMPLETION = [
    Path("/usr/share/bash-completion/bash_completion"),
    Path("/usr/share/bash-completion/completions/git"),
]
HAS_GIT_COMPLETION = all(path.exists() for path in GIT_COMPLETION)
BASH_ROUTES = ["git-mem", "git mem", *(["git"] if HAS_GIT_COMPLETION else [])]
TERMINALS = [
    (shell, command, "" if command == "git mem" else "gotcha ")
    for shell in ("bash", "zsh")
    for command in ("git-mem", "git mem")
    if shell in SHELLS and (command, shell, HAS_GIT_COMPLETION) != ("git mem", "bash", False)
]
GROUPS = groups()
LEAVES = [name for name in commands() if name not in GROUPS]
CHOICES = {
    key: {"true", "false"} if row[0] == "bool" else set(row[0].split("|"))
    for key, row in SETTINGS.items()
    if row[0] == "bool" or "|" in row[0]
}
VALUES = {
    "add --kind": set(PREFIX),
    "add --type": set(TYPES),
    "list --status": set(STATUSES),
    "config": set(SETTINGS),
    "completion": set(ALL),
    "hook": set(ADAPTERS),
    "init --agents": {*ADAPTERS, "all", "none"},
    **{
        place: {*ADAPTERS, "git-hooks", "all"}
        for place in (
            "install",
            "install claude",
            "install --project",
            "uninstall",
            "uninstall --project",
        )
    },
    **{
        f"{name} --severity": set(SEVERITIES)
        for name in ("add", "gotcha add", "gotcha edit", "gotcha list")
    },
    **{
        f"{name} --category": set(CATEGORIES)
        for name in ("add", "gotcha add", "gotcha edit", "gotcha list")
    },
    "gotcha context -t": set(),
    "gotcha add --language": set(GRAMMARS),
    **{f"config {key}": values for key, values in CHOICES.items()},
    **{name: set(parts) for name, parts in GROUPS.items()},
}
TAKES_ID = (
    "show",
    "gotcha show",
    "gotcha edit",
    "gotcha resolve",
    "gotcha reopen",
    "gotcha snooze",
    "gotcha verify",
    "gotcha snooze --for 1d",
    "inbox --accept",
    "inbox --reject",
    "inbox --merge",
    "inbox --into",
)
TAKES_FILE = (
    "gotcha for",
    "gotcha for code.py",
    "gotcha context",
    "gotcha context --task text -n 3",
    "gotcha page -o",
    "gotcha verify x --anchor",
)

# Fills COMP_* as readline does and calls the function that `complete` named for the command.
BASH = r"""
ask () {
	COMP_LINE="$1" COMP_POINT=${#1} COMP_TYPE=9 COMPREPLY=()
	read -ra COMP_WORDS <<<"$1"
	[[ $1 != *' ' ]] || COMP_WORDS+=("")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	local spec
	if [ "$ROUTE" = "git mem" ]; then
		# as git's completion calls it
		words=("${COMP_WORDS[@]}") cword=$COMP_CWORD __git_cmd_idx=1
		_git_mem 2>/dev/null
	else
		spec=$(complete -p "${COMP_WORDS[0]}")
		[[ $spec =~ \ -F\ ([^ ]+) ]] && ${BASH_REMATCH[1]} "${COMP_WORDS[0]}" 2>/dev/null
	fi
	printf '%s\n' "${COMPREPLY[@]}"
	echo "--end--"
}
"""

# Prints what the script would tell _arguments, and goes on to the command's own.
ZSH = r"""
_arguments () {
  print -rl -- "$@"
  local spec
  for spec in "$@"; do [[ $spec == '*:: :->'* ]] && state=${spec##*->}; done
  # `*::` leaves the words from the part on
  [[ $state == part ]] && shift words
  return 0
}
ask () {
  local state= PREFIX= ; local -A opt_args
  words=(${=1})
  . $SCRIPT
  print -- --end--
}
"""


def _script(shell: str) -> str:
    return str(SCRIPTS / {"bash": "git-mem.bash", "zsh": "_git-mem", "fish": "git-mem.fish"}[shell])


def _answers(
    shell: str, text: str, lines: list[str], cwd: Path | None = None, **env: str
) -> list[list[str]]:
    done = subprocess.run(
        [shell, "-c", text],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    out = done.stdout.split("--end--\n")
    assert len(out) == len(lines) + 1, done.stderr
    return [part.splitlines() for part in out[:-1]]


def ask_bash(lines: list[str], cwd: Path | None = None, route: str = "git-mem") -> list[list[str]]:
    """Return what bash offers for lines that start with `git mem`, by one of the ways there."""
    if route == "git-mem":
        lines = [line.replace("git mem", "git-mem", 1) for line in lines]
    loaded = [*(GIT_COMPLETION if route == "git" else []), _script("bash")]
    text = "\n".join(
        [*(f"source '{path}'" for path in loaded), BASH, *(f"ask '{line}'" for line in lines)]
    )
    return _answers("bash", text, lines, cwd, ROUTE=route)


def ask_fish(lines: list[str], cwd: Path | None = None) -> list[list[str]]:
    """Return what fish offers: each `word<TAB>description`."""
    text = "\n".join(
        [
            f"source {_script('fish')}",
            *(
                f"complete -C '{line.replace('git mem', 'git-mem', 1)}'; echo --end--"
                for line in lines
            ),
        ]
    )
    return _answers("fish", text, lines, cwd)


def specs_of_zsh(lines: list[str]) -> list[list[str]]:
    """Return what the script tells zsh about lines without `git mem`."""
    return _answers(
        "zsh", "\n".join([ZSH, *(f"ask '{line}'" for line in lines)]), lines, SCRIPT=_script("zsh")
    )


def words(rows: list[str]) -> set[str]:
    return {row.split("\t")[0] for row in rows} - {""}


@pytest.fixture
def remembering(repo: Path) -> Path:
    """A repository with two memories, an index, and a remote."""
    for title in ("the first title", "the second title"):
        git_mem("add", title, cwd=repo)
    git(repo, "remote", "add", "hub", "/nowhere")
    git_mem("list", cwd=repo)
    return repo


@pytest.mark.parametrize("shell", [s for s in SHELLS if s != "zsh"])
def test_the_commands_are_those_of_the_command_line(shell: str) -> None:
    """No command lacks, none is there that the program does not know."""
    (rows,) = (ask_bash if shell == "bash" else ask_fish)(["git mem "])

    assert words(rows) == set(COMMANDS)


def test_zsh_has_the_parts_of_each_command_that_has_some() -> None:
    """All of them, with the line that the command's help has."""
    text = Path(_script("zsh")).read_text().split("_git-mem-parts () {")[1].split("\n}\n")[0]
    found = {
        name: re.findall(r"^ +'([a-z-]+):(.*)'$", block, re.MULTILINE)
        for name, block in re.findall(r"^    (\w+)\)(.*?);;$", text, re.MULTILINE | re.DOTALL)
    }

    assert {name: [part for part, _ in rows] for name, rows in found.items()} == {
        name: parts for name, parts in GROUPS.items() if name != "remote"
    } | {"remote": ["enable", "disable", "show"]}
    tables = {
        name: command.table for name in GROUPS if isinstance(command := commands()[name], Parts)
    }
    assert {name: dict(found[name]) for name in tables} == {
        name: {part: row[2] for part, row in table.items()} for name, table in tables.items()
    }


@pytest.mark.parametrize("ask", [ask_fish] * ("fish" in SHELLS))
def test_fish_describes_the_parts_of_a_command(ask: Callable[[list[str]], list[list[str]]]) -> None:
    """As the command's help does."""
    tables = {
        name: command.table for name in GROUPS if isinstance(command := commands()[name], Parts)
    }
    found = ask([f"git mem {name} " for name in tables])

    assert dict(zip(tables, found, strict=True)) == {
        name: [f"{part}\t{row[2]}" for part, row in table.items()] for name, table in tables.items()
    }


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_the_script_knows_which_options_take_a_value(shell: str) -> None:
    """The word after such an option is not an argument: which argument the cursor is at depends on it."""
    text = Path(_script(shell)).read_text()
    block = (
        text.split("__git_mem_takes_value ()")[1].split("return 0")[0]
        if shell == "bash"
        else text.split("switch $word")[1].split("set skip 1")[0]
    )
    found = set(re.findall(r"(?<=\s)--?[a-zA-Z-]+", block))
    every = [command for name, command in commands().items() if name in LEAVES]
    flags = {
        o
        for command in every
        for p in command.params
        if isinstance(p, click.Option) and p.is_flag
        for o in (*p.opts, *p.secondary_opts)
    }
    wanted = {option for command in every for option in takes_value(command)}

    # a name for `add`, and none for `install`: `VALUES` has what follows there; a branch of
    # `session list`, and nothing for `remote enable`
    assert wanted & flags == {"--project", "--branch"}
    assert found - {"-C", "--color"} == wanted


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_each_command_is_described_as_the_overview_does(shell: str) -> None:
    """A changed overview changes the completions."""
    text = Path(_script(shell)).read_text()
    if shell == "zsh":
        found = re.findall(
            r"^    '([a-z]+):(.*)'$",
            text.split("  commands=(")[1].split("\n  )")[0].replace("'\"'\"'", "’"),
            re.MULTILINE,
        )
    else:
        found = re.findall(
            r"needs_command -a ([a-z]+) -d '(.*)'$", text.replace("\\'", "’"), re.MULTILINE
        )

    assert {name: what.replace("’", "'") for name, what in found} == {
        name: row[1] for name, row in COMMANDS.items()
    }


@pytest.mark.parametrize("shell", SHELLS)
def test_the_options_are_those_of_each_command(shell: str) -> None:
    """Every long option of every command is offered, and no other."""
    if shell == "zsh":
        found = [
            set(re.findall(r"(?:^|[,*)}])(--[a-z-]+)", "\n".join(rows), re.MULTILINE))
            for rows in specs_of_zsh(LEAVES)
        ]
        found = [names - {"--color", "--no-pager", "--version"} for names in found]
    else:
        found = [
            words(rows)
            for rows in (ask_bash if shell == "bash" else ask_fish)(
                [f"git mem {name} --" for name in LEAVES]
            )
        ]

    assert dict(zip(LEAVES, found, strict=True)) == {
        name: options(commands()[name]) for name in LEAVES
    }


@pytest.mark.parametrize("shell", [s for s in SHELLS if s != "zsh"])
def test_values_are_those_that_are_allowed(shell: str) -> None:
    """Kinds, types, settings and the like come as the program has them."""
    found = (ask_bash if shell == "bash" else ask_fish)([f"git mem {place} " for place in VALUES])

    assert dict(zip(VALUES, map(words, found), strict=True)) == VALUES


def test_zsh_has_the_values_that_are_allowed() -> None:
    """Its lists stand in the script's text."""
    text = Path(_script("zsh")).read_text()
    lists = [
        f"({' '.join(names)})"
        for names in (PREFIX, TYPES, STATUSES, SEVERITIES, CATEGORIES, GRAMMARS)
    ]
    listed = re.findall(
        r"^    '([A-Za-z]+):|'([a-z]+[A-Z][A-Za-z]+):| '([a-z]+):",
        text.split("settings=(")[1].split("\n  )")[0],
        re.MULTILINE,
    )

    assert {"".join(row) for row in listed} == set(SETTINGS)
    assert [values for values in lists if values not in text] == []
    choices = text.split("_git-mem-setting-values () {")[1].split("\n}\n")[0]
    found = {
        key: set(values.split())
        for keys, values in re.findall(
            r'^    ([\w|]+)\) compadd "\$@" (.*) ;;$', choices, re.MULTILINE
        )
        for key in keys.split("|")
    }
    assert found == CHOICES


@pytest.fixture
def trapped(remembering: Path) -> Path:
    """The same repository with a gotcha."""
    git_mem("gotcha", "add", "the only trap", cwd=remembering)
    git_mem("list", cwd=remembering)
    return remembering


@pytest.mark.parametrize("shell", [s for s in SHELLS if s != "zsh"])
def test_ids_are_offered_where_one_is_asked_for(shell: str, trapped: Path) -> None:
    """All kinds where any will do; gotchas only where no other would be taken."""
    found = (ask_bash if shell == "bash" else ask_fish)(
        [f"git mem {place} " for place in TAKES_ID], trapped
    )
    id = git_mem("list", "-k", "gotcha", "--format", "{id}", cwd=trapped).strip()[-8:]
    offered = dict(
        zip(TAKES_ID, ({re.split("  |\t", row)[0] for row in rows} for rows in found), strict=True)
    )

    assert {place for place, ids in offered.items() if id not in ids} == set()
    assert {place for place, ids in offered.items() if len(ids) > 1} == {
        "show",
        "inbox --accept",
        "inbox --reject",
    }


@pytest.mark.parametrize("shell", [s for s in SHELLS if s != "zsh"])
def test_files_are_offered_where_one_is_asked_for(shell: str, trapped: Path) -> None:
    """And no id."""
    found = (ask_bash if shell == "bash" else ask_fish)(
        [f"git mem {place} " for place in TAKES_FILE], trapped
    )

    assert {place: words(rows) for place, rows in zip(TAKES_FILE, found, strict=True)} == {
        place: {"code.py", *([".git"] if shell == "bash" else [])} for place in TAKES_FILE
    }


@pytest.mark.parametrize("ask", [specs_of_zsh] * ("zsh" in SHELLS))
def test_zsh_asks_for_ids_and_files_where_they_are_asked_for(
    ask: Callable[[list[str]], list[list[str]]],
) -> None:
    """Of gotchas where no other record would be taken; files for a place in the code."""
    wanted = {
        **{
            f"gotcha {name}": "*: :_git-mem-gotchas"
            for name in ("show", "resolve", "reopen", "snooze", "verify")
        },
        "gotcha edit": "1: :_git-mem-gotchas",
        "gotcha for": "*:file:_files",
        "gotcha context": "*:file:_files",
        "show": "*: :_git-mem-ids",
        "edit": "1: :_git-mem-ids",
        "inbox": ":id:_git-mem-gotchas",
    }
    found = dict(zip(wanted, ask(list(wanted)), strict=True))

    assert [
        place for place, end in wanted.items() if not any(row.endswith(end) for row in found[place])
    ] == []


@pytest.mark.parametrize("route", BASH_ROUTES)
def test_bash_offers_ids_with_their_titles(route: str, remembering: Path) -> None:
    """By git-mem itself, as git calls `_git_mem`, and through git's own completion."""
    (rows,) = ask_bash(["git mem show "], remembering, route)
    titles = [line.split("  ", 1)[1] for line in rows]

    assert titles == ["the second title", "the first title"]


@pytest.mark.parametrize("route", BASH_ROUTES)
def test_bash_inserts_the_one_id_without_its_title(route: str, remembering: Path) -> None:
    """What is inserted is an id and nothing else."""
    id = git_mem("list", "--format", "{id}", cwd=remembering).splitlines()[0]
    short = id[-8:]

    assert ask_bash([f"git mem pin {short[:7]}"], remembering, route) == [[short]]


def test_bash_runs_nothing_that_a_name_holds(remembering: Path, tmp_path: Path) -> None:
    """A remote's name is text, also when it looks like a command."""
    mark = tmp_path / "ran"
    git(remembering, "config", f"remote.$(touch${{IFS}}{mark}).url", "/x")
    ask_bash(["git mem remote enable "], cwd=remembering)

    assert not mark.exists()


@pytest.mark.parametrize(
    "line",
    [
        "git mem add --kind=got",
        "git mem add --kind got",
        "git mem -C x --color never add -m text -k got",
    ],
)
def test_bash_completes_a_value_wherever_it_stands(line: str) -> None:
    """After a space, an equals sign, and other options with values."""
    assert ask_bash([line], route="git mem") == [["gotcha"]]


@pytest.mark.parametrize("shell", [s for s in SHELLS if s != "zsh"])
def test_ids_and_remotes_are_those_of_the_folder(shell: str, remembering: Path) -> None:
    """With titles; below several -C too."""
    ask = ask_bash if shell == "bash" else ask_fish
    below = f"git mem -C {remembering.parent} -C {remembering.name}"
    found = ask(["git mem show ", f"{below} show ", f"{below} remote enable "], cwd=remembering)

    assert {re.split("  |\t", row)[1] for row in found[0]} == {
        "the first title",
        "the second title",
    }
    assert sorted(found[0]) == sorted(found[1])
    assert found[2] == ["hub"]


def _typed(argv: list[str], keys: list[tuple[str, str]], cwd: Path, env: dict[str, str]) -> str:
    """Type keys into a shell on a terminal, each when its prompt text has come; return all that was shown."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        argv, stdin=slave, stdout=slave, stderr=slave, cwd=cwd, env=env, start_new_session=True
    )
    os.close(slave)
    shown, at = "", 0
    try:
        for waited, press in [*keys, ("\n@done", "")]:
            end = time.monotonic() + 20
            while waited not in shown[at:]:
                ready, _, _ = select.select([master], [], [], max(0.0, end - time.monotonic()))
                assert ready, f"no {waited!r} in {shown!r}"
                shown += os.read(master, 65536).decode("utf-8", "replace").replace("\r", "")
            at = len(shown)
            os.write(master, press.encode())
    finally:
        process.kill()
        process.wait()
        os.close(master)
    return shown


@pytest.mark.parametrize(("shell", "command", "group"), TERMINALS)
def test_a_key_in_a_real_terminal_completes_what_then_runs(
    shell: str, command: str, group: str, repo: Path, tmp_path: Path
) -> None:
    """TAB after `mem s…h` and after `show ` makes a line that shows the record."""
    git_mem(*group.split(), "add", "found by a key", "-m", "the body of it", cwd=repo)
    git_mem("list", cwd=repo)
    if shell == "bash":
        (tmp_path / "rc").write_text(
            "\n".join(
                [
                    "PS1='ready: '",
                    *(f"source {path}" for path in GIT_COMPLETION if path.exists()),
                    f"source {_script('bash')}\n",
                ]
            )
        )
        argv = ["bash", "--noprofile", "--rcfile", str(tmp_path / "rc"), "-i"]
    else:
        (tmp_path / ".zshrc").write_text(
            f"fpath=({SCRIPTS} $fpath)\nautoload -Uz compinit\ncompinit -u -D\nPS1='ready: '\n"
        )
        argv = ["zsh", "-i"]
    env = {
        **os.environ,
        "TERM": "dumb",
        "ZDOTDIR": str(tmp_path),
        "GIT_PAGER": "cat",
        "COLUMNS": "200",
    }

    shown = _typed(
        argv,
        [
            ("ready: ", f"{command} {group}sho\t\t"),
            ("show ", "\n"),
            ("the body of it", "echo @done\n"),
        ],
        repo,
        env,
    )

    assert "found by a key" in shown
