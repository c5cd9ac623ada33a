"""Records among the workspace's symbols. Pure."""

from lsprotocol import types as t

from gitmem_lsp.protocol.safe_text import plain, shorten
from gitmem_lsp.workspace.repository_view import Row

NAME_LIMIT = 100
MOST = 100
# records without a place in the code that are made documents of at once, for clients that cannot
# ask later
PAGES = 10


def kind_for(client: t.ClientSymbolKindOptions | None) -> t.SymbolKind:
    """Return what kind of symbol a record is to a client.

    It is an event if the client says that it knows this kind. Old clients know eighteen others.
    """
    kinds = client.value_set if client else None
    return t.SymbolKind.Event if kinds and t.SymbolKind.Event in kinds else t.SymbolKind.String


def symbol_name(row: Row) -> str:
    """Return what a record is listed as."""
    return shorten(plain(str(row["title"])), NAME_LIMIT) or str(row["id"])


def container(row: Row) -> str:
    """Return what stands beside a record's name."""
    what = [
        row["kind"],
        row.get("severity") or row.get("type") or "",
        "resolved" if row.get("resolved") else "",
        row["id"][-8:],
    ]
    return " ".join(plain(str(w)) for w in what if w)


def listed(row: Row, uri: str, line: int | None, kind: t.SymbolKind) -> t.WorkspaceSymbol:
    """Return a record as a symbol of the workspace.

    Without a line the client asks for it when it is chosen.
    """
    if line is None:
        return t.WorkspaceSymbol(
            location=t.LocationUriOnly(uri),
            name=symbol_name(row),
            kind=kind,
            container_name=container(row),
            data={"id": row["id"], "uri": uri},
        )
    at = t.Range(t.Position(line, 0), t.Position(line, 0))
    return t.WorkspaceSymbol(
        location=t.Location(uri, at),
        name=symbol_name(row),
        kind=kind,
        container_name=container(row),
    )
