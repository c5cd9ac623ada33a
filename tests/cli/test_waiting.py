"""sync and status say what waits in the inbox: the number that the inbox lists."""

from tests.cli.conftest import Mem


def listed(mem: Mem) -> int:
    """Return how many facts and tasks the inbox lists."""
    return len(mem("inbox", "--json").json)


def test_sync_and_status_say_what_waits(clones: tuple[Mem, Mem]) -> None:
    """In text and as JSON; nothing is said of an empty inbox."""
    one, two = clones
    assert "inbox" not in one("sync").err + one("status").out
    agent = {"CLAUDECODE": "1"}
    for number in range(2):
        one("add", f"said by an agent {number}", env=agent)
    assert 2 == listed(one) == one("sync", "--json").json["inbox_count"]
    assert 2 == one("status", "--json").json["inbox_count"]
    assert "2 facts wait in the inbox: git mem inbox" in one("sync").err
    assert "2 facts wait in the inbox: git mem inbox" in one("status").out

    two("sync")
    assert listed(two) == two("sync", "--json").json["inbox_count"]


def test_what_is_not_sent_is_said(clones: tuple[Mem, Mem]) -> None:
    """Also where a remote is enabled and only read."""
    one, _ = clones
    one("add", "T")
    done = one("sync", "--pull-only")
    assert "2 commits since" in done.err and "To share them: git mem sync" in done.err
    assert 2 == one("sync", "--pull-only", "--json").json["unpushed_count"]
    assert 0 == one("sync", "--json").json["unpushed_count"]
