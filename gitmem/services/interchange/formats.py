"""The formats that can be imported, in the order in which a source is tried."""

import os
from collections.abc import Iterator

from gitmem.errors import UserError
from gitmem.services.interchange.item import (
    ForeignFormat,
    ForeignItem,
    ForeignSource,
    Surroundings,
)
from gitmem.services.interchange.readers import (
    agentmemory,
    aios,
    basic_memory,
    beads,
    claude_mem,
    commit_messages,
    ctxmem,
    decision_records,
    genius,
    leonidas,
    mcp_memory,
    mem0,
    okf,
    own_json,
    rule_files,
    sinapse,
)

FORMATS: tuple[ForeignFormat, ...] = (
    own_json.FORMAT,
    claude_mem.FORMAT,
    beads.FORMAT,
    mcp_memory.FORMAT,
    decision_records.FORMAT,
    aios.FORMAT,
    genius.FORMAT,
    sinapse.FORMAT,
    leonidas.FORMAT,
    ctxmem.FORMAT,
    agentmemory.FORMAT,
    okf.FORMAT,
    basic_memory.FORMAT,
    mem0.FORMAT,
    rule_files.FORMAT,
    commit_messages.FORMAT,
)
BY_NAME = {form.name: form for form in FORMATS}


def detected(here: Surroundings) -> Iterator[ForeignSource]:
    """Yield the stores of other tools that are in their usual places."""
    for form in FORMATS:
        for path in form.places(here):
            if os.path.exists(path) and not _leads_out(path, here.root) and form.fits(path):
                yield ForeignSource(form.name, path, here.root, here.projects)
                break


def _leads_out(path: str, root: str) -> bool:
    """Say whether a link leads from a place in the work tree to one outside of it.

    Who made the repository may have made the link.
    """
    base = os.path.realpath(root) + os.sep
    is_inside = bool(root) and path.startswith((root.rstrip(os.sep) + os.sep, base))
    return is_inside and not os.path.realpath(path).startswith(base)


def source_at(path: str, name: str, here: Surroundings) -> ForeignSource:
    """Return the store at a path; `name` is its format, "" for the first that fits.

    Raises UserError for a path that is not there, or that no format fits.
    """
    full = os.path.abspath(path)
    if not os.path.exists(full):
        meant = f": git mem import --from {path}" if path in BY_NAME else ""
        hint = f"Name a file or a folder of another tool, or its format{meant}."
        raise UserError(f"there is no '{path}'.", hint.removesuffix(".") if meant else hint)
    fitting = [form.name for form in FORMATS if form.fits(full)]
    chosen = name or (fitting[0] if fitting else "")
    if not chosen:
        raise UserError(
            f"'{path}' is in no format that is known.", f"Say which: --from {'|'.join(BY_NAME)}"
        )
    return ForeignSource(chosen, full, here.root, here.projects)


def default_source(name: str, here: Surroundings) -> ForeignSource:
    """Return the store of a format in its usual place. Raises UserError where there is none."""
    for source in detected(here):
        if source.format == name:
            return source
    places = ", ".join(BY_NAME[name].places(here)) or "nowhere by default"
    raise UserError(
        f"no {BY_NAME[name].title} was found here.",
        f"Looked in: {places}. Name it: git mem import PATH --from {name}",
    )


def items_of(source: ForeignSource) -> Iterator[ForeignItem]:
    """Yield what a store holds; what is not taken over is noted in the source."""
    return BY_NAME[source.format].read(source)
