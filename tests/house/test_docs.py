"""The documents agree with the program: links, commands, options, settings, messages."""

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from gitmem.agents.events import ADAPTERS
from gitmem.base import documents
from gitmem.cli.commands import COMMANDS, HIDDEN, variant_of
from gitmem.config import SETTINGS
from gitmem.records.codec import decode, encode
from gitmem.records.record import COMMON, MARKS, OWN
from gitmem.store.layout import FORMAT_BYTES
from tests.conftest import git
from tests.house.conftest import ROOT, commands, git_mem, groups, options

SKIPPED = {".git", ".venv", "node_modules", "dist", "build"}
PAGES = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not SKIPPED & set(path.relative_to(ROOT).parts[:-1])
    and not path.relative_to(ROOT).parts[0].startswith(".")
)
MAN = ROOT / "docs" / "man" / "git-mem.1"
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
# `git mem word` in running text, in examples and in transcripts; a capital is what the reader puts
# in
NAMED = re.compile(
    r"\bgit[ -]mem(?: -C [^ ]+| --no-pager| --color[ =]\w+)*[ ]+([a-z][a-z-]*)(?: ([a-z][a-z-]*))?"
)
HOOKS = {f"hook {agent}" for agent in (*ADAPTERS, "otter")}  # the agent that CONTRIBUTING.md adds
NO_COMMAND = {"lsp"}  # git-mem-lsp is a program of its own


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _anchors(text: str) -> set[str]:
    """Return the names that GitHub gives a page's headings."""
    heads = re.findall(r"^#+ +(.+?)\s*$", FENCE.sub("", text), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", head.replace("`", "").lower()).replace(" ", "-") for head in heads
    }


def _sections(text: str) -> dict[str, str]:
    """Return what stands below each `## ` heading."""
    parts = re.split(r"^## +(.+?)\s*$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_each_link_leads_somewhere(page: Path) -> None:
    """Relative links name a file that is there, and a heading that is in it."""
    text = page.read_text(encoding="utf-8")
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]+`", "", FENCE.sub("", text))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = unquote(target).partition("#")
        # what the reference begins with is written for its folder
        folder = ROOT / "docs" if page.name == "reference_intro.md" else page.parent
        file = folder / path if path else page
        if not file.exists() or (
            anchor and anchor not in _anchors(file.read_text(encoding="utf-8"))
        ):
            broken.append(target)

    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_each_command_that_is_named_exists(page: Path) -> None:
    """`git mem word` in a code span or block names a command, also where it has parts."""
    # a heading may be a message
    text = re.sub(r"^### .*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    code = [*FENCE.findall(text), *re.findall(r"`([^`\n]+)`", FENCE.sub("", text))]
    known = {*COMMANDS, *HIDDEN}
    unknown = []
    for first, second in (match for piece in code for match in NAMED.findall(piece)):
        if first not in known or (
            first in groups() and second and f"{first} {second}" not in {*commands(), *HOOKS}
        ):
            unknown.append(f"{first} {second}".strip())

    assert unknown == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_each_option_in_an_example_exists(page: Path) -> None:
    """A line of a shell block that calls git mem uses options that the command has."""
    text = page.read_text(encoding="utf-8")
    wrong = []
    for block in re.findall(r"^```(?:sh|console|bash)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            for piece in re.split(r"&&|\|\||[|;]", line.removeprefix("$ ")):
                try:
                    found = shlex.split(piece, comments=True)
                except ValueError:
                    continue
                words = (
                    found[1:]
                    if found[:1] == ["git-mem"]
                    else found[2:]
                    if found[:2] == ["git", "mem"]
                    else []
                )
                while words[:1] == ["-C"]:
                    words = words[2:]
                if not words or words[0] not in commands():
                    continue
                name = " ".join(words[:2]) if " ".join(words[:2]) in commands() else words[0]
                if variant := variant_of(words[0], words[1:]):
                    name = f"{words[0]} {variant}"
                    words.remove(variant)
                # one of its commands may be meant without its name
                if name in groups() and words[1:2] and words[1].startswith("--"):
                    name = " ".join(
                        [name, *filter(None, [getattr(commands()[name], "alone", None)])]
                    )
                wrong += [
                    f"{name} {word}"
                    for word in words
                    if word[2:]
                    and word.startswith("--")
                    and word.split("=")[0] not in options(commands()[name])
                ]

    assert wrong == []


def test_each_command_has_a_section_in_the_reference() -> None:
    """`docs/commands.md` has one section for each command, and none for another."""
    sections = _sections(_text("docs/commands.md"))

    assert {
        name.removeprefix("git mem ") for name in sections if name.startswith("git mem ")
    } == set(COMMANDS)


@pytest.mark.parametrize("name", ["docs/configuration.md", "docs/man/git-mem.1"])
def test_each_setting_is_described(name: str) -> None:
    """All keys, and none that the program does not know."""
    assert set(re.findall(r"gitmem\.([a-z]+[A-Za-z]*)\b(?!\.?[a-z]*\()", _text(name))) - {
        "json"
    } == set(SETTINGS)


def test_each_setting_has_its_default_in_the_reference() -> None:
    """The table says what the program does."""
    rows = {
        row[0]: row[2]
        for row in re.findall(
            r"^\| `gitmem\.(\w+)` \| ([^|]*) \| ([^|]*) \|",
            _text("docs/configuration.md"),
            re.MULTILINE,
        )
    }
    shown = {
        key: "empty"
        if default in ("", ())
        else f"`{str(default).lower() if isinstance(default, bool) else format(default, 'g') if isinstance(default, float) else default}`"
        for key, (_, default, _) in SETTINGS.items()
    }

    assert rows == shown


def test_each_setting_in_an_example_exists() -> None:
    """`git mem config KEY`, `git config gitmem.KEY` and `-c gitmem.KEY=` name settings."""
    named = re.compile(
        r"git mem config (?:--global |--unset )*([a-z]\w+)|git config (?:--global )?gitmem\.(\w+)"
        r"|git -c gitmem\.(\w+)="
    )
    unknown = {
        (_name(page), key)
        for page in PAGES
        for match in named.findall(page.read_text(encoding="utf-8"))
        for key in filter(None, match)
        if key not in SETTINGS
    }

    assert unknown == set()


def test_each_environment_variable_of_ours_is_described() -> None:
    """What the code reads stands in both references."""
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for root in ("gitmem", "lsp")
        for path in (ROOT / root).rglob("*.py")
    )
    read = set(re.findall(r"""env(?:iron)?(?:\.get\(|\[)["'](GITMEM[A-Z_]*)["']""", code))

    assert read
    assert read - set(re.findall(r"GITMEM[A-Z_]*", _text("docs/configuration.md"))) == set()


def test_each_message_in_the_troubleshooting_page_is_one_of_the_program() -> None:
    """A heading there is a message; the fixed part of it stands in the code, so that a search finds it."""
    # a message may be put together from adjacent strings
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for root in ("gitmem", "lsp")
        for path in (ROOT / root).rglob("*.py")
    )
    code = re.sub(r'"\s*\n?\s*f?"', "", code)
    heads = re.findall(r"^### `(.+)`$", _text("docs/troubleshooting.md"), re.MULTILINE)

    assert len(heads) >= 15
    assert [
        head
        for head in heads
        for part in re.split(r"…", head)
        if part.strip(" .'") and part.strip() not in code
    ] == []


def test_the_listener_of_the_page_on_gotchas_works(repo: Path) -> None:
    """The Python example prints what the page says, but for ids."""
    example, printed = re.findall(
        r"^```(?:python|text)\n(.*?)^```", _text("docs/gotchas.md"), re.MULTILINE | re.DOTALL
    )[-2:]
    done = subprocess.run(
        [sys.executable, "-P", "-c", example], cwd=repo, capture_output=True, text=True, check=True
    )

    def masked(text: str) -> list[str]:
        return re.sub(r"\b[0-9a-f]{40}\b|got-[0-9a-z]{26}", "*", text).splitlines()

    assert masked(done.stdout) == masked(printed)
    assert (
        git_mem("list", "--kind", "gotcha", "--resolved", "--format", "{title}", cwd=repo)
        == "sleep blocks the only worker\n"
    )


REPLACED_DECISIONS = {18, 19}  # by 24
# Words of our own for which there is a usual one; `git mem drain` and names in code do not count.
PRIVATE_WORDS = re.compile(
    r"\b(?:told|untold|attic|standing|drains?|drained|bury|buries|buried|spots?)\b", re.IGNORECASE
)


def _prose(text: str) -> str:
    """Return a page without examples, code spans, the targets of links and a command's name."""
    return re.sub(r"`[^`\n]+`|\]\([^)]*\)|\bgit mem drain\b", "", FENCE.sub("", text))


@pytest.mark.parametrize(
    "name",
    [name for name in map(_name, PAGES) if name == "README.md" or (name.startswith("docs/"))],
)
def test_a_page_uses_the_usual_words(name: str) -> None:
    """Words that only we use stay out; the format has a folder that is called attic."""
    found = {word.lower() for word in PRIVATE_WORDS.findall(_prose(_text(name)))}

    assert found - ({"attic"} if name == "docs/format.md" else set()) == set()


def test_the_index_lists_each_page() -> None:
    """`docs/README.md` links to every page, `docs/decisions/README.md` to every decision."""
    for index in ("docs/README.md", "docs/decisions/README.md"):
        folder = (ROOT / index).parent
        linked = {
            (folder / target.partition("#")[0]).resolve()
            for target in re.findall(r"\]\(([^)\s]+)\)", _text(index))
        }
        pages = set(folder.glob("*.md"))
        if folder.name == "docs":
            pages |= {*folder.glob("editors/*.md"), *folder.glob("agents/*.md")}

        assert pages - {ROOT / index} - linked == set()


def test_decisions_have_one_shape() -> None:
    """Each says its context, what was decided and what follows; a number is never used again."""
    text = "\n".join(
        path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "docs" / "decisions").glob("*.md"))
        if path.name != "README.md"
    )
    decisions = _sections(text)
    numbers = sorted(int(title.partition(".")[0]) for title in decisions)

    last = len(numbers) + len(REPLACED_DECISIONS)
    assert numbers == sorted(set(range(1, last + 1)) - REPLACED_DECISIONS)
    for title, body in decisions.items():
        parts = re.findall(r"^### +(.+?)\s*$", body, re.MULTILINE)
        assert parts == ["Context", "Decision", "Consequences"], title


def test_the_example_of_the_format_is_canonical() -> None:
    """Reading it and writing it again changes no byte."""
    (example,) = re.findall(
        r"^```\n(---\n.*?)^```", _text("docs/format.md"), re.MULTILINE | re.DOTALL
    )

    assert encode(decode(example.encode())).decode() == example


def test_the_format_lists_all_fields_in_their_order() -> None:
    """For each kind, the canonical order of its front matter."""
    text = _text("docs/format.md")
    rows = dict(re.findall(r"^\| (\w+) \| (`.*) \|$", text, re.MULTILINE))
    (common,) = re.findall(r"^All kinds: (.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    (marks,) = re.findall(r"^All kinds end with (.*?)\n\n", text, re.MULTILINE | re.DOTALL)

    assert {kind: re.findall(r"`(\w+)`", row) for kind, row in rows.items()} == {
        kind: [key for key, _ in own] for kind, own in OWN.items()
    }
    assert ["id", "kind", *re.findall(r"`(\w+)`", common)] == [key for key, _ in COMMON]
    assert re.findall(r"`(\w+)`", marks) == [key for key, _ in MARKS]


def test_the_first_commit_can_be_made_from_the_description(repo: Path) -> None:
    """Plain git, told what docs/format.md says, makes the same commit as git mem."""
    git_mem("init", "--no-remote", cwd=repo)
    blob = git(repo, "hash-object", "-w", "--stdin", stdin=b'{"format": 1}\n')
    tree = git(repo, "mktree", stdin=f"100644 blob {blob}\tgitmem.json\n".encode())
    person = "gitmem <gitmem@localhost> 1577836800 +0000"
    body = f"tree {tree}\nauthor {person}\ncommitter {person}\n\ngitmem: init\n\nGitmem-Op: init\n"

    assert FORMAT_BYTES == b'{"format": 1}\n'
    assert git(repo, "hash-object", "-t", "commit", "--stdin", stdin=body.encode()) == git(
        repo, "rev-parse", "refs/gitmem/heads/main"
    )


def test_a_merge_commit_can_be_made_from_the_description(repo: Path, tmp_path: Path) -> None:
    """Its bytes follow from its parents and its tree."""
    git(tmp_path, "init", "-q", "--bare", "hub.git")
    hub = str(tmp_path / "hub.git")
    git(tmp_path, "clone", "-q", str(repo), "other")
    for clone, title in ((repo, "here"), (tmp_path / "other", "there")):
        git_mem("add", title, cwd=clone)
        git_mem("remote", "enable", hub, "--yes", cwd=clone)
        git_mem("sync", cwd=clone)
    merged = git(tmp_path / "other", "rev-parse", "refs/gitmem/heads/main")
    parents = git(tmp_path / "other", "rev-parse", f"{merged}^1", f"{merged}^2").split()
    latest = max(
        int(git(tmp_path / "other", "show", "-s", "--format=%ct", parent)) for parent in parents
    )
    person = f"gitmem <gitmem@localhost> {latest} +0000"
    tree = git(tmp_path / "other", "rev-parse", f"{merged}^{{tree}}")
    lines = [
        f"tree {tree}",
        *(f"parent {parent}" for parent in sorted(parents)),
        f"author {person}",
        f"committer {person}",
        "",
        "gitmem: merge",
        "",
        "Gitmem-Op: merge",
        "",
    ]

    assert (
        git(
            repo,
            "hash-object",
            "-t",
            "commit",
            "--stdin",
            stdin="\n".join(lines).encode(),
            ok=(0, 128),
        )
        == merged
    )


PAGE = re.compile(r"[\w:/.-]*docs/([\w/-]+\.md)")


def _messages(path: Path) -> list[str]:
    """Return the texts of a module that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
    ]


def test_messages_name_pages_by_their_address() -> None:
    """An installation has no docs/."""
    texts = [
        text
        for top in ("gitmem", "lsp")
        for path in (ROOT / top).rglob("*.py")
        for text in _messages(path)
    ]
    texts += [command.help or "" for command in commands().values()]
    named = [match for text in texts for match in PAGE.finditer(text)]

    assert [match[0] for match in named if match[0] != documents.page(match[1])] == []
    assert all((ROOT / "docs" / match[1]).is_file() for match in named)


def test_messages_have_plurals() -> None:
    """A number and its noun agree: text.plural writes both."""
    for top in ("gitmem", "lsp"):
        for path in (ROOT / top).rglob("*.py"):
            assert [text for text in _messages(path) if re.search(r"[a-z]\(s\)", text)] == [], path


def test_the_address_is_that_of_the_project() -> None:
    assert f'Documentation = "{documents.ADDRESS}/' in _text("pyproject.toml")


def test_pages_that_messages_name_exist() -> None:
    sources = [path.read_text() for top in ("gitmem", "lsp") for path in (ROOT / top).rglob("*.py")]
    pages = {
        name for text in sources for name in re.findall(r"documents\.page\([\"'](.+?)[\"']", text)
    }

    assert pages
    assert [name for name in pages if not (ROOT / "docs" / name).is_file()] == []
