"""What sessions say of facts: precision and recall of small sessions, and what says nothing."""

import pytest

from tests.extraction.matching import total
from tests.extraction.spoken_changes import ChangeCase, cases

CELERY = "decision: Use Celery for the background jobs"
DONE = "task: Write the rollback script"


@pytest.mark.parametrize(
    ("name", "precision", "recall"), [("tuned", 0.98, 0.95), ("held", 0.95, 0.85)]
)
def test_how_much_is_found(name: str, precision: float, recall: float) -> None:
    judged = [case.judged() for case in cases(name)]
    tally = total(one for one, _ in judged)
    wrong = [text for _, texts in judged for text in texts]
    assert len(judged) == 50
    assert tally.precision >= precision and tally.recall >= recall, wrong


@pytest.mark.parametrize(
    "said",
    [
        "What if we forget Celery?",
        "We could forget Celery.",
        "The manual says to forget Celery.",
        "> Forget Celery.",
        'The log says "forget Celery, we use RQ".',
        "I forgot Celery in the list.",
        "Never forget Celery.",
        "Write an e-mail to the team: forget Celery, we use RQ.",
        "Forget Celery for the mails.",
    ],
)
def test_what_says_nothing_of_a_fact(said: str) -> None:
    assert ChangeCase([CELERY], [f"user: {said}"], []).read()[0] == []


@pytest.mark.parametrize(
    "said",
    [
        "I've written the rollback script and it passes.",
        "I have written the rollback script.",
        "The rollback script is written and tested.",
        "The rollback script is done.",
        "Finished the rollback script.",
        "I wrote the rollback script, all tests pass.",
        "The rollback script is in place now.",
        "The rollback script has been written.",
        "Done with the rollback script.",
        "I've finished writing the rollback script.",
        "We shipped the rollback script yesterday.",
    ],
)
def test_which_sentences_finish_a_task(said: str) -> None:
    assert ChangeCase([DONE], ["user: Go on.", f"agent: {said}"], []).read()[0] == ["done 1 agent"]


@pytest.mark.parametrize(
    "said",
    [
        "The rollback script is almost done.",
        "The rollback script isn't done.",
        "I'll write the rollback script tomorrow.",
        "Is the rollback script done?",
        "The rollback plan is done.",
        "Once the rollback script is done, deploy.",
    ],
)
def test_which_do_not(said: str) -> None:
    assert ChangeCase([DONE], ["user: Go on.", f"agent: {said}"], []).read()[0] == []
