"""A year of three replicas: nothing that counts is lost, and the formulas hold."""

import pytest

from gitmem.records.kinds import LIVE
from gitmem.worker import facts
from tests.lifecycle.memories import opened
from tests.lifecycle.simulated_year import BEGIN, HOLIDAYS, PERMANENT, WEEK, Size, Year
from tests.scale import FULL

SIZE = Size(52, 5000, 40_000) if FULL else Size(10, 250, 800)


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Year:
    """A year that was lived; each consolidation in it was held to the model."""
    year = Year(tmp_path_factory.mktemp("year"), SIZE, seed=2026)
    year.run()
    return year


def test_replicas_end_on_one_tree(year: Year) -> None:
    """All have everything."""
    assert list(year.tips().values()) == [3]
    assert year.collected > 0
    assert year.merged > 0


def test_nothing_that_counts_is_lost(year: Year) -> None:
    """Each pinned, permanent or confirmed fact is there, or was merged into an equal one."""
    with opened(year.clones[0], BEGIN + year.size.weeks * WEEK) as app:
        rows = {row["id"]: row for row in app.rows(fields=("id", "status"))}
    for fact in year.facts.values():
        if fact.pinned or fact.vouched or fact.type in PERMANENT:
            assert fact.id in rows
            assert fact.state == "merged" or rows[fact.id]["status"] in LIVE
    live = {id for id, row in rows.items() if row["status"] in LIVE}
    assert live == {fact.id for fact in year.live()}


def test_scores_and_promotion_agree_with_the_model(year: Year) -> None:
    """On each replica, for each fact."""
    at = BEGIN + year.size.weeks * WEEK
    for repo in year.clones:
        with opened(repo, at) as app:
            scores = app.scores()
            rows = {row["id"]: scores.of(row) for row in app.rows(statuses=LIVE)}
        for fact in year.live():
            assert rows[fact.id].level == fact.level
            assert rows[fact.id].value == pytest.approx(fact.score(at, year.hours))


def test_planted_contradictions_are_found(year: Year) -> None:
    """Those whose facts both still hold."""
    with opened(year.clones[1], BEGIN + year.size.weeks * WEEK) as app:
        pairs = {frozenset(finding.ids) for finding in facts.open_contradictions(app)}
    live = {fact.id for fact in year.live()}
    planted = {frozenset(pair) for pair in year.planted if live.issuperset(pair)}
    assert planted
    assert planted <= pairs


def test_health_moves_as_expected(year: Year) -> None:
    """Tidying never lowers it, and holidays cost nothing: nobody worked."""
    assert all(after >= before for _, before, after in year.health)
    for holiday in HOLIDAYS:
        weeks = [week for week in holiday if week < year.size.weeks]
        values = [year.health[week][2] for week in weeks]
        assert values == [] or max(values) - min(values) <= 1
