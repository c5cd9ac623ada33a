"""The graph of a commit: kept up by what changed, of any commit, whatever is in it, the same every time."""

import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.codemap.graph import parse_worker, rank
from gitmem.errors import UserError
from tests.codemap.graph.projects import arrows, code_map, commit, graph, new, write
from tests.codemap.graph.test_resolution import PROJECTS
from tests.conftest import git
from tests.scale import scaled

ALL = {
    f"p{n}/{path}": text
    for n, (files, _) in enumerate(PROJECTS.values())
    for path, text in files.items()
}
TWISTS = (
    "from pkg.money import add\nadd(3)\n",
    "import { money } from './money';\nmoney(9);\n",
    "class Cart:\n    pass\n",
    "def add(x):\n    return 2\n\n\nEXTRA = 1\n",
    "",
    "use crate::cart::Cart;\nfn f() { Cart; }\n",
    "package money\n\nfunc Neu() int { return Add(1) }\n",
    "export * from './cart';\n",
    "require_relative 'cart'\nShop::Cart\n",
    '#include "money.h"\nint x = MONEY;\n',
)


@settings(
    max_examples=scaled(150, 12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(seed=st.integers(0, 10**9))
def test_kept_up_is_built_anew(tmp_path_factory: pytest.TempPathFactory, seed: int):
    """After any changes, committed or not, the graph is what reading all of it from nothing gives."""
    rng = random.Random(seed)
    base = tmp_path_factory.mktemp("kept")
    repo = new(base / "repo")
    names = rng.sample(sorted(PROJECTS), 2)
    files = {
        f"{n if rng.random() < 0.3 else ''}/{path}".lstrip("/"): text
        for n in names
        for path, text in PROJECTS[n][0].items()
    }
    files = {path.replace(" ", "_"): text for path, text in files.items()}
    commit(repo, files)
    graph(repo, base / "cache")
    paths = sorted(files)
    for step in range(4):
        changes: dict[str, str | bytes | None] = {}
        for _ in range(rng.randint(1, 3)):
            path = rng.choice(paths)
            how = rng.randrange(5)
            if how == 0:
                changes[path] = None
            elif how == 1:
                changes[path] = rng.choice(TWISTS)
            elif how == 2:
                changes[path] = files[path]
            elif how == 3:
                changes[path] = files[path] + f"\n# {step}\n"
            else:
                changes[
                    os.path.join(
                        os.path.dirname(path),
                        rng.choice(
                            [
                                "__init__.py",
                                "cart.py",
                                "money.ts",
                                "index.ts",
                                "cart.rs",
                                "add.go",
                                ".gitattributes",
                                "money.h",
                            ]
                        ),
                    )
                ] = rng.choice([*TWISTS, "*.py linguist-generated\n"])
        if rng.random() < 0.7:
            commit(repo, changes)
            kept = graph(repo, base / "cache")
            made = graph(repo, base / f"new{step}")
        else:
            write(repo, changes)
            kept = graph(repo, base / "cache", uncommitted=True)
            git(repo, "add", "-Af", ".")
            git(repo, "commit", "-q", "--allow-empty", "-m", "later")
            made = graph(repo, base / f"new{step}")
        assert kept.edges == made.edges
        assert (kept.files, kept.skipped, kept.words, kept.consulted) == (
            made.files,
            made.skipped,
            made.words,
            made.consulted,
        )


@pytest.mark.parametrize(
    ("importer", "module"),
    [("app/main.ts", "."), ("app/deep/main.ts", ".."), ("app/main.ts", "./"), ("main.ts", ".")],
)
def test_an_index_that_appears_is_seen_by_files_that_import_its_folder_by_dots(
    tmp_path: Path, importer: str, module: str
):
    """The folder's name is not in such an import."""
    repo = new(tmp_path / "repo")
    commit(repo, {importer: f"import {{ pay }} from '{module}';\npay(2);\n"})
    assert not graph(repo, tmp_path / "cache").edges[importer]
    index = "app/index.ts" if importer.startswith("app/") else "index.ts"
    commit(repo, {index: "export function pay(x: number) { return x; }\n"})
    kept, made = graph(repo, tmp_path / "cache"), graph(repo, tmp_path / "anew")
    assert index in made.edges[importer]
    assert kept.edges == made.edges


def test_only_new_blobs_are_parsed(tmp_path: Path):
    """A branch that was seen costs nothing, a changed file one parse, a file moved none."""
    repo = new(tmp_path / "repo")
    commit(repo, ALL)
    cache = tmp_path / "cache"
    assert graph(repo, cache).fresh > 40
    git(repo, "switch", "-qc", "other")
    commit(repo, {"p0/main.py": "import pkg.cart\n"})
    assert graph(repo, cache).fresh == 1
    git(repo, "mv", "p0/pkg", "p0/moved")
    git(repo, "commit", "-qm", "move")
    assert graph(repo, cache).fresh == 0
    git(repo, "switch", "-q", "main")
    assert graph(repo, cache).fresh == 0
    assert graph(repo, cache, "other~1").fresh == 0


def test_prune_keeps_what_branches_need(tmp_path: Path):
    """What another branch, a tag or a work tree has stays; what nobody has goes, and can be read again."""
    repo = new(tmp_path / "repo")
    first = commit(repo, {"a.py": "A = 1\n"})
    git(repo, "switch", "-qc", "side")
    commit(repo, {"b.py": "B = 1\n"})
    git(repo, "switch", "-qc", "gone", "main")
    commit(repo, {"c.py": "C = 1\n"})
    cache = tmp_path / "cache"
    for name in ("main", "side", "gone"):
        graph(repo, cache, name)
    git(repo, "switch", "-q", "main")
    git(repo, "branch", "-qD", "gone")
    with code_map(repo, cache) as code:
        assert code.prune() == (1, 2)
        assert code.graph("side").fresh == 0
    assert sorted(graph(repo, cache, first).files) == ["a.py"]


def test_any_commit_without_a_checkout(tmp_path: Path):
    """`--at` of a bare repository, of a tag and of an abbreviated id."""
    repo = new(tmp_path / "repo")
    one = commit(repo, {"a.py": "import b\nb.X\n", "b.py": "X = 1\n"})
    git(repo, "tag", "-a", "-m", "v1", "v1")
    commit(repo, {"a.py": None})
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    for revision in ("v1", one[:8], "main~1"):
        assert arrows(graph(bare, tmp_path / "cache", revision)) == {"a.py -> b.py"}
    assert arrows(graph(bare, tmp_path / "cache")) == set()
    with pytest.raises(UserError, match="names no commit"):
        graph(bare, tmp_path / "cache", "nowhere")
    with pytest.raises(UserError, match="names no commit"):
        graph(bare, tmp_path / "cache", "main^{tree}\nmain")
    with pytest.raises(UserError, match="no commit yet"):
        graph(new(tmp_path / "empty"), tmp_path / "cache2")


def test_what_is_not_read_is_named(tmp_path: Path):
    """Generated, vendored, minified, huge, binary and ignored files are left out, each with its reason; attributes overrule guesses."""
    repo = new(tmp_path / "repo")
    commit(
        repo,
        {
            ".gitattributes": "gen/** linguist-generated\nthirdparty/mine/** -linguist-vendored\nlib/x.py linguist-vendored=true\nsub/*.py linguist-generated=false\n",
            "gen/a.py": "A = 1\n",
            "sub/.gitattributes": "deep.py linguist-generated\n",
            "sub/deep.py": "D = 1\n",
            "sub/b_pb2.py": "B = 1\n",
            "lib/x.py": "X = 1\n",
            "vendor/lib.go": "package lib\n",
            "thirdparty/mine/m.py": "M = 1\n",
            "web/app.min.js": "var a = 1;\n",
            "web/packed.js": "var a = 1;" * 3000 + "\n",
            "big.py": "x = 1\n" * 200_000,
            "data.py": b"x = '\0'\n",
            "proto.go": "// Code generated by protoc-gen-go. DO NOT EDIT.\npackage p\n",
            "secret/key.py": "K = 1\n",
            "ok.py": "OK = 1\n",
            "README.md": "# Hello\n",
        },
    )
    with code_map(repo, tmp_path / "cache", hides=lambda path: path.startswith("secret/")) as code:
        found = code.graph()
    assert sorted(found.files) == ["ok.py", "sub/b_pb2.py", "thirdparty/mine/m.py"]
    assert found.skipped == {
        "gen/a.py": "generated",
        "sub/deep.py": "generated",
        "lib/x.py": "vendored",
        "vendor/lib.go": "vendored",
        "web/app.min.js": "minified",
        "web/packed.js": "minified",
        "big.py": "huge",
        "data.py": "binary",
        "proto.go": "generated",
        "secret/key.py": "ignored",
    }


def test_whatever_is_in_files(tmp_path: Path):
    """Names with spaces, emoji, newlines and bytes; texts that are no code, or of no encoding; links and modules: no error, nothing else lost."""
    repo = new(tmp_path / "repo")
    commit(
        repo,
        {
            "a b.py": "X = 1\n",
            "🦊/ü.py": "from 🦊 import x\nimport helper\nhelper.go()\n",
            "🦊/helper.py": "def go():\n    pass\n",
            "new\nline.py": "Y = 1\n",
        },
    )
    bad = os.fsencode(repo) + b"/caf\xe9.py"
    with open(bad, "wb") as file:
        file.write(b"Z = '\xff\xfe'\ndef f(): pass\n")
    (repo / "link.py").symlink_to("a b.py")
    commit(
        repo,
        {
            "broken.py": "def (((:\n  class\n",
            "empty.py": "",
            "latin.py": "# -*- coding: latin-1 -*-\nname = 'caf\xe9'\n".encode("latin-1"),
            "crlf.py": b"import helper\r\nhelper\r\n",
        },
    )
    found = graph(repo, tmp_path / "cache")
    assert "🦊/ü.py -> 🦊/helper.py" in arrows(found)
    assert {
        "new\nline.py",
        "a b.py",
        "caf\udce9.py",
        "broken.py",
        "empty.py",
        "latin.py",
    } <= found.files.keys()
    assert "link.py" not in found.files
    assert graph(repo, tmp_path / "cache").files == found.files


def test_in_repositories_of_all_kinds(make_repo, tmp_path: Path):
    """Linked work trees, other hashes, shallow clones, submodules, detached heads."""
    for number, kind in enumerate(
        ("plain", "worktree", "sha256", "shallow", "alternates", "submodule")
    ):
        repo = make_repo(kind)
        git(repo, "checkout", "-q", "--detach")
        (repo / "new.py").write_text("import code\n")
        found = graph(repo, tmp_path / f"cache{number}", uncommitted=True)
        assert set(found.files) == {"code.py", "new.py"}


def test_the_work_tree_counts_besides_the_commit(tmp_path: Path):
    """New, changed and removed files are seen before they are committed; a commit as such is not changed by them."""
    repo = new(tmp_path / "repo")
    commit(repo, {"a.py": "import b\nb.X\n", "b.py": "X = 1\n", "c.py": "import b\nb.X\n"})
    write(repo, {"a.py": "import new\nnew.N\n", "new.py": "import b\nN = b.X\n", "c.py": None})
    cache = tmp_path / "cache"
    assert arrows(graph(repo, cache, uncommitted=True)) == {"a.py -> new.py", "new.py -> b.py"}
    assert arrows(graph(repo, cache)) == {"a.py -> b.py", "c.py -> b.py"}
    with code_map(repo, cache) as code:
        found = code.graph(uncommitted=True)
        assert code.text(found, "new.py") == b"import b\nN = b.X\n"


@pytest.mark.parametrize("damage", ["zeros", "cut", "rows", "other"])
def test_a_damaged_cache_is_made_again(tmp_path: Path, damage: str):
    """Whatever is wrong with the file, the answer is the same."""
    repo = new(tmp_path / "repo")
    commit(repo, ALL)
    cache = tmp_path / "cache"
    wanted = graph(repo, cache)
    file = cache / "codemap.db"
    data = file.read_bytes()
    if damage == "zeros":
        file.write_bytes(b"\0" * len(data))
    elif damage == "cut":
        file.write_bytes(data[: len(data) // 2])
    elif damage == "rows":
        with sqlite3.connect(file) as db:
            db.execute("UPDATE tree SET state = x'00'")
            db.execute("UPDATE blob SET said = x'7aff'")
    else:
        file.write_bytes(b"this is no database, but a text that somebody put there\n" * 100)
    commit(repo, {"one_more.py": "import os\n"})
    found = graph(repo, cache)
    assert {
        path: edges for path, edges in found.edges.items() if path != "one_more.py"
    } == wanted.edges


def test_without_a_place_for_the_cache(tmp_path: Path):
    """Where nothing can be written the answer is the same."""
    repo = new(tmp_path / "repo")
    commit(repo, {"a.py": "import b\nb.X\n", "b.py": "X = 1\n"})
    (tmp_path / "file").write_text("no folder\n")
    with code_map(repo, tmp_path / "cache") as code:
        code.cache.path = str(tmp_path / "file" / "codemap.db")
        assert arrows(code.graph()) == {"a.py -> b.py"}


def test_a_parser_that_hangs_or_crashes_costs_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The process that reads it is ended, the others are read."""
    repo = new(tmp_path / "repo")
    commit(
        repo,
        {f"m{n}.py": f"X = {n}\n" for n in range(90)}
        | {"hang.py": "HANG = 1\n", "crash.py": "CRASH = 1\n"},
    )
    trap = tmp_path / "site"
    trap.mkdir()
    (trap / "sitecustomize.py").write_text(
        "import sys\n"
        "if any('parse_worker' in one for one in sys.orig_argv):\n"
        "    import os, time\n"
        "    from gitmem.codemap.tags import tags\n"
        "    real = tags.read\n"
        "    def read(data, language):\n"
        "        if data.startswith(b'HANG'): time.sleep(60)\n"
        "        if data.startswith(b'CRASH'): os.abort()\n"
        "        return real(data, language)\n"
        "    tags.read = read\n"
    )
    monkeypatch.setattr(parse_worker, "SLOW", 1.0)
    monkeypatch.setattr(parse_worker, "START", 5.0)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(trap), os.environ.get("PYTHONPATH", "")]))
    found = graph(repo, tmp_path / "cache")
    assert found.skipped == {"hang.py": "unparsed", "crash.py": "unparsed"}
    assert len(found.files) == 90


def test_two_at_once(tmp_path: Path):
    """Two processes that read the same code for the first time get the same, and leave a sound cache."""
    repo = new(tmp_path / "repo")
    commit(repo, ALL)
    (repo / ".git" / "gitmem").mkdir()
    args = [sys.executable, "-m", "gitmem", "-C", str(repo), "code", "graph", "--json"]
    some = [
        subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)
    ]
    said = [one.communicate() for one in some]
    assert [one.returncode for one in some] == [0] * 4, said
    assert len({out for out, _ in said}) == 1
    with sqlite3.connect(repo / ".git" / "gitmem" / "codemap.db") as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_killed_in_the_middle(tmp_path: Path):
    """What was read until then is kept, and the next one ends it."""
    repo = new(tmp_path / "repo")
    commit(
        repo,
        {
            f"m{n}.py": f"import m{n - 1}\nX{n} = m{n - 1}.X{n - 1}\n"
            for n in range(scaled(1500, 300))
        },
    )
    (repo / ".git" / "gitmem").mkdir()
    args = [sys.executable, "-m", "gitmem", "-C", str(repo), "code", "rank", "--json"]
    rng = random.Random(7)
    for _ in range(scaled(20, 3)):
        child = subprocess.Popen(
            args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            child.wait(rng.uniform(0.05, 0.8))
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            child.wait()
    done = subprocess.run(args, capture_output=True, check=True)
    assert b'"dependent_count": 1' in done.stdout


def test_ranks_do_not_hang_on_the_hash_seed(tmp_path: Path):
    """The same bytes from any process."""
    repo = new(tmp_path / "repo")
    commit(repo, ALL)
    said = set()
    for seed in ("0", "1", "4711"):
        for args in (("code", "rank", "-n", "500", "--json"), ("code", "graph", "--dot")):
            (repo / ".git" / "gitmem" / "codemap.db").unlink(missing_ok=True)
            done = subprocess.run(
                [sys.executable, "-m", "gitmem", "-C", str(repo), *args],
                capture_output=True,
                check=True,
                env={**os.environ, "PYTHONHASHSEED": seed},
            )
            said.add((args, done.stdout))
    assert len(said) == 2


def test_ranks_follow_what_hangs_on_a_file(tmp_path: Path):
    """More users and users of more weight rank higher; all ranks add up to one; an empty project has none."""
    repo = new(tmp_path / "repo")
    commit(
        repo,
        {
            "core.py": "X = 1\n",
            "side.py": "Y = 1\n",
            **{f"u{n}.py": "import core\ncore.X\n" for n in range(5)},
            "v.py": "import side\nside.Y\n",
        },
    )
    with code_map(repo, tmp_path / "cache") as code:
        found = code.graph()
        ranks = rank.kept_ranks(code, found)
        assert list(ranks)[:2] == ["core.py", "side.py"]
        assert sum(ranks.values()) == pytest.approx(1, abs=1e-4)
        assert rank.kept_ranks(code, found) == ranks
    empty = new(tmp_path / "empty")
    commit(empty, {"README.md": "# Nothing\n"})
    assert rank.ranks(graph(empty, tmp_path / "cache2")) == {}
