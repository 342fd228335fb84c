"""Scenarios: what is refused, and how triggers are described."""

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

END_TXN = Message(source="pipeline", direction="request", api="EndTxn", client_id="it")
PRODUCE = Message(
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


def test_faults_may_wait_for_earlier_ones() -> None:
    made = scenario(at("a"), at("b", after=("a",)), at("c", after=("a", "b"), progress=1))
    assert [line.name for line in made.schedule] == ["a", "b", "c"]


@pytest.mark.parametrize("progress", [-0.01, 1.01, math.nan, math.inf])
def test_progress_out_of_range_is_refused(progress: float) -> None:
    with pytest.raises(BadScenario, match=r"«a»: progress=.*: expected a number from 0 to 1"):
        at("a", progress=progress)


@pytest.mark.parametrize("progress", [0, 0.5, 1])
def test_progress_in_range_is_accepted(progress: float) -> None:
    assert at("a", progress=progress).progress == progress


def test_lost_requires_during() -> None:
    with pytest.raises(BadScenario, match="«a»: lost requires during"):
        ScheduledFault(name="a", do=CUT, lost=True)


@pytest.mark.parametrize("more", [{}, {"during": END_TXN, "lost": True}])
def test_behind_requires_during_without_lost(more: dict[str, object]) -> None:
    with pytest.raises(BadScenario, match="«a»: behind requires during"):
        at("a", behind=PRODUCE, **more)


@pytest.mark.parametrize(
    ("during", "behind"),
    [
        (replace(END_TXN, client_id=None), replace(PRODUCE, client_id=None)),
        (replace(END_TXN, client_id="other"), PRODUCE),
        (replace(END_TXN, source="producer"), PRODUCE),
    ],
)
def test_behind_requires_the_same_client_id(during: Message, behind: Message) -> None:
    with pytest.raises(BadScenario, match="«a»: behind requires a client_id, the same"):
        at("a", during=during, behind=behind)


def test_when_describes_behind() -> None:
    scheduled = at("a", progress=0.1, during=END_TXN, behind=PRODUCE)
    assert scheduled.when() == (
        "10% of the records are acknowledged; then during the first EndTxn request of pipeline "
        "(client id it), behind the first Produce response of pipeline (client id it, without an "
        "error) in one transaction"
    )
    assert set(scheduled.gated) == {"pipeline"}


def test_duplicate_fault_name_is_refused() -> None:
    with pytest.raises(BadScenario, match="story: two faults are named «a»"):
        scenario(at("a"), at("b"), at("a"))


@pytest.mark.parametrize("wrong", ["later", "itself", "nobody"])
def test_waiting_for_a_later_or_unknown_fault_is_refused(wrong: str) -> None:
    with pytest.raises(
        BadScenario, match=f"story: «itself» waits for «{wrong}», which is not an earlier"
    ):
        scenario(at("a"), at("itself", after=("a", wrong)), at("later"))


def test_scenario_without_claims_is_refused() -> None:
    with pytest.raises(BadScenario, match="story: it has no claims, so nothing can be judged"):
        replace(scenario(), claims=())


def test_scenario_without_records_needs_no_claims() -> None:
    nothing = replace(scenario().workload, records=0)
    assert replace(scenario(), workload=nothing, claims=()).claims == ()


def test_claim_about_another_topic_is_refused() -> None:
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
    ("scheduled", "description"),
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
def test_when_describes_the_trigger(scheduled: ScheduledFault, description: str) -> None:
    assert scheduled.when() == description


def test_fault_is_required_and_ends_on_effect_by_default() -> None:
    assert at("a").until.describe() == "it is proven to have taken effect"
    assert at("a").required
