"""What following a purge would take out of a clone, whose records these are, and who purged them.

Whoever can push can purge. So a clone follows by itself only what one person may well do alone: a
few records that nobody else ever wrote. All else needs the consent of the person whose clone it is.
What goes is kept in the quarantine (`store.quarantine`) in either case: who a commit names is not
proved.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gitmem.git.objects import Objects, files
from gitmem.git.process import Git
from gitmem.records.codec import LARGE_LIMIT
from gitmem.store.history.propagate import Carried, purged_ids, purges
from gitmem.store.layout import FOLDER, GITMEM, id_of_path, record_path

# A secret is in one record, or in a few that quote it; who removes more cleans up, or does harm.
MANY_RECORDS = 5
# In a small store fewer are much, too. A single record is always few.
MANY_SHARE = 0.1
# Records whose writers are looked for; with more, it is many anyway.
LOOKED_AT = 500


@dataclass(slots=True)
class Losses:
    """Records that a purge elsewhere takes out of this clone or masks in it."""

    ids: list[str] = field(default_factory=list)
    masked: list[str] = field(default_factory=list)  # those of them that stay, with less text
    total: int = 0  # records that this clone has
    purgers: list[str] = field(default_factory=list)  # committers of the purge: Name <mail>
    writers: dict[str, int] = field(default_factory=dict)  # of records that others wrote: how many
    before: set[str] = field(default_factory=set)  # more, that went unasked in the last 30 days

    @property
    def are_many(self) -> bool:
        """Whether they are more than one person may take out of everybody's clone unasked."""
        count = len(self.ids) + len(self.before)
        if count <= 1:
            return False
        return count > MANY_RECORDS or count > MANY_SHARE * (self.total + len(self.before))

    @property
    def need_consent(self) -> bool:
        """Whether a person has to agree before this is followed."""
        return bool(self.ids) and (self.are_many or bool(self.writers))

    def as_json(self) -> dict[str, object]:
        """Return them as a JSON object."""
        return {
            "record_ids": self.ids,
            "masked_ids": self.masked,
            "record_count": self.total,
            "purgers": self.purgers,
            "other_writers": [
                {"author": author, "record_count": count} for author, count in self.writers.items()
            ],
            "recently_purged_ids": sorted(self.before),
        }


def losses(objects: Objects, git: Git, ours: str, theirs: str, carried: Carried) -> Losses:
    """Return what a clone that follows a purge loses, from its tip and from what it can restore."""
    out = Losses()
    before = _records(objects, ours)
    after = _records(objects, carried.commit)
    removed = {id for id in before if id not in after}
    removed |= set(purged_ids(objects, theirs)) - set(purged_ids(objects, ours))
    changed = {
        id for path in carried.changed if (id := id_of_path(path)) and id in after and id in before
    }
    out.masked = sorted(changed - removed)
    out.ids = sorted(removed | changed)
    out.total = len(before)
    out.purgers = _purgers(objects, ours, theirs)
    if len(out.ids) <= LOOKED_AT:
        out.writers = _other_writers(git, ours, out.ids, out.purgers)
    return out


def last_bytes(
    objects: Objects, git: Git, ours: str, ids: Iterable[str]
) -> list[tuple[str, bytes]]:
    """Return what records hold at a commit, or held last before it.

    Those that cannot be read are left out.
    """
    tree = objects.commit(ours).tree
    out = []
    for id in ids:
        path = record_path(id)
        entry = objects.find(tree, path)
        if entry is None:
            listed = git.run(
                "log", "-1", "--format=%H", "--diff-filter=AM", ours, "--", path, timeout=600
            )
            commit = listed.decode().strip()
            entry = objects.find(objects.commit(commit).tree, path) if commit else None
        data = objects.read_small(entry.oid, LARGE_LIMIT) if entry and not entry.is_tree else None
        if data is not None:
            out.append((id, data))
    return out


def _records(objects: Objects, commit: str) -> dict[str, str]:
    """Return {id: oid} of a commit's records."""
    out = {}
    for top in objects.tree(objects.commit(commit).tree):
        if top.is_tree and top.name in FOLDER.values():
            for path, entry in files(objects, top.oid, top.name + "/"):
                id = id_of_path(path)
                if id:
                    out[id] = entry.oid
    return out


def _purgers(objects: Objects, ours: str, theirs: str) -> list[str]:
    """Return who committed the purges that one history has and the other has not.

    Who pushed it, where no commit says so.
    """
    lines = {str(row) for row in purges(objects, ours)}
    purgers: dict[str, None] = {}
    last = ""
    for commit in objects.walk([theirs], [ours]):
        who = f"{commit.committer.name} <{commit.committer.email}>"
        last = last or who
        if "\nGitmem-Op: purge\n" not in commit.message or not commit.parents:
            continue
        parents = {str(row) for parent in commit.parents for row in purges(objects, parent)}
        if {str(row) for row in purges(objects, commit.oid)} - parents - lines:
            purgers.setdefault(who)
    return list(purgers) or ([last] if last else [])


def _other_writers(
    git: Git, tip: str, ids: Sequence[str], purgers: Sequence[str]
) -> dict[str, int]:
    """Return who wrote a version of some records and did not purge them: {name and mail: records}.

    The committer of a store's commit counts, not what the record says of its author. A record of
    which no commit tells its writer counts as somebody else's.
    """
    mine = f"{GITMEM[0]} <{GITMEM[1]}>"
    writers: dict[str, set[str]] = {id: set() for id in ids}
    paths = {record_path(id): id for id in ids}
    if not paths:
        return {}
    out = git.run(
        "log",
        "-z",
        "-m",
        "--no-renames",
        "--name-only",
        "--format=%x01%cn <%ce>",
        tip,
        "--",
        *paths,
        timeout=600,
    ).decode("utf-8", "replace")
    for block in out.split("\x01")[1:]:
        who, _, rest = block.partition("\0")
        for name in rest.split("\0"):
            id = paths.get(name.strip("\n"))
            if id and who.strip() != mine:
                writers[id].add(who.strip())
    count = Counter(who for names in writers.values() for who in sorted(names or {"unknown"}))
    return {who: count[who] for who in count if who not in purgers or len(purgers) > 1}
