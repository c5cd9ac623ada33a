"""What git mem export wrote as JSON can be imported."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Mem
from tests.interchange.conftest import imported, record
from tests.interchange.test_okf import _other, _stock

# who vouches; and the type, of which "fact" need not be written
TRUST = {"author", "origin", "unconfirmed", "imported", "sources", "rev", "stamps", "store"}


def _facts(path: Path) -> dict[str, dict[str, object]]:
    rows = json.loads(path.read_text("utf-8"))["facts"]
    kept = ({key: value for key, value in row.items() if key not in TRUST} for row in rows)
    return {row["id"]: {"type": "fact"} | row for row in kept}


def test_all_facts_come_back(mem: Mem, tmp_path: Path) -> None:
    """With all that an import may set; who vouches for them is decided anew."""
    _stock(mem)
    mem("export", str(tmp_path / "first.json"))
    other = _other(mem, tmp_path)

    found = imported(other, str(tmp_path / "first.json"), "--shared")
    other("export", str(tmp_path / "second.json"), "--filter", "status=active,archived")

    assert set(found.values()) == {"new"}
    assert _facts(tmp_path / "second.json") == _facts(tmp_path / "first.json")
    assert record(other, "npm fails")["unconfirmed"]
    assert set(imported(other, str(tmp_path / "first.json")).values()) == {"unchanged"}


def test_the_repository_that_exported_it_takes_nothing(mem: Mem, tmp_path: Path) -> None:
    _stock(mem)
    mem("export", str(tmp_path / "out.json"))

    assert set(imported(mem, str(tmp_path / "out.json")).values()) == {"already known"}


@pytest.mark.parametrize(
    "rows",
    [
        "null",
        '[null, 1, {}, {"id": "mem-x", "kind": "memory"}]',
        '[{"id": "../../x", "kind": "memory", "title": "t"}]',
        '[{"id": "ses-01m8jyrt0dzga3ad3te5f4k211", "kind": "session", "title": "t"}]',
        '[{"id": "mem-01m8jyrt0dzga3ad3te5f4k211", "kind": "gotcha", "title": "t"}]',
    ],
)
def test_what_is_no_fact_is_left_out(mem: Mem, tmp_path: Path, rows: str) -> None:
    path = tmp_path / "odd.json"
    path.write_text(f'{{"gitmem_export": 1, "facts": {rows}}}')

    assert imported(mem, str(path)) == {}
