"""Facts about real projects: reported at the commit that breaks them, and not at the one before.

`python -m tests.lifecycle.real_histories FOLDER` checks the facts of `real_histories.jsonl` against
clones in a folder, one for each project: `FOLDER/flask` is a clone of `pallets/flask`. A line names the
`commit` that breaks a fact, or what such a commit `removes` from some `files`. `finding` is what has to
be reported, null for a fact that the commit leaves true.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.command_line import run_command
from tests.lifecycle.memories import add, data

CASES = Path(__file__).with_suffix(".jsonl")
REFS = ("refs/gitmem/heads/main", "refs/gitmem/local/main")


def git(repo: Path, *args: str) -> str:
    """Run git; return what it prints."""
    done = subprocess.run(["git", "-C", str(repo), *args], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace").strip()


def breaking_commit(repo: Path, case: dict[str, Any]) -> str:
    """Return the last commit that breaks a fact."""
    if "commit" in case:
        return str(case["commit"])
    pattern, files = case["removes"], case["files"]
    log = ("log", "--first-parent", "-m", "--format=%H", "-G", pattern, "origin/HEAD", "--")
    for commit in git(repo, *log, *files).split():
        lines = git(repo, "diff", f"{commit}^1", commit, "--", *files).split("\n")
        changed = {line[0] for line in lines if line[:1] in "+-" and re.search(pattern, line[1:])}
        if changed == {"-"}:
            return commit
    raise LookupError(f"no commit of {case['project']} removes {pattern}")


def reported(repo: Path) -> set[str]:
    """Return which findings there are about the fact."""
    return {row["finding"] for row in data(repo, "check", "--against", "code")}


def is_right(repo: Path, case: dict[str, Any]) -> bool:
    """Say a fact before the commit, and check there and at the commit."""
    commit = breaking_commit(repo, case)
    git(repo, "checkout", "-q", "-f", f"{commit}^1")
    subprocess.run(["rm", "-rf", str(repo / ".git/gitmem")], check=True)
    for ref in REFS:
        git(repo, "update-ref", "-d", ref)
    run_command(repo, "init", "--no-remote")
    add(repo, case["fact"], at=float(git(repo, "log", "-1", "--format=%ct")) - 1)
    before = reported(repo)
    git(repo, "checkout", "-q", "-f", commit)
    after = reported(repo)
    return not before and (case["finding"] in after if case["finding"] else not after)


def main(folder: Path) -> None:
    """Check all facts; print those that came out wrong, and how many were right."""
    cases = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    right = 0
    with tempfile.TemporaryDirectory() as scratch:
        for case in cases:
            name = case["project"].partition("/")[2]
            repo = Path(scratch) / name
            if not repo.exists():
                origin = str(folder / name)
                git(folder, "clone", "-q", "--shared", "--no-checkout", origin, str(repo))
                git(repo, "config", "user.name", "Ana")
                git(repo, "config", "user.email", "ana@example.org")
            if is_right(repo, case):
                right += 1
            else:
                print(f"wrong: {case['project']}: {case['fact']}")
    print(f"{right} of {len(cases)} facts right")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
