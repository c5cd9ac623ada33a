"""What a command pays before it does its work: modules it loads, processes it starts."""

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import gitmem
from tests.cli.conftest import Mem
from tests.conftest import git

# what takes long to load: `inspect` stands there by its name alone until it loads `dis`
COSTLY = {"dis", "hashlib", "pathlib", "pygit2", "networkx", "yaml", "tree_sitter"}
WRITING = {"gitmem.store.store", "gitmem.services.records.write"}
PROGRAMS = {"subprocess", "signal", "selectors"}
PROBE = """
import atexit, json, sys
before = set(sys.modules)
def tell():
    with open({out!r}, "w") as file:
        json.dump(sorted(name for name in sys.modules if name not in before), file)
atexit.register(tell)
sys.argv = ["git-mem", *{args!r}]
from gitmem.__main__ import command_line
command_line()
"""
# arguments -> (modules that are not loaded, calls of git at most); ID is a record's
COMMANDS: dict[tuple[str, ...], tuple[set[str], int]] = {
    ("--version",): (COSTLY | WRITING | PROGRAMS, 0),
    ("list", "-n", "20"): (COSTLY | WRITING | PROGRAMS, 0),
    ("search", "two"): (COSTLY | WRITING | PROGRAMS, 0),
    ("show", "ID"): (COSTLY | WRITING, 1),
    ("code", "dna", "show"): (COSTLY | WRITING | {"gitmem.codemap.graph.code_map"}, 2),
    ("status",): (COSTLY, 1),
    ("timeline", "--limit", "50"): (COSTLY | WRITING, 2),
    ("code", "evolution", "code.py"): (COSTLY | WRITING | {"gitmem.services.provenance.link"}, 1),
    ("why", "code.py:1"): ({"pygit2", "networkx", "yaml"}, 5),
    ("add", "Three"): ({"dis", "pygit2", "networkx", "yaml", "tree_sitter"}, 3),
    ("snapshot", "save"): ({"dis", "pygit2", "networkx", "yaml", "tree_sitter"}, 9),
}


@pytest.fixture
def lived_in(mem: Mem) -> Mem:
    """A repository with anchored records, a page of DNA, and warm caches."""
    lines = "".join(f"def step_{number}():\n    return {number}\n" for number in range(9))
    (mem.folder / "code.py").write_text(lines)
    git(mem.folder, "add", "code.py")
    git(mem.folder, "commit", "-qm", "Steps")
    mem("init")
    mem("add", "One rule", "--anchor", "code.py:3")
    mem("gotcha", "add", "The two steps", "--anchor", "code.py:5")
    mem("code", "dna", "refresh")
    mem("status")
    mem("code", "evolution", "code.py")
    return mem


def run_logged(mem: Mem, args: Sequence[str], folder: Path) -> tuple[set[str], list[str]]:
    """Run a command in a process of its own; return its modules and the calls of git."""
    folder.mkdir()
    log, out, real = folder / "log", folder / "modules", shutil.which("git")
    (folder / "git").write_text(f'#!/bin/sh\necho "$*" >> "{log}"\nexec "{real}" "$@"\n')
    (folder / "git").chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROBE.format(out=str(out), args=list(args))],
        cwd=mem.folder,
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    calls = log.read_text().splitlines() if log.exists() else []
    return set(json.loads(out.read_text())), calls


@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_a_command_loads_and_starts_no_more_than_it_needs(
    lived_in: Mem, tmp_path: Path, args: tuple[str, ...]
) -> None:
    """A command loads no module, and starts no git, that only others need."""
    unused, most = COMMANDS[args]
    id = str(lived_in("list", "--json").json[0]["id"])
    if args[0] == "snapshot":
        (lived_in.folder / "code.py").write_text("pass\n")

    modules, calls = run_logged(
        lived_in, [id if arg == "ID" else arg for arg in args], tmp_path / "run"
    )

    assert unused & modules == set()
    assert len(calls) <= most, calls


def test_anchors_at_files_that_are_gone_are_looked_up_together(
    lived_in: Mem, tmp_path: Path
) -> None:
    """However many files went, git's history is read for all of them at once."""
    for number in range(6):
        name = f"gone_{number}.py"
        (lived_in.folder / name).write_text(f"def gone_{number}(order):\n    return order\n")
        git(lived_in.folder, "add", name)
        git(lived_in.folder, "commit", "-qm", f"Add {name}")
        lived_in("gotcha", "add", f"Trap {number}", "--anchor", f"{name}:1")
        git(lived_in.folder, "rm", "-q", name)
        git(lived_in.folder, "commit", "-qm", f"Remove {name}")

    _, calls = run_logged(lived_in, ["why", "code.py:1"], tmp_path / "why")
    _, first = run_logged(lived_in, ["status"], tmp_path / "first")
    lived_in("drain")  # counts what a hurried status could not
    _, again = run_logged(lived_in, ["status"], tmp_path / "again")

    assert sum("--diff-filter=D" in call for call in calls) <= 1, calls
    assert sum("--diff-filter=D" in call for call in first) <= 1, first
    assert len(again) <= 1, again


def test_data_classes_say_what_they_are() -> None:
    """`dataclasses` loads `inspect` for one without a docstring."""
    silent = []
    for path in sorted((Path(gitmem.__file__).parent).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_data = isinstance(node, ast.ClassDef) and any(
                "dataclass" in ast.unparse(decorator) for decorator in node.decorator_list
            )
            if is_data and not ast.get_docstring(node):
                silent.append(f"{path.name}: {node.name}")
    assert silent == []


def test_settings_that_another_user_kept_are_not_believed(
    lived_in: Mem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may write in the git directory cannot say what this user's settings are."""
    cache = lived_in.folder / ".git/gitmem/settings.json"
    lived_in("list")
    kept = json.loads(cache.read_text())
    kept["values"]["gitmem.agent"] = ["mallory"]
    cache.write_text(json.dumps(kept))
    assert lived_in("config", "agent", "--json").json["value"] == "mallory"

    whole = os.fstat

    def of_another(number: int) -> os.stat_result:
        row = list(whole(number))
        row[4] += 1  # the owner
        return os.stat_result(row)

    with monkeypatch.context() as patch:
        patch.setattr("gitmem.settings_cache.os.fstat", of_another)
        assert lived_in("config", "agent", "--json").json["value"] == ""


def test_settings_are_read_anew_when_a_file_of_them_changed(lived_in: Mem) -> None:
    """What commands keep of the configuration follows each file that it comes from."""
    included = lived_in.folder.parent / "included"
    included.write_text("[gitmem]\n\tagent = ada\n")
    git(lived_in.folder, "config", "include.path", str(included))

    def agent() -> str:
        return str(lived_in("config", "agent", "--json").json["value"])

    assert (agent(), agent()) == ("ada", "ada")
    included.write_text("[gitmem]\n\tagent = bob\n")
    assert agent() == "bob"
    git(lived_in.folder, "config", "gitmem.agent", "eve")
    assert agent() == "eve"
    git(lived_in.folder, "config", "--unset", "gitmem.agent")
    nested = lived_in.folder.parent / "nested"
    nested.write_text("[gitmem]\n\tagent = zoe\n")
    included.write_text("[include]\n\tpath = nested\n")
    assert agent() == "zoe"
    nested.write_text("[gitmem]\n\tagent = mia\n")
    assert agent() == "mia"
    git(lived_in.folder, "config", "includeIf.onbranch:topic.path", str(included))
    git(lived_in.folder, "config", "--unset", "include.path")
    assert agent() == ""
    git(lived_in.folder, "checkout", "-q", "-b", "topic")
    assert agent() == "mia"
