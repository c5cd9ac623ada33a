"""The search command: what it finds, in which order, and what it says about each hit."""

import pytest

from tests.cli.conftest import Mem


@pytest.fixture
def stocked(mem: Mem) -> Mem:
    """A store with a few records that share words."""
    mem(
        "add",
        "Use SERIALIZABLE for payments",
        "-m",
        "Two concurrent runs lost updates in the ledger.",
        "-t",
        "decision",
        "--tag",
        "database",
        ago=300,
    )
    mem(
        "add",
        "The ledger is append only",
        "-m",
        "Corrections are new rows. Payments link to them.",
        "-t",
        "rule",
        ago=240,
    )
    mem(
        "add",
        "connection refused on port 5432",
        "-k",
        "gotcha",
        "-m",
        "The database container starts late.",
        "--agent",
        "dev",
        ago=180,
    )
    mem("add", "Café menu is in Öland", "-m", "naïve", "--private", ago=120)
    mem("archive", mem.add("Payments went through a queue", ago=60))
    return mem


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (["serializable"], "Use SERIALIZABLE for payments"),
        (["payment", "isolation"], "Use SERIALIZABLE for payments"),
        (["what is the ledger"], "The ledger is append only"),
        (['"connection refused"'], "connection refused on port 5432"),
        (["conn*"], "connection refused on port 5432"),
        (["starting"], "connection refused on port 5432"),
        (["cafe"], "Café menu is in Öland"),
        (["OLAND"], "Café menu is in Öland"),
        (["database"], "Use SERIALIZABLE for payments"),
    ],
)
def test_search_finds(stocked: Mem, words: list[str], first: str) -> None:
    """Title, tags and text are searched, by stem, without accents; any word may match; the best comes first."""
    assert stocked("search", *words, "--json").json[0]["title"] == first


@pytest.mark.parametrize(
    ("flags", "found", "kept_out"),
    [
        (
            [],
            ["Use SERIALIZABLE for payments", "The ledger is append only"],
            ["Payments went through a queue"],
        ),
        (["--all"], ["Use SERIALIZABLE for payments", "Payments went through a queue"], []),
        (
            ["--all", "-t", "rule"],
            ["The ledger is append only"],
            ["Use SERIALIZABLE for payments", "Payments went through a queue"],
        ),
        (["-k", "gotcha"], [], ["Use SERIALIZABLE for payments", "The ledger is append only"]),
        (["--private"], [], ["Use SERIALIZABLE for payments", "connection refused on port 5432"]),
        (
            ["--shared"],
            ["Use SERIALIZABLE for payments", "The ledger is append only"],
            ["Café menu is in Öland"],
        ),
    ],
)
def test_search_filters(
    stocked: Mem, flags: list[str], found: list[str], kept_out: list[str]
) -> None:
    """Each filter keeps what it names."""
    titles = [row["title"] for row in stocked("search", "payments", *flags, "--json").json]

    assert set(found) <= set(titles)
    assert not set(kept_out) & set(titles)


def test_search_for_gotchas_by_what_became_of_them(mem: Mem) -> None:
    """Those that are resolved, those that are not, or all."""
    ids = [mem.add(f"The ledger is locked by {who}", "-k", "gotcha") for who in ("us", "them")]
    mem("gotcha", "resolve", ids[0])

    def found(*flags: str) -> set[str]:
        return {row["id"] for row in mem("search", "ledger", "--json", *flags).json}

    assert found("--unresolved") == {ids[1]}
    assert found("--resolved") == {ids[0]}
    assert found("--kind", "gotcha") == set(ids)


def test_search_limit(stocked: Mem) -> None:
    """`-n` is how many at most, the best ones."""
    every = stocked("search", "payments", "--json").json

    assert stocked("search", "payments", "-n", "1", "--json").json == every[:1]
    assert len(stocked("search", "payments", "-n", "2", "--json").json) == 2


def test_search_sees_what_the_agent_sees(stocked: Mem) -> None:
    """An agent sees its own namespace and the global one."""

    def found(*flags: str, agent: str = "") -> bool:
        rows = stocked("search", "refused", *flags, "--json", env={"GITMEM_AGENT": agent}).json
        return "connection refused on port 5432" in [row["title"] for row in rows]

    assert not found("--agent", "qa")
    assert found("--agent", "dev")
    assert not found(agent="qa")
    assert found(agent="dev")
    assert found("--agent", "all", agent="qa")


def test_search_says_why(stocked: Mem) -> None:
    """A hit is a line, a snippet, its age and the reason; as JSON each is a field of its own."""
    out = stocked("search", "ledger").out.splitlines()
    row = stocked("search", "updates", "--json").json[0]

    assert out[0].endswith("The ledger is append only")
    assert "4 minutes ago; ledger in title" in "\n".join(out)
    assert row["snippet"] == "Two concurrent runs lost updates in the ledger."
    assert row["reasons"] == ["updates in text"]
    assert row["score"] > 0
    assert not {"\x02", "\x03", "\ue000"} & set("".join(out) + row["snippet"])


def test_search_by_format(stocked: Mem) -> None:
    """`--format` names any field."""
    assert (
        stocked("search", "append", "-t", "rule", "--format", r"{type}\t{title}\t{reasons}").out
        == "rule\tThe ledger is append only\tappend in title\n"
    )


def test_search_scores_fall(stocked: Mem) -> None:
    """The order is by score, and asking again gives the same order."""
    rows = stocked("search", "payments ledger database", "--json").json
    scores = [row["score"] for row in rows]

    assert len(rows) >= 3
    assert scores == sorted(scores, reverse=True)
    assert stocked("search", "payments ledger database", "--json").json == rows


@pytest.mark.parametrize(
    "words",
    [
        ["zebra"],
        ['"'],
        ["***"],
        ["' OR 1=1 --"],
        ["title:x NEAR("],
        ["()"],
        ["-"],
        ["ünïcödé"],
        ["𓀀"],
        ["a" * 5000],
        ["x AND"],
    ],
)
def test_search_without_a_hit_is_no_error(stocked: Mem, words: list[str]) -> None:
    """Nothing found, or a query of signs: no output, a remark, exit 0."""
    done = stocked("search", "--", *words)

    assert done.out == ""
    assert "no record matches" in done.err
    assert stocked("search", "--json", "--", *words).json == []


def test_search_needs_words(mem: Mem) -> None:
    """Without a word it is wrong usage."""
    assert "WORDS" in mem("search", code=2).err
    mem("search", "x", "-n", "0", code=2)


def test_search_finds_what_was_just_written_and_not_what_was_forgotten(mem: Mem) -> None:
    """The index follows every change of the store."""
    id = mem.add("ephemeral walrus")
    assert [r["id"] for r in mem("search", "walrus", "--json").json] == [id]

    mem("edit", id, "--title", "ephemeral otter")
    assert mem("search", "walrus", "--json").json == []
    assert [r["id"] for r in mem("search", "otter", "--json").json] == [id]

    mem("forget", id)
    assert mem("search", "otter", "--json").json == []


def test_search_works_with_a_lost_or_broken_index(mem: Mem) -> None:
    """The index is derived: it may be deleted or damaged at any time."""
    mem("add", "steady heron")
    mem("list")
    path = mem.folder / ".git" / "gitmem" / "index.db"
    path.unlink()
    assert len(mem("search", "heron", "--json").json) == 1

    path.write_bytes(b"this is not a database" * 100)
    assert len(mem("search", "heron", "--json").json) == 1


def test_what_stands_beside_nothing_is_no_answer(mem: Mem) -> None:
    """Records that were added one after the other say nothing of one another."""
    for title in (
        "webpack needs NODE_OPTIONS",
        "never edit a migration that ran",
        "the gateway needs 60 s",
    ):
        mem("gotcha", "add", title)
    found = mem("search", "--kind", "gotcha", "webpack", "--json").json
    assert [one["title"] for one in found] == ["webpack needs NODE_OPTIONS"]
    assert found[0]["reasons"] == ["webpack in title"]


def test_a_linked_record_comes_after_what_says_it_itself(mem: Mem) -> None:
    first = mem("add", "webpack needs NODE_OPTIONS", "--json").json["id"]
    mem("add", "The build image is pinned", "--link", first)
    found = mem("search", "webpack", "--json").json
    assert ["; ".join(one["reasons"]) for one in found] == [
        "webpack in title",
        "webpack in linked or neighbouring records",
    ]


def test_a_part_of_a_name_is_its_own(mem: Mem) -> None:
    mem("add", "CartTotal is in cents")
    (one,) = mem("search", "cart", "--json").json
    assert "names" in "; ".join(one["reasons"])
