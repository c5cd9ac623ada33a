"""What is remembered of the code, and finding it again in another text."""

import subprocess
import sys
from binascii import b2a_base64, crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.codemap.anchors.resolve import attach, place
from gitmem.codemap.anchors.spec import parse
from gitmem.codemap.linemap.conflicts import conflict_sides
from gitmem.codemap.symbols import definitions
from gitmem.errors import UserError
from tests.scale import scaled

CODE = "import os\n\n\nclass Pool:\n    def get(self):\n        return self.free.pop()\n\n    def put(self, one):\n        self.free.append(one)\n"
LINES = CODE.split("\n")


def test_code_is_remembered_with_what_stands_around_it():
    """The anchored lines, three before and three after, codes of lines further away, the definition they are in, and the file's blob."""
    made = attach(parse("pool.py:5-6"), CODE, "b" * 40)
    far = [b2a_base64(crc32(b"import os").to_bytes(4, "big")[1:], newline=False).decode(), "...."]
    assert {
        "path": "pool.py",
        "lines": [5, 6],
        "blob": "b" * 40,
        "symbol": "Pool.get",
        "context": {"before": LINES[1:4], "lines": LINES[4:6], "after": LINES[6:9], "far": far},
    } == made


def test_repeated_code_is_found_again_by_lines_far_from_it():
    """Three lines on either side are the same in two definitions; who has not the old text knows by lines beyond which it was."""

    def body(name):
        return [
            f"def {name}(x):",
            f"    log('{name}')",
            *(["    x = step(x)"] * 4),
            "    return done(x)",
            *(["    x = undo(x)"] * 4),
            f"    end('{name}')",
            "",
        ]

    old = [*body("one"), *body("two")]
    new = ["import late", "", *body("one"), *body("two")]
    at = len(body("one")) + 7
    made = place(attach({"path": "a.txt", "lines": [at, at]}, "\n".join(old), ""), new)
    assert (at + 2, "same") == (made.first, made.state)


def test_code_that_was_commented_out_is_not_taken_for_a_copy_of_it():
    """A block that is a comment now is found; with a copy of its lines elsewhere, that is not said to be it."""
    old = [
        "def run():",
        "    start(one)",
        "    check(two, three)",
        "    stop(four)",
        "    return 1",
    ]
    new = [
        "def run():",
        "    # start(one)",
        "    # check(two, three)",
        "    # stop(four)",
        "    return 1",
    ]
    anchor = attach({"path": "a.py", "lines": [3, 3]}, "\n".join(old), "")
    made = place(anchor, new, old=old)
    assert (3, "changed") == (made.first, made.state)
    copy = ["", "def again():", "    start(one_b)", "    check(two, three)", "    stop(four_b)"]
    made = place(anchor, new + copy, old=old)
    assert made.first == 3 or not made.is_certain


@pytest.mark.parametrize(
    ("spec", "lines", "name"),
    [
        ("Pool", [4, 9], "Pool"),
        ("Pool.put", [8, 9], "Pool.put"),
        ("put", [8, 9], "Pool.put"),
        ("Pool::get", [5, 6], "Pool.get"),
    ],
)
def test_symbol_gets_its_lines(spec, lines, name):
    """By its qualified name, or alone when it is there once; the name is kept in full."""
    made = attach(parse(f"pool.py#{spec}"), CODE, "b")
    assert (lines, name) == (made["lines"], made["symbol"])


def test_symbol_that_is_not_there_is_refused_with_near_names():
    """So that a slip is seen at once."""
    with pytest.raises(UserError, match=r"has no 'Pool\.gett'") as error:
        attach(parse("pool.py#Pool.gett"), CODE, "b")
    assert "Pool.get" in error.value.hint
    with pytest.raises(UserError):
        attach(parse("notes.txt#Pool"), "nothing\n", "b")


def test_symbol_that_is_there_twice_is_refused():
    """With what to say instead."""
    two = "class A:\n    def f(self): pass\nclass B:\n    def f(self): pass\n"
    with pytest.raises(UserError) as error:
        attach(parse("a.py#f"), two, "b")
    assert "A.f, B.f" in error.value.hint
    with pytest.raises(UserError) as error:
        attach(parse("a.py#f"), "def f(): pass\ndef f(): return 1\n", "b")
    assert "a.py:1" in error.value.hint


@pytest.mark.parametrize(
    "line",
    [
        "export async function load(x) {",
        "pub(crate) fn load() {",
        "const load = () => 1",
        "func load() error {",
        "interface load {",
        "  def load(self):",
        "func (p *Pool) load() {",
        "#define load 1",
        "function M.load()",
        "defn x\nclass load",
    ],
)
def test_definitions_of_languages_without_a_grammar(line):
    """Functions, classes and constants are found by how they read."""
    want = 2 + line.count("\n")
    assert [want, want] == attach(
        {"path": "x", "symbol": "load"}, f"// load is called here\n{line}\n", "b"
    )["lines"]


def test_definition_without_its_grammar(monkeypatch):
    """A damaged grammar costs the exact answer, not the anchor."""
    monkeypatch.setattr(definitions, "symbols", lambda text, path: ())
    made = attach(parse("pool.py#Pool.put"), CODE, "b")
    assert [8, 8] == made["lines"]
    assert 9 == place(made, ["# top", *LINES]).first


def test_lines_past_the_end():
    """A first line past the end is refused; a last one is cut."""
    with pytest.raises(UserError, match="9 lines"):
        attach(parse("pool.py:99"), CODE, "b")
    assert [9, 10] == attach(parse("pool.py:9-99"), CODE, "b")["lines"]


def test_binary_file_has_no_lines():
    """Only its blob is kept."""
    assert {"path": "a.bin", "lines": [1, 1], "blob": "b"} == attach(
        parse("a.bin:1"), "\0\1\n", "b"
    )


def test_long_lines_are_cut():
    """A minified file does not fill the record."""
    made = attach(parse("a.js:1-40"), "\n".join(["x" * 5000] * 60), "b")
    assert (20, 200) == (len(made["context"]["lines"]), len(made["context"]["lines"][0]))


# -- found again: with the old text, and with what is remembered alone


@pytest.fixture(params=["text", "memory"])
def spot(request):
    """Place an anchor made on CODE (or another text) in a text: (first, last, state)."""

    def place_it(
        text: str, spec: str = "pool.py:5", blob: str = "", before: str = CODE
    ) -> tuple[int, int, str]:
        made = place(
            attach(parse(spec), before, "old"),
            text.split("\n"),
            blob,
            before.split("\n") if request.param == "text" else None,
        )
        return made.first, made.last, made.state

    return place_it


def test_same_blob_is_the_same_place(spot):
    """An unchanged file needs no look."""
    assert (5, 5, "same") == spot("anything\n" * 20, blob="old")


def test_moved_lines_are_followed(spot):
    """Lines put above or taken away move the place."""
    assert (8, 8, "same") == spot("# a\n# b\n# c\n" + CODE)
    assert (2, 2, "same") == spot("\n".join(LINES[3:]))


def test_indented_code_is_the_same(spot):
    """Code put into a block is found."""
    assert (6, 6, "same") == spot("if True:\n" + "\n".join("    " + line for line in LINES))


def test_windows_line_ends_are_no_change(spot):
    """Nor are tabs for spaces."""
    assert (5, 5, "same") == spot(CODE.replace("\n", "\r\n"))
    assert (5, 5, "same") == spot(CODE.replace("    ", "\t"))


def test_of_two_equal_lines_the_one_in_its_surroundings_is_meant(spot):
    """A line that occurs twice is told apart by what stands around it."""
    text = "x\n    def get(self):\n        pass\n\n\n" + CODE
    assert (10, 10, "same") == spot(text)


def test_changed_line_is_found_by_likeness(spot):
    """An edited line is found, and said to have changed."""
    assert (5, 5, "changed") == spot(CODE.replace("def get(self):", "def get(self, timeout):"))


def test_removed_code_is_adrift(spot):
    """What is not there any more is shown on the file, not on a wrong line."""
    assert (1, 1, "adrift") == spot("completely\ndifferent\ncontent\n")
    assert (1, 1, "adrift") == spot("")


def test_definition_stands_in_for_its_lines(spot):
    """The line is gone, its function is there: near, and said to be so."""
    text = CODE.replace("        return self.free.pop()\n", "        raise NotImplementedError\n")
    assert (5, 6, "approximate") == spot(text, "pool.py:6")


def test_block_keeps_its_length(spot):
    """An anchor of several lines stays as long, within the file."""
    assert (8, 9, "same") == spot("# a\n# b\n# c\n" + CODE, "pool.py:5-6")
    assert (5, 6, "same") == spot("\n".join(LINES[:6]), "pool.py:5-6")


def test_block_grows_with_its_code(spot):
    """Lines put into it belong to it; most lines gone, and it is adrift or its definition."""
    text = CODE.replace(
        "        return self.free.pop()\n", "        self.wait()\n        return self.free.pop()\n"
    )
    assert (5, 7, "changed") == spot(text, "pool.py:5-6")


BLOCKS = "".join(
    f"def f{n}(x):\n    if x is None:\n        return None\n    return x\n\n\n" for n in range(6)
)


@pytest.mark.parametrize("line", [2, 3, 9, 15, 21, 33])
def test_repeated_blocks_are_told_apart(spot, line):
    """The same two lines in each function: the one in its own function is meant."""
    text = BLOCKS.replace("def f0", "import os\n\n\ndef f0")
    assert (line + 3, line + 3, "same") == spot(text, f"a.py:{line}", before=BLOCKS)


@pytest.mark.parametrize("line", [3, 15, 33])
def test_line_whose_like_stays_elsewhere_is_not_there(spot, line):
    """Deleted here, the equal lines of other functions are not it."""
    lines = BLOCKS.split("\n")
    del lines[line - 2 : line]
    first, _, state = spot("\n".join(lines), f"a.py:{line}", before=BLOCKS)
    assert state in {"approximate", "adrift"}, first


def test_two_places_that_are_as_good_are_not_guessed():
    """With nothing to tell them apart, neither is taken."""
    assert (
        "adrift"
        == place(
            attach(parse("a.txt:2"), "x\nthe same line\ny\n", "b"),
            ["the same line", "", "the same line"],
        ).state
    )


def test_moved_function_is_said_to_have_moved():
    """Found whole elsewhere in the file."""
    old = "\n".join(f"def f{n}(x):\n    return compute_{n}(x)\n" for n in range(9)).split("\n")
    new = old[3:] + old[:3]
    made = place(attach(parse("a.py:2"), "\n".join(old), "b"), new, old=old)
    assert (new.index("    return compute_0(x)") + 1, "moved") == (made.first, made.state)


@pytest.mark.parametrize(("changes", "stale"), [(0, False), (1, False), (4, True)])
def test_code_that_changed_much_makes_the_record_stale(changes, stale):
    """A line of ten is not much, four are."""
    old = [f"value_{n} = compute_{n}(first, second)" for n in range(10)]
    new = [f"something_else({n})" if 0 < n <= changes else line for n, line in enumerate(old)]
    assert stale == place(attach(parse("a.py:1-10"), "\n".join(old), "b"), new, old=old).stale


def test_symbol_without_lines_is_looked_up():
    """An anchor that somebody wrote by hand."""
    made = place({"path": "pool.py", "symbol": "Pool.put"}, ["# top", *LINES])
    assert (9, 10, "same") == (made.first, made.last, made.state)
    assert "adrift" == place({"path": "pool.py", "symbol": "Pool.nothing"}, LINES).state


def test_file_and_glob():
    """An anchor to a file is at the file, a glob at no place of its own."""
    assert (1, 1, "file") == (lambda p: (p.first, p.last, p.state))(place({"path": "a"}, LINES))
    assert "glob" == place({"glob": "**"}, LINES).state


def test_old_text_that_is_not_the_anchored_one_is_not_trusted():
    """A blob that does not have the remembered lines says nothing."""
    made = attach(parse("pool.py:6"), CODE, "b")
    assert (
        6
        == place(
            made, LINES, old=["other", "text", "of", "the", "same", "length", "as it was"]
        ).first
    )


def test_masked_secret_does_not_cost_the_anchor():
    """A record has no secret in it; the line is found by the text it was in."""
    made = attach(parse("pool.py:6"), CODE, "b")
    made["context"]["lines"] = ["        return [masked]"]
    assert (7, "same") == (lambda p: (p.first, p.state))(place(made, ["# top", *LINES], old=LINES))


@pytest.mark.parametrize(
    "anchor",
    [
        {},
        {"lines": "x"},
        {"lines": [1]},
        {"lines": [1, "2"]},
        {"lines": [-5, 10**9]},
        {"lines": [5, 5], "context": "x"},
        {"lines": [5, 5], "context": {"lines": "abc"}},
        {"lines": [5, 5], "context": {"lines": [1, None]}},
        {"lines": [5, 5], "context": {"lines": ["def get(self):"], "before": 1, "after": None}},
        {"lines": [5, 5], "context": {"lines": None}},
        {"lines": [True, False]},
        {"lines": [9, 3], "context": {"lines": ["x"]}},
        {"lines": [0, 0], "blob": "b"},
        {"lines": [5, 10**12], "symbol": 7},
        {"path": 3, "symbol": []},
        {"lines": [5, 5], "symbol": "((((", "path": "a.py"},
        {"glob": 7},
    ],
    ids=str,
)
def test_anchor_that_somebody_else_wrote(anchor):
    """An anchor of any shape gives a place inside the file."""
    for blob in ("", "b"):
        for old in (None, LINES, []):
            made = place(anchor, LINES, blob, old)
            assert 1 <= made.first <= made.last <= len(LINES)
            assert made.state in {
                "same",
                "moved",
                "changed",
                "approximate",
                "adrift",
                "file",
                "glob",
            }


lines = st.lists(
    st.sampled_from(
        [
            "def a():",
            "    return 1",
            "",
            "x = 1",
            "}",
            "漢字",
            "def compute_the_total(cart):",
            "    return compute_the_total(cart)",
        ]
    ),
    min_size=1,
    max_size=20,
)


@settings(max_examples=scaled(200, 50), deadline=None)
@given(old=lines, new=lines, data=st.data())
def test_place_is_always_inside_the_file(old, new, data):
    """For any two texts the place is inside the new one; the old text gives the old place."""
    first = data.draw(st.integers(1, len(old)))
    last = data.draw(st.integers(first, len(old)))
    anchor = attach({"path": "x.py", "lines": [first, last]}, "\n".join(old), "blob")
    assert (first, last, "same") == (lambda p: (p.first, p.last, p.state))(
        place(anchor, old, "blob")
    )
    made = place(anchor, old, old=old)
    if any(x.strip() for x in old[first - 1 : last]):
        assert (first, last, "same") == (made.first, made.last, made.state)
    for known in (old, None):
        made = place(anchor, new, "other", known)
        assert 1 <= made.first <= made.last <= len(new)


def test_importing_is_cheap():
    """`git mem add` and an editor import it: no parser, no git, no diff with it."""
    code = "import sys, dataclasses\nbefore = set(sys.modules)\nimport gitmem.codemap.anchors.resolve, gitmem.codemap.anchors.spec\nprint(*sorted(set(sys.modules) - before))"
    loaded = set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )
    assert loaded <= {
        "gitmem",
        "gitmem.codemap",
        "gitmem.codemap.anchors.resolve",
        "gitmem.codemap.anchors.spots",
        "gitmem.codemap.anchors",
        "gitmem.codemap.linemap",
        "gitmem.codemap.anchors.spec",
        "gitmem.codemap.linemap.conflicts",
        "gitmem.codemap.linemap.kept_lines",
        "gitmem.text",
        "gitmem.text.plural",
        "gitmem.codemap.anchors.block_map",
        "gitmem.codemap.anchors.context",
        "gitmem.codemap.anchors.by_definition",
        "gitmem.codemap.linemap.equal_lines",
        "gitmem.codemap.linemap.similar_lines",
        "gitmem.codemap.linemap.line_map",
        "gitmem.codemap.linemap.normal_forms",
        "gitmem.codemap.anchors.placement",
        "gitmem.codemap.anchors.by_context",
        "gitmem.codemap.linemap.indexed_text",
        "binascii",
        "gitmem.errors",
        "gitmem.text.globs",
        "bisect",
        "_bisect",
        "typing",
        "_typing",
        "typing.io",
        "typing.re",
        "fnmatch",
        "posixpath",
        "contextlib",
    }


BODY = [f"    step_{n}(order, {n})" for n in range(6)]
ORDER = [
    "import os",
    "",
    "def pay(order):",
    *BODY,
    "",
    "def refund(order):",
    "    return order.total * 2",
    "",
]


def test_a_line_is_found_where_it_stood_when_its_code_was_copied_elsewhere_and_then_edited():
    old = ORDER
    made = attach({"path": "a.py", "lines": [6, 6]}, "\n".join(old), "b" * 40)
    edited = list(old)
    edited[5] = "    step_2(order, 2, wait=True)"
    new = [*edited, "def pay(order):", *BODY, ""]
    spot = place(made, new, "", old)
    assert (spot.first, spot.state) == (6, "changed") or spot.state in {"adrift", "approximate"}
    assert place(made, new).first == 6 or not place(made, new).is_certain


def test_an_edited_line_between_lines_that_stayed_is_found_beside_a_copy():
    made = attach({"path": "a.txt", "lines": [6, 6]}, "\n".join(ORDER), "b" * 40)
    new = [*ORDER[:9], *ORDER[2:6], "    step_3(order, 33)", *ORDER[7:]]
    new[5] = "    step_2(order, 22)"
    spot = place(made, new, "", ORDER)
    assert (spot.first, spot.state) == (6, "changed")


PAY = """\"\"\"Payments.\"\"\"
import client

RETRIES = 3


def charge(order, amount):
    \"\"\"Charge an order.\"\"\"
    total = amount * 100
    if total < 0:
        raise ValueError("negative")
    return client.post("/charge", order=order, total=total)


def report(orders):
    return [str(order) for order in orders]
""".split("\n")
CHARGE = PAY[6:12]
REFUND = ["def refund(order, amount):", *CHARGE[1:]]
CONFLICT = [line.replace("100", "1000") for line in CHARGE]
PASTES = {
    "renamed, below": (0, [*PAY[:12], "", "", *REFUND, *PAY[12:]]),
    "renamed, above": (8, [*PAY[:6], *REFUND, "", "", *PAY[6:]]),
    "same name, below": (0, [*PAY[:12], "", "", *CHARGE, *PAY[12:]]),
    "each line twice": (0, [*PAY[:12], *CHARGE, *PAY[12:]]),
    "conflict": (
        1,
        [*PAY[:6], "<<<<<<< HEAD", *CHARGE, "=======", *CONFLICT, ">>>>>>> b", *PAY[12:]],
    ),
    "conflict with base": (
        1,
        [*PAY[:6], "<<<<<<< a", *CHARGE, "||||||| c", *CHARGE, "=======", ">>>>>>> b", *PAY[12:]],
    ),
}


@pytest.mark.parametrize("paste", PASTES)
@pytest.mark.parametrize("span", [(7, 7), (7, 12), (9, 9), (12, 12), (11, 12)])
@pytest.mark.parametrize("has_text", [True, False])
def test_an_unchanged_line_keeps_its_anchor_beside_a_copy(paste, span, has_text):
    """Whatever was pasted: the line is where it was, and says what it said."""
    anchor = attach({"path": "pay.py", "lines": list(span)}, "\n".join(PAY), "b" * 40)
    by, new = PASTES[paste]

    spot = place(anchor, new, "", PAY if has_text else None)

    assert (spot.first, spot.last, spot.state) == (span[0] + by, span[1] + by, "same")


def test_their_side_of_a_conflict_counts_where_ours_has_no_such_line():
    new = [*PAY[:6], "<<<<<<< HEAD", "=======", *CHARGE, ">>>>>>> b", *PAY[12:]]
    anchor = attach({"path": "pay.py", "lines": [9, 9]}, "\n".join(PAY), "b" * 40)

    assert place(anchor, new, "", PAY).first == 11


def test_lines_that_look_like_marks_of_a_conflict_are_none():
    """A heading in reStructuredText has seven signs too; a text that begins a conflict may not end it."""
    for extra in (["Title", "=======", ""], ["<<<<<<< HEAD"], ["=======", ">>>>>>> b"]):
        anchor = attach({"path": "pay.py", "lines": [9, 9]}, "\n".join(PAY), "b" * 40)
        assert place(anchor, [*extra, *PAY], "", PAY).first == 9 + len(extra)


def test_a_broken_conflict_spoils_no_other():
    """Marks of one that does not end are lines like others."""
    good = ["<<<<<<< a", "ours", "=======", "theirs", ">>>>>>> b"]
    ours, theirs = conflict_sides([*good, "between", "<<<<<<< a", "left", "======="])
    assert ours == ["", "ours", "", "", "", "between", "<<<<<<< a", "left", "======="]
    assert theirs == ["", "", "", "theirs", "", "between", "<<<<<<< a", "left", "======="]
    (ours, _) = conflict_sides(["<<<<<<< a", "x", *good])
    assert ours == ["<<<<<<< a", "x", "", "ours", "", "", ""]
    assert conflict_sides(["=======", "x"]) == []


@pytest.mark.parametrize("line", ["", "}", "    return x", "],"])
def test_lines_that_repeat_cost_no_more_than_others(line):
    """Twenty thousand of them, in the time of a moment: nothing is looked at for each pair."""
    old, new = ["first = 1", *[line] * 20_000], ["first = 1", *[line] * 30_000]
    anchor = attach({"path": "a.py", "lines": [1, 1]}, "\n".join(old), "b" * 40)
    assert place(anchor, new, "", old).first == 1


def test_with_its_context_alone_a_line_is_not_taken_for_one_that_was_like_it_from_the_start():
    text = [
        "one:",
        "  step = 1",
        "  if ready:",
        "    close(one)",
        "",
        "two:",
        "  step = 1",
        "  if ready:",
        "    close(two)",
        "",
    ]
    made = attach({"path": "a.txt", "lines": [2, 2]}, "\n".join(text), "b" * 40)
    assert made["context"]["like"][1] > 0
    assert place(made, text[5:]).state == "adrift"
    assert place(made, ["# new", *text]).first == 3


@pytest.mark.parametrize(
    "like",
    [
        None,
        1,
        "x",
        [],
        [1, 2],
        [None] * 4,
        ["a", 1, 2, 3],
        [1e400, 1, 1, 1],
        [-1, -1, -1, -1],
        {"a": 1},
    ],
)
def test_what_another_tool_wrote_of_alike_places_does_no_harm(like):
    made = attach({"path": "a.py", "lines": [6, 6]}, "\n".join(ORDER), "b" * 40)
    made["context"]["like"] = like
    place(made, ["x = 1", *ORDER])
