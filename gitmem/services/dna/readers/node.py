"""package.json. Pure."""

import re
from typing import Any

from gitmem.codemap.imports.files import json_object, table
from gitmem.services.dna.declared import Declared, is_stub, versions

# what `npm init` writes: a script that says why it is none, and fails
_FAILS = re.compile(r"echo\b[^&;]*+(?:&&|;)\s*+exit\s++[1-9]\d*+\s*+")


def package_json(path: str, text: str) -> Declared:
    """Read a package.json."""
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
        for name, version in versions(table(given, "engines")).items()
    }
    if isinstance(given.get("packageManager"), str):
        name, _, version = given["packageManager"].partition("@")
        made.needs[name] = version.partition("+")[0]
    made.uses = versions(table(given, "dependencies")) | versions(table(given, "peerDependencies"))
    made.options = versions(table(given, "optionalDependencies"))
    made.tries = versions(table(given, "devDependencies"))
    for name in [name for name in made.uses if is_stub(name)]:
        made.tries[name] = made.uses.pop(name)
    made.starts = _starts(given, made.name.rpartition("/")[2])
    made.scripts = {
        name: command
        for name, command in versions(table(given, "scripts")).items()
        if command and not _FAILS.fullmatch(command)
    }
    return made


def _starts(given: dict[str, Any], name: str) -> dict[str, str]:
    """Return the commands of a package, and the file that others import."""
    starts = {script: where for script, where in versions(table(given, "bin")).items() if where}
    if isinstance(given.get("bin"), str):
        starts[name] = given["bin"]
    main = next((key for key in ("main", "module") if isinstance(given.get(key), str)), "")
    if main:
        starts.setdefault(f"({main})", given[main])
    return starts
