"""In which order a hook tells facts, and which it leaves out. Part of the hot path."""

import os

from gitmem.clock import stamp
from gitmem.repo.location import Home, user_repository
from gitmem.services.lifecycle.pairs import ContradictingFacts
from gitmem.services.lifecycle.score import FactScores
from gitmem.state.database import NAME, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.hooks.context import Hook


def contradicting(hook: "Hook") -> ContradictingFacts:
    """Return the facts that contradict each other, of those that this reader is told of."""
    if hook.contradicting is None:
        hook.contradicting = ContradictingFacts(
            hook.repo.stored_indexes,
            hook.repo.state,
            hook.repo.namespaces,
            stamp(hook.now),
            unconfirmed=bool(hook.repo.settings.get("unconfirmed")),
        )
    return hook.contradicting


def scores(hook: "Hook") -> FactScores:
    """Return what tells the scores of facts now."""
    return FactScores(
        hook.repo.stored_indexes,
        lambda: _states(hook),
        hook.now,
        lambda: contradicting(hook).refuted,
    )


def _states(hook: "Hook") -> list[State]:
    """Return this repository's working state, and the user's own if there is one."""
    own = os.path.join(user_repository(hook.repo.env), "gitmem")
    has_own = own != hook.repo.home.path and os.path.exists(os.path.join(own, NAME))
    return [hook.repo.state, *([State(Home(own))] if has_own else [])]
