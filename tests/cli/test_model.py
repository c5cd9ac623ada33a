"""The model as a person sets it up: whose configuration counts, what is shown of a key, what doctor and `model check` say."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Mem, spawn
from tests.conftest import git
from tests.llm.gemini_server import Gemini, error, said, serving

KEY = "AIzaSyTestTestTestTestTestTestTestTest1"
WORD = '{"word": "ready"}'


def everywhere(*rows: tuple[str, str]) -> None:
    """Set the user's own settings as git does it."""
    for key, value in rows:
        subprocess.run(["git", "config", "--global", f"gitmem.{key}", value], check=True)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key and no server; what a test sets of them is gone after it."""
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GITMEM_GEMINI_URL", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.setenv(name, "")


def gemini_at(gemini: Gemini, key: str = KEY) -> None:
    """Set up Gemini on a server of this test."""
    everywhere(("summariser", "gemini"))
    os.environ |= {"GITMEM_GEMINI_URL": gemini.url, "GEMINI_API_KEY": key}


def files_with(folder: Path, text: str) -> list[str]:
    """Return the files below a folder that hold a text."""
    return [
        str(path)
        for path in folder.rglob("*")
        if path.is_file() and text.encode() in path.read_bytes()
    ]


# -- check


def test_check_without_a_model_says_how_to_get_one(mem: Mem) -> None:
    """Offline is a choice, not a fault."""
    assert "git mem config --global summariser claude" in mem("model", "check").out
    row = mem("model", "check", "--json").json
    assert (row["summariser"], row["ok"], row["model"], row["failure"]) == (
        "offline",
        True,
        None,
        None,
    )


def test_check_asks_gemini_once(mem: Mem) -> None:
    """The model, the time, the tokens; nothing of the repository is sent."""
    mem("add", "a secret of this repository")
    with serving(said(WORD, tokens=21)) as gemini:
        gemini_at(gemini)
        text = mem("model", "check").out
        row = mem("model", "check", "--json").json

    assert re.fullmatch(r"gemini:gemini-2\.5-flash answered in \d+\.\d s, for 21 tokens\.\n", text)
    seconds = row.pop("duration_seconds")
    assert 0 < seconds < 60
    assert row == {
        "summariser": "gemini",
        "model": "gemini:gemini-2.5-flash",
        "ok": True,
        "server": gemini.url.removeprefix("http://"),
        "key_source": "GEMINI_API_KEY",
        "remarks": [],
        "tokens": 21,
        "failure": None,
    }
    assert len(gemini.asked) == 2
    assert "a secret of this repository" not in str(gemini.asked)


def test_check_says_what_went_wrong(mem: Mem) -> None:
    """An error with a hint, exit code 1; in JSON too."""
    with serving(error(400, "INVALID_ARGUMENT", f"API key {KEY} not valid.")) as gemini:
        gemini_at(gemini)
        done = mem("model", "check", code=1)
        row = mem("model", "check", "--json", code=1).json

    assert "answered 400: API key" in done.err
    assert "hint: Check the key" in done.err
    assert (row["ok"], row["failure"]["code"]) == (False, "key")
    assert KEY not in done.err + done.out + str(row)


def test_check_asks_a_program(mem: Mem, tmp_path: Path) -> None:
    """The program of the user's own configuration, for one command as well."""
    mem("config", "--global", "modelCommand", f"echo '{WORD}'")
    done = mem(
        "model",
        "check",
        env={
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "gitmem.summariser",
            "GIT_CONFIG_VALUE_0": "command",
        },
    )

    assert done.out.startswith("command answered in ")


def test_check_works_where_there_is_no_work_tree(make_repo: object, mem: Mem) -> None:
    """A bare repository."""
    folder = make_repo("bare")  # type: ignore[operator]
    with serving(said(WORD)) as gemini:
        gemini_at(gemini)
        assert mem.at(folder)("model", "check", "--json").json["ok"] is True


def test_a_live_model_is_replaced_with_a_remark(mem: Mem) -> None:
    """On stderr, beside the answer."""
    with serving(said(WORD)) as gemini:
        gemini_at(gemini)
        everywhere(("geminiModel", "gemini-2.5-flash-native-audio-preview-09-2025"))
        done = mem("model", "check")

    assert done.out.startswith("gemini:gemini-2.5-flash answered")
    assert "answers in live sessions only" in done.err


@pytest.mark.parametrize(
    ("settings", "env", "words"),
    [
        ([("summariser", "gemini")], {}, "there is no key"),
        ([("summariser", "gemini")], {"GEMINI_API_KEY": "two words"}, "characters that no key has"),
        (
            [("summariser", "gemini")],
            {"GEMINI_API_KEY": KEY, "GITMEM_GEMINI_URL": "ftp://example.org"},
            "not an http or https URL",
        ),
        (
            [("summariser", "gemini"), ("geminiModel", "../../v1/files")],
            {"GEMINI_API_KEY": KEY},
            "not a name of a model",
        ),
        ([("summariser", "command")], {}, "modelCommand is empty"),
        ([("summariser", "command"), ("modelCommand", "a 'b")], {}, "cannot be read"),
        (
            [("summariser", "command"), ("modelCommand", "./run")],
            {},
            "another program in each folder",
        ),
    ],
)
def test_what_is_missing_is_said_by_check_and_doctor(
    settings: list[tuple[str, str]], env: dict[str, str], words: str, mem: Mem
) -> None:
    """The same sentence, and what to do."""
    everywhere(*settings)
    os.environ |= env

    done = mem("model", "check", code=1)
    assert words in done.err
    assert "hint: " in done.err
    row = next(f for f in mem("doctor", "--json").json["findings"] if words in f["message"])
    assert row["level"] == "warning"
    assert "Sessions are read offline." in row["message"]
    assert row["hint"]


@pytest.mark.parametrize("name", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
def test_the_key_may_be_in_the_environment(name: str, mem: Mem) -> None:
    """Doctor says where it was found, and asks nobody."""
    with serving(said(WORD)) as gemini:
        gemini_at(gemini, key="")
        out = mem("doctor", env={name: KEY}).out

    assert f"with the key of {name}" in out
    assert KEY not in out
    assert gemini.asked == []


def test_plain_http_to_another_machine_is_remarked(mem: Mem) -> None:
    """The key would be readable on the way."""
    everywhere(("summariser", "gemini"))
    url = "http://user:hunter2@proxy.example.org:8080/x"
    out = mem("doctor", env={"GEMINI_API_KEY": KEY, "GITMEM_GEMINI_URL": url}).out

    assert "proxy.example.org:8080 is reached by plain http" in out
    assert "hunter2" not in out


# -- a session


def session(mem: Mem) -> dict[str, object]:
    """Live through a session of Claude Code by its hooks; return the session record."""
    for row in (
        {"hook_event_name": "SessionStart", "source": "startup"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "Where should sessions live?"},
        {
            "hook_event_name": "Stop",
            "last_assistant_message": "We decided to keep sessions in Redis because the cookie grew too large.",
        },
        {"hook_event_name": "SessionEnd", "reason": "exit"},
    ):
        payload = json.dumps(
            {**row, "session_id": "one", "cwd": str(mem.folder), "transcript_path": ""}
        )
        spawn(mem.folder, "hook", "claude", stdin=payload.encode())
    end = time.monotonic() + 120
    while (
        not (
            found := [
                r
                for r in mem("list", "--private", "--kind", "session", "--all", "--json").json
                if r.get("session")
            ]
        )
        and time.monotonic() < end
    ):
        mem("drain")
    return mem.show(found[0]["id"])


def test_the_record_of_a_session_is_the_model_s(mem: Mem) -> None:
    """From hook to record, by processes of their own; who read it is said."""
    mem("init", "--no-remote")
    items = [{"kind": "decision", "text": "Sessions live in Redis.", "turn": 2}]
    with serving(said(json.dumps({"items": items, "topics": ["sessions"]}))) as gemini:
        gemini_at(gemini)
        record = session(mem)

    assert record["by"] == "gemini:gemini-2.5-flash"
    assert "Sessions live in Redis." in mem("page", "summary").out
    assert "cookie grew too large" in str(gemini.asked[0])
    assert files_with(mem.folder, KEY) == []


def test_the_record_of_a_session_is_offline_where_the_model_fails(mem: Mem) -> None:
    """The same session, and a key that is refused."""
    mem("init", "--no-remote")
    with serving(error(403, "PERMISSION_DENIED", f"The key {KEY} is suspended.")) as gemini:
        gemini_at(gemini)
        record = session(mem)

    assert record["by"] == "offline"
    assert "keep sessions in Redis" in str(record["body"])
    assert "Read offline: 127.0.0.1" in str(record["body"])
    assert "answered 403: The key [the key] is suspended." in str(record["body"])
    assert files_with(mem.folder, KEY) == []


# -- whose configuration


def test_a_repository_cannot_set_it(mem: Mem) -> None:
    """Config, doctor and check say that it is ignored, and what to do; the user's own stays in force."""
    key = "modelCommand"
    everywhere((key, "mine --json"))
    git(mem.folder, "config", f"gitmem.{key}", "theirs --json")

    told = mem("config")
    assert f"gitmem.{key} in this repository's own configuration is ignored" in told.err
    assert "theirs" not in told.out + told.err
    row = mem("config", key, "--json").json
    assert (row["value"], row["scope"]) == ("mine --json", "global")
    assert any(
        f"gitmem.{key} in this repository's own" in f["message"]
        for f in mem("doctor", "--json").json["findings"]
    )
    mem("config", "--unset", key)
    assert "ignored" not in mem("config").err


@pytest.mark.parametrize("how", ["local", "worktree", "include"])
def test_a_hostile_repository_runs_nothing_and_gets_no_key(
    how: str, mem: Mem, tmp_path: Path
) -> None:
    """Its configuration, that of a work tree, a file that it includes: no program is started, no server of its choice is asked."""
    trap = tmp_path / "trap"
    rows = f"[gitmem]\n\tmodelCommand = touch {trap}\n\tgeminiKey = theirs\n"  # once settings
    with serving(said(WORD)) as evil:
        rows += f"\tgeminiUrl = {evil.url}\n"
        folder = mem.folder / ".git"
        if how == "local":
            with (folder / "config").open("a") as file:
                file.write(rows)
        elif how == "worktree":
            git(mem.folder, "config", "extensions.worktreeConfig", "true")
            (folder / "config.worktree").write_text(rows)
        else:
            (mem.folder / "evil.cfg").write_text(rows)
            git(mem.folder, "config", "include.path", "../evil.cfg")
        for summariser in ("command", "gemini"):
            everywhere(("summariser", summariser))
            assert mem("model", "check", code=1).err.count("error: ") == 1

    assert not trap.exists()
    assert evil.asked == []


def test_the_user_sets_it_for_all_repositories(mem: Mem) -> None:
    """`--global` is asked for, not guessed; a key is no setting, and no error repeats it."""
    assert (
        "git mem config --global modelCommand" in mem("config", "modelCommand", "llm", code=1).err
    )
    mem("config", "--global", "modelCommand", "llm -m local")
    assert mem("config", "modelCommand", "--json").json["value"] == "llm -m local"
    for flag in ([], ["--global"]):
        done = mem("config", *flag, "geminiKey", KEY, code=2)
        assert "there is no setting 'geminiKey'. See all" in done.err
        assert KEY not in done.err
    assert files_with(mem.folder, KEY) == []


def test_the_environment_wins(mem: Mem) -> None:
    """`GITMEM_MODEL_COMMAND` and `GITMEM_GEMINI_URL`."""
    everywhere(("summariser", "command"), ("modelCommand", "false"))
    assert mem("model", "check", env={"GITMEM_MODEL_COMMAND": f"echo '{WORD}'"}).out.startswith(
        "command answered"
    )
    with serving(said(WORD)) as gemini:
        everywhere(("summariser", "gemini"))
        env = {
            "GEMINI_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9",
            "GITMEM_GEMINI_URL": gemini.url,
        }
        assert "answered" in mem("model", "check", env=env).out


def test_for_one_command(mem: Mem) -> None:
    """`git -c` is the user's own word."""
    given = {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "gitmem.summariser",
        "GIT_CONFIG_VALUE_0": "command",
        "GIT_CONFIG_KEY_1": "gitmem.modelCommand",
        "GIT_CONFIG_VALUE_1": f"echo '{WORD}'",
    }

    assert mem("model", "check", env=given).out.startswith("command answered")


# -- what is kept and shown


def test_the_key_is_never_shown_nor_kept(mem: Mem, tmp_path: Path) -> None:
    """Not by config, doctor, status, in the cache of settings, or anywhere below `.git`."""
    with serving(said(WORD)) as gemini:
        gemini_at(gemini)
        everywhere(("modelCommand", "llm --key ghp_0123456789abcdefghijABCDEFGHIJ456789"))
        mem("add", "one")
        told = [
            mem(*words.split())
            for words in (
                "config",
                "config --json",
                "config modelCommand",
                "doctor",
                "status",
                "status --json",
                "model check",
            )
        ]

    text = "".join(done.out + done.err for done in told)
    assert KEY not in text
    assert "ghp_" not in text
    assert (mem.folder / ".git" / "gitmem" / "settings.json").exists()
    for secret in (KEY, "ghp_", gemini.url):
        assert files_with(mem.folder, secret) == []


def test_the_key_is_in_no_command_line(mem: Mem) -> None:
    """While the question is open, no process is called with it."""
    with serving(said(WORD), delay=20.0) as gemini:
        gemini_at(gemini)
        child = subprocess.Popen(
            [sys.executable, "-m", "gitmem", "model", "check"],
            cwd=mem.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        while not gemini.asked:
            assert child.poll() is None
        lines = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                lines.append(path.read_bytes())
            except OSError:
                continue
        gemini.released.set()
        assert b"answered" in child.communicate()[0]

    assert not [line for line in lines if KEY.encode() in line]


def test_without_a_model_nothing_of_it_is_imported(mem: Mem) -> None:
    """The commands that run all day do not pay for the SDK, nor for what asks programs."""
    mem("add", "one")
    for words in ("list", "drain", "doctor"):
        code = f"import sys; from gitmem.cli.main import run; run({words.split()!r}); print(*[m for m in sys.modules if m.split('.')[0] in ('google', 'httpx2', 'pydantic') or m in ('gitmem.llm.gemini', 'gitmem.llm.command')], file=sys.stderr)"
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=mem.folder,
            capture_output=True,
            text=True,
            check=True,
            env=dict(os.environ),
        )
        assert done.stderr.strip() == "", words


def test_the_process_speaks_of_nothing_else(mem: Mem) -> None:
    """A whole process: no warning of the SDK's on stderr, both variables set."""
    with serving(said(WORD)) as gemini:
        gemini_at(gemini)
        done = spawn(
            mem.folder,
            "model",
            "check",
            env={"GOOGLE_API_KEY": "a", "GEMINI_API_KEY": "b", "PYTHONWARNINGS": "default"},
        )

    assert done.err == ""
