"""What the clients promise is what they and the server do: versions, settings, commands, pages."""

import json
import re
import tomllib
from typing import Any

import pytest

from gitmem import __version__
from gitmem_lsp.settings import DEFAULTS, KEYS
from tests.editors.conftest import ROOT

VSCODE = ROOT / "lsp" / "vscode"
NVIM = ROOT / "lsp" / "nvim"
# settings that the server does not know
OF_THE_CLIENT = {"path", "statusBar", "trace.server", "currentLine", "gutter"}


@pytest.fixture
def manifest() -> dict[str, Any]:
    """The extension's package.json."""
    found: dict[str, Any] = json.loads((VSCODE / "package.json").read_text(encoding="utf-8"))
    return found


def test_the_extension_has_our_version(manifest: dict[str, Any]) -> None:
    assert manifest["version"] == __version__
    assert f"## {__version__}" in (VSCODE / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_extensions_settings_are_the_servers(manifest: dict[str, Any]) -> None:
    """Names and defaults; each is in the extension's README, and asked for by its client."""
    given = manifest["contributes"]["configuration"]["properties"]
    readme = (VSCODE / "README.md").read_text(encoding="utf-8")
    client = (VSCODE / "src" / "client.ts").read_text(encoding="utf-8")

    assert {name for name in given if name.removeprefix("gitmem.") not in OF_THE_CLIENT} == {
        f"gitmem.{name}" for name in KEYS
    }
    assert {name: given[f"gitmem.{name}"]["default"] for name in KEYS} == {
        name: getattr(DEFAULTS, KEYS[name][0]) for name in KEYS
    }
    assert [name for name in given if f"`{name}`" not in readme] == []
    assert [name for name in KEYS if f'"{name}"' not in client] == []


def test_the_extensions_path_is_no_folders_to_set(manifest: dict[str, Any]) -> None:
    """A repository must not name a program that is run."""
    assert (
        manifest["contributes"]["configuration"]["properties"]["gitmem.path"]["scope"] == "machine"
    )
    assert manifest["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"] == [
        "gitmem.path"
    ]


def test_each_command_of_the_extension_is_there(manifest: dict[str, Any]) -> None:
    """What the manifest names is what the code registers; no name is one of the server's, which the client registers too."""
    code = (VSCODE / "src" / "commands.ts").read_text(encoding="utf-8")
    table = code[code.index("const all:") : code.index("return vscode.Disposable")]
    registered = {
        f"gitmem.editor.{name}" for name in re.findall(r"^      (\w+): \(", table, re.MULTILINE)
    }

    assert {command["command"] for command in manifest["contributes"]["commands"]} == registered


def test_a_wheel_has_all_that_the_extension_is_built_from() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        included = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    sources = {
        path.name
        for path in VSCODE.iterdir()
        if path.name not in {"node_modules", "dist"} and path.suffix != ".vsix"
    }

    assert {
        name.removeprefix("lsp/vscode/") for name in included if name.startswith("lsp/vscode/")
    } == sources


def test_versions_are_exact(manifest: dict[str, Any]) -> None:
    """There is no lock file: the manifest says which versions were tested."""
    assert [
        v for v in manifest["devDependencies"].values() if not re.fullmatch(r"\d+\.\d+\.\d+", v)
    ] == []


def test_the_help_of_the_plugin_has_each_subcommand_and_option() -> None:
    page = (NVIM / "doc" / "gitmem.txt").read_text(encoding="utf-8")
    commands = (NVIM / "lua" / "gitmem" / "commands.lua").read_text(encoding="utf-8")
    config = (NVIM / "lua" / "gitmem" / "config.lua").read_text(encoding="utf-8")
    subcommands = re.findall(r"^  (\w+) = \{ run", commands, re.MULTILINE)
    options = re.findall(
        r"^  (\w+) = ", config[config.index("M.defaults") : config.index("M.options")], re.MULTILINE
    )

    assert len(subcommands) > 10 and len(options) > 4
    assert [
        name for name in subcommands if not re.search(rf":(\[range\])?Gitmem \[?{name}\b", page)
    ] == []
    assert [name for name in (*options, *KEYS) if f"{name} = " not in page] == []
    assert max(len(line) for line in page.splitlines()) <= 80


@pytest.mark.parametrize(("page", "set_up"), [("emacs.md", "gitmem.el"), ("vim.md", "gitmem.vim")])
def test_a_page_has_the_set_up_that_is_tested(page: str, set_up: str) -> None:
    assert (ROOT / "lsp" / "setup" / set_up).read_text(encoding="utf-8").strip() in (
        ROOT / "docs" / "editors" / page
    ).read_text(encoding="utf-8")
