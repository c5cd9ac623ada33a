"""Manifests of PHP, Ruby, .NET, Elixir, Swift and Dart. Pure."""

import re
from collections.abc import Iterator

from gitmem.codemap.imports.files import json_object, table, texts
from gitmem.services.dna.declared import Declared, declare, versions
from gitmem.text.safe_yaml import load_yaml

_GEM = re.compile(
    r"""^[ \t]*gem\s+["']([\w-]+)["'](?:\s*,\s*["']([^"']+)["'])?([^\n]*)""", re.MULTILINE
)
_GEMSPEC = re.compile(
    r"""\.add_((?:runtime_|development_)?)dependency\s*+(?:\(\s*+)?["']([\w-]+)["']"""
    r"""(?:\s*,\s*["']([^"']+)["'])?"""
)


_GEM_FIELD = re.compile(
    r"""\.(name|version|summary|required_ruby_version)\s*=\s*["']([^"'\n]{1,400})["']"""
)
_MIX_FIELD = re.compile(r'\b(version|description|elixir):\s*(?:"([^"\n]+)"|(@\w+))')
_MIX_PACKAGE = re.compile(r'\{:(\w{1,80}),\s{0,20}(?:"([^"\n]{1,80})")?([^{}]{0,200})\}')
_PACKAGE_REFERENCE = re.compile(
    r'<PackageReference\s{1,20}(?:Include|Update)="([^"<>]{1,200})"([^<>]{0,300}?)'
    r"(?:/>|>(.{0,600}?)</PackageReference>)",
    re.DOTALL,
)


def composer(path: str, text: str) -> Declared:
    """Read a composer.json."""
    given = json_object(text)
    made = Declared(
        path,
        "composer",
        str(given.get("name") or ""),
        str(given.get("version") or ""),
        str(given.get("description") or ""),
    )
    for name, version in versions(table(given, "require")).items():
        if name == "php":
            made.needs["PHP"] = version
        elif not name.startswith("ext-"):
            made.uses[name] = version
    made.tries = {
        name: version
        for name, version in versions(table(given, "require-dev")).items()
        if not name.startswith("ext-")
    }
    for name, command in table(given, "scripts").items():
        rows = [command] if isinstance(command, str) else texts(command)
        made.scripts[str(name)] = " && ".join(rows)
    for target in texts(given.get("bin")):
        made.starts[target.rpartition("/")[2]] = target
    return made


def gemfile(path: str, text: str) -> Declared:
    """Read a Gemfile. Where a gemspec declares what is needed, its gems are for development."""
    made = Declared(path, "ruby")
    if ruby := re.search(r"""^[ \t]*ruby[ \t]+["']([^"']+)["']""", text, re.MULTILINE):
        made.needs["Ruby"] = ruby[1]
    has_gemspec = re.search(r"^[ \t]*gemspec\b", text, re.MULTILINE) is not None
    spans = list(_development_groups(text))
    for match in _GEM.finditer(text):
        name, version, rest = match[1], match[2] or "", match[3]
        is_grouped = re.search(r"group[s:=> \[]*:(?:test|development)\b", rest) is not None
        is_inside = any(start <= match.start() < end for start, end in spans)
        if has_gemspec or is_grouped or is_inside:
            made.tries[name] = version
        else:
            declare(made, {name: version})
    return made


def _development_groups(text: str) -> Iterator[tuple[int, int]]:
    """Yield where blocks of gems for tests and development begin and end."""
    start, at = -1, 0
    for line in text.splitlines(keepends=True):
        words = re.findall(r":?\w+", line[:200])
        if words[:1] == ["group"] and words[-1:] == ["do"]:
            start = at if {":test", ":development"} & set(words) else -1
        elif words[:1] == ["end"] and start >= 0:
            yield start, at
            start = -1
        at += len(line)


def gemspec(path: str, text: str) -> Declared:
    """Read a gemspec."""
    made = Declared(path, "ruby")

    said = {key: value for key, value in _GEM_FIELD.findall(text) if "#{" not in value}
    made.name = said.get("name", "") or path.rsplit("/", 1)[-1].removesuffix(".gemspec")
    made.version, made.description = said.get("version", ""), said.get("summary", "")
    if version := said.get("required_ruby_version"):
        made.needs["Ruby"] = version
    for scope, name, version in _GEMSPEC.findall(text):
        (made.tries if scope == "development_" else made.uses)[name] = version
    return made


def csproj(path: str, text: str) -> Declared:
    """Read a project file of C# or F#."""
    made = Declared(path, "dotnet", path.rsplit("/", 1)[-1].rpartition(".")[0])
    if frameworks := re.search(r"<TargetFrameworks?>([^<$]+)<", text):
        made.needs[".NET"] = frameworks[1].replace(";", " ").strip().replace(" ", ", ")
    if about := re.search(r"<Description>([^<]+)</Description>", text):
        made.description = about[1]
    for name, rest, inner in _PACKAGE_REFERENCE.findall(text):
        match = re.search(r'Version="([^"$]+)"|<Version>([^<$]+)<', rest + inner)
        version = (match[1] or match[2]) if match else ""
        if re.search(r"PrivateAssets(?:=\"|>)\s*all", rest + inner, re.IGNORECASE):
            made.tries[name] = version
        else:
            declare(made, {name: version})
    if re.search(r'<OutputType>(?:Win)?Exe<|Sdk="Microsoft\.NET\.Sdk\.Web"', text):
        made.starts[made.name] = "Program.cs"
    return made


def mix(path: str, text: str) -> Declared:
    """Read a mix.exs."""
    made = Declared(path, "mix")
    text = re.sub(r"^[ \t]*#[^\n]*", "", text, flags=re.MULTILINE)
    constants = dict(re.findall(r'^[ \t]*(@\w+)\s+"([^"]+)"', text, re.MULTILINE))

    said: dict[str, str] = {}
    for key, value, constant in _MIX_FIELD.findall(text):
        said.setdefault(key, value or constants.get(constant, ""))
    if app := re.search(r"\bapp:\s*:(\w+)", text):
        made.name = app[1]
    made.version, made.description = said.get("version", ""), said.get("description", "")
    if version := said.get("elixir"):
        made.needs["Elixir"] = version
    for name, version, rest in _MIX_PACKAGE.findall(text):
        if re.search(r"only: {0,9}\[? {0,9}:(?:dev|test|docs)", rest):
            made.tries[name] = version
        elif "optional: true" in rest:
            made.options[name] = version
        else:
            made.uses[name] = version
    return made


def package_swift(path: str, text: str) -> Declared:
    """Read a Package.swift."""
    made = Declared(path, "swift")
    if tools := re.match(r"//\s*swift-tools-version:\s*([\d.]+)", text):
        made.needs["Swift"] = f">={tools[1]}"
    if package := re.search(r'Package\s*\(\s*name:\s*"([^"]+)"', text):
        made.name = package[1]
    for url, version in re.findall(
        r'\.package\(\s*(?:name:\s*"[^"]+",\s*)?url:\s*"([^"]+)",'
        r'[^()"]*(?:\([^()"]*)?"([\d.]+)"',
        text,
    ):
        made.uses[url.rstrip("/").rpartition("/")[2].removesuffix(".git")] = version
    for name in re.findall(r'\.executable(?:Target)?\(\s*name:\s*"([^"]+)"', text):
        made.starts[name] = f"Sources/{name}/main.swift"
    return made


def pubspec(path: str, text: str) -> Declared:
    """Read a pubspec.yaml."""
    given = load_yaml(text)
    given = given if isinstance(given, dict) else {}
    made = Declared(
        path,
        "dart",
        str(given.get("name") or ""),
        version_of_text(given.get("version")),
        " ".join(version_of_text(given.get("description")).split()),
    )
    for name, label in (("sdk", "Dart"), ("flutter", "Flutter")):
        if version := version_of_text(table(given, "environment").get(name)):
            made.needs[label] = version
    uses = versions(table(given, "dependencies"))
    made.uses = {name: version for name, version in uses.items() if name != "flutter"}
    if "flutter" in uses:
        made.needs.setdefault("Flutter", "")
    made.tries = versions(table(given, "dev_dependencies"))
    return made


def version_of_text(value: object) -> str:
    """Return a text of a manifest; '' for anything else."""
    return value.strip() if isinstance(value, str) else ""
