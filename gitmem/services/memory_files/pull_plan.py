"""The plan for the way from agents' memory files into the store.

It says what is new, changed, moved or gone since the last time. This module only decides;
`native_pull` has the words and writes the result.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gitmem.clock import seconds
from gitmem.codemap.anchors.resolve import attach
from gitmem.errors import GitmemError, InvalidRecord, UserError
from gitmem.records.claims import words_of
from gitmem.records.kinds import derived_id, text_key
from gitmem.records.merge import restamp
from gitmem.records.record import Record, make
from gitmem.records.trust import confirmed_by, words_digest
from gitmem.repo.caller import BACKGROUND
from gitmem.services.memory_files import managed_block
from gitmem.services.memory_files.discover import Memo, MemoryFiles
from gitmem.services.memory_files.note_types import type_of
from gitmem.services.memory_files.pairing import LIKE, PairedStatement, likeness, pair
from gitmem.services.memory_files.pull import (
    ARCHIVED,
    CHANGED,
    CONFLICT,
    DUPLICATE,
    FORGOTTEN,
    HELD,
    MOVED,
    NEW,
    PROPOSED,
    RESTORED,
    SAME,
    Action,
    ImportedRecord,
    PullContext,
    PullPlan,
    Row,
)
from gitmem.services.memory_files.record_line import text_of, usual, whole
from gitmem.services.memory_files.statements import TITLE, FileStatement, divided, same_words
from gitmem.services.records.write import clean, unvouched
from gitmem.store.layout import tombstone_path
from gitmem.store.rejected import Rejected, rejected_in

AGENTS_OWN = ("memory", "topic")  # kinds of files that an agent writes for itself
TRIES = 8  # ids that one text may have had
_STOPS = " .;:。；："
_WORDS = re.compile(r"[^\W_]+")


def plan(files: MemoryFiles, world: PullContext, *, blocks: bool = False) -> PullPlan:
    """Return what is to be done so that the store has what the files say.

    With `blocks` only what was changed in blocks of ours.
    """
    return _Planner(files, world).run(blocks)


class _Planner:
    def __init__(self, files: MemoryFiles, world: PullContext) -> None:
        self.files = files
        self.world = world
        self.plan = PullPlan(notes=list(files.notes))
        self.now = world.who.clock.stamp()
        self.gone: list[tuple[ImportedRecord, Memo | None]] = []
        self.fresh: list[tuple[Memo, FileStatement]] = []
        self.used: set[str] = set()
        self._holds: dict[str, str] = {}
        self._rejections: dict[str, Rejected] = {}
        self._undecided: set[str] = set()  # files that are not read now
        self.tracked = {memo.name for memo in files.memos if memo.tracked}

    def run(self, blocks: bool) -> PullPlan:
        """Return the plan."""
        self._set_aside_undecided()
        edited = self._blocks()
        if not blocks:
            self._files(edited)
        self._went_elsewhere()
        self._keep_what_others_removed()
        self._new()
        self._archive()
        order = {
            name: n
            for n, name in enumerate(dict.fromkeys([memo.name for memo in self.files.memos]))
        }
        self.plan.actions.sort(key=lambda a: (order.get(a.file, len(order)), a.file, a.line, a.id))
        return self.plan

    def _files(self, edited: set[str]) -> None:
        """Compare the files, and those that are gone, with what was read from them before."""
        groups = _by_file(self.world.imported)
        for memo in self.files.memos:
            mine = groups.pop((memo.name, memo.tree), [])
            if memo.tracked:  # it was not, when these were read
                mine += groups.pop((memo.name, self.files.tree), [])
            if memo.name not in self._undecided:
                self._file(memo, [record for record in mine if record.record.id not in edited])
        self._went_away(groups)

    def _went_away(self, groups: Mapping[tuple[str, str], Sequence[ImportedRecord]]) -> None:
        """Note the records of files that are gone."""
        for (name, tree), records in sorted(groups.items()):
            if name and self.world.gone(name, tree) and not (self.world.operation and not tree):
                self.gone += [(record, None) for record in records if record.is_live]

    def _program(self, memo: Memo) -> str:
        """Return the agent that may have written what a file says; empty for a person.

        What a person has taken over is theirs, and what they committed. In the background, nobody
        has looked at the other lines.
        """
        who = self.world.who
        if memo.kind in AGENTS_OWN and memo.scope != "shared":
            return memo.reader
        if who.is_person or who.program != BACKGROUND:
            return who.program
        is_committed = memo.tracked and memo.name not in self.world.dirty
        return "" if is_committed else memo.reader

    def _knows(self, imported: ImportedRecord) -> bool:
        """Return whether this work tree may decide about a record.

        It may if it has what the record was read from, or if nobody has that any more.
        """
        return self._holding(imported) in {"here", "lost"}

    def _holding(self, imported: ImportedRecord) -> str:
        commit = str(imported.source.get("commit") or "")
        if not commit or commit == self.world.commit:
            return "here"
        if commit not in self._holds:
            self._holds[commit] = self.world.holds(commit)
        return self._holds[commit]

    # -- whose lines these are

    def _set_aside_undecided(self) -> None:
        """Read no tracked file while git is in the middle of an operation.

        At that time, the lines of the file may be anybody's.
        """
        for memo in self.files.memos:
            if memo.blamed and self.world.operation:
                self._undecided.add(memo.name)
                self.plan.notes.append(
                    f"{memo.name} is not read until the {self.world.operation} is finished. Until "
                    f"then, the authors of its lines are unknown."
                )

    def _author(self, memo: Memo, statement: FileStatement) -> str:
        """Return who else wrote lines of a statement, "" if all of it is this user's."""
        if not memo.blamed:
            return ""
        return self.world.author(memo, _lines_of(memo, statement))

    def _may_change(self, memo: Memo, statement: FileStatement, imported: ImportedRecord) -> bool:
        """Say whether what a file says may change a record; else note that it does not."""
        if not self._author(memo, statement):
            return True
        self._note(
            SAME if imported.is_live and imported.own == statement.key else HELD,
            memo,
            statement,
            imported,
        )
        return False

    def _remover(self, imported: ImportedRecord, tracked: str) -> str:
        """Return who took a record's line out of a file that git tracks; empty for nobody."""
        if not tracked or imported.is_proposal:
            return ""
        since, key = (str(imported.source.get(name) or "") for name in ("commit", "hash"))
        # a link may have taken the file's name
        names = dict.fromkeys((tracked, str(imported.source.get("file") or tracked)))
        return next(filter(None, (self.world.remover(path, since, key) for path in names)), "")

    def _keep_what_others_removed(self) -> None:
        """Leave the records alone whose lines somebody else took out of a file.

        What waits in the inbox goes with its line.
        """
        left = []
        for imported, memo in self.gone:
            name = memo.name if memo else str(imported.source.get("file"))
            tracked = memo.blamed if memo else imported.source.get("commit") and name
            remover = self._remover(imported, str(tracked or ""))
            if not remover:
                left.append((imported, memo))
                continue
            self.used.add(imported.record.id)
            self.plan.actions.append(
                Action(
                    HELD,
                    name,
                    int(imported.source.get("line") or 0),
                    imported.scope,
                    imported.record.title,
                    imported.record,
                )
            )
            self.plan.notes.append(
                f"{name}: {remover} took out a line; its record "
                f"{managed_block.short(imported.record.id)} stays."
            )
        self.gone = left

    # -- our own blocks

    def _blocks(self) -> set[str]:
        """Take what somebody changed in blocks of ours; return the ids of these records."""
        done: set[str] = set()
        rows = {managed_block.short(str(row["id"])): row for row in self.world.rows}
        for memo in self.files.memos:
            if memo.name in self._undecided:
                continue
            for block in managed_block.find(memo.text.replace("\r\n", "\n").split("\n")):
                self._block(memo, block, rows, done)
        return done

    def _block(
        self, memo: Memo, block: managed_block.ManagedBlock, rows: Mapping[str, Row], done: set[str]
    ) -> None:
        """Take in one block; add the ids of the records that it changes to `done`."""
        for line in block.lines:
            if line.edited:
                self._edited(memo, line, rows.get(line.short), done)
        for number, text in block.added:
            self._wrote(memo, number, text)
        missing = block.said - len(block.lines)
        if block.whole and missing > 0:
            self.plan.notes.append(
                f"{memo.name}: {missing} line{'s were' if missing > 1 else ' was'} taken "
                f"out of the block; the next push writes what is still in the store. "
                "To put a record aside: git mem archive ID"
            )

    def _edited(
        self, memo: Memo, line: managed_block.BlockLine, row: Row | None, done: set[str]
    ) -> None:
        """Take in an edited line; add the id of the record that it changes to `done`."""
        place = f"{memo.name}:{line.number} was edited"
        if row is None or (memo.tracked and row["store"] != "shared"):
            # anybody may have written a tracked line: it changes nothing of this user's alone
            if self._wrote(memo, line.number, line.text):
                self.plan.notes.append(
                    f"{place}, and no record has the id {line.short}: the line becomes a new "
                    f"record."
                )
            return
        author = self.world.author(memo, (line.number,)) if memo.blamed else ""
        if not author:
            if row["id"] not in done and self._line(memo, line, row):
                done.add(str(row["id"]))
        elif line.text != text_of(row, self.world.clean) and self._wrote(
            memo, line.number, line.text
        ):
            self.plan.notes.append(f"{place} by {author}: the record {line.short} stays as it is.")

    def _wrote(self, memo: Memo, number: int, text: str) -> bool:
        """Take what somebody wrote into a block as a statement of its own.

        Say whether it has words.
        """
        _, line, helps = managed_block.unlabelled(text)
        title, body = divided(usual(line), f"Workaround: {usual(helps)}" if helps else "")
        if title:
            self.fresh.append(
                (
                    _loose(memo),
                    FileStatement(
                        title, body, (number, number), type_of(title), text_key(title, body)
                    ),
                )
            )
        return bool(title)

    def _line(self, memo: Memo, line: managed_block.BlockLine, row: Row) -> bool:
        """Take an edited line into its record, unless the record is newer.

        Say whether it differs from the record.
        """
        words = text_of(row, self.world.clean)
        if line.text == words:
            return False
        _, title, helps = managed_block.unlabelled(line.text)
        if not usual(title):
            self.plan.notes.append(
                f"{memo.name}:{line.number} has no words left: it is not taken over."
            )
            return False
        scope = str(row["store"])
        before = self.world.store(scope).get(str(row["id"])).record
        _, was_title, was_helps = managed_block.unlabelled(words)
        title, helps = (
            whole(title, was_title, before.title),
            whole(helps, was_helps, str(before.get("workaround") or "")),
        )
        after = before.change(
            title=title, **({"workaround": helps or None} if before.kind == "gotcha" else {})
        )
        if (after.title, after.get("workaround")) == (before.title, before.get("workaround")):
            return False
        self._settle(
            memo, line.number, scope, before, after, managed_block.check(words) != line.check
        )
        return True

    def _settle(
        self, memo: Memo, line: int, scope: str, before: Record, after: Record, both: bool
    ) -> None:
        """Have a file's text become the record's.

        Where the record changed too, the newer one of them wins and the other stays in its history.
        """
        if not both:
            self._put(CHANGED, memo, line, scope, before, after)
        elif memo.written >= seconds(before.updated):
            self._put(
                CONFLICT,
                memo,
                line,
                scope,
                before,
                after,
                why=f"the file is newer; the record's text is in git mem log "
                f"{managed_block.short(before.id)}",
            )
        else:
            kept = (
                before.change(source=after.fields["source"]) if "source" in after.fields else before
            )
            why = (
                f"the record is newer; the file's text is in git mem log "
                f"{managed_block.short(before.id)}"
            )
            self._put(CONFLICT, memo, line, scope, before, kept, loser=after, why=why)

    # -- statements

    def _file(self, memo: Memo, mine: list[ImportedRecord]) -> None:
        """Match what a file says with what was read from it before."""
        new = [
            PairedStatement(s.key, s.lines[0], f"{s.title} {s.body}") for s in memo.page.statements
        ]
        equal = _equal_pairs(mine, new)
        grown = self._grown(memo, mine, equal)
        taken = {id(record) for record in (*equal.values(), *grown.values())}
        live = [record for record in mine if record.is_live and id(record) not in taken]
        changed = _changed_pairs(live, new, {**equal, **grown})
        for j, statement in enumerate(memo.page.statements):
            if j in equal:
                self._equal(memo, statement, equal[j])
            elif j in grown:
                take = self._longer if grown[j].is_live else self._equal
                take(memo, statement, grown[j])
            elif j in changed:
                self._changed(memo, statement, changed[j])
            else:
                self._unpaired(memo, statement, new[j], live)
        done = {id(imported) for imported in changed.values()}
        if not memo.cut:
            self.gone += [(imported, memo) for imported in live if id(imported) not in done]

    def _unpaired(
        self,
        memo: Memo,
        statement: FileStatement,
        said: PairedStatement,
        live: Sequence[ImportedRecord],
    ) -> None:
        """Take in a statement as a new one.

        It is not new if it is like a record about which this work tree may not decide.
        """
        for record in live:
            if not self._knows(record) and _like(record, said):
                self._note(HELD, memo, statement, record)
                return
        self.fresh.append((memo, statement))

    def _grown(
        self, memo: Memo, mine: list[ImportedRecord], equal: dict[int, ImportedRecord]
    ) -> dict[int, ImportedRecord]:
        """Return the records whose statements now say the same and more.

        For example, a rule keeps its id when it gets an exception that was a record of its own.
        """
        there = {id(imported) for imported in equal.values()}
        left = [imported for imported in mine if id(imported) not in there]
        hashes: dict[str, list[ImportedRecord]] = {}
        lines: dict[int, list[ImportedRecord]] = {}
        for imported in left:
            hashes.setdefault(str(imported.source.get("hash")), []).append(imported)
            if imported.is_live and not imported.edited:
                lines.setdefault(imported.said().line, []).append(imported)
        out: dict[int, ImportedRecord] = {}
        for j, statement in enumerate(memo.page.statements) if left else ():
            if j in equal:
                continue
            line = statement.lines[0]
            older = [record for key, _, _ in statement.older for record in hashes.get(key, ())]
            older += [
                record for record in lines.get(line, ()) if _begins(statement, record.record.title)
            ]
            older = [record for record in older if id(record) not in there]
            if older:
                out[j] = min(older, key=lambda record: _distance(record, line))
                there.add(id(out[j]))
        return out

    def _longer(self, memo: Memo, statement: FileStatement, imported: ImportedRecord) -> None:
        """Have a record say what its statement says with more to it.

        What somebody made of its words meanwhile stays.
        """
        was = next(
            (
                (title, body)
                for key, title, body in statement.older
                if key == imported.source.get("hash")
            ),
            None,
        )
        before = imported.record
        bare = was[0].rstrip(_STOPS) if was else ""
        if (
            was is None
            or not imported.edited
            or imported.own == statement.key
            or not self._knows(imported)
            or not statement.title.startswith(bare)
        ):
            self._changed(memo, statement, imported)
            return
        if self._author(memo, statement):
            self._changed(memo, statement, imported)
            return
        more = statement.title[len(bare) :]
        title = (
            before.title
            if more.strip(_STOPS) in before.title
            else before.title.rstrip(_STOPS) + more
        )
        if len(title) > TITLE:
            self._changed(memo, statement, imported)
            return
        body = (
            statement.body if same_words("", before.body) == same_words("", was[1]) else before.body
        )
        self._put(
            CHANGED,
            memo,
            statement.lines[0],
            memo_scope(memo, imported),
            before,
            self._at(memo, statement, before.change(title=title, body=body)),
            imported,
        )

    def _equal(self, memo: Memo, statement: FileStatement, imported: ImportedRecord) -> None:
        before = imported.record
        if not imported.is_live:
            if not imported.source.get("gone"):  # somebody put it aside on purpose
                self._note(SAME, memo, statement, imported)
            elif self._knows(imported) and self._may_change(memo, statement, imported):
                self._put(
                    RESTORED,
                    memo,
                    statement.lines[0],
                    memo_scope(memo, imported),
                    before,
                    self._at(memo, statement, before.change(status=None)),
                    imported,
                )
            elif imported.record.id not in self.used:
                self._note(HELD, memo, statement, imported)
            return
        # seen before it was committed, or in a commit that no branch has any more: from now on in
        # this one
        stale = memo.tracked and (
            (imported.source.get("ahead") and memo.name not in self.world.dirty)
            or self._holding(imported) == "lost"
        )
        moved = imported.source.get("line") != statement.lines[0] and self._knows(imported)
        if not (moved or stale or memo_scope(memo, imported) != imported.scope):
            self._note(SAME, memo, statement, imported)
        elif self._may_change(memo, statement, imported):
            self._put(
                MOVED,
                memo,
                statement.lines[0],
                memo_scope(memo, imported),
                before,
                self._at(memo, statement, before),
                imported,
            )

    def _changed(self, memo: Memo, statement: FileStatement, imported: ImportedRecord) -> None:
        if not self._knows(imported):
            self._note(HELD, memo, statement, imported)
            return
        author = self._author(memo, statement)
        if author and not imported.is_proposal:
            self._note(HELD, memo, statement, imported)
            self.fresh.append((memo, statement))
            return
        before, scope = imported.record, imported.scope if author else memo_scope(memo, imported)
        if author:
            after = self._at(
                memo,
                statement,
                before.change(title=statement.title, body=statement.body, author=author),
                author,
            )
            self._put(CHANGED, memo, statement.lines[0], scope, before, after, imported)
            return
        after = self._at(memo, statement, before.change(title=statement.title, body=statement.body))
        if imported.edited and imported.own != statement.key:
            self._settle(memo, statement.lines[0], scope, before, after, both=True)
        else:
            self._put(CHANGED, memo, statement.lines[0], scope, before, after, imported)

    def _writers(
        self, memo: Memo, statement: FileStatement, record: Record, author: str
    ) -> dict[str, Any]:
        """Return who wrote a statement, if it was not this user, as a record's source has it."""
        was, program = _source(record), self._program(memo)
        if was.get("hash") == statement.key:  # words that were read before stay whose they were
            program = program and str(was.get("program") or "")
        by = {"author": author, "program": program}
        return {key: value for key, value in by.items() if value}

    def _anchor(self, memo: Memo, first: int, last: int) -> dict[str, Any]:
        anchor: dict[str, Any] = {"path": memo.name, "lines": [first, last]}
        try:
            anchor = attach(
                anchor, memo.data.decode("utf-8", "replace"), self.world.blob(memo.data)
            )
        except UserError:
            pass  # the place alone, then
        if memo.tracked and self.world.commit:
            anchor["commit"] = self.world.commit
        return anchor

    def _at(self, memo: Memo, statement: FileStatement, record: Record, author: str = "") -> Record:
        """Return a record with the place of a statement: its source and its anchors.

        Anchors are set only for a file of the repository.

        `author` is who else committed it. An agent wrote what its own memory file says.
        """
        writers = self._writers(memo, statement, record, author)
        if memo.kind == "loose":
            return record.change(source=writers) if writers else record
        first, last = statement.lines
        source = {"file": memo.name, "line": first, "hash": statement.key, **writers}
        if memo.tree:
            source["tree"] = memo.tree
        if memo.tracked and self.world.commit:
            source["commit"] = self.world.commit
            if memo.name in self.world.dirty:
                source["ahead"] = True
        anchors = [self._anchor(memo, first, last)] if memo.within else []
        anchors += [{"glob": glob} for glob in memo.globs]
        others = [
            a
            for a in record.anchors
            if a.get("path") not in {memo.name, str(_source(record).get("file"))}
            and "glob" not in a
        ]
        return record.change(source=source, anchors=[*anchors, *others] or None)

    def _went_elsewhere(self) -> None:
        """Have a record follow a statement that went to another file."""
        left = []
        for imported, memo in self.gone:
            wanted = str(imported.source.get("hash"))
            number = next(
                (
                    n
                    for n, (m, s) in enumerate(self.fresh)
                    if s.key == wanted
                    and m.kind != "loose"
                    and _fits(m, imported)
                    and not self._author(m, s)
                ),
                -1,
            )
            if number < 0 or not self._knows(imported):
                left.append((imported, memo))
                continue
            to, statement = self.fresh.pop(number)
            self._put(
                MOVED,
                to,
                statement.lines[0],
                memo_scope(to, imported),
                imported.record,
                self._at(to, statement, imported.record),
                imported,
            )
        self.gone = left

    def _new(self) -> None:
        there: dict[str, Row] = {}
        for existing in self.world.rows:
            if existing["status"] != "archived" and existing["kind"] in {"memory", "gotcha"}:
                there.setdefault(same_words(str(existing["title"]), ""), existing)
        bodies: dict[str, str] = {}
        stale = {a.id for a in self.plan.actions if a.what in {CHANGED, CONFLICT}} | {
            imported.record.id for imported, _ in self.gone
        }
        aside = {
            str(k.source.get("hash")): k
            for k in self.world.imported
            if not k.is_live and not k.source.get("gone")
        }
        for memo, statement in self.fresh:
            words = same_words(statement.title, statement.body)
            row: Row | None = there.get(same_words(statement.title, ""))
            if statement.key in aside:  # somebody put it aside on purpose, wherever it stands
                self._note(SAME, memo, statement, aside[statement.key])
                continue
            if row is not None and row["id"] not in stale and self._has_all(row, statement, words):
                self._duplicate(memo, statement, str(row["store"]), str(row["id"]))
                continue
            if words in bodies:
                self._duplicate(memo, statement, memo.scope, bodies[words])
                continue
            author = self._author(memo, statement)
            record = self._make(memo, statement, author)
            if record is None:
                continue
            bodies[words] = record.id
            if author:
                self._put(
                    PROPOSED,
                    memo,
                    statement.lines[0],
                    "private",
                    None,
                    record,
                    why=f"committed by {author}: git mem inbox",
                )
            else:
                self._put(NEW, memo, statement.lines[0], memo.scope, None, record)

    def _duplicate(self, memo: Memo, statement: FileStatement, scope: str, id: str) -> None:
        line = statement.lines[0]
        self.plan.actions.append(Action(DUPLICATE, memo.name, line, scope, statement.title, why=id))

    def _has_all(self, row: Row, statement: FileStatement, words: str) -> bool:
        """Say whether a record with the title of a statement has its text below it too."""
        if not statement.body:
            return True
        try:
            record = self.world.store(str(row["store"])).get(str(row["id"])).record
        except GitmemError:
            return False
        return same_words(record.title, record.body) == words

    def _make(self, memo: Memo, statement: FileStatement, author: str = "") -> Record | None:
        """Return a new record, None for one that was forgotten.

        Its id is made from its words: two clones that read the same make the same record.
        """
        id = self._free_id(memo, statement, author)
        if id is None:
            return None
        who = self.world.who
        try:
            record = make(
                "memory",
                id,
                statement.title,
                statement.body,
                created=self.now,
                updated=self.now,
                rev=1,
                author=author or who.person,
                origin="imported",
                type=statement.type,
                agent=memo.agent or None,
            )
        except InvalidRecord as error:
            self.plan.notes.append(f"{memo.name}:{statement.lines[0]} is not taken over: {error}")
            return None
        mark = self._rejected(memo.scope).find(words_of(record))
        if mark is not None:
            self._forgotten(memo, statement, str(mark["id"]))
            return None
        return self._at(memo, statement, record, author)

    def _free_id(self, memo: Memo, statement: FileStatement, author: str) -> str | None:
        """Return the id of a new record; None where there is none, or it was forgotten."""
        scopes = dict.fromkeys(["private", memo.scope] if author else [memo.scope])
        stores = [self.world.store(scope) for scope in scopes]
        taken = {str(row["id"]) for row in self.world.rows} | self.used
        # it may have been forgotten before more was told with it
        keys = [key for key, _, _ in statement.older]
        keys += [f"{statement.key}{f' {n}' if n else ''}" for n in range(TRIES)]
        for number, key in enumerate(keys):
            id = derived_id("mem", f"native {memo.agent} {key}")
            if any(store.read_file(tombstone_path(id)) is not None for store in stores):
                self._forgotten(memo, statement, id)
                return None
            if number >= len(statement.older) and id not in taken:
                return id
        return None

    def _forgotten(self, memo: Memo, statement: FileStatement, id: str) -> None:
        line = statement.lines[0]
        self.plan.actions.append(
            Action(FORGOTTEN, memo.name, line, memo.scope, statement.title, why=id)
        )

    def _rejected(self, scope: str) -> Rejected:
        if scope not in self._rejections:
            self._rejections[scope] = rejected_in(self.world.store(scope).objects)
        return self._rejections[scope]

    def _archive(self) -> None:
        for imported, memo in self.gone:
            name = memo.name if memo else str(imported.source.get("file"))
            line = int(imported.source.get("line") or 0)
            if not self._knows(imported):
                self.plan.actions.append(
                    Action(HELD, name, line, imported.scope, imported.record.title, imported.record)
                )
                continue
            if imported.record.status == "pinned":
                self.plan.notes.append(
                    f"{name}:{line} is gone; its record {managed_block.short(imported.record.id)} "
                    f"is pinned and stays."
                )
                self._put(
                    MOVED,
                    memo or _nowhere(name, imported.scope),
                    line,
                    imported.scope,
                    imported.record,
                    imported.record.change(source=None),
                    imported,
                )
                continue
            source = {
                **imported.source,
                "gone": True,
                **({"commit": self.world.commit} if imported.source.get("commit") else {}),
            }
            after = imported.record.change(status="archived", source=source)
            self._put(
                ARCHIVED,
                memo or _nowhere(name, imported.scope),
                line,
                imported.scope,
                imported.record,
                after,
                imported,
            )

    # -- what comes of it

    def _note(
        self, what: str, memo: Memo, statement: FileStatement, imported: ImportedRecord
    ) -> None:
        self.used.add(imported.record.id)
        self.plan.actions.append(
            Action(
                what,
                memo.name,
                statement.lines[0],
                imported.scope,
                imported.record.title,
                imported.record,
            )
        )

    def _put(
        self,
        what: str,
        memo: Memo,
        line: int,
        scope: str,
        before: Record | None,
        after: Record,
        imported: ImportedRecord | None = None,
        *,
        loser: Record | None = None,
        why: str = "",
    ) -> None:
        self.used.add(after.id)
        leaves = imported.scope if imported and imported.scope != scope else ""
        if leaves:
            source = _source(after)
            after = after.change(source={k: v for k, v in source.items() if k != "tree"})
        if before is not None:
            # a line that moved is not news: what was said keeps its date
            stamp = before.updated if what == MOVED else self.now
            after = restamp(
                before, after.change(rev=before.rev + 1 + (loser is not None), updated=stamp)
            )
            loser = (
                restamp(before, loser.change(rev=before.rev + 1, updated=self.now))
                if loser
                else None
            )
        after = clean(after, self.world.who.allow)[0]
        is_new = before is None or words_digest(before) != words_digest(after)
        is_unread = self._program(memo) and not self.world.who.is_person
        if before is not None and is_new and not before.unconfirmed:
            after = unvouched(before, after) if is_unread else self._confirmed(after)
        loser = clean(loser, self.world.who.allow)[0] if loser else None
        self.plan.actions.append(
            Action(what, memo.name, line, scope, after.title, before, after, leaves, loser, why)
        )

    def _confirmed(self, record: Record) -> Record:
        """Return a fact that the user vouches for with the words that it has in their file now."""
        is_own = not record.fields.get("confirmed")
        return record if is_own else confirmed_by(record, self.now, self.world.who.author[0])


def _by_file(
    records: Sequence[ImportedRecord],
) -> dict[tuple[str, str], list[ImportedRecord]]:
    """Return records by the file and the work tree that they were read from."""
    groups: dict[tuple[str, str], list[ImportedRecord]] = {}
    for record in records:
        place = (str(record.source.get("file") or ""), str(record.source.get("tree") or ""))
        groups.setdefault(place, []).append(record)
    return groups


def _equal_pairs(
    records: Sequence[ImportedRecord], new: Sequence[PairedStatement]
) -> dict[int, ImportedRecord]:
    """Return the records whose statements have the same words, by the statement's number."""
    return {
        number: records[i]
        for i, number in pair([record.said() for record in records], new)
        if records[i].source.get("hash") == new[number].key
    }


def _changed_pairs(
    live: Sequence[ImportedRecord],
    new: Sequence[PairedStatement],
    paired: Mapping[int, ImportedRecord],
) -> dict[int, ImportedRecord]:
    """Return the records whose statements have other words now, by the statement's number.

    What is paired already takes part, as the neighbours that tell where a statement stood.
    """
    unpaired = [number for number in range(len(new)) if number not in paired]
    records, numbers = [*live, *paired.values()], [*unpaired, *paired]
    pairs = pair([record.said() for record in records], [new[number] for number in numbers])
    return {numbers[b]: records[a] for a, b in pairs if a < len(live) and b < len(unpaired)}


def memo_scope(memo: Memo, imported: ImportedRecord) -> str:
    """Return the store that a record belongs to.

    A record becomes shared with its file, and never leaves the shared store again.
    """
    return memo.scope if imported.scope == "private" and memo.scope == "shared" else imported.scope


def _lines_of(memo: Memo, statement: FileStatement) -> Sequence[int]:
    """Return the lines that a statement takes its words from.

    These are its own lines, the lines that continue it, its heading, and the line that introduces
    it.
    """
    first, last = statement.lines
    lines = memo.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lacking = _words(f"{statement.title} {statement.body}") - _words(
        "\n".join(lines[first - 1 : last])
    )
    while lacking and last < len(lines) and lines[last][:1].isspace() and lines[last].strip():
        lacking -= _words(lines[last])
        last += 1
    while lacking and first > 1:
        first -= 1
        lacking -= _words(lines[first - 1])
    return range(first, last + 1)


def _words(text: str) -> set[str]:
    return set(_WORDS.findall(text.casefold()))


def _distance(record: ImportedRecord, line: int) -> tuple[bool, bool, str]:
    """Return how far a record is from being that of a line: the lowest is its own."""
    return not record.is_live, record.said().line != line, record.record.id


def _fits(memo: Memo, imported: ImportedRecord) -> bool:
    return memo.scope == imported.scope and (memo.agent or "global") == imported.record.get("agent")


def _begins(statement: FileStatement, title: str) -> bool:
    """Say whether a statement begins with the words of a title."""
    said, words = same_words(statement.title, statement.body), same_words(title, "").rstrip(_STOPS)
    return (
        bool(words) and said.startswith(words) and not said[len(words) : len(words) + 1].isalnum()
    )


def _like(imported: ImportedRecord, said: PairedStatement) -> bool:
    return likeness(imported.said().text, said.text) >= LIKE


def _source(record: Record) -> dict[str, Any]:
    field = record.fields.get("source")
    return dict(field) if isinstance(field, dict) else {}


def _loose(memo: Memo) -> Memo:
    """Return a file as the home of what was written into our block.

    The next push writes the block anew, so that none of its lines is a place.
    """
    return replace(memo, kind="loose", globs=(), within=False)


def _nowhere(name: str, scope: str) -> Memo:
    return Memo(name, name, "", "instructions", scope)
