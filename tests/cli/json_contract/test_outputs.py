"""Every command with `--json` prints one envelope, nothing else, and it fits its schema.

The helper that runs a command checks each output against the schema of its command.
"""

import pytest

from tests.cli.conftest import Mem, spawn
from tests.cli.json_contract.cases import CASES, TRAPS
from tests.json_output import check_output, schema_path

EMPTY = {"snapshot save nothing", "forget --purge quarantine"}


def _check(name: str, output: str) -> None:
    found = check_output(output)
    assert f"{name} ".startswith(f"{found['command']} ")
    assert bool(found["data"]) == (name not in EMPTY)


@pytest.mark.parametrize("name", CASES)
def test_output(stocked: tuple[Mem, list[str]], name: str) -> None:
    """The envelope names the command, and has data."""
    mem, ids = stocked

    _check(name, mem(*CASES[name](mem, ids), "--json").out)


@pytest.mark.parametrize("name", TRAPS)
def test_output_about_gotchas(trapped: tuple[Mem, list[str]], name: str) -> None:
    """As of all other commands; what is listed to be looked at exits with 1."""
    mem, ids = trapped
    code = 1 if name == "gotcha verify" else 0

    _check(name, mem(*TRAPS[name](mem, ids), "--json", code=code).out)


def test_nothing_is_an_empty_list(trapped: tuple[Mem, list[str]]) -> None:
    """No place, no hit, no error, nothing to look at: `[]`."""
    mem, ids = trapped
    mem("gotcha", "resolve", *ids)
    for args in (
        ["list"],
        ["snooze"],
        ["verify"],
        ["for", "nothing.txt"],
    ):
        assert mem("gotcha", *args, "--json").json == [], args
    assert mem("inbox", "--json").json == []


@pytest.mark.parametrize(
    "args",
    [
        ["list"],
        ["search", "zebra"],
        ["status"],
        ["timeline"],
        ["timeline", "--trends"],
        ["log"],
        ["show", "--graph"],
        ["work", "list"],
        ["session", "list"],
        ["snapshot", "list"],
        ["page", "summary"],
        ["session", "workflows"],
        ["session", "context"],
        ["session", "activate", "--list"],
        ["native", "status"],
        ["native", "pull"],
        ["session", "briefing"],
        ["search", "--sessions", "zebra"],
        ["remote", "show"],
        ["error", "list"],
        ["event", "list"],
        ["install", "--list"],
        ["restore", "--list"],
        ["code", "rank"],
        ["code", "drift"],
        ["trace", "export"],
        ["trace", "import"],
    ],
    ids=" ".join,
)
def test_output_without_any_memory(mem: Mem, args: list[str]) -> None:
    """A repository without a store has valid answers too."""
    assert check_output(mem(*args, "--json").out)["command"] == " ".join(
        arg for arg in args if arg not in {"zebra", "--list"}
    )


def test_an_output_of_another_shape_is_found(stocked: tuple[Mem, list[str]]) -> None:
    """The check itself sees a wrong type, a missing field and an unknown one."""
    mem, _ = stocked
    output = mem("log", "--json").out
    for old, new in (('"parents"', '"parent"'), ('"at": "2', '"at": "x'), ('"subject"', '"title"')):
        assert old in output
        with pytest.raises(AssertionError):
            check_output(output.replace(old, new))
    assert schema_path("log").is_file()


def test_json_says_the_same_as_the_record(stocked: tuple[Mem, list[str]]) -> None:
    """List, search, show and add agree on a record's fields."""
    mem, ids = stocked
    shown = mem.show(ids[0])
    listed = next(r for r in mem("list", "--json").json if r["id"] == ids[0])
    found = next(r for r in mem("search", "title 0", "--json").json if r["id"] == ids[0])
    for key in (
        "id",
        "kind",
        "title",
        "type",
        "importance",
        "status",
        "tags",
        "created",
        "updated",
        "rev",
        "author",
        "store",
        "blob",
        "store_path",
    ):
        assert listed[key] == found[key] == shown[key], key


def test_json_is_not_mixed_with_remarks(stocked: tuple[Mem, list[str]]) -> None:
    """Remarks and masked secrets go to stderr; what is empty is an empty list."""
    mem, ids = stocked
    done = mem("add", "T", "-m", "password = hunter2isnotsafe99", "--json")
    assert done.json["title"] == "T"
    assert "masked" in done.err
    assert mem("search", "zebra", "--json").json == []
    assert mem("list", "-k", "gotcha", "--json").json == []
    assert mem("log", ids[0], "-n", "1", "--json").json[0]["ids"]


def test_json_keeps_every_script(mem: Mem) -> None:
    """Any text comes back as it went in, also through a real pipe in a plain locale."""
    title, body = "naïve 日本 🎉 \u202e", 'quotes " \\ \t tab\nsecond line'
    id = mem.add(title, "-m", body)

    for locale in ("C", "POSIX", "C.UTF-8"):
        row = spawn(
            mem.folder,
            "show",
            id,
            "--json",
            env={"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        ).json[0]
        assert (row["title"], row["body"]) == (title, body + "\n")


@pytest.mark.parametrize("command", [["show", "ID"], ["list"], ["search", "words"], ["log"]])
def test_format(stocked: tuple[Mem, list[str]], command: list[str]) -> None:
    """`--format` prints one line each with tabs and line ends as in git, and nothing for a field without a value."""
    mem, ids = stocked
    args = [ids[0] if a == "ID" else a for a in command]
    field = "commit" if command[0] == "log" else "id"
    rows = mem(*args, "--json").json

    empty = "session" if command[0] == "log" else "story"
    out = mem(*args, "--format", rf"<{{{field}}}\t{{{empty}}}>").out
    assert out.splitlines() == [f"<{row[field]}\t>" for row in rows]
    assert mem(*args, "--format", r"{{x\n").out
