"""How long a page takes, as the browser itself measures it."""

from collections.abc import Sequence
from typing import Any

_FILTERED = """async query => {
    const number = () => document.querySelector('.bar-top small').textContent;
    const times = [];
    for (const [hash, wanted] of query) {
        const begun = performance.now();
        location.hash = hash;
        while (!number().startsWith(wanted + ' of')) {
            await new Promise(done => requestAnimationFrame(done));
            if (performance.now() - begun > 60000) { throw new Error(`${hash}: ${number()}`); }
        }
        times.push(performance.now() - begun);
    }
    return times;
}"""


def first_paint(page: Any) -> float:
    """Return the milliseconds until a page showed something."""
    paints: float = page.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    )
    return paints


def filter_times(page: Any, filters: Sequence[tuple[str, str]]) -> list[float]:
    """Go through filters of the table of facts: (address, count that it then shows).

    Return the milliseconds until each count was there.
    """
    times: list[float] = page.evaluate(_FILTERED, [list(row) for row in filters])
    return times
