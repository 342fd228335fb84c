"""A commit that arrives so late that it ends a later transaction, with and without protection.

It arrives when its owner, which has committed again over another connection, is about to abort the
next transaction (KAFKA-17754). With transaction version 1 it commits that one. With version 2
(KIP-890) each transaction has its own epoch: the late commit is refused, the abort takes effect.
"""

from __future__ import annotations

from typing import Final

from onceproof.checkers.claims import atomic_append, exactly_once_append
from onceproof.checkers.model import Claim, Expectation
from onceproof.harness.faults.transactions.stale_end_txn import StaleEndTxn
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.observed import Observer
from onceproof.harness.subjects.producer import ProducerSubject
from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.senders.java import JAVA
from onceproof.harness.workload.senders.librdkafka import LIBRDKAFKA
from onceproof.scenarios.base import HOLDS, violated
from onceproof.scenarios.transactional_producers import PAYMENTS

_LATE = frozenset({"late-commit"})
_SEEN = violated("precommitted-read")


def _claims(expect: Expectation) -> tuple[Claim, ...]:
    return tuple(
        claim(topic, hazards=_LATE, expect=expect)
        for topic in PAYMENTS.topics
        for claim in (exactly_once_append, atomic_append)
    )


def _scenario(sender: Sender, version: int, expect: Expectation, end: str) -> Scenario:
    return Scenario(
        name=f"late-commit-{sender.name}-{version}",
        title=f"A late commit by {sender.name}, on transaction version {version}: {end}",
        subject=ProducerSubject(
            name=f"transactional-{sender.name}",
            says=f"Transactions by {sender.name} over partitions of two topics: only those that "
            "it commits are committed.",
            observers=(Observer(isolation="read_committed"),),
            topics=PAYMENTS.topics,
        ),
        sender=sender,
        workload=PAYMENTS,
        schedule=(
            ScheduledFault(
                name="commit held", progress=0.05, do=StaleEndTxn(transactional_id="producer-0")
            ),
        ),
        transaction_version=version,
        claims=_claims(expect),
        seconds=35,
    )


_ACCEPTED: Final = "it commits a transaction that its owner is about to abort"
SCENARIOS = (
    _scenario(JAVA, 1, _SEEN, _ACCEPTED),
    _scenario(JAVA, 2, HOLDS, "it is rejected"),
    # It sends EndTxn as before transaction version 2: docs/findings/late-commit.md.
    _scenario(LIBRDKAFKA, 1, _SEEN, _ACCEPTED),
    _scenario(LIBRDKAFKA, 2, _SEEN, _ACCEPTED),
)
