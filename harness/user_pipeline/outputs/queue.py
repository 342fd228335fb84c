"""A queue of an Artemis broker, read as a log of committed messages sent to it."""

from __future__ import annotations

import re
from typing import Final

from onceproof.harness.user_pipeline.identity import BadRule
from onceproof.harness.user_pipeline.outputs.kind import MESSAGE, OutputKind
from onceproof.harness.user_pipeline.outputs.topic import READ_COMMITTED, Topic

_ADDRESS: Final = re.compile(r"[A-Za-z0-9._/-]+")


def _check(place: str) -> None:
    if not _ADDRESS.fullmatch(place):
        raise BadRule(
            f"invalid queue address {place!r}: expected letters, digits, dots, underscores, "
            "slashes and hyphens"
        )


OUTPUTS: Final = (
    OutputKind(
        prefix="queue",
        place="ADDRESS",
        says="A queue of the run's Artemis broker, over JMS or AMQP 1.0.",
        views={"queue": lambda place, where: Topic(where.reader, place, READ_COMMITTED)},
        check=_check,
        rules=MESSAGE,
        untested="Consumers of the queue, and redeliveries to them: the queue was read as a log of "
        "the messages sent to it. Messages of a transaction that was still open at the end of the "
        "run: they are not visible in that log.",
    ),
)
