"""Evidence that every answer to a Produce request was withheld."""

from __future__ import annotations

from onceproof.harness.faults.links.unanswered import LeaveUnanswered
from onceproof.harness.faults.targets.brokers import Node
from onceproof.harness.history.identity import ATTEMPT_HEADER
from onceproof.harness.links.topology import Link
from tests.unit.fakes.logs import FakeReader, entry, log
from tests.unit.fakes.run_context import FakeContext
from tests.unit.fakes.stage import FakeGate, FakeStage

ENDED = {"at": 0}


def test_evidence_starts_over_when_the_led_partitions_change() -> None:
    link = Link("producer", "broker-2")
    stage = FakeStage(
        said={("payments", 0): (1, {1, 2, 3})}, gates={link: FakeGate(fired=[ENDED, ENDED])}
    )
    first_log = log(entry(0, headers={ATTEMPT_HEADER: b"answered"}))
    reader = FakeReader([first_log])
    context = FakeContext(stage=stage, logs=reader)
    injection = LeaveUnanswered(target=Node(name="broker-2"), seconds=0).inject(context, "withheld")
    assert injection.evidence() is None, "it leads nothing"
    stage.said[("payments", 0)] = (2, {1, 2, 3})
    assert injection.evidence() is None, "another one may have answered until now"
    assert injection.evidence() is None, "nothing was appended since"
    reader.logs = [log(*first_log.entries, entry(1, headers={ATTEMPT_HEADER: b"unanswered"}))]
    assert injection.evidence() == (
        "2 connections on producer→broker-2 closed instead of answering a Produce request; "
        "1 sends were in the log by then"
    )


def test_repeated_requests_alone_start_it_over() -> None:
    link = Link("producer", "broker-2")
    gate = FakeGate(fired=[ENDED] * 10)
    stage = FakeStage(said={("payments", 0): (2, {1, 2, 3})}, gates={link: gate})
    reader = FakeReader([log(entry(0, headers={ATTEMPT_HEADER: b"in flight"}))])
    context = FakeContext(stage=stage, logs=reader)
    injection = LeaveUnanswered(target=Node(name="broker-2"), seconds=0).inject(context, "withheld")
    first = injection.at
    assert injection.evidence() is None, "nothing was appended since"
    assert (injection.at or 0) > (first or 0), "answers passed, and it began again"
    assert len(gate.rules) == 1
    assert stage.disturbed() == {}
