"""Why lines of code are as they are.

The answer has the commits that made them, whose sessions these were, what was asked, and what was
decided then.

Commits come from `git blame`, sessions from what is known of the commits, prompts from this
machine's histories, else a session record's words.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gitmem.clock import seconds
from gitmem.git.blame import Blamed, blame
from gitmem.git.commit_log import CodeCommit
from gitmem.records.kinds import LIVE
from gitmem.repo.location import storable
from gitmem.services.provenance.attribute import owner
from gitmem.services.provenance.known import ProvenanceSources, recorded_links
from gitmem.services.records.committers import TRUST_FIELDS, marked_title
from gitmem.services.session_log.reader import content, event
from gitmem.state import sessions
from gitmem.state.links import AI, HUMAN, WROTE, Link

Row = Mapping[str, Any]
PROMPT = 600  # characters of a prompt
RECORDS = 6  # of each session
FIELDS = (*TRUST_FIELDS, "id", "type", "severity", "created")
COMMITS = 12  # that are looked at for one question


@dataclass(slots=True)
class SessionLines:
    """The part of a session in lines of code.

    `lines` are the present lines that its edits wrote, `at` is when (epoch seconds, 0 not known),
    and `how` is how it is known (`state.links`).

    `kind` is who wrote them, as Agent Trace names contributors. `prompt` is what asked for them,
    `session_record` the id of the session's record and `title` what that is called.
    """

    session: str
    agent: str
    model: str
    how: str
    at: float
    lines: list[tuple[int, int]]
    kind: str = AI
    prompt: str = ""
    session_record: str = ""
    title: str = ""
    story: str = ""
    # id, kind, type, title of what was learned then
    records: list[dict[str, Any]] = field(default_factory=list)
    # (kind, text) of its record's decisions and errors
    said: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Origin:
    """Where lines come from: `commit` is None for what is not committed.

    `moved` are the names of other files that they stood in then.

    `parts` are of sessions that wrote some of the lines; `others` had a part in the commit, and
    wrote none of them.
    """

    commit: CodeCommit | None
    lines: list[tuple[int, int]]
    moved: list[str]
    parts: list[SessionLines]
    others: list[SessionLines] = field(default_factory=list)


def why(
    sources: ProvenanceSources, path: str, spans: Sequence[tuple[int, int]], revision: str = ""
) -> list[Origin]:
    """Return where lines of a file come from, what is newest first.

    Raises UserError for lines that are not there.
    """
    return origins(sources, path, blame(sources.history, path, spans, revision))


def origins(
    sources: ProvenanceSources, path: str, blamed: Sequence[Blamed], contents: bytes | None = None
) -> list[Origin]:
    """Return where lines come from that git was asked about already, what is newest first.

    `contents` is the text of the file where it is not what the disk has.
    """
    groups: dict[str, list[Blamed]] = {}
    for span in blamed:
        groups.setdefault(span.commit.oid if span.commit else "", []).append(span)
    newest = sorted(
        groups.values(), key=lambda spans: -(spans[0].commit.at if spans[0].commit else 1 << 60)
    )[:COMMITS]
    by_commit = _links(sources, newest)
    described: set[str] = set()  # sessions
    out = []
    for spans in newest:
        commit = spans[0].commit
        if commit:
            commit_links = by_commit.get(commit.oid, [])
        else:
            commit_links = _in_hand(sources, path, spans, contents)
        origin = _origin(path, spans, commit_links)
        for part in origin.parts:
            _tell(sources, part, commit, again=part.session in described)
            described.add(part.session)
        out.append(origin)
    return out


def _links(sources: ProvenanceSources, groups: Sequence[Sequence[Blamed]]) -> dict[str, list[Link]]:
    """Return whose the commits of lines are: as it is known, else as it can be guessed."""
    commits = [(spans[0].commit, spans) for spans in groups if spans[0].commit]
    by_commit = recorded_links(sources, [commit.oid for commit, _ in commits])
    unlinked = [(commit, spans) for commit, spans in commits if not by_commit.get(commit.oid)]
    if unlinked:
        paths = {commit.oid: [span.path for span in spans] for commit, spans in unlinked}
        by_commit |= sources.linker().guess([commit for commit, _ in unlinked], paths)
    return by_commit


def _origin(path: str, spans: Sequence[Blamed], commit_links: Sequence[Link]) -> Origin:
    """Return where the lines of one commit come from; their sessions are not described yet."""
    commit = spans[0].commit
    parts = _parts(commit_links, spans)
    writers = {part.session for part in parts}
    others = [
        SessionLines(link.session, link.agent, link.model, link.how, link.at, [], link.kind)
        for link in (commit_links if commit else ())
        if link.session not in writers and link.kind != HUMAN
    ]
    moved = list(dict.fromkeys(span.path for span in spans if span.path != path))
    lines = _joined((span.first, span.first + span.count - 1) for span in spans)
    return Origin(commit, lines, moved, parts, others)


def _in_hand(
    sources: ProvenanceSources, path: str, blamed: Sequence[Blamed], contents: bytes | None
) -> list[Link]:
    """Return who wrote lines that are not committed."""
    data = contents if contents is not None else sources.history.text(path)
    if data is None:
        return []
    lines = [
        lines_of_commit.was - 1 + n
        for lines_of_commit in blamed
        for n in range(lines_of_commit.count)
    ]
    head = next(iter(sources.history.heads()), "")
    out = []
    for session, files in sources.linker().of_work(path, data, lines, head).items():
        about = sessions.get(sources.state, session)
        out.append(Link("", session, about.agent if about else "", "", WROTE, 0.0, files))
    return out


def _parts(candidates: Sequence[Link], blamed: Sequence[Blamed]) -> list[SessionLines]:
    """Return the sessions that wrote lines, those with the newest first."""
    out = []
    for link in candidates:
        written = list(_written(link, blamed)) if link.kind != HUMAN else []
        if written:
            lines = _joined((line, line) for line in sorted(line for line, _ in written))
            at = max(at for _, at in written)
            out.append(
                SessionLines(link.session, link.agent, link.model, link.how, at, lines, link.kind)
            )
    return sorted(out, key=lambda part: -part.at)


def _written(link: Link, blamed: Sequence[Blamed]) -> Iterator[tuple[int, float]]:
    """Yield (line, when) of the lines that a session wrote."""
    for span in blamed:
        for n in range(span.count):
            when = owner(link.files, storable(span.path), span.was + n)
            if when is not None:
                yield span.first + n, when


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for first, last in spans:
        if out and out[-1][1] + 1 >= first:
            out[-1] = out[-1][0], max(last, out[-1][1])
        else:
            out.append((first, last))
    return out


def _tell(
    sources: ProvenanceSources, part: SessionLines, commit: CodeCommit | None, *, again: bool
) -> None:
    """Add what is known of a session: what it was asked, its record, what it learned.

    Of one that was told of before, the prompt alone.
    """
    about = sessions.get(sources.state, part.session)
    until = part.at or (float(commit.at) if commit else 0.0)
    until += 1.0 if until == int(until) else 0.001  # git's times are whole seconds
    part.prompt, part.model = _asked(sources.rows(part.session), until, part.model)
    if about:
        part.agent = part.agent or about.agent
        part.story = about.story
    if again:
        return
    for _, index in sources.indexes:
        for row in index.rows(
            sessions=(part.session,), kinds=("session",), limit=1, fields=("id", *TRUST_FIELDS)
        ):
            part.session_record, part.title = row["id"], marked_title(row)
        part.records += index.rows(
            sessions=(part.session,),
            kinds=("memory", "gotcha"),
            statuses=LIVE,
            limit=RECORDS,
            fields=FIELDS,
        )


def _asked(rows: Iterable[Row], until: float, model: str) -> tuple[str, str]:
    """Return (the last prompt before a time, the model then) of a history."""
    prompt = ""
    for row in rows:
        if _time(row) > until:
            break
        state = row.get("state")
        model = str(state.get("model") or model) if isinstance(state, dict) else model
        if event(row) == "PromptSubmit" and content(row):
            prompt = content(row)
    return " ".join(prompt.split())[:PROMPT], model


def _time(row: Row) -> float:
    try:
        return seconds(str(row.get("timestamp") or ""))
    except ValueError:
        return 0.0


def lines_of(spans: Sequence[tuple[int, int]]) -> str:
    """Return lines as people read them: `3-9, 12`."""
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)
