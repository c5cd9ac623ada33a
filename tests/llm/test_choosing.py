"""A choice is told with what it chooses: the point of a list, what the agent had asked, what the text lists."""

import io
import json

import pytest

from gitmem.extraction.extractor import extract
from gitmem.extraction.language.sentences import sentences
from gitmem.extraction.rules.dialogue import Exchange, options
from gitmem.records.items import DECISION, DONE, ERROR, PATTERN, TASK, Item
from gitmem.transcripts.reader import read
from gitmem.transcripts.turn import ASSISTANT, USER, Turn

AT = "2026-11-21T10:00:00Z"
PATHS = "There are two ways:\n\n1. Keep the shift in SharedPreferences. The handler reads it.\n2. Let the server filter by shift"


def listening(said: str, language: str = "en") -> Exchange:
    """Return an exchange in which the agent has just said something."""
    exchange = Exchange()
    exchange.agent(list(sentences(said)), language)
    return exchange


def of_file(name: str, text: str) -> list[Item]:
    """Return what a file teaches."""
    return list(extract(read(io.BytesIO(text.encode()), name)).items)


@pytest.mark.parametrize(
    ("said", "listed"),
    [
        (PATHS, ("Keep the shift in SharedPreferences.", "Let the server filter by shift")),
        (
            "We could a) drop the column, b) keep it, or c) move it. What do you think?",
            ("drop the column", "keep it", "move it."),
        ),
        (
            "规则有两种：1. 写在脚本里调用接口；2. 温度通过 MQTT 发给 HA，在 HA 里做自动化。",
            ("写在脚本里调用接口", "温度通过 MQTT 发给 HA，在 HA 里做自动化。"),
        ),
        ("Version 1.2 is out. It has 2 fixes.", ()),
    ],
)
def test_options_are_the_points_of_a_list_or_what_a_line_numbers(
    said: str, listed: tuple[str, ...]
) -> None:
    assert options(list(sentences(said))) == listed


@pytest.mark.parametrize(
    ("answer", "chosen", "reason"),
    [
        ("2, the handler stays small", "Let the server filter by shift", "the handler stays small"),
        ("pues la 1", "Keep the shift in SharedPreferences.", ""),
        ("let's go with b then", "Let the server filter by shift", ""),
        ("option 1", "Keep the shift in SharedPreferences.", ""),
        ("the second one", "Let the server filter by shift", ""),
        ("2.3.6, it is a fix", "", ""),
        ("2 weeks", "", ""),
        ("那 27", "", ""),
        ("2% is fine", "", ""),
        ("a server would be nice", "", ""),
    ],
)
def test_an_answer_by_its_number_is_the_point_it_names(
    answer: str, chosen: str, reason: str
) -> None:
    found = listening(PATHS).numbered(answer, "es" if answer.startswith("pues") else "en")
    assert (found.text if found else "", found.detail if found else "") == (chosen, reason)


def test_options_can_be_picked_until_the_agent_has_spoken_of_other_things() -> None:
    exchange = listening(PATHS)
    for n, kept in ((1, True), (2, True), (3, False)):
        exchange.user()
        exchange.agent(list(sentences(f"It does not matter, remark {n}.")), "en")
        assert bool(exchange.numbered("1 then", "en")) is kept


def test_a_decision_that_an_answer_makes_says_what_it_was_about() -> None:
    turns = [
        Turn(
            USER,
            "the map is grey for some users, what can we do about the old graphics card",
            AT,
            1,
        ),
        Turn(
            ASSISTANT,
            "The meter is the only thing that needs OpenGL. Should the meter keep OpenGL, or use the normal renderer?",
            AT,
            2,
        ),
        Turn(USER, "normal renderer then, we drop OpenGL for good", AT, 3),
        Turn(ASSISTANT, "Done: the meter is drawn by the normal renderer.", AT, 4),
    ]
    (decision,) = [item for item in extract(turns).items if item.kind == DECISION]
    assert "renderer" in decision.text
    assert "meter" in f"{decision.text} {decision.detail}"


def test_a_point_under_a_heading_is_one_item_with_its_reason() -> None:
    found = of_file(
        "plan.md",
        "# Stock\n\n## Decisions\n\n1. Django with PostgreSQL. The team only knows Python.\n2. A PWA and no native app. Phones differ.\n",
    )
    assert [(item.kind, item.text, item.detail) for item in found] == [
        (DECISION, "Django with PostgreSQL.", "The team only knows Python."),
        (DECISION, "A PWA and no native app.", "Phones differ."),
    ]


def test_a_state_file_tells_decisions_with_their_reasons_and_errors_with_their_fixes() -> None:
    state = {
        "decisions": [
            {"what": "Replace Hive by drift", "why": "boxes got corrupted", "status": "accepted"},
            {"what": "Sync through Firebase", "why": "fast to build", "status": "rejected"},
        ],
        "issues": [
            {
                "title": "Notifications do not fire on Samsung",
                "cause": "exact alarms are denied",
                "fix": "use inexact alarms",
                "state": "closed",
            },
            {"title": "Slow scrolling in the plant list", "state": "open"},
        ],
        "conventions": ["Every screen has a golden test"],
        "tasks": [
            {"title": "Dark mode", "status": "wontfix"},
            {"title": "Screenshots in Dutch", "status": "todo"},
            {"title": "Migrate the boxes", "status": "done"},
        ],
    }
    found = of_file("state.json", json.dumps(state, indent=2))
    told = {(item.kind, item.text) for item in found}
    assert told == {
        (DECISION, "Replace Hive by drift"),
        (ERROR, "Notifications do not fire on Samsung"),
        (TASK, "Slow scrolling in the plant list"),
        (PATTERN, "Every screen has a golden test"),
        (TASK, "Screenshots in Dutch"),
        (DONE, "Migrate the boxes"),
    }
    by = {item.text: item.detail for item in found}
    assert "corrupted" in by["Replace Hive by drift"]
    assert "exact alarms are denied" in by["Notifications do not fire on Samsung"]
    assert "inexact alarms" in by["Notifications do not fire on Samsung"]


def commit(subject: str, body: str = "") -> Turn:
    return Turn(ASSISTANT, f"{subject}\n\n{body}".strip(), AT, 1, "commit")


def test_a_commit_that_was_taken_back_is_not_done_and_its_reason_is_an_error() -> None:
    message = 'Revert "Use float64 in the filter"'
    body = "This reverts commit 9e7c1a2. The board has a single precision FPU only, the load rose to 131%."
    for turns in (
        [commit(message, body), commit("Use float64 in the filter")],
        [commit("Use float64 in the filter"), commit(message, body)],
    ):
        (item,) = extract(turns).items
        assert (item.kind, item.text) == (ERROR, "Use float64 in the filter: taken back")
        assert "single precision" in item.detail


def test_a_commit_keeps_the_area_it_names_and_dull_ones_are_left_out() -> None:
    found = extract(
        [
            commit("calibration: store it in the last flash sector"),
            commit("typo"),
            commit("bump version to 1.3.2"),
            commit("feat: export to CSV"),
        ]
    )
    assert [item.text for item in found.items] == [
        "Calibration: store it in the last flash sector",
        "Export to CSV",
    ]


THREE = "Three ways:\n\n1. A cursor on created_at with an index.\n2. Offset pagination in the query.\n3. Keyset pagination with a cache."


@pytest.mark.parametrize(
    "said",
    [
        "la 2 no, la 1",
        "SOC, the security team, must approve",
        "2 is wrong",
        "a, b or c?",
        "1, 2",
        "1 and 2",
        "1 test fails in the parser",
        "2 more bugs",
        "use 2 space indent",
        "1 año",
        "bomb, that one",
        "no first",
        "first fix the login",
        "segundo, faltan los tests",
        "First, from now on always run ruff",
        "Use C, not C++, in the firmware.",
    ],
)
def test_what_only_looks_like_a_number_of_the_list_is_none(said: str) -> None:
    assert listening(THREE).numbered(said, "en") is None


@pytest.mark.parametrize(
    "said", ["ok " * 300 + "go on", "那就" * 300 + "吗", "the " * 300, "a " * 300]
)
def test_a_long_answer_costs_no_more_than_its_length(said: str) -> None:
    listening(THREE).numbered(said, "en")  # would not end, if it could backtrack


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Hm. First, from now on always run ruff before committing.", "ruff"),
        ("Thanks! Second, I prefer tabs in this repo.", "tabs"),
    ],
)
def test_how_it_is_wanted_is_not_taken_for_a_choice(said: str, kept: str) -> None:
    turns = [
        Turn(USER, "How do we page?", AT, 1),
        Turn(ASSISTANT, THREE, AT, 2),
        Turn(USER, said, AT, 3),
    ]
    assert [kept in item.text for item in extract(turns).items] == [True]


def test_a_decision_that_stands_by_itself_has_no_remark_of_the_agent_beside_it() -> None:
    turns = [
        Turn(USER, "deploy it", AT, 1),
        Turn(
            ASSISTANT,
            "Deployed to staging. All 43 tests pass. The logo is now in the footer.",
            AT,
            2,
        ),
        Turn(
            USER, "Great. By the way, we decided to use Postgres for the analytics service.", AT, 3
        ),
    ]
    assert [(item.kind, item.detail) for item in extract(turns).items] == [(DECISION, "")]


def test_points_under_decisions_stay_what_they_say() -> None:
    points = [
        "Postgres for everything",
        "First-class support for Android only",
        "Second factor is mandatory for admins",
        "Third party cookies are forbidden",
    ]
    assert [
        item.text
        for item in of_file("d.md", "# Decisions\n\n" + "".join(f"- {one}\n" for one in points))
    ] == points
    assert (
        len(
            of_file(
                "d.md",
                "## Decisions (alternatives considered in the wiki)\n\n- Use Postgres\n- Use Kafka\n",
            )
        )
        == 2
    )
    assert len(of_file("d.md", "## CLI options\n- Never pass --force in CI\n")) == 1


def test_what_else_a_point_tells_is_an_item_of_its_own() -> None:
    found = of_file(
        "d.md",
        "## Decisions\n- Use Django. The migration of the cron is still to be done. We must never store passwords in plain text.\n",
    )
    assert [item.kind for item in found] == [DECISION, TASK, PATTERN]


def test_what_is_over_or_has_no_state_is_no_task_of_a_state_file() -> None:
    state = {
        "issues": [
            {"title": "Slow scrolling", "status": "resolved"},
            {"title": "Crash on logout", "status": "Won't fix"},
        ],
        "errors": ["KeyError: 'x' at line 3", 7, None],
        "pending": [{"title": "old thing", "status": "cancelled"}],
        "decisions": [
            {"what": "用 drift 替换 Hive", "why": "数据经常损坏"},
            {"what": "Sync", "status": "Rejected "},
            [],
            3,
        ],
    }
    found = of_file("state.json", json.dumps(state, ensure_ascii=False))
    assert [(item.kind, item.text, item.detail) for item in found] == [
        (DECISION, "用 drift 替换 Hive", "数据经常损坏")
    ]


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        (
            [
                'Revert "feat: use float64"\n\nThis reverts commit 9e7c1a2.\nToo slow on the board.',
                "feat: use float64",
            ],
            [(ERROR, "Use float64: taken back")],
        ),
        (
            [
                'Revert "Merge branch x"\n\nThis reverts commit 9e7c1a2b3c, reversing\nchanges made to 1234567abc.'
            ],
            [],
        ),
        (['Revert "Use float64 in it"\n\nReverts acme/board#12'], []),
        (
            ["Use float64 in it", 'Revert "Use float64 in it"', "Use float64 in it"],
            [(DONE, "Use float64 in it")],
        ),
        (
            [
                "Use float64 in it",
                'Revert "Use float64 in it"',
                'Revert "Revert "Use float64 in it""',
            ],
            [(DONE, "Use float64 in it")],
        ),
        (
            ["parser: fix crash on empty input\n\nThe tokenizer read past the end."],
            [(ERROR, "Parser: fix crash on empty input")],
        ),
        (
            ["Cleanup job deletes expired sessions nightly"],
            [(DONE, "Cleanup job deletes expired sessions nightly")],
        ),
    ],
)
def test_commits_that_take_back_and_land_again(
    messages: list[str], told: list[tuple[str, str]]
) -> None:
    turns = [Turn(ASSISTANT, message, AT, n, "commit") for n, message in enumerate(messages, 1)]
    assert [(item.kind, item.text) for item in extract(turns).items] == told


def test_what_a_tool_adds_to_a_message_explains_nothing() -> None:
    (item,) = extract(
        [
            commit(
                "Add export to CSV",
                "🤖 Generated with [Claude Code](https://claude.com)\n\nCo-Authored-By: Ada <ada@example.com>",
            )
        ]
    ).items
    assert (item.kind, item.detail) == (DONE, "")


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("The second one fails with a 502 on the staging server.", "en"),
        ("option 2 is wrong", "en"),
        ("option 2 doesn't scale", "en"),
        ("the second one is too slow", "en"),
        ("option b crashes", "en"),
        ("2, it fails less often", "en"),
        ("Ok. We'll use C, not C++", "en"),
        ("第一次运行失败了，超时。", "zh"),
        ("第三方库不能用", "zh"),
        ("第2行有错", "zh"),
        ("方案二不行", "zh"),
        ("用C，不用C++", "zh"),
    ],
)
def test_what_is_said_of_a_point_chooses_none(said: str, language: str) -> None:
    assert listening(THREE).numbered(said, language) is None


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("2: simpler, no cache", "simpler, no cache"),
        ("2 - simpler, no cache", "simpler, no cache"),
        ("B: simpler", "simpler"),
        ("2, thanks!", ""),
        ("2 por favor", ""),
        ("the second one please", ""),
        ("选2吧", ""),
        ("方案二，简单一些就好", "简单一些就好"),
    ],
)
def test_a_choice_keeps_its_reason_and_no_thanks(said: str, reason: str) -> None:
    found = listening(THREE).numbered(said, "zh" if ord(said[0]) > 9999 else "en")
    assert found is not None
    assert (found.text, found.detail) == ("Offset pagination in the query.", reason)


def test_a_reason_that_reads_like_a_rule_stays_a_reason() -> None:
    state = {
        "decisions": [
            {
                "what": "Use Postgres for billing",
                "why": "We must never lose an invoice. It was lost once.",
            }
        ],
        "patterns": [{"name": "Golden tests for all screens", "why": "we always used it"}],
    }
    found = [
        (item.kind, item.text, item.detail) for item in of_file("state.json", json.dumps(state))
    ]
    assert found == [
        (DECISION, "Use Postgres for billing", "We must never lose an invoice. It was lost once."),
        (PATTERN, "Golden tests for all screens", "we always used it"),
    ]


def test_the_newest_word_on_a_commit_counts() -> None:
    newest = Turn(
        ASSISTANT,
        "Port the mixer to float64\n\nAgain, with the fix.",
        "2026-11-21T10:00:00Z",
        1,
        "commit",
    )
    back = Turn(
        ASSISTANT, 'Revert "Port the mixer to float64"', "2026-11-20T10:00:00Z", 2, "commit"
    )
    assert [item.kind for item in extract([newest, back]).items] == [DONE]
    assert [
        item.text for item in extract([commit('Reapply "Port the mixer to float64"')]).items
    ] == ["Port the mixer to float64"]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "Falta só avisar a diretoria; eu mando o e-mail amanhã, depois de conferir os números.",
            "avisar a diretoria",
        ),
        (
            "Ainda me falta a tabela dos resíduos do modelo misto, que tenho de entregar até sexta-feira.",
            "tabela dos resíduos",
        ),
    ],
)
def test_one_thing_that_is_left_is_told_whole(said: str, kept: str) -> None:
    turns = [
        Turn(USER, "Corrige os textos da página", AT, 1),
        Turn(ASSISTANT, "Corrigi os textos. Mais alguma coisa?", AT, 2),
        Turn(USER, said, AT, 3),
    ]
    assert [kept in item.text for item in extract(turns).items if item.kind == TASK] == [True]


@pytest.mark.parametrize(
    "said",
    [
        "/opt/payroll is live, please don't change anything there yet.",
        "Por ahora no toques la configuración, por favor.",
        "先不要改代码。",
    ],
)
def test_how_it_is_wanted_for_now_is_no_preference(said: str) -> None:
    turns = [
        Turn(USER, "look at the job", AT, 1),
        Turn(ASSISTANT, "I'll read it first.", AT, 2),
        Turn(USER, said, AT, 3),
        Turn(ASSISTANT, "OK.", AT, 4),
    ]
    assert [item for item in extract(turns).items if item.kind in ("preference", "pattern")] == []


@pytest.mark.parametrize(
    ("subject", "body", "kind"),
    [
        ("Switch from InfluxDB to SQLite", "Influx needed 900 MB on the Pi.", DECISION),
        ("store: use CBOR instead of JSON", "It is half the size.", DECISION),
        ("Use CBOR instead of JSON", "", DONE),
        ("Timestamps are UTC everywhere", "", PATTERN),
        ("no malloc after init", "The audio callback must not allocate.", PATTERN),
        ("缓存改用 Redis", "内存不够。", DECISION),
        ("Add a button to the menu", "Users asked for it.", DONE),
    ],
)
def test_a_commit_that_chooses_or_rules_is_more_than_done(
    subject: str, body: str, kind: str
) -> None:
    assert (
        next(
            item.kind
            for item in extract([commit(subject, body)]).items
            if item.text[-8:] == subject[-8:]
        )
        == kind
    )


def test_a_choice_that_was_taken_back_is_none() -> None:
    subject, why = "Switch from InfluxDB to SQLite", "Influx needed 900 MB on the Pi."
    found = extract(
        [commit(subject, why), commit(f'Revert "{subject}"', "It lost rows when two wrote.")]
    ).items
    assert [item.kind for item in found] == [ERROR]
