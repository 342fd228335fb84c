"""What a fault of the database is proved by: our own way to it, past the proxies."""

from __future__ import annotations

from typing import Final

import psycopg

from harness.bench import Aftermath, Bench
from harness.clock import now
from harness.faults.on_link import wait_mended
from harness.stage.topology import AUDITOR, POSTGRES, Link
from harness.wait import wait_until

_SECONDS: Final = 2
"""How long an answer may take."""


class Ended:
    """The database ended for a fault's sake; it gets a new life when healed."""

    target = POSTGRES

    def __init__(self, bench: Bench, how: str) -> None:
        """`how` is how it ended, as seen."""
        self._bench = bench
        self._how = how
        self.at = now()

    def evidence(self) -> str | None:
        """How it ended, and that nobody answers in its place."""
        if answers(self._bench):
            return None
        return f"{self._how}; a new connection past the proxies is refused"

    def heal(self) -> None:
        """Restart it, and see that it answers."""
        if not self._bench.stage.alive(POSTGRES):
            self._bench.stage.restart(POSTGRES)
        wait_answers(self._bench)

    def aftermath(self, known: Aftermath) -> None:
        """Nothing more to say."""


def answers(bench: Bench) -> bool:
    """Whether the database answers us in time."""
    try:
        with psycopg.connect(bench.stage.database(AUDITOR), connect_timeout=_SECONDS):
            return True
    except psycopg.OperationalError:
        return False


def wait_answers(bench: Bench) -> None:
    """Wait until the database answers us, and the pipeline if nobody disturbs its way.

    Raises:
        Overdue: it does not in time.
    """
    wait_until(lambda: answers(bench), what="the database to answer", seconds=40, stop=bench.stop)
    way = Link("pipeline", POSTGRES)
    wait_mended(bench, [way])
