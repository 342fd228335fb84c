"""What to change in producers and in consumers that only read a topic."""

from __future__ import annotations

from typing import Final

from onceproof.reports.advice.advice import Advice, advice

_AUDIT: Final = "how-to/audit-a-cluster.md"
_VERSION: Final = "how-to/test-another-version.md"

TOPICS: Final[tuple[Advice, ...]] = (
    advice(
        "duplicate",
        "Set `enable.idempotence=true` and leave retries to the client: a record that the program "
        "itself sends again is a new record to the broker.",
    ),
    advice(
        "lost-write",
        "Set `acks=all`, `min.insync.replicas=2` with three replicas, and "
        "`unclean.leader.election.enable=false`. Check the result of every send, and call `flush` "
        "before you exit.",
        page=_AUDIT,
    ),
    advice(
        "lost-write torn-transaction aborted-read precommitted-read",
        "If the settings are right, look for a known bug of this client or broker, and repeat the "
        "run with another version (`--with NAME=VERSION`).",
        page=_VERSION,
    ),
    advice(
        "torn-transaction",
        "Check the result of every send before the commit, and abort if one failed. After an "
        "error that is fatal, or a commit whose result is unknown, create the producer anew with "
        "the same `transactional.id` before anything is sent again.",
    ),
    advice(
        "aborted-read",
        "Set `isolation.level=read_committed` in every consumer; librdkafka has it by default, the "
        "Java client and Spark do not.",
    ),
    advice(
        "G1c G1c-process G1c-realtime",
        "Give each running producer a `transactional.id` of its own.",
    ),
    advice(
        "precommitted-read G1c G1c-process G1c-realtime",
        "A late request to end a transaction may have ended the next one (KAFKA-17754). Brokers of "
        "version 4.0 or later with `transaction.version=2` reject it, if the client uses this "
        "version too: Java from 4.0 on does, librdkafka 2.16 does not.",
        page="findings/late-commit.md",
    ),
    advice(
        "inconsistent-offsets",
        "Set `unclean.leader.election.enable=false` and `min.insync.replicas=2`, and look in the "
        "logs of the brokers for a leader that truncated its log.",
    ),
    advice(
        "reordered-send",
        "Set `enable.idempotence=true` with `max.in.flight.requests.per.connection` of at most 5, "
        "and do not send a failed record again after later ones.",
    ),
    advice(
        "corrupt phantom",
        "Compare the witness with what was sent: a serializer, an interceptor or another writer "
        "of the topic changed or added it.",
    ),
    advice(
        "repeated-read skipped-read",
        "Do not seek or commit from another thread than the one that polls, and after a rebalance "
        "start at the committed offsets.",
    ),
    advice(
        "hanging-transaction",
        "If its producer has just ended, the coordinator ends it after `transaction.timeout.ms`. "
        "Otherwise find it with `kafka-transactions.sh describe-producers`, and end it with "
        "`abort`.",
        page=_AUDIT,
    ),
    advice(
        "unseen",
        "Look for an open transaction, which stops every `read_committed` reader of its partition, "
        "and for a reader that still waits on a broken connection.",
        page=_AUDIT,
    ),
    advice(
        "G0 G1c-ww",
        "Nothing, unless the order of the transactions matters to you: then let one producer "
        "write each partition.",
    ),
)
