"""Manifests of Python: pyproject.toml, setup.cfg, setup.py, requirements files. Pure."""

import ast
from typing import Any

from gitmem.codemap.imports.files import table, texts, toml_table
from gitmem.services.dna.declared import (
    Declared,
    declare,
    is_development,
    is_stub,
    is_tool,
    requirements,
    versions,
)

_BUILDERS = frozenset({"poetry", "setuptools", "hatch", "flit", "pdm", "setuptools_scm", "uv"})
_RUNNERS = (
    ("pdm", ("scripts",), "pdm run "),
    ("poe", ("tasks",), "poe "),
    ("taskipy", ("tasks",), "task "),
    ("hatch", ("envs", "default", "scripts"), "hatch run "),
)


def pyproject(path: str, text: str) -> Declared:
    """Read a pyproject.toml."""
    given = toml_table(text)
    project, tool = table(given, "project"), table(given, "tool")
    poetry = table(tool, "poetry")
    made = Declared(path, "python", str(project.get("name") or poetry.get("name") or ""))
    made.version = str(project.get("version") or poetry.get("version") or "")
    made.description = str(project.get("description") or poetry.get("description") or "")
    if isinstance(project.get("requires-python"), str):
        made.needs["Python"] = project["requires-python"]
    made.uses = requirements(texts(project.get("dependencies")))
    for name, rows in table(project, "optional-dependencies").items():
        _group(made, str(name), requirements(texts(rows)))
    for rows in table(given, "dependency-groups").values():
        made.tries |= requirements(texts(rows))
    made.tries |= requirements(texts(table(tool, "uv").get("dev-dependencies")))
    _poetry(made, poetry)
    made.tries.pop(made.name, None)
    for rows in (
        table(project, "scripts"),
        table(project, "gui-scripts"),
        table(poetry, "scripts"),
    ):
        made.starts |= {name: str(where) for name, where in rows.items() if isinstance(where, str)}
    _scripts(made, tool)
    made.tools = sorted(name for name in tool if name not in _BUILDERS)
    return made


def _group(made: Declared, name: str, needs: dict[str, str]) -> None:
    """Note the dependencies of an extra: for development, or for who asks for it."""
    if is_development(name):
        made.tries |= needs
        return
    for package, version in needs.items():
        is_for_tests = is_tool(package) or is_stub(package)
        (made.tries if is_for_tests else made.options).setdefault(package, version)


def _poetry(made: Declared, poetry: dict[str, Any]) -> None:
    dependencies = table(poetry, "dependencies")
    for name, version in versions(dependencies).items():
        value = dependencies[name]
        if name == "python":
            made.needs["Python"] = version
        elif isinstance(value, dict) and value.get("optional") is True:
            made.options[name] = version
        else:
            made.uses[name] = version
    made.tries |= versions(table(poetry, "dev-dependencies"))
    for group in table(poetry, "group").values():
        made.tries |= versions(table(group, "dependencies"))


def _scripts(made: Declared, tool: dict[str, Any]) -> None:
    for manager, keys, runner in _RUNNERS:
        for name, command in table(tool, manager, *keys).items():
            if isinstance(command, dict):
                command = command.get("cmd") or command.get("shell") or command.get("help") or ""
            if isinstance(command, str) and not str(name).startswith("_"):
                made.scripts[str(name)] = command
                made.runner = runner


def setup_cfg(path: str, text: str) -> Declared:
    """Read a setup.cfg."""
    import configparser

    config = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        config.read_string(text)
    except configparser.Error:
        return Declared(path, "")

    def rows(section: str, key: str) -> list[str]:
        return [
            row.strip() for row in config.get(section, key, fallback="").splitlines() if row.strip()
        ]

    made = Declared(path, "python", config.get("metadata", "name", fallback=""))
    version = config.get("metadata", "version", fallback="")
    made.version = "" if version.startswith(("attr:", "file:")) else version
    about = config.get("metadata", "description", fallback="")
    made.description = "" if about.startswith(("attr:", "file:")) else about
    if python := config.get("options", "python_requires", fallback=""):
        made.needs["Python"] = python
    made.uses = requirements(rows("options", "install_requires"))
    if config.has_section("options.extras_require"):
        for key in config["options.extras_require"]:
            _group(made, key, requirements(rows("options.extras_require", key)))
    made.starts = _starts(
        [
            row
            for key in ("console_scripts", "gui_scripts")
            for row in rows("options.entry_points", key)
        ]
    )
    made.tools = sorted(
        {
            name.split(":")[-1].split(".")[0]
            for name in config.sections()
            if name.startswith(("tool:", "flake8", "isort", "mypy", "pycodestyle"))
        }
    )
    return made


def _starts(rows: list[str]) -> dict[str, str]:
    out = {}
    for row in rows:
        name, _, where = row.partition("=")
        out[name.strip()] = where.strip()
    return out


def setup_py(path: str, text: str) -> Declared:
    """Read a setup.py: what its call of `setup` says in literals, or by names of literals."""
    made = Declared(path, "python")
    tree = ast.parse(text)
    constants = _constants(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) == "setup":
            _fill(made, _arguments(node, constants))
    return made


def _called(node: ast.Call) -> str:
    return str(getattr(node.func, "id", getattr(node.func, "attr", "")))


def _constants(tree: ast.Module) -> dict[str, Any]:
    """Return the names of a module that have a literal as their value."""
    out: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                out[node.targets[0].id] = ast.literal_eval(node.value)
            except (ValueError, TypeError):
                continue
    return out


def _arguments(node: ast.Call, constants: dict[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for keyword in node.keywords:
        if isinstance(keyword.value, ast.Name):
            given[str(keyword.arg)] = constants.get(keyword.value.id)
            continue
        try:
            given[str(keyword.arg)] = ast.literal_eval(keyword.value)
        except (ValueError, TypeError):
            continue
    return given


def _fill(made: Declared, given: dict[str, Any]) -> None:
    made.name, made.version = str(given.get("name") or ""), str(given.get("version") or "")
    made.description = str(given.get("description") or "")
    if isinstance(given.get("python_requires"), str):
        made.needs["Python"] = given["python_requires"]
    made.uses = requirements(texts(given.get("install_requires")))
    made.tries |= requirements(texts(given.get("tests_require")))
    for name, rows in table(given, "extras_require").items():
        _group(made, str(name), requirements(texts(rows)))
    entries = table(given, "entry_points")
    made.starts = _starts(
        [row for key in ("console_scripts", "gui_scripts") for row in texts(entries.get(key))]
    )


def requirements_file(path: str, text: str) -> Declared:
    """Read a requirements file; its name says what it is for."""
    made = Declared(path, "python")
    needs = requirements(
        row for row in text.splitlines() if row.strip() and not row.lstrip().startswith(("#", "-"))
    )
    folder, _, name = path.rpartition("/")
    if is_development(name.rpartition(".")[0].removeprefix("requirements")):
        made.tries = needs
    elif folder.rpartition("/")[2] in {"extras", "optional"}:
        made.options = needs
    else:
        declare(made, needs)
    return made
