"""Manifests of Rust, Go and C: Cargo.toml, go.mod, CMakeLists.txt. Pure."""

import re
from typing import Any

from gitmem.codemap.imports.files import table, toml_table
from gitmem.services.dna.declared import Declared, version_of, versions

_OPTION = re.compile(r"(?i)\b(?:cmake_dependent_)?option\s*\(\s*(\w+)\s+\"[^\"]*\"\s*([\w${}]*)")
_STANDARD = re.compile(r"(?i)CMAKE_(CXX|C)_STANDARD\s+(\d+)")
_BLOCK = re.compile(r"(?i)^[ \t]*(if|endif|enable_testing|include)\s*\(([^()\n]*(?:\([^()\n]*\))?)")


def cargo(path: str, text: str) -> Declared:
    """Read a Cargo.toml."""
    given = toml_table(text)
    package = table(given, "package")
    made = Declared(
        path,
        "cargo",
        str(package.get("name") or ""),
        version_of(package.get("version")),
        version_of(package.get("description")),
    )
    for key, name in (("edition", "Rust edition"), ("rust-version", "Rust")):
        version = version_of(package.get(key)) or version_of(
            table(given, "workspace", "package").get(key)
        )
        if version:
            made.needs[name] = version if name == "Rust edition" else f">={version}"
    shared = versions(table(given, "workspace", "dependencies"))
    _dependencies(made, given, shared)
    for conditional in table(given, "target").values():
        _dependencies(made, conditional if isinstance(conditional, dict) else {}, shared)
    if not made.name:  # of a workspace only: what its members share
        made.uses = shared | made.uses
    made.starts |= _binaries(given.get("bin"))
    return made


def _binaries(bins: Any) -> dict[str, str]:
    out = {}
    for binary in bins if isinstance(bins, list) else ():
        if isinstance(binary, dict) and isinstance(binary.get("name"), str):
            out[binary["name"]] = str(binary.get("path") or f"src/bin/{binary['name']}.rs")
    return out


def _dependencies(made: Declared, given: dict[str, Any], shared: dict[str, str]) -> None:
    for key, out in (
        ("dependencies", made.uses),
        ("dev-dependencies", made.tries),
        ("build-dependencies", made.tries),
    ):
        rows = table(given, key)
        for name, version in versions(rows).items():
            value = rows[name]
            is_option = isinstance(value, dict) and value.get("optional") is True
            place = made.options if is_option and out is made.uses else out
            place.setdefault(name, version or shared.get(name, ""))


def go_mod(path: str, text: str) -> Declared:
    """Read a go.mod."""
    made = Declared(path, "go")
    if module := re.search(r'^[ \t]*module[ \t]+"?([^\s"]+)', text, re.MULTILINE):
        made.name = module[1]
    if version := re.search(r"^[ \t]*go[ \t]+(\S+)", text, re.MULTILINE):
        made.needs["Go"] = version[1]
    for block in re.findall(r"^require\s*\(([^)]*)\)", text, re.MULTILINE) + re.findall(
        r"^require\s+([^(\n]+)$", text, re.MULTILINE
    ):
        for row in block.splitlines():
            words = row.partition("//")[0].split()
            if len(words) == 2 and "indirect" not in row:
                made.uses[words[0]] = words[1]
    return made


def cmake(path: str, text: str) -> Declared:
    """Read a CMakeLists.txt."""
    made = Declared(path, "cmake")
    text = re.sub(r"#[^\n]*", "", text)
    if project := re.search(r"(?i)\bproject\s*\(\s*([\w.+-]+)(?:[^()]*?VERSION\s+([\d.]+))?", text):
        made.name, made.version = project[1], project[2] or ""
    if about := re.search(r'(?i)\bproject\s*\([^()]*?DESCRIPTION\s+"([^"]+)"', text):
        made.description = about[1]
    if version := re.search(r"(?i)cmake_minimum_required\s*\(\s*VERSION\s+(\d+(?:\.\d+)*)", text):
        made.needs["CMake"] = f">={version[1]}"
    made.needs |= _standards(text)
    _packages(made, text)
    if (options := _test_options(text)) is not None:
        flags = "".join(f" -D{name}=ON" for name in options)
        made.tested_by = f"cmake -B build{flags} && cmake --build build && ctest --test-dir build"
    return made


def _standards(text: str) -> dict[str, str]:
    """Return the least standard of C++ and C: which one is taken may depend on options."""
    given = [(kind.upper(), year) for kind, year in _STANDARD.findall(text)]
    out = {}
    for kind, name in (("CXX", "C++"), ("C", "C")):
        standards = [year for other, year in given if other == kind]
        if standards:
            least = min(standards, key=lambda year: (int(year) + 50) % 100)
            out[name] = least if len(set(standards)) == 1 else f">={least}"
    return out


def _packages(made: Declared, text: str) -> None:
    """Note what is looked for; what stands in a condition is looked for if somebody asks for it."""
    depth = 0
    for word, argument in re.findall(r"(?im)^[ \t]*(if|endif|find_package)\s*\(([^()\n]*)", text):
        depth += {"if": 1, "endif": -1}.get(word.lower(), 0)
        match = re.match(r"\s*([\w.+-]+)(?:\s+([\d.]+))?", argument)
        if word.lower() == "find_package" and match:
            (made.options if depth > 0 else made.uses).setdefault(match[1], match[2] or "")


def _test_options(text: str) -> list[str] | None:
    """Return the options that have to be set so that there are tests; None without tests."""
    off = {name for name, value in _OPTION.findall(text) if value.upper() != "ON"}
    conditions: list[str] = []
    for line in text.splitlines():
        match = _BLOCK.match(line)
        if match is None:
            continue
        word, argument = match[1].lower(), match[2]
        if word == "if":
            conditions.append(argument)
        elif word == "endif":
            del conditions[-1:]
        elif word == "enable_testing" or argument.strip().lower() == "ctest":
            names = re.findall(r"\w{0,60}TEST\w{0,60}", " ".join(conditions))
            return [name for name in dict.fromkeys(names) if name in off][:1]
    return None
