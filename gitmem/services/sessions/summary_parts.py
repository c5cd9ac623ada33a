"""The project summary as its owner sees it.

It has a shared part that is synced, and a private part with what was extracted and nobody accepted
yet.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.errors import UserError
from gitmem.records.items import DONE, SECTION
from gitmem.records.record import Record
from gitmem.records.summary_entries import Entry, key_of, known_as
from gitmem.services.records.write import Change, Writer
from gitmem.services.sessions import project_summary
from gitmem.services.sessions.summary_merge import Sections, integrate
from gitmem.store.store import Store

Act = Callable[[Store, Writer, str], tuple[Change, Entry]]


@dataclass(frozen=True, slots=True)
class SummaryParts:
    """The parts by their stores; what a person writes goes to the first."""

    stores: Mapping[str, Store]

    @property
    def first(self) -> tuple[str, Store]:
        """The scope and store of what a person writes."""
        return next(iter(self.stores.items()))

    def records(self, commit: Callable[[Store], str] | None = None) -> dict[str, Record]:
        """Return the parts that exist, now or at a commit of each store.

        Raises UserError when no store knows the revision.
        """
        out: dict[str, Record] = {}
        failed: list[UserError] = []
        for scope, store in self.stores.items():
            try:
                found = project_summary.load(store, commit(store) if commit else None)
            except UserError as error:
                failed.append(error)
                continue
            if found is not None:
                out[scope] = found
        if failed and len(failed) == len(self.stores):
            raise failed[0]
        return out

    def find(self, text: str) -> Entry:
        """Return the one entry whose id begins with a text; raises UnknownId."""
        return project_summary.find_in(joined(self.records()), text)[1]

    def change(self, who: Writer, entry: Mapping[str, Any], act: Act) -> list[tuple[str, Change]]:
        """Change an entry in each part that has it; raises what `act` raises."""
        out = []
        for scope, record in self.records().items():
            keys = {key_of(e) for part in project_summary.sections(record).values() for e in part}
            out += [
                (scope, act(self.stores[scope], who, key)[0])
                for key in sorted(known_as(entry) & keys)
            ]
        return out

    def edited(self, who: Writer, before: Sections, after: Sections) -> list[tuple[str, Change]]:
        """Write the joined sections as somebody edited them, each entry to the part that has it.

        New ones go to the first.
        """
        new = {key_of(e): (name, e) for name, part in after.items() for e in part}
        shown = {
            key: (name, e) for name, part in before.items() for e in part for key in known_as(e)
        }
        out = []
        records = self.records()
        for scope in dict.fromkeys((self.first[0], *records)):
            record = records.get(scope)
            own: Sections = {}
            for name, part in project_summary.sections(record).items():
                for e in part:
                    was = shown.get(key_of(e))
                    now = new.get(key_of(was[1])) if was else None
                    if was and now and now != was:
                        own.setdefault(now[0], []).append({**now[1], "id": key_of(e)})
                    elif now or not was:
                        own.setdefault(name, []).append(e)
            if scope == self.first[0]:
                for key, (name, e) in new.items():
                    if key not in shown:
                        own.setdefault(name, []).append(e)
            if own != project_summary.sections(record):
                out.append((scope, project_summary.edited(self.stores[scope], who, record, own)))
        return out


def joined(records: Mapping[str, Record]) -> Sections:
    """Return the entries of all parts, each once.

    Newer entries replace older ones. What was removed from one part is in none.
    """
    parts = [project_summary.sections(record) for record in records.values()]
    if len(parts) < 2:
        return parts[0] if parts else {}
    gone = {id for record in records.values() for id in record.get("gone") or []}
    kept = [
        {
            name: [e for e in part if key_of(e) not in gone or e.get("pinned")]
            for name, part in one.items()
        }
        for one in parts
    ]
    out: Sections = kept[0]
    for one in kept[1:]:
        condensed = {name: [e for e in part if e.get("of")] for name, part in one.items()}
        single = {name: [e for e in part if not e.get("of")] for name, part in one.items()}
        out, _ = integrate(
            out, single, [e for e in single.get(SECTION[DONE], []) if e.get("kind") == DONE]
        )
        out = {
            name: [*out.get(name, []), *condensed.get(name, [])] for name in {**out, **condensed}
        }
    return {name: part for name, part in out.items() if part}


def scope_of(entry: Mapping[str, Any], records: Mapping[str, Record]) -> str:
    """Return the first part that has an entry: `shared` when others can read it."""
    for scope in ("shared", *records):
        keys = {
            key_of(e)
            for part in project_summary.sections(records.get(scope)).values()
            for e in part
        }
        if known_as(entry) & keys:
            return scope
    return ""


def unshared(fresh: Mapping[str, Sequence[Entry]], shared: Record | None) -> Sections:
    """Return the fresh entries that the shared part does not have.

    Entries that the shared part overrules, or that somebody removed from it, are left out.
    """
    if shared is None:
        return {name: list(part) for name, part in fresh.items()}
    gone = set(shared.get("gone") or [])
    _, grown = integrate(project_summary.sections(shared), fresh)
    # the same words once more renew what the owner sees; other words for it say nothing new
    new = {*grown.added, *grown.again}
    return {
        name: [e for e in part if key_of(e) in new and key_of(e) not in gone]
        for name, part in fresh.items()
    }
