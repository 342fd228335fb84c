"""What scenarios of queues share: their workload, faults and claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from onceproof.checkers import Claim
from onceproof.checkers.claims import (
    at_least_once_append,
    at_most_once_append,
    exactly_once_append,
    idempotent_append,
)
from onceproof.harness.faults.base import Fault
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.links.cut_link import CutLink
from onceproof.harness.faults.links.lose_answers import LoseAnswers
from onceproof.harness.faults.links.lose_receipts import LoseReceipts
from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.targets.brokers import Node
from onceproof.harness.faults.targets.forwarder import Forwarder
from onceproof.harness.faults.targets.service import QueueBroker
from onceproof.harness.links.topology import QUEUE_BROKER
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.producer import ProducerSubject
from onceproof.harness.subjects.queue.moments import AFTER_COMMIT, BEFORE_COMMIT
from onceproof.harness.subjects.queue.subject import QueueForwarder
from onceproof.harness.workload.payments import Payments
from onceproof.harness.workload.senders.base import Sender
from onceproof.scenarios.base import HOLDS, violated
from onceproof.scenarios.groups import claims

WORKLOAD: Final = Payments(records=3_000, producers=2, keys=64, partitions=1, rate=300)
_NODE: Final = Node(name=QUEUE_BROKER)


def scheduled(name: str, do: Fault, after: str | None = None) -> ScheduledFault:
    return ScheduledFault(
        name=name,
        progress=0.0 if after else 0.1,
        after=() if after is None else (after,),
        do=do,
    )


def killed(moment: str, after: str | None = None) -> ScheduledFault:
    return scheduled(f"forwarder killed {moment}", Kill(Forwarder(), at=moment), after)


BROKER_KILLED: Final = scheduled(
    "queue broker killed before a message is acknowledged",
    Kill(QueueBroker(), at=BEFORE_COMMIT),
)
BOTH_KILLED: Final = (
    killed(BEFORE_COMMIT),
    replace(BROKER_KILLED, progress=0.0, after=(f"forwarder killed {BEFORE_COMMIT}",)),
)
AROUND_A_COMMIT: Final = (
    killed(BEFORE_COMMIT),
    killed(AFTER_COMMIT, f"forwarder killed {BEFORE_COMMIT}"),
    scheduled(
        "queue broker killed during a transaction",
        Kill(QueueBroker(), at=BEFORE_COMMIT),
        f"forwarder killed {AFTER_COMMIT}",
    ),
)
PAUSED: Final = scheduled("zombie", Pause(Forwarder(), at=BEFORE_COMMIT))
# First, before anyone reconnects: cutting a link without connections shows no effect.
_CUT: Final = scheduled("forwarders cut off", CutLink(source="pipeline", target=_NODE))
_RESPONSES_LOST: Final = scheduled(
    "responses to forwarders lost", LoseAnswers(source="pipeline", target=_NODE), _CUT.name
)
_BROKER_PAUSED: Final = scheduled("queue broker paused", Pause(QueueBroker()), _RESPONSES_LOST.name)
# What a forwarder is doing when its link is disturbed is chance; the final kill is certain to test
# a claim.
NETWORK: Final = (
    _CUT,
    _RESPONSES_LOST,
    _BROKER_PAUSED,
    killed(BEFORE_COMMIT, _BROKER_PAUSED.name),
)

TWICE, LOST = "duplicate-output", "lost-output"


def scenario(
    subject: QueueForwarder,
    hazard: str,
    *,
    sender: Sender,
    title: str,
    schedule: tuple[ScheduledFault, ...],
    broken: str | None = None,
    suffix: str = "",
) -> Scenario:
    """Return a scenario of forwarders.

    Args:
        hazard: what each claim needs.
        broken: the anomaly that refutes their claims; None: these hold.
        suffix: of its name, after that of the subject.
    """
    found = HOLDS if broken is None else violated(broken)
    return Scenario(
        name=f"{subject.name}{suffix}",
        title=title,
        subject=subject,
        workload=WORKLOAD,
        sender=sender,
        schedule=schedule,
        claims=claims(
            subject,
            most=HOLDS if broken == LOST else found,
            least=HOLDS if broken == TWICE else found,
            exactly=found,
            hazards=frozenset({hazard}),
        ),
        seconds=30,
    )


RECEIPTS_LOST: Final = scheduled("responses to senders lost", LoseReceipts())
SENDER_FAULTS: Final = (
    RECEIPTS_LOST,
    scheduled("queue broker killed", Kill(QueueBroker()), RECEIPTS_LOST.name),
)


def sending(
    name: str,
    says: str,
    *,
    title: str,
    sender: Sender,
    schedule: tuple[ScheduledFault, ...] = SENDER_FAULTS,
    claims: Sequence[Claim] | None = None,
) -> Scenario:
    """Return a scenario of applications that send to a queue; without claims, all hold."""
    holding = (
        claim(WORKLOAD.topic, hazards={"retried-send"}, expect=HOLDS)
        for claim in (
            at_most_once_append,
            at_least_once_append,
            exactly_once_append,
            idempotent_append,
        )
    )
    return Scenario(
        name=name,
        title=title,
        subject=ProducerSubject(name=name, says=says),
        workload=WORKLOAD,
        sender=sender,
        schedule=schedule,
        claims=tuple(holding if claims is None else claims),
        seconds=30,
    )
