"""Save the work in hand: what is staged, changed and new, as a commit of our own.

The user's index and files are only read.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gitmem.git.object_codec import build, object_id
from gitmem.git.objects import BLOB, COMMIT, EXEC, TREE, Draft, Identity, Objects, Raw, TreeEntry
from gitmem.git.work_state import ABSENT, ChangedPath, Work, WorkState, file_on_disk
from gitmem.records.codec import encode
from gitmem.records.record import Record, make
from gitmem.redaction.formats import harmless
from gitmem.redaction.mask import scrub, scrub_all
from gitmem.repo.location import storable
from gitmem.repo.path_rules import path_refusal
from gitmem.services.records import write
from gitmem.services.records.write import Writer
from gitmem.services.snapshots.saved import (
    CONFLICTS,
    STAGED,
    STATE,
    WORKTREE,
    SavedSnapshot,
    read_commit,
    ref_of,
)
from gitmem.services.snapshots.state import SnapshotState
from gitmem.services.snapshots.unchanged import converted, unusual_permissions
from gitmem.store.store import Store

LIMIT = 10 * 1024 * 1024  # bytes of a file; a larger one is named and left out
TOTAL = 256 * 1024 * 1024  # bytes of all files together
IGNORED = 20_000  # ignored paths that are kept by name
REGULAR = frozenset({"100644", "100755"})
DIRTY = 200  # changed files that the record names
# untracked files whose names say that they hold secrets
SECRET = re.compile(
    r"(?i)(?:^|/)(?:\.env(?:\.(?!example|sample|template|dist)[^/]*)?|\.envrc|[^/]+\.env|\.npmrc"
    r"|\.pypirc|\.netrc|id_(?:rsa|dsa|ecdsa|ed25519)|[^/]+\.(?:pem|key|p12|pfx|keystore|jks))$"
)


@dataclass(frozen=True, slots=True)
class SaveContext:
    """What a snapshot says beside the work; empty where it is not known."""

    note: str = ""
    story: str = ""
    subtask: str = ""
    cwd: str = ""
    state: str = ""  # free, as JSON
    reason: str = ""  # what it was made for, when nobody asked for it


@dataclass(slots=True)
class _Taken:
    """What goes into a snapshot's trees."""

    raws: list[Raw] = field(default_factory=list)
    staged: dict[str, TreeEntry | None] = field(default_factory=dict)
    worktree: dict[str, TreeEntry | None] = field(default_factory=dict)
    conflicts: dict[str, TreeEntry | None] = field(default_factory=dict)
    state: SnapshotState = field(default_factory=SnapshotState)
    size: int = 0  # bytes of all files


def save(
    work: Work,
    objects: Objects,
    store: Store,
    who: Writer,
    id: str,
    context: SaveContext,
    *,
    named: Collection[str] = (),
    hides: Callable[[str], bool] = lambda _: False,
    limit: int = LIMIT,
    state: WorkState | None = None,
) -> Record:
    """Save the state of a work tree under an id.

    Return the record of it, which has what was left out as `omitted`.

    `named` are paths that are taken though their names tell of secrets; what is hidden is never
    taken. `state` is what `seen` returned a moment ago, if it was asked. Raises External, and what
    a write raises.
    """
    context = replace(context, state=_state_without_secrets(context.state, who))
    state = state or seen(work, hides)
    taken = _take(work, objects, state, named, limit, hides)
    record = _record(who, id, context, work, state, taken.state.omitted)
    record, _ = write.clean(record, who.allow)
    taken.state.record = encode(record).decode()
    objects.move(
        ref_of(id), None, _commit(objects, state, taken, who, id), f"gitmem: snapshot {id}"
    )
    return write.add(store, who, record, "snapshot").after


def _state_without_secrets(text: str, who: Writer) -> str:
    """Return a state value by value without secrets: it stays JSON, whatever is left out."""
    if not text or harmless(text):
        return text
    value = scrub_all(json.loads(text), lambda part: scrub(part, who.allow).text)
    return json.dumps(value, ensure_ascii=False)


def unkept(
    work: Work,
    objects: Objects,
    who: Writer,
    *,
    hides: Callable[[str], bool] = lambda _: False,
    limit: int = LIMIT,
) -> SavedSnapshot:
    """Return the state of a work tree as a snapshot that has no ref.

    Git may remove it once these objects are closed.
    """
    state = seen(work, hides)
    taken = _take(work, objects, state, (), limit, hides)
    return read_commit(objects, "now", _commit(objects, state, taken, who, "now"))


def seen(work: Work, hides: Callable[[str], bool]) -> WorkState:
    """Return the state without files of which nothing is ever stored, not even the name."""
    state = work.look()
    state.changed = [path for path in state.changed if not hides(path.path)]
    state.flags = {path: flag for path, flag in state.flags.items() if not hides(path)}
    state.ignored = [path for path in state.ignored if not hides(path.rstrip("/"))]
    return state


def is_clean(state: WorkState) -> bool:
    """Say whether a snapshot would hold nothing that the commit does not have."""
    return not (state.changed or state.flags)


def _take_entry(changed: ChangedPath, out: _Taken, modes: Mapping[str, str]) -> None:
    """Take what the index has of a path: the sides of a conflict, an intention, or a file."""
    path = changed.path
    name = path.rpartition("/")[2]
    if changed.stages:
        out.staged[path] = None
        out.state.unmerged[path] = [list(stage) for stage in changed.stages]
        for number, (mode, oid) in enumerate(changed.stages, 1):
            if mode != ABSENT:
                out.conflicts[f"{number}/{path}"] = TreeEntry(name, int(mode, 8), oid)
    elif changed.intended:
        out.staged[path] = None  # the commit may have the file all the same
        out.state.intended[path] = modes.get(path, "100644")
    elif changed.staged not in {".", "?"}:
        mode, oid = changed.entry
        out.staged[path] = None if mode == ABSENT else TreeEntry(name, int(mode, 8), oid)


def _take(
    work: Work,
    objects: Objects,
    state: WorkState,
    named: Collection[str],
    limit: int,
    hides: Callable[[str], bool],
) -> _Taken:
    out = _Taken(state=SnapshotState(commit=state.commit, branch=state.branch, flags=state.flags))
    out.state.ignored = _bounded(state.ignored)
    out.state.under_way = work.under_way()
    algorithm = objects.traits.hash
    changed = {path.path for path in state.changed if path.on_disk or path.unstaged == "D"}
    # git does not look at files with these flags
    flagged = [ChangedPath(path, ".", "M") for path in state.flags if path not in changed]
    rows = state.entries
    modes = {path: mode for mode, _, path in rows}
    for entry in (*state.changed, *flagged):
        _take_entry(entry, out, modes)
        if entry.unstaged == "D":
            out.worktree[entry.path] = None
        elif entry.on_disk:
            _take_file(work, entry, out, named, limit, algorithm)
    apart = changed | set(state.flags)
    entries = [
        row for row in rows if row[0] in REGULAR and row[2] not in apart and not hides(row[2])
    ]
    _take_unchanged(work, out, entries, limit, algorithm)
    return out


def _take_unchanged(
    work: Work, out: _Taken, entries: list[tuple[str, str, str]], limit: int, algorithm: str
) -> None:
    """Take what of the files that git calls unchanged would not come back as it is on disk."""
    for file in converted(work, entries, limit, algorithm):
        if file.data is not None:
            if out.size + len(file.data) > TOTAL:
                continue
            out.size += len(file.data)
            oid = object_id("blob", file.data, algorithm)
            out.raws.append((oid, "blob", file.data))
            out.worktree[file.path] = TreeEntry(file.path.rpartition("/")[2], file.mode, oid)
        out.state.raw.append(file.path)
    regular = [
        path
        for path, entry in out.worktree.items()
        if entry is not None and entry.mode in {BLOB, EXEC}
    ]
    out.state.modes = dict(
        unusual_permissions(work.root, [*regular, *(path for _, _, path in entries)])
    )


def _bounded(ignored: list[str]) -> list[str]:
    """Return what git ignores; of very many, the folders at the root that have some."""
    if len(ignored) <= IGNORED:
        return ignored
    return sorted({f"{path.split('/', 1)[0]}/" if "/" in path else path for path in ignored})[
        :IGNORED
    ]


def _take_file(
    work: Work,
    changed: ChangedPath,
    out: _Taken,
    named: Collection[str],
    limit: int,
    algorithm: str,
) -> None:
    name = changed.path.rpartition("/")[2]
    if changed.submodule or changed.path.endswith("/"):
        _take_repository(work, changed, out)
        return
    why = ""
    if refused := path_refusal(changed.path):
        why = f"git does not take this name: {refused}"
    elif changed.unstaged == "?" and SECRET.search(changed.path) and changed.path not in named:
        why = "its name suggests secrets; save it with --with FILE"
    on_disk = None if why else file_on_disk(work.root, changed.path, limit)
    if isinstance(on_disk, int):
        why = f"it has {on_disk:,} bytes, more than {limit:,}"
    elif isinstance(on_disk, tuple) and out.size + len(on_disk[1]) > TOTAL:
        why = f"the files before it have {TOTAL:,} bytes together"
    elif on_disk is None and not why:
        if changed.unstaged != "?":
            out.worktree[changed.path] = None  # it went, or became a folder, while we looked
        return
    if why:
        out.state.omitted.append({"path": changed.path, "reason": why})
        return
    assert isinstance(on_disk, tuple)
    mode, data = on_disk
    out.size += len(data)
    oid = object_id("blob", data, algorithm)
    out.raws.append((oid, "blob", data))
    out.worktree[changed.path] = TreeEntry(name, mode, oid)
    out.state.raw.append(changed.path)


def _take_repository(work: Work, changed: ChangedPath, out: _Taken) -> None:
    """A submodule is its commit.

    Work inside of it, or a repository that is none, is its own to save.
    """
    path = changed.path.rstrip("/")
    if changed.path.endswith("/"):
        out.state.omitted.append({"path": path, "reason": "it is another repository"})
        return
    if head := work.submodule_head(path):
        out.worktree[path] = TreeEntry(path.rpartition("/")[2], COMMIT, head)
    if changed.submodule[2:3] == "M" or changed.submodule[3:4] == "U":
        out.state.omitted.append(
            {"path": path, "reason": "changes inside of this submodule: make a snapshot in it"}
        )


def _commit(objects: Objects, state: WorkState, taken: _Taken, who: Writer, id: str) -> str:
    """Write the trees and the commit; return its oid. Moves no ref."""
    base = objects.commit(state.commit).tree if state.commit else None
    person = Identity(*(who.author if who.author[0] else ("git-mem", "")), int(who.clock.now()))

    def tree(of: str | None, edits: Iterable[tuple[str, TreeEntry | None]]) -> str:
        _, made, raws = build(
            Draft(of, _settled(dict(edits)), (), "", person, person),
            objects.tree,
            objects.traits.hash,
        )
        new = [raw for raw in raws if raw[1] == "tree"]
        if new:
            objects.store(new)
        return made

    if taken.raws:
        objects.store(taken.raws)
    staged = tree(base, taken.staged.items())
    worktree = tree(staged, taken.worktree.items())
    edits: dict[str, bytes | TreeEntry | None] = {
        STAGED: TreeEntry(STAGED, TREE, staged),
        WORKTREE: TreeEntry(WORKTREE, TREE, worktree),
        STATE: taken.state.encode(),
        **{f"{CONFLICTS}/{path}": entry for path, entry in taken.conflicts.items()},
    }
    text = f"gitmem: snapshot {id}\n\nGitmem-Op: snapshot\n"
    return objects.write(
        Draft(None, edits, (state.commit,) if state.commit else (), text, person, person)
    )


def _settled(edits: dict[str, TreeEntry | None]) -> dict[str, TreeEntry | None]:
    """Return edits without the removals that other edits imply.

    These are removals of a file that became a folder, and of what was in a folder that became a
    file.
    """
    above = {path[:at] for path in edits for at in range(len(path)) if path[at] == "/"}
    files = {path for path, entry in edits.items() if entry is not None}
    return {
        path: entry
        for path, entry in edits.items()
        if entry is not None
        or not (
            path in above or any(path[:at] in files for at in range(len(path)) if path[at] == "/")
        )
    }


def _record(
    who: Writer,
    id: str,
    context: SaveContext,
    work: Work,
    state: WorkState,
    omitted: list[dict[str, Any]],
) -> Record:
    now = who.clock.stamp()
    title = " ".join(
        (
            context.reason
            or context.note
            or f"Work on {state.branch or state.commit[:10] or 'a new repository'}"
        ).split()
    )
    upstream = {"name": state.upstream, "ahead": state.ahead, "behind": state.behind}
    return make(
        "snapshot",
        id,
        title,
        "",
        created=now,
        updated=now,
        rev=1,
        author=who.person if who.author[0] else None,
        agent=who.agent,
        session=who.session or None,
        origin="captured" if context.reason else None,
        branch=state.branch or None,
        commit=state.commit or None,
        dirty=[
            {"path": storable(path.path), "status": path.letters.strip()}
            for path in state.changed[:DIRTY]
        ],
        story=context.story or None,
        subtask=context.subtask or None,
        cwd=context.cwd or None,
        worktree=work.root,
        state=context.state or None,
        note=_note(context, omitted) or None,
        upstream={key: value for key, value in upstream.items() if value is not None}
        if state.upstream
        else None,
        omitted=[
            {"path": storable(str(path["path"])), "reason": path["reason"]} for path in omitted
        ]
        or None,
        more=len(state.changed) - DIRTY if len(state.changed) > DIRTY else None,
    )


def _note(context: SaveContext, omitted: list[dict[str, Any]]) -> str:
    """Return the note.

    Of a snapshot that nobody asked for, it says what was left out, as no command's answer does.
    """
    if not (context.reason and omitted):
        return context.note
    names = ", ".join(storable(str(path["path"])) for path in omitted[:5])
    more = f" and {len(omitted) - 5} more" if len(omitted) > 5 else ""
    return "\n".join(part for part in (context.note, f"Left out: {names}{more}") if part)
