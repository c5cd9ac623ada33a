"""The work in hand: every row of the table, the hour's end, clocks that go back or ahead, many at once."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.app import App, open_app
from gitmem.clock import Clock
from gitmem.errors import InvalidRecord
from gitmem.services.work import context, workflow_file, workflow_table
from gitmem.services.work.workflow_table import quick, shipped
from gitmem.state import activity
from gitmem.state.database import State
from gitmem.state.workflow import (
    AGENT,
    ASSISTANT,
    COMMAND,
    EXISTING,
    NEW,
    SKEW,
    TASK,
    TOOL,
    TTL,
    WORKFLOW,
    Act,
    WorkflowTable,
    ago,
    fill,
    infer,
    kind_of,
    normal,
)

DATA = shipped()
TABLE = WorkflowTable(DATA)
NOW = 1_800_000_000.0
TASKS = [(row["task"], row["workflow"], row["state"]) for row in DATA["tasks"]]
STEPS = [
    (name, step["state"], step["trigger"], step["next"])
    for name, flow in DATA["workflows"].items()
    for step in flow["transitions"]
]


@pytest.fixture(autouse=True)
def _preset(repo: Path) -> None:
    """Use the workflows of the preset."""
    (repo / ".aios-core").mkdir()


@pytest.fixture
def app(repo: Path) -> Iterator[App]:
    """A repository, at a time that the test sets."""
    with open_app(str(repo), os.environ, Clock(now=lambda: Moment.now)) as one:
        Moment.now = NOW
        yield one


class Moment:
    now = NOW


def root(app: App) -> str:
    return context.root_of(app.location.worktree)


def give(app: App, *done: Act, at: float = NOW, **about: Any) -> None:
    activity.note(app.state, root(app), at, done, **about)


def at(app: App, seconds: float, **options: Any) -> context.WorkContext:
    """Return the context so long after the work began."""
    Moment.now = NOW + seconds
    return context.load(app, **options)


# -- the table


def test_all_of_the_table_ships() -> None:
    """17 tasks, 12 workflows, 37 transitions."""
    assert (len(TASKS), len(DATA["workflows"]), len(STEPS)) == (17, 12, 37)


@pytest.mark.parametrize(("task", "workflow", "state"), TASKS)
def test_each_task_brings_its_state(task: str, workflow: str, state: str) -> None:
    """With or without its star, in any case."""
    assert TABLE.resolve(task) == TABLE.resolve(f"*{task.upper()}") == (workflow, state)


@pytest.mark.parametrize(("workflow", "state", "trigger", "following"), STEPS)
def test_each_transition_is_reached_by_its_trigger(
    workflow: str, state: str, trigger: str, following: list[str]
) -> None:
    """While its workflow is at work, and what comes next is what the table says."""
    assert TABLE.resolve(trigger, workflow) == (workflow, state)
    assert list(TABLE.after(workflow, state, trigger)) == following


@pytest.mark.parametrize(("workflow", "state", "trigger", "following"), STEPS)
def test_each_workflow_can_be_walked(
    workflow: str, state: str, trigger: str, following: list[str]
) -> None:
    """From a command that is its own alone, each of its triggers leads to its state: work and table agree."""
    flow = TABLE.workflows[workflow]
    first = next(
        (
            step.trigger
            for step in flow.transitions
            if TABLE.resolve(step.trigger) == (workflow, step.state)
        ),
        None,
    )
    assert first is not None
    stands = infer(TABLE, [Act(TASK, first), Act(TASK, trigger)])
    assert (stands.workflow, stands.state) == (workflow, state)


def test_a_trigger_of_two_workflows() -> None:
    """The active one wins, else the table's order."""
    assert TABLE.resolve("create-doc") == ("documentation_workflow", "drafted")
    assert TABLE.resolve("create-doc", "architecture_review") == (
        "architecture_review",
        "documented",
    )
    assert TABLE.resolve("create-doc", "research_workflow") == ("research_workflow", "documented")
    assert TABLE.resolve("develop", "bob_orchestration") == ("story_development", "in_development")


@pytest.mark.parametrize(
    "name",
    ["develop-preflight", "backlog-debt", "", "*", "develo", "developer", "github-pr-automation"],
)
def test_what_is_in_no_row(name: str) -> None:
    """No part of a name is taken for it."""
    assert TABLE.resolve(name) is None


def test_names() -> None:
    """Git's commands have two words, with or without a dash."""
    assert [
        normal(x)
        for x in (
            "*Develop docs/a.md",
            "/git-commit",
            "git commit -m x",
            "GIT PUSH",
            "  ",
            "git-thing",
        )
    ] == [
        "develop",
        "git commit",
        "git commit",
        "git push",
        "",
        "git-thing",
    ]


# -- inference


def stands(*done: Act) -> tuple[str, str, bool]:
    found = infer(TABLE, done)
    return found.workflow, found.state, found.sure


def test_a_failed_task_advances_nothing() -> None:
    """Nor does its command, once it has failed."""
    validated = Act(TASK, "validate-story-draft")
    before = ("story_development", "validated", True)
    assert stands(validated, Act(TASK, "develop", ok=False)) == before
    assert stands(validated, Act(COMMAND, "develop"), Act(TASK, "develop", ok=False)) == before
    assert stands(validated, Act(COMMAND, "develop"))[1:] == ("in_development", False)
    assert stands(Act(TASK, "develop", ok=False)) == ("", "", False)
    done = (validated, Act(TASK, "develop"), Act(TASK, "develop", ok=False))
    assert stands(*done) == ("story_development", "in_development", True)


def test_what_is_unknown_changes_nothing() -> None:
    """The workflow stays at work."""
    assert stands(Act(TASK, "develop"), Act(TASK, "wash-the-car"))[:2] == (
        "story_development",
        "in_development",
    )


def test_what_an_agent_names_advances_nothing() -> None:
    """It proposes; it has not done so."""
    assert (
        stands(Act(TASK, "develop"), Act(COMMAND, "review-qa", role=ASSISTANT))[1]
        == "in_development"
    )


def test_git_does_not_take_over() -> None:
    """Commits are made in the middle of everything; where they are what comes next, they move the work along."""
    commit = Act(COMMAND, "git commit", role=TOOL)
    assert stands(Act(TASK, "develop"), commit)[:2] == ("story_development", "in_development")
    assert stands(Act(TASK, "review-qa"), commit)[:2] == ("git_workflow", "committed")
    assert stands(Act(COMMAND, "git add", role=TOOL), commit)[:2] == ("git_workflow", "committed")
    assert stands(Act(TASK, "develop"), Act(TASK, "git commit"))[:2] == (
        "git_workflow",
        "committed",
    )


@given(
    st.lists(
        st.builds(
            Act,
            st.sampled_from([TASK, COMMAND, AGENT]),
            st.sampled_from([*TABLE.known, "other"]),
            ok=st.booleans(),
        ),
        max_size=12,
    )
)
def test_inference_always_ends_in_the_table(done: list[Act]) -> None:
    """A state is one that the table has, and failures at the end change nothing that was sure."""
    found = infer(TABLE, done)
    if found.workflow:
        known = {step.state for step in TABLE.workflows[found.workflow].transitions}
        assert found.state in known
    if found.sure:
        again = infer(TABLE, [*done, Act(TASK, "other", ok=False), Act(TASK, found.by, ok=False)])
        assert (again.workflow, again.state) == (found.workflow, found.state)


@pytest.mark.parametrize(
    ("commands", "kind"),
    [
        ([], NEW),
        (["develop"], EXISTING),
        (["develop", "develop"], EXISTING),
        (["develop", "review-qa"], WORKFLOW),
        (["review-qa", "other", "develop docs/a.md"], WORKFLOW),
        (["develop-yolo", "review-qa"], EXISTING),
        (["backlog-review", "backlog-schedule"], WORKFLOW),
        (["develop", *["other"] * 9, "review-qa"], EXISTING),
    ],
)
def test_kinds_of_commands(commands: list[str], kind: str) -> None:
    """Two different ones of one workflow among the last ten make a workflow."""
    assert kind_of(TABLE, commands, infer(TABLE, []), talked=False) == kind


# -- how long it holds


def test_a_task_is_done_once_unless_its_command_is_given_again(app: App) -> None:
    """In any letters; a command with what it is given is that command, and one that an agent only names is not given."""

    def does(what: str) -> bool:
        return activity.note(app.state, root(app), NOW, [Act(TASK, what, agent="dev")], once=True)

    give(app, Act(COMMAND, "develop docs/a.md"))
    assert (does("develop"), does("Develop"), does("*DEVELOP")) == (True, False, False)
    give(app, Act(COMMAND, "develop docs/b.md", role=ASSISTANT))
    assert does("develop") is False
    give(app, Act(COMMAND, "develop docs/b.md"))
    assert (does("develop"), does("develop")) == (True, False)
    assert (does("develop docs/c.md"), does("develop docs/d.md")) == (True, True)


def test_an_hour_and_no_longer(app: App) -> None:
    """At its very end the work goes on, a thousandth of a second later it is new, with nothing of before."""
    give(app, Act(AGENT, "dev", agent="dev"), Act(TASK, "develop", agent="dev"), story="docs/s.md")
    assert at(app, TTL).kind == WORKFLOW
    assert at(app, TTL - 0.001).story == "docs/s.md"
    over = at(app, TTL + 0.001, agent="qa")
    assert (
        over.kind,
        over.workflow,
        over.story,
        over.commands,
        over.previous,
        over.id,
        over.message,
    ) == (NEW, "", "", [], None, "", "")


def test_what_is_over_does_not_come_back(app: App) -> None:
    """The next command begins anew: another id, no workflow, no commands of before."""
    give(app, Act(TASK, "develop", agent="dev"), story="docs/s.md")
    first = at(app, 0)
    give(app, Act(COMMAND, "other", agent="qa"), at=NOW + TTL + 0.001)
    again = at(app, TTL + 1)
    assert again.id != first.id
    assert (again.kind, again.commands, again.workflow, again.story, again.tasks) == (
        EXISTING,
        ["other"],
        "",
        "",
        [],
    )


def test_signs_keep_it_alive(app: App) -> None:
    """An hour is counted from the last sign, and the id stays."""
    give(app, Act(TASK, "develop"))
    first = at(app, 0).id
    for n in range(1, 5):
        give(app, at=NOW + n * TTL)
    assert (at(app, 5 * TTL).id, at(app, 5 * TTL).state) == (first, "in_development")


def test_a_clock_that_is_ahead(app: App) -> None:
    """As far as clocks differ it counts as now; further, it is no sign of anything."""
    give(app, Act(TASK, "develop"), at=NOW + SKEW)
    assert at(app, 0).kind == WORKFLOW
    give(app, Act(TASK, "review-qa"), at=NOW)
    assert at(app, 0).state == "qa_reviewed"
    assert at(app, SKEW + TTL).kind == WORKFLOW, "the later sign counts"


def test_a_clock_that_goes_back(app: App) -> None:
    """What lies further in the future than clocks differ is over; what follows is new, and stays."""
    give(app, Act(TASK, "develop"), at=NOW + SKEW + 0.001)
    assert at(app, 0).kind == NEW
    give(app, Act(COMMAND, "other"), at=NOW)
    found = at(app, 1)
    assert (found.kind, found.commands) == (EXISTING, ["other"])


def test_an_agent_alone_is_no_work(app: App) -> None:
    """To come is not to do; to ask is."""
    give(app, Act(AGENT, "dev", agent="dev"))
    assert at(app, 0).kind == NEW
    give(app, asked=1)
    assert at(app, 0).kind == EXISTING


def test_a_conversation_goes_on(app: App) -> None:
    """A session that was silent for a day still knows what it was at; another one does not."""
    give(app, Act(TASK, "develop"), conversation="s1")
    assert at(app, 86400, session="s1").kind == WORKFLOW
    assert at(app, 86400, session="s2").kind == at(app, 86400).kind == NEW
    give(app, asked=1, conversation="s1", at=NOW + 86400)
    assert at(app, 86400).kind == WORKFLOW


# -- what it tells


def test_previous_agent_and_message(app: App) -> None:
    """The last one that is another, how long ago, and what it did last."""
    give(
        app,
        Act(AGENT, "dev", agent="dev"),
        Act(COMMAND, "develop docs/s.md", agent="dev"),
        story="docs/s.md",
    )
    give(app, Act(AGENT, "qa", agent="qa"), at=NOW + 60)
    found = at(app, 720, agent="qa")
    assert found.previous is not None
    assert (found.previous["agent"], found.previous["command"]) == ("dev", "develop docs/s.md")
    assert found.message.startswith(
        "Continuing from @dev, 12 minutes ago; last: *develop docs/s.md."
    )
    assert [one["agent"] for one in found.agents] == ["dev", "qa"]
    assert found.next == ["review-qa docs/s.md", "run-tests"]
    assert at(app, 720, agent="dev").previous["agent"] == "qa"  # type: ignore[index]


def test_limits(app: App) -> None:
    """Ten commands, twenty agents, twenty tasks, the latest."""
    for n in range(30):
        give(
            app,
            Act(AGENT, f"a{n}", agent=f"a{n}"),
            Act(COMMAND, f"c-{n}", agent=f"a{n}"),
            Act(TASK, f"t-{n}", agent=f"a{n}"),
            at=NOW + n,
        )
    found = at(app, 30)
    assert (len(found.commands), len(found.agents), len(found.tasks)) == (10, 20, 20)
    assert (found.commands[-1], found.agents[-1]["agent"], found.tasks[0]["task"]) == (
        "t-29",
        "a29",
        "t-10",
    )


def test_done_twice_is_done_once(app: App) -> None:
    """Unless its command was given again, it failed in between, or it is of another story."""
    one = Act(TASK, "develop", story="1")
    for act, counts in (
        (one, True),
        (one, False),
        (Act(TASK, "develop", story="2"), True),
        (Act(TASK, "develop", story="2", ok=False), True),
        (Act(TASK, "develop", story="2", ok=False), True),
        (Act(TASK, "develop", story="2"), True),
        (Act(COMMAND, "develop"), True),
        (Act(TASK, "develop", story="2"), True),
    ):
        assert activity.note(app.state, root(app), NOW, [act], once=act.kind == TASK) is counts


def test_templates() -> None:
    """What is not known leaves nothing behind."""
    assert (
        fill("develop ${story_path} on ${branch} ${x}", {"story_path": "a.md", "branch": "main"})
        == "develop a.md on main"
    )
    assert fill("${story_path}", {}) == ""
    assert fill("a ${b", {}) == "a ${b"


def test_how_long_ago() -> None:
    assert [ago(x) for x in (-5, 59, 60, 3599, 3600, 86400, 200000)] == [
        "just now",
        "just now",
        "1 minute ago",
        "59 minutes ago",
        "1 hour ago",
        "1 day ago",
        "2 days ago",
    ]


def test_a_history_goes_before_the_state(app: App) -> None:
    """Messages in any of the usual forms; none at all leave it to the state; talk alone is not a new session."""
    give(app, Act(TASK, "develop"))
    said = [
        {"role": "user", "content": "*create-epic"},
        {"role": "model", "parts": [{"text": "then `*create-story`"}]},
        {"text": "*important*"},
        7,
    ]
    found = at(app, 0, history=said)
    assert (found.kind, found.commands, found.workflow) == (
        WORKFLOW,
        ["create-epic", "create-story"],
        "epic_creation",
    )
    assert at(app, 0, history=[{"role": "user", "content": "hello"}]).kind == EXISTING
    assert at(app, 0, history=[]).workflow == "story_development"


# -- many at once


def test_no_act_is_lost_among_many_writers(app: App) -> None:
    """Eight that write at once, each ten."""
    home, here = app.home, root(app)

    def write(n: int) -> None:
        state = State(home)
        for m in range(10):
            activity.note(state, here, NOW + m, [Act(COMMAND, f"c-{n}-{m}", agent=f"a{n}")])
        state.close()

    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    mine = activity.current(app.state, here)
    assert mine is not None
    assert len({one.what for one in activity.of(app.state, here, mine.began)}) == 80


def test_work_trees_are_apart(app: App) -> None:
    """What is done in one says nothing of another."""
    give(app, Act(TASK, "develop"))
    assert context.of(app.state, TABLE, "/elsewhere", NOW).kind == NEW


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-2 * TTL, 2 * TTL), min_size=1, max_size=12))
def test_the_id_changes_where_the_work_breaks_off(steps: list[float]) -> None:
    """Whatever the clock does: one id as long as signs are near enough, a new one after each break."""
    from gitmem.repo.location import Home

    state = State.__new__(State)
    state.in_memory, state._home, state._timeout, state._inode = True, Home("/nowhere"), 1.0, 0
    state.db = state._connect(":memory:", 1.0)
    now, last, began = NOW, NOW, NOW
    activity.note(state, "r", now)
    for step in steps:
        now += step
        goes_on = round(now - last, 3) <= TTL and round(last - now, 3) <= SKEW
        began = began if goes_on else now
        last = last if 0 <= last - now <= SKEW else now
        activity.note(state, "r", now)
        found = activity.current(state, "r")
        assert found is not None
        assert (found.began, found.last) == (began, last)
    state.close()


def test_what_is_old_is_gone(app: App) -> None:
    """After 30 days nothing is left."""
    give(app, Act(COMMAND, "develop"))
    app.state.expire(NOW + 1)
    assert (
        app.state.db.execute("SELECT COUNT(*) FROM acts").fetchone()
        == app.state.db.execute("SELECT COUNT(*) FROM contexts").fetchone()
        == (0,)
    )


def test_no_more_than_so_many_are_kept(app: App) -> None:
    """The latest."""
    for n in range(activity.KEPT + 20):
        give(app, Act(COMMAND, f"c-{n}"))
    kept = [row[0] for row in app.state.db.execute("SELECT what FROM acts ORDER BY n")]
    assert (len(kept), kept[-1]) == (activity.KEPT, f"c-{activity.KEPT + 19}")


# -- a repository's own table


@pytest.fixture
def own(app: App) -> Callable[[str, str], None]:
    """Write the repository's table."""
    folder = Path(str(app.location.worktree)) / ".gitmem"
    folder.mkdir()
    return lambda text, name="workflows.yaml": (folder / name).write_text(text) and None  # type: ignore[misc,return-value]


OWN = """
workflows:
  release:
    threshold: 2
    transitions:
      - {state: cut, trigger: cut-release, next: [ship-release, "announce ${branch}"]}
      - {state: shipped, trigger: ship-release}
  story_development:
    - {state: built, trigger: develop, next: run-tests}
  ux_workflow: null
tasks:
  - {task: tag-it, workflow: release, state: cut}
"""


def test_a_repository_extends_and_overrides(app: App, own: Callable[..., None]) -> None:
    """Its rows come first; what it does not name stays."""
    own(OWN)
    table, path = workflow_file.load(app.home, root(app))
    assert path.endswith("workflows.yaml")
    assert table.resolve("tag-it") == table.resolve("cut-release") == ("release", "cut")
    assert table.resolve("develop") == ("story_development", "built")
    assert table.resolve("create-epic") == ("epic_creation", "epic_drafted")
    assert "ux_workflow" not in table.workflows
    give(app, Act(TASK, "tag-it"))
    assert at(app, 0).next == [
        "ship-release",
        "announce master" if at(app, 0).branch == "master" else f"announce {at(app, 0).branch}",
    ]
    hot, fresh = quick(app.home, root(app))
    assert fresh
    assert hot.resolve("tag-it") == ("release", "cut")


def test_json_and_replace(app: App, own: Callable[..., None]) -> None:
    """Nothing that ships is left."""
    own(
        json.dumps(
            {"replace": True, "workflows": {"a": {"transitions": [{"state": "b", "trigger": "c"}]}}}
        ),
        "workflows.json",
    )
    table, _ = workflow_file.load(app.home, root(app))
    assert list(table.workflows) == ["a"]
    assert table.resolve("develop") is None


def test_hooks_wait_for_a_changed_file(app: App, own: Callable[..., None]) -> None:
    """Until it is compiled they have what ships, and know that it is not what is wanted."""
    own(OWN)
    table, fresh = quick(app.home, root(app))
    assert not fresh
    assert table.resolve("develop") == ("story_development", "in_development")


def test_a_table_is_compiled_anew_after_an_upgrade(
    app: App, own: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What a newer version ships is there, though the repository's own table is the same."""
    own("workflows: {mine: [{state: a, trigger: b}]}")
    assert "newer" not in workflow_file.load(app.home, root(app))[0].workflows
    newer = {
        **DATA,
        "workflows": {
            **DATA["workflows"],
            "newer": {"threshold": 2, "transitions": [{"state": "a", "trigger": "c", "next": []}]},
        },
    }
    (tmp_path / "newer.json").write_text(json.dumps(newer))
    monkeypatch.setattr(workflow_table, "SHIPPED", str(tmp_path / "newer.json"))
    assert {"newer", "mine"} <= workflow_file.load(app.home, root(app))[0].workflows.keys()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("workflows: [", "cannot be read"),
        ("- a", "the file is not a map"),
        ("work: {}", "'work', which is not known"),
        ("format: 2", "format is not 1"),
        ("workflows: {Bad Name: [{state: a, trigger: b}]}", "a workflow's name is 'Bad Name'"),
        ("workflows: {a: {transitions: []}}", "workflows.a.transitions is not a list"),
        (
            "workflows: {a: {threshold: 0, transitions: [{state: a, trigger: b}]}}",
            "workflows.a.threshold",
        ),
        (
            "workflows: {a: {threshold: true, transitions: [{state: a, trigger: b}]}}",
            "workflows.a.threshold",
        ),
        ("workflows: {a: [{state: a}]}", "workflows.a.transitions[0].trigger is 'None'"),
        ('workflows: {a: [{state: a, trigger: b, next: ["x\\n<y>"]}]}', "next[0]"),
        ("tasks: [{task: a, workflow: nowhere, state: b}]", "'nowhere', which is not there"),
        ("tasks: {a: 3}", "tasks[0].workflow is 'None'"),
        ("tasks: [3]", "tasks[0] is not a map"),
        ("x: &a [*a]", "anchors, aliases and tags"),
        ("workflows: !!python/object:os.system {}", "anchors, aliases and tags"),
        ("x: " + "[" * 50_000, "nested too deeply"),
        ("replace: perhaps", "replace is neither"),
        ("#" * 300_000, "more than 256 KiB"),
    ],
)
def test_a_wrong_table_says_where(app: App, own: Callable[..., None], text: str, part: str) -> None:
    """Each with its place and what to write there."""
    own(text)
    with pytest.raises(InvalidRecord) as error:
        workflow_file.load(app.home, root(app))
    assert part in str(error.value)


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "workflows",
                        "tasks",
                        "a",
                        "transitions",
                        "state",
                        "trigger",
                        "next",
                        "threshold",
                    ]
                ),
                inner,
                max_size=3,
            )
        ),
        max_leaves=12,
    )
)
def test_any_data_is_taken_or_refused(data: Any) -> None:
    """What is taken makes a table."""
    try:
        found = workflow_file.checked(data)
        WorkflowTable(workflow_file.joined(DATA, found))
    except (ValueError, InvalidRecord):
        return
