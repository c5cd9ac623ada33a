"""A project's DNA as Markdown that fits a budget of tokens.

Each line says something that is not said elsewhere. This module is pure.

Tokens are counted by `gitmem.text.tokens`: four ASCII characters make one, any other character is
one. When all of it is too long, each part is shortened a little, again and again, before any is
left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gitmem.services.dna.facts import ProjectFacts
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


def with_patterns(body: str, titles: Sequence[str], budget: int) -> str:
    """Return a stored page with the patterns that hold now, as far as its budget has room.

    They are facts: no page stores their words.
    """
    heading = "\n## Patterns\n"
    rows = ""
    for title in titles:
        row = f"- {_cut(title, 120)}\n"
        if tokens(body + heading + rows + row) <= budget:
            rows += row
    return body + heading + rows if rows else body


def _lines(facts: ProjectFacts, size: Size) -> Iterator[str]:
    yield _summary(facts, size)
    yield from _part("Stack", _stack(facts, size))
    yield from _part(
        "Workspaces",
        [
            f"- `{folder}` {name}{f': {_cut(about, size.text // 3)}' if about else ''}"
            for folder, name, about in facts.workspaces[: size.rows * 3]
        ],
    )
    yield from _part("Entry points", _entries(facts, size))
    yield from _part("Run", _commands(facts, size))
    rows = []
    for file in facts.files[: size.files]:
        symbols = ", ".join(file.symbols[: size.symbols])
        rows.append(
            f"- `{_inside(file.path, facts)}` {file.rank * 100:.1f} %, used by {file.users}"
            + (f": {symbols}" if symbols else "")
        )
    yield from _part("Key files", rows)
    yield from _part(
        "Configuration", _listed([_inside(path, facts) for path in facts.configuration], size.names)
    )
    yield from _part(
        "Environment", _listed([name for name, _ in facts.environment], size.names + 4)
    )
    yield from _part("Plans", [f"- {_cut(one, 160)}" for one in facts.plans[:3]])
    yield from _part(
        "In its own words",
        [
            f"- {path}: {_cut(said, size.text)}"
            for path, said in facts.context
            if said != facts.about
        ][:4],
    )


def _part(title: str, rows: list[str]) -> Iterator[str]:
    if rows:
        yield ""
        yield f"## {title}"
        yield from rows


def _summary(facts: ProjectFacts, size: Size) -> str:
    languages = ", ".join(
        f"{language} ({number} file{'' if number == 1 else 's'}, {_thousands(lines)} "
        f"line{'' if lines == 1 else 's'})"
        for language, number, lines in facts.languages[:4]
    )
    about = _cut(facts.about, size.text).rstrip(".")
    where = f" in `{facts.folder}`" if facts.folder else ""
    skipped = f"; {facts.skipped} generated, vendored or minified not read" if facts.skipped else ""
    return (
        ". ".join(
            part
            for part in (
                about,
                f"{languages or 'No code in a language that is known'}{where}{skipped}",
            )
            if part
        )
        + "."
    )


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
    out += _listed(shown, size.names, "Dependencies, by files that import them: ")
    out += _listed(facts.development, size.names, "For development: ")
    return out


def _entries(facts: ProjectFacts, size: Size) -> list[str]:
    out = [f"- {name}: `{_inside(where, facts)}`" for name, where in facts.entries[: size.rows]]
    if len(facts.entries) > size.rows > 0:
        out.append(f"- and {len(facts.entries) - size.rows} more")
    return out + [
        f"- routes in `{_inside(path, facts)}`: {_cut(some, size.text)}"
        for path, some in facts.routes[: size.rows // 2]
    ]


def _commands(facts: ProjectFacts, size: Size) -> list[str]:
    def order(row: tuple[str, str, str]) -> tuple[int, int, str]:
        name = row[0].lower()
        place = next((n for n, word in enumerate(RUNS) if name == word), None)
        near = next((n for n, word in enumerate(RUNS) if name.startswith(word)), None)
        return (
            (0, place, name)
            if place is not None
            else (1, near, name)
            if near is not None
            else (2, 0, name)
        )

    def line(name: str, what: str, where: str) -> str:
        call = {
            "package.json": "npm run ",
            "Makefile": "make ",
            "makefile": "make ",
            "GNUmakefile": "make ",
            "composer.json": "composer ",
            "": "",
        }.get(where, "")
        return f"- `{call}{name}`{f': {_cut(what, size.text // 2)}' if what else ''}"

    rows = sorted(facts.commands, key=order)
    return [line(*row) for row in rows[: size.rows]]


def _listed(names: list[str], most: int, lead: str = "") -> list[str]:
    if not names or not most:
        return []
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return [f"- {lead}{', '.join(names[:most])}{rest}"]


def _inside(path: str, facts: ProjectFacts) -> str:
    return path.removeprefix(facts.folder + "/") if facts.folder else path


def _cut(text: str, most: int) -> str:
    text = " ".join(text.split())
    return (
        text
        if len(text) <= most
        else text[: max(1, most - 1)].rsplit(" ", 1)[0].rstrip(" ,.;:") + "…"
    )
