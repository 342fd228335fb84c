"""Hazards of brokers, and of the links to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.links.cut_link import CutLink
from onceproof.harness.faults.program.cut_program import CutProgram
from onceproof.harness.faults.targets.brokers import (
    PROGRAM_START,
    CoordinatorOf,
    LeaderOf,
    Node,
    Target,
)
from onceproof.harness.faults.targets.service import QueueBroker
from onceproof.harness.faults.until import Acknowledged
from onceproof.harness.links.topology import QUEUE_BROKER
from onceproof.verify.hazards.asking import is_program, needs, uses_brokers
from onceproof.verify.hazards.hazard import Hazard, Pipeline, Strike

_USING_BROKERS: Final = "pipelines that use brokers"
_NEW_LEADERS: Final = "other brokers became leaders of the killed broker's partitions"


def _broker(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    writes = n % 2 or pipeline.fed
    yield Strike(do=Kill(_leader(pipeline.produced if writes else (), n)))


def _leader(topics: tuple[str, ...], n: int) -> LeaderOf:
    """Return the leader of a partition of the first of these topics, or by default of the input."""
    return LeaderOf(partition=n % 3, topic=topics[0] if topics else None)


def _coordinator(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    group = pipeline.group
    assert group is not None, "asked for before"
    yield Strike(do=Kill(CoordinatorOf(of="group", name=group.name)))


def _at_start(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    groups = pipeline.profile.groups or ((pipeline.group.name,) if pipeline.group else ())
    target: Target
    if groups and n % 2 == 0:
        target = CoordinatorOf(of="group", name=groups[0])
    else:
        target = _leader(pipeline.produced, n)
    yield Strike(do=Kill(target, at=PROGRAM_START))


def _cut_off(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    if pipeline.spark:
        fault = CutLink(source="pipeline", target=LeaderOf(partition=1))
        yield Strike(do=fault, until=Acknowledged(records=400))
    else:
        yield Strike(do=CutProgram(seconds=(2.0, 5.0, 8.0)[n % 3]))


def _queue_broker(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    if n % 2 == 0:
        yield Strike(do=Kill(QueueBroker()))
    else:
        link = CutLink(source="pipeline", target=Node(name=QUEUE_BROKER))
        yield Strike(do=link, until=Acknowledged(records=400))


BROKERS: Final[tuple[Hazard, ...]] = (
    Hazard(
        name="leader-killed",
        says="the broker that leads a partition of its input or output is killed",
        of=_USING_BROKERS,
        proof=_NEW_LEADERS,
        unless=needs(uses_brokers, "it uses no brokers"),
        strikes=lambda p, n: list(_broker(p, n)),
        rare=True,
    ),
    Hazard(
        name="coordinator-killed",
        says="the coordinator of its consumer group is killed",
        of="members of a consumer group",
        proof=_NEW_LEADERS,
        unless=needs(lambda p: is_program(p) and p.group, "it is not a member of a consumer group"),
        strikes=lambda p, n: list(_coordinator(p, n)),
        rare=True,
    ),
    Hazard(
        name="broker-lost-at-start",
        says="the coordinator of its group, or a leader of its output, is killed while it starts",
        of="pipelines that use brokers, except Spark jobs",
        proof="it had requested metadata without a response; then other brokers became leaders",
        unless=needs(
            lambda p: is_program(p) and p.profile.watched and uses_brokers(p),
            "it is a Spark job, or has no observed link to brokers",
        ),
        strikes=lambda p, n: list(_at_start(p, n)),
        rare=True,
    ),
    Hazard(
        name="cut-off",
        says="its connections to the brokers are cut for several seconds",
        of=_USING_BROKERS,
        proof="its connections were closed, and records were acknowledged meanwhile",
        unless=needs(uses_brokers, "it uses no brokers"),
        strikes=lambda p, n: list(_cut_off(p, n)),
        rare=True,
    ),
    Hazard(
        name="queue-broker-lost",
        says="the queue broker is killed or disconnected",
        of="pipelines that write to a queue",
        proof="the queue broker did not respond, or connections to it were closed",
        unless=needs(lambda p: "queue" in p.kinds, "it writes to no queue"),
        strikes=lambda p, n: list(_queue_broker(p, n)),
        rare=True,
    ),
)
