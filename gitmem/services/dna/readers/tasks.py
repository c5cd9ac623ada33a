"""Files that name commands: Makefiles, justfiles, Taskfiles. Pure."""

import re
from dataclasses import dataclass

from gitmem.codemap.imports.files import table
from gitmem.services.dna.declared import Declared
from gitmem.text.safe_yaml import load_yaml

_TARGET = re.compile(r"([A-Za-z0-9][\w.-]*)\s*:(?![=:])[^#\n]*(?:##?\s*(.*))?$")
_MACRO = re.compile(r"^(?:override[ \t]++)?define\b.*?(?:^endef\b|\Z)", re.MULTILINE | re.DOTALL)
_CONDITION = re.compile(r" *+(ifn?eq|ifn?def|else|endif)\b(.*)")
_RECIPE = re.compile(r"^@?([A-Za-z][\w-]*)(?:[ \t][^:=\n#]*)?:(?!=)[^#\n]*", re.MULTILINE)
_KEYWORDS = frozenset({"set", "alias", "export", "import"})


def makefile(path: str, text: str) -> Declared:
    """Read a Makefile."""
    made = Declared(path, "make", runner="make ")
    for name, about in _targets(_MACRO.sub("", text).splitlines()).items():
        if "." not in name:
            made.scripts[name] = about
    return made


@dataclass(slots=True)
class _Condition:
    """The targets of each branch of a condition; `is_whole` says that one branch always holds."""

    branches: list[dict[str, str]]
    is_whole: bool = False

    def certain(self) -> dict[str, str]:
        """Return the targets that each branch has."""
        first, *rest = self.branches
        return {
            name: about
            for name, about in first.items()
            if self.is_whole and all(name in branch for branch in rest)
        }


def _targets(lines: list[str]) -> dict[str, str]:
    """Return the targets that are there whichever conditions hold, with what they do."""
    whole = _Condition([{}], is_whole=True)
    inside = [whole]
    for line in lines:
        if match := _TARGET.match(line):
            inside[-1].branches[-1].setdefault(match[1], (match[2] or "").strip())
        elif match := _CONDITION.match(line):
            _turn(inside, match[1], match[2].partition("#")[0].strip())
    return whole.certain()


def _turn(inside: list[_Condition], word: str, condition: str) -> None:
    """Begin a condition, its next branch, or end it."""
    if word.startswith("if"):
        inside.append(_Condition([{}]))
    elif len(inside) == 1:
        return  # nothing was begun
    elif word == "else":
        inside[-1].branches.append({})
        inside[-1].is_whole |= not condition
    else:
        certain = inside.pop().certain()
        inside[-1].branches[-1] = certain | inside[-1].branches[-1]


def justfile(path: str, text: str) -> Declared:
    """Read a justfile; the comment above a recipe says what it does."""
    made = Declared(path, "just", runner="just ")
    lines = text.splitlines()
    for number, line in enumerate(lines):
        match = _RECIPE.match(line)
        if match is None or match[1] in _KEYWORDS:
            continue
        above = lines[number - 1] if number else ""
        if "[private]" not in above and "[windows]" not in above:
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
