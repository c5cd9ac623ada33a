"""Files that name commands: Makefiles, justfiles, Taskfiles. Pure."""

import re

from gitmem.codemap.imports.files import table
from gitmem.services.dna.declared import Declared
from gitmem.text.safe_yaml import load_yaml

_TARGET = re.compile(r"^([A-Za-z0-9][\w.-]*)\s*:(?![=:])[^#\n]*(?:##?\s*(.*))?$", re.MULTILINE)
_RECIPE = re.compile(r"^@?([A-Za-z][\w-]*)(?:[ \t][^:=\n#]*)?:(?!=)[^#\n]*", re.MULTILINE)
_KEYWORDS = frozenset({"set", "alias", "export", "import"})


def makefile(path: str, text: str) -> Declared:
    """Read a Makefile."""
    made = Declared(path, "make", runner="make ")
    for name, about in _TARGET.findall(text):
        if "." not in name and "$" not in name:
            made.scripts.setdefault(name, about.strip())
    return made


def justfile(path: str, text: str) -> Declared:
    """Read a justfile; the comment above a recipe says what it does."""
    made = Declared(path, "just", runner="just ")
    lines = text.splitlines()
    for number, line in enumerate(lines):
        match = _RECIPE.match(line)
        if match is None or match[1] in _KEYWORDS:
            continue
        above = lines[number - 1] if number else ""
        if "[private]" not in above:
            about = above.lstrip("# ").strip() if above.startswith("#") else ""
            made.scripts.setdefault(match[1], about)
    return made


def taskfile(path: str, text: str) -> Declared:
    """Read a Taskfile.yml."""
    made = Declared(path, "task", runner="task ")
    given = load_yaml(text)
    for name, task in table(given if isinstance(given, dict) else {}, "tasks").items():
        about = task.get("desc") if isinstance(task, dict) else ""
        is_internal = isinstance(task, dict) and task.get("internal") is True
        if not is_internal:
            made.scripts[str(name)] = about if isinstance(about, str) else ""
    return made
