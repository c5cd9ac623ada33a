"""Bring a store back whose objects are gone: from remotes, from the index, from older commits.

And say what could not be saved.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence

from gitmem.base.files import Lock
from gitmem.errors import GitmemError
from gitmem.git.object_codec import object_id
from gitmem.git.objects import BLOB, Identity, Objects, TreeEntry
from gitmem.git.process import Git
from gitmem.git.remote import Remote
from gitmem.index import rebuilt
from gitmem.repo.location import Home
from gitmem.repo.refs import BACKUP, NAMESPACE, REMOTES
from gitmem.store.history.mend import DamageSurvey, is_whole, mended, remains, survey, whole_history
from gitmem.store.layout import FORMAT_BYTES, FORMAT_PATH, id_of_path, in_record_folder
from gitmem.store.store import Store
from gitmem.store.sync import expire_reflogs, tracking_ref
from gitmem.text.plural import counted

SHOWN = 20  # ids and paths that are named, of each sort


class Mender:
    """Mends the stores of one repository. Each step says what it did in `report`."""

    def __init__(
        self, git: Git, objects: Objects, home: Home, index: sqlite3.Connection | None
    ) -> None:
        self._git = git
        self._objects = objects
        self._home = home
        self._db = index
        self.report: list[str] = []

    def mend(
        self,
        stores: Mapping[str, Store],
        remotes: Sequence[Remote],
        candidates: Callable[[str], list[str]],
        now: int,
    ) -> list[str]:
        """Mend all; return what was done, and what could not be saved.

        Raises Busy, Moved when somebody writes at the same time.

        `candidates` names, for a store, commits that may be the last good one when the ref's own
        commit is gone.
        """
        for remote in remotes:
            self._fetch(remote)
        with Lock(self._home.touch("write.lock"), 5.0):
            for name, store in stores.items():
                tip = store.tip()
                if tip and not is_whole(self._git, [tip]):
                    self._store(name, store, tip, candidates(name), now)
            for ref, oid in self._objects.refs(NAMESPACE).items():
                if ref.startswith((BACKUP, REMOTES)) and not is_whole(self._git, [oid]):
                    self._objects.delete(ref, oid)
                    self.report.append(f"removed {ref}, whose objects are gone")
        return self.report

    def _fetch(self, remote: Remote) -> None:
        try:
            if remote.fetch(tracking_ref(remote.name), again=True):
                self.report.append(f"fetched everything from {remote.name} again")
        except GitmemError as error:
            self.report.append(f"{remote.name} could not be asked for what it has: {error}")

    def _store(
        self, name: str, store: Store, tip: str, candidates: Sequence[str], now: int
    ) -> None:
        damage = survey(self._objects, self._git, [tip])
        exact = self._exact(name, damage)
        if exact:
            self.report.append(f"{store.ref}: wrote {counted(exact, 'file')} anew, to the byte")
            if is_whole(self._git, [tip]):
                return
            damage = survey(self._objects, self._git, [tip])
        if not damage.commits:
            present = [c for c in candidates if _is_there(self._objects, c)]
            damage = survey(self._objects, self._git, present)
            damage.gone[tip] = ""
        left, lost, approximate = self._left(name, tip, damage)
        wanted = self._indexed(name, tip, damage)
        older = [
            path
            for path, entry in left.items()
            if isinstance(entry, TreeEntry) and wanted.get(path, entry.oid) != entry.oid
        ]
        stands = whole_history(self._objects, damage)
        parents = stands.get(damage.commits[0].oid, ()) if damage.commits else ()
        who = Identity(*(store.author if store.author[0] else ("gitmem", "gitmem@localhost")), now)
        new = mended(self._objects, parents, left, lost, who)
        if is_whole(self._git, [tip]):  # the very folders were made anew
            self.report.append(f"{store.ref}: made all its folders anew from the index")
            return
        self._objects.move(store.ref, tip, new, "gitmem: mend")
        expire_reflogs(store, [store.ref])
        self._tell(store.ref, damage, stands, older, approximate, lost)

    def _left(
        self, name: str, tip: str, damage: DamageSurvey
    ) -> tuple[dict[str, TreeEntry | bytes], list[str], list[str]]:
        """Return what is left of a store by path, what is lost, and what is only approximate.

        What is approximate was rebuilt, but not byte for byte.
        """
        approximate: set[str] = set()

        def instead(path: str, oid: str) -> bytes | None:
            made = rebuilt.rebuilt(self._db, name, path, oid, self._blob_id) if self._db else None
            if made and not made[1]:
                approximate.add(path)
            return made[0] if made else None

        left, lost = remains(self._objects, damage, instead)
        indexed = self._indexed(name, tip, damage)
        if indexed:  # the index says what there was: more than the folders that can be read
            records = self._records(indexed, left, instead)
            lost = sorted(
                {*indexed, *(path for path in lost if not in_record_folder(path))} - records.keys()
            )
            left = {
                path: value for path, value in left.items() if not in_record_folder(path)
            } | records
        left.setdefault(FORMAT_PATH, FORMAT_BYTES)
        lost = [path for path in lost if path != FORMAT_PATH]
        return left, lost, sorted(approximate & left.keys())

    def _records(
        self,
        indexed: Mapping[str, str],
        left: Mapping[str, TreeEntry | bytes],
        instead: Callable[[str, str], bytes | None],
    ) -> dict[str, TreeEntry | bytes]:
        """Return what there is of the records that the index has, else what may stand for them."""
        records: dict[str, TreeEntry | bytes] = {}
        for path, oid in indexed.items():
            here = left.get(path)
            if isinstance(here, TreeEntry) and here.oid == oid:
                records[path] = here
            elif _is_there(self._objects, oid):
                records[path] = TreeEntry(path.rpartition("/")[2], BLOB, oid)
            elif (made := instead(path, oid) or here) is not None:
                records[path] = made
        return records

    def _indexed(self, name: str, tip: str, damage: DamageSurvey) -> dict[str, str]:
        """Return {path: oid} of the records if the index is as of the tip.

        The index may also be as of a commit that cannot be read, because such a commit may be
        newer.
        """
        row = (
            self._db.execute("SELECT tip FROM tips WHERE store = ?", (name,)).fetchone()
            if self._db
            else None
        )
        return (
            rebuilt.paths(self._db, name)
            if self._db and row and (row[0] == tip or row[0] in damage.gone)
            else {}
        )

    def _tell(
        self,
        ref: str,
        damage: DamageSurvey,
        stands: Mapping[str, Sequence[str]],
        older: list[str],
        approximate: list[str],
        lost: list[str],
    ) -> None:
        same = sum(new == (old,) for old, new in stands.items())
        again = sum(bool(new) and new != (old,) for old, new in stands.items())
        gone = sum(not path for path in damage.gone.values())
        text = (
            f"{ref}: {counted(len(damage.gone), 'object is', 'objects are')} gone; "
            f"{counted(same, 'commit stays', 'commits stay')}, {again} made anew or joined"
        )
        self.report.append(f"{text}, {gone} could not be read" if gone else text)
        for what, paths in (
            ("as an older version", older),
            (
                "rebuilt from the index, which keeps the text but not who resolved or confirmed it",
                approximate,
            ),
        ):
            if paths:
                self.report.append(f"{counted(len(paths), 'record')} {what}: {_named(paths)}")
        if lost:
            self.report.append(f"{counted(len(lost), 'file')} could not be saved: {_named(lost)}")
        else:
            self.report.append("every record of the last commit is there")

    def _exact(self, name: str, damage: DamageSurvey) -> int:
        """Write files anew that the index knows to the byte; return how many."""
        rows = []
        for oid, path in damage.gone.items():
            if path == FORMAT_PATH and self._blob_id(FORMAT_BYTES) == oid:
                rows.append((oid, "blob", FORMAT_BYTES))
            made = (
                rebuilt.rebuilt(self._db, name, path, oid, self._blob_id)
                if self._db and path and not path.endswith("/")
                else None
            )
            if made and made[1]:
                rows.append((oid, "blob", made[0]))
        if rows:
            self._objects.store(rows)
        return len(rows)

    def _blob_id(self, data: bytes) -> str:
        return object_id("blob", data, self._objects.traits.hash)


def _is_there(objects: Objects, oid: str) -> bool:
    try:
        objects.read(oid)
    except GitmemError:
        return False
    return True


def _named(paths: Sequence[str]) -> str:
    names = [id_of_path(path) or path for path in sorted(paths)]
    return ", ".join(names[:SHOWN]) + (
        f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    )
