"""Agents' own memory files: which there are for a work tree, whose they are, and what they say.

Who reads what was looked up in Claude Code 2.1, Gemini CLI and Codex CLI; docs/native-memory.md has
the table. Links are followed inside the repository and, for files of the user's own, anywhere;
nothing is read that belongs to somebody else's account.
"""

import json
import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gitmem.base.regular_files import read_regular
from gitmem.git.process import Git
from gitmem.repo.location import Location, inside, storable
from gitmem.services.memory_files.statements import NotePage, parse, whole

SIZE = 1 << 20  # bytes of a file that are looked at
FILES = 300  # files of one work tree
DEEP = 5  # files that import one another
NAME = 200  # characters of a folder's name, from which on Claude Code writes a hash behind them
MEMORY = "MEMORY.md"
LINES, BYTES = 200, 25_000  # of a MEMORY.md that Claude Code loads
SHOWN = ("CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "AGENTS.md", "AGENTS.override.md")
READER = {
    "CLAUDE.md": "claude",
    "CLAUDE.local.md": "claude",
    "GEMINI.md": "gemini",
    "AGENTS.md": "agents",
    "AGENTS.override.md": "agents",
}
# Claude Code's types of its topic files
TOPICS = {"user": "preference", "feedback": "rule", "project": "context", "reference": "fact"}
WIDE = (b"\xff\xfe", b"\xfe\xff")  # how a file in UTF-16 begins
_CONFLICT = re.compile(r"^<{7} .*?^={7}\r?$.*?^>{7} ", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Memo:
    """One memory file.

    `name` is how records call it: from the work tree's root, from `~`, or in full; `reader` whose
    it is.

    `scope` is the store of what it says, `agent` the namespace, `tree` the work tree whose alone it
    is: an untracked file is in no other.
    """

    path: str
    name: str
    reader: str
    kind: str  # instructions, rules, memory, topic, import
    scope: str
    agent: str = ""
    tracked: bool = False
    within: bool = False
    tree: str = ""
    page: NotePage = field(default_factory=NotePage)
    text: str = ""
    data: bytes = b""
    written: float = 0.0
    cut: bool = False
    globs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    # the file of this repository that git knows the authors of, by its path; "" for a file that is
    # the user's alone
    blamed: str = ""

    @property
    def limited(self) -> bool:
        """Whether an agent loads only its beginning."""
        return self.kind == "memory" and os.path.basename(self.path) == MEMORY


@dataclass(frozen=True, slots=True)
class MemoryFiles:
    """The files that were found.

    These are the files that are read, remarks on those that are not, and all places where one would
    be looked for.
    """

    memos: tuple[Memo, ...]
    notes: tuple[str, ...]
    folders: tuple[str, ...]
    tree: str = ""  # the work tree


def obstacle(data: bytes) -> tuple[str, str]:
    """Return why nothing may be written into a file that has these bytes, and what to do.

    Empty where it may.
    """
    if data.startswith(WIDE):
        return "is in UTF-16", "Save it as UTF-8."
    if b"\0" in data:
        return "is not a text file", "Name another file."
    if len(data) > SIZE:
        return f"is larger than {SIZE >> 20} MiB", "Make it shorter: no agent reads so much."
    if _CONFLICT.search(data.decode("utf-8", "replace")):
        return "is in the middle of a merge", "Settle its conflict first."
    return "", ""


def encoded(path: str) -> str:
    """Return the name that Claude Code gives a folder below `projects`.

    Every character that is not an ASCII letter or digit is a dash. A long name ends in a hash.
    """
    units = unicodedata.normalize("NFC", path).encode("utf-16-le", "surrogatepass")
    codes = [units[n] | units[n + 1] << 8 for n in range(0, len(units), 2)]
    name = "".join(chr(c) if c < 128 and chr(c).isalnum() else "-" for c in codes)
    if len(name) <= NAME:
        return name
    value = 0
    for code in codes:
        value = (value * 31 + code) & 0xFFFFFFFF
    value = abs(value - (1 << 32) if value & 0x80000000 else value)
    digits = ""
    while value or not digits:
        value, digit = divmod(value, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return f"{name[:NAME]}-{digits}"


def main_root(where: Location) -> str:
    """Return the folder that Claude Code's auto memory is named after.

    This is the main work tree, which linked work trees share.
    """
    common = os.path.realpath(where.commondir)
    linked = os.path.realpath(where.gitdir) != common
    if linked:
        return os.path.dirname(common) if os.path.basename(common) == ".git" else common
    return os.path.realpath(where.worktree or where.gitdir)


class Finder:
    """Finds and reads the memory files of one work tree."""

    def __init__(
        self,
        where: Location,
        env: Mapping[str, str],
        ignored: Callable[[str], bool],
        scrub: Callable[[str], str],
    ) -> None:
        self.where = where
        self.env = env
        self.root = os.path.realpath(where.worktree or "")
        self.home = os.path.realpath(env.get("HOME") or os.path.expanduser("~"))
        self.claude = os.path.realpath(
            env.get("CLAUDE_CONFIG_DIR") or os.path.join(self.home, ".claude")
        )
        self.hides = ignored
        self._scrub = scrub
        self._seen: dict[str, int] = {}
        self._memos: list[Memo] = []
        self._notes: list[str] = []
        self._folders: set[str] = set()
        self._tracked: set[str] = set()

    # -- places

    def auto_folder(self) -> str:
        """Return the folder of Claude Code's auto memory for this repository."""
        chosen = ""
        try:
            settings = json.loads(
                read_regular(os.path.join(self.claude, "settings.json"), SIZE) or b"{}"
            )
            chosen = (
                str(settings.get("autoMemoryDirectory") or "") if isinstance(settings, dict) else ""
            )
        except ValueError:
            pass
        if chosen.startswith("~/"):
            chosen = os.path.join(self.home, chosen[2:])
        if os.path.isabs(chosen):
            return os.path.normpath(chosen)
        return os.path.join(self.claude, "projects", encoded(main_root(self.where)), "memory")

    def name_of(self, path: str) -> str:
        """Return how records call a file."""
        if self.root and path.startswith(self.root + os.sep):
            return storable(path[len(self.root) + 1 :])
        return storable(
            "~" + path[len(self.home) :] if path.startswith(self.home + os.sep) else path
        )

    def path_of(self, name: str, tree: str = "") -> str:
        """Return the path of a file by the name that records have for it."""
        if name.startswith("~/"):
            return os.path.join(self.home, name[2:])
        return name if os.path.isabs(name) else os.path.join(tree or self.root, name)

    # -- finding

    def find(self, more: Sequence[str] = ()) -> MemoryFiles:
        """Return all files that exist, those not read and why, and folders where one may appear."""
        self._list_tracked()
        self._project()
        for path in more:  # that somebody named, and git may not list
            if path.startswith(self.root + os.sep):
                self._inside(path)
        self._auto()
        self._user()
        self._workspace()
        return MemoryFiles(
            tuple(self._memos),
            tuple(dict.fromkeys(self._notes)),
            tuple(sorted(self._folders)),
            storable(self.root),
        )

    def _list_tracked(self) -> None:
        git = Git(self.where.gitdir, self.env, timeout=20.0)
        wanted = [f":(top,glob)**/{name}" for name in (*SHOWN, ".claude/rules/**/*.md")] + [
            ":(top,glob).claude/agent-memory/**/*.md"
        ]
        base = ("-C", self.root, "--work-tree", self.root, "ls-files", "-z", "--full-name")
        self._tracked = _names(git.call(*base, "--cached", ok=(0, 128))[1])
        self._listed = sorted(
            _names(
                git.call(
                    *base, "--cached", "--others", "--exclude-standard", "--", *wanted, ok=(0, 128)
                )[1]
            )
        )

    def _project(self) -> None:
        for name in (
            "CLAUDE.md",
            ".claude/CLAUDE.md",
            "CLAUDE.local.md",
            "GEMINI.md",
            "AGENTS.md",
            "AGENTS.override.md",
        ):
            self._inside(name)
        for name in self._listed:
            self._inside(name)
            # ignored by git as a rule, so that it does not list it
            if os.path.basename(name) == "CLAUDE.md":
                self._inside(os.path.join(os.path.dirname(name), "CLAUDE.local.md"))
        for path in self._markdown(os.path.join(self.root, ".claude", "rules")):
            self._inside(path)
        for folder in ("agent-memory", "agent-memory-local"):
            base = os.path.join(self.root, ".claude", folder)
            for agent in _folders(base):
                for path in self._markdown(os.path.join(base, agent)):
                    self._inside(path)
        self._folders |= {
            self.root,
            os.path.join(self.root, ".claude"),
            os.path.join(self.root, ".claude", "rules"),
        }

    def _markdown(self, folder: str) -> Iterator[str]:
        """Yield the Markdown files below a folder, MEMORY.md first in each."""
        for here, below, names in os.walk(folder):
            below.sort()
            self._folders.add(here)
            for name in sorted(names, key=lambda n: (n != MEMORY, n)):
                if name.endswith(".md"):
                    yield os.path.join(here, name)

    def _inside(
        self,
        name: str,
        kind: str = "",
        agent: str = "",
        scope: str = "",
        depth: int = 0,
        reader: str = "",
    ) -> None:
        """Take a file of the work tree; `name` is its path, from the root or in full."""
        path = os.path.join(self.root, name)
        if not os.path.lexists(path):
            return
        relative = os.path.relpath(path, self.root)
        reason = self._reason_against(path, relative)
        if reason:
            self._notes.append(f"{storable(relative)} {reason}")
            return
        base = os.path.basename(relative)
        if own := re.match(r"\.claude/agent-memory(-local)?/([^/]+)/", relative):
            kind, agent, scope = kind or _kind_of(relative), own[2], "private" if own[1] else scope
        local = base == "CLAUDE.local.md" or scope == "private"
        tracked = relative in self._tracked and not local
        memo = Memo(
            path,
            storable(relative),
            reader or READER.get(base, "claude"),
            kind or ("rules" if "/rules/" in f"/{relative}" else "instructions"),
            "shared" if tracked else "private",
            agent,
            tracked=tracked,
            within=True,
            tree="" if tracked else storable(self.root),
        )
        self._take(memo, depth)

    def _is_nested(self, name: str) -> bool:
        """Say whether a submodule, or another repository in the work tree, has a file."""
        folder = os.path.dirname(name)
        while folder:
            if os.path.lexists(os.path.join(self.root, folder, ".git")):
                return True
            folder = os.path.dirname(folder)
        return False

    def _auto(self) -> None:
        folder = self.auto_folder()
        self._folders |= {folder, os.path.dirname(folder), os.path.join(self.claude, "projects")}
        for path in self._markdown(folder):
            self._take(Memo(path, self.name_of(path), "claude", _kind_of(path), "private"))

    def _user(self) -> None:
        for folder, name, reader in (
            (self.claude, "CLAUDE.md", "claude"),
            (os.path.join(self.home, ".gemini"), "GEMINI.md", "gemini"),
            (self._codex, "AGENTS.md", "agents"),
            (self._codex, "AGENTS.override.md", "agents"),
        ):
            self._folders.add(folder)
            path = os.path.join(folder, name)
            if os.path.lexists(path):
                self._take(Memo(path, self.name_of(path), reader, "instructions", "user"))
        for path in self._markdown(os.path.join(self.claude, "rules")):
            self._take(Memo(path, self.name_of(path), "claude", "rules", "user"))
        base = os.path.join(self.claude, "agent-memory")
        for agent in _folders(base):
            for path in self._markdown(os.path.join(base, agent)):
                self._take(Memo(path, self.name_of(path), "claude", _kind_of(path), "user", agent))

    @property
    def _codex(self) -> str:
        return os.path.realpath(self.env.get("CODEX_HOME") or os.path.join(self.home, ".codex"))

    def _workspace(self) -> None:
        """Take the files of the folders above the work tree.

        Not of the main work tree, whose own a linked one inside of it has.
        """
        main, here = main_root(self.where), os.path.dirname(self.root)
        while here != os.path.dirname(here):
            if here != main and not here.startswith(main + os.sep):
                self._folders.add(here)
                for name in (
                    "CLAUDE.md",
                    os.path.join(".claude", "CLAUDE.md"),
                    "CLAUDE.local.md",
                    "GEMINI.md",
                ):
                    path = os.path.join(here, name)
                    if os.path.isfile(path):
                        self._take(
                            Memo(
                                path,
                                self.name_of(path),
                                READER[os.path.basename(name)],
                                "instructions",
                                "private",
                            )
                        )
            here = os.path.dirname(here)

    # -- reading

    def _take(self, memo: Memo, depth: int = 0) -> None:
        real = os.path.realpath(memo.path)
        # a link to a file that was read, or a folder that is both the user's and above the
        # repository
        if real in self._seen:
            first = self._memos[self._seen[real]] if self._seen[real] >= 0 else None
            if first and memo.reader not in first.reader.split("+"):
                self._memos[self._seen[real]] = replace(
                    first, reader=f"{first.reader}+{memo.reader}"
                )
            return
        self._seen[real] = -1
        inner = os.path.relpath(real, self.root) if real.startswith(self.root + os.sep) else ""
        if inner in self._tracked:
            memo = replace(memo, blamed=inner)
        if len(self._memos) >= FILES:
            if len(self._memos) == FILES and not any("more than" in note for note in self._notes):
                self._notes.append(
                    f"there are more than {FILES} memory files: the first {FILES} are read."
                )
            return
        read = self._read(memo, real)
        if read is None:
            return
        self._seen[real] = len(self._memos)
        self._memos.append(read)
        for line, target in read.page.imports:
            self._import(read, line, target, depth)

    def _reason_against(self, path: str, relative: str) -> str:
        """Return why a file of the work tree is not read; empty for one that may be."""
        place = inside(path, self.root, self.root)
        if not place:
            return "is a link that leads out of the repository: it is not read."
        if self.hides(storable(relative)) or self.hides(storable(place)):
            return "is not read: .gitmemignore or gitmem.ignore names it."
        real = os.path.relpath(os.path.realpath(path), self.root)
        if relative in self._tracked and real not in self._tracked:
            return "is a link to a file that git does not track: it is not read."
        if self._is_nested(real):
            return "belongs to another repository inside this one: it is not read."
        return ""

    def _read(self, memo: Memo, real: str) -> Memo | None:
        try:
            facts = os.stat(real)
        except OSError:
            self._notes.append(f"{memo.name} is a link that leads nowhere.")
            return None
        if not memo.within and facts.st_uid not in {os.geteuid(), 0}:
            self._notes.append(f"{memo.name} belongs to another user: it is not read.")
            return None
        data = read_regular(real, SIZE + 1)
        if not data and facts.st_size:
            self._notes.append(f"{memo.name} cannot be read: check its owner and mode.")
            return None
        notes = []
        cut = len(data) > SIZE
        if cut:
            data = data[:SIZE].rpartition(b"\n")[0] + b"\n"
            notes.append(
                f"{memo.name} is larger than {SIZE >> 20} MiB: only its beginning is read."
            )
        is_wide = data.startswith(WIDE)
        if b"\0" in data and not is_wide:
            self._notes.append(f"{memo.name} is not a text file: it is not read.")
            return None
        text = data.decode("utf-16" if is_wide else "utf-8", "replace")
        if _CONFLICT.search(text):
            self._notes.append(
                f"{memo.name} is in the middle of a merge: it is not read until its conflict is "
                f"settled."
            )
            return None
        folder = os.path.dirname(memo.path)
        siblings = memo.limited

        def is_imported(link: str) -> bool:
            return siblings and os.path.isfile(os.path.join(folder, link))

        # one look at all of it: mostly there is nothing
        scrub = self._scrub if self._scrub(text) != text else _as_it_is
        page = self._page(memo.kind, text, scrub, is_imported)
        if "\ufffd" in text and b"\xef\xbf\xbd" not in data:
            page = replace(
                page,
                statements=tuple(s for s in page.statements if "\ufffd" not in s.title + s.body),
            )
            notes.append(f"{memo.name} is not UTF-8: what holds other bytes is left out.")
        if page.dropped:
            notes.append(
                f"{memo.name} has {page.dropped} statements too many: the first "
                f"{len(page.statements)} are read."
            )
        self._notes += notes
        patterns = [*page.front.get("paths", []), *page.front.get("globs", [])]
        globs = tuple(_globs(patterns, self.root)) if memo.kind == "rules" else ()
        return replace(
            memo,
            page=page,
            text=text,
            data=data,
            written=facts.st_mtime,
            cut=cut or bool(page.dropped),
            globs=globs,
            notes=tuple(notes),
        )

    def keys_of(self, name: str, data: bytes) -> set[str]:
        """Return the keys of the statements of a version of a file, as `find` would have them."""
        kind = (
            _kind_of(name) if re.match(r"\.claude/agent-memory(-local)?/", name) else "instructions"
        )
        text = data.decode("utf-16" if data.startswith(WIDE) else "utf-8", "replace")
        page = self._page(kind, text, self._scrub, lambda _: False)
        return {statement.key for statement in page.statements}

    def _page(
        self,
        kind: str,
        text: str,
        scrub: Callable[[str], str],
        is_name: Callable[[str], bool],
    ) -> NotePage:
        page = parse(text, is_name, scrub)
        if kind == "topic" and (page.front.get("description") or page.front.get("name")):
            title = (page.front.get("description") or page.front["name"])[0]
            topic = TOPICS.get("".join(page.front.get("type", ["fact"])[:1]).lower(), "fact")
            statement = whole(page, text, title, topic, scrub)
            page = replace(page, statements=(statement,) if statement else ())
        return page

    def _import(self, memo: Memo, line: int, target: str, depth: int) -> None:
        target = target.partition("#")[0]
        path = (
            self.path_of(target)
            if target.startswith("~/")
            else os.path.join(os.path.dirname(os.path.realpath(memo.path)), target)
        )
        shown = f"{memo.name}:{line} imports {storable(target)}"
        if not memo.within or not inside(path, self.root, self.root):
            self._notes.append(f"{shown}, which is outside of the repository: it is not followed.")
        elif not os.path.isfile(path):
            self._notes.append(f"{shown}, which is not there.")
        elif not path.endswith((".md", ".mdx", ".txt")):
            self._notes.append(f"{shown}, which is not Markdown: it is not followed.")
        elif depth >= DEEP:
            self._notes.append(
                f"{shown}: more than {DEEP} files import one another, it is not followed."
            )
        else:
            self._inside(
                os.path.relpath(os.path.normpath(path), self.root),
                "import",
                memo.agent,
                memo.scope,
                depth + 1,
                memo.reader,
            )


def _as_it_is(text: str) -> str:
    return text


def _kind_of(path: str) -> str:
    return "memory" if os.path.basename(path) == MEMORY else "topic"


def _names(data: bytes) -> set[str]:
    return {os.fsdecode(name) for name in data.split(b"\0") if name}


def _folders(path: str) -> list[str]:
    try:
        return sorted(
            entry.name for entry in os.scandir(path) if entry.is_dir(follow_symlinks=False)
        )
    except OSError:
        return []


def _globs(patterns: list[str], root: str) -> Iterator[str]:
    """Yield the patterns of a rule's front matter in the form of places of records.

    Braces are expanded. A folder stands for everything that is in it.
    """
    for pattern in patterns:
        for spelling in _spelled(pattern.strip().removeprefix("./").lstrip("/"), 0):
            plain = spelling.rstrip("/")
            if not plain or ".." in plain.split("/"):
                continue
            yield (
                f"{plain}/**"
                if spelling.endswith("/")
                or (not re.search(r"[*?\[]", plain) and os.path.isdir(os.path.join(root, plain)))
                else plain
            )


def _spelled(pattern: str, depth: int) -> Iterator[str]:
    match = re.search(r"\{([^{}]*)\}", pattern)
    if not match or depth > 3:
        yield pattern
        return
    for part in match[1].split(",")[:16]:
        yield from _spelled(
            pattern[: match.start()] + part.strip() + pattern[match.end() :], depth + 1
        )
