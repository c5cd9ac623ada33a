"""What the sections of the compound analysis have: each chosen by kind, type, tags and counts.

A fact may be in several sections. Nothing is read out of the words of a fact.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.records.kinds import SEVERITIES, command_heads
from gitmem.records.promotion import LEVELS, PATTERN, RULE
from gitmem.services.lifecycle.findings import Finding
from gitmem.services.pages.gotchas import severity_of
from gitmem.services.pages.page_fact import PageFact, is_proposed
from gitmem.services.records.committers import out_of_date
from gitmem.text.plural import counted

WORKFLOW = "workflow"  # the tag of a fact that says how something is done here
OTHER = "Other"


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A fact in a section; `notes` are what the section says of it besides, `text` its line."""

    fact: PageFact
    notes: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class EntryGroup:
    """Entries below one heading, after lines of plain text."""

    title: str
    entries: tuple[PageEntry, ...]
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CompoundSection:
    """One page of the analysis. `rule` says which facts it has."""

    name: str
    title: str
    rule: str
    groups: tuple[EntryGroup, ...]

    @property
    def ids(self) -> list[str]:
        """The ids of its facts, each once, in the order of the page."""
        entries = (entry for group in self.groups for entry in group.entries)
        return list(dict.fromkeys(entry.fact.id for entry in entries))

    @property
    def number(self) -> int:
        """The number of its entries."""
        return sum(len(group.entries) for group in self.groups)


@dataclass(frozen=True, slots=True)
class Analysed:
    """What is analysed.

    `facts` are those that are shown. `proposed` are rows of all facts that no person wrote at
    first, `tombstones` counts what was forgotten or rejected, `findings` are what a check found.
    """

    facts: Sequence[PageFact]
    proposed: Sequence[Mapping[str, Any]] = ()
    tombstones: int = 0
    findings: Sequence[Finding] = ()


def sections(analysed: Analysed) -> list[CompoundSection]:
    """Return the sections in their order; one without entries has no groups."""
    facts = sorted(analysed.facts, key=lambda fact: fact.id)
    return [
        _learnings(facts),
        _frameworks(facts),
        _workflows(facts),
        _dos_and_donts(facts),
        _agent_patterns(facts, analysed),
        _heuristics(facts),
        _warnings(facts),
        _user_behavior(facts),
        _discrepancies(facts, analysed.findings),
    ]


def _section(name: str, title: str, rule: str, groups: Iterable[EntryGroup]) -> CompoundSection:
    return CompoundSection(name, title, rule, tuple(g for g in groups if g.entries or g.lines))


def _typed(facts: Iterable[PageFact], *types: str) -> list[PageFact]:
    return [fact for fact in facts if fact.record.get("type") in types]


def _group(title: str, facts: Iterable[PageFact]) -> EntryGroup:
    return EntryGroup(title, tuple(PageEntry(fact) for fact in facts))


def _seen(fact: PageFact) -> str:
    return f"seen in {counted(fact.times_seen, 'place')}"


def _by_evidence(title: str, facts: Iterable[PageFact]) -> EntryGroup:
    """Return facts with the number of sessions and commits they were seen in, the most first."""
    ordered = sorted(facts, key=lambda fact: (-fact.times_seen, fact.id))
    return EntryGroup(title, tuple(PageEntry(fact, (_seen(fact),)) for fact in ordered))


def _learnings(facts: Sequence[PageFact]) -> CompoundSection:
    groups = [
        _by_evidence("Patterns", _typed(facts, "pattern")),
        _by_evidence("Insights", _typed(facts, "insight")),
    ]
    rule = "Facts of type pattern and insight, those seen in most sessions and commits first."
    return _section("01-learnings", "Learnings", rule, groups)


def _frameworks(facts: Sequence[PageFact]) -> CompoundSection:
    by_part: dict[str, list[PageFact]] = {}
    for fact in _typed(facts, "decision"):
        by_part.setdefault(_part_of(fact), []).append(fact)
    names = sorted(by_part, key=lambda name: (name == OTHER, name))
    rule = "Decisions by their first tag; those without a tag by the folder of their code."
    groups = [_group(name, by_part[name]) for name in names]
    return _section("02-frameworks", "Frameworks", rule, groups)


def _part_of(fact: PageFact) -> str:
    """Return what a decision is about: its first tag, else the folder of its first anchor."""
    if fact.record.tags:
        return fact.record.tags[0]
    paths = (str(anchor.get("path") or "") for anchor in fact.record.anchors)
    return next((path.rpartition("/")[0] or path for path in paths if path), OTHER)


def _workflows(facts: Sequence[PageFact]) -> CompoundSection:
    memories = [fact for fact in facts if fact.record.kind == "memory"]
    groups = [
        _group("Commands", filter(_has_command, memories)),
        _group("Checked against the code", filter(_has_check, memories)),
        _group("Procedures", (fact for fact in memories if WORKFLOW in fact.record.tags)),
    ]
    rule = f"Facts that name a command, that have a check, or that have the tag {WORKFLOW}."
    return _section("03-workflows", "Workflows", rule, groups)


def _has_command(fact: PageFact) -> bool:
    return bool(command_heads(fact.record.get("triggers")))


def _has_check(fact: PageFact) -> bool:
    return bool(fact.record.get("verify"))


def _dos_and_donts(facts: Sequence[PageFact]) -> CompoundSection:
    instead = (
        PageEntry(fact, text=str(fact.record.get("workaround")))
        for fact in facts
        if fact.is_open_gotcha and fact.record.get("workaround")
    )
    groups = [
        _group("Do: rules", _typed(facts, "rule")),
        _group("Do: decisions", _typed(facts, "decision")),
        EntryGroup("Don't, and what to do instead", tuple(instead)),
    ]
    rule = "Rules and decisions; open gotchas that have a workaround."
    return _section("04-dos-and-donts", "Dos and don'ts", rule, groups)


def _agent_patterns(facts: Sequence[PageFact], analysed: Analysed) -> CompoundSection:
    shown = [fact for fact in facts if is_proposed(fact.row)]
    by_agent: dict[str, list[PageFact]] = {}
    for fact in shown:
        by_agent.setdefault(_agent_of(fact.row), []).append(fact)
    counts = _outcomes(analysed.proposed)
    groups = [
        EntryGroup(
            name, tuple(map(PageEntry, by_agent.get(name, ()))), (_outcome_line(counts, name),)
        )
        for name in sorted({*by_agent, *counts})
    ]
    if analysed.tombstones:
        gone = counted(analysed.tombstones, "fact")
        groups.append(EntryGroup("Forgotten or rejected", (), (f"{gone}, of any agent.",)))
    rule = "Facts that agents and their sessions proposed, by namespace."
    return _section("05-agent-patterns", "Agent patterns", rule, groups)


def _agent_of(row: Mapping[str, Any]) -> str:
    return str(row["agent"] or "global")


def _outcomes(proposed: Iterable[Mapping[str, Any]]) -> dict[str, tuple[int, int]]:
    """Return how many proposals people accepted, and how many wait, by namespace."""
    out: dict[str, tuple[int, int]] = {}
    for row in proposed:
        accepted, waiting = out.get(_agent_of(row), (0, 0))
        is_waiting = bool(row["unconfirmed"])
        out[_agent_of(row)] = (accepted + (not is_waiting), waiting + is_waiting)
    return out


def _outcome_line(counts: Mapping[str, tuple[int, int]], name: str) -> str:
    accepted, waiting = counts.get(name, (0, 0))
    return f"{accepted:,} accepted, {waiting:,} not confirmed."


def _heuristics(facts: Sequence[PageFact]) -> CompoundSection:
    groups = [
        _by_evidence(f"Became a {LEVELS[level]}", (f for f in facts if _level_of(f) == level))
        for level in (RULE, PATTERN)
    ]
    rule = "Facts that were seen in two places (a pattern), or in three or more (a rule)."
    return _section("06-heuristics", "Heuristics", rule, groups)


def _level_of(fact: PageFact) -> int:
    return int(fact.row["level"] or 0)


def _warnings(facts: Sequence[PageFact]) -> CompoundSection:
    gotchas = [fact for fact in facts if fact.is_open_gotcha]
    groups = [
        _group(f"Gotchas: {severity}", (fact for fact in gotchas if severity_of(fact) == severity))
        for severity in SEVERITIES
    ]
    groups.append(_group("May be out of date", (fact for fact in facts if out_of_date(fact.row))))
    rule = "Open gotchas by severity, and facts that the code refutes."
    return _section("07-warnings", "Warnings", rule, groups)


def _user_behavior(facts: Sequence[PageFact]) -> CompoundSection:
    corrections = (fact for fact in facts if fact.record.get("supersedes"))
    groups = [
        _group("Preferences", _typed(facts, "preference")),
        _group("Corrections", corrections),
    ]
    rule = "Preferences, and facts that took the place of another one."
    return _section("08-user-behavior", "User behavior", rule, groups)


def _discrepancies(facts: Sequence[PageFact], findings: Iterable[Finding]) -> CompoundSection:
    """Return the findings whose facts are all shown; no other fact is named."""
    by_id = {fact.id: fact for fact in facts}
    groups = []
    for finding in sorted(findings):
        if all(id in by_id for id in finding.ids):
            entries = tuple(PageEntry(by_id[id]) for id in finding.ids)
            groups.append(EntryGroup(finding.what.capitalize(), entries, (finding.evidence,)))
    rule = "Open findings of git mem check: it shows the choices."
    return _section("09-discrepancies", "Discrepancies", rule, groups)
