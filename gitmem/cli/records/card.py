"""A record as a card for people."""

from collections.abc import Iterator, Sequence
from typing import Any

from gitmem.cli.records.score_lines import score_facts
from gitmem.cli.rows import source_line
from gitmem.cli.terminal import COLORS, Terminal, age, path_shown, plain, short
from gitmem.records.epic import facts as facts_of_work
from gitmem.records.kinds import FACTS

NOTHING = ("",) * 64


DIRTY = 12  # changed files of a snapshot that are named


SOURCES = 3  # places where a fact was seen that are shown


def _sources(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return where a fact was seen, the first few times."""
    sources = row.get("sources") if row["kind"] in FACTS else None
    return sources[:SOURCES] if isinstance(sources, list) else []


def card(
    term: Terminal,
    row: dict[str, Any],
    edges: list[tuple[str, str, str]],
    now: float,
    code_notes: Sequence[str],
) -> list[str]:
    """Return the lines that show a record's row, with its text.

    `edges` are (source, relation, target) that it takes part in, `code_notes` what is said beside
    each of its places.
    """
    kind = row.get("severity") or row.get("type") or row["kind"]
    out = [term.style(f"{row['kind']} {row['id']}", fg="yellow")]
    facts = [
        ("Title", row["title"]),
        ("Kind", f"{row['kind']}, {kind}" if kind != row["kind"] else kind),
        ("Status", row.get("status")),
        ("Trust", ", ".join(row["trust"])),
        ("Open", row.get("said")),
    ]
    facts += _kind_facts(row, now)
    facts += [
        ("Author", row.get("author")),
        ("Committed by", row.get("committed_by")),
        ("Date", f"{row['created']} ({age(row['created'], now)})"),
        (
            "Changed",
            f"{row['updated']} (revision {row['rev']})"
            if row["updated"] != row["created"]
            else None,
        ),
        ("Holds until", row.get("expires")),
        *(("Check", _check(check)) for check in row.get("verify") or ()),
        ("Agent", row.get("agent") if row.get("agent") != "global" else None),
        ("Origin", _origin(row)),
        ("From", _file(row)),
        ("Tags", ", ".join(row.get("tags") or [])),
        (
            "Code",
            ", ".join(
                path_shown(_place(a)) + since
                for a, since in zip(row.get("anchors") or [], code_notes or NOTHING, strict=False)
            ),
        ),
        *score_facts(row, now),
        ("Store", row["store"] if row["store"] != "shared" else None),
    ]
    facts += _relations(str(row["id"]), edges)
    if row.get("conflict"):
        id = short(row["id"])
        how = f"git mem inbox --accept {id} or git mem edit {id}"
        facts.append(("Conflict", f"two edits met; the newer stayed. To settle it: {how}"))
        facts += [("Other side", f"git show {where}") for where in row.get("other_sides", ())]
    out += [
        f"{name + ':':<13} {term.style(plain(str(value)), fg=COLORS.get(str(value)))}"
        for name, value in facts
        if value
    ]
    if row.get("workaround"):
        out += ["", "    Workaround: " + plain(row["workaround"]).replace("\n", "\n    ")]
    if row["body"]:
        out += ["", *("    " + plain(text) for text in row["body"].rstrip("\n").split("\n"))]
    return [*out, ""]


def _kind_facts(row: dict[str, Any], now: float) -> Iterator[tuple[str, Any]]:
    """Yield the facts that only records of a kind have, and where a fact was seen."""
    if row["kind"] == "gotcha":
        if row.get("last_seen"):
            yield "Seen", f"{row.get('occurrences')}×, last {age(row['last_seen'], now)}"
        yield "Resolved", _resolved(row)
    yield "Confirmed", _confirmed(row)
    for source in _sources(row):
        yield "Seen", plain(source_line(source))
    if row["kind"] == "snapshot":
        yield from _snapshot(row)
    if row["kind"] == "work":
        yield "Work", _work(row)


def _relations(id: str, edges: list[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """Return what a record says of others, and they of it: (label, their ids)."""
    out = []
    for relation, this, other in (
        ("supersedes", "Supersedes", "Superseded by"),
        ("proposes", "Would replace", "Proposed successor"),
        ("links", "Links", "Linked from"),
    ):
        targets = [dst for src, name, dst in edges if (src, name) == (id, relation)]
        sources = [src for src, name, dst in edges if (name, dst) == (relation, id)]
        for label, ids in ((this, targets), (other, sources)):
            out.append((label, ", ".join(map(short, dict.fromkeys(ids)))))
    return out


def _resolved(row: dict[str, Any]) -> str | None:
    """Return when, by whom and how a gotcha was dealt with; None for one that is open."""
    fix = row.get("resolved")
    if not fix:
        return None
    how = f": {plain(str(fix['note']))}" if fix.get("note") else ""
    return f"{fix.get('at', '')} by {fix.get('by', '')}{how}"


def _snapshot(row: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Return where the work stood."""
    dirty = [
        f"{changed.get('status', '')} {changed.get('path', '')}".strip()
        for changed in row.get("dirty") or []
    ]
    shown = ", ".join(dirty[:DIRTY]) + (
        f" and {len(dirty) - DIRTY} more" if len(dirty) > DIRTY else ""
    )
    where = [str(row.get(key)) for key in ("worktree", "cwd") if row.get(key)]
    return [
        ("Branch", row.get("branch")),
        ("Commit", row.get("commit")),
        ("Not committed", shown),
        ("Folder", "/".join(where)),
        ("Story", row.get("story")),
        ("Note", row.get("note")),
    ]


def _work(row: dict[str, Any]) -> str:
    """Return how far an epic is, and which command tells the rest."""
    facts = facts_of_work(row.get("state"))
    where = (
        f", story {facts['story']}{' in ' + facts['phase'] if facts['phase'] else ''}"
        if facts["story"]
        else ""
    )
    return (
        f"{facts['done']} of {facts['total']} stories done ({facts['percent']}%){where}; git mem "
        f"work show {row['id'][4:]}"
    )


def _file(row: dict[str, Any]) -> str | None:
    """Return what a record was read from, where its places do not tell: file and line, or entry."""
    imported, source = row.get("imported"), row.get("source")
    if isinstance(imported, dict):
        names = (imported.get("format"), imported.get("path") or imported.get("id"))
        return plain(", ".join(str(name) for name in names if name))
    if not isinstance(source, dict) or any(
        a.get("path") == source.get("file") for a in row.get("anchors") or []
    ):
        return None
    return plain(f"{source.get('file')}:{source.get('line')}")


def _confirmed(row: dict[str, Any]) -> str | None:
    """Return who confirmed a record; of one that counts as unconfirmed, that it only says so."""
    confirmed = row.get("confirmed")
    if not confirmed:
        return None
    by = confirmed.get("by", "")
    if row.get("unconfirmed"):
        return f"no: {by} confirmed other words, or somebody else wrote this confirmation"
    return f"{confirmed.get('at', '')} by {by}"


def _origin(row: dict[str, Any]) -> str | None:
    origin = row.get("origin")
    if origin in {None, "manual"}:
        return None
    return (
        f"{origin} (git mem inbox)"
        if row.get("unconfirmed") and not row.get("resolved")
        else origin
    )


def _check(check: dict[str, Any]) -> str:
    from gitmem.services.lifecycle.verify_spec import format_check

    return format_check(check)


def _place(anchor: dict[str, Any]) -> str:
    if anchor.get("glob"):
        return str(anchor["glob"])
    lines = anchor.get("lines")
    where = (
        f":{lines[0]}" + (f"-{lines[1]}" if lines[1] != lines[0] else "")
        if isinstance(lines, list) and len(lines) == 2
        else ""
    )
    symbol = f"#{anchor['symbol']}" if anchor.get("symbol") else ""
    return f"{anchor.get('path', '')}{where}{symbol}"
