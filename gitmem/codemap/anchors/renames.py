"""What a file is called: today, when it was anchored under another name, and before."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gitmem.codemap.anchors.context import AROUND
from gitmem.codemap.anchors.git_texts import HERE, TextSources, pairs, split
from gitmem.codemap.linemap.normal_forms import squash, weight

STEPS = 10  # renames that are followed one by one
MOST_GONE = 500  # files that one look at history is for
RECENT = 10_000  # commits, by first parents, in which renames are looked for one by one


class FileNames:
    """The names of a repository's files; keeps what it found until `forget`."""

    def __init__(self, sources: TextSources) -> None:
        self._sources = sources
        self._names: dict[tuple[str, str], tuple[str, ...]] = {}
        self._steps: dict[tuple[str, str], str] = {}
        self._removals: dict[str, dict[str, str]] = {}  # by commit: name -> what removed it last
        self._starts: dict[str, str] = {}

    def forget(self) -> None:
        """Forget the names: something was committed, checked out, renamed."""
        self._names.clear()
        self._steps.clear()
        self._removals.clear()

    def expect(self, paths: Iterable[str]) -> None:
        """Read for several files that are gone, in one look at history, what `file` needs."""
        tip = self._sources.head_id()
        names = [path for path in dict.fromkeys(paths) if path][:MOST_GONE]
        if tip and len(names) > 1:
            self._find_removals(tip, names)
            self._sources.read_committed(tip, names)

    def _removal(self, tip: str, name: str) -> str:
        """Return the commit that removed a file last, '' for none."""
        if name not in self._removals.get(tip, {}):
            self._find_removals(tip, [name])
        return self._removals.get(tip, {}).get(name, "")

    def _find_removals(self, tip: str, names: Sequence[str]) -> None:
        once = ["-1"] if len(names) == 1 else []
        data = self._sources.run(
            *("log", *once, "--format=%x01%H", "--diff-filter=D", "--no-renames"),
            *(
                "--name-only",
                "-z",
                *self._recent(tip),
                "--",
                *(f":(top,literal){name}" for name in names),
            ),
        )
        if data is None:
            return
        removals = self._removals.setdefault(tip, {})
        removed: dict[str, str] = {}
        for part in data.decode("utf-8", "surrogateescape").split("\x01")[1:]:
            commit, *paths = part.split("\0")
            for path in paths:
                removed.setdefault(path.removeprefix("\n"), commit)
        removals.update({name: removed.get(name, "") for name in names})

    def earlier(self, path: str, commits: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the other names of a file, newest first.

        They are its names at the given commits, or in HEAD's last commits when none is given.
        """
        head = self._sources.head_id()
        commits = tuple(dict.fromkeys(commits))
        key = (path, " ".join((head, *commits)))
        if key not in self._names:
            names = self._at_commits(path, commits) if commits else self._in_history(path, head)
            self._names[key] = tuple(dict.fromkeys(name for name in names if name != path))
        return self._names[key]

    def _at_commits(self, path: str, commits: Iterable[str]) -> Iterator[str]:
        """Yield what a file was called at some commits."""
        target = HERE if self._sources.worktree else self._sources.head_id()
        for commit in commits:
            renamed = self._sources.renamed(commit, target)
            yield from (old for old, new in renamed.items() if new == path)

    def _in_history(self, path: str, head: str) -> Iterator[str]:
        """Yield what a file was called before, in the work tree and then in the last commits."""
        if not head:
            return
        name = path
        if self._sources.worktree:
            renamed = self._sources.renamed(head, HERE)
            name = next((old for old, new in renamed.items() if new == path), path)
            yield name
        data = self._sources.run(
            *("log", "--follow", "-M", "--diff-filter=R", "--name-status", "-z", "--format="),
            *(*self._recent(head), "--", f":(top,literal){name}"),
        )
        for old, new in pairs(data or b""):
            if new == name:  # of a folder, git tells what was renamed in it
                yield old
                name = old

    def _recent(self, tip: str) -> tuple[str, ...]:
        """Return what names the last commits up to one; a long history is not read for a name."""
        if tip not in self._starts:
            oid = self._sources.run("rev-parse", "--verify", "--quiet", f"{tip}~{RECENT}")
            if oid is None:  # git had no time; it is asked again
                return (tip,)
            self._starts[tip] = oid.decode().strip()
        start = self._starts[tip]
        return (tip, f"^{start}") if start else (tip,)

    def file(self, anchor: dict[str, Any], path: str, target: str) -> tuple[str, bytes | None]:
        """Return (path, content) of an anchor's file at a target.

        The file is found under its name, or under the name that it was given since.
        """
        data = self._sources.content(path, target)
        if data is not None:
            return path, data
        for other in (self._same_name(path, target), self._now_called(anchor, path, target)):
            if other:
                data = self._sources.content(other, target)
                if data is not None:
                    return other, data
        return path, None

    def _now_called(self, anchor: dict[str, Any], path: str, target: str) -> str:
        commit = str(anchor.get("commit") or "")
        name = self._sources.renamed(commit, target).get(path, "") if commit else ""
        return (
            name
            or self._by_steps(path, target)
            or (self._untracked(anchor, path) if target == HERE else "")
        )

    def _by_steps(self, path: str, target: str) -> str:
        """Return today's name of a file that is gone.

        The commits that renamed it are followed one after the other.
        """
        key = (path, target)
        if key in self._steps:
            return self._steps[key]
        tip = target or self._sources.head_id()
        name, seen = path, {path}
        for _ in range(STEPS if tip else 0):
            gone = self._removal(tip, name)
            new = self._sources.renamed(f"{gone}^", gone).get(name, "") if gone else ""
            if not new and target == HERE and tip:  # renamed since the last commit
                new = self._sources.renamed(tip, HERE).get(name, "")
            if not new or new in seen:
                name = ""
                break
            name = new
            seen.add(name)
            if self._sources.content(name, target) is not None:
                break
        else:
            name = ""
        self._steps[key] = name
        return name

    def _shares(self, names: Sequence[str], wanted: set[str]) -> Iterator[tuple[float, str]]:
        """Yield (share of the lines that are in both, name) of the first files that can be read."""
        number = 0
        for name in names:
            if number >= 40 or self._sources.is_over():
                break
            text = self._sources.content(name, HERE)
            if text is not None:
                number += 1
                have = _telling(split(text.decode("utf-8", "replace")))
                yield len(wanted & have) / max(len(wanted), len(have)), name

    def _untracked(self, anchor: dict[str, Any], path: str) -> str:
        """Return a file that git does not know yet and that is mostly what the anchored one was.

        Empty when none or several are.
        """
        old = self._sources.text(str(anchor.get("blob") or "")) or self._sources.committed(
            self._sources.head_id(), path
        )
        if not old:
            return ""
        data = self._sources.run_here("ls-files", "--others", "--exclude-standard", "-z") or b""
        ending = path.rsplit("/", 1)[-1].rpartition(".")[2]
        wanted = _telling(old)
        names = [raw.decode("utf-8", "surrogateescape") for raw in data.split(b"\0")[:2_000]]
        alike = [name for name in names if name and name.rpartition(".")[2] == ending]
        best = sorted(self._shares(alike, wanted), reverse=True) if wanted else []
        if not best or best[0][0] < 0.5:
            return ""
        return best[0][1] if len(best) == 1 or best[0][0] > best[1][0] + 0.1 else ""

    def _same_name(self, path: str, target: str) -> str:
        """Return the file whose name git spells in another form.

        Other forms are decomposed letters and bytes that are not UTF-8.
        """
        if path.isascii():
            return ""
        form = _form(path)
        for name in self._sources.names(target):
            if not name.isascii() and name != path and _form(name) == form:
                return name
        return ""


def _telling(lines: Iterable[str]) -> set[str]:
    return {squash(line) for line in lines if weight(line) >= AROUND}


def _form(path: str) -> str:
    """Return a path in the form that a record can hold.

    Letters are composed, and a replacement character stands for what is not UTF-8.
    """
    return unicodedata.normalize(
        "NFC", path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    )
