"""Facts that held at one commit and do not at a later one, and facts that only look so.

A line of `histories/*.jsonl` is a history: `commits` maps the files of each commit to their texts
(null: removed), `facts` has what was said `after` which commit, at which commit it is `refuted` (null:
never), the `finding` and a part of its `reason`.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.lifecycle.conftest import Code

HISTORIES = sorted(Path(__file__).with_name("histories").glob("*.jsonl"))
CASES = [json.loads(line) for file in HISTORIES for line in file.read_text("utf-8").splitlines()]


def _say(code: Code, fact: dict[str, Any]) -> str:
    checks = [part for one in fact.get("verify", ()) for part in ("--verify", one)]
    body = ["-m", fact["body"]] if "body" in fact else []
    return code.say(fact["text"], "--type", fact.get("type", "fact"), *checks, *body)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_fact_is_reported_from_the_commit_on_that_refutes_it(
    code: Code, case: dict[str, Any]
) -> None:
    """Not before, and one that the code does not refute never; the evidence says where."""
    said: dict[str, dict[str, Any]] = {}
    for number, files in enumerate(case["commits"]):
        code.commit_files(files)
        found = {row["facts"][0]["id"]: row for row in code.rows()}
        for id, fact in said.items():
            is_refuted = fact["refuted"] is not None and fact["refuted"] <= number
            assert (id in found) == is_refuted, (number, fact, found.get(id))
            if fact["refuted"] == number:
                assert found[id]["finding"] == fact["finding"], fact
                assert fact.get("reason", "") in found[id]["reason"], fact
        assert found.keys() <= said.keys()
        said |= {_say(code, fact): fact for fact in case["facts"] if fact["after"] == number}
