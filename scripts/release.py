"""Check that a version is the same in all places, and print its part of the changelog.

`python scripts/release.py check [v1.2.3]` exits with 1 and names the places that differ from the
package's version, or from the tag. `python scripts/release.py notes v1.2.3` prints the section of
that version in CHANGELOG.md. Standard library only: a release runs it before anything is installed.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
REPOSITORY = "https://github.com/git-mem/git-mem"
PACKAGE = "gitmem/__init__.py"
USAGE = "usage: python scripts/release.py check [TAG] | notes TAG"
# file -> where its version is
MANIFESTS = {
    "lsp/vscode/package.json": ("version",),
    "dashboard/package.json": ("version",),
    ".claude-plugin/marketplace.json": ("plugins", 0, "version"),
    "agent-hooks/.claude-plugin/marketplace.json": ("plugins", 0, "version"),
    "agent-hooks/claude/.claude-plugin/plugin.json": ("version",),
    "agent-hooks/gemini/gemini-extension.json": ("version",),
}
CHANGELOGS = ("CHANGELOG.md", "lsp/vscode/CHANGELOG.md")
_VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)
_FILE_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s]+)\)")
_SECTION = re.compile(r"^## \[?([0-9][^\]\s]*)", re.MULTILINE)


def versions(root: Path) -> Iterator[tuple[str, str]]:
    """Yield (file, version) of each place that names one; "" where a place has none."""
    match = _VERSION.search((root / PACKAGE).read_text(encoding="utf-8"))
    yield PACKAGE, match[1] if match else ""
    for name, keys in MANIFESTS.items():
        value = json.loads((root / name).read_text(encoding="utf-8"))
        for key in keys:
            value = value[key]
        yield name, str(value)
    for name in CHANGELOGS:
        newest = _SECTION.search((root / name).read_text(encoding="utf-8"))
        yield name, newest[1] if newest else ""


def problems(root: Path, tag: str = "") -> list[str]:
    """Return a sentence for each place whose version is not the tag's, or not the package's."""
    found = dict(versions(root))
    wanted = tag.removeprefix("v") or found[PACKAGE]
    return [
        f"{name} has version {version or 'none'}, not {wanted}."
        for name, version in found.items()
        if version != wanted
    ]


def notes(changelog: str, version: str) -> str:
    """Return what a changelog says of a version, without its heading; "" if it is not there."""
    parts = re.split(r"^## ", changelog, flags=re.MULTILINE)
    for part in parts[1:]:
        heading, _, text = part.partition("\n")
        if heading.split(" ")[0].strip("[]") == version:
            return text.strip()
    return ""


def with_whole_links(text: str, tag: str) -> str:
    """Return a text in which a link to a file leads to the file as the tag has it."""
    return _FILE_LINK.sub(rf"]({REPOSITORY}/blob/{tag}/\1)", text)


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """Run one of the two commands; return its exit code."""
    command, *tags = arguments or [""]
    tag = tags[0] if len(tags) == 1 else ""
    if command == "check" and len(tags) < 2:
        wrong = problems(root, tag)
        sys.stderr.writelines(f"{line}\n" for line in wrong)
        return 1 if wrong else 0
    if command == "notes" and tag:
        text = notes((root / "CHANGELOG.md").read_text(encoding="utf-8"), tag.removeprefix("v"))
        if not text:
            sys.stderr.write(f"CHANGELOG.md has no section for {tag}.\n")
            return 1
        sys.stdout.write(f"{with_whole_links(text, tag)}\n")
        return 0
    sys.stderr.write(f"{USAGE}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
