"""JSON: one object with all facts, each with all of its fields. `readers.own_json` reads it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gitmem.services.interchange.exporting import ExportedFact, ForeignWriter

FORMAT_VERSION = 1
MARK = "gitmem_export"  # the key of the version


def files(facts: Sequence[ExportedFact]) -> Mapping[str, str]:
    """Return the one file."""
    rows = [dict(sorted(_row(fact).items())) for fact in facts]
    # what it is comes first: a reader looks at the beginning
    whole = {MARK: FORMAT_VERSION, "facts": rows}
    return {"": json.dumps(whole, ensure_ascii=False, indent=2) + "\n"}


def _row(fact: ExportedFact) -> dict[str, Any]:
    record = fact.record
    return {
        "id": record.id,
        "kind": record.kind,
        "title": record.title,
        "body": record.body,
        **record.fields,
        "store": fact.scope,
        "unconfirmed": not fact.is_vouched,
    }


WRITER = ForeignWriter("json", is_folder=False, files=files)
