"""JSON: one object with all facts, each with all of its fields."""

import json
from collections.abc import Mapping, Sequence

from gitmem.services.interchange.exporting import ExportedFact, ForeignWriter

FORMAT_VERSION = 1


def files(facts: Sequence[ExportedFact]) -> Mapping[str, str]:
    """Return the one file."""
    rows = [
        {
            "id": fact.record.id,
            "kind": fact.record.kind,
            "title": fact.record.title,
            "body": fact.record.body,
            **fact.record.fields,
            "store": fact.scope,
            "unconfirmed": not fact.is_vouched,
        }
        for fact in facts
    ]
    whole = {"gitmem_export": FORMAT_VERSION, "facts": rows}
    return {"": json.dumps(whole, ensure_ascii=False, indent=2, sort_keys=True) + "\n"}


WRITER = ForeignWriter("json", is_folder=False, files=files)
