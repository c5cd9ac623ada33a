"""Record <-> bytes: one canonical form, strict and bounded reading, unknown keys kept."""

import json
import time
from types import MappingProxyType

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitmem.errors import InvalidRecord
from gitmem.records.codec import DEPTH_LIMIT, LARGE_LIMIT, SIZE_LIMIT, decode, encode, sane
from gitmem.records.record import Record, make
from tests.records.strategies import edited, records
from tests.scale import scaled

ID = "mem-01arz3ndektsv4rrffq69g5f1v"
WORK = "wrk-checkout"
AT = "2026-01-02T03:04:05Z"
QUICK = settings(max_examples=scaled(150, 40), deadline=None)
# seconds that no file may take: the largest takes a few hundredths, an unbounded reader takes
# minutes
SLOW = 2.0


def front(*lines: str, id: str = ID, kind: str = "memory", title: str = "# T\n") -> bytes:
    """Return a file with these lines in its front matter."""
    return "\n".join(
        ["---", f"id: {id}", f"kind: {kind}", f"created: {AT}", *lines, "---", title]
    ).encode("utf-8", "surrogateescape")


def quickly(data: bytes) -> Record | str:
    """Read a file as the store does; it may be damaged, not slow."""
    start = time.process_time()
    found = sane(data, ID)
    assert time.process_time() - start < SLOW
    assert isinstance(found, Record | str)
    if isinstance(found, Record):
        assert found == decode(encode(found))
    else:
        assert found.endswith(".")
    return found


# -- canonical bytes


def test_canonical_bytes_are_what_the_format_says():
    """Fixed key order, plain words bare, the rest JSON, objects one a line, LF."""
    item = make(
        "memory",
        ID,
        "Use   the\tpool",
        "Body.\r\n\r\n",
        tags=["b", "a", "b"],
        created=AT,
        updated=AT,
        rev=2,
        author="Ada <ada@example.org>",
        importance=7.0,
        anchors=[{"path": "src/a.py", "lines": [1, 2]}],
        x_new={"k": [1, True, None]},
        type="decision",
    )
    want = (
        f'---\nid: {ID}\nkind: memory\ncreated: {AT}\nupdated: {AT}\nrev: 2\nauthor: Ada <ada@example.org>\ntags: ["a", "b"]\ntype: decision\n'
        'importance: 7\nanchors:\n  - {"lines": [1, 2], "path": "src/a.py"}\nx_new: {"k": [1, true, null]}\n---\n# Use the pool\n\nBody.\n'
    )
    assert want == encode(item).decode()


@QUICK
@given(item=records())
def test_reading_gives_what_was_written(item):
    """Every record comes back equal, and is written the same again."""
    data = encode(item)
    assert item == decode(data)
    assert data == encode(decode(data))


@QUICK
@given(data=st.data(), item=records())
def test_edited_record_comes_back(data, item):
    """So does a record after an edit."""
    after = data.draw(edited(item))
    assert after == decode(encode(after))


@QUICK
@given(item=records())
def test_any_yaml_reader_reads_the_same(item):
    """The front matter is YAML: PyYAML's base loader sees the same keys in the same order."""
    text = encode(item).decode().split("---\n")[1]
    loaded = yaml.load(text, Loader=yaml.BaseLoader)
    assert ["id", "kind", *item.fields] == list(loaded)


@QUICK
@given(item=records())
def test_windows_line_ends_and_a_mark_change_nothing(item):
    """A file that an editor saved with CRLF and a byte order mark is the same record."""
    assert item == decode(b"\xef\xbb\xbf" + encode(item).replace(b"\n", b"\r\n"))


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "No",
        "null",
        "~",
        "1",
        "1.0",
        "0x1f",
        "1e5",
        "2026-01-01",
        "12:30:00",
        "a: b",
        "a #b",
        "- a",
        "'a'",
        '"a"',
        "*a",
        "&a",
        "!a",
        "%a",
        "@a",
        "`a",
        "{a",
        "[a",
        "|",
        ">",
        "é",
        "\u2028",
        "\u00a0",
        "\u2066",
        "\ufeff",
        "\U0001f600",
        "a\nb",
        "a\tb",
        "---",
        "...",
        "=",
        "<<",
    ],
    ids=ascii,
)
def test_text_that_looks_like_something_else_stays_text(text):
    """No text becomes a number, a date, a boolean, an alias or a comment on the way."""
    item = make("memory", ID, "T", created=AT, project=text, x_more=[text, {text: text}])
    assert item == decode(encode(item))
    assert text == decode(encode(item)).fields["x_more"][0]
    loaded = yaml.safe_load(
        encode(item).decode().split("---\n", 2)[1]
        if text != "---"
        else encode(item).decode()[4 : encode(item).decode().index("\n---\n#")]
    )
    assert text.strip() == (loaded["project"] if text.strip() else "")


def test_hand_edited_yaml_becomes_canonical():
    """Block lists, single quotes, comments and another order of keys are read, and written in the one form."""
    hand = f"---\n# mine\ntags:\n  - b\n  - 'a'\nkind: memory\nimportance: 3.0\nid: {ID}\ncreated: {AT}\nproject: >-\n  two\n  words\n---\n\n# T\nbody"
    assert (
        f'---\nid: {ID}\nkind: memory\ncreated: {AT}\ntags: ["a", "b"]\nimportance: 3\nproject: two words\n---\n# T\n\nbody\n'
    ) == encode(decode(hand.encode())).decode()


def test_title_may_stand_in_the_front_matter():
    """A file without a heading takes the front matter's title; a heading wins."""
    assert ("A", "text\n") == (lambda r: (r.title, r.body))(decode(front("title: A", title="text")))
    assert "T" == decode(front("title: A")).title


def test_unknown_keys_and_values_are_kept():
    """What a newer version wrote is there after reading and writing, after the known keys, sorted."""
    data = front('z_last: {"a": [1, 2.5, null, true, "x"]}', "a-first: word", "importance: 2")
    again = encode(decode(data)).decode()
    assert [
        "importance: 2",
        "a-first: word",
        'z_last: {"a": [1, 2.5, null, true, "x"]}',
    ] == again.split("\n")[4:7]


# -- bounds


@pytest.mark.parametrize(
    ("kind", "id", "size"), [("memory", ID, SIZE_LIMIT), ("work", WORK, LARGE_LIMIT)]
)
def test_size_is_bounded_to_the_byte(kind, id, size):
    """A record of exactly the limit is taken, with one byte more it is refused, on writing and on reading."""
    empty = len(encode(make(kind, id, "T", "x", created=AT)))
    fits = make(kind, id, "T", "x" * (1 + size - empty), created=AT)
    assert size == len(encode(fits))
    assert fits == decode(encode(fits))
    with pytest.raises(InvalidRecord, match="bytes"):
        encode(fits.change(body=fits.body + "x"))
    with pytest.raises(InvalidRecord, match="bytes"):
        decode(encode(fits)[:-1] + b"xx\n")


@pytest.mark.parametrize("levels", [DEPTH_LIMIT + 1, 100, 1000, 20_000])
@pytest.mark.parametrize("shape", ["[{}]", "{{a: {}}}", "json list", "json map", "block"])
def test_deep_nesting_is_refused(levels, shape):
    """Nesting past the limit is told, whatever the notation; the stack is never at risk."""
    if shape == "block":
        text = "x:\n" + "".join(" " * n + "- \n" for n in range(1, min(levels, 300)))
    elif shape.startswith("json"):
        head, tail = ("[", "]") if shape == "json list" else ('{"a":', "}")
        text = "x: " + head * levels + "1" + tail * levels
    else:
        head, _, tail = shape.format("\0").partition("\0")
        text = "x: " + head * levels + "1" + tail * levels
    assert isinstance(quickly(front(*text.split("\n"))), str)


BOMBS = {
    "aliases": "a: &a [1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c]",
    "self reference": "a: &a [*a]",
    "merge keys": "a: &a {x: 1}\nb:\n  <<: *a",
    "python object": "a: !!python/object/apply:os.system ['true']",
    "python name": "a: !!python/name:os.system",
    "local tag": "a: !thing {x: 1}",
    "binary tag": "a: !!binary aGVsbG8=",
    "set tag": "a: !!set {x, y}",
    "tag directive": "%TAG ! tag:x,2000:\na: 1",
    "second document": "a: 1\n...\n--- x\nb: 2",
    "same key twice": "a: 1\na: 2",
    "list": "- a\n- b",
    "scalar": "just words",
    "number key": "1: a",
    "null key": "~: a",
    "list key": "? [a]\n: b",
    "map key": "? {a: b}\n: c",
    "unclosed quote": "a: 'b",
    "tab indent": "a:\n\t- b",
    "infinity": "a: .inf",
    "json infinity": "a: [Infinity]",
    "json nan": '{"a": NaN}',
    "number of a thousand digits": "a: " + "9" * 1000,
    "huge number in json": "a: [" + "9" * 5000 + "]",
    "huge exponent": "a: 1e999",
    "huge exponent in json": "a: [1e999999]",
    "sixty numbers": "a: 1:1:1:1:1:1:1:1",
    "control character": "a: \x07",
    "nul": "a: \0",
    "lone surrogate escape": 'a: "\\ud800"',
    "key with a space": "a b: c",
    "very long key": "k" * 2000 + ": 1",
    "ten thousand keys": "\n".join(f"k{n}: {n}" for n in range(5000)),
    "brackets": "x: " + "[" * 60_000,
    "braces": "x: " + "{" * 60_000,
    "dashes": "x: " + "- " * 30_000,
    "question marks": "? " * 30_000,
    "quotes": "x: " + "'" * 60_001,
    "colons": "x: " + ": " * 30_000,
    "ampersands": "x: " + "& " * 30_000,
    "spaces": "x:" + " " * 60_000 + "y",
    "newlines": "x: >" + "\n" * 60_000 + " y",
    "comments": "x: 1 " + "# " * 30_000,
    "escapes": 'x: "' + "\\x41" * 15_000 + '"',
    "flow of commas": "x: [" + "," * 60_000 + "]",
    "flow of words": "x: [" + "a," * 30_000 + "]",
    "flow of pairs": "x: {" + ",".join(f"k{n}: v" for n in range(6000)) + "}",
}


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_is_told_or_harmless(name):
    """A bomb is a damaged file or an ordinary record, never another exception and never slow."""
    quickly(front(*BOMBS[name].split("\n")))


@pytest.mark.parametrize(
    "name",
    [
        "aliases",
        "self reference",
        "merge keys",
        "python object",
        "local tag",
        "binary tag",
        "same key twice",
        "list",
        "scalar",
        "list key",
        "json nan",
        "control character",
    ],
)
def test_yaml_beyond_plain_data_is_refused(name):
    """Anchors, aliases, tags, duplicate keys and anything that is not a map are refused."""
    assert isinstance(quickly(front(*BOMBS[name].split("\n"))), str)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"---\n",
        b"---\n---",
        b"---\n---\n",
        b"---\n\n---\n# T\n",
        b"# T\n",
        b"\xff\xfe",
        b"\0" * 100,
        b"---\nid: x\n",
        b"<<<<<<< ours\n",
        front().replace(b"---\n# T", b"# T"),
        front(title=""),
        front(title="no heading"),
        front(id="mem-x"),
        front(id="MEM-01ARZ3NDEKTSV4RRFFQ69G5F1V"),
        front(kind="gotcha"),
        front(kind="thing"),
        front("importance: 11"),
        front("importance: x"),
        front("tags: a"),
        front("tags: [1]"),
        front("rev: -1"),
        front("rev: 1.5"),
        front("rev: true"),
        front("created2: x", "type: nonsense"),
        front("updated: yesterday"),
        front("anchors: [1]"),
        front("triggers: []"),
    ],
    ids=ascii,
)
def test_file_that_is_no_record_says_why(data):
    """Each broken file gives one sentence."""
    assert isinstance(quickly(data), str)


@pytest.mark.parametrize(
    "encoding",
    [
        "utf-16",
        "utf-16-le",
        "utf-16-be",
        "utf-32",
        "latin-1",
        "cp1252",
        "shift-jis",
        "utf-7",
        "cp037",
        "gb18030",
    ],
)
def test_other_encodings_are_damaged_or_the_same_text(encoding):
    """A file in another encoding is damaged unless its bytes happen to be UTF-8; it is never read as something else in silence."""
    text = front("project: naïve").decode()
    data = text.encode(encoding, "replace")
    found = quickly(data)
    assert (
        isinstance(found, str)
        or found.fields["project"] == data.decode().split("project: ")[1].split("\n")[0]
    )


# -- fuzz


FRAGMENTS = st.sampled_from(
    [
        "---\n",
        "id: " + ID,
        "kind: memory",
        "created: " + AT,
        "\n",
        "# T\n",
        ": ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        '"',
        "'",
        "&a ",
        "*a ",
        "!!str ",
        "|",
        ">",
        "? ",
        "%",
        "\t",
        "  ",
        "tags:",
        "rev: 1",
        "\\u0000",
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
        "\u2028",
        "1e400",
        "null",
        ",",
        "#",
        "stamps:",
        "x: ",
        "\r",
        "\ufeff",
    ]
)


@settings(max_examples=scaled(400, 100), deadline=None)
@given(st.binary(max_size=400))
@example(b"---\n" + b"x: " + b"[" * 2000)
def test_arbitrary_bytes(data):
    """Any bytes are a record or damaged."""
    quickly(data)


@settings(max_examples=scaled(400, 100), deadline=None)
@given(st.binary(max_size=200))
def test_arbitrary_front_matter(data):
    """Any bytes inside front matter are fields or damaged."""
    quickly(front().replace(b"\n---\n#", b"\n" + data + b"\n---\n#"))


@settings(max_examples=scaled(400, 100), deadline=None)
@given(st.lists(FRAGMENTS, max_size=30).map("".join))
def test_yaml_like_front_matter(text):
    """So is text made of what YAML gives a meaning."""
    quickly(front(text))


@settings(max_examples=scaled(200, 50), deadline=None)
@given(item=records(), data=st.data())
def test_damaged_bytes_of_a_real_record(item, data):
    """A real record with a few bytes cut, changed or doubled is a record or damaged."""
    raw = bytearray(encode(item))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw)))
        length = data.draw(st.integers(0, 8))
        raw[at : at + length] = data.draw(st.binary(max_size=8))
    found = sane(bytes(raw))
    assert isinstance(found, str) or found == decode(encode(found))


@QUICK
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(), v, max_size=4),
        max_leaves=12,
    )
)
def test_any_json_as_a_field(value):
    """A field of any JSON is kept or refused with InvalidRecord; what is kept reads back."""
    try:
        item = make("memory", ID, "T", created=AT, x=value)
        data = encode(item)
    except InvalidRecord:
        return
    assert item == decode(data)


@pytest.mark.parametrize(
    "value",
    [object(), {1: 2}, {"a": {1, 2}}, b"x", [[object()]], 2**63, float("nan"), float("inf")],
    ids=lambda v: type(v).__name__,
)
def test_values_beyond_json_are_refused_on_writing(value):
    """What JSON cannot hold never reaches a file."""
    with pytest.raises(InvalidRecord):
        encode(Record(ID, "memory", "T", "", MappingProxyType({"created": AT, "x": value})))


def test_record_at_another_path_is_damaged():
    """A file that holds another record's id is told, with the id."""
    other = "mem-01arz3ndektsv4rrffq69g5f1w"
    assert ID in str(sane(front(), other))


def test_reading_is_quick_for_canonical_bytes():
    """Canonical front matter is read without a YAML library: a thousand records in well under a second."""
    data = encode(
        make(
            "memory",
            ID,
            "T",
            "body\n" * 20,
            created=AT,
            tags=["a", "b"],
            anchors=[{"path": "a.py", "lines": [1, 2]}],
        )
    )
    start = time.process_time()
    for _ in range(1000):
        decode(data)
    assert time.process_time() - start < 1.0
    assert json.loads('["a", "b"]') == decode(data).tags
