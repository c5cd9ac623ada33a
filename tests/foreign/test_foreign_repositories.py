"""A repository of somebody else runs nothing: no hook, command or request starts a program that its configuration names."""

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from gitmem.agents import adapter
from gitmem.agents.events import ADAPTERS
from gitmem.cli.commands import VARIANTS
from gitmem.cli.main import cli
from tests.foreign.hostile import World, build
from tests.foreign.runner import Runner

NEWER = Path(__file__).parents[2] / ".cache/git/bin/git"
SAMPLES = Path(__file__).parents[1] / "agents/samples"
FULL = os.environ.get("GITMEM_STRESS") == "full"
SAFE = ("", "all", "explicit")
# What runs with every git and every setting, in every folder; the rest goes round.
ALWAYS = {"add", "list", "status", "SessionStart", "UserPromptSubmit", "SessionEnd"}
GIT_HOOKS = (
    "pre-commit",
    "prepare-commit-msg",
    "post-commit",
    "post-merge",
    "post-checkout",
    "post-rewrite",
    "pre-push",
)
# git runs the filters of the user's own `.git` for these
WRITES_FILES = {"snapshot save", "snapshot restore"}
ARGUMENTS = {
    "add": "A new memory -m text --anchor pay.py",
    "session activate": "dev",
    "archive": "last",
    "code imports": "pay.py",
    "code refs": "charge",
    "code symbols": "charge",
    "completion": "bash",
    "dashboard": "--out page-of-memory.html",
    "config": "capture",
    "done": "last",
    "export": "- --format json",
    "edit": "last --title Renamed",
    "error record": "KeyError-TAX_RATE",
    "event add": "Released",
    "code evolution": "pay.py",
    "extract": "--log -5",
    "forget": "last --yes",
    "gotcha add": "Trap --file pay.py",
    "gotcha for": "pay.py",
    "gotcha reopen": "last",
    "gotcha resolve": "last",
    "gotcha snooze": "last",
    "init": "",
    "install": "git-hooks claude",
    "link": "last last",
    "link --remove": "last last",
    "model check": "",
    "native watch-once": "--timeout 0.1",
    "page": "compound --out pages-of-memory",
    "pin": "last",
    "pin --remove": "last",
    "forget --purge": "--text Zebra --yes",
    "search --sessions": "charge",
    "remote disable": "origin",
    "remote enable": "origin --yes",
    "restore": "last",
    "scout": "charge twice in pay.py",
    "search": "charge",
    "session forget": "none",
    "session handover": "claude",
    "session note": "text",
    "session task": "one --done",
    "show": "last",
    "snapshot diff": "last",
    "snapshot drop": "last",
    "snapshot restore": "last --worktree --force",
    "snapshot show": "last",
    "supersede": "last Better",
    "uninstall": "git-hooks claude",
    "why": "pay.py:1",
    "uninstall --wipe": "--yes --dry-run",
    "work error": "failed",
    "work start": "epic",
}
Job = tuple[tuple[str, ...], str, dict[str, str]]  # arguments, standard input, environment


def commands(
    group: click.Command, above: click.Context | None = None, path: str = ""
) -> Iterator[tuple[str, bool]]:
    """Yield every command by its name, and whether it needs arguments."""
    context = click.Context(
        group, parent=above, info_name=path or "git-mem", **cli.context_settings
    )
    if not isinstance(group, click.Group):
        yield path.strip(), any(p.required for p in group.params)
        return
    variants = () if path else VARIANTS
    for name in (*group.list_commands(context), *variants):
        command = group.get_command(context, name)
        assert command is not None
        yield from commands(command, context, f"{path} {name}")


def payload(agent: str, raw: str, folder: Path) -> str:
    """Return what an agent's CLI sends for an event: as it was seen, else the least of it."""
    for sample in sorted((SAMPLES / agent).glob(f"{raw}*.json")):
        text = sample.read_text().replace("/home/user/repo", str(folder))
        if (data := json.loads(text)) and isinstance(data, dict):
            return json.dumps({**data, "cwd": str(folder), "transcript_path": ""})
    names = {
        "session_id": "s1",
        "sessionId": "s1",
        "conversation_id": "s1",
        "hook_event_name": raw,
        "cwd": str(folder),
    }
    return json.dumps(
        {**names, "workspace_roots": [str(folder)], "prompt": "why does charge() charge twice?"}
    )


def kinds() -> Iterator[tuple[str, Callable[[Path], Job]]]:
    """Yield all that can be called: by its name, the call in a folder."""
    for agent in ADAPTERS:
        for raw in adapter.find(agent).events:
            name = raw if agent == "claude" else f"{agent} {raw}"
            yield (
                name,
                lambda folder, agent=agent, raw=raw: (
                    ("hook", agent, raw),
                    payload(agent, raw, folder),
                    {},
                ),
            )
    for hook in GIT_HOOKS:
        args = (
            "git-hook",
            hook,
            *((".git-mem-message", "message") if hook == "prepare-commit-msg" else ()),
        )
        yield hook, lambda _, args=args: (args, "", {"GITMEM_SESSION": "s1"})
        yield (
            f"{hook} by git",
            lambda _, args=args: (args, "", {"GIT_DIR": ".", "GITMEM_SESSION": "s1"}),
        )
    for name, _ in commands(cli):
        args = (*name.split(), *ARGUMENTS.get(name, "").split())
        yield name, lambda _, args=args: (args, "", {})


def plan(world: World, many: int) -> Iterator[tuple[int, str, Path, Job]]:
    """Yield (environment, name, folder, call); with the full counts all of them.

    Else each call is made once, in a hostile `.git` or in one of the other folders, with one
    environment after the other; and what people and agents do all the time is done in the folder
    that looks like a git directory with all of them.
    """
    folders = [folder for folder in world.folders() if folder.is_dir()]
    others = [folder for folder in folders if folder != world.archive]
    for index, (name, call) in enumerate(kinds()):
        turn, to_archive = index // 2, index % 2 == 0 and name not in WRITES_FILES
        sampled = world.archive if to_archive else others[turn % len(others)]
        for folder, number in itertools.product(folders, range(many)):
            if world.obeyed(folder) and name in WRITES_FILES:
                continue
            always = name in ALWAYS and folder == world.clone / "sub"
            due = folder == sampled and number == turn % many
            if FULL or always or due:
                yield number, name, folder, call(folder)


def test_every_command_that_needs_arguments_has_some() -> None:
    """A new command is tried too."""
    assert {name for name, needs in commands(cli) if needs} <= ARGUMENTS.keys()


def gits() -> list[Path]:
    """Return the programs to try: this machine's git, and a newer one."""
    own = shutil.which("git")
    assert own is not None
    if not NEWER.exists():
        assert not os.environ.get("GITMEM_REQUIRE_ALL"), "there is no newer git: make newer-git"
        return [Path(own)]
    return [Path(own), NEWER]


def environments(base: Path) -> list[dict[str, str]]:
    """Return an environment for each git and each value of safe.bareRepository."""
    out = []
    for number, (program, value) in enumerate(itertools.product(gits(), SAFE)):
        home = base / f"home{number}"
        home.mkdir(parents=True)
        text = "[user]\n\tname = Ada\n\temail = ada@example.org\n"
        (home / ".gitconfig").write_text(
            text + (f"[safe]\n\tbareRepository = {value}\n" if value else "")
        )
        path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
        kept = {key: os.environ[key] for key in ("LANG", "TMPDIR") if key in os.environ}
        out.append(
            {
                **kept,
                "PATH": path,
                "HOME": str(home),
                "GIT_CONFIG_NOSYSTEM": "1",
                "EDITOR": "true",
                "PAGER": "cat",
            }
        )
    return out


@pytest.mark.stress
def test_nothing_of_it_runs(tmp_path: Path) -> None:
    """Every event of every agent, every git hook and every command, in every folder; all that there is, so it is slow."""
    envs = environments(tmp_path)
    maker = Runner(envs[0])
    world = build(tmp_path / "w", maker)
    maker.end()
    assert not world.log.exists(), "the repositories cannot be made without it"
    every = sorted(plan(world, len(envs)), key=lambda row: row[0])
    wrong = []
    for number, rows in itertools.groupby(every, key=lambda row: row[0]):
        env = envs[number]
        runner = Runner({**env, "PATH": f"{world.trip.parent}{os.pathsep}{env['PATH']}"})
        for _, name, folder, (args, stdin, more) in rows:
            code, said = runner.call(folder, *args, stdin=stdin, env=more)
            assert code in (0, 1, 2), (env, name, folder, code, said)
            assert "this is a fault of git mem itself" not in said, (env, name, folder, said)
            assert "Shipped memory" not in said or world.clone not in (folder, *folder.parents), (
                name,
                folder,
                said,
            )
            wrong += _ran(
                world, [env["PATH"].split(os.pathsep)[0], env["HOME"], str(folder), *args]
            )
        runner.end()
        wrong += _ran(world, ["the background"])
    assert wrong == []


def _ran(world: World, what: list[str]) -> list[Any]:
    if not world.log.exists():
        return []
    said = world.log.read_text()
    world.log.unlink()
    return [(" ".join(what), said)]


def test_tripwire_works(tmp_path: Path) -> None:
    """Git itself runs the program there: a test that cannot fail shows nothing."""
    (env, *_) = environments(tmp_path)
    maker = Runner(env)
    world = build(tmp_path / "w", maker)
    maker.end()
    for folder in (world.archive, world.clone / "sub", world.bare):
        for args in (
            ("status",),
            ("cat-file", "-p", "HEAD:docs/guide.md"),
            ("log", "-1"),
            ("diff", "HEAD~1"),
        ):
            subprocess.run(
                ["git", *args], cwd=folder, env=env, capture_output=True, check=False, timeout=60
            )
        assert world.log.exists(), folder
        world.log.unlink()


@pytest.mark.stress
def test_no_request_of_an_editor_runs_it(tmp_path: Path) -> None:
    """Every request that the server answers: in every folder with the full counts, else in four."""
    envs = environments(tmp_path)
    maker = Runner(envs[0])
    world = build(tmp_path / "w", maker)
    maker.end()
    sampled = [world.clone, world.clone / "sub", world.archive, world.bare]
    folders = [
        folder for folder in world.folders() if folder.is_dir() and (FULL or folder in sampled)
    ]
    assert len(folders) >= len(sampled)
    for number, folder in enumerate(folders):
        for env in envs if FULL else [envs[number % len(envs)]]:
            files = [
                path
                for path in sorted(folder.iterdir())
                if path.is_file() and path.stat().st_size < 20_000
            ][:3]
            answered = _asked(folder, files, env)
            assert answered > 10, folder
            assert _ran(world, [str(folder), env["HOME"]]) == []


def _asked(folder: Path, files: list[Path], env: dict[str, str]) -> int:
    """Send a server all requests about some files; return how many it answered."""
    messages = [
        _request(
            0, "initialize", {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}}
        ),
        _note("initialized", {}),
    ]
    number = 1
    for path in files:
        document = {
            "uri": path.as_uri(),
            "languageId": "python",
            "version": 1,
            "text": path.read_text(errors="replace"),
        }
        messages.append(_note("textDocument/didOpen", {"textDocument": document}))
        for method, params in _requests(path.as_uri(), str(path.relative_to(folder))):
            messages.append(_request(number, method, params))
            number += 1
    data = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in messages)
    server = subprocess.Popen(
        [sys.executable, "-P", "-m", "gitmem_lsp"],
        cwd=folder,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(data)
    server.stdin.flush()
    answered: set[int] = set()
    while len(answered) < number:
        length = int(server.stdout.readline().partition(b":")[2])
        while server.stdout.readline() != b"\r\n":
            pass
        message = json.loads(server.stdout.read(length))
        if "method" not in message:
            answered.add(message["id"])
    body = _request(number, "shutdown", None)
    server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    server.stdin.close()
    server.stdout.read()
    server.stdout.close()
    server.wait(30)
    return len(answered)


def _requests(uri: str, name: str) -> Iterator[tuple[str, Any]]:
    """Yield every request of the server about a document: what the server offers decides which."""
    from gitmem_lsp.features.commands import COMMANDS
    from gitmem_lsp.server import FEATURES

    place = {"line": 0, "character": 2}
    span = {"start": place, "end": {"line": 1, "character": 0}}
    params = {
        "textDocument": {"uri": uri},
        "position": place,
        "range": span,
        "query": "charge",
        "context": {"diagnostics": []},
        "previousResultIds": [],
    }
    methods = [row[0] for row in FEATURES]
    for method in methods:
        if (
            "/did" not in method
            and "/will" not in method
            and method.startswith(("textDocument/", "workspace/"))
        ):
            yield method, params
    for command in COMMANDS:
        yield (
            "workspace/executeCommand",
            {
                "command": command,
                "arguments": [{"uri": uri, "line": 0, "path": name, "query": "charge"}],
            },
        )


def _request(id: int, method: str, params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode()


def _note(method: str, params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()
