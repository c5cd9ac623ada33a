"""Find anchors again in one repository: the text they were made on, renamed files, code that went to another file.

Everything is best effort under a deadline: what git cannot say in time, or at all (a shallow clone, another clone, a commit that was
rebased away), is taken as not known, and the anchor is placed by what it remembers itself.
"""

import os
import re
import stat
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from gitmem.codemap.anchoring import AROUND, Placement, context_of, place, through
from gitmem.codemap.linemap import TELLING, LineMap, squash, weight
from gitmem.errors import GitmemError
from gitmem.git.build import object_id
from gitmem.git.process import Git

SECONDS = 2.0  # that finding one anchor may take
MAX_BYTES = 5_000_000
TEXTS = 64  # texts of old blobs that are kept
STEPS = 10  # renames that are followed one by one
CANDIDATES = 8  # files that are searched for code that left its own

_OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_QUIET = ("-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "diff.renameLimit=2000", "-c", "merge.renameLimit=2000")
_HERE = ""  # the work tree, where a revision is named


class Follower:
    """Places anchors in one repository; keeps what git said until `forget`, so an instance is for one thread."""

    def __init__(self, git: Git, worktree: str | None, seconds: float = SECONDS) -> None:
        self.git = git
        self.worktree = os.path.realpath(worktree) if worktree else None
        self.seconds = seconds
        self._until = 0.0
        self._texts: OrderedDict[str, list[str] | None] = OrderedDict()
        self._renames: dict[tuple[str, str], dict[str, str]] = {}
        self._names: dict[tuple[str, str], tuple[str, ...]] = {}
        self._steps: dict[tuple[str, str], str] = {}
        self._checked: dict[str, str] = {}
        self._head: tuple[float, str] = (0.0, "")
        self._tree = ""

    def forget(self) -> None:
        """Forget what git said of HEAD and of the work tree: something was committed, checked out, renamed."""
        self._renames.clear()
        self._names.clear()
        self._steps.clear()
        self._checked.clear()
        self._head = (0.0, "")

    # -- in a text

    def place(self, anchor: dict[str, Any], path: str, lines: Sequence[str], blob: str = "") -> Placement:
        """Return where an anchor is in a text of a file that is called `path` today."""
        return self.place_all([anchor], path, lines, blob)[0]

    def place_all(self, anchors: Sequence[dict[str, Any]], path: str, lines: Sequence[str], blob: str = "") -> list[Placement]:
        """Return where anchors are in one text; the old texts are read from git in one call."""
        self._begin()
        self._read([str(a.get("blob") or "") for a in anchors if not blob or a.get("blob") != blob])
        out = []
        for anchor in anchors:
            known, old = (anchor, None) if blob and anchor.get("blob") == blob else self._base(anchor)
            made = place(known, lines, blob, old)
            out.append(replace(made, path=path) if made.state != "glob" else made)
        return out

    # -- in the repository

    def text(self, path: str) -> bytes | None:
        """Return a file's content as `now` sees it; None when it is no file, or too large."""
        self._begin()
        return self._content(path, _HERE if self.worktree else "HEAD")

    def now(self, anchor: dict[str, Any]) -> Placement:
        """Return where an anchor is in the work tree; in HEAD where there is none."""
        return self._find(anchor, _HERE) if self.worktree else self.at(anchor, "HEAD")

    def called(self, anchor: dict[str, Any]) -> str:
        """Return what an anchor's file is called in the work tree; empty when it is there under no name."""
        self._begin()
        path = str(anchor.get("path") or "")
        where, data = self._file(anchor, path, _HERE) if path and self.worktree else (path, None)
        return where if data is not None else ""

    def could_hold(self, text: str, anchors: Sequence[dict[str, Any]]) -> list[bool]:
        """Say of each anchor whether its code may have gone to a text: whether it has a line that other files are searched for."""
        self._begin()
        self._read([str(a.get("blob") or "") for a in anchors])
        out = []
        for anchor in anchors:
            known, old = self._base(anchor)
            lines, first, last = _source(known, old) if known.get("lines") else (None, 0, 0)
            out.append(lines is not None and any(probe in text for probe in _probes(lines, first, last)))
        return out

    def at(self, anchor: dict[str, Any], revision: str) -> Placement:
        """Return where an anchor is in a revision; adrift when there is no such revision."""
        self._begin()
        target = self._commit(revision)
        if not target:
            return Placement(
                str(anchor.get("path") or anchor.get("glob") or ""), 1, 1, "adrift", 0.0, str(anchor.get("symbol") or ""), stale=True
            )
        return self._find(anchor, target)

    def earlier(self, path: str, commits: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the other names of a file: at these commits, or in all of HEAD's history when none is given; newest first."""
        self._begin()
        head = self._head_id()
        out: list[str] = []
        commits = tuple(dict.fromkeys(commits))
        key = (path, " ".join((head, *commits)))
        if key in self._names:
            return self._names[key]
        target = _HERE if self.worktree else head
        for commit in commits:
            out += [old for old, new in self._renamed(commit, target).items() if new == path]
        if not commits and head:
            start = path
            if self.worktree:
                start = next((old for old, new in self._renamed(head, _HERE).items() if new == path), path)
                out += [start] if start != path else []
            data = self._run(
                "log", "--follow", "-M", "--diff-filter=R", "--name-status", "-z", "--format=", head, "--", f":(top,literal){start}"
            )
            for old, new in _pairs(data or b""):
                if new == start:  # of a folder, git tells what was renamed in it
                    out.append(old)
                    start = old
        self._names[key] = tuple(dict.fromkeys(name for name in out if name != path))
        return self._names[key]

    # -- steps

    def _find(self, anchor: dict[str, Any], target: str) -> Placement:
        self._begin()
        path, name = str(anchor.get("path") or ""), str(anchor.get("symbol") or "")
        if isinstance(anchor.get("glob"), str) or not path:
            return place(anchor, ())
        known, old = self._base(anchor)
        best = Placement(path, 1, 1, "adrift", 0.0, name, stale=True)
        where, data = self._file(anchor, path, target)
        if data is not None:
            text = data.decode("utf-8", "replace")
            wanted = str(anchor.get("blob") or "")
            blob = object_id("blob", data, "sha256" if len(wanted) == 64 else "sha1") if wanted else ""
            best = replace(place(known, _split(text), blob, old), path=where)
            if best.state == "same" and where != path and anchor.get("lines"):
                best = replace(best, state="moved")
            if best.found and not (best.state == "changed" and best.confidence < 0.7):
                return best
        elif (
            target == _HERE
            and self.worktree
            and not anchor.get("lines")
            and os.path.isdir(os.path.join(self.worktree, path))
            and _safe(path)
        ):
            return Placement(path, 1, 1, "file")
        if anchor.get("lines"):
            away = self._elsewhere(known, old, where if data is not None else path, target)
            if away is not None:
                return away
        if best.state == "adrift" and name:
            return self._defined(anchor, where if data is not None else path, target) or best
        return best

    def _file(self, anchor: dict[str, Any], path: str, target: str) -> tuple[str, bytes | None]:
        """Return (path, content) of an anchor's file at a target: under its name, or the one it was given since."""
        data = self._content(path, target)
        if data is not None:
            return path, data
        for other in (self._same_name(path, target), self._now_called(anchor, path, target)):
            if other:
                data = self._content(other, target)
                if data is not None:
                    return other, data
        return path, None

    def _now_called(self, anchor: dict[str, Any], path: str, target: str) -> str:
        commit = str(anchor.get("commit") or "")
        name = self._renamed(commit, target).get(path, "") if commit else ""
        return name or self._by_steps(path, target) or (self._untracked(anchor, path) if target == _HERE else "")

    def _by_steps(self, path: str, target: str) -> str:
        """Return today's name of a file that is gone by the commits that renamed it, one after the other."""
        key = (path, target)
        if key in self._steps:
            return self._steps[key]
        tip = target or self._head_id()
        name, seen = path, {path}
        for _ in range(STEPS if tip else 0):
            gone = (
                (self._run("log", "-1", "--format=%H", "--diff-filter=D", "--no-renames", tip, "--", f":(top,literal){name}") or b"")
                .decode()
                .strip()
            )
            new = self._renamed(f"{gone}^", gone).get(name, "") if gone else ""
            if not new and target == _HERE and tip:  # renamed since the last commit
                new = self._renamed(tip, _HERE).get(name, "")
            if not new or new in seen:
                name = ""
                break
            name = new
            seen.add(name)
            if self._content(name, target) is not None:
                break
        else:
            name = ""
        self._steps[key] = name
        return name

    def _untracked(self, anchor: dict[str, Any], path: str) -> str:
        """Return a file that git does not know yet and that is mostly what the anchored one was; empty when none or several are."""
        old = self._text(str(anchor.get("blob") or "")) or self._committed(self._head_id(), path)
        if not old:
            return ""
        data = self._run_here("ls-files", "--others", "--exclude-standard", "-z") or b""
        ending = path.rsplit("/", 1)[-1].rpartition(".")[2]
        wanted = {squash(x) for x in old if weight(x) >= AROUND}
        best: list[tuple[float, str]] = []
        for raw in data.split(b"\0")[:2_000]:
            name = raw.decode("utf-8", "surrogateescape")
            if not name or name.rpartition(".")[2] != ending or len(best) >= 40 or time.monotonic() > self._until:
                continue
            text = self._content(name, _HERE)
            if text is not None and wanted:
                have = {squash(x) for x in _split(text.decode("utf-8", "replace")) if weight(x) >= AROUND}
                best.append((len(wanted & have) / max(len(wanted), len(have), 1), name))
        best.sort(reverse=True)
        return best[0][1] if best and best[0][0] >= 0.5 and (len(best) == 1 or best[0][0] > best[1][0] + 0.1) else ""

    def _same_name(self, path: str, target: str) -> str:
        """Return the file whose name git spells in another form: decomposed letters, bytes that are no UTF-8."""
        if path.isascii():
            return ""
        form = _form(path)
        data = (
            self._run_here("ls-files", "-z") if target == _HERE else self._run("ls-tree", "-r", "-z", "--name-only", "--full-tree", target)
        ) or b""
        for raw in data.split(b"\0"):
            if not raw.isascii():
                name = raw.decode("utf-8", "surrogateescape")
                if name != path and _form(name) == form:
                    return name
        return ""

    def _elsewhere(self, anchor: dict[str, Any], old: list[str] | None, path: str, target: str) -> Placement | None:
        """Return the place of code that is in exactly one other file, and was not in it before."""
        text, first, last = _source(anchor, old)
        if text is None:
            return None
        commit = str(anchor.get("commit") or "")
        made: list[tuple[float, Placement]] = []
        for name in self._holding(_probes(text, first, last), path, target):
            data = self._content(name, target)
            if data is None or time.monotonic() > self._until:
                continue
            new = _split(data.decode("utf-8", "replace"))
            known = LineMap(text, new, whole=False)
            spot = through(known, first, last)
            if spot is None or spot.confidence < 0.7:
                continue
            around = [
                n
                for n in range(max(0, first - 6), min(len(text), last + 7))
                if known.to[n] >= 0 and abs(known.to[n] - spot.first + 1 - (n - first)) <= 6
            ]
            support = sum(min(weight(text[n]), 30) for n in around)
            own = sum(weight(text[n]) for n in range(first, last + 1) if known.to[n] >= 0)
            if support < 2 * TELLING and own < TELLING:
                continue
            before = self._committed(commit, name)
            if before is not None and self._was_there(text, first, last, before):
                continue
            made.append(
                (
                    support,
                    replace(spot, path=name, symbol=str(anchor.get("symbol") or ""), state="moved", confidence=min(0.75, spot.confidence)),
                )
            )
        made.sort(key=lambda one: -one[0])
        if len(made) > 1 and made[0][0] < 1.5 * made[1][0]:
            return None
        return made[0][1] if made else None

    def _was_there(self, text: Sequence[str], first: int, last: int, before: Sequence[str]) -> bool:
        had = {squash(x) for x in before}
        telling = [squash(x) for x in text[first : last + 1] if weight(x) >= TELLING // 2]
        return bool(telling) and all(line in had for line in telling)

    def _holding(self, probes: Sequence[str], path: str, target: str) -> list[str]:
        """Return other files that hold one of these lines, in the probes' order."""
        out: list[str] = []
        every = [part for probe in probes for part in ("-e", probe)]
        if len(probes) > 1 and not any(name != path for name in self._grep(("-F", *every), target)):
            return out  # mostly: one search instead of four
        for probe in probes:
            names = [name for name in self._grep(("-F", "-e", probe), target) if name != path]
            if len(names) <= 3 * CANDIDATES:  # a line that is everywhere tells nothing
                out += [name for name in names if name not in out]
            if len(out) >= CANDIDATES or time.monotonic() > self._until:
                break
        return out[:CANDIDATES]

    def _defined(self, anchor: dict[str, Any], path: str, target: str) -> Placement | None:
        """Return the definition of an anchor's symbol, when exactly one other file has one, and did not before."""
        from gitmem.codemap import symbols

        name = str(anchor["symbol"])
        last = (symbols.parts(name) or [""])[-1]
        language = symbols.language_of(path)
        if not last or not language:
            return None
        found = []
        for other in self._grep(("-w", "-F", "-e", last), target)[:40]:
            data = self._content(other, target) if other != path and symbols.language_of(other) == language else None
            if data is None or time.monotonic() > self._until:
                continue
            here = [
                s
                for s in symbols.symbols(data.decode("utf-8", "replace"), other)
                if symbols.parts(s.qualified) == symbols.parts(name) and s.kind != "impl"
            ]
            if here:
                found.append((other, here))
        if len(found) != 1 or len(found[0][1]) != 1:
            return None
        other, (one,) = found[0]
        before = self._committed(str(anchor.get("commit") or ""), other)
        if before is not None and symbols.find(symbols.symbols("\n".join(before), other), name):
            return None
        return Placement(other, one.at, one.last, "approximate", 0.4, name, stale=True)

    # -- the anchored text

    def _base(self, anchor: dict[str, Any]) -> tuple[dict[str, Any], list[str] | None]:
        """Return an anchor and the lines of the text it speaks of: its blob's, else the commit's with the anchor found in it."""
        if not isinstance(anchor.get("lines"), list):
            return anchor, None
        old = self._text(str(anchor.get("blob") or ""))
        if old is not None:
            return anchor, old
        old = self._committed(str(anchor.get("commit") or ""), str(anchor.get("path") or ""))
        if old is None:
            return anchor, None
        spot = place(anchor, old)
        if spot.state not in {"same", "moved"}:
            return anchor, None
        return {**anchor, "lines": [spot.first, spot.last]}, old

    def _text(self, oid: str) -> list[str] | None:
        self._read([oid])
        return self._texts.get(oid)

    def _read(self, oids: Iterable[str]) -> None:
        """Read blobs that are not known yet, all in one call."""
        wanted = [oid for oid in dict.fromkeys(oids) if _OID.fullmatch(oid) and oid not in self._texts][:1_000]
        if not wanted:
            return
        sizes = self._run("cat-file", "--batch-check=%(objecttype) %(objectsize)", stdin="\n".join(wanted).encode() + b"\n")
        if sizes is None:
            return
        rows = sizes.decode("utf-8", "replace").split("\n")
        there = []
        for oid, row in zip(wanted, rows, strict=False):
            kind, _, size = row.partition(" ")
            if kind == "blob" and size.isdigit() and int(size) <= MAX_BYTES:
                there.append(oid)
            else:
                self._keep(oid, None)
        data = self._run("cat-file", "--batch", stdin="\n".join(there).encode() + b"\n") if there else b""
        at = 0
        while data and at < len(data):
            end = data.index(b"\n", at)
            oid, _, size = data[at:end].decode("utf-8", "replace").partition(" blob ")
            if not size.isdigit():
                break
            self._keep(oid, _split(data[end + 1 : end + 1 + int(size)].decode("utf-8", "replace")))
            at = end + 2 + int(size)

    def _keep(self, key: str, lines: list[str] | None) -> None:
        self._texts[key] = lines
        while len(self._texts) > max(TEXTS, 1_000 if lines is None else TEXTS):
            self._texts.popitem(last=False)

    def _committed(self, commit: str, path: str) -> list[str] | None:
        """Return the lines of a file at a commit, None when either is not there."""
        if not _OID.fullmatch(commit) or not path:
            return None
        key = f"{commit}:{path}"
        if key not in self._texts:
            data = self._content(path, commit)
            self._keep(key, None if data is None or b"\0" in data[:8000] else _split(data.decode("utf-8", "replace")))
        return self._texts.get(key)

    # -- git, and the disk

    def _begin(self) -> None:
        self._until = time.monotonic() + self.seconds

    def _run(self, *args: str, stdin: bytes | None = None) -> bytes | None:
        """Return git's output, None when it failed or the time is up."""
        left = self._until - time.monotonic()
        if left <= 0:
            return None
        try:
            # objects that a partial clone left at its remote stay there: an editor does not wait for a network
            return self.git.run(*args, stdin=stdin, config=_QUIET, env={"GIT_NO_LAZY_FETCH": "1"}, ok=(0, 1), timeout=left)
        except (GitmemError, OSError, ValueError):
            return None

    def _run_here(self, *args: str) -> bytes | None:
        return self._run(f"--work-tree={self.worktree}", "-C", str(self.worktree), *args) if self.worktree else None

    def _head_id(self) -> str:
        at, head = self._head
        if time.monotonic() - at > 1.0:
            head = self._commit("HEAD")
            self._head = (time.monotonic(), head)
        return head

    def _commit(self, revision: str) -> str:
        return (
            (self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}") or b"")
            .decode("utf-8", "replace")
            .strip()
        )

    def _renamed(self, source: str, target: str) -> dict[str, str]:
        """Return {old name: new name} of what git sees as renamed between a commit and a target."""
        key = (source, target)
        if key not in self._renames:
            if source not in self._checked:
                self._checked[source] = self._commit(source)
            start = self._checked[source]
            options = ("-M50%", "--diff-filter=R", "--name-status", "-z", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
            data = None
            if start:
                data = (
                    self._run_here("diff", *options, start, "--")
                    if target == _HERE
                    else self._run("diff-tree", "-r", *options, start, target, "--")
                )
            if data is None and start:
                return {}
            self._renames[key] = dict(_pairs(data or b""))
        return self._renames[key]

    def _grep(self, what: Sequence[str], target: str) -> list[str]:
        """Return the files that git's grep finds, those that git does not know yet among them in a work tree."""
        options = ("grep", "-l", "-z", "-I", "--full-name", "--no-color", *what)
        if target == _HERE:
            data = self._run_here(*options[:1], "--untracked", *options[1:], "--") or b""
            return [raw.decode("utf-8", "surrogateescape") for raw in data.split(b"\0") if raw]
        data = self._run(*options, target, "--") or b""
        return [raw.split(b":", 1)[-1].decode("utf-8", "surrogateescape") for raw in data.split(b"\0") if raw]

    def _content(self, path: str, target: str) -> bytes | None:
        """Return a file's content in the work tree or at a commit; None when it is no file, too large, or outside."""
        if not _safe(path):
            return None
        if target == _HERE:
            return self._on_disk(path)
        name = f"{target}:{path}"
        size = self._run("cat-file", "-s", name)
        if not size or not size.strip().isdigit() or int(size) > MAX_BYTES:
            return None
        return self._run("cat-file", "blob", name)

    def _on_disk(self, path: str) -> bytes | None:
        assert self.worktree is not None
        full = os.path.join(self.worktree, path)
        try:
            if os.path.realpath(os.path.dirname(full)) != os.path.normpath(os.path.dirname(full)):
                return None  # through a link: it may lead outside
            handle = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError):
            return None
        try:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode) or about.st_size > MAX_BYTES:
                return None
            with open(handle, "rb", closefd=False) as file:
                return file.read()
        except OSError:
            return None
        finally:
            os.close(handle)


def _safe(path: str) -> bool:
    parts = path.split("/")
    return bool(path) and "\0" not in path and not path.startswith("/") and not {"..", ".", ""} & set(parts) and parts[0].lower() != ".git"


def _split(text: str) -> list[str]:
    return text.split("\n")


def _form(path: str) -> str:
    """Return a path as a record can hold it: composed letters, a replacement character for what is no UTF-8."""
    return unicodedata.normalize("NFC", path.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def _pairs(data: bytes) -> list[tuple[str, str]]:
    """Return (old, new) of `--name-status -z` output that has renames only."""
    parts = [part.decode("utf-8", "surrogateescape") for part in data.lstrip(b"\n").split(b"\0")]
    out = []
    at = 0
    while at + 2 < len(parts):
        if re.fullmatch(r"\n*R\d+", parts[at]):
            out.append((parts[at + 1], parts[at + 2]))
            at += 3
        else:
            at += 1
    return out


def _source(anchor: dict[str, Any], old: list[str] | None) -> tuple[list[str] | None, int, int]:
    """Return (text, first, last) that an anchor's code can be known by: its old file, or the lines it remembers; lines from 0."""
    first, last = anchor["lines"] if isinstance(anchor["lines"], list) and len(anchor["lines"]) == 2 else (0, 0)
    if type(first) is not int or type(last) is not int or not 1 <= first <= last:
        return None, 0, 0
    if old is not None and first <= len(old):
        return old, first - 1, min(last, len(old)) - 1
    wanted, before, after = context_of(anchor)
    if not wanted:
        return None, 0, 0
    return [*before, *wanted, *after], len(before), len(before) + len(wanted) - 1


def _probes(text: Sequence[str], first: int, last: int) -> list[str]:
    """Return the lines to search other files for: those anchored that say most, then those near by."""
    own = sorted(range(first, min(last, first + 60) + 1), key=lambda n: -weight(text[n]))[:2]
    near = sorted(
        (n for n in range(max(0, first - 4), min(len(text), last + 5)) if not first <= n <= last), key=lambda n: -weight(text[n])
    )[:2]
    lines = [text[n].strip()[:300] for n in (*own, *near) if weight(text[n]) >= 8]
    return list(dict.fromkeys(lines))
