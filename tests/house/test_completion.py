"""Shell completion, driven through the shells themselves."""

import os
import pty
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from gitmem.agents.events import ADAPTERS
from gitmem.cli.commands import COMMANDS, PLUMBING, words_of
from gitmem.cli.completion import Zsh
from gitmem.cli.main import cli
from gitmem.codemap.grammars import GRAMMARS
from gitmem.config import SETTINGS
from gitmem.install.editors import EDITORS
from gitmem.install.mcp_clients import CLIENTS
from gitmem.records.kinds import CATEGORIES, PREFIX, SEVERITIES, STATUSES, TYPES
from tests.conftest import git
from tests.house.conftest import ROOT, commands, git_mem, groups, options
from tests.json_output import data_of

SCRIPTS = ROOT / "docs" / "completion"
ALL = ("bash", "zsh", "fish")
SHELLS = [shell for shell in ALL if shutil.which(shell) or os.environ.get("GITMEM_REQUIRE_ALL")]
GIT_COMPLETION = Path("/usr/share/bash-completion/completions/git")
HAS_GIT_COMPLETION = GIT_COMPLETION.exists() or bool(os.environ.get("GITMEM_REQUIRE_ALL"))
BASH_ROUTES = ["git-mem", "git mem", *(["git"] if HAS_GIT_COMPLETION else [])]
TERMINALS = [
    (shell, command)
    for shell in ("bash", "zsh")
    for command in ("git-mem", "git mem")
    if shell in SHELLS and (command, shell, HAS_GIT_COMPLETION) != ("git mem", "bash", False)
]
GROUPS = groups()
# plumbing is proposed when its name was begun
EVERYDAY = {name for name, row in COMMANDS.items() if row[2] != PLUMBING}
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
    "help": EVERYDAY,
    **{f"help {name}": set(parts) for name, parts in GROUPS.items()},
    **{f"help {name}": set(words_of(name)) for name in ("forget", "page", "search", "add")},
    "help nonsense": set(),
    "help forget --purge": set(),
    "init --agents": {*ADAPTERS, "all", "none"},
    **{
        place: {*ADAPTERS, *CLIENTS, *EDITORS, "git-hooks", "all"}
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
        for name in ("add", "edit", "gotcha add", "gotcha list")
    },
    **{
        f"{name} --category": set(CATEGORIES)
        for name in ("add", "edit", "gotcha add", "gotcha list")
    },
    "gotcha add --language": set(GRAMMARS),
    **{f"config {key}": values for key, values in CHOICES.items()},
}
NAMES_NO_RECORD = ("add --session", "work phase --story", "undo")
TAKES_ID = (
    "show",
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
TAKES_FILE = ("gotcha for code.py", "page gotchas --out")

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

# Prints what the script would hand to zsh's own functions.
ZSH = r"""
_describe () { print -rl -- "${(@P)${@[-1]}}" }
compadd () { print -rl -- "${(@P)${@[-1]}}" }
_path_files () { print -rl -- *(N) }
compset () { PREFIX=${PREFIX#--*=} }
ask () {
  local PREFIX
  words=("${(@s: :)1}")
  CURRENT=$#words PREFIX=$words[-1]
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
    loaded = [*([GIT_COMPLETION] if route == "git" else []), _script("bash")]
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


def ask_zsh(lines: list[str], cwd: Path | None = None) -> list[list[str]]:
    """Return what zsh is given: each `word` or `word:description`."""
    asked = [f"ask '{line.replace('git mem', 'git-mem', 1)}'" for line in lines]
    return _answers("zsh", "\n".join([ZSH, *asked]), lines, cwd, SCRIPT=_script("zsh"))


ASK = {"bash": ask_bash, "fish": ask_fish, "zsh": ask_zsh}


def words(rows: list[str]) -> set[str]:
    """Return the proposals without what describes them."""
    return {re.split(r"\t|:(?! |$)|  ", row)[0] for row in rows} - {""}


@pytest.fixture
def remembering(repo: Path) -> Path:
    """A repository with two memories, an index, and a remote."""
    for title in ("the first title", "the second title"):
        git_mem("add", title, cwd=repo)
    git(repo, "remote", "add", "hub", "/nowhere")
    git_mem("list", cwd=repo)
    return repo


def ask_program(line: str) -> set[str]:
    """Return what the program answers for a line without `git mem`, whatever the shell."""
    words = Zsh(cli, {}, "git-mem", "")
    *before, word = line.split(" ")
    return {item.value for item in words.get_completions(before, word) if item.type == "plain"}


def test_the_commands_are_those_of_the_command_line() -> None:
    """Those of the program and of its groups, none lacks."""
    assert ask_program("") == EVERYDAY
    assert ask_program("m") == {"mcp", "model"}
    assert {name: ask_program(f"{name} ") for name in GROUPS} == {
        name: set(parts) for name, parts in GROUPS.items()
    }


def test_the_options_are_those_of_each_command() -> None:
    """Every long option of every command is offered, and no other."""
    offered = {name: ask_program(f"{name} --") for name in LEAVES}

    assert offered == {name: options(commands()[name]) for name in LEAVES}


def test_help_offers_variants_beside_its_own_options() -> None:
    """Their names begin as options do."""
    own = options(commands()["help"])
    assert ask_program("help --") == own
    assert ask_program("help forget --") == {"--purge", *own}


def test_values_are_those_that_are_allowed() -> None:
    """Kinds, types, settings and the like come as the program has them."""
    assert {place: ask_program(f"{place} ") for place in VALUES} == VALUES


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_offers_commands_options_and_values(shell: str) -> None:
    """What the program answers reaches the shell."""
    lines = ["git mem ", "git mem code dna ", "git mem uninstall --wipe --", "git mem add --kind "]
    offered = [words(rows) for rows in ASK[shell](lines)]

    assert offered == [
        EVERYDAY,
        set(GROUPS["code dna"]),
        options(commands()["uninstall --wipe"]),
        set(PREFIX),
    ]


@pytest.mark.parametrize("shell", [shell for shell in SHELLS if shell != "bash"])
def test_commands_are_described_as_the_overview_does(shell: str) -> None:
    """In the shells that show a description."""
    (rows,) = ASK[shell](["git mem "])
    described = dict(re.split("[:\t]", row, maxsplit=1) for row in rows if row)

    assert described == {name: COMMANDS[name][1] for name in EVERYDAY}


@pytest.fixture
def trapped(remembering: Path) -> Path:
    """The same repository with a gotcha."""
    git_mem("gotcha", "add", "the only trap", cwd=remembering)
    git_mem("list", cwd=remembering)
    return remembering


def test_ids_are_offered_where_one_is_asked_for(
    trapped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All kinds where any will do; gotchas only where no other would be taken."""
    id = git_mem("list", "-k", "gotcha", "--format", "{id}", cwd=trapped).strip()[-8:]
    monkeypatch.chdir(trapped)
    offered = {place: ask_program(f"{place} ") for place in TAKES_ID}

    assert {place for place, ids in offered.items() if id not in ids} == set()
    assert {place for place, ids in offered.items() if len(ids) > 1} == {
        "show",
        "inbox --accept",
        "inbox --reject",
    }
    assert [ask_program(f"{place} ") for place in NAMES_NO_RECORD] == [set()] * len(NAMES_NO_RECORD)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("place", TAKES_FILE)
def test_files_are_offered_where_one_is_asked_for(shell: str, place: str, trapped: Path) -> None:
    """And no id."""
    (rows,) = ASK[shell]([f"git mem {place} "], trapped)
    hidden = {".git"} if shell == "bash" else set()

    assert words(rows) == {"code.py", *hidden}


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
    """A name that the shell would not read as it stands is not offered, and not run."""
    mark = tmp_path / "ran"
    git(remembering, "config", f"remote.$(touch${{IFS}}{mark}).url", "/x")
    git(remembering, "branch", "feat;touch")
    git(remembering, "branch", "feat/plain")
    remotes, branches = ask_bash(
        ["git mem remote enable ", "git mem code drift f"], cwd=remembering
    )

    assert not mark.exists()
    assert (remotes, branches) == (["hub"], ["feat/plain"])


def test_revisions_are_those_of_the_store(
    remembering: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A branch of the code is none; a command about the code takes branches."""
    git(remembering, "branch", "dev")
    monkeypatch.chdir(remembering)

    assert ask_program("diff ") == ask_program("show x --at ") == {"@", "hub"}
    assert "dev" in ask_program("code rank --at ")


def test_a_folder_that_is_not_there_has_no_ids(
    remembering: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the folder where the user is would be another repository's; `~` is the home."""
    monkeypatch.chdir(remembering)
    monkeypatch.setenv("HOME", str(remembering.parent))
    there = ask_program(f"-C ~/{remembering.name} show ")
    monkeypatch.chdir(remembering)

    assert len(there) == 2
    assert ask_program("-C /nowhere/at/all show ") == set()


def test_ids_of_the_own_store_are_offered_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records for all projects need no repository."""
    id = data_of(git_mem("add", "--user", "for all projects", "--json", cwd=tmp_path))["id"]
    git_mem("list", "--user", cwd=tmp_path)
    monkeypatch.chdir(tmp_path)

    assert ask_program("show ") == {id[-8:]}


@pytest.mark.parametrize("line", ["git mem sho", "git mem -C . sho"])
def test_fish_completes_below_git(line: str) -> None:
    """Fish's own completion of git asks for it; version 3.6.0 needs help."""
    if "fish" not in SHELLS:
        return
    program = f"source {_script('fish')}; source $__fish_data_dir/completions/git.fish; "
    done = subprocess.run(
        ["fish", "-c", f"{program}complete -C '{line}'"], capture_output=True, text=True, check=True
    )

    assert "show\tShow records" in done.stdout


def test_fish_completes_a_file_behind_an_equals_sign(tmp_path: Path) -> None:
    """The name of the option stays in front of it."""
    if "fish" not in SHELLS:
        return
    (tmp_path / "my page.html").touch()
    (rows,) = ask_fish(["git mem page gotchas --out=my"], tmp_path)

    assert words(rows) == {"--out=my page.html"}


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


@pytest.mark.parametrize("shell", SHELLS)
def test_ids_and_remotes_are_those_of_the_folder(shell: str, remembering: Path) -> None:
    """With titles; below several -C too."""
    ask = ASK[shell]
    below = f"git mem -C {remembering.parent} -C {remembering.name}"
    found = ask(["git mem show ", f"{below} show ", f"{below} remote enable "], cwd=remembering)

    assert {re.split("  |\t|:", row)[1] for row in found[0] if row} == {
        "the first title",
        "the second title",
    }
    assert sorted(found[0]) == sorted(found[1])
    assert words(found[2]) == {"hub"}


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


@pytest.mark.parametrize(("shell", "command"), TERMINALS)
def test_a_key_in_a_real_terminal_completes_what_then_runs(
    shell: str, command: str, repo: Path, tmp_path: Path
) -> None:
    """TAB after `mem s…h` and after `show ` makes a line that shows the record."""
    git_mem("add", "found by a key", "-m", "the body of it", cwd=repo)
    git_mem("list", cwd=repo)
    if shell == "bash":
        (tmp_path / "rc").write_text(
            "\n".join(
                [
                    "PS1='ready: '",
                    *([f"source {GIT_COMPLETION}"] if GIT_COMPLETION.exists() else []),
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
            ("ready: ", f"{command} sho\t\t"),
            ("show ", "\n"),
            ("the body of it", "echo @done\n"),
        ],
        repo,
        env,
    )

    assert "found by a key" in shown
