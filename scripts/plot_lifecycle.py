"""Draw the plots of docs/lifecycle.md: how a score sinks, and the health of a simulated year.

Run in the root of the repository: pip install -e ".[dev,plots]" && python scripts/plot_lifecycle.py
"""

import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from gitmem.records.score import COLLECTABLE, DECAYED, rate_of  # noqa: E402
from tests.lifecycle.simulated_year import BEGIN, HOLIDAYS, WEEK, Size, Year  # noqa: E402

IMAGES = ROOT / "docs" / "images"
HOURS = 600  # hours of work that are drawn
READS = {0: "never read", 1: "read once", 3: "read 3 times"}
SIZE = Size(weeks=52, facts=1500, reads=12_000)


def draw_scores() -> None:
    """Draw the score of a fact of importance 8 that was read 0, 1 or 3 times."""
    figure, axes = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
    for reads, label in READS.items():
        scores = [8 * rate_of(None, reads) ** hour for hour in range(HOURS)]
        axes.plot(scores, label=label)
    for name, score in (("decayed", DECAYED), ("collectable", COLLECTABLE)):
        axes.axhline(score, color="grey", linewidth=0.8, linestyle="--")
        axes.annotate(name, (HOURS - 1, score + 0.1), ha="right", color="grey", fontsize=8)
    axes.set(xlabel="hours of work since the last read", ylabel="score", xlim=(0, HOURS), ylim=0)
    axes.legend(frameon=False)
    figure.savefig(IMAGES / "lifecycle-score.png", dpi=120)


def draw_health() -> None:
    """Draw the health of three replicas that work, sync and tidy for a year."""
    with tempfile.TemporaryDirectory() as folder:
        year = Year(Path(folder), SIZE, seed=2026)
        year.run()
    figure, axes = pyplot.subplots(figsize=(7, 3.2), layout="constrained")
    weeks = [(at - BEGIN) / WEEK for at, _, _ in year.health]
    axes.plot(weeks, [before for _, before, _ in year.health], label="before tidying", lw=1)
    axes.plot(weeks, [after for _, _, after in year.health], label="after tidying")
    for holiday in HOLIDAYS:
        axes.axvspan(holiday.start, holiday.stop, color="grey", alpha=0.15, lw=0)
    axes.set(xlabel="week", ylabel="health", xlim=(0, SIZE.weeks), ylim=(0, 100))
    axes.legend(frameon=False)
    figure.savefig(IMAGES / "lifecycle-year.png", dpi=120)


if __name__ == "__main__":
    draw_scores()
    draw_health()
