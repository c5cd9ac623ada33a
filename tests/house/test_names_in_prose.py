"""Comments, docstrings and documents name modules, folders and files of the project that exist."""

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

from gitmem.cli.commands import MOVED
from tests.house.conftest import ROOT

PACKAGES = sorted(path.name for path in (ROOT / "gitmem").iterdir() if path.is_dir())
FOLDERS = ("gitmem", "lsp", "tests", "scripts", "docs")
BASES = ("", "gitmem/", "lsp/", "lsp/gitmem_lsp/", "docs/")
_PACKAGE = "|".join(PACKAGES)
_FOLDER = "|".join(FOLDERS)
PATH = re.compile(rf"(?<![\w/.$<-])((?:{_FOLDER}|{_PACKAGE})/[\w/.-]+\.py)\b")
MODULE = re.compile(rf"`((?:{_PACKAGE})(?:\.[a-z_]\w*)+)(?:\(\))?`")
# files of the users in examples, and of an agent and a format that pages teach to add
EXAMPLES = re.compile(
    r"tests/test_(?:\w+)\.py|gitmem/agents/otter\.py|gitmem/services/interchange/readers/squirrel\.py"
)
COMMAND = re.compile(r"\bgit[ -]mem ([a-z]+)(?: ([a-z]+))?")
NOT_MODULES = re.compile(r".*\.(?:db|json|lock|damaged|org|toml|js|py)$")


def prose(path: Path) -> Iterator[str]:
    """Yield the comments and docstrings of a module, or the whole of a document."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        yield text
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield ast.get_docstring(node) or ""


def has_module(name: str) -> bool:
    """Say whether a dotted name is a module or package of ours, or a name that a module has."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        path = ROOT / "gitmem" / "/".join(parts[:length])
        if path.with_suffix(".py").is_file():
            left = parts[length:]
            return (
                not left
                or re.search(rf"\b{left[0]}\b", path.with_suffix(".py").read_text()) is not None
            )
        if path.is_dir():
            return length == len(parts)
    return False


def unknown_names(path: Path) -> set[str]:
    """Return the files and modules that the prose of a file names and that do not exist."""
    text = "\n".join(prose(path))
    files = {name for name in PATH.findall(text) if not EXAMPLES.fullmatch(name)}
    modules = {name for name in MODULE.findall(text) if not NOT_MODULES.fullmatch(name)}
    return {
        *(name for name in files if not any((ROOT / base / name).is_file() for base in BASES)),
        *(name for name in modules if not has_module(name)),
    }


def test_named_modules_exist() -> None:
    """A module that is renamed is renamed in the prose too; the changelog tells of the past."""
    command = ["git", "ls-files", "gitmem", "lsp", "scripts", "docs", "*.md"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.splitlines() if name.endswith((".py", ".md"))]
    unknown = {name: unknown_names(ROOT / name) for name in names if name != "CHANGELOG.md"}
    assert {name: missing for name, missing in unknown.items() if missing} == {}


def test_a_name_that_is_gone_is_noticed(tmp_path: Path) -> None:
    """Both forms are looked for: a path and a dotted name."""
    page = tmp_path / "page.md"
    page.write_text("See `store.ops` and gitmem/store/ops.py, or `store.operations`.\n")
    assert unknown_names(page) == {"store.ops", "gitmem/store/ops.py"}


def former_names(source: str) -> set[str]:
    """Return the former names of commands in the texts of a module, joined as they are shown."""
    texts = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.append(node.value)
        elif isinstance(node, ast.JoinedStr):
            parts = [getattr(part, "value", "") for part in node.values]
            texts.append("".join(part for part in parts if isinstance(part, str)))
    named = {words for text in texts for words in COMMAND.findall(text)}
    commands = {first for first, _ in named} | {f"{first} {second}" for first, second in named}
    return commands & MOVED.keys()


def test_no_text_names_a_former_command() -> None:
    """What a message advises can be run."""
    modules = [*(ROOT / "gitmem").rglob("*.py"), *(ROOT / "lsp").rglob("*.py")]
    former = {str(path): former_names(path.read_text(encoding="utf-8")) for path in modules}
    assert {path: names for path, names in former.items() if names} == {}


def test_a_former_command_in_a_split_text_is_noticed() -> None:
    """Also where the name goes on in the next line, or in a part of the text."""
    assert former_names("x = f'{a}: git ' 'mem activate --help'") == {"activate"}
    assert former_names("y = 'See: git mem gotcha stats'") == {"gotcha stats"}
    assert former_names("z = 'git mem session activate'") == set()
