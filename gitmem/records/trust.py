"""Who vouches for a fact: its confirmation, and the words that it was given for."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self, TypeVar

from gitmem.base.fast import new_hash
from gitmem.records.gotcha_notes import without_wordless
from gitmem.records.kinds import FACTS, IMPORTED, MACHINE, UNSURE
from gitmem.records.texts import clean_body, clean_text, clean_title


class Fact(Protocol):
    """What of a record this module looks at; `gitmem.records.record.Record` is one."""

    @property
    def kind(self) -> str:
        """Return the kind."""

    @property
    def title(self) -> str:
        """Return the title."""

    @property
    def body(self) -> str:
        """Return the body."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """Return the fields that are given."""

    def get(self, key: str) -> Any:
        """Return a field, or its default."""

    def change(self, *, title: str | None = None, body: str | None = None, **fields: Any) -> Self:
        """Return it with other values."""


_CRUD = " .,:;\"'\\"  # what git removes from both ends of a name, see git's ident.c
F = TypeVar("F", bound=Fact)


def words_digest(record: Fact) -> str:
    """Return what tells the words of a fact from any others: 16 hex characters of a SHA-256.

    Its input is a JSON list of title, body, workaround and `verify` (`docs/format.md`). A note of
    when a gotcha came back does not count.
    """
    import json

    texts = [
        clean_title(record.title),
        clean_body(without_wordless(record.body)),
        clean_text(str(record.fields.get("workaround") or "")).strip(),
        record.fields.get("verify") or "",
    ]
    whole = json.dumps(texts, sort_keys=True, ensure_ascii=False)
    return new_hash("sha256", whole.encode("utf-8", "replace")).hexdigest()[:16]


def pair_digest(first: Fact, second: Fact) -> str:
    """Return what tells the words of two facts, in this order, from any others."""
    both = f"{words_digest(first)} {words_digest(second)}"
    return new_hash("sha256", both.encode()).hexdigest()[:16]


def is_confirmed(record: Fact) -> bool:
    """Return whether a person confirmed a fact with the words that it has now."""
    confirmed = record.fields.get("confirmed")
    return isinstance(confirmed, Mapping) and confirmed.get("words") == words_digest(record)


def is_unconfirmed(record: Fact) -> bool:
    """Return whether nobody vouches for a fact.

    A person vouches for what they wrote, until a confirmation of it is about other words. What was
    imported from a file of the user's own needs none, unless an agent keeps that file.
    """
    if record.kind not in FACTS or is_confirmed(record):
        return False
    origin = record.get("origin")
    if origin == IMPORTED and not record.fields.get("confirmed"):
        places = (record.fields.get("source"), record.fields.get("imported"))
        return any(_is_others(place) for place in places)
    return origin in UNSURE or bool(record.fields.get("confirmed"))


def _is_others(place: object) -> bool:
    """Say whether what a fact was imported from names another person, or a program."""
    return isinstance(place, Mapping) and bool(place.get("author") or place.get("program"))


def is_attested(record: Fact, committers: Sequence[str], vouchers: Sequence[str]) -> bool:
    """Return whether the persons whom a fact names are those who committed it.

    `committers` made its words and `vouchers` committed its confirmation, each a
    `Name <address>`. A confirmation of the present words by one of them is enough; without it, the
    author, if it names one, and nobody else has to have committed the words. A history that names
    nobody denies nothing.
    """
    if record.kind not in FACTS or not committers:
        return True
    if is_confirmed(record):
        names = {_plain_name(p.rpartition(" <")[0]) for p in (*committers, *vouchers)}
        return _plain_name(str(record.fields["confirmed"].get("by") or "")) in names
    author = str(record.fields.get("author") or "")
    return author in {"", MACHINE} or {_address(committer) for committer in committers} == {
        _address(author)
    }


def _plain_name(name: str) -> str:
    """Return a person's name as git commits it: without characters that git leaves out."""
    return "".join(letter for letter in name if letter not in "<>\n").strip(_CRUD).casefold()


def _address(person: str) -> str:
    return person.rpartition("<")[2].rstrip(">").strip().casefold()


def confirmed_by(record: F, at: str, by: str, commit: str = "") -> F:
    """Return a fact that a person confirms as it is: `at` a time, `by` the person's name."""
    facts: dict[str, Any] = {"at": at, "by": by, "commit": commit, "words": words_digest(record)}
    return record.change(confirmed={key: value for key, value in facts.items() if value})
