"""What holds for every format: ids, second imports, trust, tombstones, crashes, undo."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Mem, commits, spawn
from tests.cli.conftest import on_terminal as on_terminal
from tests.conftest import git
from tests.interchange.conftest import imported, record, unmapped, write

ADR = "# 1. Use Go\n\nDate: 2024-03-01\n\n## Status\n\nAccepted\n\n## Context\n\nIt is fast.\n"
PRIVATE = "refs/gitmem/local/main"


def _issue(id: str = "bd-1", title: str = "Fix the login", **fields: Any) -> str:
    return json.dumps({"id": id, "title": title, "status": "open", **fields}) + "\n"


def _issues(mem: Mem, *lines: str) -> None:
    write(mem, {".beads/issues.jsonl": "".join(lines)})


def test_a_second_import_changes_nothing(mem: Mem) -> None:
    """No commit is made."""
    _issues(mem, _issue(), _issue("bd-2", "Write docs"))
    imported(mem, ".beads")
    before = commits(mem.folder, PRIVATE)

    assert set(imported(mem, ".beads").values()) == {"unchanged"}
    assert commits(mem.folder, PRIVATE) == before


def test_an_import_in_another_clone_makes_the_same_ids(mem: Mem, tmp_path: Path) -> None:
    """They are derived from the format and the id there."""
    _issues(mem, _issue())
    imported(mem, ".beads")
    git(tmp_path, "init", "-q", "other")
    other = mem.at(tmp_path / "other")
    imported(other, str(mem.folder / ".beads"))

    assert record(other, "Fix the login")["id"] == record(mem, "Fix the login")["id"]


def test_what_changed_there_changes_here(mem: Mem) -> None:
    """The id stays; the time is the one of the change."""
    _issues(mem, _issue(updated_at="2025-01-01T00:00:00Z"))
    imported(mem, ".beads")
    before = record(mem, "Fix the login")
    _issues(mem, _issue(title="Fix both logins", updated_at="2025-02-01T00:00:00Z"))

    assert imported(mem, ".beads") == {"Fix both logins": "updated"}
    after = record(mem, "Fix both logins")
    assert (after["id"], after["updated"]) == (before["id"], "2025-02-01T00:00:00Z")


@pytest.mark.parametrize("act", [("edit", "--title", "Ours"), ("archive",), ("pin",)])
def test_what_changed_here_stays(mem: Mem, act: tuple[str, ...]) -> None:
    """Whatever a person did to it."""
    _issues(mem, _issue())
    imported(mem, ".beads")
    id = record(mem, "Fix the login")["id"]
    mem(act[0], id, *act[1:])
    before = mem.show(id)
    _issues(mem, _issue(title="Theirs"))

    assert imported(mem, ".beads") == {"Theirs": "changed here since"}
    assert mem.show(id)["title"] == before["title"]


def test_an_accepted_fact_is_found_in_the_shared_store(mem: Mem) -> None:
    """It does not come back as a proposal, and what nobody saw of it is not shared."""
    _issues(mem, _issue(external_ref="/home/ada/secret-plan"))
    imported(mem, ".beads")
    mem("inbox", "--accept", record(mem, "Fix the login")["id"])

    assert imported(mem, ".beads") == {"Fix the login": "unchanged"}
    row = record(mem, "Fix the login")
    assert row["store"] == "shared"
    assert "secret-plan" not in json.dumps(row)


def test_what_was_forgotten_does_not_come_back(mem: Mem) -> None:
    """Neither under its id, nor under another one with the same words."""
    _issues(mem, _issue())
    imported(mem, ".beads")
    mem("forget", record(mem, "Fix the login")["id"])
    _issues(mem, _issue(), _issue("bd-9", "fix the login."))

    assert imported(mem, ".beads") == {
        "Fix the login": "forgotten here",
        "fix the login.": "rejected here",
    }


def test_what_is_known_is_not_said_twice(mem: Mem) -> None:
    """The same title and text, by hand or in the source itself."""
    mem.add("Write docs")
    _issues(mem, _issue(), _issue("bd-2", "Write docs"), _issue("bd-3"))

    found = mem("import", ".beads", "--json").json["imports"][0]["foreign_items"]

    assert [row["outcome"] for row in found] == ["new", "already known", "already known"]


def test_no_link_leads_to_what_was_left_out(mem: Mem) -> None:
    """A link to what is known leads to the record that says it."""
    known = mem.add("Write docs")
    _issues(
        mem,
        _issue("1", "First", dependencies=[{"depends_on_id": id} for id in ("2", "3", "4")]),
        _issue("2", "Write docs"),
        _issue("3", "Too long", description="x " * 40_000),
        _issue("4", "Fourth"),
    )
    imported(mem, ".beads")

    links = record(mem, "First")["links"]
    assert set(links) == {known, record(mem, "Fourth")["id"]}
    mem("pin", known)
    assert imported(mem, ".beads")["First"] == "unchanged"


def test_what_an_agent_wrote_waits_in_the_private_inbox(mem: Mem) -> None:
    """Nothing of it is shared, unless that was asked for; even then nobody vouches for it."""
    _issues(mem, _issue(created_by="Test", pinned=True))
    imported(mem, ".beads")
    row = record(mem, "Fix the login")

    assert (row["store"], row["unconfirmed"], row["status"]) == ("private", True, "active")
    mem("undo")
    imported(mem, ".beads", "--shared")
    row = record(mem, "Fix the login")
    assert (row["store"], row["unconfirmed"]) == ("shared", True)


def test_ones_own_accepted_decision_is_shared(mem: Mem) -> None:
    """Its file is tracked, and nobody else wrote it."""
    write(mem, {"docs/adr/0001-use-go.md": ADR})
    git(mem.folder, "add", "docs")
    git(mem.folder, "commit", "-qm", "decide")
    imported(mem, "docs/adr")
    row = record(mem, "Use Go")

    assert (row["store"], row["origin"]) == ("shared", "imported")
    assert "unconfirmed" not in row
    assert (row["type"], row["created"]) == ("decision", "2024-03-01T00:00:00Z")


def test_somebody_elses_decision_waits(mem: Mem) -> None:
    """It names its author, and stays private."""
    write(mem, {"docs/adr/0001-use-go.md": ADR})
    git(mem.folder, "add", "docs")
    git(mem.folder, "commit", "-qm", "decide", "--author", "Eve <eve@example.org>")
    imported(mem, "docs/adr")
    row = record(mem, "Use Go")

    assert (row["store"], row["unconfirmed"]) == ("private", True)
    assert row["author"] == "Eve <eve@example.org>"


def test_somebody_elses_change_of_ones_own_decision_changes_no_record(mem: Mem) -> None:
    """The words that this user vouches for stay."""
    write(mem, {"docs/adr/0001-use-go.md": ADR})
    git(mem.folder, "add", "docs")
    git(mem.folder, "commit", "-qm", "decide")
    imported(mem, "docs/adr")
    write(mem, {"docs/adr/0001-use-go.md": ADR.replace("It is fast.", "It phones home.")})
    git(mem.folder, "commit", "-qam", "change", "--author", "Eve <eve@example.org>")

    found = imported(mem, "docs/adr")

    assert found == {"Use Go": "confirmed here, changed there by somebody else"}
    assert "It is fast." in record(mem, "Use Go")["body"]


def test_an_agent_that_imports_vouches_for_nothing(mem: Mem) -> None:
    """Not even for its user's own decisions."""
    write(mem, {"docs/adr/0001-use-go.md": ADR})
    git(mem.folder, "add", "docs")
    git(mem.folder, "commit", "-qm", "decide")
    imported(mem, "docs/adr", env={"CLAUDECODE": "1"})

    row = record(mem, "Use Go")
    assert (row["store"], row["unconfirmed"]) == ("private", True)


def test_a_proposed_decision_is_not_made(mem: Mem) -> None:
    """Its own author has to confirm it."""
    write(mem, {"docs/adr/0001-use-go.md": ADR.replace("Accepted", "Proposed")})
    imported(mem, "docs/adr")

    assert record(mem, "Use Go")["unconfirmed"]


def test_one_undo_takes_it_all_back(mem: Mem) -> None:
    """Also where an import wrote to two stores."""
    write(mem, {"docs/adr/0001-use-go.md": ADR})
    git(mem.folder, "add", "docs")
    git(mem.folder, "commit", "-qm", "decide")
    write(mem, {"docs/adr/0002-new.md": ADR.replace("Go", "Rust").replace("Accepted", "Proposed")})
    imported(mem, "docs/adr")
    assert len(mem.titles("--all")) == 2

    mem("undo")
    assert mem.titles("--all") == []

    mem("undo", "--redo")
    assert len(mem.titles("--all")) == 2
    mem("undo")
    assert set(imported(mem, "docs/adr").values()) == {"new"}


def test_times_in_the_future_and_without_a_zone(mem: Mem) -> None:
    """A record is never from the future; without a zone UTC is meant."""
    _issues(
        mem,
        _issue("bd-1", "First", created_at="2999-01-01T00:00:00Z"),
        _issue("bd-2", "Second", created_at="2025-06-01 12:00:00"),
        _issue("bd-3", "Third", created_at="2025-06-01T12:00:00+02:00"),
        _issue("bd-4", "Fourth", created_at=["no time"]),
    )
    imported(mem, ".beads")

    assert record(mem, "First")["created"][:4] < "2999"
    assert record(mem, "Second")["created"] == "2025-06-01T12:00:00Z"
    assert record(mem, "Third")["created"] == "2025-06-01T10:00:00Z"
    assert record(mem, "Fourth")["created"][:2] == "20"


def test_an_old_fact_does_not_fade_on_arrival(mem: Mem) -> None:
    """It counts as looked at when it came."""
    _issues(mem, _issue(issue_type="bug", created_at="2020-01-01T00:00:00Z"))
    imported(mem, ".beads")

    mem("consolidate", "--steps", "collect")

    assert record(mem, "Fix the login")["status"] == "active"


def test_what_cannot_be_read_is_named(mem: Mem, tmp_path: Path) -> None:
    """Broken lines, other types, a link that leads out; the rest is imported."""
    (tmp_path / "secret.md").write_text("# 9. A secret\n")
    write(
        mem,
        {
            ".beads/issues.jsonl": b"\xff\n" + b"[1]\n" + b'{"id": "bd-1"}\n' + _issue().encode(),
            "docs/adr/0001-use-go.md": ADR,
            "docs/adr/0002-huge.md": b"# 2. Huge\n" + b"x" * (5 << 20),
            "docs/adr/0003-binary.md": b"\0\1\2",
            "docs/adr/0004-latin.md": ADR.replace("fast", "f\xe4st").encode("latin-1"),
        },
    )
    os.symlink(tmp_path / "secret.md", mem.folder / "docs/adr/0005-link.md")

    assert list(unmapped(mem, ".beads")) == [
        "issues.jsonl",
        "issues.jsonl:1",
        "issues.jsonl:2",
        "issues.jsonl:3",
    ]
    assert imported(mem, ".beads") == {"Fix the login": "new"}
    left = unmapped(mem, "docs/adr")
    assert left["0002-huge.md"].startswith("it has 5,242,890 bytes")
    assert left["0003-binary.md"] == "it is not a text file"
    assert left["0004-latin.md"].startswith("it is not UTF-8")
    assert left["0005-link.md"] == "it is a link that leads out of the folder"


def test_folders_that_are_links_are_named(mem: Mem, tmp_path: Path) -> None:
    """They are not entered."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.md").write_text("---\ntype: Fact\n---\nA secret\n")
    write(mem, {"okf/index.md": "# A\n", "okf/a.md": "---\ntype: Fact\n---\nKnown\n"})
    (mem.folder / "okf" / "linked").symlink_to(tmp_path / "elsewhere")

    assert unmapped(mem, "okf") == {"linked": "it is a link to a folder"}
    assert imported(mem, "okf") == {"Known": "new"}


def test_what_is_shown_has_no_secrets(mem: Mem) -> None:
    """Neither titles, also of what is left out, nor the places of what is not taken."""
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    _issues(
        mem,
        _issue("1", f"The token is {secret}"),
        _issue("2", f"The same token {secret}", description="x " * 40_000),
        _issue("3", "Links", dependencies=[{"depends_on_id": secret, "type": "blocks"}]),
    )

    for args in (("--dry-run",), ("--dry-run", "--json"), (), ()):
        done = mem("import", ".beads", *args)
        assert secret not in done.out + done.err
        assert "[redacted: " in done.out + done.err


def test_files_of_which_nothing_is_stored_stay_out(mem: Mem) -> None:
    """As everywhere."""
    write(mem, {"docs/adr/0001-use-go.md": ADR, ".gitmemignore": "docs/adr/0001*\n"})

    assert unmapped(mem, "docs/adr") == {
        "docs/adr/0001-use-go.md": "nothing is stored about this file"
    }


def test_a_dry_run_writes_nothing(mem: Mem) -> None:
    """It says what would be new, and why something would be left out."""
    _issues(mem, _issue(), "broken\n")

    shown = mem("import", ".beads", "--dry-run")

    assert "new:             1" in shown.out
    assert "Fix the login" in shown.out
    assert "left out: issues.jsonl:2: the line is not valid JSON" in shown.err
    assert mem.titles("--all") == []


def test_without_a_source_it_says_what_is_there(mem: Mem) -> None:
    """Where nobody can be asked, nothing is imported."""
    _issues(mem, _issue(), _issue("bd-2", "Write docs"))

    assert "found beads with 2 new entries for this project." in mem("import").out
    assert mem.titles("--all") == []
    imported(mem, ".beads")
    assert "all that was found here is imported already." in mem("import").out


def test_on_a_terminal_it_asks(mem: Mem) -> None:
    """A yes imports all stores; what two of them say is imported once."""
    _issues(mem, _issue())
    write(mem, {".ctxmem/memory.jsonl": '{"id": "1", "content": "Fix the login"}\n'})

    on_terminal(mem.folder, "import", keys="y\n")

    assert mem.titles("--all") == ["Fix the login"]


def test_init_names_what_is_here(mem: Mem) -> None:
    """With the command that reads it."""
    _issues(mem, _issue())

    assert "Found here:\n  beads: 1\n    git mem import\n" in mem("init").out


def test_a_card_says_where_it_came_from(mem: Mem) -> None:
    """Format and entry."""
    _issues(mem, _issue())
    imported(mem, ".beads")
    shown = mem("show", record(mem, "Fix the login")["id"]).out

    assert "From:         beads, bd-1" in shown
    assert "Evidence: said by the agent in beads." in shown


def test_a_bare_repository_imports_what_is_named(mem: Mem, tmp_path: Path) -> None:
    """It has no usual places of its own."""
    _issues(mem, _issue())
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    bare = mem.at(tmp_path / "bare.git")

    assert imported(bare, str(mem.folder / ".beads")) == {"Fix the login": "new"}
    assert "no store of another tool was found here" in bare("import").err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("import", "nowhere"), "there is no 'nowhere'"),
        (("import", "code.py"), "is in no format that is known"),
        (("import", "--from", "beads"), "no beads was found here"),
    ],
)
def test_mistakes_are_explained(mem: Mem, args: tuple[str, ...], words: str) -> None:
    """With what to do next."""
    done = mem(*args, code=1)

    assert words in done.err
    assert "hint: " in done.err


def test_a_killed_import_is_completed_by_the_next(mem: Mem) -> None:
    """What was written stays, and nothing is there twice."""
    _issues(mem, *(_issue(f"bd-{n}", f"Issue number {n}") for n in range(3000)))
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "gitmem", "import", ".beads"],
        cwd=mem.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60
    while child.poll() is None and time.monotonic() < end:
        if git(mem.folder, "rev-parse", "-q", "--verify", PRIVATE, ok=(0, 1)):
            break
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()

    spawn(mem.folder, "import", ".beads")

    titles = json.loads(spawn(mem.folder, "list", "--all", "--json", "-n", "9999").out)["data"]
    assert len({row["title"] for row in titles}) == len(titles) == 3000
