"""What a Markdown file says, statement by statement."""

import random
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.services.memory_files.pairing import PairedStatement, pair
from gitmem.services.memory_files.statements import parse


def said(text: str) -> list[tuple[str, str, tuple[int, int]]]:
    """Return title, body and lines of each statement."""
    return [(s.title, s.body.rstrip("\n"), s.lines) for s in parse(text).statements]


def test_bullets_paragraphs_and_headed_pieces_are_statements() -> None:
    """Each has its lines; what is nested belongs to its bullet, code to the words before it."""
    text = "# Shop\n\nA shop that\nsells tea.\n\n## Rules\n- Always test.\n- Never **push** to main.\n  - not even once\n\n  ```sh\n  git push\n  ```\n* Use tabs.\n\n## Build\n```sh\nmake all\n```\n"
    assert said(text) == [
        ("A shop that sells tea.", "", (3, 4)),
        ("Always test.", "", (7, 7)),
        ("Never push to main, not even once", "```sh\ngit push\n```", (8, 13)),
        ("Use tabs.", "", (14, 14)),
        ("Build", "```sh\nmake all\n```", (16, 19)),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "# Only a heading\n",
        "---\n",
        "***\n",
        "<!-- Never seen -->\n",
        "<!--\n- Never seen\n\n- at all\n-->",
        "```\nNever told what it is\n```\n",
        "| a | b |\n|---|---|\n",
        "![a picture](x.png)",
        "[![a badge](x.svg)](https://x.test)",
        "Word",
        "Commands:",
        "- [x] done long ago",
        "@docs/other.md",
        "<!-- git-mem: begin -->\n- Never read back\n<!-- git-mem: end -->",
        "<!-- git-mem: begin memory 1 0000 -->\n- rule: Never read back (7k2m9qxa-0000)\n<!-- git-mem: end memory -->",
        "---\nname: only front matter\n---\n",
    ],
)
def test_what_is_no_statement_is_passed_over(text: str) -> None:
    """Comments, our own blocks, code without words, pictures, single words, what is done."""
    assert said(text) == []


def test_a_comment_in_code_is_code() -> None:
    """A fence keeps what looks like a comment or a bullet."""
    assert said("Use this header:\n\n```html\n<!-- keep -->\n- me too\n```\n") == [
        ("Use this header:", "```html\n<!-- keep -->\n- me too\n```", (1, 6))
    ]


def test_steps_stay_together() -> None:
    """A list of steps is one statement with the line that leads to it, a list of rules is many."""
    assert [
        s[0]
        for s in said(
            "Before a release:\n\n1. Run the tests\n2. Tag it\n\nIn code:\n\n- Use tabs for every indent\n- Use single quotes for text\n"
        )
    ] == [
        "Before a release: 1. Run the tests; 2. Tag it",
        "Use tabs for every indent",
        "Use single quotes for text",
    ]


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("- never push\n  - except typos in docs", "never push, except typos in docs", ""),
        (
            "- Never push.\n  - Except typos in docs.\n  - ask first",
            "Never push, Except typos in docs; ask first",
            "",
        ),
        ("- Never push\n\n  unless it burns", "Never push, unless it burns", ""),
        (
            "- Always deploy from main\n- except hotfixes",
            "Always deploy from main, except hotfixes",
            "",
        ),
        (
            "- Never commit:\n  - secrets\n  - build output",
            "Never commit: secrets; build output",
            "",
        ),
        (
            "- We use Postgres\n  - analytics are fine on DuckDB",
            "We use Postgres; analytics are fine on DuckDB",
            "",
        ),
        ("- We use Postgres\n  - it is fast", "We use Postgres", "- it is fast"),
        (
            "- Never push\n  - except:\n    - typos\n    - docs",
            "Never push, except (typos; docs)",
            "",
        ),
        ("- Nunca usar float\n  - exceto em gráficos", "Nunca usar float, exceto em gráficos", ""),
        ("- 禁止直接推送\n  - 除非修复文档", "禁止直接推送, 除非修复文档", ""),
    ],
)
def test_an_exception_stays_with_its_rule(text: str, title: str, body: str) -> None:
    """The title alone is told in lists and blocks: it says what the rule does not hold for."""
    assert [(title_, body_) for title_, body_, _ in said(text)] == [(title, body)]


def test_exceptions_have_room_before_all_else() -> None:
    """Of a long list below a rule the title has the exception; the whole of it is below, and so it is when nothing fits."""
    much = "\n".join(f"  - as everybody here has agreed to do in the year 200{n}" for n in range(8))
    (one,) = parse(f"- Never push\n{much}\n  - except typos").statements
    assert one.title == "Never push, except typos" and one.body.count("\n- ") == 8
    (two,) = parse(f"- Never push\n  - except {'very ' * 80}seldom").statements
    assert (
        two.title.startswith("Never push, except very")
        and two.title.endswith("…")
        and two.body.count("very") == 80
    )


def test_steps_under_a_heading_are_one_statement() -> None:
    """In their order, with the heading, with code between them, after words too; numbered rules are many."""
    text = "## Release\n1. run `make dist`\n2. sign it:\n   ```sh\n   gpg\n   ```\n3. push it\n\n## Deploy\nEvery week.\n\n1. build\n2. ship\n\n## Rules\n1. Never push\n2. No tabs\n\n## Word\n1. alone here\n"
    assert said(text) == [
        (
            "Release: 1. run `make dist`; 2. sign it; 3. push it",
            "1. run `make dist`\n2. sign it:\n   ```sh\n   gpg\n   ```\n3. push it",
            (1, 7),
        ),
        ("Every week.", "", (10, 10)),
        ("Deploy: 1. build; 2. ship", "", (12, 13)),
        ("Never push", "", (16, 16)),
        ("No tabs", "", (17, 17)),
        ("alone here", "", (20, 20)),
    ]


ITEMS = st.text(st.sampled_from("abc déf"), min_size=1, max_size=30).map(
    lambda text: "x " + " ".join(text.split())
)


@given(st.lists(ITEMS, min_size=2, max_size=12), st.booleans())
def test_no_step_and_no_exception_is_lost(items: list[str], steps: bool) -> None:
    """However long: all of it is in the one record, in order."""
    rows = (
        [f"{n}. {item}" for n, item in enumerate(items, 1)]
        if steps
        else [f"  - except {item}" for item in items]
    )
    (one,) = parse("\n".join(["## Wash" if steps else "- Never wash", *rows])).statements
    told = one.title if not one.title.endswith("…") else one.body
    at = 0
    for row in rows:
        bare = row.strip().removeprefix("- ")
        at = told.index(bare, at) + len(bare)
    assert one.title.startswith("Wash: 1. x" if steps else "Never wash, except x")


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("Always run the tests", "rule"),
        ("Don't mock the database", "rule"),
        ("We decided to use Postgres", "decision"),
        ("The user prefers short answers", "preference"),
        ("TODO: write the docs", "task"),
        ("- [ ] write the docs", "task"),
        ("The API listens on port 8080", "fact"),
        ("When a test hangs, look at the fixtures first", "pattern"),
        ("## Decisions\nPostgres with pgbouncer", "decision"),
        ("Nunca usar float para dinheiro", "rule"),
        ("禁止直接推送到主分支", "rule"),
        ("Decidimos usar Postgres", "decision"),
    ],
)
def test_the_type_follows_from_the_words(text: str, type: str) -> None:
    """The sentence tells, else its heading."""
    assert [s.type for s in parse(text).statements] == [type]


def test_front_matter_and_imports() -> None:
    """Globs are read that are no YAML; an import is told with its line, a decorator is none."""
    page = parse(
        '---\npaths: **/*.{ts,tsx}, "src/*.py"\nmetadata:\n  type: user\n---\nSee @docs/a.md and `@docs/b.md` for it.\n@../c.md\n@x/d\n\nUse @pytest.fixture there.\n'
    )
    assert page.front["paths"] == ["**/*.{ts,tsx}", "src/*.py"]
    assert page.front["type"] == ["user"]
    assert page.imports == ((6, "docs/a.md"), (7, "../c.md"), (8, "x/d"))


def test_a_long_sentence_has_a_short_title() -> None:
    """The title is its first sentence, else a beginning; nothing of the text is lost."""
    first = "It is so. "
    (one,) = parse(first + "Because " + "of many reasons " * 30).statements
    assert one.title == "It is so."
    (two,) = parse("word " * 100).statements
    assert two.title.endswith("…") and two.body.count("word") == 100


@given(st.text(alphabet="ab #-*`~<>!@[]()\n\t|1.:é—", max_size=300))
def test_any_text_is_read(text: str) -> None:
    """Lines are in the file, in order and apart; line ends do not matter."""
    page = parse(text)
    count = text.count("\n") + 1
    lines = [s.lines for s in page.statements]
    assert all(1 <= first <= last <= count for first, last in lines)
    assert lines == sorted(lines) and all(a[1] < b[0] for a, b in pairwise(lines))
    assert [s.key for s in parse(text.replace("\n", "\r\n")).statements] == [
        s.key for s in page.statements
    ]


WORDS = "amber birch cedar delta ember fjord grove hazel inlet jade kelp lotus maple nectar olive pearl quartz river stone tulip".split()


@given(st.integers(0, 12), st.randoms(use_true_random=False))
def test_edits_and_moves_are_followed(count: int, random_: random.Random) -> None:
    """Of distinct sentences in any order, each is found again; one word of one is changed."""
    texts = [" ".join(random_.sample(WORDS, 8)) + f" n{n}" for n in range(count)]
    old = [PairedStatement(text, n, text) for n, text in enumerate(texts)]
    order = list(range(count))
    random_.shuffle(order)
    new = [PairedStatement(texts[n], line, texts[n]) for line, n in enumerate(order)]
    if count:
        line = random_.randrange(count)
        new[line] = PairedStatement(
            "changed", line, new[line].text.replace(WORDS[0], "anew", 1) + " more"
        )
    assert pair(old, new) == sorted((n, line) for line, n in enumerate(order))


@pytest.mark.parametrize("wide", [False, True])
def test_a_whole_file_of_edits_is_followed(wide: bool) -> None:
    """Each of many lines was changed and moved, with and without spaces between words; it takes no time that anybody notices."""
    rows = random.Random(7)
    texts = [
        "".join(chr(rows.randrange(0x4E00, 0x9000)) for _ in range(14))
        if wide
        else " ".join(f"w{rows.randrange(900)}" for _ in range(10))
        for _ in range(400)
    ]
    order = list(range(400))
    rows.shuffle(order)
    old = [PairedStatement(text, n, text) for n, text in enumerate(texts)]
    new = [
        PairedStatement(f"new {n}", line, ("新" if wide else "Never ") + texts[n][2:])
        for line, n in enumerate(order)
    ]
    assert pair(old, new) == sorted((n, line) for line, n in enumerate(order))


@pytest.mark.parametrize(
    "text",
    [
        "\n".join("  " * n + f"- never nest {n}" for n in range(520)),
        "# Release\n" + "\n".join(f"{n}. do the thing {n}" for n in range(1, 20_001)),
        "# Rules\n" + "\n".join(f"{n}. never do thing {n}" for n in range(1, 20_001)),
        "- never do it\n" + "\n".join(f"- except thing {n}" for n in range(1, 20_001)),
        "Words here:\n\n" + "\n".join(f"- thing {n}" for n in range(1, 20_001)),
        "Words here\n" + "\n".join(f"```\n{n}\n```\n" for n in range(1, 10_001)),
    ],
    ids=["nested", "steps", "rules", "exceptions", "items", "code"],
)
def test_a_long_or_deep_list_is_read_at_once(text: str) -> None:
    """Time grows with the text, and no depth is too much."""
    began = time.process_time()
    assert parse(text).statements
    assert time.process_time() - began < 3


def test_nested_lists_are_told_to_a_depth() -> None:
    """What is deeper is in the body."""
    (one,) = parse("\n".join("  " * n + f"- never nest {n}" for n in range(9))).statements
    assert (
        "never nest 4" in one.title
        and "never nest 5" not in one.title
        and "never nest 8" in one.body
    )


def test_a_very_long_list_of_steps_is_more_than_one_statement() -> None:
    """Numbered on, with the same heading, and no step is lost."""
    one, two, three = parse(
        "# Release\n" + "\n".join(f"{n}. do the thing {n}" for n in range(1, 451))
    ).statements
    assert one.title.startswith("Release: 1. do the thing 1;") and two.title.startswith(
        "Release: 201. do the thing 201;"
    )
    assert (
        one.lines == (1, 201)
        and two.lines == (202, 401)
        and three.lines == (402, 451)
        and three.body.endswith("450. do the thing 450\n")
    )
