"""What to change in a consumer that writes to a topic, a database, a web service or a queue."""

from __future__ import annotations

from typing import Final

from onceproof.harness.history.system import System
from onceproof.reports.advice.advice import Advice, advice

_TOPIC: Final = (System.CONSUMER,)
_TABLE: Final = (System.DATABASE,)
_WEB: Final = (System.WEB,)
_QUEUE: Final = (System.QUEUE,)
_TUTORIAL: Final = "tutorial/test-your-pipeline.md"
_DATABASE_PAGE: Final = "how-to/test-a-consumer-with-a-database.md"
_WEB_PAGE: Final = "how-to/test-a-program-that-calls-a-web-service.md"
_QUEUE_PAGE: Final = "how-to/test-a-program-that-writes-to-a-queue.md"

CONSUMERS: Final[tuple[Advice, ...]] = (
    advice(
        "duplicate-output offset-behind offset-regressed offset-gap",
        "Commit the offsets in the producer's transaction (`sendOffsetsToTransaction`) and nowhere "
        "else, and let readers of the output use `read_committed`.",
        systems=_TOPIC,
        page=_TUTORIAL,
    ),
    advice(
        "duplicate-output zombie-write",
        "Pass the consumer's own group metadata to `sendOffsetsToTransaction`, not a group name "
        "alone: only then is an instance fenced that was paused while others took its partitions. "
        "aiokafka accepts a name only.",
        systems=_TOPIC,
    ),
    advice(
        "lost-output offset-ahead",
        "Set `enable.auto.commit=false`, and commit an offset only when its outputs are "
        "acknowledged. After an aborted transaction, seek back to the committed offsets, or the "
        "next poll continues after the inputs that were aborted.",
        systems=_TOPIC,
        page=_TUTORIAL,
    ),
    advice(
        "reordered-output",
        "Write the outputs of one key with one idempotent producer, and do not write a failed "
        "output again after later ones.",
        systems=_TOPIC,
    ),
    advice(
        "duplicate-output offset-behind offset-regressed offset-gap",
        "Store the offset in the database, in the transaction of the rows, and start from it. Or "
        "make the write idempotent: a unique key on the input's identity with `ON CONFLICT DO "
        "NOTHING`.",
        systems=_TABLE,
        page=_DATABASE_PAGE,
    ),
    advice(
        "duplicate-output zombie-write",
        "Move a stored offset only from the value that the program knows (`… WHERE next = "
        "$known`), and roll back if no row was changed: another instance has replaced this one.",
        systems=_TABLE,
        page=_DATABASE_PAGE,
    ),
    advice(
        "lost-output offset-ahead",
        "Set `enable.auto.commit=false`, and commit the offset after the rows, or with them. If "
        "the result of a commit in the database is unknown, exit and start from the stored offset.",
        systems=_TABLE,
        page=_DATABASE_PAGE,
    ),
    advice(
        "duplicate-output offset-behind offset-regressed offset-gap zombie-write",
        "Send the input's identity as an idempotency key with each request, the same for every "
        "attempt and after a restart, and let the service recognize it.",
        systems=_WEB,
        page=_WEB_PAGE,
    ),
    advice(
        "lost-output offset-ahead",
        "Commit the offset when the service has answered with success. Treat a time-out as "
        "unknown and send the request again with the same key.",
        systems=_WEB,
        page=_WEB_PAGE,
    ),
    advice(
        "duplicate-output offset-behind offset-regressed offset-gap zombie-write",
        "Receive and send in one transacted session. If the systems differ, send the input's "
        "identity as duplicate id (`_AMQ_DUPL_ID` in Artemis), and make the broker's cache of ids "
        "larger than what can be sent again.",
        systems=_QUEUE,
        page=_QUEUE_PAGE,
    ),
    advice(
        "lost-output offset-ahead",
        "Acknowledge a message, or commit its offset, when its outputs are sent and confirmed, not "
        "when it is received.",
        systems=_QUEUE,
        page=_QUEUE_PAGE,
    ),
)
