"""Hindsight: what comes after a sentence changes what it is taken for; what is learnt is stored as it was, and any session can be judged."""

import math
from importlib import resources

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.extraction import extractor
from gitmem.extraction.classify.linear_model import CLASSES, EDIT, FAIL, RUN, Around, Before, scores
from gitmem.extraction.classify.session_model import (
    SHAPES,
    Heard,
    Listening,
    learnt,
    packed,
    run,
    unpacked,
    vector,
)
from gitmem.extraction.extractor import extract
from gitmem.records.items import DECISION, DONE, TASK
from gitmem.transcripts.turn import ASSISTANT, TOOL, USER, Turn
from tests.extraction.test_linear_model import TEXTS

TURNS = st.lists(
    st.tuples(
        st.sampled_from([USER, ASSISTANT]),
        st.lists(TEXTS, min_size=1, max_size=3),
        st.sets(st.sampled_from([EDIT, RUN, FAIL])),
    ),
    min_size=1,
    max_size=5,
)


def heard(
    *turns: tuple[str, list[str], set[str]], language: str = "en"
) -> tuple[list[list[Heard]], int]:
    """Return the sentences of each turn as they were heard and judged, and how many turns there were."""
    listening, before, out = Listening(), Before(), []
    for role, texts, used in turns:
        for one in sorted(used):
            listening.tool(one)
        before = Before(before.text, before.role, before.language, frozenset(used))
        first = [
            scores(text, role, language, Around(texts, n, role, language, before).features())
            for n, text in enumerate(texts)
        ]
        out.append([one for one in listening.turn(role, language, texts, first) if one is not None])
        before = Before(texts[-1], role, language)
    listening.judge()
    return out, listening.turns


def after(texts: list[str], *more: tuple[str, list[str], set[str]]) -> dict[str, float]:
    """Return what an agent's last sentence is by hindsight, when the session goes on so."""
    opening = (USER, ["we need somewhere to put the ledger"], set[str]())
    found, _ = heard(opening, (ASSISTANT, texts, set()), *more)
    return dict(found[1][-1].by)


@settings(deadline=None, max_examples=40)
@given(TURNS, st.sampled_from(["en", "pt", "es", "zh"]))
def test_any_session_can_be_judged(
    turns: list[tuple[str, list[str], set[str]]], language: str
) -> None:
    found, many = heard(*turns, language=language)
    sizes = {len(vector(one, many)) for part in found for one in part}
    assert len(sizes) <= 1
    for part in found:
        for one in part:
            assert set(one.by) == set(CLASSES)
            assert sum(one.by.values()) == pytest.approx(1.0)


def test_what_was_learnt_fits_what_is_known_of_a_sentence() -> None:
    found, turns = heard((USER, ["use Postgres"], set()))
    weights = learnt()
    sizes = {
        "D": len(vector(found[0][0], turns)),
        "C": len(CLASSES),
        "K": weights["in"].shape[0],
        "H": weights["in"].shape[2],
        "M": weights["out"].shape[2],
        "2": 2,
    }
    sizes |= {"3H": 3 * sizes["H"], "2H+D": 2 * sizes["H"] + sizes["D"]}
    for name, shape in SHAPES.items():
        assert weights[name].shape == tuple(sizes[one] for one in shape.split())
        assert np.isfinite(weights[name]).all()


def test_weights_are_stored_as_they_are() -> None:
    """Once rounded to what is stored of them."""
    weights = learnt()
    again = unpacked(packed(weights))
    assert all((again[name] == weights[name]).all() for name in SHAPES)
    assert packed(weights) == packed(again)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_a_session_is_read_in_both_directions(many: int, seed: int) -> None:
    """With the weights of the directions exchanged, a session read backwards is judged the same."""
    chance = np.random.default_rng(seed)
    width, features = 4, 5
    shapes = {
        "mean": (features,),
        "in": (2, features, width),
        "in_bias": (2, width),
        "input": (2, 2, width, 3 * width),
        "recurrent": (2, 2, width, 3 * width),
        "bias": (2, 2, 3 * width),
        "out": (2, 2 * width + features, 3),
        "out_bias": (2, 3),
        "last": (2, 3, 8),
        "last_bias": (2, 8),
    }
    weights = {name: chance.normal(size=shape) for name, shape in shapes.items()} | {
        "scale": np.ones(features)
    }
    turned = dict(weights)
    for name in ("input", "recurrent", "bias"):
        turned[name] = weights[name][:, ::-1]
    turned["out"] = np.concatenate(
        [
            weights["out"][:, width : 2 * width],
            weights["out"][:, :width],
            weights["out"][:, 2 * width :],
        ],
        1,
    )
    known = chance.normal(size=(many, features)).tolist()
    told = run(known, weights)
    assert np.allclose(told, run(known[::-1], turned)[::-1])


def test_what_is_said_last_changes_what_the_first_is_taken_for() -> None:
    """However many sentences stand between."""
    between = [(USER, ["hm"], set[str]()), (ASSISTANT, ["I see."], set())] * 5
    first = (ASSISTANT, ["The docs still need the new flag."], set[str]())
    ends, _ = heard(first, *between, (USER, ["thanks"], set()))
    goes_on, _ = heard(first, *between, (ASSISTANT, ["The docs have the new flag now."], {EDIT}))
    assert ends[0][0].by != goes_on[0][0].by


def test_no_sentence_is_no_trouble() -> None:
    assert run([]) == []


def test_a_yes_and_the_work_that_follows_make_a_decision_of_a_proposal() -> None:
    proposal = ["I'd keep the ledger in Postgres, since a transfer touches two rows."]
    taken = after(
        proposal, (USER, ["yes"], set()), (ASSISTANT, ["The ledger is in Postgres now."], {EDIT})
    )
    refused = after(
        proposal, (USER, ["no, too heavy for this"], set()), (ASSISTANT, ["All right."], set())
    )
    assert taken[DECISION] > 0.5 > refused[DECISION]


def test_what_is_done_next_was_no_task_that_is_left() -> None:
    left = ["The importer is done; the docs still need the new flag."]
    ends = after(left)
    goes_on = after(
        left,
        (USER, ["do the docs too"], set()),
        (ASSISTANT, ["The docs have the new flag."], {EDIT}),
        (USER, ["thanks"], set()),
    )
    assert ends[TASK] > goes_on[TASK]


def test_what_was_changed_before_makes_words_a_report() -> None:
    words = ["The client retries three times now, with a pause that doubles."]
    found, _ = heard(
        (USER, ["add retries"], set()), (ASSISTANT, words, {EDIT, RUN}), (USER, ["great"], set())
    )
    assert found[1][0].by[DONE] > 0.5


def test_a_word_that_answers_is_told_with_what_it_answers() -> None:
    """`postgres` alone says little a month later."""
    at = "2026-05-01T10:00:00Z"
    turns = [
        Turn(USER, "we need somewhere to put the ledger", at, 1),
        Turn(
            ASSISTANT,
            "SQLite would do for one process. Postgres has transactions over several writers. Which one shall I set up for the ledger?",
            at,
            2,
        ),
        Turn(USER, "postgres then", at, 3),
        Turn(TOOL, "", at, 4, "Edit", "", ("ledger/db.py",), False),
        Turn(ASSISTANT, "The ledger writes to Postgres now.", at, 5),
    ]
    (decision,) = [item for item in extract(turns).items if item.kind == DECISION]
    assert decision.text.lower().startswith("postgres")
    assert "ledger" in decision.text or "transactions" in decision.text


def test_an_error_and_its_cause_that_come_far_apart_are_one() -> None:
    at = "2026-05-01T10:00:00Z"
    turns = [
        Turn(USER, "the nightly export is empty since Monday", at, 1),
        Turn(ASSISTANT, "I'll look at the job first.", at, 2),
        Turn(TOOL, "0 rows", at, 3, "Bash", "psql -c 'select count(*) from export'", (), False),
        Turn(ASSISTANT, "The table is filled at noon, so the job itself works.", at, 4),
        Turn(USER, "ok and then?", at, 5),
        Turn(
            ASSISTANT,
            "The export is empty because the cursor was already consumed by the count.",
            at,
            6,
        ),
        Turn(TOOL, "", at, 7, "Edit", "", ("jobs/export.py",), False),
        Turn(ASSISTANT, "The rows are read once now and the export is full again.", at, 8),
    ]
    errors = [item for item in extract(turns).items if item.kind == "error"]
    assert len(errors) == 1
    assert "cursor was already consumed" in f"{errors[0].text} {errors[0].detail}"


def test_scores_of_hindsight_are_plain_numbers() -> None:
    found, turns = heard((USER, ["use Postgres"], set()), (ASSISTANT, ["Fine."], set()))
    assert all(math.isfinite(number) for number in vector(found[0][0], turns))


def test_what_an_agent_said_before_the_command_failed_again_is_no_fix() -> None:
    at = "2026-05-01T10:00:00Z"

    def edit() -> Turn:
        return Turn(TOOL, "", at, 0, "Edit", "", ("sig.py",), False)

    def tests(failed: bool) -> Turn:
        return Turn(
            TOOL,
            "E   SignatureError: bad HMAC" if failed else "3 passed",
            at,
            0,
            "Bash",
            "pytest tests/test_sig.py",
            (),
            failed,
        )

    turns = [
        Turn(USER, "add the signature check for Adyen", at, 1),
        edit(),
        tests(True),
        Turn(ASSISTANT, "The key is base64, so it has to be decoded first.", at, 2),
        edit(),
        tests(True),
        Turn(
            ASSISTANT,
            "The real cause is that Adyen's key is hex encoded; bytes.fromhex reads it.",
            at,
            3,
        ),
        edit(),
        tests(False),
        Turn(ASSISTANT, "The signature check is in and the tests pass.", at, 4),
        Turn(USER, "good", at, 5),
    ]
    (error,) = [item for item in extract(turns).items if item.kind == "error"]
    assert "bytes.fromhex" in error.detail
    assert "base64" not in error.detail


def test_what_went_well_is_no_error() -> None:
    at = "2026-05-01T10:00:00Z"
    turns = [
        Turn(USER, "the backfill of the old rows ran last night, Ines checked it, all good", at, 1),
        Turn(ASSISTANT, "Great, then the old column can go.", at, 2),
        Turn(TOOL, "", at, 3, "Edit", "", ("models.py",), False),
        Turn(ASSISTANT, "Dropped.", at, 4),
    ]
    assert [item for item in extract(turns).items if item.kind == "error"] == []


AT = "2026-05-01T10:00:00Z"


def labels(failed: bool, line: int) -> Turn:
    """Return a run of tests that needs a font."""
    text = (
        "Error: ENOENT: no such file or directory, open 'fonts/Lato.ttf'"
        if failed
        else "14 passing"
    )
    return Turn(TOOL, text, AT, line, "Bash", "npm test labels", (), failed)


EXPLAINED = "Claro, era eso: esbuild no copia los ficheros .ttf si no hay un loader para ellos."


SLOWLY = [  # what it says first explains nothing
    Turn(ASSISTANT, "Voy a mirar la lista.", AT, 4),
    Turn(TOOL, "a b", AT, 4, "Bash", "ls fonts", (), False),
    Turn(ASSISTANT, f"Miro el resto. {EXPLAINED}", AT, 5),
]
AT_ONCE = [Turn(USER, "las fuentes no van en el bundle", AT, 4), Turn(ASSISTANT, EXPLAINED, AT, 5)]


@pytest.mark.parametrize(("between", "edits"), [(AT_ONCE, True), (SLOWLY, True), (SLOWLY, False)])
def test_a_failure_that_passed_is_told_with_what_explains_it_whatever_the_words(
    between: list[Turn], edits: bool
) -> None:
    """No cue phrase says that this is a cause."""
    turns = [
        Turn(USER, "imprime las etiquetas con la fuente nueva", AT, 1),
        Turn(TOOL, "", AT, 2, "Edit", "", ("src/labels.ts",), False),
        labels(True, 3),
        *between,
        *[Turn(TOOL, "", AT, 6, "Edit", "", ("build.mjs",), False)] * edits,
        labels(False, 7),
        Turn(ASSISTANT, "Ya pasan los catorce.", AT, 8),
    ]
    (error,) = [
        item
        for item in extract(turns).items
        if item.kind == "error" and "ENOENT" in f"{item.text} {item.detail}"
    ]
    assert "esbuild no copia" in error.detail


def test_a_long_text_that_was_asked_for_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more sentences are held for the end of a session than are judged there."""
    monkeypatch.setattr(extractor, "DEEP", 40)
    seen: list[int] = []
    judge = Listening.judge
    monkeypatch.setattr(
        Listening,
        "judge",
        lambda self, **more: (seen.append(len(self.all)), judge(self, **more))[1],
    )
    drafts = [
        Turn(ASSISTANT, " ".join(f"We ship the number {n} of {m}." for n in range(9)), AT, m)
        for m in range(2, 30)
    ]
    extract([Turn(USER, "Write a newsletter for our customers", AT, 1), *drafts])
    assert 0 < seen[0] <= 40


def test_nothing_is_shipped_that_is_not_read() -> None:
    found = {one.name for one in resources.files("gitmem.extraction").joinpath("data").iterdir()}
    assert found == {
        "en.toml",
        "es.toml",
        "pt.toml",
        "zh.toml",
        "common_words.txt",
        "word_classes.toml",
        "linear_model.bin",
        "session_model.npz",
    }


def test_a_request_explains_no_failure_that_came_after_it() -> None:
    def worker(failed: bool, line: int) -> Turn:
        text = "ModuleNotFoundError: No module named 'redis'" if failed else "celery@host ready"
        return Turn(TOOL, text, AT, line, "Bash", "celery -A app worker", (), failed)

    turns = [
        Turn(USER, "Start the background worker.", AT, 1),
        worker(True, 2),
        Turn(ASSISTANT, "The image has no redis client, I'll add it to requirements.", AT, 3),
        Turn(TOOL, "", AT, 4, "Edit", "", ("requirements.txt",), False),
        worker(False, 5),
        Turn(ASSISTANT, "The worker is up.", AT, 6),
    ]
    (error,) = [item for item in extract(turns).items if item.kind == "error"]
    assert "redis" in error.detail
    assert "Start the background worker" not in error.detail
