"""Who vouches for what is imported, and what follows from that. Pure, but for git's authors."""

from typing import Any, NamedTuple

from gitmem.records.kinds import IMPORTED
from gitmem.services.interchange.context import ImportContext
from gitmem.services.interchange.item import ForeignItem
from gitmem.services.records.write import Writer


class Voucher(NamedTuple):
    """Who stands for an item, and the store that it goes to."""

    scope: str
    origin: str
    author: str
    other_author: str = ""
    program: str = ""

    @property
    def is_own(self) -> bool:
        """Whether this user vouches for it, by having written it."""
        return self.origin == IMPORTED and not (self.other_author or self.program)


def voucher_of(item: ForeignItem, context: ImportContext) -> Voucher:
    """Return who stands for an item: nobody for what a tool or an agent wrote.

    What a person wrote is this user's if git tracks its file or its commit says it, only this user
    wrote that, and this user imports it. Such a file or commit is everybody's already, so the fact
    is shared. Of any other file nobody knows who wrote it.
    """
    who = context.who
    if item.is_agents:
        return Voucher(context.scope, "agent", _author(item, who))
    other = _other_author(item, context)
    if other:
        return Voucher(context.scope, IMPORTED, other, other, who.program)
    if other is None or not who.is_person:
        return Voucher(context.scope, IMPORTED, who.person, program=who.program or item.format)
    return Voucher(context.scope if context.is_scope_chosen else "shared", IMPORTED, who.person)


def _other_author(item: ForeignItem, context: ImportContext) -> str | None:
    """Return who else wrote an item: "" for this user alone, None where nobody knows."""
    if item.commit:
        return item.commit_author
    return context.author_of(item.path) if item.path else None


def _author(item: ForeignItem, who: Writer) -> str:
    """Return the author that the item names, else who imports it."""
    is_own = item.author.casefold() in {who.author[0].casefold(), who.author[1].casefold()}
    return who.person if is_own or not item.author else item.author


def status_of(item: ForeignItem, voucher: Voucher) -> str | None:
    """Return the status; what nobody vouches for is not pinned."""
    is_kept = item.status == "archived" or (item.status == "pinned" and voucher.is_own)
    return item.status if is_kept else None


def source_of(item: ForeignItem, voucher: Voucher) -> dict[str, Any]:
    """Return where the fact was seen."""
    role = "user" if voucher.is_own else "agent"
    program = item.format if voucher.origin == "agent" else ""
    facts = {"at": item.created, "role": role, "program": program, "session": item.session}
    facts["commit"] = item.commit
    return {key: value for key, value in facts.items() if value}
