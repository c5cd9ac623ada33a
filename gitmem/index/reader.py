"""Read the index: search, list, look up. Standard library only; the hot path imports this.

The index is a cache of the stores of one repository (`index.builder` builds it). Rows come back as
plain dicts. A missing, damaged or foreign file is `None` to `open_index`, never an error.
"""

import os

from gitmem.base.fast import loads, sqlite
from gitmem.base.sqlite import healing
from gitmem.index.filters import (
    FIELDS,
    FLEETING,
    ONCE,
    chosen,
    filtered,
    is_aged,
    is_resolved,
    marks,
    not_aged,
    valid,
    where_of,
)
from gitmem.records.kinds import SHORTEST_ULID_ID
from gitmem.text.tokenizer import match_query, unfold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from gitmem.index.filters import Aged

SCHEMA = 29
NAME = "index.db"
_ALL = ("n", *FIELDS)
# filters that leave few records
NARROW = frozenset({"ids", "numbers", "paths", "sessions", "tags", "globs", "triggered"})
_TRUTHS = frozenset({"resolved", "conflict", "unconfirmed"})
_JSON = frozenset({"tags", "anchors", "triggers", "verify"})
ORDERS = {
    "created": "created DESC, id DESC",
    "updated": "updated DESC, id DESC",
    "title": "title COLLATE NOCASE, id",
    "importance": "importance DESC, created DESC, id",
    "severity": "CASE severity WHEN 'critical' THEN 0 WHEN 'warning' THEN 1 WHEN 'info' THEN 2 "
    "ELSE 3 "
    "END, "
    "last_seen DESC, id",
    "waiting": "severity IS NOT 'critical', IFNULL(occurrences, 0) DESC, last_seen DESC, id",
}


class Index:
    """An open index. Not shared between threads.

    `mend` gives a connection to an index built anew: where it is known, a query that finds damage
    is answered all the same. `settle` writes the contexts that are due, which a search looks at.
    `out_of_date` gives {id: (oid, reason)} of facts that the code refutes, as their files were
    then: their rows have the reason as `out_of_date`.
    """

    def __init__(
        self, db: sqlite.Connection, mend: "Callable[[], sqlite.Connection] | None" = None
    ) -> None:
        self.db = db
        self.mend = mend
        self.settle: Callable[[], None] | None = None
        self.out_of_date: Callable[[], Mapping[str, tuple[str, str]]] | None = None

    def heal(self) -> bool:
        """Go on with an index built anew; False if nobody can build it."""
        if self.mend is None:
            return False
        self.db.close()
        self.db = self.mend()
        return True

    @healing
    def rejected(self) -> "list[str]":
        """Return the words of what was forgotten or rejected."""
        return [said for (said,) in self.db.execute("SELECT said FROM rejected")]

    @healing
    def statements(self) -> "dict[str, list[dict[str, str]]]":
        """Return what sessions say of live facts, by the facts' ids, as far as nobody answered.

        What others published of their sessions says nothing here.

        Each has `what` (done, of a task; ended, replaced), `role`, `successor` (what takes the
        fact's place; a proposal that is gone says nothing any more), `quote`, `session`, `record`
        (of the session) and `at`. The last one said comes last.
        """
        names = ("what", "role", "successor", "quote", "session", "record", "at")
        sql = (
            "SELECT DISTINCT s.id, s.what, s.role, s.successor, s.quote, r.session, r.id, "
            "r.created FROM statements s JOIN records r USING (n) JOIN records f ON f.id = s.id "
            "WHERE r.store = 'private' AND f.status IN ('active', 'pinned') AND f.resolved = 0 "
            "AND (f.type = 'task' OR s.what <> 'done') AND (s.successor = '' OR "
            "EXISTS (SELECT 1 FROM records x WHERE x.id = s.successor AND "
            "x.status IN ('active', 'pinned'))) "
            "AND NOT EXISTS (SELECT 1 FROM answers a JOIN records k ON k.n = a.n "
            "WHERE k.id = f.id AND a.record = r.id) ORDER BY r.created, r.id, s.what"
        )
        out: dict[str, list[dict[str, str]]] = {}
        for id, *facts in self.db.execute(sql):
            out.setdefault(id, []).append(dict(zip(names, facts, strict=True)))
        return out

    @healing
    def nth_day_of_work(self, number: int) -> str:
        """Return the day, counted back from the newest, on which a session ended.

        Empty when there are fewer such days.
        """
        sql = (
            "SELECT substr(created, 1, 10) AS day FROM records WHERE CASE kind WHEN 'memory' THEN "
            "type ELSE kind END = 'session' GROUP BY day ORDER BY day DESC LIMIT 1 OFFSET ?"
        )
        row = self.db.execute(sql, (number - 1,)).fetchone()
        return str(row[0]) if row else ""

    @healing
    def tips(self) -> "dict[str, str]":
        """Return the commit that each store was indexed at."""
        return dict(self.db.execute("SELECT store, tip FROM tips"))

    @healing
    def damaged(self) -> "list[dict[str, str]]":
        """Return the files that should be records and are none."""
        return [
            dict(zip(("store", "path", "oid", "reason"), row, strict=True))
            for row in self.db.execute("SELECT store, path, oid, reason FROM damaged ORDER BY path")
        ]

    @healing
    def rows(
        self,
        /,
        *,
        order: str = "created",
        limit: int = -1,
        offset: int = 0,
        fields: "Iterable[str]" = FIELDS,
        **filters: "Any",
    ) -> "list[dict[str, Any]]":
        """Return records that pass every filter of `_filtered`; an empty filter passes all.

        `fields` are those that the caller looks at; all is three times the work.
        """
        where, values = filtered(**filters)
        wanted = set(fields)
        names = [f for f in FIELDS if f in wanted]
        # few of many, worst first: the index has them in this order, and SQLite does not see that
        # this is less than to sort them all
        by = ""
        asked = {name for name, value in filters.items() if value}
        if order == "severity" and limit >= 0 and "kinds" in asked and not NARROW & asked:
            by = " INDEXED BY records_worst" if tuple(filters["kinds"]) == ("gotcha",) else ""
            # in full: only so does SQLite see that the index has all of these
            where += " AND kind = 'gotcha'" if by else ""
        sql = (
            f"SELECT {', '.join(['n', *names])} FROM records{by}{where} ORDER BY {ORDERS[order]} "
            f"LIMIT ? OFFSET ?"
        )
        return self.dicts(("n", *names), self.db.execute(sql, (*values, limit, offset)))

    @healing
    def number(self, /, *, most: int = -1, **filters: "Any") -> int:
        """Return how many records pass every filter of `rows`; of more than `most`, that many."""
        where, values = filtered(**filters)
        sql = f"SELECT COUNT(*) FROM (SELECT 1 FROM records{where} LIMIT ?)"
        return int(self.db.execute(sql, (*values, most)).fetchone()[0])

    @healing
    def hidden(self) -> "list[str]":
        """Return the ids of the private facts that the shared store has too."""
        sql = "SELECT id FROM records WHERE n IN (SELECT n FROM hidden) AND store = 'private'"
        return [id for (id,) in self.db.execute(sql)]

    @healing
    def bases(self) -> "dict[str, set[str]]":
        """Return {path: blobs} that gotchas have places in.

        '' and '?' as `index.columns.bases` has them.
        """
        out: dict[str, set[str]] = {}
        for path, blob in self.db.execute("SELECT DISTINCT path, blob FROM bases"):
            out.setdefault(path, set()).add(blob)
        return out

    @healing
    def paths_of(self, kinds: "Sequence[str]") -> "list[str]":
        """Return the paths that records of some kinds are anchored in."""
        sql = (
            "SELECT DISTINCT p.path FROM places p JOIN records r ON r.n = p.n "
            f"WHERE r.kind IN ({marks(kinds)}) ORDER BY p.path"
        )
        return [path for (path,) in self.db.execute(sql, tuple(kinds))]

    @healing
    def count(self) -> "dict[tuple[str, str], int]":
        """Return how many records there are by (store, kind)."""
        sql = "SELECT store, kind, COUNT(*) FROM records GROUP BY store, kind"
        out = {(store, kind): int(number) for store, kind, number in self.db.execute(sql)}
        sql = "SELECT store, kind FROM records WHERE n IN (SELECT n FROM hidden)"
        for store, kind in self.db.execute(sql).fetchall():
            out[store, kind] -= 1
        return {key: number for key, number in out.items() if number}

    @healing
    def get(self, id: str) -> "list[dict[str, Any]]":
        """Return the rows of an id (one a store)."""
        return self.dicts(
            _ALL,
            self.db.execute(
                f"SELECT n, {', '.join(FIELDS)} FROM records WHERE id = ? AND {ONCE} "
                "ORDER BY store DESC",
                (id,),
            ),
        )

    @healing
    def by_patterns(self, patterns: "Sequence[str]", limit: int = 8) -> "list[dict[str, Any]]":
        """Return the gotchas that were captured from, or wait for, one of these errors."""
        sql = (
            f"SELECT n, {', '.join(FIELDS)} FROM records WHERE n IN (SELECT n FROM patterns WHERE "
            f"pattern IN ({marks(patterns)})) AND {ONCE} LIMIT ?"
        )
        return self.dicts(_ALL, self.db.execute(sql, (*patterns, limit)))

    @healing
    def has_places(self) -> bool:
        """Say whether any record has a place in the code, or waits for some."""
        sql = (
            "SELECT EXISTS (SELECT 1 FROM places) OR EXISTS (SELECT 1 FROM globs) OR EXISTS "
            "(SELECT 1 FROM codes)"
        )
        return bool(self.db.execute(sql).fetchone()[0])

    @healing
    def by_commits(
        self, oids: "Sequence[str]", patches: "Sequence[str]" = (), limit: int = 50
    ) -> "list[dict[str, Any]]":
        """Return the records of the sessions that had a part in one of these commits.

        A commit with the same change counts too.
        """
        test = f"oid IN ({marks(oids)})" + (f" OR patch IN ({marks(patches)})" if patches else "")
        sql = (
            f"SELECT n, {', '.join(FIELDS)} FROM records WHERE n IN (SELECT n FROM made WHERE "
            f"{test}) AND {ONCE} LIMIT ?"
        )
        return self.dicts(_ALL, self.db.execute(sql, (*oids, *patches, limit)))

    @healing
    def has_commits(self) -> bool:
        """Say whether any session record names a commit."""
        return self.db.execute("SELECT 1 FROM made LIMIT 1").fetchone() is not None

    @healing
    def by_commands(self, heads: "Sequence[str]", limit: int = 8) -> "list[dict[str, Any]]":
        """Return the gotchas that a command is known to trip on, by its first words."""
        sql = (
            f"SELECT n, {', '.join(FIELDS)} FROM records WHERE n IN (SELECT n FROM commands WHERE "
            f"head IN ({marks(heads)})) AND {ONCE} LIMIT ?"
        )
        return self.dicts(_ALL, self.db.execute(sql, (*heads, limit)))

    @healing
    def globs(self) -> "list[tuple[int, str]]":
        """Return (row, pattern) of every place that is a pattern."""
        return list(self.db.execute("SELECT n, glob FROM globs"))

    @healing
    def anchored(self, limit: int) -> "list[str]":
        """Return paths that records have places in."""
        return [
            path
            for (path,) in self.db.execute("SELECT DISTINCT path FROM places LIMIT ?", (limit,))
        ]

    @healing
    def packed(self, most: int) -> "dict[str, list[tuple[Any, ...]]]":
        """Return the live gotchas about each path, for `unpack`.

        This takes a twentieth of the memory of rows. The result is empty when there are more than
        `most`.
        """
        sql = (
            f"SELECT p.path, r.n, {', '.join('r.' + f for f in FIELDS)} FROM records r JOIN places "
            f"p ON p.n = r.n "
            "WHERE r.kind = 'gotcha' AND r.status IN ('active', 'pinned') AND r.n NOT IN "
            "(SELECT n FROM hidden) LIMIT ?"
        )
        out: dict[str, list[tuple[Any, ...]]] = {}
        count = 0
        for path, *row in self.db.execute(sql, (most + 1,)):
            out.setdefault(path, []).append(tuple(row))
            count += 1
        return out if count <= most else {}

    @healing
    def body(self, n: int) -> str:
        """Return the body of a row."""
        row = self.db.execute("SELECT body FROM texts WHERE n = ?", (n,)).fetchone()
        return unfold(row[0]) if row else ""

    @healing
    def match_ids(self, text: str, limit: int = 20) -> "list[str]":
        """Return the ids that start or end with a text, or are shown with it as their start.

        The kind's prefix counts or not.
        """
        low = text.lower()
        if not low or low.strip("abcdefghijklmnopqrstuvwxyz0123456789._-"):
            return []
        like = low.replace("_", "\\_")
        rows = self.db.execute(
            "SELECT DISTINCT id FROM records WHERE id = ? OR id LIKE ? ESCAPE '\\' OR substr(id, "
            "5) LIKE ? ESCAPE '\\' OR id LIKE ? ESCAPE '\\' OR (length(id) > ? AND substr(id, "
            "-8) LIKE ? ESCAPE '\\') ORDER BY id = ? DESC, id LIMIT ?",
            (low, like + "%", like + "%", "%" + like, SHORTEST_ULID_ID, like + "%", low, limit),
        )
        return [r[0] for r in rows]

    @healing
    def edges(self) -> "list[tuple[str, str, str]]":
        """Return every (source id, relation, target id)."""
        return list(
            self.db.execute(
                "SELECT r.id, e.rel, e.dst FROM edges e JOIN records r ON r.n = e.n ORDER BY r.id, "
                "e.rel, e.dst"
            )
        )

    @healing
    def edges_of(self, id: str) -> "list[tuple[str, str, str]]":
        """Return the (source, relation, target) that an id takes part in."""
        sql = (
            "SELECT r.id, e.rel, e.dst FROM edges e JOIN records r ON r.n = e.n WHERE {} ORDER BY "
            "r.id, e.rel, e.dst"
        )
        return sorted(
            {
                *self.db.execute(sql.format("r.id = ?"), (id,)),
                *self.db.execute(sql.format("e.dst = ?"), (id,)),
            }
        )

    @healing
    def usage(self, ids: "Iterable[str]") -> "dict[str, tuple[int, str]]":
        """Return {id: (reads, last read)} as all replicas' files tell."""
        out = {}
        for id in ids:
            row = self.db.execute(
                "SELECT SUM(n), MAX(last) FROM usage WHERE id = ?", (id,)
            ).fetchone()
            if row and row[0]:
                out[id] = (int(row[0]), str(row[1]))
        return out

    @healing
    def all_usage(self) -> "dict[str, tuple[int, str]]":
        """Return {id: (reads, last read)} of all that was read, as all replicas' files tell."""
        sql = "SELECT id, SUM(n), MAX(last) FROM usage GROUP BY id"
        return {id: (int(n), str(last)) for id, n, last in self.db.execute(sql)}

    @healing
    def active_hours(self) -> "dict[str, int]":
        """Return {day: mask} of the hours in which any replica was worked in."""
        masks: dict[str, int] = {}
        for day, mask in self.db.execute("SELECT DISTINCT day, mask FROM hours"):
            masks[day] = masks.get(day, 0) | mask
        return masks

    @healing
    def fleeting(self) -> "list[tuple[int, float, float, str]]":
        """Return the kinds of active facts that age may put away, each with its oldest.

        Each is (level, decay rate, importance, when the oldest was made).
        """
        sql = (
            f"SELECT level, decay_rate, importance, MIN(created) FROM records WHERE {FLEETING} "
            "GROUP BY level, decay_rate, importance"
        )
        return [tuple(row) for row in self.db.execute(sql)]

    @healing
    def aged(self, kinds: "Sequence[Aged]", among: "Sequence[str] | None" = None) -> "list[str]":
        """Return the ids of the facts that are as old as some kinds say, of some or of all."""
        test, values = is_aged(kinds)
        where, ids = chosen(among, ())
        sql = f"SELECT id FROM records WHERE {' AND '.join([test, *where])}"
        return [id for (id,) in self.db.execute(sql, (*values, *ids))]

    @healing
    def settled(self, first: str, second: str) -> "list[str]":
        """Return the digests of both words with which a person said that two facts hold."""
        sql = (
            "SELECT s.words FROM settled s JOIN records r ON r.n = s.n "
            "WHERE (r.id = ? AND s.id = ?) OR (r.id = ? AND s.id = ?)"
        )
        return [words for (words,) in self.db.execute(sql, (first, second, second, first))]

    @healing
    def search(
        self,
        text: str,
        *,
        limit: int = 10,
        kinds: "Sequence[str]" = (),
        stores: "Sequence[str]" = (),
        statuses: "Sequence[str]" = (),
        agents: "Sequence[str]" = (),
        resolved: bool | None = None,
        types: "Sequence[str]" = (),
        valid_at: str = "",
        without: "Sequence[str]" = (),
        ids: "Sequence[str] | None" = None,
        aged: "Sequence[Aged]" = (),
        spared: "Sequence[str]" = (),
        snippets: bool = True,
        titles: bool = False,
    ) -> "list[dict[str, Any]]":
        """Return the best matches: rows with `score` (higher is better), `snippet` and `reason`.

        Automatic snapshots come last: they repeat what was asked, and nobody wrote them.
        `valid_at`, `without`, `ids`, `aged` and `spared` are as in `rows`. With `titles` the words
        are looked for in titles alone.
        """
        query = match_query(text)
        if not query or limit < 1:
            return []
        if self.settle and self.db.execute("SELECT 1 FROM due LIMIT 1").fetchone():
            self.settle()
        where, values = where_of(
            kinds=kinds, stores=stores, statuses=statuses, agents=agents, types=types
        )
        for holds, bound in (
            is_resolved(resolved),
            valid(valid_at, agents),
            chosen(ids, without),
            not_aged(aged, spared),
        ):
            where, values = [*where, *holds], [*values, *bound]
        from gitmem.index.search import Search

        asked = Search(self.db, self.dicts, text, query, where, values, in_titles=titles)
        return asked.hits(limit, explained=snippets)

    def dicts(
        self, names: "Sequence[str]", rows: "Iterable[Sequence[Any]]"
    ) -> "list[dict[str, Any]]":
        """Return rows of the table `records` as dicts."""
        return self.mark_out_of_date(_dicts(names, rows))

    def mark_out_of_date(self, rows: "list[dict[str, Any]]") -> "list[dict[str, Any]]":
        """Return rows, those of facts that the code refutes with the reason."""
        out_of_date = self.out_of_date() if self.out_of_date and rows else {}
        for row in rows if out_of_date else ():
            oid, reason = out_of_date.get(row.get("id", ""), ("", ""))
            sql = "SELECT 1 FROM records WHERE n = ? AND oid = ?"
            if oid and self.db.execute(sql, (row["n"], oid)).fetchone():
                row["out_of_date"] = reason
        return rows


def _dicts(names: "Sequence[str]", rows: "Iterable[Sequence[Any]]") -> "list[dict[str, Any]]":
    """Return rows as dicts: JSON and truth values decoded."""
    out = [dict(zip(names, row, strict=True)) for row in rows]
    for key in _JSON.intersection(names):
        empty = "{}" if key == "triggers" else "[]"
        texts = [row[key] or empty for row in out]
        # in one call: most texts are short
        for row, value in zip(out, loads(f"[{','.join(texts)}]"), strict=True):
            row[key] = value
    for key in _TRUTHS.intersection(names):
        for row in out:
            row[key] = bool(row[key])
    return out


def unpack(rows: "Iterable[Sequence[Any]]") -> "list[dict[str, Any]]":
    """Return the rows of what `Index.packed` gave."""
    return _dicts(_ALL, rows)


# What `sort_rows` looks at.
SORTED_BY = {
    "created": ("created", "id"),
    "updated": ("updated", "id"),
    "title": ("title", "id"),
    "importance": ("importance", "created", "id"),
    "severity": ("severity", "last_seen", "id"),
    "waiting": ("severity", "occurrences", "last_seen", "id"),
}


def sort_rows(rows: "list[dict[str, Any]]", order: str) -> None:
    """Sort rows that come from several indexes as one index would have given them (see ORDERS)."""
    rank = {"critical": 0, "warning": 1, "info": 2}
    if order == "title":
        rows.sort(key=lambda r: (str(r["title"]).lower(), r["id"]))
    elif order == "importance":
        rows.sort(key=lambda r: r["id"])
        rows.sort(
            key=lambda r: (r["importance"] if r["importance"] is not None else -1.0, r["created"]),
            reverse=True,
        )
    elif order == "severity":
        rows.sort(key=lambda r: r["id"])
        rows.sort(key=lambda r: r["last_seen"] or "", reverse=True)
        rows.sort(key=lambda r: rank.get(r["severity"], 3))
    elif order == "waiting":
        rows.sort(key=lambda r: r["id"])
        rows.sort(
            key=lambda r: (
                r["severity"] == "critical",
                r["occurrences"] or 0,
                r["last_seen"] or "",
            ),
            reverse=True,
        )
    else:
        rows.sort(key=lambda r: (r[order], r["id"]), reverse=True)


def open_index(path: str) -> Index | None:
    """Return an index for reading; None when it is missing, damaged, or of another schema."""
    if not os.path.isfile(path):  # a pipe would block
        return None
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    # a read-only disk has no room for SQLite's shared memory file: then the file is taken as it is
    for options in ("mode=ro", "mode=ro&immutable=1"):
        try:
            db = sqlite.connect(
                f"file:{quoted}?{options}", uri=True, timeout=2, isolation_level=None
            )
        except sqlite.Error:
            continue
        try:
            row = db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
            if row and row[0] == str(SCHEMA):
                db.execute("PRAGMA query_only = 1")
                return Index(db)
            db.close()
            return None
        except sqlite.Error:
            db.close()
    return None
