"""The network that reads the words of a session: every sentence is judged once, by what stands before and after it."""

from importlib import resources
from zipfile import BadZipFile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor

from gitmem.extraction.classify import transformer as reader
from gitmem.extraction.classify.context_features import EDIT, FAIL, RUN
from gitmem.extraction.classify.linear_model import CLASSES
from gitmem.extraction.classify.tokenizer import pieces
from gitmem.extraction.classify.transformer import LONGEST, MARKS, WINDOW, Part, halves, learnt, read, said, windows
from gitmem.records.items import DECISION, PATTERN, PREFERENCE
from gitmem.transcripts.turn import ASSISTANT, USER
from tests.summarise.test_hindsight import heard

SIZES = st.lists(st.integers(1, LONGEST + 1), max_size=400)
FEATURES = len(learnt()["mean"])


def likely(kind: str, place: int, *turns: str) -> float:
    """Return how likely the sentence of a turn is of a kind, where each is `user: ...`, `agent: ...` or, before what the agent says of it, `edit`."""
    used: set[str] = set()
    whole = []
    for turn in turns:
        word, _, text = turn.partition(": ")
        if not text:
            used.add(word)
            continue
        whole.append((USER if word == "user" else ASSISTANT, [text], used))
        used = set()
    found, _ = heard(*whole)
    return found[place][0].by[kind]


def session(made: list[tuple[str, list[int]]]) -> list[Part]:
    """Return the parts of a session of which nothing but the pieces is known."""
    role, out = "", []
    for word, numbers in made:
        if word in (EDIT, RUN, FAIL):
            out.append(Part(word))
            continue
        now = USER if word == "u" else ASSISTANT
        out.append(said(now, role, numbers, [0.0] * FEATURES))
        role = now
    return out


@given(SIZES)
def test_each_part_is_judged_in_one_window(sizes: list[int]) -> None:
    cuts = windows(sizes)
    assert [n for _, _, first, last in cuts for n in range(first, last)] == list(range(len(sizes)))
    for start, end, first, last in cuts:
        assert start <= first <= last <= end
        assert sum(sizes[start:end]) <= WINDOW


@given(SIZES)
def test_what_is_judged_has_something_on_both_sides(sizes: list[int]) -> None:
    """Where there is something; the smallest share is one part where parts are as long as they can be."""
    for start, end, first, last in windows(sizes):
        if start > 0:
            assert first > start or last == first
        if end < len(sizes):
            assert last < end or last == first


MADE = st.lists(st.tuples(st.sampled_from([*"ua", EDIT, RUN, FAIL]), st.lists(st.integers(4, 40_000), max_size=12)), max_size=60)


@settings(deadline=None, max_examples=30)
@given(MADE)
def test_every_sentence_is_judged_and_nothing_else(made: list[tuple[str, list[int]]]) -> None:
    whole = session(made)
    for part, told in zip(whole, read(whole), strict=True):
        assert (told is not None) == part.says
        assert told is None or abs(sum(told) - 1) < 1e-4


@settings(deadline=None, max_examples=15)
@given(st.lists(st.integers(1, 30), min_size=60, max_size=160), st.data())
def test_of_a_long_session_what_is_worth_most_is_read(sizes: list[int], data: st.DataObject) -> None:
    whole = session([("u" if n % 2 else "a", [7] * size) for n, size in enumerate(sizes)])
    place = data.draw(st.integers(0, len(whole) - 1))
    worth = [0.0] * len(whole)
    worth[place] = 1.0
    told = read(whole, worth, most=WINDOW)
    assert told[place] is not None
    judged = [n for n, one in enumerate(told) if one is not None]
    assert judged == list(range(judged[0], judged[-1] + 1))  # all of the one window that there is room for
    assert sum(len(whole[n]) for n in judged) <= WINDOW


def _reference(parts: list[Part]) -> list[list[float]]:
    """The same network in one window, in 64 bits and with as few words as can be (Devlin et al. 2018)."""
    net = {name: value.astype(np.float64) for name, value in learnt().items() if name not in ("word", "word_scale")}
    words = halves(learnt()["word"], learnt()["word_scale"]).astype(np.float64)

    def normal(x: np.ndarray, by: np.ndarray) -> np.ndarray:
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12) * by[0] + by[1]

    def matrix(name: str, n: int) -> np.ndarray:
        return net[name][n] * net[f"{name}_scale"][n]

    rows, firsts = [], []
    for one in parts:
        known = np.clip((np.array(one.known) - net["mean"]) / net["scale"], -6, 6)
        firsts.append((len(rows), 1 + len(one.pieces), known))
        rows.append(net["marks"][MARKS.index(one.mark)] + known @ net["given"] + net["given_bias"])
        rows += [words[number] for number in one.pieces]
    x = normal(np.array(rows) + net["place"][: len(rows)], net["first_norm"])
    for n in range(len(net["qkv_bias"])):
        q, k, v = np.split(x @ matrix("qkv", n) + net["qkv_bias"][n], 3, axis=1)
        heads = []
        for part in np.split(np.arange(x.shape[1]), 12):
            powers = np.exp(q[:, part] @ k[:, part].T / np.sqrt(len(part)))
            heads.append(powers / powers.sum(1, keepdims=True) @ v[:, part])
        x = normal(x + np.concatenate(heads, 1) @ matrix("joined", n) + net["joined_bias"][n], net["attended_norm"][n])
        inner = x @ matrix("wide", n) + net["wide_bias"][n]
        inner *= 0.5 * (1 + np.tanh(0.7978845608 * (inner + 0.044715 * inner**3)))
        x = normal(x + inner @ matrix("narrow", n) + net["narrow_bias"][n], net["wide_norm"][n])
    out = []
    for at, size, known in firsts:
        values = np.concatenate([x[at], x[at : at + size].mean(0)]) @ net["head"] + net["head_bias"] + known @ net["known"]
        powers = np.exp(values - values.max())
        out.append((powers / powers.sum()).tolist())
    return out


@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(st.sampled_from("ua"), st.lists(st.integers(4, 40_000), max_size=12), st.floats(-3, 3)), min_size=1, max_size=25))
def test_it_is_the_network_that_it_says(made: list[tuple[str, list[int], float]]) -> None:
    whole = [
        Part(one.mark, one.pieces, tuple([value] * FEATURES))
        for one, (_, _, value) in zip(session([(who, numbers) for who, numbers, _ in made]), made, strict=True)
    ]
    for mine, other in zip(read(whole), _reference(whole), strict=True):
        assert mine is not None
        assert max(abs(a - b) for a, b in zip(mine, other, strict=True)) < 0.005


TURNS = [(USER, ["the invoices are lost when two of us save"], set[str]()), (ASSISTANT, ["I propose SQLite instead of the files."], set[str]()), (USER, ["yes do that"], set[str]())]  # fmt: skip


def test_words_count() -> None:
    found, _ = heard(*TURNS)
    assert found[1][0].by != found[1][0].unread


def test_without_the_words_a_session_is_judged_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a file of the installation is damaged."""

    def damaged() -> None:
        raise BadZipFile("Bad CRC-32")

    monkeypatch.setattr(reader, "learnt", damaged)
    found, _ = heard(*TURNS)
    assert all(abs(sum(one.by.values()) - 1) < 1e-6 for said in found for one in said if one)


def test_a_session_beyond_the_limit_is_judged_to_its_end() -> None:
    filler = [
        (role, [f"{what} {n} of the report is a sentence of no importance that goes on for a while"], set[str]())
        for n in range(150) for role, what in ((USER, "row"), (ASSISTANT, "column"))
    ]  # fmt: skip
    found, _ = heard(*filler, *TURNS)
    by_words = [one.by != one.unread for said in found for one in said if one.role == ASSISTANT]
    assert 0.25 * len(by_words) < sum(by_words) < len(by_words)
    assert by_words[-1]


def test_what_a_proposal_becomes_is_told_by_the_answer() -> None:
    begin = (
        "user: the invoices are lost when two of us save",
        "agent: I propose to keep the invoices in SQLite instead of the JSON files.",
    )
    yes = likely(DECISION, 1, *begin, "user: yes do that", "edit", "agent: Done, `store.py` writes to SQLite now.")
    no = likely(DECISION, 1, *begin, "user: no, leave it as it is", "agent: All right, nothing is changed.")
    assert yes > 2 * no


def test_what_is_said_late_in_a_long_session_is_read() -> None:
    filler = [
        turn for n in range(40)
        for turn in (f"user: what does the function number {n} in that file do", "run", f"agent: It reads row {n} of the table and returns it.")
    ]  # fmt: skip
    told = ("user: from now on we always write migrations by hand, never with the generator", "agent: Understood.")
    for before in ((), filler):
        place = sum(": " in turn for turn in before)
        assert likely(PREFERENCE, place, *before, *told) + likely(PATTERN, place, *before, *told) > 0.5


def test_nothing_said() -> None:
    assert read([]) == []
    assert read([Part(RUN)]) == [None]


@given(st.lists(st.text(st.characters()), max_size=5))
def test_any_text_has_pieces(texts: list[str]) -> None:
    found = pieces(texts)
    assert len(found) == len(texts)
    assert all(0 <= number < len(learnt()["word"]) for one in found for number in one)


def test_what_was_learnt_is_whole() -> None:
    weights = learnt()
    assert weights["marks"].shape[0] == len(MARKS)
    assert weights["known"].shape == (FEATURES, len(CLASSES))
    assert weights["place"].shape[0] >= WINDOW
    stored = resources.files("gitmem.extraction").joinpath("data", "pieces.model").read_bytes()
    assert SentencePieceProcessor(model_proto=stored).vocab_size() == len(weights["word"])
