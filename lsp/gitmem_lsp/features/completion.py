"""Completion of record ids, in Markdown and in commit messages.

Pure but for the rows, which the caller reads.
"""

import re
from collections.abc import Sequence

from lsprotocol import types as t

from gitmem.records.kinds import KIND
from gitmem.services.records.committers import marked_title, trust_marks
from gitmem_lsp.protocol.documents import LineDocument
from gitmem_lsp.protocol.positions import content, to_index, to_units
from gitmem_lsp.protocol.safe_text import inline, plain, shorten
from gitmem_lsp.workspace.repository_view import Row

TRIGGERS = ["-", "#"]
MOST = 50
LANGUAGES = frozenset({"markdown", "git-commit", "gitcommit", "scminput", "mdx", "quarto", "rmd"})
ENDINGS = (
    ".md",
    ".markdown",
    ".mdx",
    "/COMMIT_EDITMSG",
    "/MERGE_MSG",
    "/TAG_EDITMSG",
    "/SQUASH_MSG",
    "/git-rebase-todo",
)
_WANTED = re.compile(
    r"(?:^|(?<=[\s([{\"'`,:;]))(?:(?P<prefix>mem|got|sum|snp|evt)-(?P<rest>[0-9a-z-]*)"
    r"|(?<=.)#(?P<words>[\w-]*))$"
)


def wanted(document: LineDocument) -> bool:
    """Say whether ids are completed in a document."""
    return (document.language_id or "").lower() in LANGUAGES or document.uri.endswith(ENDINGS)


def typed(line: str, index: int) -> tuple[str, int, str] | None:
    """Return (kind or nothing, where what is typed begins, the words to look for).

    None where no id is being typed.
    """
    match = _WANTED.search(content(line)[:index])
    if match is None:
        return None
    return (
        KIND[match["prefix"]] if match["prefix"] else "",
        match.start(),
        (match["rest"] or match["words"] or "").replace("-", " "),
    )


def begun(document: LineDocument, position: t.Position) -> tuple[str, int, str] | None:
    """Return what `typed` finds at a client's position."""
    if not 0 <= position.line < len(document.lines):
        return None
    line = document.lines[position.line]
    return typed(line, to_index(line, position.character, document.encoding))


def wants_markdown(capabilities: t.ClientCapabilities) -> bool:
    """Say whether a client renders Markdown beside an item."""
    able = capabilities.text_document.completion if capabilities.text_document else None
    formats = able.completion_item.documentation_format if able and able.completion_item else None
    return t.MarkupKind.Markdown in (formats or ())


def make_items(
    rows: Sequence[Row], document: LineDocument, position: t.Position, start: int, markdown: bool
) -> t.CompletionList:
    """Return an item a record, the best first; what is typed so far is replaced."""
    line = document.lines[position.line]
    place = t.Range(t.Position(position.line, to_units(line, start, document.encoding)), position)
    so_far = line[start : to_index(line, position.character, document.encoding)]
    items = []
    for number, row in enumerate(rows[:MOST]):
        title = shorten(plain(str(row["title"])), 80)
        what = [
            row["kind"],
            row.get("severity") or row.get("type") or "",
            "resolved" if row.get("resolved") else "",
            *trust_marks(row),
            str(row["updated"])[:10],
        ]
        items.append(
            t.CompletionItem(
                label=f"{row['id'][:4]}…{row['id'][-6:]} {title}",
                kind=t.CompletionItemKind.Reference,
                detail=" · ".join(plain(str(w)) for w in what if w),
                documentation=_about(row, markdown),
                filter_text=f"{so_far} {row['id']} {title}",
                sort_text=f"{number:04}",
                text_edit=t.TextEdit(place, str(row["id"])),
                data={"id": row["id"], "uri": document.uri},
            )
        )
    return t.CompletionList(is_incomplete=True, items=items)


def _about(row: Row, markdown: bool) -> t.MarkupContent:
    title = marked_title(row)
    if markdown:
        return t.MarkupContent(t.MarkupKind.Markdown, f"**{inline(title)}**\n\n`{row['id']}`")
    return t.MarkupContent(t.MarkupKind.PlainText, f"{plain(title)}\n\n{row['id']}")
