"""What faults of a database and of a queue broker have in common: each is one node of the stage.

They are proved by our own way to the node, past the proxies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import psycopg

from onceproof.harness.artemis.auditor import QueueTrouble
from onceproof.harness.artemis.configuration import NOWHERE
from onceproof.harness.faults.on_link import wait_mended
from onceproof.harness.run_context import RunContext
from onceproof.harness.stage.topology import ARTEMIS, AUDITOR, POSTGRES, QUEUE_AUDIENCES, Link
from onceproof.harness.wait import wait_until

_SECONDS: Final = 2
"""How long an answer may take."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """A node of the stage that is no broker of Kafka's.

    Attributes:
        node: its name.
        called: how it is called in sentences.
        needs: what a stage with it offers.
        ways: the links that lead to it.
        answers: whether it answers us in time.
    """

    node: str
    called: str
    needs: str
    ways: tuple[Link, ...]
    answers: Callable[[RunContext], bool]

    def wait_answers(self, context: RunContext) -> None:
        """Wait until it answers us, and others on each way that nobody disturbs.

        Raises:
            Overdue: it does not in time.
        """
        wait_until(
            lambda: self.answers(context),
            what=f"{self.called} to answer",
            seconds=40,
            stop=context.stop,
        )
        wait_mended(context, self.ways)


def _database_answers(context: RunContext) -> bool:
    try:
        with psycopg.connect(context.stage.database(AUDITOR), connect_timeout=_SECONDS):
            return True
    except psycopg.OperationalError:
        return False


def _queue_broker_answers(context: RunContext) -> bool:
    try:
        context.stage.queues().counts(NOWHERE)
    except QueueTrouble:
        return False
    return True


DATABASE: Final = Service(
    node=POSTGRES,
    called="the database",
    needs="database",
    ways=(Link("pipeline", POSTGRES),),
    answers=_database_answers,
)
QUEUE_BROKER: Final = Service(
    node=ARTEMIS,
    called="the queue broker",
    needs="queues",
    ways=tuple(Link(audience, ARTEMIS) for audience in QUEUE_AUDIENCES),
    answers=_queue_broker_answers,
)
