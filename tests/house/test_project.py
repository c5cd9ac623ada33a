"""The files around the code agree with it: workflows, forms, versions, hooks, the site, the pages for contributors."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitmem import __version__
from gitmem.agents.events import ADAPTERS
from gitmem.cli.main import COMMANDS
from gitmem.services.interchange.formats import BY_NAME
from scripts import docs_site, release
from tests.house.conftest import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = [path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"]
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
NAME = re.compile(r"^\s*(?:- )?uses: (.+)$", re.MULTILINE)
MAKE = re.compile(r"\bmake ((?:[a-z][a-z-]* ?)+)")
# pages that tell a contributor which commands to run
GUIDES = (
    "CONTRIBUTING.md",
    "AGENTS.md",
    ".github/PULL_REQUEST_TEMPLATE.md",
    ".ci/run",
    ".ci/tools",
)
# hosts of registries, a dot written as a slash: this file names none either
_HOSTS = (
    "pypi/org pythonhosted/org registry/npmjs/org registry/yarnpkg/com deb/debian/org "
    "proxy/golang/org index/crates/io ghcr/io docker/io"
)
HOSTS = re.compile(rf"\b(?:{'|'.join(_HOSTS.replace('/', '[.]').split())})\b")


def _yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _jobs(path: Path) -> dict[str, Any]:
    jobs: dict[str, Any] = _yaml(path)["jobs"]
    return jobs


def _steps(path: Path) -> Iterator[dict[str, Any]]:
    for job in _jobs(path).values():
        yield from job["steps"]


def _targets() -> set[str]:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z][a-z-]*):", text, re.MULTILINE))


def test_there_are_workflows() -> None:
    assert {path.stem for path in WORKFLOWS} == {
        "docs",
        "lint",
        "nightly",
        "packages",
        "release",
        "test",
    }


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_is_bounded(path: Path) -> None:
    """It reads and no more, one run at a time, and each job ends; a job that may write says what."""
    workflow = _yaml(path)

    assert workflow["permissions"] == {"contents": "read"}
    assert "group" in workflow["concurrency"]
    for name, job in workflow["jobs"].items():
        assert 0 < job["timeout-minutes"] <= 300, name
        written = {key for key, value in job.get("permissions", {}).items() if value == "write"}
        assert written <= {"contents", "id-token", "pages"}, name
        if written:
            # what may write runs nothing of the repository
            assert not any("checkout" in step.get("uses", "") for step in job["steps"]), name


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_each_action_is_pinned(path: Path) -> None:
    """By its commit, with the release beside it."""
    named = NAME.findall(path.read_text(encoding="utf-8"))

    assert named
    assert [name for name in named if not PINNED.fullmatch(name)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_checkout_keeps_no_credentials(path: Path) -> None:
    checkouts = [step for step in _steps(path) if "actions/checkout" in step.get("uses", "")]

    assert [step for step in checkouts if step["with"]["persist-credentials"] is not False] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_each_step_runs_what_is_there(path: Path) -> None:
    """Make targets, scripts and test files; each script is valid shell, as bash reads it."""
    for step in _steps(path):
        script = re.sub(r"\$\{\{.*?\}\}", "x", step.get("run", ""))
        wanted = {name for names in MAKE.findall(script) for name in names.split()}
        assert wanted <= _targets(), script
        for name in re.findall(r"(?:\.ci|scripts|tests)/[\w/.-]+", script):
            assert (ROOT / name).exists(), name
        done = subprocess.run(["bash", "-n"], input=script.encode(), check=False)
        assert done.returncode == 0, script


def test_the_test_workflow_runs_each_supported_python() -> None:
    """From the oldest that the package takes."""
    oldest = re.search(
        r'requires-python = ">=3\.(\d+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    )
    jobs = _jobs(GITHUB / "workflows" / "test.yml")

    assert oldest
    for job in jobs.values():
        versions = job["strategy"]["matrix"]["python"]
        assert versions[0] == f"3.{oldest[1]}"
        minors = [int(version.split(".")[1]) for version in versions]
        assert minors == list(range(minors[0], minors[0] + len(minors)))
    assert any(step.get("run") == ".ci/run" for step in jobs["linux"]["steps"])


@pytest.mark.parametrize("name", GUIDES)
def test_each_make_target_that_a_guide_names_exists(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    code = text if name.startswith(".ci") else "\n".join(re.findall(r"`+[^`]+`+", text))
    wanted = {target for names in MAKE.findall(code) for target in names.split()}

    assert wanted
    assert wanted <= _targets()


def test_dependabot_looks_into_folders_that_are_there() -> None:
    """Each has the file that its kind reads."""
    files = {"pip": "pyproject.toml", "npm": "package.json", "github-actions": ".github/workflows"}
    seen = set()
    for update in _yaml(GITHUB / "dependabot.yml")["updates"]:
        for folder in update.get("directories") or [update["directory"]]:
            kind = update["package-ecosystem"]
            seen.add((kind, folder))
            assert (ROOT / folder.strip("/") / files[kind]).exists(), folder

    assert seen == {
        ("pip", "/"),
        ("npm", "/dashboard"),
        ("npm", "/lsp/vscode"),
        ("github-actions", "/"),
    }


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_asks_something(path: Path) -> None:
    """Each question has a name of its own and a label; one at least must be answered."""
    form = _yaml(path)
    questions = [part for part in form["body"] if part["type"] != "markdown"]
    ids = [part["id"] for part in questions]

    assert form["name"] and form["description"]
    assert len(set(ids)) == len(ids)
    assert all(part["attributes"]["label"] for part in questions)
    assert any(part.get("validations", {}).get("required") for part in questions)


def test_versions_agree() -> None:
    assert release.problems(ROOT) == []


def test_a_tag_of_another_version_is_refused() -> None:
    """Each place is named, and the exit code is 1."""
    places = [name for name, _ in release.versions(ROOT)]
    command = [sys.executable, ROOT / "scripts" / "release.py", "check"]
    wrong = subprocess.run([*command, "v99.0.0"], capture_output=True, text=True, check=False)
    right = subprocess.run([*command, f"v{__version__}"], capture_output=True, check=False)

    assert (wrong.returncode, right.returncode) == (1, 0)
    assert [line.split(" ")[0] for line in wrong.stderr.splitlines()] == places


def test_the_changelog_has_notes_for_this_version() -> None:
    """They are what a release says; another version's are not among them."""
    notes = release.notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), __version__)
    two = "# Changelog\n\n## [0.2.0] - 2027-01-01\n\nnew\n\n## [0.1.0] - 2026-12-01\n\nold\n"

    assert notes
    assert release.notes(two, "0.2.0") == "new"
    assert release.notes(two, "0.1.0") == "old"
    assert release.notes(two, "0.1") == ""


def test_the_notes_of_a_release_link_to_the_files_of_its_tag() -> None:
    """The page of a release has no folder that a link could start from."""
    text = "[a](docs/a.md#b) [b](https://example.org/x) [c](#c)"

    assert release.with_whole_links(text, "v0.1.0") == (
        f"[a]({release.REPOSITORY}/blob/v0.1.0/docs/a.md#b) [b](https://example.org/x) [c](#c)"
    )
    assert f'"{release.REPOSITORY}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_hooks_for_other_repositories_run_commands_of_ours() -> None:
    hooks = _yaml(ROOT / ".pre-commit-hooks.yaml")

    assert len(hooks) == 2
    for hook in hooks:
        program, command, *_ = shlex.split(hook["entry"])
        assert program == "git-mem"
        assert command in COMMANDS


def test_the_navigation_of_the_site_has_every_page_once() -> None:
    """The index of the documents names each page, or the folder that it is in."""
    docs = ROOT / "docs"
    names = docs_site.pages(docs)
    index = (docs / docs_site.INDEX).read_text(encoding="utf-8")

    assert sorted(docs_site.leaves(docs_site.navigation(index, names))) == names


def test_a_page_that_the_index_does_not_name_is_missed() -> None:
    index = "# Index\n\n## Use\n\n- [A](a.md)\n- [More](more/README.md): [B](more/b.md)\n"
    names = ["README.md", "a.md", "lost.md", "more/README.md", "more/b.md", "more/c.md"]

    assert docs_site.navigation(index, names) == [
        {"Overview": "README.md"},
        {"Use": [{"A": "a.md"}, {"More": ["more/README.md", "more/c.md"]}, {"B": "more/b.md"}]},
    ]


def test_a_link_out_of_the_documents_leads_to_the_repository() -> None:
    """Links between pages stay as they are."""
    text = "[x](../README.md#start) [y](../docs/a.md) [z](a.md)"

    assert docs_site.to_repository(text, "b.md", "https://example.org") == (
        "[x](https://example.org/README.md#start) [y](../docs/a.md) [z](a.md)"
    )
    assert docs_site.to_repository("[x](../../LICENSE)", "more/b.md", "R") == "[x](R/LICENSE)"
    assert docs_site.to_repository("[x](../a.md)", "more/b.md", "R") == "[x](../a.md)"


def test_the_site_asks_no_other_server() -> None:
    """No fonts from elsewhere, and no picture in a page that is not a file of ours."""
    site = _yaml(ROOT / "mkdocs.yml")
    remote = [
        path.name
        for path in (ROOT / "docs").rglob("*.md")
        if re.search(r"!\[[^\]]*\]\(https?:|<img[^>]+src=.https?:", path.read_text("utf-8"))
    ]

    assert site["theme"]["font"] is False
    assert "repo_url" not in site  # the theme would ask the host for its stars
    assert remote == []


def _rows() -> list[tuple[str, list[str], list[str]]]:
    """Return (behaviour, files, names) of the table of the architecture's page."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.partition("\n## Where is what\n")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return [
        (row[0], re.findall(r"`([^`]+)`", row[1]), re.findall(r"`([^`]+)`", row[2]))
        for row in rows[1:]
        if len(row) == 3
    ]


def test_the_table_of_the_architecture_names_what_is_there() -> None:
    """Each path exists, and each name is defined in one of the row's files."""
    rows = _rows()
    missing = []
    for behaviour, files, names in rows:
        base = (ROOT / files[0]).parent
        paths = [ROOT / name if "/" in name else base / name for name in files]
        missing += [f"{behaviour}: {path}" for path in paths if not path.exists()]
        text = "\n".join(path.read_text("utf-8") for path in paths if path.suffix == ".py")
        text += "\n".join(
            path.read_text("utf-8")
            for folder in paths
            if folder.is_dir()
            for path in folder.glob("*.py")
        )
        missing += [
            f"{behaviour}: {name}"
            for whole in names
            for name in whole.split(".")
            if not re.search(rf"^\s*(?:def|class) {name}\b|^{name}\b.* = ", text, re.MULTILINE)
        ]

    assert len(rows) >= 40
    assert missing == []


def test_the_page_of_the_architecture_is_short() -> None:
    lines = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").splitlines()

    assert len(lines) <= 150


def test_each_format_and_each_agent_has_its_row() -> None:
    """A page names what can be imported, and an index which agents there are, with samples of each."""
    formats = (ROOT / "docs" / "import-export.md").read_text(encoding="utf-8")
    agents = (ROOT / "docs" / "agents" / "README.md").read_text(encoding="utf-8")
    samples = ROOT / "tests" / "agents" / "samples"

    assert [name for name in BY_NAME if f"| `{name}` |" not in formats] == []
    assert [name for name in ADAPTERS if f"`{name}`" not in agents] == []
    assert [name for name in ADAPTERS if not list(samples.glob(f"{name}/*.json"))] == []


def test_no_file_names_a_registry_host() -> None:
    """A package is named, not where it is fetched from: that is each machine's own setting."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    named = []
    for name in filter(None, listed):
        path = ROOT / name
        if path.is_symlink() or not path.is_file() or name.startswith("tests/"):
            continue
        if HOSTS.search(path.read_bytes().decode("utf-8", "replace")):
            named.append(name)

    assert named == []
