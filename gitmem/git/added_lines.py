"""The lines that a commit, or the work tree, added to files.

See https://git-scm.com/docs/diff-format#generate_patch_text_with_p.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gitmem.git.code_history import CodeHistory
from gitmem.git.paths import unquoted

LONG = 2000  # characters of a line that are looked at
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(slots=True)
class Added:
    """What a commit, or the work tree, added to a file: runs of (first line, texts).

    `old` is what the file was called before.
    """

    path: str
    old: str
    runs: list[tuple[int, list[str]]] = field(default_factory=list)


def added(history: CodeHistory, oid: str, paths: Sequence[str] = ()) -> list[Added]:
    """Return what a commit added to text files.

    Nothing for a merge, whose lines are those of its parents.
    """
    limit = ["--", *(f":(top,literal){path}" for path in paths)] if paths else []
    out = history.run(
        "diff-tree",
        "-r",
        "--root",
        "--no-commit-id",
        "-p",
        "-U0",
        "-M",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        oid,
        *limit,
    )
    return list(_added(out))


def contents(history: CodeHistory, names: Sequence[str]) -> dict[str, bytes]:
    """Return files by names such as `COMMIT:path`; what is not there, or no file, is left out."""
    wanted = [name for name in dict.fromkeys(names) if "\n" not in name]
    if not wanted:
        return {}
    data = "".join(f"{name}\n" for name in wanted).encode("utf-8", "surrogateescape")
    out = history.run("cat-file", "--batch", stdin=data)
    texts: dict[str, bytes] = {}
    at = 0
    for name in wanted:
        end = out.find(b"\n", at)
        words = out[at:end].rsplit(b" ", 2)
        at = end + 1
        if len(words) == 3 and words[2].isdigit():
            size = int(words[2])
            if words[1] == b"blob":
                texts[name] = out[at : at + size]
            at += size + 1
    return texts


def _added(out: bytes) -> Iterator[Added]:
    """Yield what a diff without context adds, file by file."""
    patch = _PatchReader()
    for line in out.split(b"\n"):
        if patch.in_hunk(line):
            continue
        if line.startswith(b"diff --git "):
            if patch.file:
                yield patch.file
            patch = _PatchReader()
        else:
            patch.read_header(line)
    if patch.file:
        yield patch.file


@dataclass(slots=True)
class _PatchReader:
    """Reads the patch of one file."""

    file: Added | None = None
    old: str = ""
    removed: int = 0  # lines that are left of the hunk, by their side
    added: int = 0

    def in_hunk(self, line: bytes) -> bool:
        """Return whether a line belongs to the hunk; an added one is kept."""
        if self.removed and line.startswith(b"-"):
            self.removed -= 1
        elif self.added and line.startswith(b"+"):
            self.added -= 1
            if self.file:
                self.file.runs[-1][1].append(line[1:].decode("utf-8", "replace")[:LONG])
        else:
            return False
        return True

    def read_header(self, line: bytes) -> None:
        """Read a line that names the file or begins a hunk."""
        if line.startswith(b"--- "):
            self.old = _name(line[4:])
        elif line.startswith(b"+++ "):
            path = _name(line[4:])
            self.file = Added(path, self.old or path) if path else None
        elif hunk := _HUNK.match(line):
            self.removed = int(hunk[1] or 1)
            self.added = int(hunk[3] or 1)
            if self.file and self.added:
                self.file.runs.append((int(hunk[2]), []))


def _name(word: bytes) -> str:
    """Return the path of a `---` or `+++` line, '' for /dev/null."""
    name = unquoted(word.rstrip(b"\t") if not word.startswith(b'"') else word)
    return "" if name == "/dev/null" else name[2:]
