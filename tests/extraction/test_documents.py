"""What documents tell: plan.md, PROGRESS.md, state.json and commits, as people write them."""

import io
import json
import tracemalloc
from pathlib import Path

import pytest

from gitmem.extraction.extractor import extract
from gitmem.extraction.markers import headed
from gitmem.records.items import CONTEXT, DECISION, DONE, ERROR, PATTERN, PREFERENCE, TASK
from gitmem.repo.ignore import Ignored
from gitmem.transcripts.ignored import shown
from gitmem.transcripts.reader import read


def found(text: str, name: str = "plan.md") -> list[tuple[str, str, str]]:
    return [
        (one.kind, one.text, one.detail)
        for one in extract(read(io.BytesIO(text.encode()), name)).items
    ]


def commit(subject: str, body: str = "") -> str:
    said = "\n".join(f"    {line}".rstrip() for line in [subject, "", *body.split("\n")])
    return f"commit 8f41c7be02a6d95d2f1180a0c37e52d4f6b9ae13\nAuthor: Ada <ada@example.org>\nDate:   Thu Sep 12 16:40:21 2024 +0100\n\n{said}\n"


# -- what went wrong


@pytest.mark.parametrize(
    "text",
    [
        "## Problems\n\n- The panels showed -1 min. The clock was late because NTP was blocked. Port 123 is open now.\n",
        "## Problems\n\nThe panels showed -1 min. The clock was late because NTP was blocked. Port 123 is open now.\n",
        "## Problems\n\n**The panels showed -1 min.** The clock was late because NTP was blocked. Port 123 is open now.\n",
        "## Problems\n\n### The panels showed -1 min\n\nThe clock was late because NTP was blocked. Port 123 is open now.\n",
        "## Tuesday\n\nProblems\n- The panels showed -1 min. The clock was late because NTP was blocked. Port 123 is open now.\n",
        "## Tuesday\n\nProblem: The panels showed -1 min. The clock was late because NTP was blocked. Port 123 is open now.\n",
    ],
)
def test_an_error_is_what_was_seen_with_its_cause(text: str) -> None:
    ((kind, told, detail),) = found(text)
    assert (kind, told.rstrip(".")) == (ERROR, "The panels showed -1 min")
    assert detail == "The clock was late because NTP was blocked. Port 123 is open now."


def test_an_error_in_prose() -> None:
    text = "# Plan\n\n## Findings\n\nLogins from the library failed. The proxy did not pass the scheme. Fixed by setting the header in nginx.\n\nNobody was there on Monday.\n"
    assert found(text) == [
        (
            ERROR,
            "Logins from the library failed.",
            "The proxy did not pass the scheme. Fixed by setting the header in nginx.",
        )
    ]


def test_no_known_problems() -> None:
    assert found(
        "## Known issues\n\nNo known problems. All is well.\n\n## Next\n\n- docs of the printer\n"
    ) == [(TASK, "Docs of the printer", "")]


def test_what_is_marked_under_an_error_is_told_by_itself() -> None:
    text = "## Bugs\n\n### Login fails after a restart\n\nDecision: keep sessions in Redis\n\nTODO: write a test for the restart\n"
    assert set(found(text)) == {
        (ERROR, "Login fails after a restart", ""),
        (DECISION, "Keep sessions in Redis", ""),
        (TASK, "Write a test for the restart", ""),
    }


def test_an_error_in_many_paragraphs_is_one() -> None:
    text = "## Known issues\n\n### Login fails after a restart\n\nThe cause is the store of sessions.\n\nSteps to reproduce:\n- start the server\n\nFix: keep the sessions in Redis.\n"
    assert [(kind, told) for kind, told, _ in found(text)] == [
        (ERROR, "Login fails after a restart")
    ]


def test_a_section_about_errors_tells_of_none() -> None:
    text = "## Error handling\n\nAll errors are wrapped in AppError. Handlers return a JSON body.\n\n### Retry policy\n\nClients retry three times. The limit is thirty seconds.\n"
    assert ERROR not in {kind for kind, _, _ in found(text)}


@pytest.mark.parametrize(
    "text",
    [
        "we go with sqlite\n- no server to run\n",
        "Use tabs everywhere\n- the linter wants it\n",
        "我们决定用 SQLite：\n- 文件只有一个\n",
    ],
)
def test_a_statement_before_a_list_is_no_heading(text: str) -> None:
    assert any(
        told.casefold().strip("：") == text.partition("\n")[0].casefold().strip("：")
        for _, told, _ in found(text)
    )


@pytest.mark.parametrize("lead", ["Decided", "Decided:", "Decisões", "**Decisiones**", "决定："])
def test_a_line_before_a_list_is_its_heading(lead: str) -> None:
    assert found(f"## Monday\n\n{lead}\n- One index for each language.\n") == [
        (DECISION, "One index for each language.", "")
    ]


def test_points_that_do_not_count() -> None:
    assert found(
        "## Decisions\n\n- Use Kafka — rejected, too heavy\n- Use NATS [superseded]\n- Use Redis for the queue\n"
    ) == [(DECISION, "Use Redis for the queue", "")]


# -- what was settled


def test_a_table_of_decisions() -> None:
    text = "## Decisions\n\n| Topic | Choice | Why |\n|---|---|---|\n| Engine | Meilisearch | fits into 8 GB |\n| Indexing | full rebuild each night | 9 minutes |\n"
    assert found(text) == [
        (DECISION, "Engine: Meilisearch.", "fits into 8 GB"),
        (DECISION, "Indexing: full rebuild each night.", "9 minutes"),
    ]


@pytest.mark.parametrize(
    ("subject", "body", "kind"),
    [
        (
            "Keep the formation as written on the label",
            "Curators cite what is on the label.",
            DECISION,
        ),
        (
            "Hide exact localities from the public view",
            "After the theft we agreed on that.",
            DECISION,
        ),
        (
            "Calibration: store it in the last flash sector",
            "EEPROM emulation lost values.",
            DECISION,
        ),
        ("Park position in the config file, not in the EEPROM", "It takes 10000 writes.", DECISION),
        (
            "Contributors must run the scenarios before each release",
            "They need 20 minutes.",
            PATTERN,
        ),
        ("Add an export to CSV", "It was asked for by support.", DONE),
        ("Port tests, not with full coverage yet", "It was asked for by support.", DONE),
        ("Add dark mode, not in Safari", "It was asked for by support.", DONE),
        ("feat: cache lookups, not a breaking change", "It was asked for by support.", DONE),
    ],
)
def test_a_commit_that_settles_something(subject: str, body: str, kind: str) -> None:
    ((told, text, _),) = found(commit(subject, body), "git-log.txt")
    assert (told, text) == (
        kind,
        subject.removeprefix("feat: ").capitalize() if subject.startswith("feat") else subject,
    )


def test_a_body_is_read_over_its_line_ends() -> None:
    body = "parseContact() returned nil and the handler dereferenced it. Such a\nrequest is a query and is answered with\nthe list of bindings."
    ((_, _, detail),) = found(commit("Fix crash on REGISTER", body), "git-log.txt")
    assert detail.endswith("Such a request is a query and is answered with the list of bindings.")


@pytest.mark.parametrize(
    "log",
    [
        "8f41c7b Add an export to CSV\n1b92d0e Fix the search for numbers with a slash\n",
        "* 8f41c7b (HEAD -> main, tag: v1) Add an export to CSV\n|\\ \n| * 1b92d0e Fix the search for numbers with a slash\n",
    ],
)
def test_commits_of_a_line_each(log: str) -> None:
    assert [one[:2] for one in found(log, "log.txt")] == [
        (ERROR, "Fix the search for numbers with a slash"),
        (DONE, "Add an export to CSV"),
    ]


def test_a_robot_s_bump_is_nothing() -> None:
    assert found(commit("Bump golang.org/x/net from 0.37.0 to 0.38.0"), "git-log.txt") == []


# -- state.json


def test_what_a_state_says_is_superseded_does_not_count() -> None:
    state = {
        "decisions": [
            {"decision": "Store coordinates as WGS 84 text", "status": "superseded by D4"},
            {"decision": "Keep ring numbers as integers", "superseded_by": "D3"},
            {"decision": "Run both data bases in parallel", "status": "rejected"},
            {"decision": "Store coordinates as geography points", "status": "active"},
        ],
        "in_progress": ["Load recoveries from 1980 to 2023"],
    }
    assert set(found(json.dumps(state), "state.json")) == {
        (DECISION, "Store coordinates as geography points", ""),
        (TASK, "Load recoveries from 1980 to 2023", ""),
    }


@pytest.mark.parametrize(
    ("state", "kept"),
    [
        ({"status": " superseded by D4"}, False),
        ({"status": "**Superseded** by D4"}, False),
        ({"status": "substituída por D4"}, False),
        ({"status": "rejeitada"}, False),
        ({"status": "已被 D4 取代"}, False),
        ({"superseded": True}, False),
        ({"superseded_by": "D4"}, False),
        ({"superseded_by": "none"}, True),
        ({"superseded_by": None}, True),
        ({"superseded_by": "-"}, True),
        ({"status": "replaced the pool driver"}, True),
        ({"status": "deprecated-api-cleanup"}, True),
    ],
)
def test_states_of_a_decision(state: dict[str, object], kept: bool) -> None:
    told = found(
        json.dumps({"decisions": [{"decision": "Keep ring numbers as text"} | state]}), "state.json"
    )
    assert bool(told) == kept


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (
            {
                "in_progress": ["T1"],
                "tasks": [{"id": "T1", "title": "Load the rings", "status": "in_progress"}],
            },
            {(TASK, "Load the rings", "")},
        ),
        (
            {"in_progress": [{"title": "Load the rings", "status": "done"}]},
            {(DONE, "Load the rings", "")},
        ),
        ({"in_progress": {"id": "T3", "title": "Load the rings"}}, {(TASK, "Load the rings", "")}),
        ({"in_progress": "Load the rings"}, {(TASK, "Load the rings", "")}),
        ({"in_progress": True}, set()),
    ],
)
def test_what_is_in_progress(state: dict[str, object], told: set[tuple[str, str, str]]) -> None:
    assert set(found(json.dumps(state), "state.json")) == told


def test_state_of_many_shapes() -> None:
    state = {
        "status": "in_progress",
        "environment": {
            "controller": "Raspberry Pi 4, Debian 12",
            "empty": "",
            "deep": {"a": 1},
            "DB_URL": "x y",
            "db_password": "hunter2",
            "port": 8080,
        },
        "steps": [
            {"title": "import of sheets", "status": "completed"},
            {"title": "export of XML", "status": "in_progress"},
            {"title": "live cues", "status": "cancelled"},
        ],
        "errors": [
            {
                "error": "the bus times out",
                "cause": "no resistor at its end",
                "solution": "120 ohm at both ends",
            },
            {"message": "the server rejects the XML", "cause": None, "resolved": False},
        ],
        "next_action": "compare with a package that works",
        "notes": ["we always try it in hall 1 before we change a parameter"],
    }
    assert set(found(json.dumps(state), "state.json")) == {
        (CONTEXT, "Controller: Raspberry Pi 4, Debian 12", ""),
        (CONTEXT, "Port: 8080", ""),
        (DONE, "Import of sheets", ""),
        (TASK, "Export of XML", ""),
        (TASK, "Compare with a package that works", ""),
        (ERROR, "The bus times out", "no resistor at its end. 120 ohm at both ends."),
        (TASK, "The server rejects the XML", ""),
        (PATTERN, "We always try it in hall 1 before we change a parameter", ""),
    }


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        "x",
        [1, None, {"a": []}],
        {"title": 4},
        [[["x"]]],
        {"x": {"y": None}},
        [{"title": None, "status": 3}],
    ],
)
def test_state_of_any_shape(value: object) -> None:
    keys = (
        "steps",
        "errors",
        "environment",
        "notes",
        "decisions",
        "next_action",
        "context",
        "tasks",
        "pending",
        "status",
        "progress",
    )
    extract(read(io.BytesIO(json.dumps(dict.fromkeys(keys, value)).encode()), "state.json"))


# -- what is short


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("Decision: Use Redis\n", (DECISION, "Use Redis")),
        ("Decision: use tabs\n", (DECISION, "Use tabs")),
        ("TODO: i18n\n", (TASK, "i18n")),
        ("- [ ] CI\n", (TASK, "CI")),
        ("- [x] i18n\n", (DONE, "i18n")),
        ("Still to do:\n- i18n\n", (TASK, "i18n")),
        ("| Task | Status |\n|---|---|\n| i18n | open |\n", (TASK, "i18n")),
    ],
)
def test_what_is_marked_may_be_short(text: str, item: tuple[str, str]) -> None:
    assert [one[:2] for one in found(text, "PROGRESS.md")] == [item]


def test_items_name_their_lines() -> None:
    notes = (
        "# Notes\n\nTODO: write the docs\nTODO: fix the tests\nDecision: Use Redis for sessions\n\n```\ncode\n```\n"
        "- [ ] the importer\n  of sheets\n- [x] the exporter of sheets\n\nError: the build fails with code 3\nFix: install cmake\n"
    )
    lines = {
        one.text: one.lines for one in extract(read(io.BytesIO(notes.encode()), "notes.txt")).items
    }
    assert lines == {
        "Write the docs": (3, 3),
        "Fix the tests": (4, 4),
        "Use Redis for sessions": (5, 5),
        "The importer of sheets": (10, 10),
        "The exporter of sheets": (12, 12),
        "The build fails with code 3": (14, 15),
    }


def test_items_of_a_state_name_their_lines() -> None:
    state = {
        "zh": "在这个项目里使用数据库来保存所有的订单数据" * 4,
        "tasks": [{"title": 'say "hello"\nto all'}],
        "preferences": ["Short answers"],
        "environment": {"node": 22},
    }
    text = json.dumps(state, indent=2, ensure_ascii=False)
    found = extract(read(io.BytesIO(text.encode()), "state.json")).items
    rows = text.split("\n")
    assert [(one.kind, rows[one.lines[0] - 1].strip()) for one in found] == [
        (TASK, '"title": "say \\"hello\\"\\nto all"'),
        (PREFERENCE, '"Short answers"'),
        (CONTEXT, '"node": 22'),
    ]


@pytest.mark.parametrize(
    "nothing", ["none", "n/a", "TBD", "ok", "nothing yet", "ninguno", "没有", "-"]
)
def test_a_place_that_is_kept_for_something_is_no_item(nothing: str) -> None:
    assert (
        found(f"# Status\n\nDecision: {nothing}\nTODO: {nothing}\n- [ ] {nothing}\n", "status.txt")
        == []
    )


def test_a_chain_of_decisions_ends_with_its_newest() -> None:
    newer = commit("Switch the sessions from MongoDB to Postgres", "Because MongoDB loses writes.")
    older = commit(
        "Switch the sessions from Redis to MongoDB", "Because it is what we run already."
    ).replace("8f41c7b", "1b92d0e")
    ((kind, text, _),) = found(newer + "\n" + older, "git-log.txt")
    assert (kind, text) == (DECISION, "Switch the sessions from MongoDB to Postgres")


def test_a_document_with_one_long_text_is_read_in_little_memory() -> None:
    state = json.dumps(
        {"notes": "x" * (2 << 20), "tasks": [{"title": "Write the docs"}]}, indent=1
    ).encode()
    tracemalloc.start()
    (item,) = extract(read(io.BytesIO(state), "state.json")).items
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert item.lines == (5, 5)
    assert peak < 12 * len(state)


def test_lines_below_one_that_is_hidden(tmp_path: Path) -> None:
    notes = b"we looked into a.env and\nit was bad\nTODO: write the docs of it\n"
    (item,) = extract(
        shown(read(io.BytesIO(notes), "n.txt"), Ignored(["a.env"]), str(tmp_path))
    ).items
    assert item.lines[0] in {1, 3}  # that of its paragraph, or its own


@pytest.mark.parametrize(
    ("kind", "headings"),
    [
        (
            "decision",
            [
                "What we settled",
                "Settled",
                "Agreed",
                "What was agreed",
                "Choices made",
                "Decisions",
                "What we decided",
                "Decided so far",
                "Architecture decisions",
                "Acordado",
                "Lo acordado",
                "Qué se decidió",
                "Lo que decidimos",
                "Combinado",
                "O que ficou decidido",
                "定下来的",
                "已定",
                "达成一致",
            ],
        ),
        (
            "error",
            [
                "Things that bit us",
                "What bit us",
                "What went wrong",
                "Lo que falló",
                "Tropiezos",
                "Qué salió mal",
                "O que deu errado",
                "Pegadinhas",
                "踩过的坑",
                "踩坑",
                "坑",
            ],
        ),
        (
            "pattern",
            [
                "Pitfalls",
                "Traps",
                "Gotchas",
                "How we work",
                "Ways of working",
                "How things are done",
                "Ground rules",
                "Normas",
                "Como trabalhamos",
                "我们怎么做",
            ],
        ),
        (
            "context",
            [
                "Where things are",
                "Where to find things",
                "Facts",
                "Places",
                "Dónde está cada cosa",
                "Dónde están las cosas",
                "Onde estão as coisas",
                "Onde fica o quê",
                "在哪里",
                "东西在哪",
            ],
        ),
        ("task", ["Left to do", "Open", "Still open", "What's left", "还没做", "剩下的"]),
        ("done", ["So far", "做完的", "完成"]),
        ("preference", ["How I want it", "Cómo lo quiero", "Como eu quero"]),
        ("", ["Open questions", "What is it", "Overview", "Goals", "Why", "Ideas", "Options"]),
    ],
)
def test_headings_name_kinds(kind: str, headings: list[str]) -> None:
    assert {text: headed(text) for text in headings} == dict.fromkeys(headings, kind)


def test_a_line_before_a_list_ends_what_the_one_before_it_named() -> None:
    notes = "Decisions:\n- One report every 6 hours.\n\nNotes:\n- The server is on host, port 8443, deployed by hand.\n"
    assert [one[:2] for one in found(notes, "notes.md")] == [
        (DECISION, "One report every 6 hours."),
    ]


def test_a_task_that_is_struck_out_is_none() -> None:
    plan = "## Steps\n\n- [ ] ~~Reactive power~~ dropped, the TSO pays nothing for it\n- [ ] Report as PDF for the board\n- [ ] ~~Use Redis~~ Use Valkey for the cache\n"
    assert [one[:2] for one in found(plan)] == [
        (TASK, "Report as PDF for the board"),
        (TASK, "Use Valkey for the cache"),
    ]


@pytest.mark.parametrize("heading", ["## Tasks", "Tasks:", "## Próximos pasos"])
def test_a_group_within_a_list_stands_under_its_heading(heading: str) -> None:
    plan = f"{heading}\n\nBackend:\n- Write the docs for the API\n\nPhase 2:\n- Ship the client to the shops\n"
    assert [one[:2] for one in found(plan)] == [
        (TASK, "Write the docs for the API"),
        (TASK, "Ship the client to the shops"),
    ]


@pytest.mark.parametrize(
    "heading",
    [
        "## Decisions (rejected)",
        "## Rejected",
        "### Rejected alternatives",
        "## Out of scope",
        "## Non-goals:",
        "## Won't do",
        "## What we won't do now",
        "## Not doing",
        "Decisions (rejected):",
        "## Considered but rejected",
        "## Rejeitadas",
        "## Fora do escopo",
        "## Opciones descartadas",
        "## Fuera de alcance",
        "## 不做",
        "## 已否决的方案",
        "## Out of scope for v1",
        "## Out of scope (for now)",
        "## Not in scope",
        "## Not planned",
        "## What we won't build",
        "## Alternatives rejected",
        "## Ideas we rejected",
        "## Out of scope: mobile",
        "## What we're not doing",
        "## Out-of-scope items",
        "## Fora do escopo da v1",
        "## Não faremos",
        "## No haremos",
        "## Fuera del alcance de la v1",
        "## 暂不做",
        "## 不在范围内",
        "## 本期不做",
        "## Não faremos na v1",
    ],
)
def test_what_stands_below_a_refusal_is_not_to_be(heading):
    plan = f"# Plan\n\n{heading}\n\n- Use Kafka for the event bus\n\n## Decisions\n\n- Use Postgres for the ledger\n\n## Not done\n\n- [ ] Write the docs\n"
    assert [one[:2] for one in found(plan)] == [
        (DECISION, "Use Postgres for the ledger"),
        (TASK, "Write the docs"),
    ]


@pytest.mark.parametrize(
    "heading",
    [
        "## Not doing enough testing",
        "## Won't do without a review",
        "## Will not fix itself",
        "## Will not be done today",
        "### Rejected",
        "### Abandoned",
        "## Bugs (dropped: packets, frames)",
        "## Tasks [rejected 3 times]",
        "## Rejected payments",
        "## Not done yet",
        "## 范围内",
        "## Not planned well",
        "## In scope",
        "## Won't build for ARM",
        "## Will not build in CI",
        "## Rejected in production",
        "## Rechazados por el banco",
        "## Ideas for the alternatives page",
    ],
)
def test_a_heading_that_refuses_nothing_drops_no_task(heading):
    assert [
        one[:2] for one in found(f"# Plan\n\n{heading}\n\n- [ ] Show the reason to the customer\n")
    ] == [(TASK, "Show the reason to the customer")]


@pytest.mark.parametrize(
    "below",
    [
        "### Messaging\n\n- Use Kafka for the event bus",
        "Messaging:\n\n- Use Kafka for the event bus",
        "- Messaging\n  - Use Kafka for the event bus",
        "### Task queue\n\n- Use Kafka for the event bus",
        "**Messaging**\n\n- Use Kafka for the event bus\n\n**Storage**\n\n- Use Cassandra for the ledger",
    ],
)
@pytest.mark.parametrize("heading", ["## Rejected", "## Out of scope"])
def test_a_refusal_holds_for_all_below_it(heading: str, below: str) -> None:
    plan = f"# Plan\n\n{heading}\n\n{below}\n\n## Storage\n\nUse Postgres for the ledger.\n"
    assert [one[:2] for one in found(plan)] == [(DECISION, "Use Postgres for the ledger.")]


@pytest.mark.parametrize(
    "plan",
    [
        "## Rejected\n\nWe decided on Kafka because two people can run it.\n",
        "## Out of scope\n\n- Decision: use Kafka\n",
        "# Plan\n\n**Out of scope:**\n\n- Use Redis for the bus\n\nWe decided on Kafka because two people can run it.\n",
        "# Plan\n\nDecisions (rejected):\n\n- Use Redis for the bus\n\nUse Kafka for the ledger.\n",
        "## Considered options\n\n- Redis\n- Kafka\n\nUse Kafka, because two people can run it.\n",
    ],
)
def test_prose_and_what_is_marked_beside_a_refusal_is_told(plan: str) -> None:
    ((kind, told, _),) = found(plan)
    assert kind == DECISION and "Kafka" in told


def test_a_decision_that_something_cannot_be_run_is_no_error() -> None:
    told = "We decided against Kafka because two people cannot run it."
    assert found(f"# Plan\n\n{told}\n") == [(DECISION, told, "two people cannot run it")]
    assert found("User: I've decided, run the linter.\n\nAssistant: It is clean.\n") == []


def test_what_is_out_of_scope_is_no_open_task():
    assert (
        found(
            "# Plan\n\n## Out of scope\n\n- [ ] Write the importer in Rust\n\n## Won't do\n\n- [ ] Port the parser to Go\n"
        )
        == []
    )


def test_a_task_that_says_it_is_none() -> None:
    plan = "## Tasks\n\n- [ ] Docs (rejected)\n- [ ] Old export (wontfix)\n- Port to Rust (cancelled)\n- [ ] Handle cancelled orders\n- [ ] Replace moment.js (deprecated)\n"
    assert [one[:2] for one in found(plan)] == [
        (TASK, "Handle cancelled orders"),
        (TASK, "Replace moment.js (deprecated)"),
    ]
