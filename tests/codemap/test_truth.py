"""Marked lines are followed through random edits: held to a ground truth, by numbers."""

import random
import subprocess
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.codemap.anchors.resolve import attach, place
from tests.codemap import edits, truth
from tests.codemap.conftest import Tree
from tests.codemap.edits import EDITS, marked, where
from tests.scale import scaled


def test_random_edits_with_the_old_text():
    """Of lines that exist 95 % and more are found; of all, no more than one in two hundred is put on a wrong line."""
    counts: Counter[str] = Counter(
        truth.judge(truth.run(case), case) for case in truth.cases(11, 1_200)
    )
    right, wrong = truth.rates(counts)
    assert wrong <= 0.5, counts
    assert right >= 95.0, counts


def test_each_edit_alone_with_the_old_text():
    """No kind of edit is a weak spot."""
    for kind in EDITS:
        counts: Counter[str] = Counter(
            truth.judge(truth.run(case), case) for case in truth.cases(12, 80, [kind])
        )
        assert truth.rates(counts)[0] >= 93.0, (kind, counts)


def test_random_edits_by_memory_alone():
    """Seven lines know less than a file: more is adrift, little is wrong."""
    counts: Counter[str] = Counter(
        truth.judge(truth.run(case, with_text=False), case) for case in truth.cases(13, 600)
    )
    right, wrong = truth.rates(counts)
    assert wrong <= 2.0, counts
    assert right >= 80.0, counts


@settings(max_examples=scaled(150, 40), deadline=None)
@given(
    seed=st.integers(0, 2**32),
    language=st.sampled_from(truth.LANGUAGES),
    names=st.lists(
        st.sampled_from(["insert lines", "insert a copy", "move", "indent"]), max_size=3
    ),
)
def test_line_that_nobody_touched_is_never_said_to_have_changed(seed, language, names):
    """Whatever happens around it: it is where it is, or not found, and its text is the same."""
    r = random.Random(seed)
    old = edits.source(r, language, 80)
    line = truth.choose(r, old)
    text = marked(old)
    for name in names:
        text = EDITS[name](r, text, line)
    new = [x.text for x in text]
    made = place(
        attach({"path": "a.py", "lines": [line + 1, line + 1]}, "\n".join(old), "b"), new, old=old
    )
    if made.state in {"same", "moved"}:
        assert old[line].split() == new[made.first - 1].split()
    if not names:
        assert (line + 1, "same") == (made.first, made.state)


@settings(max_examples=scaled(100, 40), deadline=None)
@given(
    seed=st.integers(0, 2**32),
    language=st.sampled_from(truth.LANGUAGES),
    above=st.integers(0, 50),
    below=st.integers(0, 50),
)
def test_what_is_put_around_all_of_it_moves_every_line_alike(seed, language, above, below):
    """New lines at the ends: each line is found, repeated ones too."""
    r = random.Random(seed)
    old = edits.source(r, language, 60)
    new = [f"# above {n}" for n in range(above)] + old + [f"# below {n}" for n in range(below)]
    for line in r.sample(range(len(old)), 10):
        if old[line].strip():
            made = place(
                attach({"path": "a.py", "lines": [line + 1, line + 1]}, "\n".join(old), "b"),
                new,
                old=old,
            )
            assert (line + 1 + above, "same") == (made.first, made.state), old[line]


@settings(max_examples=scaled(100, 40), deadline=None)
@given(
    seed=st.integers(0, 2**32),
    language=st.sampled_from(truth.LANGUAGES),
    kind=st.sampled_from(sorted(EDITS)),
    size=st.integers(2, 30),
)
def test_blocks_are_followed(seed, language, kind, size):
    """An anchor of several lines that is found covers most of what is left of them; of a block that a move tore apart, a part."""
    r = random.Random(seed)
    old = edits.source(r, language, 120)
    first = r.randrange(max(1, len(old) - size))
    last = min(len(old), first + size) - 1
    mark = next((n for n in range(first, last + 1) if old[n].strip()), None)
    if mark is None:
        return
    text = EDITS[kind](r, marked(old), mark)
    new = [x.text for x in text]
    made = place(
        attach({"path": "a.py", "lines": [first + 1, last + 1]}, "\n".join(old), "b"), new, old=old
    )
    assert 1 <= made.first <= made.last <= max(1, len(new))
    if made.is_certain:
        left = [n for n in range(first, last + 1) if old[n].strip() and where(text, n)]
        covered = sum(1 for n in left if made.first <= (where(text, n) or 0) <= made.last)
        assert (covered >= 1 if kind == "move" else 2 * covered >= len(left)) or len(left) < 3, (
            kind,
            made,
        )


def test_histories_of_repositories(tmp_path):
    """The same as commits, with files renamed and split: counted over several repositories."""
    counts: Counter[str] = Counter()
    for seed in range(4):
        path = tmp_path / str(seed)
        subprocess.run(["git", "init", "-q", str(path)], check=True)
        counts += truth.history(Tree(path), seed, 5)
    right, wrong = truth.rates(counts)
    assert right >= 90.0, counts
    assert wrong <= 1.0, counts
