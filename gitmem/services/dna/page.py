"""A project's DNA as Markdown that fits a budget of tokens.

Each line says something that is not said elsewhere. This module is pure.

Tokens are counted by `gitmem.text.tokens`: four ASCII characters make one, any other character is
one. When all of it is too long, each part is shortened a little, again and again, before any is
left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gitmem.services.dna.facts import ProjectFacts
from gitmem.services.dna.patterns import cut_text
from gitmem.text.tokens import tokens

RUNS = (
    "test",
    "lint",
    "check",
    "build",
    "start",
    "dev",
    "serve",
    "run",
    "format",
    "typecheck",
    "install",
    "setup",
    "demo",
    "docs",
    "bench",
    "deploy",
    "release",
    "migrate",
    "generate",
)


@dataclass(frozen=True, slots=True)
class Size:
    """How much of each part is shown."""

    files: int = 20
    symbols: int = 3
    rows: int = 10
    names: int = 16
    text: int = 260


SIZES = (
    Size(),
    Size(20, 2, 9, 14, 220),
    Size(20, 2, 7, 12, 180),
    Size(20, 1, 6, 10, 150),
    Size(20, 1, 5, 8, 120),
    Size(20, 0, 5, 8, 100),
    Size(16, 0, 4, 6, 90),
    Size(12, 0, 4, 5, 80),
    Size(8, 0, 3, 4, 70),
    Size(5, 0, 2, 3, 60),
    Size(3, 0, 1, 2, 40),
    Size(1, 0, 1, 1, 30),
    Size(0, 0, 0, 0, 20),
)


def page(facts: ProjectFacts, budget: int) -> str:
    """Return the body: as much as fits into a budget of tokens."""
    text = ""
    for size in SIZES:
        text = "\n".join(_lines(facts, size)).strip() + "\n"
        if tokens(text) <= budget:
            return text
    while tokens(text) > budget and "\n" in text.rstrip("\n"):
        text = text.rstrip("\n").rpartition("\n")[0] + "\n"
    return text


def _lines(facts: ProjectFacts, size: Size) -> Iterator[str]:
    yield _summary(facts, size)
    if not (facts.languages or facts.unread or facts.stack or facts.dependencies):
        return  # no code: what else is there would say nothing of it
    yield from _part("Stack", _stack(facts, size))
    yield from _part(
        "Workspaces",
        [
            _workspace(folder, name, cut_text(about, size.text // 3))
            for folder, name, about in facts.workspaces[: size.rows * 3]
        ],
    )
    yield from _part("Entry points", _entries(facts, size))
    yield from _part("Run", _commands(facts, size))
    rows = []
    for file in facts.files[: size.files]:
        symbols = ", ".join(file.symbols[: size.symbols])
        rows.append(
            f"- `{_inside(file.path, facts)}` used by {file.users}"
            + (f": {symbols}" if symbols else "")
        )
    yield from _part("Key files", rows)
    yield from _part(
        "Configuration", _listed([_inside(path, facts) for path in facts.configuration], size.names)
    )
    yield from _part("Environment", _listed(facts.environment, size.names + 4))
    yield from _part("Plans", [f"- {cut_text(plan, 160)}" for plan in facts.plans[:3]])
    said = [f"- {path}: {cut_text(text, size.text)}" for path, text in facts.context]
    said += [f"- {path}: {_points(points, size.text)}" for path, points in facts.points]
    yield from _part("In its own words", [row for row in said if not row.endswith(": ")][:4])


def _workspace(folder: str, name: str, about: str) -> str:
    # the name of a folder says nothing more than its path
    label = "" if name == folder.rpartition("/")[2] else f" {name}"
    return f"- `{folder}`{label}{f': {about}' if about else ''}"


def _points(points: Sequence[str], most: int) -> str:
    """Return as many whole points as there is room for, else the first one cut."""
    out = ""
    for number, point in enumerate(points):
        longer = f"{out}; {point}" if out else point
        if len(longer) > most:
            rest = len(points) - number
            return f"{out}; and {rest} more" if out else cut_text(point, most)
        out = longer
    return out


def _part(title: str, rows: list[str]) -> Iterator[str]:
    if rows:
        yield ""
        yield f"## {title}"
        yield from rows


def _summary(facts: ProjectFacts, size: Size) -> str:
    about = cut_text(facts.about, size.text)
    code = [_counted(*row) for row in facts.languages[:4]]
    unread = [_counted_files(language, number) for language, number in facts.unread[:3]]
    most = max((number for _, number, _ in facts.languages), default=0)
    is_other = bool(facts.unread) and facts.unread[0][1] > most
    code = [*unread, *code] if is_other else [*code, *unread]
    if code:
        where = f" in `{facts.folder}`" if facts.folder else ""
        skipped = (
            f"; {facts.skipped} generated, vendored or minified not read" if facts.skipped else ""
        )
        code = [f"{', '.join(code)}{where}{skipped}."]
    return " ".join(part for part in (_ended(about), *code) if part)


def _ended(text: str) -> str:
    return text if not text or text.endswith((".", "!", "…", "。", ":", "！")) else f"{text}."


def _counted(language: str, number: int, lines: int) -> str:
    count = f"{_thousands(lines)} line{'' if lines == 1 else 's'}"
    return f"{language} ({number} file{'' if number == 1 else 's'}, {count})"


def _counted_files(language: str, number: int) -> str:
    return f"{language} ({number} file{'' if number == 1 else 's'}, not parsed)"


def _thousands(lines: int) -> str:
    return f"{lines / 1000:.0f}k" if lines >= 10_000 else str(lines)


def _stack(facts: ProjectFacts, size: Size) -> list[str]:
    out = []
    if facts.stack:
        out.append(
            "- "
            + ", ".join(f"{name} {version}".strip() for name, version in facts.stack[: size.rows])
        )
    shown = [
        (
            f"{name} {version}".strip()
            + (f" ({users} file{'' if users == 1 else 's'})" if users else "")
        )
        for name, version, users in facts.dependencies
    ]
    is_counted = any(users for _, _, users in facts.dependencies)
    lead = "Dependencies, by files that import them: " if is_counted else "Dependencies: "
    out += _listed(shown, size.names, lead)
    out += _listed(facts.optional, size.names, "Optional: ")
    out += _listed(facts.development, size.names, "For development: ")
    return out


def _entries(facts: ProjectFacts, size: Size) -> list[str]:
    out = [f"- {name}: `{_inside(where, facts)}`" for name, where in facts.entries[: size.rows]]
    if len(facts.entries) > size.rows > 0:
        out.append(f"- and {len(facts.entries) - size.rows} more")
    most = max(1, size.rows // 2) if size.rows else 0
    shown = facts.routes[:most]
    out += [f"- routes in `{_inside(path, facts)}`: {some}" for path, some, _ in shown]
    rest = facts.routes[most:]
    if rest and shown:
        number = sum(count for _, _, count in rest)
        files = f"{len(rest)} more file{'' if len(rest) == 1 else 's'}"
        out.append(f"- and {number} more route{'' if number == 1 else 's'} in {files}")
    return out


def _commands(facts: ProjectFacts, size: Size) -> list[str]:
    rows = sorted(facts.commands, key=_order)
    shown = []
    for command, what in rows[: size.rows]:
        about = cut_text(what, size.text // 2)
        shown.append(f"- `{command}`{f': {about}' if about else ''}")
    if len(rows) > size.rows > 0:
        shown.append(f"- and {len(rows) - size.rows} more")
    return shown


def _order(row: tuple[str, str]) -> tuple[int, int, str]:
    """Return the place of a command: those that test and check first."""
    name = row[0].rpartition(" ")[2].lower()
    for number, word in enumerate(RUNS):
        if name == word:
            return 0, number, name
    for number, word in enumerate(RUNS):
        if name.startswith(word):
            return 1, number, name
    return 2, 0, name


def _listed(names: list[str], most: int, lead: str = "") -> list[str]:
    if not names or not most:
        return []
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return [f"- {lead}{', '.join(names[:most])}{rest}"]


def _inside(path: str, facts: ProjectFacts) -> str:
    return path.removeprefix(facts.folder + "/") if facts.folder else path
