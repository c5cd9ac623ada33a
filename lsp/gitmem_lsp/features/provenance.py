"""Why code is as it is, for editors.

The question is about the text as the editor has it. The answer is a page or a hover.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from gitmem.clock import stamp
from gitmem.codemap.symbols import definitions
from gitmem.errors import GitmemError
from gitmem.git.blame import Blamed, blame
from gitmem.git.code_history import CodeHistory
from gitmem.git.commit_log import FileChange, parsed_changes
from gitmem.services.provenance.known import recorded_links, writers
from gitmem.services.provenance.why import Origin, SessionLines, lines_of, origins
from gitmem.services.records.committers import marked_title
from gitmem_lsp.protocol.safe_text import inline, plain
from gitmem_lsp.workspace.repositories import DocumentPlace

PROMPT = 300
CHANGES = 30


async def asked(
    place: DocumentPlace, path: str, lines: Sequence[str], first: int, last: int
) -> list[Origin]:
    """Return where lines (from 1) of a text come from. Raises GitmemError."""
    app = await place.repository.run(lambda: place.repository.view.app)
    history = CodeHistory(place.location, app.env)
    text = "".join(lines).encode("utf-8", "surrogateescape")
    blamed: list[Blamed] = await place.repository.read_line(
        blame, history, path, [(first, last)], "", text
    )
    return await place.repository.run(
        lambda: origins(replace(app.provenance(), history=history), path, blamed, text)
    )


async def for_hover(
    place: DocumentPlace, path: str, lines: Sequence[str], line: int, markdown: bool
) -> str:
    """Return what a hover says of a line (from 1); '' where nothing is known of it."""
    try:
        origins = await asked(place, path, lines, line, line)
    except GitmemError:  # a file that git does not know, a line that is new
        return ""
    return brief(origins, markdown)


def brief(origins: Sequence[Origin], markdown: bool) -> str:
    """Return in a few lines where a line comes from."""
    say = inline if markdown else plain
    out = []
    for origin in origins[:1]:
        commit = origin.commit
        out.append(
            f"{stamp(commit.authored)[:10]} {say(commit.author)}: {say(commit.subject)}"
            if commit
            else "Not committed yet"
        )
        out += [_of_part(part, say) for part in origin.parts[:2]]
    return ("  \n" if markdown else "\n").join(out)


def _of_part(part: SessionLines, say: Callable[[str], str]) -> str:
    text = part.prompt or part.title
    return f"{part.agent or 'session'} {plain(part.session[:8])}" + (
        f", asked: {say(text[:PROMPT])}" if text else ""
    )


def page(title: str, origins: Sequence[Origin]) -> str:
    """Return a page that tells where lines come from, what is newest first."""
    lines = [f"# Why {inline(title)} is as it is", ""]
    for origin in origins:
        commit = origin.commit
        is_single_line = len(origin.lines) == 1 and origin.lines[0][0] == origin.lines[0][1]
        where = f"line{'' if is_single_line else 's'} {lines_of(origin.lines)}"
        if commit:
            lines += [
                f"## {inline(commit.subject)}",
                "",
                (
                    f"{stamp(commit.authored)[:10]}, {inline(commit.author)}, commit "
                    f"`{commit.oid[:10]}`, {where}"
                ),
                "",
            ]
        else:
            lines += ["## Not committed yet", "", where, ""]
        lines += [f"Came from {', '.join(map(inline, origin.moved))}.", ""] if origin.moved else []
        for part in origin.parts:
            lines += _session(part)
        if origin.others:
            names = ", ".join(f"`{plain(part.session)}`" for part in origin.others)
            lines += [f"Had a part in this commit: {names}", ""]
    return "\n".join(lines)


def _session(part: SessionLines) -> list[str]:
    who = ", ".join(inline(x) for x in (part.agent, part.model) if x)
    mine = f", lines {lines_of(part.lines)}" if part.lines else ""
    out = [f"**Session** `{plain(part.session)}`{f' ({who})' if who else ''}: {part.how}{mine}", ""]
    if part.prompt or part.title:
        out += [f"> {inline(part.prompt or part.title)}", ""]
    for row in part.records:
        out.append(
            f"- {inline(str(row.get('type') or row['kind']))}: {inline(marked_title(row))} "
            f"`{row['id']}`"
        )
    out += [f"- {inline(kind)}: {inline(text)}" for kind, text in part.said]
    return [*out, ""] if part.records or part.said else out


async def changes(place: DocumentPlace, path: str, symbol: str) -> str:
    """Return the part of a page with the commits that changed a definition.

    If no definition is named, they are those that changed the file. The result is '' if git knows
    none.
    """
    app = await place.repository.run(lambda: place.repository.view.app)
    history = CodeHistory(place.location, app.env)
    file_changes = await place.repository.read_history(_changes, history, path, symbol)
    if not file_changes:
        return ""
    links = await place.repository.run(
        lambda: recorded_links(app.provenance(), [change.commit.oid for change in file_changes])
    )
    lines = ["", "## Commits that changed it", ""]
    for change in file_changes:
        wrote = writers(links.get(change.commit.oid, ()), change.path, change.lines)
        who = ", ".join(
            f"{link.agent or 'session'} {plain(link.session[:8])}" for link in wrote[:3]
        )
        lines.append(
            f"- {stamp(change.commit.authored)[:10]} {inline(change.commit.author)}: "
            f"**{inline(change.commit.subject)}** "
            f"`{change.commit.oid[:10]}`{f' ({inline(who)})' if who else ''}"
        )
    return "\n".join([*lines, ""])


def _changes(history: CodeHistory, path: str, symbol: str) -> list[FileChange]:
    """Return the newest changes of a definition as the commit that is checked out has it."""
    try:
        if not symbol:
            return list(parsed_changes(history.file_changes(path, ["HEAD"]) or b""))[:CHANGES]
        data = history.text(path, "HEAD")
        named = (
            definitions.find(definitions.symbols(data.decode("utf-8", "replace"), path), symbol)
            if data
            else []
        )
        return (
            history.symbol_changes(path, named[0].first, named[0].last, "HEAD")[:CHANGES]
            if named
            else []
        )
    except GitmemError:
        return []
