"""Transcripts of Claude Code are trees: what was rewound was unsaid."""

import io
import json
import time
from typing import Any

from gitmem.transcripts.reader import read


def row(id: str, parent: str | None, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    """Return one row of a transcript."""
    return {
        "uuid": id,
        "parentUuid": parent,
        "type": kind,
        "sessionId": "s",
        "message": {"role": kind, "content": content},
        **more,
    }


def said(*rows: dict[str, Any]) -> list[str]:
    """Return the texts of the turns of a transcript."""
    data = "".join(json.dumps(one) + "\n" for one in rows).encode()
    return [turn.text for turn in read(io.BytesIO(data))]


START = row("a", None, "user", "Plan the store.")
ANSWER = row("b", "a", "assistant", [{"type": "text", "text": "Which one?"}])


def test_a_rewound_branch_is_no_turn():
    """Of two prompts after one answer the later counts, with what follows it."""
    assert said(
        START,
        ANSWER,
        row("c", "b", "user", "We decided to use MySQL."),
        row("d", "c", "assistant", [{"type": "text", "text": "MySQL it is."}]),
        row("e", "b", "user", "We decided to use Postgres."),
        row("f", "e", "assistant", [{"type": "text", "text": "Postgres it is."}]),
    ) == ["Plan the store.", "Which one?", "We decided to use Postgres.", "Postgres it is."]


def test_the_branch_that_goes_on_counts():
    """Also when somebody goes back to the first one, and from within it to another."""
    assert said(
        START,
        ANSWER,
        row("c", "b", "user", "Use MySQL."),
        row("d", "c", "assistant", [{"type": "text", "text": "Fine."}]),
        row("e", "b", "user", "Use Postgres."),
        row("f", "d", "user", "With InnoDB."),
        row("g", "f", "assistant", [{"type": "text", "text": "Done."}]),
        row("h", "d", "user", "With MyISAM."),
    ) == ["Plan the store.", "Which one?", "Use MySQL.", "Fine.", "With MyISAM."]


def test_a_prompt_that_follows_nothing_begins_a_new_part():
    """It replaces nothing that was said before it."""
    assert said(
        START,
        ANSWER,
        row("c", None, "user", "Plan the shop."),
        row("d", "c", "assistant", [{"type": "text", "text": "Gladly."}]),
    ) == ["Plan the store.", "Which one?", "Plan the shop.", "Gladly."]


def test_prompts_that_were_typed_at_once_are_all_there():
    """Until one of them is answered."""
    rows = [START, ANSWER, row("c", "b", "user", "Postgres."), row("d", "b", "user", "Be quick.")]
    assert said(*rows) == ["Plan the store.", "Which one?", "Postgres.", "Be quick."]
    for prompt, text in (("c", "Postgres."), ("d", "Be quick.")):
        answer = row("e", prompt, "assistant", [{"type": "text", "text": "Fine."}])
        assert said(*rows, answer) == ["Plan the store.", "Which one?", text, "Fine."]


def test_rows_that_say_nothing_do_not_hide_what_was_rewound():
    """One prompt hangs on a row of the system, the other on the answer before it."""
    system = row("s", "b", "system", "")
    texts = said(
        START,
        ANSWER,
        system,
        row("t", "s", "system", ""),
        row("c", "t", "user", "Use MySQL."),
        row("d", "c", "assistant", [{"type": "text", "text": "MySQL it is."}]),
        row("e", "b", "user", "Use Postgres."),
    )
    assert texts == ["Plan the store.", "Which one?", "Use Postgres."]


def test_a_branch_comes_back_from_deep_within():
    """What it follows counts again, and what had replaced it does not."""
    answer = [{"type": "text", "text": "Fine."}]
    assert said(
        START,
        ANSWER,
        row("c", "b", "user", "Use MySQL."),
        row("d", "c", "assistant", answer),
        row("e", "d", "user", "With InnoDB."),
        row("f", "e", "assistant", answer),
        row("g", "b", "user", "Use Postgres."),
        row("h", "g", "assistant", answer),
        row("i", "f", "user", "And a backup."),
    ) == [
        "Plan the store.",
        "Which one?",
        "Use MySQL.",
        "Fine.",
        "With InnoDB.",
        "Fine.",
        "And a backup.",
    ]


def test_time_is_linear_in_the_prompts():
    """Each prompt is looked at a few times, however many came before it."""

    def seconds(prompts: int) -> float:
        rows = list[dict[str, Any]]()
        for number in range(prompts):
            before = rows[-1]["uuid"] if rows else None
            rows.append(row(f"p{number}", before, "user", f"Say {number}."))
            text = [{"type": "text", "text": "Said."}]
            rows.append(row(f"a{number}", f"p{number}", "assistant", text))
        begun = time.process_time()
        assert len(said(*rows)) == 2 * prompts
        return time.process_time() - begun

    assert seconds(8_000) < 16 * seconds(1_000) + 0.5


def test_calls_side_by_side_are_no_branches():
    """Results of tools, subagents, summaries and queued prompts have parents of their own."""
    call = {"type": "tool_use", "name": "Bash", "input": {"command": "make"}}
    result = {"type": "tool_result", "content": "made"}
    texts = said(
        START,
        row("b", "a", "assistant", [{**call, "id": "1"}]),
        row("c", "b", "assistant", [{**call, "id": "2"}]),
        row("d", "b", "user", [{**result, "tool_use_id": "1"}]),
        row("e", "c", "user", [{**result, "tool_use_id": "2"}]),
        row("s", None, "user", "Look for it.", isSidechain=True),
        row("t", "s", "assistant", [{"type": "text", "text": "Found."}], isSidechain=True),
        row("f", "e", "assistant", [{"type": "text", "text": "Both are done."}]),
        row("g", None, "user", "The summary.", isCompactSummary=True),
        row("h", "g", "user", "Go on."),
    )
    assert texts == [
        "Plan the store.",
        "made",
        "made",
        "Look for it.",
        "Found.",
        "Both are done.",
        "The summary.",
        "Go on.",
    ]


def test_a_list_is_no_tree():
    """Rows that name nothing before them, or all the same, are all there."""
    rows = [row("u", None, "user", f"Say {number}.") for number in range(3)]
    assert said(*rows) == ["Say 0.", "Say 1.", "Say 2."]
    rows = [row(f"u{number}", None, "user", f"Say {number}.") for number in range(3)]
    assert said(*rows) == ["Say 0.", "Say 1.", "Say 2."]
