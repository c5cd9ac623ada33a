"""The graph of the code: read cold against parsing alone, kept up after a commit, against another tool's repository map; and the search over it.

The project is made of the Python files of the interpreter and of the environment that runs this, 2,500 of them. `BENCH_AIDER` in the environment
names an interpreter that has aider-chat: its RepoMap is timed on the same files.
"""

import os
import shutil
import site
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from statistics import median

from tests.benchmarks.common import Bench, git, ms, run, table
from tests.json_output import data_of

BUDGET = {"cold": 2.0, "warm ms": 150.0, "warm": 0.01, "aider cold": 5.0, "aider warm": 20.0}
FILES = 2500
PARSE = """
import sys, time
import tree_sitter_python
from tree_sitter import Language, Parser
texts = [open(path, "rb").read() for path in sys.argv[1:]] if len(sys.argv) > 1 else [open(path, "rb").read() for path in sys.stdin.read().split("\\n") if path]
parser = Parser(Language(tree_sitter_python.language()))
begun = time.perf_counter()
for text in texts:
    parser.parse(text)
print(time.perf_counter() - begun, sum(map(len, texts)))
"""
GRAPH = """
import json, os, resource, sys, time
if "imported" in sys.argv:
    import networkx
begun = time.perf_counter()
from gitmem.app import open_app
from gitmem.codemap.graph import rank
with open_app(sys.argv[1], os.environ) as app:
    code = app.code_map
    opened = time.perf_counter()
    graph = code.graph()
    read = time.perf_counter()
    ranks = rank.kept_ranks(code, graph) if "rank" in sys.argv else {}
    done = time.perf_counter()
    own, children = (resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(json.dumps({"whole": done - begun, "graph": read - opened, "rank": done - read, "files": len(graph.files), "edges": sum(map(len, graph.edges.values())), "fresh": graph.fresh, "own": own, "child": children}))
"""
AIDER = """
import sys, time, os
from pathlib import Path
class Model:
    def token_count(self, text): return len(text) // 4
class IO:
    def tool_output(self, *a, **k): pass
    tool_warning = tool_error = tool_output
    def read_text(self, path, silent=False):
        try: return Path(path).read_text(errors="replace")
        except OSError: return None
from aider.repomap import RepoMap
root = sys.argv[1]
files = [line for line in sys.stdin.read().split("\\n") if line]
made = RepoMap(map_tokens=1024, root=root, main_model=Model(), io=IO())
begun = time.perf_counter()
out = made.get_repo_map([], files) or ""
print(time.perf_counter() - begun, len(out))
"""


def project(path: Path, files: int) -> Path:
    """Make a repository of Python files that are here."""
    sources = [Path(sysconfig.get_paths()["stdlib"]), *map(Path, site.getsitepackages())]
    count = 0
    for number, source in enumerate(sources):
        for file in sorted(source.rglob("*.py")):
            if (
                count >= files
                or (number == 0 and "site-packages" in file.parts)
                or not file.is_file()
                or file.stat().st_size > 500_000
            ):
                continue
            to = path / ("lib" if number == 0 else "packages") / file.relative_to(source)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, to)
            count += 1
    git(path, "init", "-q", "-b", "main", ".")
    git(path, "add", "-Af", ".")
    git(path, "commit", "-qm", "All")
    return path


def asked(repo: Path, *args: str) -> dict[str, float]:
    """Read the graph in a process of its own; return what it measured."""
    done = subprocess.run(
        [sys.executable, "-c", GRAPH, str(repo), *args], capture_output=True, text=True, check=True
    )
    return dict(data_of(done.stdout))


def forget(repo: Path) -> None:
    """Throw the cache away."""
    for path in (repo / ".git/gitmem").glob("code*.db*"):
        path.unlink()


def changed(repo: Path, number: int) -> None:
    """Commit a change of one file of ordinary size."""
    some = sorted(
        path for path in (repo / "lib").rglob("*.py") if 8_000 < path.stat().st_size < 12_000
    )
    path = some[number % len(some)]
    path.write_bytes(
        path.read_bytes()
        + f"\n\ndef added_{number}(value):\n    return value + {number}\n".encode()
    )
    git(repo, "commit", "-qam", f"Change {number}")


def graphs(bench: Bench, repo: Path, rounds: int) -> None:
    """Cold against parsing alone, warm against cold."""
    paths = git(repo, "ls-files", "*.py").split("\n")
    listed = "\n".join(str(repo / path) for path in paths)
    parse, cold, warm, same, facts = [], [], [], [], {}
    for number in range(rounds):
        out = subprocess.run(
            [sys.executable, "-c", PARSE], input=listed, capture_output=True, text=True, check=True
        ).stdout.split()
        parse.append(float(out[0]))
        forget(repo)
        facts = asked(repo, "rank")
        cold.append(facts["graph"])
        for each in range(3):
            changed(repo, number * 3 + each)
            warm.append(asked(repo)["graph"])
            same.append(asked(repo)["graph"])
    a, b, c = median(cold), median(parse), median(warm)
    table(
        f"The graph of {facts['files']:.0f} Python files, {facts['edges']:.0f} edges",
        ["what", "time", "against", "ratio", "budget"],
        [
            [
                "cold",
                ms(cold),
                f"parsing alone, in one process: {ms(parse)}",
                f"{a / b:.2f}",
                bench.verdict("cold", a / b, BUDGET["cold"]),
            ],
            [
                "after one commit",
                ms(warm),
                "cold",
                f"{c / a:.4f}",
                bench.verdict("after one commit", c / a, BUDGET["warm"]),
            ],
            [
                "after one commit",
                ms(warm),
                "milliseconds",
                f"{c * 1000:.0f}",
                bench.verdict("after one commit, ms", c * 1000, BUDGET["warm ms"]),
            ],
            ["nothing changed", ms(same), "cold", f"{median(same) / a:.4f}", ""],
            ["PageRank, cold, with the import of networkx", ms([facts["rank"]]), "", "", ""],
            [
                "memory of the process, of its largest child",
                f"{facts['own']:.0f} MB, {facts['child']:.0f} MB",
                "",
                "",
                "",
            ],
        ],
    )


def against_aider(bench: Bench, repo: Path, python: str) -> None:
    """The same files, as another tool maps them: the whole of a first and of a second process, imports left out on both sides."""
    paths = "\n".join(str(repo / path) for path in git(repo, "ls-files", "*.py").split("\n"))

    def map_() -> float:
        done = subprocess.run(
            [python, "-c", AIDER, str(repo)],
            input=paths,
            capture_output=True,
            text=True,
            check=True,
            cwd=repo,
        )
        return float(done.stdout.split()[-2])

    for path in repo.glob(".aider*"):
        shutil.rmtree(path)
    theirs, again = map_(), map_()
    for path in repo.glob(".aider*"):
        shutil.rmtree(path)
    forget(repo)
    ours = asked(repo, "rank", "imported")
    warm = asked(repo, "rank", "imported")
    cold_ratio, warm_ratio = (
        theirs / (ours["graph"] + ours["rank"]),
        again / (warm["graph"] + warm["rank"]),
    )
    table(
        "Against the repository map of aider-chat, on the same files",
        ["what", "aider", "git mem, graph and rank", "aider / git mem", "at least"],
        [
            [
                "cold",
                ms([theirs]),
                ms([ours["graph"] + ours["rank"]]),
                f"{cold_ratio:.1f}",
                _at_least(bench, "aider cold", cold_ratio),
            ],
            [
                "warm, a new process",
                ms([again]),
                ms([warm["graph"] + warm["rank"]]),
                f"{warm_ratio:.1f}",
                _at_least(bench, "aider warm", warm_ratio),
            ],
        ],
    )


def _at_least(bench: Bench, what: str, ratio: float) -> str:
    return f"{BUDGET[what]:g} {'MISSED' if 'MISSED' in bench.verdict(what, BUDGET[what] / ratio, 1.0) else 'kept'}"


def searches(bench: Bench, repo: Path) -> None:
    """The search over the code: made, kept up, asked."""
    from gitmem.app import open_app
    from gitmem.codemap.search.index import SearchIndex
    from gitmem.codemap.search.locate import locate
    from gitmem.codemap.search.question import Question
    from gitmem.codemap.search.refresh import refresh

    forget(repo)
    with open_app(str(repo), os.environ) as app:
        code = app.code_map
        graph = code.graph()
        index = SearchIndex(code.folder)
        begun = time.perf_counter()
        refresh(index, code, graph, app.code_history)
        made = time.perf_counter() - begun
        changed(repo, 99)
        begun = time.perf_counter()
        refresh(index, code, code.graph(), app.code_history)
        kept = time.perf_counter() - begun
        question = Question(
            "json.dumps of a nested dataclass fails with a RecursionError when indent is given\n\nThe encoder should raise ValueError: Circular reference detected."
        )
        whole, quick = [], []
        for _ in range(9):
            for some, how in ((whole, False), (quick, True)):
                begun = time.perf_counter()
                locate(index, question, 10, quick=how)
                some.append(time.perf_counter() - begun)
        size = os.path.getsize(index.path) / 1e6
        index.close()
    table(
        "The search over the code",
        ["what", "time"],
        [
            ["made", ms([made])],
            ["after one commit, graph included", ms([kept])],
            ["a task", ms(whole)],
            ["a quick look, as hooks do", ms(quick)],
            ["size", f"{size:.0f} MB"],
        ],
    )


def body(bench: Bench) -> None:
    """Print the tables."""
    repo = project(bench.fresh("project"), bench.size(FILES, 300))
    graphs(bench, repo, bench.times(5, 1))
    if os.environ.get("BENCH_AIDER"):
        against_aider(bench, repo, os.environ["BENCH_AIDER"])
    searches(bench, repo)


if __name__ == "__main__":
    sys.exit(run("bench_code", body))
