"""Commands about the past: log, diff, graph, and reading as of a date."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.cli.conftest import DAY, SHARED, Mem, tip
from tests.conftest import git

# -- log


def test_log_shows_commits_newest_first(mem: Mem) -> None:
    """Each commit with its id, author, date and subject; `--reverse` and `-n` as in git."""
    one = mem.add("first")
    mem("add", "second")

    out = mem("log").out
    assert out.startswith(f"commit {tip(mem.folder)}\nAuthor: ")
    assert out.index("second") < out.index("first")
    assert one in out
    assert len(mem("log", "--oneline").out.splitlines()) == 3
    assert len(mem("log", "--oneline", "-n", "1").out.splitlines()) == 1
    assert (
        mem("log", "--oneline", "--reverse").out.splitlines()
        == mem("log", "--oneline").out.splitlines()[::-1]
    )
    assert (
        mem("log", "--format", "{commit} {operation}").out.splitlines()[0]
        == f"{tip(mem.folder)} add"
    )


def test_log_is_what_git_log_says(mem: Mem) -> None:
    """Plain git reads the same history: subject and trailers."""
    id = mem.add("first", "--agent", "dev", "--session", "S1")
    body = git(mem.folder, "log", "-1", "--format=%B", SHARED)

    assert body.splitlines()[0] == f'memory: add {id} "first"'
    assert {"Gitmem-Op: add", f"Gitmem-Id: {id}", "Gitmem-Agent: dev", "Gitmem-Session: S1"} <= set(
        body.splitlines()
    )
    row = mem("log", "--json").json[0]
    assert (row["operation"], row["ids"], row["agent"], row["session"]) == (
        "add",
        [id],
        "dev",
        "S1",
    )


def test_log_patch(mem: Mem) -> None:
    """`-p` shows what each commit changed."""
    id = mem.add("old title")
    mem("edit", id, "--title", "new title")

    out = mem("log", id, "-p").out
    assert "-# old title" in out
    assert "+# new title" in out
    assert f"+++ b/memories/{id[-2:]}/{id}.md" in out
    assert "--- /dev/null" in out


def test_log_of_one_record(mem: Mem) -> None:
    """With an id, only the commits that changed it; also when it is there no more."""
    one, _ = mem.add("first"), mem.add("second")
    mem("edit", one[-8:], "--tag", "x")
    mem("pin", one)
    ops = [row["operation"] for row in mem("log", one[-8:], "--json").json]
    assert ops == ["pin", "edit", "add"]

    mem("forget", one)
    rows = mem("log", one[-8:], "--json").json
    assert [row["operation"] for row in rows] == ["forget", "pin", "edit", "add"]
    assert rows[0]["changes"] == [{"id": one, "change": "removed"}]
    assert rows[-1]["changes"] == [{"id": one, "change": "added"}]


def test_log_follows_the_chain(mem: Mem) -> None:
    """The life of a record includes what it superseded and what superseded it, from any of them."""
    one = mem.add("version one")
    two = mem("supersede", one, "version two", "--json").json["id"]
    three = mem("supersede", two, "version three", "--json").json["id"]
    mem("add", "something else")

    for id in (one, two, three):
        out = mem("log", id).out
        assert out.startswith(f"chain {one[-8:]} → {two[-8:]} → {three[-8:]}\n")
        assert "something else" not in out
        assert [row["operation"] for row in mem("log", id, "--json").json] == [
            "supersede",
            "supersede",
            "add",
        ]
    assert "fork" not in out


def test_log_shows_forks(mem: Mem) -> None:
    """Two successors of one memory are a fork, shown with the way to settle it."""
    one = mem.add("one")
    left = mem("supersede", one, "left", "--json").json["id"]
    right = mem("supersede", one, "right", "--json").json["id"]

    out = mem("log", one).out
    assert f"fork: {one[-8:]} has 2 successors: " in out
    assert left[-8:] in out
    assert right[-8:] in out

    mem("supersede", left, right)
    assert mem.titles() == ["right"]


def test_a_second_successor_is_remarked_on(mem: Mem) -> None:
    """With the other successor, and the way to settle it; the first and a repeated one say nothing."""
    one = mem.add("one")
    first = mem("supersede", one, "left", "--json")
    left = first.json["id"]
    assert first.err == "" and mem("supersede", one, left).err == ""
    done = mem("supersede", one, "right", "--json")
    right = done.json["id"]
    assert f"{one[-8:]} is superseded by {left[-8:]} and {right[-8:]}" in done.err
    assert f"git mem supersede {left[-8:]} {right[-8:]}" in done.err


@pytest.mark.parametrize("text", ["zzzzzzzz", "zz"])
def test_log_of_what_is_neither_a_record_nor_a_revision(mem: Mem, text: str) -> None:
    """It says both, and names the commands that find either."""
    mem.add("one")
    said = json.loads(mem("log", text, "--json", code=1).err)
    assert said["code"] == "unknown-id"
    assert said["message"] == (
        f"no record matches '{text}', and it is not a revision of the store."
    )
    assert "git mem search" in said["hint"] and "@~2" in said["hint"]


def test_a_new_store_has_no_date(mem: Mem) -> None:
    """The beginning of every store is the same commit, of no date that matters."""
    id = mem.add("one", "--private")
    mem("undo")
    assert "ago)" not in mem("status").out and "empty" in mem("status").out
    mem("restore", id)
    assert "1 memory  (" in mem("status").out


def test_log_of_the_private_store(mem: Mem) -> None:
    """Each store has its own history."""
    id = mem.add("mine", "--private")
    mem("add", "ours")

    assert [
        row["ids"] for row in mem("log", "--private", "--json").json if row["operation"] == "add"
    ] == [[id]]
    assert [row["ids"] for row in mem("log", id, "--json").json] == [[id]]
    assert id not in mem("log").out


def test_log_from_a_revision(mem: Mem) -> None:
    """A revision is where the log begins."""
    mem("add", "first")
    mem("add", "second")

    assert len(mem("log", "@~1", "--json").json) == 2
    assert mem("log", "@~1", "--json").json == mem("log", "--json").json[1:]


def test_log_of_an_empty_store(mem: Mem) -> None:
    """Nothing to show is not an error."""
    done = mem("log")

    assert done.out == ""
    assert "the store is empty" in done.err
    assert mem("log", "--json").json == []


# -- the past


@pytest.fixture
def grown(mem: Mem) -> tuple[Mem, str]:
    """A store with a memory of three days ago, edited now, and one of now."""
    id = mem.add("old title", "-m", "old text", ago=3 * DAY)
    mem("add", "forgotten later", ago=3 * DAY - 60)
    mem("edit", id, "--title", "new title", "-m", "new text")
    mem("forget", mem("list", "--json").json[0]["id"])
    mem("add", "brand new")
    return mem, id


@pytest.mark.parametrize("when", ["@{yesterday}", "@{2 days ago}", "@{1.day.ago}", "@~3", "@{3}"])
def test_show_as_it_was(grown: tuple[Mem, str], when: str) -> None:
    """`ID@{at}` and `ID@~n` show a record as the store had it then."""
    mem, id = grown

    for text in (id, id[-8:]):
        row = mem("show", text + when, "--json").json[0]
        assert (row["title"], row["body"]) == ("old title", "old text\n")
    assert mem.show(id)["title"] == "new title"


def test_show_at(grown: tuple[Mem, str]) -> None:
    """`--at` takes a date, a revision or a commit."""
    mem, id = grown
    commit = git(mem.folder, "rev-parse", f"{SHARED}~3")

    for at in ("yesterday", "2 days ago", "@~3", commit, commit[:10], "@{yesterday}"):
        assert mem("show", id, "--at", at, "--json").json[0]["title"] == "old title"


def test_show_what_is_forgotten_now(grown: tuple[Mem, str]) -> None:
    """A record that is gone today is still shown as of a day when it was there."""
    mem, _ = grown
    (gone,) = [row["id"] for row in mem("restore", "--list", "--json").json]

    mem("show", gone, code=1)
    assert mem("show", f"{gone[-8:]}@{{yesterday}}", "--json").json[0]["title"] == "forgotten later"


def test_show_before_its_time(grown: tuple[Mem, str]) -> None:
    """Before it was written a record is unknown; nonsense for a date is refused."""
    mem, id = grown

    mem("show", f"{id}@{{1 week ago}}", code=1)
    for text in ("@{gibberish}", "@{}", "@~99", "@{-1}"):
        mem("show", id + text, code=1)


@pytest.mark.parametrize("at", ["yesterday", "2 days ago", "@~3", "@{yesterday}"])
def test_list_at(grown: tuple[Mem, str], at: str) -> None:
    """The list as it was then, without what came later and with what went since."""
    mem, _ = grown

    assert mem.titles("--at", at) == ["forgotten later", "old title"]
    assert mem.titles("--at", at, "-n", "1") == ["forgotten later"]
    assert mem.titles("--at", at, "-k", "gotcha") == []


def test_list_at_says_no_to_nonsense(grown: tuple[Mem, str]) -> None:
    """A date that is none is an error, not today."""
    mem, _ = grown

    for at in ("gibberish", "@~99", "refs/heads/main", "HEAD:code.py", "--all"):
        mem("list", f"--at={at}", code=1)
    assert mem.titles("--since", "yesterday") == ["brand new"]
    mem("list", "--since", "gibberish", code=1)


def test_a_commit_of_the_code_is_no_revision_of_the_store(grown: tuple[Mem, str]) -> None:
    """The project's own commits are not taken for states of the store."""
    mem, _ = grown
    code = git(mem.folder, "rev-parse", "HEAD")

    for args in (("list", "--at", code), ("diff", code, "@"), ("undo", code), ("log", code)):
        assert "not a revision of the store" in mem(*args, code=1).err


# -- diff


def test_diff_is_the_last_commit_by_default(grown: tuple[Mem, str]) -> None:
    """Without arguments: what the last commit did."""
    mem, _ = grown

    assert "+# brand new" in mem("diff").out
    assert [row["change"] for row in mem("diff", "--json").json] == ["added"]


@pytest.mark.parametrize(
    "args",
    [
        ["@{yesterday}"],
        ["@~3", "@"],
        ["@~3..@"],
        ["@~3.."],
        ["HEAD~3", "main"],
        ["@{2 days ago}", "@"],
    ],
)
def test_diff_between_two_states(grown: tuple[Mem, str], args: list[str]) -> None:
    """Two revisions, or one and now, by any name."""
    mem, id = grown

    records = {
        row["id"]: row
        for row in mem("diff", *args, "--json").json
        if row["store_path"].startswith("memories/")
    }
    assert sorted(row["change"] for row in records.values()) == ["added", "changed", "removed"]
    assert "# old title" in records[id]["old"]
    assert "# new title" in records[id]["new"]
    assert f"M\tmemories/{id[-2:]}/{id}.md" in mem("diff", *args, "--name-status").out.splitlines()


def test_diff_backwards(grown: tuple[Mem, str]) -> None:
    """The order of the two is the direction."""
    mem, _ = grown

    out = mem("diff", "@", "@~3").out
    assert "-# new title" in out
    assert "+# old title" in out
    assert mem("diff", "@", "@").out == ""


def test_diff_says_no(mem: Mem) -> None:
    """An empty store and unknown revisions are errors with a hint."""
    assert "the store is empty" in mem("diff", code=1).err
    mem("add", "T")
    for rev in ("nonsense", "@~99", "@{gibberish}", "deadbeefdeadbeef", "-x~", "@^{tree}"):
        mem("diff", "--", rev, code=1)


# -- graph


@pytest.fixture
def linked(mem: Mem) -> tuple[Mem, list[str]]:
    """Four records in a row: a links to b, b to c, and d supersedes c; one stands alone."""
    a, b, c = mem.add("aa", ago=240), mem.add("bb", ago=180), mem.add("cc", ago=120)
    mem("link", a, b)
    mem("link", b, c)
    d = mem("supersede", c, "dd", "--json", ago=60).json["id"]
    mem("add", "alone")
    return mem, [a, b, c, d]


def test_graph_of_the_store(linked: tuple[Mem, list[str]]) -> None:
    """All links and chains, each record once with its title."""
    mem, ids = linked
    out = mem("show", "--graph").out

    assert "links → " in out
    assert "supersedes since " in out
    assert all(id[-8:] in out for id in ids)
    assert "alone" not in out
    found = mem("show", "--graph", "--json").json
    assert {n["id"] for n in found["nodes"]} == set(ids)
    edge = {(e["source"], e["relation"], e["target"]) for e in found["edges"]}
    assert edge == {
        (ids[0], "links", ids[1]),
        (ids[1], "links", ids[2]),
        (ids[3], "supersedes", ids[2]),
    }


def test_graph_of_one_record(linked: tuple[Mem, list[str]]) -> None:
    """From one record, as many steps as asked for."""
    mem, ids = linked

    assert {
        n["id"] for n in mem("show", "--graph", ids[0], "--depth", "1", "--json").json["nodes"]
    } == set(ids[:2])
    assert {
        n["id"] for n in mem("show", "--graph", ids[0][-8:], "--depth", "2", "--json").json["nodes"]
    } == set(ids[:3])
    assert {n["id"] for n in mem("show", "--graph", ids[3], "--json").json["nodes"]} == set(ids)
    assert mem("show", "--graph", ids[3]).out.splitlines()[0].endswith("dd")


def test_graph_says_since_when(mem: Mem) -> None:
    """Each edge has its time: of the commit that made it, and not of one that changed the record later."""
    day = 86400.0
    one, two = mem.add("one", ago=9 * day), mem.add("two", ago=8 * day)
    mem("link", one, two, ago=6 * day)
    mem("edit", one, "--title", "one, anew", ago=4 * day)
    new = mem("supersede", two, "three", "--json", ago=2 * day).json["id"]
    today = datetime.now(UTC).date()
    linked, replaced = (str(today - timedelta(days=n)) for n in (6, 2))
    found = {
        (e["source"], e["target"]): str(e["created"])[:10]
        for e in mem("show", "--graph", one, "--json").json["edges"]
    }
    assert found == {(one, two): linked, (new, two): replaced}
    assert f"links since {linked} → " in mem("show", "--graph", one).out
    whole = {
        (e["source"], e["target"]): e["created"] and e["created"][:10]
        for e in mem("show", "--graph", "--json").json["edges"]
    }
    assert whole == {(one, two): None, (new, two): replaced}


def test_graph_of_the_past(mem: Mem) -> None:
    """`--at` shows the links of that time, with the titles of that time."""
    one, two = mem.add("one"), mem.add("two")
    before = git(mem.folder, "rev-parse", SHARED)
    mem("link", one, two)
    then = git(mem.folder, "rev-parse", SHARED)
    mem("edit", one, "--title", "one, anew")
    new = mem("supersede", two, "three", "--json").json["id"]
    assert mem("show", "--graph", "--at", before, "--json").json == {"nodes": [], "edges": []}
    past = mem("show", "--graph", one, "--at", then, "--json").json
    assert [(e["source"], e["relation"], e["target"]) for e in past["edges"]] == [
        (one, "links", two)
    ]
    assert {n["title"] for n in past["nodes"]} == {"one", "two"}
    assert "was not there" in mem("show", "--graph", new, "--at", then, code=1).err
    assert "not a revision" in mem("show", "--graph", "--at", "nonsense", code=1).err


def test_graph_as_dot(linked: tuple[Mem, list[str]]) -> None:
    """`--dot` is for Graphviz; quotes in a title are escaped."""
    mem, ids = linked
    mem("edit", ids[0], "--title", 'say "hi" \\')
    out = mem("show", "--graph", "--dot").out

    assert out.startswith("digraph memory {\n")
    assert out.endswith("}\n")
    assert f'"{ids[0]}" -> "{ids[1]}" [label="links"];' in out
    assert r"say \"hi\" \\" in out


def test_graph_without_links(mem: Mem) -> None:
    """No links is not an error."""
    id = mem.add("T")

    assert "no links yet" in mem("show", "--graph").err
    assert mem("show", "--graph", id, "--json").json["edges"] == []
    mem("show", "--graph", id, "--depth", "0", code=2)


def test_graph_names_what_is_missing(linked: tuple[Mem, list[str]]) -> None:
    """A link to a forgotten record is shown as such."""
    mem, ids = linked
    mem("forget", ids[1])

    nodes = mem("show", "--graph", "--json").json["nodes"]
    assert [node["id"] for node in nodes if node["missing"]] == [ids[1]]
    assert "(not here)" in mem("show", "--graph").out


def test_graph_of_what_was_only_fetched(clones: tuple[Mem, Mem]) -> None:
    """An edge that only the remote's line has is there since its commit."""
    one, two = clones
    first, second = one.add("first"), one.add("second")
    one("sync")
    two("sync")
    one("link", first, second)
    one("sync")
    git(two.folder, "fetch", "-q", "origin", f"+{SHARED}:refs/gitmem/remotes/origin/main")

    edge = {"source": first, "relation": "links", "target": second}
    edges = two("show", "--graph", first, "--at", "origin", "--json").json["edges"]
    assert [edge] == [{key: row[key] for key in edge} for row in edges]
    assert edges[0]["created"] is not None
