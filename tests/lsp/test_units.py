"""The pure parts: positions, documents, text made safe, patterns."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types as t
from pygls.workspace import PositionCodec

from gitmem.codemap.anchors.tracker import Follower
from gitmem.git.process import Git
from gitmem.repo.location import locate
from gitmem_lsp.diagnostics.diagnostics import loudness, make_marks
from gitmem_lsp.features.hover import age
from gitmem_lsp.protocol.documents import LineDocument
from gitmem_lsp.protocol.line_shift import edit_between, edits_of, shift
from gitmem_lsp.protocol.positions import (
    CODE_LIMIT,
    code_range,
    git_lines,
    split_lines,
    spot,
    to_index,
    to_units,
)
from gitmem_lsp.protocol.safe_text import block, fence, inline, multiline, plain, shorten
from gitmem_lsp.workspace.place_notes import EditorNote, bounded, find_notes
from gitmem_lsp.workspace.repository_view import RepositoryView

UTF8, UTF16, UTF32 = (
    str(kind.value)
    for kind in (
        t.PositionEncodingKind.Utf8,
        t.PositionEncodingKind.Utf16,
        t.PositionEncodingKind.Utf32,
    )
)
ENCODINGS = (UTF8, UTF16, UTF32)
CODEC = {UTF8: "utf-8", UTF16: "utf-16-le", UTF32: "utf-32-le"}
UNIT = {UTF8: 1, UTF16: 2, UTF32: 4}

texts = st.text(st.sampled_from("ab \t\r\n\f\v\x1c\x85\u2028é😋e\u0301{"), max_size=30)
letters = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


# -- positions


@given(texts)
def test_lines_join_to_the_text(text):
    """Nothing is lost, and a line ends at the protocol's three ends and nowhere else."""
    lines = split_lines(text)

    assert "".join(lines) == text
    assert lines == re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=20),
    st.integers(0, 25),
)
def test_columns_and_code_points(line, index):
    """A column is the number of code units of what is before it, and leads back to the same code point."""
    index = min(index, len(line))
    for encoding in ENCODINGS:
        units = to_units(line, index, encoding)
        assert units == len(line[:index].encode(CODEC[encoding])) // UNIT[encoding]
        assert to_index(line, units, encoding) == index
        assert to_index(line + "\r\n", 10_000, encoding) == len(line)


def test_spot_stays_in_the_text():
    """A position past a line is its end, one past the text is the text's end, and one inside a character does not split it."""
    lines = split_lines("ab\r\n😋x\n")
    assert spot(lines, t.Position(0, 99), UTF16) == (0, 2)
    assert spot(lines, t.Position(99, 0), UTF16) == (2, 0)
    assert spot(lines, t.Position(1, 2), UTF16) == (1, 1)
    assert spot(lines, t.Position(1, 1), UTF16) in {(1, 0), (1, 1)}


@pytest.mark.parametrize(
    ("line", "encoding", "columns"),
    [
        ("    x = 1  # why", UTF16, (4, 9)),
        ("\treturn '# no comment'", UTF16, (1, 22)),
        ('s = "😋"; // note', UTF8, (0, 11)),
        ('s = "😋"; // note', UTF16, (0, 9)),
        ('s = "😋"; // note', UTF32, (0, 8)),
        ("# only a comment", UTF16, (0, 16)),
        ("   \r\n", UTF16, (0, 0)),
        ("", UTF16, (0, 0)),
        ("x" * 5000, UTF16, (0, CODE_LIMIT)),
    ],
)
def test_range_is_the_code(line, encoding, columns):
    """A range starts at the code and ends before a comment behind it; a line without code is taken whole."""
    found = code_range([line], 0, encoding)
    assert (found.start.character, found.end.character) == columns
    assert code_range([line], 99, encoding).start.line == 0


def test_git_counts_other_lines():
    """A lone carriage return ends a line for the editor and none for git."""
    assert git_lines(["a\r", "b\n", "c"]) == (["a\rb\n", "c"], [0, 2])
    assert list(git_lines(["a\r\n", "b"])[1]) == [0, 1]


# -- documents

edits = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 8), st.integers(0, 6), st.integers(0, 8), texts),
    max_size=6,
)


@given(texts, edits, st.sampled_from(ENCODINGS))
def test_document_equals_the_buffer(text, changes, encoding):
    """After any edits the document is the text that an editor has, whatever ends its lines."""
    codec = PositionCodec(t.PositionEncodingKind(encoding))
    document = LineDocument(
        "file:///a",
        text,
        1,
        "x",
        sync_kind=t.TextDocumentSyncKind.Incremental,
        position_codec=codec,
    )
    for number, (line, column, last, end, new) in enumerate(changes):
        start, stop = t.Position(line, column), t.Position(line + last, end)
        lines = split_lines(text)
        first, left = spot(lines, start, encoding)
        final, right = max((first, left), spot(lines, stop, encoding))
        offsets = [sum(map(len, lines[:n])) for n in range(len(lines))]
        text = text[: offsets[first] + left] + new + text[offsets[final] + right :]

        document.apply_change(t.TextDocumentContentChangePartial(t.Range(start, stop), new))

        assert document.source == text
        assert list(document.snapshot()) == split_lines(text), number


# -- text


@given(letters)
def test_plain_is_one_line_to_look_at(text):
    """No control character, line end or direction mark is left, whatever comes in."""
    said = plain(text)
    assert not re.search(
        "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]", said
    )
    assert said == said.strip()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words, x_y and 3.14", "plain words, x_y and 3.14"),
        ("\x1b]0;title\x07\x1b[31mred", "]0;title [31mred"),
        ("run `git mem` now", "run `git mem` now"),
        ("<b>bold</b>", r"\<b\>bold\</b\>"),
        ("[a](https://x.y)", r"\[a\](https\://x.y)"),
        ("![a](b)", r"!\[a\](b)"),
        ("**bold** _it_", r"\*\*bold\*\* \_it\_"),
        ("mail me@x.org or www.x.org", r"mail me\@x.org or www\.x.org"),
        ("&lt;b&gt;", r"\&lt;b\&gt;"),
        ("# no heading", r"\# no heading"),
        ("1. no list", r"1\. no list"),
        ("- no list", r"\- no list"),
        ("a | b", r"a \| b"),
        ("back\\slash `open", r"back\\slash \`open"),
        ("\u202eabc\u2066", "abc"),
    ],
)
def test_inline(text, shown):
    """A line of Markdown shows a record's letters; code between backticks stays code."""
    expected = plain(shown) if "\x1b" not in text else shown.replace("[", r"\[").replace("]", r"\]")
    assert inline(text) == expected


@given(letters, st.integers(0, 6))
def test_a_fence_cannot_be_closed_from_inside(text, ticks):
    """The fence is longer than any run of backticks in the code."""
    code = text.replace("\r", "") + "\n" + "`" * ticks + "\nafter"
    made = fence(code)
    mark = re.match("`+", made)[0]
    assert made.count(mark) >= 2
    assert mark not in code


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# Title\n\ntext", "#### Title\n\ntext"),
        ("- one\n- <two>\n\n1. three", "- one\n- \\<two\\>\n\n1. three"),
        ("```py\nx = '<b>'\n```", "```py\nx = '<b>'\n```"),
        ("```\nnever closed", "```\nnever closed\n```"),
        ("~~~\n```\n<b>\n~~~", "````\n```\n<b>\n````"),
        ("text\n\n    code <b>", "text\n\n\n```\ncode <b>\n```"),
        ("a\n---\nb", "a\n\\---\nb"),
        ("a\n===\nb", "a\n\\===\nb"),
    ],
)
def test_block(text, shown):
    """Paragraphs, lists, headings and code are kept; nothing that a record says becomes HTML, a link or a rule."""
    assert block(text) == shown


def test_small_helpers():
    """Tabs, cuts and ages."""
    assert multiline("a\tb\x07\u202e \nc") == "a    b\nc"
    assert shorten("abc", 3) == "abc"
    assert shorten("ab cd", 4) == "ab…"
    assert [
        age("2026-01-01T00:00:00Z", 1767225600 + gone) for gone in (-5, 59, 60, 7200, 86400 * 400)
    ] == [
        "just now",
        "just now",
        "1 minute ago",
        "2 hours ago",
        "1 year ago",
    ]
    assert age("never", 0.0) == "at an unknown time"
    for text, wanted in (
        ("a\0b", False),
        ("\n" * 50_000, False),
        ("a\n" * 49_999, True),
        ("a\r\n" * 49_999, True),
        ("a" * 10_000_001, False),
    ):
        assert bounded(text, split_lines(text)) is wanted


# -- diagnostics


def row(title: str, **fields: object) -> dict[str, object]:
    """Return a gotcha as the index has it."""
    return {
        "id": f"got-{title:0>26}",
        "title": title,
        "severity": "warning",
        "unconfirmed": False,
        "anchors": [{"path": "a.py", "lines": [1, 1]}],
        **fields,
    }


@pytest.fixture
def placer(repo):
    """What the server places anchors with."""
    return Follower(Git(str(repo.root), repo.env), str(repo.root))


def test_the_best_place_of_several(placer):
    """Of two anchors in a file the surer is taken; code that is gone is at the top and no louder than a hint."""
    context = {"before": ["first = 0"], "lines": ["gone = compute(1)"], "after": ["last = 2"]}
    lost = {"path": "a.py", "lines": [2, 2], "context": context}
    kept = {
        "path": "a.py",
        "lines": [2, 2],
        "context": {
            "before": ["import this_module"],
            "lines": ["result = compute_something(1, 2)"],
            "after": [],
        },
    }
    lines = ["import this_module\n", "result = compute_something(1, 2)\n", ""]

    (note,) = find_notes([row("x", anchors=[lost, kept])], ["a.py"], lines, placer)
    assert (note.line, note.state, note.anchor) == (1, "same", 1)

    (note,) = find_notes([row("x", anchors=[lost])], ["a.py"], lines, placer)
    assert (note.line, note.state, loudness(note)) == (0, "adrift", t.DiagnosticSeverity.Hint)
    assert find_notes([row("x", anchors=[lost])], ["b.py"], lines, placer) == []


def test_anchors_of_any_shape_hide_no_other(placer):
    """An anchor that holds nonsense is adrift; the others are placed."""
    good = {
        "path": "a.py",
        "lines": [2, 2],
        "context": {
            "before": ["import this_module"],
            "lines": ["result = compute_something(1, 2)"],
            "after": [],
        },
    }
    odd = [
        {"path": "a.py", "lines": value}
        for value in ("2", [2], [0, -1], [2, "x"], [10**12, 10**12], [[1], [2]], None)
    ]
    odd += [
        {"path": "a.py", "lines": [1, 1], "context": value, "blob": 7}
        for value in ("x", {"lines": 3}, {"before": [[]]}, [None])
    ]

    notes = find_notes(
        [row("good", anchors=[good]), *(row(str(n), anchors=[a]) for n, a in enumerate(odd))],
        ["a.py"],
        ["import this_module\n", "result = compute_something(1, 2)\n", ""],
        placer,
    )

    assert len(notes) == len(odd) + 1
    assert next(note.line for note in notes if note.row["title"] == "good") == 1
    assert all(0 <= note.line <= 2 for note in notes)


def test_one_mark_a_line():
    """Gotchas of one line are one diagnostic: the worst first, three titles, the rest counted."""
    rows = [row(str(n), severity="critical" if n == 4 else "info") for n in range(5)]
    (mark,) = make_marks([EditorNote(each, 0, "changed") for each in rows], ["code\n"], UTF16)

    assert (
        mark.diagnostic.message
        == "4 (code changed since); 0 (code changed since); 1 (code changed since); +2 more"
    )
    assert mark.diagnostic.severity == t.DiagnosticSeverity.Warning
    assert len(mark.diagnostic.data["ids"]) == 5


@given(
    st.lists(
        st.tuples(
            st.integers(0, 11),
            st.integers(0, 3),
            st.integers(0, 3),
            st.integers(0, 3),
            st.integers(0, 3),
        ),
        max_size=6,
    ),
    st.integers(0, 11),
)
def test_a_line_is_followed_through_edits(steps, line):
    """A line whose text is still there is where the shift says; one that the shift calls gone is gone."""
    # no line is made of the parts of others
    lines = [f"<{letter}>\n" for letter in "abcdefghijkl"] + [""]
    marked = lines[line]
    edits = []
    for first, column, more, end, added in steps:
        first = min(first, len(lines) - 1)
        last = min(first + more, len(lines) - 1)
        left, right = (
            min(column, len(lines[first].rstrip("\n"))),
            min(end, len(lines[last].rstrip("\n"))),
        )
        if first == last:
            right = max(left, right)
        document = LineDocument(
            "file:///a", "".join(lines), position_codec=PositionCodec(t.PositionEncodingKind.Utf32)
        )
        change = t.TextDocumentContentChangePartial(
            t.Range(t.Position(first, left), t.Position(last, right)), "new\n" * added
        )
        document.apply_change(change)
        edits += edits_of([change]) or []
        lines = list(document.lines)

    found = shift(line, edits)

    if lines.count(marked) == 1 and sum(marked.strip() in each for each in lines) == 1:
        assert found == lines.index(marked)
    assert found is None or 0 <= found < len(lines)


def test_a_whole_text_is_an_edit_of_the_one_before():
    """What a client sends that knows no partial changes moves marks as the edit would."""
    old = ["a = 1\n", "b = 2\n", "c = 3\n"]
    cases = {
        "above": (["# x\n", *old], [1, 2, 3]),
        "below": ([*old, "d\n"], [0, 1, 2]),
        "removed": (old[1:], [None, 0, 1]),
        "a line that was broken keeps its mark": (["a =\n", " 1\n", *old[1:]], [0, 2, 3]),
        "as many lines": (["z\n", *old[1:]], [0, 1, 2]),
    }
    for name, (new, places) in cases.items():
        edit = edit_between(old, new)
        edits = [edit] if edit else []
        assert [shift(line, edits) for line in range(3)] == places, name


def test_settings_outside_of_the_repository_are_noticed(repo):
    """The user's own, and those of an included file."""
    repo.gotcha("amounts are cents", "")
    included = repo.root.parent / "included"
    included.write_text("[gitmem]\n\teditorCodeLens = false\n")
    view = RepositoryView(locate(str(repo.root), repo.env), repo.env)
    view.refresh()
    assert view.options.marks

    repo.git("config", "--global", "gitmem.editorMarks", "false")
    repo.git("config", "--global", "include.path", str(included))
    view.refresh()
    assert (view.options.marks, view.options.code_lens) == (False, False)
    included.write_text("[gitmem]\n\teditorCodeLens = true\n")
    view.refresh()
    assert view.options.code_lens
    view.close()
