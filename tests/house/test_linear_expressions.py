"""Every regular expression takes time that is linear in the text: texts that others write can be as bad as they like."""

from collections import Counter

from tests.house.expressions import DYNAMIC, collect, slowest


def test_no_expression_is_slow_for_its_worst_input() -> None:
    expressions, unseen = collect()
    assert len(expressions) > 500
    hidden = Counter(place.rpartition(":")[0] for place in unseen)
    assert hidden == {place: count for place, (count, _) in DYNAMIC.items()}
    for expression in expressions:
        slow = slowest(expression)
        assert slow is None, f"{expression.place}: {slow}"
