"""The block of ours in a file of others: written, read back, mended, and nothing else touched."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitmem.services.memory_files import managed_block
from gitmem.services.memory_files.managed_block import END, BlockEntry

ONE = BlockEntry("mem-" + "0" * 18 + "aaaaaaaa", "rule: Always test.", "src/a.py")
TWO = BlockEntry("mem-" + "0" * 18 + "bbbbbbbb", "gotcha: It hangs — workaround: wait")
BEGIN = "<!-- git-mem: begin memory 1 0000 -->"
LINE = managed_block.line_of(ONE)

pieces = st.sampled_from(
    [
        "words",
        "- a bullet",
        "",
        "```",
        "~~~",
        "# Head",
        BEGIN,
        END,
        LINE,
        managed_block.HEAD,
        managed_block.LEAD,
        "<!-- git-mem: begin -->",
        "<!-- git-mem: end -->",
        "é\udcff",
        "\r",
        "- x (7k2m9qxa-0000)",
    ]
)
texts = st.builds(
    lambda rows, end, last: end.join(rows) + last,
    st.lists(pieces, max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n", "\r\n"]),
)
entries = st.lists(
    st.builds(
        BlockEntry,
        st.text(alphabet="0123456789abcdefghjkmnpqrstvwxyz", min_size=30, max_size=30),
        st.text(alphabet="ab é—()-`", max_size=60),
        st.sampled_from(["", "a.py", "b (1).py"]),
    ),
    max_size=6,
    unique_by=lambda entry: entry.id,
)


@given(texts, entries)
@example("a\n" + BEGIN + "\n" + LINE + "\nb\n" + END + "\nc", [ONE])
@example("```\n", [ONE])
@example("words\n" + BEGIN + "\n", [])
@example("words\n" + BEGIN + "\n" + END + "\n", [])
def test_not_a_byte_outside_changes(text: str, chosen: list[BlockEntry]) -> None:
    """Whatever the file holds: what is outside stays, a second write changes nothing, and the block can go again."""
    result = managed_block.place(text, chosen)
    had = bool(managed_block.find(text.split("\n")))
    if had:
        assert managed_block.outside(result.text) == managed_block.outside(text)
    else:
        assert result.text.startswith(text)
        assert not managed_block.outside(result.text)[len(text) :].strip()
    again = managed_block.place(result.text, chosen)
    assert again.text == result.text and not again.notes
    # the gap before a block at the end goes with it, and came with it
    left = managed_block.place(result.text, []).text
    assert left in (
        managed_block.outside(result.text),
        managed_block.outside(text),
    ) or managed_block.find(text.split("\n"))
    found = managed_block.find(result.text.split("\n"))
    assert len(found) == bool(chosen) and all(one.whole for one in found)
    assert [line.edited for one in found for line in one.lines] == [False] * len(chosen)
    if text and not text.endswith("\n") and not had:
        assert not result.text.endswith("\n")


@given(texts, entries, st.integers(1, 40), st.integers(1, 900))
def test_the_limits_hold(text: str, chosen: list[BlockEntry], lines: int, size: int) -> None:
    """With the block the file is within the limits, if it can be; the first entries have the first right to the room."""
    result = managed_block.place(text, chosen, lines, size)
    if result.kept:
        assert (
            managed_block.size(result.text)[0] <= lines
            and managed_block.size(result.text)[1] <= size
        )
    ids = [entry.id for entry in chosen]
    assert list(result.kept) == [id for id in ids if id in result.kept][: len(result.kept)]


def test_line_ends_are_kept() -> None:
    """A file with CRLF has them in the block too."""
    result = managed_block.place("one\r\ntwo\r\n", [ONE]).text
    assert result.count("\r\n") == result.count("\n")
    assert managed_block.find(result.split("\n"))[0].lines[0].text == ONE.text


def test_an_edited_line_is_seen() -> None:
    """Its check tells; so does what was added, and that a line is missing."""
    text = managed_block.place("", [ONE, TWO]).text
    (found,) = managed_block.find(
        text.replace("Always", "Never").replace(managed_block.line_of(TWO), "- mine").split("\n")
    )
    assert [(line.short, line.text, line.edited) for line in found.lines] == [
        ("aaaaaaaa", "rule: Never test.", True)
    ]
    assert (found.added, found.said) == (((5, "mine"),), 2)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (f"a\n{BEGIN}\n{LINE}\nb\n", "block is complete again"),
        (f"a\n{LINE}\n{END}\nb\n", "block is complete again"),
        (f"a\n{BEGIN}\n{LINE}\n{END}\nb\n{BEGIN}\n{LINE}\n{END}\n", "more than once"),
        (f"a\n{BEGIN}\n{BEGIN}\n{LINE}\n{END}\nb\n", "block is complete again"),
    ],
)
def test_damaged_blocks_are_mended(text: str, note: str) -> None:
    """Half ones and second ones become one, and it is told; the words around stay."""
    result = managed_block.place(text, [TWO])
    assert any(note in one for one in result.notes)
    assert result.text.count(END) == 1 and managed_block.line_of(ONE) not in result.text
    assert result.text.startswith("a\n") and "\nb\n" in result.text


def test_a_block_in_a_fence_is_an_example() -> None:
    """What a page shows of a block is not ours; a fence that never ends hides nothing."""
    shown = f"```\n{BEGIN}\n{LINE}\n{END}\n```\n"
    assert managed_block.place(shown, [TWO]).text.startswith(shown)
    assert managed_block.place(f"```\n{BEGIN}\n{LINE}\n{END}\n", [TWO]).text.count(END) == 1


@given(st.text(alphabet="ab \n\r-", max_size=20))
def test_a_block_that_goes_leaves_the_text_of_before(text: str) -> None:
    """To the byte: with or without a line end or empty lines at its end."""
    assert managed_block.place(managed_block.place(text, [ONE]).text, []).text == text
