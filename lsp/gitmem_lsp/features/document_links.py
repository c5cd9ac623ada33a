"""Links from the ids of records, in code, Markdown and commit messages, to the records.

The target is made when a link is followed.
"""

from collections.abc import Iterable, Sequence

from lsprotocol import types as t

from gitmem.services.records.committers import marked_title
from gitmem_lsp.features.record_ids import Named
from gitmem_lsp.protocol.positions import to_units
from gitmem_lsp.protocol.safe_text import plain, shorten
from gitmem_lsp.workspace.repository_view import Row


def range_of(reference: Named, lines: Sequence[str], encoding: str) -> t.Range:
    """Return where an id stands, in the client's columns."""
    line = lines[reference.line]
    return t.Range(
        t.Position(reference.line, to_units(line, reference.start, encoding)),
        t.Position(reference.line, to_units(line, reference.end, encoding)),
    )


def make_links(
    references: Iterable[Named], rows: dict[str, Row], lines: Sequence[str], encoding: str, uri: str
) -> list[t.DocumentLink]:
    """Return a link for each id of a record that there is."""
    out = []
    for named in references:
        row = rows.get(named.text)
        if row is not None:
            tooltip = f"{row['kind']}: {shorten(plain(marked_title(row)), 200)}"
            out.append(
                t.DocumentLink(
                    range_of(named, lines, encoding),
                    tooltip=tooltip,
                    data={"id": row["id"], "uri": uri},
                )
            )
    return out
