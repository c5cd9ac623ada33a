"""What one door finds, all doors find: the samples go through each of them."""

import re
from collections.abc import Callable

import pytest

from gitmem.hooks.context import masked, masked_output
from gitmem.hooks.session_log import kept
from gitmem.records.record import make
from gitmem.redaction.formats import harmless, public
from gitmem.redaction.mask import scrub
from gitmem.services.records import write
from tests.cli.conftest import Mem, mem
from tests.redaction.samples import is_kept_back, lookalikes, secrets

__all__ = ["mem"]  # a fixture
AT = "2026-11-21T14:00:00Z"
RECALL, FALSE = 0.97, 0.02


def _stored(**fields: object) -> str:
    title, body = str(fields.pop("title", "a title")), str(fields.pop("body", ""))
    record = make(
        "gotcha",
        "got-26zdyksa0ss09t1t6wcyyvr12q",
        title,
        body,
        created=AT,
        updated=AT,
        rev=1,
        author="Ada",
        **fields,
    )  # type: ignore[arg-type]
    done, _ = write.clean(record, ())
    return "\n".join([done.title, done.body, str(done.fields.get("workaround") or ""), *done.tags])


DOORS: dict[str, Callable[[str], str]] = {
    "title": lambda text: _stored(title=" ".join(text.split())),
    "body": lambda text: _stored(body=text),
    "workaround": lambda text: _stored(workaround=text),
    "tag": lambda text: _stored(tags=[text]),
    "hand-over, import, digest": lambda text: scrub(text).text,
    "prompt, note, history": lambda text: kept(text, 8000),
    "command": masked,
    "failed command's output": masked_output,
}


def left(text: str, secret: str, after: str) -> bool:
    return secret in after if secret else after == text


@pytest.mark.parametrize("name", DOORS)
@pytest.mark.parametrize("kept_back", [False, True], ids=["open half", "half kept back"])
def test_recall_and_precision(name: str, kept_back: bool) -> None:
    door = DOORS[name]
    samples = [row for row in secrets() if is_kept_back(row[0]) == kept_back]
    missed = [text for text, secret in samples if left(text, secret, door(text))]
    assert len(missed) <= (1 - RECALL) * len(samples), missed
    texts = [text for text in lookalikes() if is_kept_back(text) == kept_back]
    assert [text for text in texts if "[redacted" in door(text)][int(FALSE * len(texts)) :] == []


def test_there_are_enough() -> None:
    assert len(secrets()) > 150
    assert len(lookalikes()) > 150


def test_what_is_masked_is_never_harmless_at_a_glance() -> None:
    for text, secret in secrets():
        if not left(text, secret, scrub(text).text):
            assert not harmless(text), text


def test_commands_that_take_a_password_are_not_harmless() -> None:
    for text in (
        "smbclient //srv/x -U ada%Warm-Milk6",
        "http -a ada:Warm-Milk6 x.org",
        "use ada:Pine-Cone42 for x",
    ):
        assert "[redacted" in scrub(text).text
        assert not harmless(text)


def test_masking_again_changes_nothing() -> None:
    for text, _ in secrets():
        once = scrub(text, quick=True).text
        assert scrub(once).text == once


def test_a_hook_masks_what_a_command_masks() -> None:
    """What a hook does without only gives a run its name."""
    for text, _ in secrets():
        masked_by = [
            re.sub(r"\[redacted: [^\]]*", "[", scrub(text, quick=q).text) for q in (True, False)
        ]
        assert masked_by[0] == masked_by[1]


PRIVATE = {
    "plain": "a <private>Blue Whale</private> b",
    "upper case": "a <PRIVATE>Blue Whale</Private> b",
    "attributes": "a <private reason='x y'>Blue Whale</private> b",
    "lines": "a <private>\nBlue Whale\n</private> b",
    "nested": "a <private>x <private>y</private> Blue Whale</private> b",
    "unclosed": "a <private>Blue Whale",
    "unopened": "Blue Whale</private> a",
    "closed twice": "b <private>x</private> Blue Whale</private> a",
    "unopened and unclosed": "Blue </private> a <private>Whale",
    "spaces": "a < private >Blue Whale</ private > b",
    "entities": "a &lt;private&gt;Blue Whale&lt;/private&gt; b",
    "numbers": "a &#60;private&#62;Blue Whale&#x3c;/private&#x3e; b",
    "json": r"a \u003cprivate\u003eBlue Whale\u003c/private\u003e b",
    "long attributes": f"a <private reason='{'x' * 4000}'>Blue Whale</private> b",
    "a sign in the attributes": "a <private reason='x < y'>Blue Whale</private> b",
    "an entity in the attributes": "a <private reason='x &lt; y &amp; z'>Blue Whale</private> b",
    "quotes in the attributes": "a <private reason='‹x›'>Blue Whale</private> b",
    "a mark that is not closed": "a <private id=1 <b>Blue Whale</b></private> b",
    "escaped as in Markdown": r"a \<private\>Blue Whale\</private\> b",
    "an unseen character": "a <\u200bprivate>Blue Whale</private\ufeff> b",
    "as an address has it": "a %3Cprivate%3EBlue Whale%3C/private%3E b",
    "angle brackets": "a 〈private〉Blue Whale〈/private〉 b",
    "full width": "a ＜private＞Blue Whale＜/private＞ b",
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", PRIVATE)
def test_private_parts_are_left_out(door: str, name: str) -> None:
    after = DOORS[door](PRIVATE[name])
    assert "Blue" not in after and "Whale" not in after
    assert "a" in after


def test_lines_of_private_parts_stay_where_they_are_asked_for() -> None:
    for text, after in {
        "a\n<private>b\nc</private>\nd": "a\n\n\nd",
        "a\nb</private>\nc<private>\nd\n": "\n\nc\n\n",
    }.items():
        assert public(text, keeps_lines=True) == after


def test_private_parts_are_left_out_by_the_commands(mem: Mem) -> None:
    mem("init")
    for name, text in PRIVATE.items():
        line = " ".join(text.split())
        mem("add", f"{name} {line}", "-m", text, f"--tag={line}")
        mem("gotcha", "add", f"hint {name}", f"--workaround={line}")
        mem("edit", mem("list", "--format", "{id}").out.split()[0], "-m", text)
        mem("add", "-t", "task", "--", f"{name}: {line}")
        mem("session", "note", "--", f"{name}: {line}", code=None)
    out = mem("list", "--json").out + mem("export", code=None).out
    for id in mem("list", "--format", "{id}").out.split():
        out += mem("show", id).out
    assert "Blue" not in out and "Whale" not in out


def test_the_title_is_more_than_a_private_part(mem: Mem) -> None:
    mem("init")
    done = mem("add", "<private>Blue Whale</private>", code=1)
    assert "nothing but a private part" in done.err
