"""The layers hold: the contracts in pyproject.toml, and that nothing stands outside of them."""

import ast
import os
import subprocess
import tomllib
from typing import Any

import pytest

from tests.house.conftest import BIN, ROOT


def _contracts() -> list[dict[str, Any]]:
    with open(ROOT / "pyproject.toml", "rb") as file:
        settings: dict[str, Any] = tomllib.load(file)
    found: list[dict[str, Any]] = settings["tool"]["importlinter"]["contracts"]
    return found


def _layers() -> list[str]:
    (contract,) = (
        c for c in _contracts() if c["type"] == "layers" and c["containers"] == ["gitmem"]
    )
    return [name.strip() for row in contract["layers"] for name in row.replace(":", "|").split("|")]


def _lint() -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "lsp")])}
    return subprocess.run(
        [str(BIN / "lint-imports"), "--no-cache"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_import_contracts_hold() -> None:
    """Layers point downwards, siblings form no cycles, heavy packages have one wrapper each."""
    done = _lint()

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Contracts: {len(_contracts())} kept, 0 broken." in done.stdout


def test_each_module_is_in_a_layer() -> None:
    """A new file or folder must say where it belongs."""
    here = {
        path.stem
        for path in (ROOT / "gitmem").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    } - {"__init__"}

    assert here == set(_layers())


def test_each_folder_with_code_is_a_package() -> None:
    """A folder without __init__.py is seen by no contract."""
    code = [
        path
        for root in (ROOT / "gitmem", ROOT / "lsp" / "gitmem_lsp")
        for path in root.rglob("*.py")
    ]

    assert code
    assert [str(path) for path in code if not (path.parent / "__init__.py").is_file()] == []


@pytest.mark.parametrize("package", ["gitmem", "lsp/gitmem_lsp"])
def test_packages_start_with_nothing(package: str) -> None:
    """An `__init__.py` imports nothing, so that one module never pays for its neighbours."""
    files = [
        path
        for path in (ROOT / package).rglob("__init__.py")
        if "import " in path.read_text(encoding="utf-8")
    ]

    assert files == []


def test_only_its_wrapper_knows_libgit2() -> None:
    """`pygit2` is imported in one module, behind the interface that both back ends share."""
    wrapped = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "gitmem").rglob("*.py")
        if "import pygit2" in path.read_text(encoding="utf-8")
    ]

    assert wrapped == ["gitmem/git/objects_pygit2.py"]


def test_no_two_classes_share_a_name() -> None:
    """A name means one thing in the whole project; a class inside of a function counts too."""
    places: dict[str, list[str]] = {}
    for folder in ("gitmem", "lsp/gitmem_lsp"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))

    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}
