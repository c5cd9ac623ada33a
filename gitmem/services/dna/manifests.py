"""What a project's manifests declare.

They declare its name, what it needs in which versions, what it starts, and its scripts. This module
is pure.

Only what is written there is told: a range stays a range, and what has no version has none.
"""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from gitmem.codemap.imports.files import json_object, table, texts, toml_table

_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;#)]*)")
_GRADLE = re.compile(
    r"""(?:implementation|api|compileOnly|runtimeOnly|kapt"""
    r"""|testImplementation)\s*+(?:\(\s*+)?["']([\w.-]+):([\w.-]+)(?::([\w.-]+))?["']"""
)
_GEM = re.compile(r"""^[ \t]*gem\s+["']([\w-]+)["'](?:\s*,\s*["']([^"']+)["'])?""", re.MULTILINE)
_GEMSPEC = re.compile(
    r"""\.add_(?:runtime_)?dependency\s*+(?:\(\s*+)?["']([\w-]+)["'](?:\s*,\s*["']([^"']+)["'])?"""
)
_TARGET = re.compile(r"^([A-Za-z0-9][\w.-]*)\s*:(?![=:])[^#\n]*(?:##?\s*(.*))?$", re.MULTILINE)


@dataclass(slots=True)
class Declared:
    """What one manifest declares.

    `needs` are the languages and tools that it asks for, `uses` its dependencies, `tries` those for
    development only.
    """

    path: str
    ecosystem: str
    name: str = ""
    version: str = ""
    description: str = ""
    needs: dict[str, str] = field(default_factory=dict)
    uses: dict[str, str] = field(default_factory=dict)
    tries: dict[str, str] = field(default_factory=dict)
    starts: dict[str, str] = field(default_factory=dict)  # what can be started -> where that is
    scripts: dict[str, str] = field(default_factory=dict)  # command -> what it runs
    tools: list[str] = field(default_factory=list)  # that are configured in it


def reader(path: str) -> "Callable[[str, str], Declared] | None":
    """Return what reads a manifest, by its name; None for a file that is none."""
    name = path.rsplit("/", 1)[-1]
    if name in _READERS:
        return _READERS[name]
    if name.endswith(".gemspec"):
        return _gemspec
    if name.endswith((".csproj", ".fsproj")):
        return _csproj
    return _requirements if re.fullmatch(r"requirements(?:[-_.]\w+)?\.(?:txt|in)", name) else None


# files whose first line is the version of one tool
_VERSION_FILES = {
    ".python-version": "Python",
    ".nvmrc": "Node.js",
    ".node-version": "Node.js",
    ".ruby-version": "Ruby",
}


def version_file(path: str) -> str | None:
    """Return the language whose version a file such as `.python-version` names."""
    return _VERSION_FILES.get(path.rsplit("/", 1)[-1])


def read(path: str, data: bytes) -> Declared:
    """Return what a manifest declares; nothing but its path for one that cannot be read."""
    made = reader(path)
    if made is None:
        return Declared(path, "")
    try:
        return made(path, data.decode("utf-8", "replace"))
    # somebody else's file, of whatever shape
    except (ValueError, TypeError, AttributeError, RecursionError, SyntaxError):
        return Declared(path, "")


def _strings(value: Mapping[str, Any]) -> dict[str, str]:
    return {str(key): _version(one) for key, one in value.items()}


def _version(value: Any) -> str:
    """Return the version that a dependency's entry names, whichever way it is written.

    '' for a path or a repository.
    """
    if isinstance(value, str):
        return value.strip()
    found = value.get("version") if isinstance(value, dict) else None
    return found.strip() if isinstance(found, str) else ""


def _requirement(text: str) -> tuple[str, str]:
    found = _REQUIREMENT.match(text)
    return (found[1], "".join(found[2].split())) if found else ("", "")


def _needs(rows: "list[str]") -> dict[str, str]:
    return {name: version for name, version in map(_requirement, rows) if name}


def _package_json(path: str, text: str) -> Declared:
    given = json_object(text)
    made = Declared(
        path,
        "npm",
        str(given.get("name") or ""),
        str(given.get("version") or ""),
        str(given.get("description") or ""),
    )
    made.needs = {
        {"node": "Node.js"}.get(name, name): version
        for name, version in _strings(table(given, "engines")).items()
    }
    if isinstance(given.get("packageManager"), str):
        name, _, version = given["packageManager"].partition("@")
        made.needs[name] = version.partition("+")[0]
    made.uses = _strings(table(given, "dependencies")) | _strings(table(given, "peerDependencies"))
    made.tries = _strings(table(given, "devDependencies"))
    bin_ = given.get("bin")
    if isinstance(bin_, str):
        made.starts[made.name.rpartition("/")[2]] = bin_
    made.starts |= {name: where for name, where in _strings(table(given, "bin")).items() if where}
    for key in ("main", "module"):
        if isinstance(given.get(key), str):
            made.starts.setdefault(f"({key})", given[key])
            break
    made.scripts = {
        name: command for name, command in _strings(table(given, "scripts")).items() if command
    }
    return made


def _pyproject(path: str, text: str) -> Declared:
    given = toml_table(text)
    project, tool = table(given, "project"), table(given, "tool")
    poetry = table(tool, "poetry")
    made = Declared(path, "python", str(project.get("name") or poetry.get("name") or ""))
    made.version = str(project.get("version") or poetry.get("version") or "")
    made.description = str(project.get("description") or poetry.get("description") or "")
    if isinstance(project.get("requires-python"), str):
        made.needs["Python"] = project["requires-python"]
    made.uses = _needs(texts(project.get("dependencies")))
    for name, version in _strings(table(poetry, "dependencies")).items():
        (made.needs if name == "python" else made.uses)["Python" if name == "python" else name] = (
            version
        )
    for rows in [
        *table(project, "optional-dependencies").values(),
        *table(given, "dependency-groups").values(),
    ]:
        made.tries |= _needs(texts(rows))
    made.tries |= _strings(table(poetry, "dev-dependencies"))
    for group in table(poetry, "group").values():
        made.tries |= _strings(table(group, "dependencies"))
    for rows in (
        table(project, "scripts"),
        table(project, "gui-scripts"),
        table(poetry, "scripts"),
    ):
        made.starts |= {name: str(where) for name, where in rows.items() if isinstance(where, str)}
    for manager in ("pdm", "hatch", "poe", "taskipy"):
        scripts = table(tool, manager, "tasks" if manager in {"poe", "taskipy"} else "scripts")
        if manager == "hatch":
            scripts = table(tool, "hatch", "envs", "default", "scripts")
        made.scripts |= {
            name: command for name, command in scripts.items() if isinstance(command, str)
        }
    made.tools = sorted(
        name
        for name in tool
        if name not in {"poetry", "setuptools", "hatch", "flit", "pdm", "setuptools_scm"}
    )
    return made


def _setup_cfg(path: str, text: str) -> Declared:
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
    made.description = config.get("metadata", "description", fallback="")
    if found := config.get("options", "python_requires", fallback=""):
        made.needs["Python"] = found
    made.uses = _needs(rows("options", "install_requires"))
    if config.has_section("options.extras_require"):
        for key in config["options.extras_require"]:
            made.tries |= _needs(rows("options.extras_require", key))
    for key in ("console_scripts", "gui_scripts"):
        for row in rows("options.entry_points", key):
            name, _, where = row.partition("=")
            made.starts[name.strip()] = where.strip()
    made.tools = sorted(
        {
            name.split(":")[-1].split(".")[0]
            for name in config.sections()
            if name.startswith(("tool:", "flake8", "isort", "mypy", "pycodestyle"))
        }
    )
    return made


def _setup_py(path: str, text: str) -> Declared:
    made = Declared(path, "python")
    for node in ast.walk(ast.parse(text)):
        if not (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", getattr(node.func, "attr", "")) == "setup"
        ):
            continue
        given: dict[str, Any] = {}
        for keyword in node.keywords:
            try:
                given[str(keyword.arg)] = ast.literal_eval(keyword.value)
            except (ValueError, TypeError):
                continue
        made.name, made.version = str(given.get("name") or ""), str(given.get("version") or "")
        made.description = str(given.get("description") or "")
        if isinstance(given.get("python_requires"), str):
            made.needs["Python"] = given["python_requires"]
        made.uses = _needs(texts(given.get("install_requires")))
        for rows in table(given, "extras_require").values():
            made.tries |= _needs(texts(rows))
        for key in ("console_scripts", "gui_scripts"):
            for row in texts(table(given, "entry_points").get(key)):
                name, _, where = row.partition("=")
                made.starts[name.strip()] = where.strip()
    return made


def _requirements(path: str, text: str) -> Declared:
    made = Declared(path, "python")
    found = _needs(
        [
            row
            for row in text.splitlines()
            if row.strip() and not row.lstrip().startswith(("#", "-"))
        ]
    )
    if re.search(r"(?:dev|test|doc|lint|ci)", path.rsplit("/", 1)[-1]):
        made.tries = found
    else:
        made.uses = found
    return made


def _cargo(path: str, text: str) -> Declared:
    given = toml_table(text)
    package = table(given, "package")
    made = Declared(
        path,
        "cargo",
        str(package.get("name") or ""),
        _version(package.get("version")),
        _version(package.get("description")),
    )
    for key, name in (("edition", "Rust edition"), ("rust-version", "Rust")):
        if found := _version(package.get(key) or table(given, "workspace", "package").get(key)):
            made.needs[name] = found if name == "Rust edition" else f">={found}"
    made.uses = _strings(table(given, "dependencies")) | _strings(
        table(given, "workspace", "dependencies")
    )
    made.tries = _strings(table(given, "dev-dependencies")) | _strings(
        table(given, "build-dependencies")
    )
    bins = given.get("bin")
    for one in bins if isinstance(bins, list) else ():
        if isinstance(one, dict) and isinstance(one.get("name"), str):
            made.starts[one["name"]] = str(one.get("path") or f"src/bin/{one['name']}.rs")
    return made


def _go_mod(path: str, text: str) -> Declared:
    made = Declared(path, "go")
    if found := re.search(r'^\s*module\s+"?([^\s"]+)', text, re.MULTILINE):
        made.name = found[1]
    if found := re.search(r"^\s*go\s+(\S+)", text, re.MULTILINE):
        made.needs["Go"] = found[1]
    for block in re.findall(r"^require\s*\(([^)]*)\)", text, re.MULTILINE) + re.findall(
        r"^require\s+([^(\n]+)$", text, re.MULTILINE
    ):
        for row in block.splitlines():
            words = row.partition("//")[0].split()
            if len(words) == 2 and "indirect" not in row:
                made.uses[words[0]] = words[1]
    return made


def _pom(path: str, text: str) -> Declared:
    # no manifest needs one, and entities can make much of little
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        return Declared(path, "")
    root = ElementTree.fromstring(text)  # noqa: S314 - see above
    for one in root.iter():
        one.tag = one.tag.rpartition("}")[2]
    found = {f"${{{one.tag}}}": (one.text or "").strip() for one in root.findall("properties/*")}

    def said(one: Any, name: str) -> str:
        value = (one.findtext(name) or "").strip()
        return found.get(value, value)

    made = Declared(
        path,
        "maven",
        said(root, "artifactId"),
        said(root, "version"),
        " ".join(said(root, "description").split()),
    )
    for key in ("maven.compiler.release", "java.version", "maven.compiler.source"):
        if value := found.get(f"${{{key}}}"):
            made.needs["Java"] = found.get(value, value)
            break
    for one in root.findall("dependencies/dependency"):
        name = f"{said(one, 'groupId')}:{said(one, 'artifactId')}"
        (made.tries if said(one, "scope") == "test" else made.uses)[name] = said(one, "version")
    if parent := root.find("parent"):
        made.needs[said(parent, "artifactId")] = said(parent, "version")
    return made


def _gradle(path: str, text: str) -> Declared:
    made = Declared(path, "gradle")
    made.uses = {f"{group}:{name}": version for group, name, version in _GRADLE.findall(text)}
    if found := re.search(
        r"(?:sourceCompatibility|JavaLanguageVersion\.of"
        r"|jvmToolchain)\s*[=(]\s*[\"']?(?:JavaVersion\.VERSION_)?([\d_.]+)",
        text,
    ):
        made.needs["Java"] = found[1].replace("_", ".")
    return made


def _composer(path: str, text: str) -> Declared:
    given = json_object(text)
    made = Declared(
        path,
        "composer",
        str(given.get("name") or ""),
        str(given.get("version") or ""),
        str(given.get("description") or ""),
    )
    for name, version in _strings(table(given, "require")).items():
        if name == "php":
            made.needs["PHP"] = version
        elif not name.startswith("ext-"):
            made.uses[name] = version
    made.tries = _strings(table(given, "require-dev"))
    made.scripts = {
        name: command if isinstance(command, str) else " && ".join(texts(command))
        for name, command in table(given, "scripts").items()
    }
    for one in texts(given.get("bin")):
        made.starts[one.rpartition("/")[2]] = one
    return made


def _gemfile(path: str, text: str) -> Declared:
    made = Declared(path, "ruby")
    if found := re.search(r"""^\s*ruby\s+["']([^"']+)["']""", text, re.MULTILINE):
        made.needs["Ruby"] = found[1]
    made.uses = dict(_GEM.findall(text))
    return made


def _gemspec(path: str, text: str) -> Declared:
    made = Declared(path, "ruby")
    if found := re.search(r"""\.name\s*=\s*["']([^"']+)["']""", text):
        made.name = found[1]
    if found := re.search(r"""\.version\s*=\s*["']([^"']+)["']""", text):
        made.version = found[1]
    if found := re.search(r"""\.summary\s*=\s*["']([^"']+)["']""", text):
        made.description = found[1]
    if found := re.search(r"""required_ruby_version\s*=\s*["']([^"']+)["']""", text):
        made.needs["Ruby"] = found[1]
    made.uses = dict(_GEMSPEC.findall(text))
    return made


def _csproj(path: str, text: str) -> Declared:
    made = Declared(path, "dotnet", path.rsplit("/", 1)[-1].rpartition(".")[0])
    if found := re.search(r"<TargetFrameworks?>([^<]+)<", text):
        made.needs[".NET"] = found[1]
    for name, rest in re.findall(r'<PackageReference\s+(?:Include|Update)="([^"]+)"([^>]*)', text):
        found = re.search(r'Version="([^"]+)"', rest)
        made.uses[name] = found[1] if found else ""
    return made


def _cmake(path: str, text: str) -> Declared:
    made = Declared(path, "cmake")
    if found := re.search(r"(?i)\bproject\s*\(\s*([\w.+-]+)(?:[^()]*?VERSION\s+([\d.]+))?", text):
        made.name, made.version = found[1], found[2] or ""
    if found := re.search(r"(?i)cmake_minimum_required\s*\(\s*VERSION\s+(\d+(?:\.\d+)*)", text):
        made.needs["CMake"] = f">={found[1]}"
    if found := re.search(r"(?i)CMAKE_(CXX|C)_STANDARD\s+(\d+)", text):
        made.needs["C++" if found[1] == "CXX" else "C"] = found[2]
    made.uses = dict(re.findall(r"(?i)find_package\s*\(\s*([\w.+-]+)(?:\s+([\d.]+))?", text))
    return made


def _makefile(path: str, text: str) -> Declared:
    made = Declared(path, "make")
    for name, about in _TARGET.findall(text):
        if "." not in name and "$" not in name:
            made.scripts.setdefault(name, about.strip())
    return made


_READERS: "dict[str, Callable[[str, str], Declared]]" = {
    "package.json": _package_json,
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
    "Cargo.toml": _cargo,
    "go.mod": _go_mod,
    "pom.xml": _pom,
    "build.gradle": _gradle,
    "build.gradle.kts": _gradle,
    "composer.json": _composer,
    "Gemfile": _gemfile,
    "CMakeLists.txt": _cmake,
    "Makefile": _makefile,
    "makefile": _makefile,
    "GNUmakefile": _makefile,
}
