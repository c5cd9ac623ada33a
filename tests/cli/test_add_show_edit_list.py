"""Commands that write and read single records: add, show, edit, list."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import DAY, PRIVATE, Mem, commits, on_terminal, tip
from tests.conftest import git
from tests.fact_samples import session_record

# -- add


def test_long_titles_are_cut_where_people_read_them(mem: Mem) -> None:
    """In messages and on a terminal; whole in a pipe and in JSON."""
    title = "word " * 50 + "end"
    done = mem("add", title)
    assert len(done.out) < 150 and done.out.endswith("…\n")
    assert title in mem("list").out and mem.titles() == [title]
    assert "word word…" in on_terminal(mem.folder, "--no-pager", "list").replace("\n", "")


def test_add_writes_one_commit(mem: Mem) -> None:
    """One add is one commit on the store's ref, after the store's beginning."""
    done = mem(
        "add", "Use SERIALIZABLE for payments", "-m", "Two runs lost updates.", "-t", "decision"
    )

    assert done.out.startswith("remembered ")
    assert done.out.endswith("Use SERIALIZABLE for payments\n")
    assert done.err == ""
    assert commits(mem.folder) == 2


def test_add_keeps_every_field(mem: Mem) -> None:
    """What was given by flags is what is shown."""
    id = mem.add(
        "T",
        "-m",
        "first",
        "-m",
        "second",
        "-t",
        "rule",
        "-i",
        "8.5",
        "--tag",
        "b,a",
        "--tag",
        "c",
        "--project",
        "P",
        "--agent",
        "dev",
        "--session",
        "S1",
    )

    row = mem.show(id)
    wanted = {
        "title": "T",
        "body": "first\n\nsecond\n",
        "type": "rule",
        "importance": 8.5,
        "tags": ["a", "b", "c"],
        "project": "P",
        "agent": "dev",
        "session": "S1",
    }
    assert {k: row[k] for k in wanted} == wanted
    assert row["id"] == id


def test_add_a_gotcha(mem: Mem) -> None:
    """A gotcha has its own fields and its first and last sighting."""
    id = mem.add(
        "pytest hangs",
        "-k",
        "gotcha",
        "--severity",
        "critical",
        "--category",
        "test",
        "--workaround",
        "-p no:cacheprovider",
    )

    row = mem.show(id)
    assert id.startswith("got-")
    assert (row["severity"], row["category"], row["workaround"], row["occurrences"]) == (
        "critical",
        "test",
        "-p no:cacheprovider",
        1,
    )
    assert row["first_seen"] == row["last_seen"]


@pytest.mark.parametrize(
    ("typed", "prefix"),
    [
        ("memory", "mem-"),
        ("gotchas", "got-"),
        ("Gotcha", "got-"),
        ("event", "evt-"),
        ("sessions", "ses-"),
        ("snapshot", "snp-"),
    ],
)
def test_add_takes_kinds_by_any_name(mem: Mem, typed: str, prefix: str) -> None:
    """A kind may be typed in plural or capitals."""
    assert mem.add("T", "-k", typed)[:4] == prefix


@pytest.mark.parametrize(
    "flags",
    [
        ["-k", "gotcha", "--importance", "3"],
        ["--severity", "critical"],
        ["-k", "gotcha", "-t", "rule"],
        ["-k", "event", "--workaround", "x"],
    ],
)
def test_add_refuses_fields_of_another_kind(mem: Mem, flags: list[str]) -> None:
    """A field that the kind does not have is wrong usage, and nothing is written."""
    mem("add", "T", *flags, code=2)

    assert tip(mem.folder) == ""


def test_add_reads_stdin(mem: Mem) -> None:
    """`-m -` takes the text from a pipe."""
    id = mem("add", "T", "-m", "-", "--json", stdin="über\nzwei\n".encode()).json["id"]

    assert mem.show(id)["body"] == "über\nzwei\n"


def test_add_reads_a_file(mem: Mem) -> None:
    """`-F` takes the text from a file."""
    (mem.folder / "note.md").write_text("from a file\n")

    assert mem.show(mem.add("T", "-F", "note.md"))["body"] == "from a file\n"


@pytest.mark.parametrize(
    "title", ["\u200b", "\u202e\u202c", "\u3164", "\u2800", "\xad", "\ufe0f \u200d", "\U000e0041"]
)
def test_a_title_has_something_to_see(mem: Mem, title: str) -> None:
    """Zero-width and bidi marks alone are none: `add`, `edit` and `supersede` refuse them."""
    id = mem.add("Deploys happen on Fridays")
    for command in (
        ("add", title),
        ("add", "-k", "gotcha", title),
        ("gotcha", "add", title),
        ("edit", id, "--title", title),
        ("supersede", id, title),
    ):
        done = mem(*command, code=1)
        assert "the title has no visible character" in done.err, command
        assert done.out == ""
    assert mem.titles() == ["Deploys happen on Fridays"]
    mem("edit", id, "--title", f"{title}Seen")
    assert mem.titles()[0].endswith("Seen")


def test_add_joins_title_words(mem: Mem) -> None:
    """A title need not be quoted."""
    mem("add", "three", "plain", "words")

    assert mem.titles() == ["three plain words"]


def test_add_without_title_opens_the_editor(
    mem: Mem, editor: Callable[[str], dict[str, str]]
) -> None:
    """The first line is the title, the rest the text; the help at the end is left out."""
    on_terminal(mem.folder, "add", env=editor("text = '# Title\\n\\nBody\\n\\n' + text"))

    (row,) = mem("list", "--json").json
    assert (row["title"], mem.show(row["id"])["body"]) == ("Title", "Body\n")


def test_add_with_an_empty_title_saves_nothing(
    mem: Mem, editor: Callable[[str], dict[str, str]]
) -> None:
    """An editor that is closed without a word writes nothing and says so."""
    said = on_terminal(mem.folder, "add", env=editor("pass"), code=1)

    assert "nothing was saved" in said
    assert tip(mem.folder) == ""


def test_add_without_title_and_terminal_is_wrong_usage(mem: Mem) -> None:
    """No editor is opened where nobody sits."""
    assert "give a title" in mem("add", "-m", "text", code=2).err
    assert "give a title" in mem("add", "   ", code=2).err
    assert tip(mem.folder) == ""


def test_a_date_that_has_passed_is_remarked_on(mem: Mem) -> None:
    """A day ends with it; the fact is stored, and only --all lists it."""
    id = mem.add("T", "--expires", "2020-01-01")
    assert "it expired on 2020-01-01" in mem("edit", id, "-i", "9").err
    today = mem.add("U", "--expires", time.strftime("%Y-%m-%d", time.gmtime()))
    assert mem("edit", today, "-i", "9").err == ""
    assert mem.titles() == ["U"] and sorted(mem.titles("--all")) == ["T", "U"]


def test_add_masks_secrets_and_names_them(mem: Mem) -> None:
    """A secret is replaced before a blob exists, and stderr says which and where."""
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    done = mem("add", "Deploy key", "-m", f"line\ntoken is {token}")

    assert "masked a secret" in done.err
    assert "line 2" in done.err
    assert "allow it: git mem config allowSecret REGEX" in done.err
    assert token not in done.out + done.err
    assert token not in mem("list", "--json").out + mem("log", "-p").out
    objects = git(mem.folder, "cat-file", "--batch", "--batch-all-objects", "--unordered")
    assert "token is" in objects
    assert token not in objects


def test_add_keeps_an_allowed_value(mem: Mem) -> None:
    """A value that the settings call harmless stays."""
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    mem("config", "allowSecret", "ghp_16C7.*")
    done = mem("add", "T", "-m", f"token is {token}", "--json")

    assert done.err == ""
    assert token in mem.show(done.json["id"])["body"]


def test_add_anchors_the_code(mem: Mem) -> None:
    """An anchor holds the path from the root, the lines, the blob and the commit."""
    sub = mem.folder / "sub"
    sub.mkdir()
    (sub / "a.py").write_text("def one():\n    return 1\n\n\ndef two():\n    return 2\n")
    id = mem.at(sub).add(
        "T", "--anchor", "a.py:5-6", "--anchor", "code.py", "--anchor", "src/**/*.py"
    )

    anchors = {a.get("path") or a["glob"]: a for a in mem.show(id)["anchors"]}
    assert set(anchors) == {"sub/a.py", "code.py", "src/**/*.py"}
    assert anchors["sub/a.py"]["lines"] == [5, 6]
    assert anchors["sub/a.py"]["blob"] == git(mem.folder, "hash-object", "sub/a.py")
    assert anchors["code.py"]["commit"] == git(mem.folder, "rev-parse", "HEAD")
    assert "sub/a.py:5-6" in mem("show", id).out


@pytest.mark.parametrize(
    "spec",
    [
        "nothing.py",
        "code.py:9-10",
        "code.py:0",
        "code.py:3-1",
        "../code.py",
        "/etc/passwd",
        ".git/config",
    ],
)
def test_add_refuses_an_anchor_to_nowhere(mem: Mem, spec: str) -> None:
    """A place that is not in the repository's code cannot be anchored."""
    mem("add", "T", "--anchor", spec, code=1)

    assert tip(mem.folder) == ""


def test_add_links_to_what_is_there(mem: Mem) -> None:
    """`--link` takes a cut id and keeps the full one; an unknown one is refused."""
    one = mem.add("one")
    two = mem.add("two", "--link", one[-8:])

    assert mem.show(two)["links"] == [one]
    mem("add", "three", "--link", "zzzzzzzz", code=1)
    assert mem.titles() == ["two", "one"]


def test_add_to_the_private_store(mem: Mem) -> None:
    """A private memory is on a ref of its own and marked as such."""
    done = mem("add", "mine", "--private")

    assert done.out.endswith("in your private store\n")
    assert tip(mem.folder) == ""
    assert tip(mem.folder, PRIVATE)
    assert mem("list", "--json").json[0]["store"] == "private"
    assert mem.titles("--shared") == []


def test_add_to_the_user_store(mem: Mem, make_repo: Callable[..., Path]) -> None:
    """A user's memory is seen from another repository, and outside of any."""
    mem("add", "everywhere", "--user")
    elsewhere = mem.at(make_repo("plain"))
    nowhere = mem.at(make_repo("plain").parent)

    assert elsewhere.titles() == ["everywhere"]
    assert elsewhere("list", "--json").json[0]["store"] == "user"
    assert nowhere.titles() == ["everywhere"]
    assert elsewhere("search", "everywhere", "--json").json[0]["title"] == "everywhere"
    assert tip(mem.folder) == tip(elsewhere.folder) == ""


def test_add_outside_of_a_repository_to_the_user_store(mem: Mem, tmp_path: Path) -> None:
    """`--user` needs no repository."""
    nowhere = mem.at(tmp_path)
    id = nowhere.add("everywhere", "--user")

    assert nowhere.show(id)["title"] == "everywhere"
    nowhere("add", "here", code=1)


# -- show


def test_show_is_a_card(mem: Mem) -> None:
    """What a person needs is on the card: id, title, kind, author, date, tags, text."""
    git(mem.folder, "config", "user.name", "Grace")
    git(mem.folder, "config", "user.email", "grace@example.org")
    id = mem.add("Title here", "-m", "The text.", "--tag", "x", "-t", "rule")

    out = mem("show", id).out
    for part in (
        id,
        "Title:        Title here",
        "memory, rule",
        "Grace <grace@example.org>",
        "just now",
        "Tags:         x",
        "    The text.",
    ):
        assert part in out


@pytest.mark.parametrize(
    "cut",
    [
        slice(None),
        slice(-8, None),
        slice(-4, None),
        slice(0, 24),
        slice(4, 24),
        slice(-8, -2),
        slice(-8, -4),
    ],
)
def test_show_takes_a_cut_id(mem: Mem, cut: slice) -> None:
    """A unique beginning, with or without the kind, or end of an id is enough; capitals do not matter.

    So is a beginning of the end that lists show.
    """
    id = mem.add("T")

    assert mem.show(id[cut])["id"] == id
    assert mem.show(id[cut].upper())["id"] == id
    mem("forget", "--purge", id[cut], "--yes")
    mem("show", id, code=1)


def test_three_characters_are_no_id(mem: Mem) -> None:
    id = mem.add("T")
    assert f"'{id[-3:]}' is too short for an id" in mem("show", id[-3:], code=1).err


def test_show_several(mem: Mem) -> None:
    """Several ids are shown in their order; as JSON they are a list."""
    one, two = mem.add("one"), mem.add("two")

    assert [row["title"] for row in mem("show", two, one, "--json").json] == ["two", "one"]
    out = mem("show", two, one).out
    assert out.index("two") < out.index("one")


def test_show_raw_is_the_stored_file(mem: Mem) -> None:
    """`--raw` gives the bytes that git has."""
    id = mem.add("T", "-m", "text")

    assert mem("show", id, "--raw").out.strip() == git(
        mem.folder, "show", f"refs/gitmem/heads/main:memories/{id[-2:]}/{id}.md"
    )


def test_show_by_format(mem: Mem) -> None:
    """`--format` names any field; one that there is not is refused, with those that there are."""
    id = mem.add("T", "--tag", "a", "--tag", "b")

    assert mem("show", id, "--format", r"{id}\t{title}\t{tags}|").out == f"{id}\tT\ta, b|\n"
    assert "there is no field 'nonsense'" in mem("show", id, "--format", "{nonsense}", code=2).err


def test_show_counts_reads(mem: Mem) -> None:
    """A read is counted, and is never a commit."""
    id = mem.add("T")
    before = tip(mem.folder)
    for _ in range(3):
        mem("show", id)

    row = mem.show(id)
    assert row["access_count"] == 3
    assert row["accessed"]
    assert tip(mem.folder) == before


def test_show_never_obeys_the_text(mem: Mem) -> None:
    """Terminal control and marks that reorder text are made visible."""
    id = mem.add("T\u202eevil", "-m", "\033[31mred\033]0;title\007 \u2066x")

    for done in (mem("show", id), mem("list"), mem("show", id, "--format", "{title} {body}")):
        assert not {"\033", "\007", "\u202e", "\u2066"} & set(done.out)
    assert "\\u202eevil" in mem("list").out


# -- edit


def test_edit_by_flags(mem: Mem) -> None:
    """Flags change what they name and leave the rest; one commit, a higher revision."""
    id = mem.add("old", "-m", "text", "--tag", "a", "--tag", "b", "-i", "3")
    before = commits(mem.folder)
    done = mem("edit", id[-8:], "--title", "new", "-i", "9", "--tag", "c", "--untag", "a")

    row = mem.show(id)
    assert done.out.startswith("changed ")
    assert (row["title"], row["importance"], row["tags"], row["body"], row["rev"]) == (
        "new",
        9,
        ["b", "c"],
        "text\n",
        2,
    )
    assert commits(mem.folder) == before + 1


def test_edit_to_the_same_writes_nothing(mem: Mem) -> None:
    """A change that changes nothing is not a commit."""
    id = mem.add("T", "-i", "3")
    before = tip(mem.folder)

    assert "nothing changed" in mem("edit", id, "-i", "3").out
    assert tip(mem.folder) == before


def test_edit_in_the_editor(mem: Mem, editor: Callable[[str], dict[str, str]]) -> None:
    """Without flags the whole file is edited."""
    id = mem.add("old title", "-m", "old text")
    mem("edit", id, env=editor("text = text.replace('old', 'new')"))

    row = mem.show(id)
    assert (row["title"], row["body"]) == ("new title", "new text\n")


def test_edit_that_breaks_the_file_changes_nothing(
    mem: Mem, editor: Callable[[str], dict[str, str]]
) -> None:
    """A file that is not a record any more, or another one, is refused."""
    id = mem.add("T")
    before = tip(mem.folder)
    for statement in (
        "text = 'nonsense'",
        "text = text.replace(text.split('id: ')[1][:8], 'mem-01jz')",
        "text = text.replace('kind: memory', 'kind: nonsense')",
    ):
        mem("edit", id, env=editor(statement), code=1)

    assert tip(mem.folder) == before


def test_edit_with_a_failing_editor_changes_nothing(mem: Mem) -> None:
    """An editor that ends with an error is a clear error."""
    id = mem.add("T")
    before = tip(mem.folder)

    mem("edit", id, env={"EDITOR": "false", "VISUAL": "false"}, code=1)
    assert tip(mem.folder) == before


def test_edit_merges_what_happened_meanwhile(
    mem: Mem, editor: Callable[[str], dict[str, str]]
) -> None:
    """A change made while the editor was open is kept beside one's own."""
    id = mem.add("T", "-m", "first\n\nmiddle\n\nlast")
    meanwhile = f"import subprocess\nsubprocess.run([{sys.executable!r}, '-P', '-m', 'gitmem', 'edit', '{id}', '--tag', 'theirs'], check=True, stdout=subprocess.DEVNULL)"
    mem("edit", id, env=editor(f"{meanwhile}\ntext = text.replace('last', 'mine')"))

    row = mem.show(id)
    assert (row["tags"], row["body"]) == (["theirs"], "first\n\nmiddle\n\nmine\n")


def test_edit_masks_secrets(mem: Mem) -> None:
    """A secret that an edit brings in is masked too."""
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    id = mem.add("T")
    done = mem("edit", id, "-m", f"now {token}")

    assert "masked a secret" in done.err
    assert token not in mem("show", id).out


def test_edit_unanchor(mem: Mem) -> None:
    """Anchors can be taken away and replaced."""
    id = mem.add("T", "--anchor", "code.py")
    mem("edit", id, "--unanchor", "--anchor", "*.md")
    assert mem.show(id)["anchors"] == [{"glob": "*.md"}]

    mem("edit", id, "--unanchor")
    assert "anchors" not in mem.show(id)


# -- list


@pytest.fixture
def stocked(mem: Mem) -> Mem:
    """A store with a few records of each sort, a minute apart."""
    mem("add", "decision one", "-t", "decision", "--tag", "a", "-i", "2", ago=300)
    mem(
        "add",
        "rule two",
        "-t",
        "rule",
        "--tag",
        "a",
        "--tag",
        "b",
        "-i",
        "9",
        "--agent",
        "dev",
        ago=240,
    )
    mem(
        "add",
        "gotcha three",
        "-k",
        "gotcha",
        "--severity",
        "critical",
        "--anchor",
        "code.py",
        ago=180,
    )
    mem("add", "private four", "--private", ago=120)
    mem("archive", mem.add("archived five", ago=60))
    return mem


@pytest.mark.parametrize(
    ("flags", "titles"),
    [
        ([], ["private four", "gotcha three", "rule two", "decision one"]),
        (["--all"], ["archived five", "private four", "gotcha three", "rule two", "decision one"]),
        (["--status", "archived"], ["archived five"]),
        (["-k", "gotcha"], ["gotcha three"]),
        (["-k", "gotchas", "--unresolved"], ["gotcha three"]),
        (["-k", "gotcha", "--resolved"], []),
        (["-t", "rule", "-t", "decision"], ["rule two", "decision one"]),
        (["--tag", "a"], ["rule two", "decision one"]),
        (["--tag", "a", "--tag", "b"], ["rule two"]),
        (["--agent", "qa"], ["private four", "gotcha three", "decision one"]),
        (["--agent", "dev", "--tag", "b"], ["rule two"]),
        (["--agent", "global", "--tag", "a"], ["decision one"]),
        (["--file", "code.py"], ["gotcha three"]),
        (["--private"], ["private four"]),
        (["--shared", "-n", "1"], ["gotcha three"]),
        (["-n", "0"], []),
        (["--sort", "title", "-n", "2"], ["decision one", "gotcha three"]),
        (["--sort", "importance", "-n", "1"], ["rule two"]),
        (["--sort", "severity", "-n", "1"], ["gotcha three"]),
        (["--until", "yesterday"], []),
        (["--since", "yesterday", "--tag", "b"], ["rule two"]),
        (["--conflicts"], []),
    ],
)
def test_list_filters(stocked: Mem, flags: list[str], titles: list[str]) -> None:
    """Each filter keeps what it names, newest first unless told otherwise."""
    assert stocked.titles(*flags) == titles


def test_list_lines(stocked: Mem) -> None:
    """One line each: short id, date, kind, title, marks; by format what was asked for."""
    out = stocked("list", "--all").out.splitlines()

    assert [line.split("  ")[-1].strip()[-4:] for line in out[2:]] == ["hree", " two", " one"]
    assert out[0].endswith("archived five (archived)")
    assert out[1].endswith("private four (private)")
    assert "gotcha/critical" in out[2]
    assert stocked("list", "-t", "rule", "--format", r"{type}\t{title}").out == "rule\trule two\n"


def test_list_of_nothing(mem: Mem) -> None:
    """An empty list is not an error; the remark is not in the data."""
    done = mem("list")

    assert done.out == ""
    assert "nothing to list" in done.err
    assert mem("list", "--json").json == []


def test_list_counts_what_it_hides_by_its_filters(mem: Mem) -> None:
    """Records of sessions that a filter leaves out anyway are not counted."""
    session_record(mem.folder, "s1", "Work of old", at=time.time() - 9 * DAY)
    session_record(mem.folder, "s2", "Work of today", at=time.time())
    hint = "records and snapshots of sessions are not shown: add -k session"
    assert f"2 {hint}" in mem("list").err
    hidden = mem("list", "--since", "2 days ago").err
    assert "1 record or snapshot of sessions is not shown: add -k session" in hidden
    assert "not shown" not in mem("list", "--shared").err
    more = mem("list", "--since", "2 days ago", "-k", "session", "-k", "snapshot").out
    assert ("Work of today" in more, "Work of old" in more) == (True, False)


def test_list_takes_files_from_where_one_is(stocked: Mem) -> None:
    """A path is meant from the current folder."""
    sub = stocked.folder / "sub"
    sub.mkdir()

    assert stocked.at(sub).titles("--file", "../code.py") == ["gotcha three"]
    assert stocked.at(sub).titles("--file", "code.py") == []


def test_dash_c_is_as_if_started_there(mem: Mem, tmp_path: Path) -> None:
    """`-C DIR` works as in git, also for paths that a command takes."""
    sub = mem.folder / "sub"
    sub.mkdir()
    (sub / "a.py").write_text("x = 1\n")
    (sub / "note.txt").write_text("note\n")
    done = mem.at(tmp_path)(
        "-C", str(sub), "add", "T", "--anchor", "a.py", "-F", "note.txt", "--json"
    )

    assert done.json["anchors"][0]["path"] == "sub/a.py"
    assert mem.show(done.json["id"])["body"] == "note\n"
    assert [
        r["title"]
        for r in mem.at(tmp_path)("-C", str(sub), "list", "--file", "a.py", "--json").json
    ] == ["T"]
