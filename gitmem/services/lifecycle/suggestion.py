"""A check that could be given to a fact: of the first thing that it names and the code has."""

import re
from collections.abc import Callable, Iterator

from gitmem.records.record import Record
from gitmem.services.lifecycle import mentions
from gitmem.services.lifecycle.code_view import CodeView
from gitmem.services.lifecycle.evaluation import HOLDS, evaluate
from gitmem.services.lifecycle.mentions import Mention, MentionReader
from gitmem.services.lifecycle.verify_spec import Check

# what says most of a fact first
_ORDER = (
    *(mentions.VERSION, mentions.DEPENDENCY, mentions.SCRIPT, mentions.PATH),
    *(mentions.SYMBOL, mentions.SETTING, mentions.PORT),
)
FileOf = Callable[[str], str]  # a file of code or settings that has a word; '' for none


def suggested_check(record: Record, code: CodeView, file_of: FileOf) -> Check | None:
    """Return a check that the code passes and that would tell when a fact is out of date."""
    if record.get("verify"):
        return None
    workaround = str(record.fields.get("workaround") or "")
    text = mentions.prose(record.title, record.body, workaround)
    every = [manifest.declared for manifest in code.manifests]
    used = [
        name for manifest in every for name in (*manifest.uses, *manifest.tries, *manifest.options)
    ]
    needed = [name for manifest in every for name in manifest.needs]
    started = [name for manifest in every for name in (*manifest.starts, *manifest.scripts)]
    named = MentionReader(used, [*used, *needed], started).read(text)
    for mention in sorted(named, key=lambda mention: _ORDER.index(mention.kind)):
        for check in _checks(mention, code, file_of):
            if evaluate(check, code).state == HOLDS:
                return check
    return None


def _checks(mention: Mention, code: CodeView, file_of: FileOf) -> Iterator[Check]:
    name = mention.name
    if mention.kind == mentions.VERSION:
        yield {"dependency": name, "version": mention.version}
    elif mention.kind == mentions.DEPENDENCY:
        yield {"dependency": name}
    elif mention.kind == mentions.PATH:
        yield {"path": name}
    elif mention.kind == mentions.SYMBOL:
        yield {"symbol": name}
    elif mention.kind == mentions.SCRIPT:
        for manifest in code.manifests:
            if name in manifest.declared.scripts or name in manifest.declared.starts:
                yield {"file": manifest.path, "matches": rf"^\W*{re.escape(name)}\W*[:=]"}
    elif path := file_of(name):
        yield {"file": path, "contains": name}
