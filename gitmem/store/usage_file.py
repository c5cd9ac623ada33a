"""Files that say how often each record was read: one JSON object a line."""

import json
from collections.abc import Mapping
from typing import Any

MOST = 1_000_000_000  # reads of a record that are counted


def parse_usage(data: bytes | None) -> dict[str, dict[str, Any]]:
    """Return {id: {n, last}} of a usage file.

    Lines that are damaged are passed over, they are only counts.
    """
    rows: dict[str, dict[str, Any]] = {}
    for line in (data or b"").split(b"\n"):
        try:
            row = json.loads(line)
            number = max(0, min(MOST, int(row["n"])))
            rows[str(row["id"])] = {"n": number, "last": str(row["last"])}
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            continue
    return rows


def usage_bytes(rows: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Return a usage file: one JSON object a line, sorted by id."""
    return "".join(
        json.dumps({"id": id, "n": rows[id]["n"], "last": rows[id]["last"]}) + "\n"
        for id in sorted(rows)
    ).encode()
