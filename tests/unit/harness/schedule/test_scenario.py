"""Scenarios: what is refused before anything is started, and how triggers are told."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from onceproof.checkers.claims import at_least_once, exactly_once_append
from onceproof.harness.faults.links.cut_link import CutLink
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.targets.brokers import Node
from onceproof.harness.schedule.scenario import BadScenario, Scenario, ScheduledFault
from onceproof.harness.subjects.spark.kafka_sink import SparkKafkaSink
from onceproof.harness.workload.payments import Payments

ENDS = Message(source="pipeline", direction="request", api="EndTxn", client_id="it")
WRITES = Message(
    source="pipeline", direction="response", api="Produce", client_id="it", refused=False
)
CUT = CutLink(source="pipeline", target=Node(name="broker-1"))


def scenario(*schedule: ScheduledFault) -> Scenario:
    return Scenario(
        name="story",
        title="A story",
        subject=SparkKafkaSink(),
        workload=Payments(topic="payments"),
        schedule=schedule,
        claims=(exactly_once_append("payments"),),
    )


def at(name: str, **more: object) -> ScheduledFault:
    return ScheduledFault(name=name, do=CUT, **more)


def test_lines_may_wait_for_earlier_ones() -> None:
    made = scenario(at("a"), at("b", after=("a",)), at("c", after=("a", "b"), progress=1))
    assert [line.name for line in made.schedule] == ["a", "b", "c"]


@pytest.mark.parametrize("progress", [-0.01, 1.01, math.nan, math.inf])
def test_progress_outside_its_range(progress: float) -> None:
    with pytest.raises(BadScenario, match=r"«a»: progress=.*: expected a number from 0 to 1"):
        at("a", progress=progress)


@pytest.mark.parametrize("progress", [0, 0.5, 1])
def test_progress_within_its_range(progress: float) -> None:
    assert at("a", progress=progress).progress == progress


def test_losing_a_message_that_is_not_named() -> None:
    with pytest.raises(BadScenario, match="«a»: lost requires during"):
        ScheduledFault(name="a", do=CUT, lost=True)


@pytest.mark.parametrize("more", [{}, {"during": ENDS, "lost": True}])
def test_behind_what_nothing_can_be_held_for(more: dict[str, object]) -> None:
    with pytest.raises(BadScenario, match="«a»: behind requires during"):
        at("a", behind=WRITES, **more)


@pytest.mark.parametrize(
    ("during", "behind"),
    [
        (replace(ENDS, client_id=None), replace(WRITES, client_id=None)),
        (replace(ENDS, client_id="other"), WRITES),
        (replace(ENDS, source="producer"), WRITES),
    ],
)
def test_behind_what_another_client_does(during: Message, behind: Message) -> None:
    with pytest.raises(BadScenario, match="«a»: behind requires a client_id, the same"):
        at("a", during=during, behind=behind)


def test_a_trigger_behind_another_message() -> None:
    line = at("a", progress=0.1, during=ENDS, behind=WRITES)
    assert line.when() == (
        "10% of the records are acknowledged; then during the first EndTxn request of pipeline "
        "(client id it), behind the first Produce response of pipeline (client id it, without an "
        "error) in one transaction"
    )
    assert set(line.gated) == {"pipeline"}


def test_two_lines_of_one_name() -> None:
    with pytest.raises(BadScenario, match="story: two faults are named «a»"):
        scenario(at("a"), at("b"), at("a"))


@pytest.mark.parametrize("wrong", ["later", "itself", "nobody"])
def test_waiting_for_what_is_no_earlier_line(wrong: str) -> None:
    with pytest.raises(
        BadScenario, match=f"story: «itself» waits for «{wrong}», which is not an earlier"
    ):
        scenario(at("a"), at("itself", after=("a", wrong)), at("later"))


def test_no_claims() -> None:
    with pytest.raises(BadScenario, match="story: it has no claims, so nothing can be judged"):
        replace(scenario(), claims=())


def test_without_a_workload_there_is_nothing_to_claim() -> None:
    nothing = replace(scenario().workload, records=0)
    assert replace(scenario(), workload=nothing, claims=()).claims == ()


def test_a_claim_of_another_topic() -> None:
    claims = (
        exactly_once_append("payments"),
        at_least_once("refunds", into="ledger", view="table"),
    )
    with pytest.raises(
        BadScenario,
        match="story: a claim is about refunds, but the workload writes to payments",
    ):
        replace(scenario(), claims=claims)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (at("a"), "0% of the records are acknowledged"),
        (at("a", progress=0.3), "30% of the records are acknowledged"),
        (at("b", after=("a",)), "«a» is over"),
        (at("c", after=("a", "b")), "«a» is over and «b» is over"),
        (
            at("c", after=("a",), progress=0.5),
            "«a» is over and 50% of the records are acknowledged",
        ),
    ],
)
def test_triggers_in_words(line: ScheduledFault, words: str) -> None:
    assert line.when() == words


def test_without_a_word_on_its_end_a_fault_ends_when_it_took_effect() -> None:
    assert at("a").until.describe() == "it is proven to have taken effect"
    assert at("a").required
