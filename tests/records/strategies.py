"""Hypothesis strategies: records, and edits of records."""

from hypothesis import strategies as st

from gitmem.clock import base32
from gitmem.records.record import CATEGORIES, SEVERITIES, STATUSES, TYPES, Record, make

words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=30)
titles = words.map(lambda t: "t " + t)
stamps = st.integers(0, 40).map(lambda n: f"2026-01-01T00:00:{n:02d}Z")
lines = st.lists(
    st.sampled_from(["alpha\n", "beta\n", "gamma\n", "\n", "- a: b\n", "é\n", "---\n", "# x\n"]),
    max_size=8,
).map("".join)
tags = st.lists(words, max_size=4)
anchors = st.lists(
    st.fixed_dictionaries(
        {"path": words, "lines": st.lists(st.integers(0, 99), min_size=2, max_size=2)}
    ),
    max_size=3,
)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
unknown = st.dictionaries(
    st.from_regex(r"x_[a-z]{1,3}", fullmatch=True),
    json_values.filter(lambda v: v is not None),
    max_size=2,
)
ids = st.integers(0, 2**128 - 1).map(base32)
sources = st.lists(
    st.fixed_dictionaries({"at": stamps, "session": st.sampled_from(["a", "b"])}), max_size=30
)

MEMORY_EDITS = {
    "type": st.sampled_from(TYPES),
    "importance": st.integers(0, 10) | st.floats(0, 10),
    "status": st.sampled_from(STATUSES),
    "project": words,
    "tags": tags,
    "links": tags,
    "anchors": anchors,
    "sources": sources,
    "done": st.none() | st.fixed_dictionaries({"by": words}),
    "expires": st.sampled_from(["", "2026-12-31", "2026-12-31T18:00:00Z"]),
    "verify": st.lists(st.fixed_dictionaries({"path": words}), max_size=2),
    "triggers": st.dictionaries(st.sampled_from(["error", "code"]), words, max_size=2),
}
GOTCHA_EDITS = {
    "category": st.sampled_from(CATEGORIES),
    "severity": st.sampled_from(SEVERITIES),
    "workaround": words,
    "occurrences": st.integers(0, 50),
    "last_seen": stamps,
    "first_seen": stamps,
    "anchors": anchors,
    "tags": tags,
    "resolved": st.none() | st.fixed_dictionaries({"by": words}),
}


@st.composite
def records(draw: st.DrawFn, kind: str | None = None) -> Record:
    """A valid record of any content."""
    kind = kind or draw(st.sampled_from(["memory", "gotcha"]))
    edits = MEMORY_EDITS if kind == "memory" else GOTCHA_EDITS
    fields = draw(st.fixed_dictionaries({}, optional=edits))
    prefix = "mem-" if kind == "memory" else "got-"
    return make(
        kind,
        prefix + draw(ids),
        draw(titles),
        draw(lines),
        created=draw(stamps),
        updated=draw(stamps),
        rev=draw(st.integers(0, 5)),
        **fields,
        **draw(unknown),
    )


@st.composite
def edited(draw: st.DrawFn, base: Record) -> Record:
    """The record after somebody's edit: a later revision with some fields changed."""
    edits = MEMORY_EDITS if base.kind == "memory" else GOTCHA_EDITS
    fields = draw(st.fixed_dictionaries({}, optional=edits))
    body = draw(st.just(base.body) | lines)
    title = draw(st.just(base.title) | titles)
    new = base.change(
        title=title,
        body=body,
        rev=base.rev + draw(st.integers(1, 3)),
        updated=draw(stamps),
        **fields,
    )
    return make(new.kind, new.id, new.title, new.body, **new.fields)
