"""What a record is: types, defaults, ids, clean text, one canonical form."""

import re
import string
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.clock import Clock, base32, ulid_time
from gitmem.errors import InvalidRecord
from gitmem.records.kinds import NAMED, PREFIX
from gitmem.records.record import SCHEMA, Record, canonical, kind_of, make
from gitmem.records.texts import TITLE_LIMIT, clean_body, clean_text, clean_title
from gitmem.store.layout import id_of_path, record_path, safe_path
from tests.records.strategies import ids, records
from tests.scale import scaled

ID = "mem-01arz3ndektsv4rrffq69g5f1v"
AT = "2026-01-02T03:04:05Z"
CONTROLS = {chr(n) for n in (*range(32), *range(127, 160))}


def memory(title: str = "T", body: str = "", **fields: object) -> Record:
    return make("memory", ID, title, body, **{"created": AT, **fields})


def test_change_makes_a_new_record():
    """A record never changes; a change is another value, None goes back to the default."""
    one = memory(importance=7)
    two = one.change(importance=None, tags=["a"])
    assert (7, [], 5, ["a"]) == (one.get("importance"), one.tags, two.get("importance"), two.tags)
    with pytest.raises(TypeError):
        one.fields["importance"] = 1  # type: ignore[index]


def test_touched_counts_up():
    """A change has the next revision and its time."""
    one = memory().touched("2026-02-02T00:00:00Z")
    assert (2, "2026-02-02T00:00:00Z", AT) == (one.rev, one.updated, one.created)


@pytest.mark.parametrize(
    ("kind", "want"),
    [
        (
            "memory",
            {
                "type": "fact",
                "importance": 5,
                "status": "active",
                "decay_rate": 0.995,
                "agent": "global",
                "origin": "manual",
                "tags": [],
                "anchors": [],
                "triggers": {},
            },
        ),
        (
            "gotcha",
            {
                "category": "general",
                "severity": "warning",
                "occurrences": 1,
                "source": "manual",
                "resolved": {},
                "workaround": None,
            },
        ),
        ("session", {"program": None, "facts": []}),
    ],
)
def test_defaults(kind, want):
    """What is absent has its default."""
    item = make(kind, f"{PREFIX[kind]}-01arz3ndektsv4rrffq69g5f1v", "T", created=AT)
    assert want == {key: item.get(key) for key in want}


def test_updated_falls_back_to_created():
    """A record that never changed was updated when it was made."""
    assert AT == memory().updated


@settings(max_examples=scaled(150, 40), deadline=None)
@given(item=records())
def test_canonical_is_a_fixed_point(item):
    """The canonical form of a canonical record is itself."""
    assert item == canonical(item)


def test_sets_are_sorted_without_doubles_and_blanks():
    """Tags, links and the like are sets."""
    assert ["a b", "b"] == memory(tags=["b", " a  b ", "b", " "]).tags


def test_anchors_do_not_depend_on_the_order_of_keys():
    """Equal anchors are one, whatever order their keys came in."""
    item = memory(
        anchors=[{"path": "b", "lines": [1, 2]}, {"lines": [1, 2], "path": "b"}, {"path": "a"}, {}]
    )
    assert [{"lines": [1, 2], "path": "b"}, {"path": "a"}] == item.anchors


@pytest.mark.parametrize(
    "fields",
    [
        {"importance": 11},
        {"importance": -1},
        {"importance": "5"},
        {"importance": True},
        {"type": "idea"},
        {"status": "lost"},
        {"tags": "a"},
        {"tags": [1]},
        {"anchors": ["a.py"]},
        {"triggers": "x"},
        {"rev": -1},
        {"rev": 1.5},
        {"rev": 2**53},
        {"created": "2026-01-01"},
        {"created": "2026-01-01T00:00:00+01:00"},
        {"updated": "now"},
        {"created": None},
        {"conflict": "yes"},
        {"a b": 1},
        {"": 1},
        {"1x": 1},
        {"k" * 65: 1},
    ],
    ids=str,
)
def test_wrong_field_is_refused(fields):
    """A field of another type, or out of its range, is refused with the field's name or what is missing."""
    with pytest.raises(InvalidRecord):
        memory(**fields)


@pytest.mark.parametrize(
    ("kind", "id"),
    [
        ("memory", "got-" + ID[4:]),
        ("memory", "mem-1"),
        ("thing", ID),
        ("work", "wrk-"),
        ("work", "wrk-../x"),
        ("dna", "dna-A"),
    ],
)
def test_id_belongs_to_its_kind(kind, id):
    """An id of another kind, or no id, is refused."""
    with pytest.raises(InvalidRecord):
        make(kind, id, "T", created=AT)


@pytest.mark.parametrize("title", ["", " \n ", "\t"])
def test_title_is_needed(title):
    """A record without a title is refused."""
    with pytest.raises(InvalidRecord, match="title"):
        memory(title)


@given(st.text())
def test_clean_title_is_one_bounded_line(text):
    """A title is one line of at most 300 characters; cleaning again changes nothing."""
    title = clean_title(text)
    assert len(title) <= TITLE_LIMIT
    assert title == clean_title(title) == " ".join(title.split())
    assert not set(title) & CONTROLS


@given(st.text())
def test_clean_body_is_a_fixed_point(text):
    """A body has LF line ends, no blank lines at its ends, one line end at the last; indentation stays."""
    body = clean_body(text)
    assert body == clean_body(body)
    assert not body or (
        body.endswith("\n") and not body.endswith("\n\n") and body.split("\n")[0].strip()
    )


@given(st.text(st.characters()))
def test_clean_text_is_nfc_and_can_be_written(text):
    """Text with lone surrogates, control characters or decomposed letters becomes UTF-8 in NFC."""
    clean = clean_text(text)
    clean.encode()
    assert clean == unicodedata.normalize("NFC", clean)
    assert not (CONTROLS - {"\t", "\n"}) & set(clean)
    assert clean == clean_text(clean)


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-13-45T99:99:99Z",
        "2026-02-30T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:60Z",
        "0000-01-01T00:00:00Z",
        "٢٠٢٦-01-01T00:00:00Z",
    ],
)
def test_time_that_no_calendar_has_is_refused(stamp):
    """A time must be one; a leap second is none that can be computed with."""
    for key in ("created", "updated"):
        with pytest.raises(InvalidRecord, match=key):
            make("memory", ID, "T", **{"created": "2026-01-01T00:00:00Z", key: stamp})


def test_status_of_a_gotcha_is_one_of_four():
    """Free text there would reach every list."""
    with pytest.raises(InvalidRecord, match="status"):
        make(
            "gotcha",
            ID.replace("mem", "got"),
            "T",
            created="2026-01-01T00:00:00Z",
            status="\x1b[31mBOO",
        )


def test_letters_written_in_two_ways_are_one():
    """A composed and a decomposed accent give the same record."""
    assert memory("caf\u00e9") == memory("cafe\u0301")


# -- ids


@given(ids)
def test_id_and_path_name_each_other(ulid):
    """Of every kind with random ids, the path gives the id back and is safe."""
    for kind, prefix in PREFIX.items():
        if kind not in NAMED:
            id = f"{prefix}-{ulid}"
            assert (kind, id) == (kind_of(id), id_of_path(record_path(id)))
            assert safe_path(record_path(id))


@given(st.text(string.printable, max_size=40))
def test_only_ids_have_paths(text):
    """No text but a well-formed id gets a path, and that path never leads elsewhere."""
    for id in (text, "mem-" + text, "wrk-" + text, "dna-" + text):
        if kind_of(id) is None:
            with pytest.raises(InvalidRecord):
                record_path(id)
        else:
            assert safe_path(record_path(id))
            assert id == id_of_path(record_path(id))


@pytest.mark.parametrize(
    "id",
    [
        "",
        "mem",
        "mem-",
        ID.upper(),
        ID + "0",
        ID[:-1],
        ID + "\n",
        "mem-81arz3ndektsv4rrffq69g5f1v",
        "mem-01arz3ndektsv4rrffq69g5f1u",
        "xyz-" + ID[4:],
        "wrk-.x",
        "wrk-x.",
        "wrk-a/b",
        "dna-..",
        "wrk-" + "a" * 65,
        "mem-" + "é" * 26,
    ],
    ids=ascii,
)
def test_malformed_id(id):
    """What is not an id of ours is none."""
    assert kind_of(id) is None


def test_ids_are_in_the_order_of_time_and_spread():
    """A later id sorts later; the last two characters take all 256 values."""
    at = [1_700_000_000.0]
    clock = Clock(now=lambda: at[0])
    one = clock.ulid()
    at[0] += 0.001
    assert one < clock.ulid()
    assert abs(ulid_time(one) - 1_700_000_000.0) < 0.002
    assert 256 == len({clock.ulid()[-2:] for _ in range(6000)})


@given(st.integers(0, 2**128 - 1))
def test_any_number_gives_an_id(value):
    """An id made from a digest is well formed."""
    assert kind_of("got-" + base32(value)) == "gotcha"


def test_schema_has_every_kind():
    """Each kind has a prefix and a schema with the common fields."""
    assert set(PREFIX) == set(SCHEMA)
    for schema in SCHEMA.values():
        assert {
            "id",
            "kind",
            "created",
            "updated",
            "rev",
            "author",
            "agent",
            "session",
            "tags",
            "origin",
        } <= set(schema)
        assert all(re.fullmatch(r"[a-z_]+", key) for key in schema)
