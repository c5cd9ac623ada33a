"""`git mem trace`: Agent Trace records out and in; what comes from others is data."""

import json
import re
import subprocess
from hashlib import sha256
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.services.provenance import agent_trace
from gitmem.state.links import Link
from tests.command_line import run_command
from tests.conftest import git
from tests.hooks.conftest import run
from tests.json_output import data_of
from tests.provenance.agent_trace_rules import SCHEMA
from tests.provenance.conftest import Team

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "files",
                    "path",
                    "conversations",
                    "ranges",
                    "url",
                    "contributor",
                    "start_line",
                    "end_line",
                    "type",
                    "vcs",
                    "revision",
                    "tool",
                    "name",
                    "version",
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


def trace(repo: Path, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run `git mem trace`."""
    done = run_command(repo, "trace", *args)
    assert done.returncode == code, done.stderr
    return done


def test_out_and_in(team: Team, tmp_path: Path):
    """A record has what the specification wants; another clone that reads it knows whose the line is."""
    one = team.session("s-one", "Round")
    one.edit("pay.py", "return 1", "return round(1.5, 1)")
    oid = one.commit("Round")
    team.drain()
    (line,) = trace(team.repo, "export", "HEAD").stdout.splitlines()
    record = json.loads(line)
    assert (
        record["version"] == "0.1.0"
        and re.fullmatch(r"[0-9a-f-]{36}", record["id"])
        and record["timestamp"].endswith("Z")
    )
    assert record["vcs"] == {"type": "git", "revision": oid}
    (file,) = record["files"]
    (talk,) = file["conversations"]
    assert (file["path"], talk["url"], talk["contributor"]) == (
        "pay.py",
        "urn:gitmem:session:s-one",
        {"type": "ai", "model_id": "claude-test"} | {"model_id": "anthropic/claude-test"},
    )
    digest = sha256(b"    return round(1.5, 1)").hexdigest()
    assert talk["ranges"] == [{"start_line": 5, "end_line": 5, "content_hash": f"sha256:{digest}"}]
    assert trace(team.repo, "export", "HEAD").stdout == line + "\n"

    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(team.repo), str(clone))
    run(clone, "init", "--no-remote")
    git(
        clone,
        "notes",
        "--ref",
        "other-tool",
        "add",
        "-m",
        line.replace("urn:gitmem:session:s-one", "https://example.org/talk/7").replace(
            '"git-mem"', '"other"'
        ),
    )
    assert data_of(trace(clone, "import", "--json").stdout) == {
        "commit_count": 1,
        "session_count": 1,
        "missing_count": 0,
    }
    (origin,) = data_of(run(clone, "why", str(clone / "pay.py:5"), "--json"))[0]["origins"]
    assert [(part["id"], part["agent"], part["model"]) for part in origin["sessions"]] == [
        ("https://example.org/talk/7", "other", "anthropic/claude-test")
    ]
    assert data_of(trace(clone, "import", "--json").stdout)["commit_count"] == 0
    (clone / "t.jsonl").write_text(line.replace(oid, "0" * 40) + "\n")
    assert (
        data_of(trace(clone, "import", str(clone / "t.jsonl"), "--json").stdout)["missing_count"]
        == 1
    )


VALID = jsonschema.Draft202012Validator(
    SCHEMA, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
)
# https://www.rfc-editor.org/rfc/rfc8141#section-2, and what RFC 3986 allows of a path
URN = re.compile(
    r"urn:[A-Za-z0-9][A-Za-z0-9-]{0,30}[A-Za-z0-9]:(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2})(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2})*"
)


def test_the_rules_of_the_schema(team: Team):
    """Of commits that people and agents share each record is valid, and each of its ranges is of a session's own lines."""
    one = team.session("s one/ü?#", "Round")
    one.edit("pay.py", "return 1", "return round(1.5, 1)")
    (team.repo / "pay.py").write_text((team.repo / "pay.py").read_text() + "\n\nPEOPLE = 1\n" * 40)
    (team.repo / "people.py").write_text("import os\n\nlogger = logging.getLogger(__name__)\n")
    one.commit("Both")
    (team.repo / "people.py").write_text("import os\n")
    one.commit("By the command of the session, of no edit")
    team.drain()
    rows = [
        json.loads(line) for line in trace(team.repo, "export", "HEAD~2..HEAD").stdout.splitlines()
    ]
    assert len(rows) == 1
    for row in rows:
        VALID.validate(row)
        for file in row["files"]:
            for talk in file["conversations"]:
                assert URN.fullmatch(talk["url"]), talk["url"]
                assert (file["path"], talk["contributor"]["type"]) == ("pay.py", "ai")
                assert [(span["start_line"], span["end_line"]) for span in talk["ranges"]] == [
                    (5, 5)
                ]


@given(st.text(max_size=40))
def test_each_session_has_a_uri(session):
    """Whatever a session is called: a URI by RFC 3986 and 8141, from which the session is read back."""
    url = agent_trace.url_of(session)
    if session:
        assert URN.fullmatch(url) or (
            url == session and VALID.format_checker.conforms(url, "uri")
        ), url
        assert agent_trace.session_of(url) == session


@pytest.mark.parametrize("kind", ["human", "mixed", "unknown"])
def test_contributors_of_others_stay_what_they_are(team: Team, kind: str):
    """A person's range is no session's, here and in what is exported again; what may be either says so."""
    oid = team.person("rev-parse", "HEAD")
    spans = [
        {"start_line": 1, "end_line": 2},
        {"start_line": 5, "end_line": 5, "contributor": {"type": "ai", "model_id": "x/y"}},
    ]
    talk = {"url": "https://example.org/talk/9", "contributor": {"type": kind}, "ranges": spans}
    row = {
        "version": "0.1.0",
        "id": "3eca628d-e942-570c-90d9-da3fbd44b217",
        "timestamp": "2026-11-26T12:18:40Z",
        "vcs": {"type": "git", "revision": oid},
        "tool": {"name": "other", "version": "1"},
        "files": [{"path": "pay.py", "conversations": [talk]}],
    }
    VALID.validate(row)
    (team.repo / "t.jsonl").write_text(json.dumps(row))
    trace(team.repo, "import", str(team.repo / "t.jsonl"))
    assert team.sessions("pay.py:1") == ([] if kind == "human" else ["https://example.org/talk/9"])
    assert team.sessions("pay.py:5") == ["https://example.org/talk/9"]
    parts = team.why("pay.py:8")["origins"][0]["other_sessions"]
    assert {part["kind"] for part in parts} == ({"ai"} if kind == "human" else {"ai", kind})
    again = json.loads(trace(team.repo, "export").stdout)
    VALID.validate(again)
    found = {
        (one["contributor"]["type"], span["start_line"])
        for one in again["files"][0]["conversations"]
        for span in one["ranges"]
    }
    assert found == {(kind, 1), ("ai", 5)}


def test_nothing_to_tell(team: Team):
    """It says so."""
    assert "none is known" in trace(team.repo, "export").stderr
    assert "no Agent Trace records" in trace(team.repo, "import", code=1).stderr
    assert "no notes" in trace(team.repo, "import", "--ref", "nope", code=1).stderr
    assert "names no commit" in trace(team.repo, "export", "nope", code=1).stderr


@given(JSON)
def test_any_record_is_read_or_left(value):
    """Whatever another tool wrote: no error, and only lines that can be lines."""
    text = json.dumps({"version": "0.1", "files": [value]})
    for row in agent_trace.records(text):
        for link in agent_trace.links(row, "a" * 40):
            assert all(
                0 < first <= last for spans in link.files.values() for first, last, _ in spans
            )


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(0, 4)), max_size=5),
    st.text(min_size=1, max_size=10).filter(lambda s: s.isprintable()),
)
def test_what_is_written_is_read_back(spans, session):
    """Sessions, models and lines come back as they were."""
    rows = [[first, first + more, 7.0] for first, more in spans]
    link = Link("b" * 40, session, "claude", "claude-x", "wrote", 7.0, {"a.py": rows})
    made = agent_trace.record(link.oid, [link], lambda path: ["x"] * 12, "1")
    if not rows:
        assert made is None
        return
    (back,) = agent_trace.links(json.loads(json.dumps(made)))
    assert (back.session, back.model, back.files) == (session, "anthropic/claude-x", {"a.py": rows})
