"""Only one module writes, renames and deletes below a work tree; the others that touch the disk say here where they do."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.house.conftest import ROOT

GIT_DIR = "below the git dir"
HOME = "in git mem's own folder in the git dir"
DATA = "in the user's data or home folder"
SCRATCH = "in a scratch folder of its own"
ALLOWED = {
    "gitmem/base/priority.py": "the kernel's file of this process's own group",
    "gitmem/base/sqlite.py": f"databases {HOME}",
    "gitmem/base/sharing.py": f"opens and makes with the mode that {HOME} has",
    "gitmem/hooks/watch.py": HOME,
    "gitmem/store/history/doomed_packs.py": f"packs, {GIT_DIR}",
    "gitmem/store/quarantine.py": HOME,
    "gitmem/store/record_history.py": HOME,
    "gitmem/repo/worktree_files.py": "the one module for paths below the work tree",
    "gitmem/base/files.py": "the atomic write that the modules below use; each of its users is checked too",
    "gitmem/install/disk.py": f"{DATA}, and git's hooks; below the work tree it asks worktree_files",
    "gitmem/install/file_changes.py": f"its ledger {HOME} or {DATA}, and .git/info/exclude",
    "gitmem/repo/output_files.py": "a file or folder that a person named, by worktree_files below the work tree and in a folder",
    "gitmem/settings_cache.py": HOME,
    "gitmem/githooks.py": HOME,
    "gitmem/base/failures.py": f"the report of a fault, {SCRATCH}",
    "gitmem/cli/failures.py": "/dev/null",
    "gitmem/cli/main.py": "/dev/null",
    "gitmem/cli/setup/init.py": HOME,
    "gitmem/cli/setup/wipe.py": HOME,
    "gitmem/codemap/graph/cache.py": HOME,
    "gitmem/codemap/search/index.py": HOME,
    "gitmem/index/health_cache.py": HOME,
    "gitmem/git/code_trees.py": f"an index, {SCRATCH}",
    "gitmem/git/merges.py": SCRATCH,
    "gitmem/git/new_packs.py": f"packs, {GIT_DIR}",
    "gitmem/git/work_state.py": f"the index and copies of it, {GIT_DIR}",
    "gitmem/dashboard/command.py": f"the file that leads a browser to the page, {HOME}",
    "gitmem/hooks/main.py": HOME,
    "gitmem/hooks/session_log.py": HOME,
    "gitmem/index/builder.py": HOME,
    "gitmem/llm/command.py": SCRATCH,
    "gitmem/repository.py": HOME,
    "gitmem/repo/hook_switch.py": f"{HOME}, and {DATA}",
    "gitmem/repo/location.py": HOME,
    "gitmem/services/maintenance/repairs.py": f"{HOME}, and refs {GIT_DIR}",
    "gitmem/services/maintenance/purge_local.py": HOME,
    "gitmem/services/session_log/compact.py": HOME,
    "gitmem/services/session_log/rotation.py": HOME,
    "gitmem/services/sessions/current.py": HOME,
    "gitmem/services/snapshots/restore.py": f"the note of a restore, {HOME}",
    "gitmem/services/timeline/evolution.py": HOME,
    "gitmem/services/work/workflow_table.py": HOME,
    "gitmem/state/database.py": HOME,
    "gitmem/state/spilled_hits.py": HOME,
    "gitmem/store/history/pending.py": HOME,
    "gitmem/services/interchange/exported.py": HOME,
    "gitmem/services/interchange/readers/claude_mem.py": f"copies of a database, {SCRATCH}",
    "gitmem/store/history/prune.py": f"objects, {GIT_DIR}",
    "gitmem/store/journal.py": HOME,
    "gitmem/store/repack.py": f"packs, {GIT_DIR}",
    "gitmem/store/replica.py": HOME,
    "gitmem/store/sync.py": f"logs of refs, {GIT_DIR}",
    "gitmem/worker/hook_notes.py": HOME,
    "lsp/gitmem_lsp/editing/virtual_documents.py": HOME,
}
OS_CALLS = frozenset(
    {
        "unlink",
        "remove",
        "rename",
        "renames",
        "replace",
        "rmdir",
        "removedirs",
        "mkdir",
        "makedirs",
        "symlink",
        "link",
        "chmod",
        "lchmod",
        "chown",
        "lchown",
        "truncate",
        "mkfifo",
        "mknod",
        "utime",
        "setxattr",
        "removexattr",
    }
)
SHUTIL_READS = frozenset({"which", "get_terminal_size", "disk_usage"})
PATH_CALLS = frozenset({"write_text", "write_bytes", "symlink_to", "hardlink_to", "touch"})
PATH_CHANGES = frozenset({"unlink", "rmdir", "mkdir", "rename", "replace", "chmod"})
PATHS = ("Path(", "pathlib.Path(")
OWN_CALLS = frozenset({"write_atomic", "create", "make_folder"})
WRITE_FLAGS = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND")


def _writes(node: ast.Call) -> bool:
    """Say whether a call may write, rename or delete a path."""
    function = node.func
    if isinstance(function, ast.Name):
        if function.id in OWN_CALLS:
            return True
        return function.id == "open" and _is_write_mode(node, 1)
    if not isinstance(function, ast.Attribute):
        return False
    owner = ast.unparse(function.value)
    if function.attr == "open":
        return _opens_to_write(node, owner)
    return _method_writes(node, owner, function.attr)


def _opens_to_write(node: ast.Call, owner: str) -> bool:
    """Say whether a call of `owner.open` may write."""
    if owner == "os":
        return any(flag in ast.unparse(node) for flag in WRITE_FLAGS) or not _names_flags(node)
    if owner in {"io", "gzip", "bz2", "lzma"}:
        return _is_write_mode(node, 1)
    if owner.startswith(PATHS):
        return _is_write_mode(node, 0)
    return owner in {"shutil", "tempfile"}


def _method_writes(node: ast.Call, owner: str, name: str) -> bool:
    """Say whether a call of `owner.name`, which is not `open`, may write."""
    if owner == "os":
        return name in OS_CALLS
    if owner == "shutil":
        return name not in SHUTIL_READS
    if owner == "tempfile":
        return True
    if name in PATH_CALLS:
        return name != "touch" or owner.startswith("Path(")
    if name in PATH_CHANGES and owner.startswith(PATHS):
        return True
    return owner == "click" and name == "File" and _is_write_mode(node, 0)


def _names_flags(node: ast.Call) -> bool:
    return any("O_" in ast.unparse(argument) for argument in node.args[1:])


def _is_write_mode(node: ast.Call, place: int) -> bool:
    modes = [keyword.value for keyword in node.keywords if keyword.arg == "mode"] or node.args[
        place : place + 1
    ]
    if not modes:
        return False
    mode = modes[0]
    if not isinstance(mode, ast.Constant):
        return True
    return isinstance(mode.value, str) and any(letter in mode.value for letter in "wax+")


def writers(source: str) -> Iterator[int]:
    """Yield the lines of calls that may write, rename or delete a path."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and _writes(node):
            yield node.lineno
        if isinstance(node, ast.ImportFrom) and node.module in {"os", "shutil"}:
            names = {alias.name for alias in node.names}
            if names & OS_CALLS or (node.module == "shutil" and names - SHUTIL_READS):
                yield node.lineno


def _code() -> list[Path]:
    return [
        path
        for root in (ROOT / "gitmem", ROOT / "lsp" / "gitmem_lsp")
        for path in sorted(root.rglob("*.py"))
    ]


def test_only_listed_modules_write_paths() -> None:
    """Another module asks `gitmem.repo.worktree_files`; one that writes elsewhere is listed with its reason."""
    found = {
        path.relative_to(ROOT).as_posix(): list(writers(path.read_text(encoding="utf-8")))
        for path in _code()
    }
    writing = {name: lines for name, lines in found.items() if lines}

    assert {name: lines for name, lines in writing.items() if name not in ALLOWED} == {}
    assert set(ALLOWED) - set(writing) == set()  # one that writes no more leaves the list


def test_the_scan_sees_each_way_to_write() -> None:
    seen = [
        "open(p, 'w')",
        "open(p, mode='ab')",
        "open(p, how)",
        "os.open(p, os.O_CREAT)",
        "os.open(p, flags)",
        "os.unlink(p)",
        "os.replace(a, b)",
        "os.rmdir(p)",
        "os.makedirs(p)",
        "os.symlink(a, b)",
        "os.chmod(p, 1)",
        "shutil.copyfile(a, b)",
        "shutil.rmtree(p)",
        "Path(p).write_text('')",
        "x.write_bytes(b'')",
        "Path(p).unlink()",
        "Path(p).open('w')",
        "Path(p).touch()",
        "gzip.open(p, 'wb')",
        "write_atomic(p, b'')",
        "click.File('w')",
        "from os import unlink",
        "tempfile.mkdtemp()",
    ]
    passed = [
        "open(p)",
        "open(p, 'rb')",
        "os.open(p, os.O_RDONLY)",
        "shutil.which('x')",
        "text.replace('a', 'b')",
        "os.path.join(a, b)",
        "Path(p).read_text()",
    ]

    assert [text for text in seen if not list(writers(text))] == []
    assert [text for text in passed if list(writers(text))] == []
