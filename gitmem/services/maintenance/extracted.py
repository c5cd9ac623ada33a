"""Entries of the shared project summary that were extracted and that nobody accepted.

They were extracted from conversations. Versions before 0.1 put them there.
"""

from collections.abc import Iterator

from gitmem.index.reader import Index
from gitmem.records.summary_entries import Entry, key_of
from gitmem.services.maintenance.doctor import HealthFinding
from gitmem.services.records import history
from gitmem.services.records.write import Writer
from gitmem.services.sessions import project_summary
from gitmem.services.sessions.summary_merge import integrate
from gitmem.store.store import Store
from gitmem.text.same_statement import same

NAMED = 3  # entries that a finding names


def unaccepted(shared: Store, index: Index) -> list[Entry]:
    """Return the entries that nobody wrote, changed or accepted."""
    record = project_summary.load(shared)
    every = [e for part in project_summary.sections(record).values() for e in part]
    some = [
        e
        for e in every
        if not e.get("origin") and not e.get("pinned") and (e.get("session") or e.get("of"))
    ]
    if not some:
        return []
    by_hand = {
        step.commit.message.partition("\n")[0]
        for step in history.log(shared, [project_summary.summary_id()])
    }
    accepted = [
        row["title"]
        for row in index.rows(kinds=("memory", "gotcha"), limit=5000)
        if row["store"] == "shared" and row["origin"] != "manual" and not row["unconfirmed"]
    ]
    return [
        e
        for e in some
        if not any(f'"{e["text"]}"' in subject for subject in by_hand)
        and not any(same(str(e["text"]), title) for title in accepted)
    ]


def withdraw(shared: Store, private: Store, who: Writer, entries: list[Entry]) -> str:
    """Move entries from the shared part of the summary to the private one.

    Return what was done, in words.
    """
    keys = {key_of(e) for e in entries}
    before, mine = project_summary.load(shared), project_summary.load(private)
    old = project_summary.sections(before)
    going = {name: [e for e in part if key_of(e) in keys] for name, part in old.items()}
    merged, _ = integrate(
        project_summary.sections(mine),
        {name: [e for e in part if not e.get("of")] for name, part in going.items()},
    )
    for name, part in going.items():
        known = {key_of(e) for e in merged.get(name, [])}
        merged.setdefault(name, []).extend(
            e for e in part if e.get("of") and key_of(e) not in known
        )
    project_summary.save(
        private, who, mine, merged, f"summary: {len(entries)} from the shared part"
    )
    left = {name: [e for e in part if key_of(e) not in keys] for name, part in old.items()}
    project_summary.save(shared, who, before, left, f"summary: {len(entries)} made private")
    return (
        f"{len(entries)} extracted entries of the project summary are private now; the shared "
        f"store's history still has them"
    )


def check(shared: Store, private: Store, index: Index, who: Writer) -> Iterator[HealthFinding]:
    """Does the shared summary have what was extracted from conversations and accepted by nobody?"""
    found = unaccepted(shared, index)
    if not found:
        return
    names = "; ".join(str(e["text"]) for e in found[:NAMED]) + (
        f"; and {len(found) - NAMED} more" if len(found) > NAMED else ""
    )
    yield HealthFinding(
        "warning",
        f"the shared project summary has {len(found)} extracted "
        f"entr{'y' if len(found) == 1 else 'ies'} that nobody accepted: {names}",
        "Make them private: git mem doctor --fix. To remove a text from the history too: git mem "
        "purge --text -. To share what is extracted: git mem config shareExtracted true",
        lambda: withdraw(shared, private, who, found),
    )
