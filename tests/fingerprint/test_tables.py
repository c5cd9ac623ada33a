"""The tables of tools and words are data: they follow their schemas, and a new row is enough for a tool."""

import json
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gitmem.fingerprint import build_reports, python_reports, runner_reports
from gitmem.fingerprint.fingerprint import fingerprint

PACKAGE = resources.files("gitmem.fingerprint")
TABLES = ("tools", "error_words")
MODULES = ("__init__.py", "base/__init__.py", "base/fast.py")
PROBE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from gitmem.fingerprint.fingerprint import fingerprint
mark = fingerprint(sys.argv[2], command=sys.argv[3])
print(json.dumps([mark.pattern, mark.category] if mark else None))
"""
ZORP = {
    "name": "Zorp",
    "frames": [{"sign": "zorp saw", "prefix": "\\w+@zorp> "}],
    "wrappers": ["zorp: error log"],
    "errors": ["^z> Z\\d "],
    "leads": ["z> +"],
    "marks": ["§ "],
    "work": [{"kind": "lint", "commands": ["zorp"], "looks": ["^zorp saw "]}],
}


def read(name: str) -> Any:
    """Return a data file of the package."""
    return json.loads(PACKAGE.joinpath(f"{name}.json").read_text("utf-8"))


def problems(table: str, data: Any) -> list[str]:
    """Return what is wrong with a table, as its schema says it."""
    validator = jsonschema.Draft202012Validator(
        read(f"{table}.schema"), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )
    return [error.message for error in validator.iter_errors(data)]


@pytest.mark.parametrize("table", TABLES)
def test_a_table_follows_its_schema(table: str) -> None:
    """Each list is there, and says each thing once."""
    jsonschema.Draft202012Validator.check_schema(read(f"{table}.schema"))

    assert problems(table, read(table)) == []


def test_each_tool_has_a_name_of_its_own() -> None:
    names = [tool["name"] for tool in read("tools")["tools"]]

    assert sorted(set(names)) == sorted(names)


WRONG_ROWS: list[dict[str, Any]] = [
    {"work": [{"kind": "lint", "commands": ["zorp"]}]},
    {"name": "Zorp"},
    {"name": "Zorp", "work": []},
    {"name": "Zorp", "work": [{"kind": "lint"}]},
    {"name": "Zorp", "work": [{"kind": "run", "commands": ["zorp"]}]},
    {"name": "Zorp", "work": [{"kind": "lint", "comands": ["zorp"]}]},
    {"name": "Zorp", "work": [{"kind": "lint", "commands": []}]},
    {"name": "Zorp", "work": [{"kind": "lint", "commands": ["zorp "]}]},
    {"name": "Zorp", "work": [{"kind": "lint", "commands": ["zorp", "zorp"]}]},
    {"name": "Zorp", "work": [{"kind": "lint", "decides": ["(unclosed"]}]},
    {"name": "Zorp", "work": [{"kind": "lint", "programs": ["zorp"]}]},
    {"name": "Zorp", "work": [{"kind": "runtime", "mentions": ["zorp"]}]},
    {"name": "Zorp", "noise": ["Zorp starts"]},
    {"name": "Zorp", "wrappers": ["Zorp failed"]},
    {"name": "Zorp", "wrapper_patterns": ["("]},
    {"name": "Zorp", "errors": ["["]},
    {"name": "Zorp", "marks": [""]},
    {"name": "Zorp", "tails": [" at zorp"]},
    {"name": "Zorp", "frames": [{"sign": "z> "}]},
    {"name": "Zorp", "adds": [{"after": "z", "line": "y"}]},
    {"name": "Zorp", "reports": [{"sign": "x", "turn": 1}]},
    {"name": "Zorp", "reports": [{"sign": "", "turn": 1, "start": "x"}]},
    {"name": "Zorp", "reports": [{"sign": "x", "turn": 1, "reader": "p"}]},
    {"name": "Zorp", "reports": [{"sign": "x", "start": "x"}]},
    {"name": "Zorp", "reports": [{"sign": "x", "turn": 1, "reader": "runners.go", "skip": 1}]},
]


@pytest.mark.parametrize("row", WRONG_ROWS, ids=str)
def test_a_wrong_row_is_noticed(row: dict[str, Any]) -> None:
    """A name, a kind or a field that is wrong, an entry that fits nothing, a field without effect."""
    tools = read("tools")

    assert problems("tools", {**tools, "tools": [*tools["tools"], row]}) != []


def reports() -> list[dict[str, Any]]:
    return [report for tool in read("tools")["tools"] for report in tool.get("reports", [])]


def test_a_report_names_a_reader_that_exists() -> None:
    """And each reader has a report."""
    readers = {
        f"{group}.{name}"
        for group, module in {
            "python": python_reports,
            "runners": runner_reports,
            "builds": build_reports,
        }.items()
        for name in module.READERS
    }

    assert {report["reader"] for report in reports() if "reader" in report} == readers


@pytest.mark.parametrize("before", ["", "x", "Error: x\n", "1"])
@pytest.mark.parametrize("after", ["", "y", "\n", "\n\n  y\n", "y:\nz\n"])
def test_the_sign_of_a_report_may_be_in_any_output(before: str, after: str) -> None:
    """A reader that does not find the rest of its report leaves the output to the others."""
    for report in reports():
        mark = fingerprint(f"{before}{report['sign']}{after}")
        assert mark is None or mark.pattern


def test_a_thread_of_lisp_is_no_error_by_itself() -> None:
    mark = fingerprint("debugger invoked in thread #<THREAD main>\nerror: no rate for Peru\n")

    assert mark is not None and mark.pattern == "error: no rate for Peru"


@pytest.mark.parametrize(
    ("section", "wrong"),
    [
        ("categories", {"security": ["forbidden "]}),
        ("categories", {"crash_patterns": ["["]}),
        ("lines", {"stems": ["Error"]}),
        ("lines", {"marks": ["| ", "| "]}),
        ("names", {"before": []}),
        ("names", {"new": ["word"]}),
    ],
)
def test_a_wrong_list_of_words_is_noticed(section: str, wrong: dict[str, Any]) -> None:
    words = read("error_words")

    assert problems("error_words", {**words, section: {**words[section], **wrong}}) != []


def copy_package(folder: Path, row: dict[str, Any] | None = None) -> Path:
    """Return a copy of what makes fingerprints, with another row in the table of tools."""
    source = Path(str(PACKAGE)).parent
    shutil.copytree(source / "fingerprint", folder / "gitmem" / "fingerprint")
    for module in MODULES:
        target = folder / "gitmem" / module
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(source / module, target)
    if row is not None:
        table = read("tools")
        table["tools"].append(row)
        path = folder / "gitmem" / "fingerprint" / "tools.json"
        path.write_text(json.dumps(table), "utf-8")
    return folder


def probe(folder: Path, output: str, command: str) -> Any:
    """Return the pattern and the category of an output."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", PROBE, str(folder), output, command],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


OUTPUT = "zorp: error log follows\n§ z> Z4 two blanks\n"


@pytest.mark.parametrize(
    ("command", "output", "without", "with_row"),
    [
        # the program alone tells the category; noise, marks and signs tell the line
        (
            "zorp .",
            OUTPUT,
            ["zorp: error log follows", "general"],
            ["Z4 two blanks", "lint"],
        ),
        # without a command, the output does
        (
            "",
            "zorp saw 2 files\nhost@zorp> zorp: error log follows\nhost@zorp> § z> Z4 two blanks\n",
            ["host@zorp> zorp: error log follows", "general"],
            ["Z4 two blanks", "lint"],
        ),
        # the row is not asked about other tools
        ("make", "make: *** [all] Error 1", ["make: *** [all] Error 1", "build"], None),
    ],
)
def test_a_row_is_enough_for_a_new_tool(
    tmp_path: Path, command: str, output: str, without: list[str], with_row: list[str] | None
) -> None:
    """Its command, its marks and its errors are recognised without a change of the code."""
    assert problems("tools", {**read("tools"), "tools": [ZORP]}) == []
    before = copy_package(tmp_path / "before")
    after = copy_package(tmp_path / "after", ZORP)

    assert probe(before, output, command) == without
    assert probe(after, output, command) == (with_row or without)
