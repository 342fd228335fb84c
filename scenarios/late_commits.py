"""A commit that comes so late that it ends a later transaction, with and without what prevents it.

The story: a commit is on its way while its owner commits once more over another connection, begins
the next transaction and is about to abort it. Then it arrives (KAFKA-17754). On version 1 it ends
the transaction that is open just then. On version 2 each has an epoch of its own, the late commit
is refused, and the abort is an abort.
"""

from __future__ import annotations

from checkers.claims import atomic_append, exactly_once_append
from checkers.model import Claim, Expectation, Verdict
from harness.faults.late_end import LateEnd
from harness.scenario import At, Scenario
from harness.subjects.observed import Observer
from harness.subjects.producer import ProducerSubject
from harness.workload.senders.java import JAVA
from scenarios.transactional_producers import PAYMENTS

_LATE = frozenset({"late-commit"})
_HOLDS = Expectation(verdict=Verdict.HOLDS)
_SEEN = Expectation(verdict=Verdict.VIOLATED, anomalies=frozenset({"precommitted-read"}))


def _claims(expect: Expectation) -> tuple[Claim, ...]:
    return tuple(
        claim(topic, hazards=_LATE, expect=expect)
        for topic in PAYMENTS.topics
        for claim in (exactly_once_append, atomic_append)
    )


def _scenario(name: str, title: str, *, version: int, expect: Expectation) -> Scenario:
    return Scenario(
        name=name,
        title=title,
        subject=ProducerSubject(
            name="transactional-java",
            says="Transactions of a Java client over the partitions of two topics: what it commits "
            "is committed, and nothing else is.",
            observers=(Observer(isolation="read_committed"),),
            topics=PAYMENTS.topics,
        ),
        sender=JAVA,
        workload=PAYMENTS,
        schedule=(
            At(name="commit held", progress=0.05, do=LateEnd(transactional_id="producer-0")),
        ),
        transaction_version=version,
        claims=_claims(expect),
        seconds=35,
    )


SCENARIOS = (
    _scenario(
        "late-commit-java",
        "A commit by Java that comes late, on transaction version 2: it is refused",
        version=2,
        expect=_HOLDS,
    ),
    _scenario(
        "late-commit-java-version-1",
        "The same on transaction version 1: it commits what its owner is about to abort",
        version=1,
        expect=_SEEN,
    ),
)
