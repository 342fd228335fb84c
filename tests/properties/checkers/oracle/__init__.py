"""Expected findings, computed in plain Python: slow, simple, and independent of the queries.

It follows the definitions sentence by sentence, with loops over lists of dicts. If it differs from
the SQL, one of them misinterprets a definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from tests.properties.checkers.oracle.aggregates import state_mismatch
from tests.properties.checkers.oracle.dependencies import cycles
from tests.properties.checkers.oracle.hits import WITNESS, Findings, Hit, Key, Witness, gathered
from tests.properties.checkers.oracle.liveness import hanging_transaction, no_progress, unseen
from tests.properties.checkers.oracle.order import reordered_output, zombie_write
from tests.properties.checkers.oracle.outputs import (
    duplicate_output,
    lost_output,
    phantom_output,
    torn_output,
    unfounded_output,
    wrong_output,
)
from tests.properties.checkers.oracle.past import Past
from tests.properties.checkers.oracle.places import inconsistent_offsets, reordered_send
from tests.properties.checkers.oracle.positions import (
    offset_ahead,
    offset_behind,
    offset_gap,
    offset_regressed,
)
from tests.properties.checkers.oracle.reads import (
    aborted_read,
    precommitted_read,
    repeated_read,
    skipped_read,
)
from tests.properties.checkers.oracle.stretch import Stretch
from tests.properties.checkers.oracle.transactions import torn_transaction
from tests.properties.checkers.oracle.writes import corrupt, duplicate, lost_write, phantom
from tests.properties.checkers.world import Rows, Trial

__all__ = ["ABSENCE", "WITNESS", "Findings", "Key", "Witness", "of_run", "of_topic", "of_trial"]

TOPIC_CHECKS: Final[dict[str, Callable[[Past], Iterator[Hit]]]] = {
    "lost-write": lost_write,
    "duplicate": duplicate,
    "phantom": phantom,
    "corrupt": corrupt,
    "inconsistent-offsets": inconsistent_offsets,
    "aborted-read": aborted_read,
    "precommitted-read": precommitted_read,
    "torn-transaction": torn_transaction,
    "reordered-send": reordered_send,
    "skipped-read": skipped_read,
    "repeated-read": repeated_read,
}
TRIAL_CHECKS: Final[dict[str, Callable[[Stretch], Iterator[Hit]]]] = {
    "lost-output": lost_output,
    "duplicate-output": duplicate_output,
    "unfounded-output": unfounded_output,
    "phantom-output": phantom_output,
    "wrong-output": wrong_output,
    "torn-output": torn_output,
    "reordered-output": reordered_output,
    "state-mismatch": state_mismatch,
    "offset-ahead": offset_ahead,
    "offset-behind": offset_behind,
    "offset-regressed": offset_regressed,
    "offset-gap": offset_gap,
    "zombie-write": zombie_write,
}
RUN_CHECKS: Final[dict[str, Callable[[Rows], Iterator[Hit]]]] = {
    "no-progress": no_progress,
    "hanging-transaction": hanging_transaction,
    "unseen": unseen,
}
ABSENCE: Final = frozenset(
    {
        "lost-write", "torn-transaction", "lost-output", "unfounded-output", "state-mismatch",
        "offset-ahead", "torn-output",
    }
)  # fmt: skip
"""Anomalies of absence, which are not reported in incomplete histories."""


def of_topic(rows: Rows, topic: str) -> Findings:
    """Findings between the application and a topic."""
    past = Past(rows, topic)
    hits = {name: find(past) for name, find in TOPIC_CHECKS.items()} | cycles(past)
    return _found(hits, past.complete)


def of_trial(rows: Rows, trial: Trial) -> Findings:
    """Findings between a topic and a sink."""
    stretch = Stretch(rows, trial)
    return _found({name: find(stretch) for name, find in TRIAL_CHECKS.items()}, stretch.complete)


def of_run(rows: Rows) -> Findings:
    """Findings of the run as a whole."""
    return _found({name: find(rows) for name, find in RUN_CHECKS.items()}, True)


def _found(hits: dict[str, Iterator[Hit]], complete: bool) -> Findings:
    found = {
        name: gathered(name, anomaly_hits)
        for name, anomaly_hits in hits.items()
        if complete or name not in ABSENCE
    }
    return {name: findings for name, findings in found.items() if findings}
