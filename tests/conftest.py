"""A sealed world: real git and real repositories, a fresh home, none of the machine's settings."""

import atexit
import contextlib
import functools
import itertools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pygit2
import pytest
from hypothesis import settings
from pygit2.enums import ConfigLevel

from gitmem.base.sharing import sharing_of
from gitmem.clock import Clock
from gitmem.git.backend import open_objects
from gitmem.git.process import Git
from gitmem.git.remote import Remote
from gitmem.records.record import PREFIX, Record, make
from gitmem.repo.location import Home, locate
from gitmem.repo.refs import SHARED
from gitmem.store import operations
from gitmem.store.reader import Damaged, Stored
from gitmem.store.store import Message, Store
from tests.scale import FULL, scaled

# a busy machine is no fault of an example
# `make stress` tries other examples each time; a change is judged by the same ones as the last
settings.register_profile(
    "gitmem", deadline=None, max_examples=scaled(100, 40), derandomize=not FULL
)
settings.load_profile("gitmem")

AUTHOR = ("Ada", "ada@example.org")
PERSON = (
    "-c",
    "user.name=Test",
    "-c",
    "user.email=test@example.org",
    "-c",
    "init.defaultBranch=main",
    "-c",
    "protocol.file.allow=always",
)
CLOCK = Clock()


def _works(*args: str) -> bool:
    """Say whether `git init` knows an option, at collection."""
    with tempfile.TemporaryDirectory() as folder:
        return (
            subprocess.run(
                ["git", "init", "-q", *args, folder], capture_output=True, check=False
            ).returncode
            == 0
        )


HAS_REFTABLE = _works("--ref-format=reftable")
BOTH = ("plain", "bare", "worktree", "shallow", "alternates", "submodule", "gitdir")
GIT_ONLY = ("sha256", "partial", "group", *(("reftable",) if HAS_REFTABLE else ()))
WORLDS = [(backend, kind) for backend in ("libgit2", "git") for kind in BOTH] + [
    ("git", kind) for kind in GIT_ONLY
]


def pytest_configure() -> None:
    """Stand back a little, so that work in the background, which stands back by ten, gets its turn."""
    os.nice(max(0, 14 - os.nice(0)))  # 19 is the last; a worker begins where its parent is
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as file:
        file.write("5")


@pytest.fixture(scope="session", autouse=True)
def _sealed_libgit2(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep libgit2, which reads its search paths once, from the machine's settings."""
    empty = str(tmp_path_factory.mktemp("no-config"))
    for level in (ConfigLevel.PROGRAMDATA, ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
        pygit2.settings.search_path[level] = empty


_numbers = itertools.count()


def _numbered(factory: pytest.TempPathFactory, name: str) -> Path:
    """Make a folder of a name that is new; pytest's own numbers cost a look at all folders there."""
    return factory.mktemp(f"{name}-{next(_numbers)}", numbered=False)


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test, named after it."""
    return _numbered(tmp_path_factory, re.sub(r"\W", "_", request.node.name)[:30])


@pytest.fixture(autouse=True)
def _sealed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test a home of its own; nothing named GIT_*, GITMEM_* or XDG_* gets in."""
    home = _numbered(tmp_path_factory, "home")
    for key in list(os.environ):
        if (key.startswith(("GIT_", "GITMEM_", "XDG_")) and key != "GITMEM_REQUIRE_ALL") or key in {
            "EMAIL",
            "SSH_ASKPASS",
            "PAGER",
        }:
            monkeypatch.delenv(key)
    config = home / "gitconfig"
    config.touch()
    world = {
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(config),
        "GIT_TERMINAL_PROMPT": "0",
        "EDITOR": "false",
        "VISUAL": "false",
        "GIT_EDITOR": "false",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "GIT_CEILING_DIRECTORIES": str(tmp_path_factory.getbasetemp().parent),
    }
    for key, value in world.items():
        monkeypatch.setenv(key, value)
    return home


@pytest.fixture
def no_code_reading(_sealed: Path) -> None:
    """Keep the starts of sessions from reading the code in the background: it costs most of a test."""
    with (_sealed / "gitconfig").open("a") as config:
        config.write("[gitmem]\n\tdna = off\n\tscout = false\n")


def git(
    path: Path | str, *args: str, stdin: bytes | None = None, ok: tuple[int, ...] = (0,)
) -> str:
    """Run git in a folder as a person would; return its output, stripped."""
    done = subprocess.run(
        ["git", "-C", str(path), *PERSON, *args], input=stdin, capture_output=True, check=False
    )
    assert done.returncode in ok, f"git {args}: {done.stderr.decode()}"
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def read_only(root: Path, command: Sequence[str]) -> list[str]:
    """Return a command in which a folder cannot be written, not even by root."""
    script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
    for flags in (["-Urm"], ["-m"]) if shutil.which("unshare") else ():
        unshare = ["unshare", *flags]
        if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode == 0:
            return [*unshare, "sh", "-c", script, str(root), *command]
    assert os.geteuid() != 0, "root can write everywhere, and no name space can be had"
    subprocess.run(["chmod", "-R", "a-w", str(root)], check=True)
    return list(command)


def lose(repo: Path, *oids: str) -> None:
    """Take objects out of a repository, wherever they are."""
    packs = repo / ".git/objects/pack"
    aside = repo / ".git/aside"
    shutil.move(packs, aside)
    packs.mkdir()
    for pack in aside.glob("*.pack"):
        subprocess.run(
            ["git", "-C", str(repo), "unpack-objects", "-q"], input=pack.read_bytes(), check=True
        )
    shutil.rmtree(aside)
    for one in oids:
        (repo / ".git/objects" / one[:2] / one[2:]).unlink()


def fsck(path: Path | str) -> str:
    """Return what `git fsck` complains about; dangling objects are none."""
    done = subprocess.run(
        ["git", "-C", str(path), "fsck", "--full", "--strict", "--no-dangling"],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [
        line
        for line in (done.stdout + done.stderr).splitlines()
        if not line.startswith(("notice:", "Checking"))
    ]
    return "\n".join(lines) or ("" if done.returncode == 0 else f"exit {done.returncode}")


def _with_commit(path: Path) -> Path:
    (path / "code.py").write_text("print('hello')\n")
    git(path, "add", "code.py")
    git(path, "commit", "-qm", "first")
    return path


@functools.cache
def _empty_git_folder() -> Path:
    """What `git init` makes, for copies."""
    path = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, path)
    git(path, "init", "-q", ".")
    return path / ".git"


def empty_repo(path: Path) -> Path:
    """Make a repository as `git init` makes it."""
    shutil.copytree(_empty_git_folder(), path / ".git")
    return path


def plain_repo(path: Path) -> Path:
    """Make a repository with one commit of a file, as `git init`, `add` and `commit` make it."""
    empty_repo(path)
    (path / "code.py").write_text("print('hello')\n")
    repo = pygit2.Repository(str(path))
    repo.index.add("code.py")
    repo.index.write()
    person = pygit2.Signature("Test", "test@example.org")
    repo.create_commit("HEAD", person, person, "first\n", repo.index.write_tree(), [])
    repo.free()
    return path


def build_repo(kind: str, root: Path, setenv: Callable[[str, str], None]) -> Path:
    """Make a repository of a kind below a folder; return the folder to start from."""
    path = root / "repo"
    if kind == "plain":
        return plain_repo(path)
    if kind in {"bare", "sha256", "reftable", "group", "gitdir"}:
        options = {
            "bare": ["--bare"],
            "sha256": ["--object-format=sha256"],
            "reftable": ["--ref-format=reftable"],
            "group": ["--shared=group"],
        }
        git(root, "init", "-q", *options.get(kind, []), str(path))
        if kind not in {"bare", "gitdir"}:
            _with_commit(path)
        if kind == "gitdir":
            elsewhere = root / "elsewhere"
            elsewhere.mkdir()
            setenv("GIT_DIR", str(path / ".git"))
            return elsewhere
        return path
    source = root / "source"
    git(root, "init", "-q", str(source))
    _with_commit(source)
    (source / "code.py").write_text("print('again')\n")
    git(source, "commit", "-qam", "second")
    if kind == "worktree":
        git(source, "worktree", "add", "-q", str(path))
    elif kind == "shallow":
        git(root, "clone", "-q", "--depth=1", source.as_uri(), str(path))
    elif kind == "partial":
        git(source, "config", "uploadpack.allowFilter", "true")
        git(source, "config", "uploadpack.allowAnySHA1InWant", "true")
        git(root, "clone", "-q", "--filter=blob:none", source.as_uri(), str(path))
    elif kind == "alternates":
        git(root, "clone", "-q", "--shared", str(source), str(path))
    elif kind == "submodule":
        outer = root / "outer"
        git(root, "init", "-q", str(outer))
        git(outer, "submodule", "--quiet", "add", str(source), "sub")
        return outer / "sub"
    else:
        raise AssertionError(kind)
    return path


@pytest.fixture
def make_repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Make repositories by kind: `plain`, `bare`, `worktree`, `sha256`, `shallow`, ..."""
    made = 0

    def make_one(kind: str = "plain") -> Path:
        nonlocal made
        made += 1
        root = tmp_path / f"{kind}-{made}"
        root.mkdir()
        return build_repo(kind, root, monkeypatch.setenv)

    return make_one


@pytest.fixture
def repo(make_repo: Callable[..., Path]) -> Path:
    """A plain repository with one commit."""
    return make_repo("plain")


T = TypeVar("T")
_prepared: dict[str, tuple[Path, Any]] = {}


def prepared(name: str, folder: Path, make: Callable[[], T]) -> T:
    """Do what `make` does to a repository; from the second time on copy what came of it the first time.

    What it says of paths, `make` must say of the copy too; it may not depend on the test.
    """
    if name not in _prepared:
        made = make()
        kept = Path(tempfile.mkdtemp())
        atexit.register(shutil.rmtree, kept)
        shutil.copytree(folder, kept / "repo", symlinks=True)
        _prepared[name] = kept / "repo", made
        return made
    kept, made = _prepared[name]
    shutil.rmtree(folder)
    shutil.copytree(kept, folder, symlinks=True)
    return made


def new_store(path: Path | str, backend: str = "auto", ref: str = SHARED, **options: Any) -> Store:
    """Open a store; the caller closes its objects."""
    location = locate(str(path), os.environ)
    objects = open_objects(location, os.environ, backend)
    return Store(
        objects,
        ref,
        Home(location.home, shared=sharing_of(location.commondir)),
        CLOCK,
        options.pop("author", AUTHOR),
        **options,
    )


@pytest.fixture
def open_store() -> Iterator[Callable[..., Store]]:
    """Open stores that are closed when the test ends."""
    opened: list[Store] = []

    def open_one(path: Path | str, backend: str = "auto", **options: Any) -> Store:
        opened.append(new_store(path, backend, **options))
        return opened[-1]

    yield open_one
    for store in opened:
        store.objects.close()


@pytest.fixture(params=["libgit2", "git"])
def store(request: pytest.FixtureRequest, repo: Path, open_store: Callable[..., Store]) -> Store:
    """A store in a plain repository, on each back end."""
    return open_store(repo, request.param)


def git_of(path: Path | str) -> Git:
    """Return gitmem's own git on a repository."""
    return Git(locate(str(path), os.environ).commondir, os.environ)


def remote_of(path: Path | str, name: str = "origin", ref: str = SHARED, **options: Any) -> Remote:
    """Return a remote of a repository for an exchange."""
    return Remote(git_of(path), name, ref, os.environ, **options)


def record(kind: str = "memory", title: str = "A title", body: str = "", **fields: Any) -> Record:
    """Return a new record."""
    now = CLOCK.stamp()
    return make(
        kind,
        fields.pop("id", None) or f"{PREFIX[kind]}-{CLOCK.ulid()}",
        title,
        body,
        **{"created": now, "updated": now, "rev": 1, **fields},
    )


def add(store: Store, item: Record | None = None) -> Record:
    """Write a new record; return it."""
    item = item or record()
    store.write([operations.put(item)], Message(f"add {item.id}", "add", (item.id,)))
    return item


def edit(store: Store, before: Record, **changes: Any) -> Record:
    """Write a change of a record; return the record."""
    after = before.touched(CLOCK.stamp()).change(**changes)
    store.write([operations.put(after, before)], Message(f"edit {after.id}", "edit", (after.id,)))
    return after


def forget(store: Store, id: str, **options: Any) -> None:
    """Forget a record on purpose."""
    store.write(
        [operations.forget(id, CLOCK.stamp(), "Ada", **options)],
        Message(f"forget {id}", "forget", (id,)),
    )


def listed(store: Store) -> set[str]:
    """Return the ids of all records; none may be damaged."""
    out = set()
    for row in store.records():
        assert isinstance(row, Stored), row
        out.add(row.record.id)
    return out


def damaged(store: Store) -> dict[str, str]:
    """Return {path: reason} of all damaged files."""
    return {row.path: row.reason for row in store.records() if isinstance(row, Damaged)}
