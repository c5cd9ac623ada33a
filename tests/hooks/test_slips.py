"""What fails without saying anything about the project is not captured, and no start is told of it."""

from tests.hooks.conftest import gotchas, learn, run, session_records, wait_for

PUSH = "Exit code 128\nfatal: 'nosuch' does not appear to be a git repository"
EMPTY = "Exit code 1\nOn branch main\nnothing to commit, working tree clean"


def test_slips_are_no_gotchas(project, agent):
    one = agent()
    one.hook("UserPromptSubmit", prompt="Send it")
    for _ in range(3):
        one.fail(PUSH, "git push nosuch main")
        one.fail(EMPTY, "git commit -m x")
    one.hook("SessionEnd")
    (record,) = wait_for(lambda: session_records(project))
    assert gotchas(project) == []
    text = run(project, "show", record["id"])
    assert "6 failed" in text and "Failed to the end" not in text


def test_a_slip_that_somebody_recorded_is_told(project, agent):
    learn(
        project,
        "gotcha",
        "add",
        "The remote is called hub",
        "--error",
        PUSH.partition("\n")[2],
        "--workaround",
        "git push hub",
    )
    assert "git push hub" in agent().fail(PUSH, "git push nosuch main")
