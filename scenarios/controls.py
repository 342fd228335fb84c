"""Controls: runs that must not end in `holds`, because they test the harness, not the pipeline.

A fault without effect makes a run invalid, a crash that tests nothing leaves a claim unexercised,
and a history without records proves nothing.
"""

from __future__ import annotations

from onceproof.checkers.model import Claim, Expectation, Verdict
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.links.cut_link import CutLink
from onceproof.harness.faults.targets.brokers import Node
from onceproof.harness.faults.targets.spark_driver import SparkDriver
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.spark.foreach_batch_postgres import SparkForeachBatchPostgres
from onceproof.harness.workload.payments import Payments
from onceproof.scenarios.base import claims

_SUBJECT = SparkForeachBatchPostgres(guard="query-and-batch-id")
_FEW = Payments(records=2_000, rate=1_000)


def _claim(verdict: Verdict, topic: str = "payments") -> tuple[Claim, ...]:
    expect = Expectation(verdict=verdict)
    return claims(topic, _SUBJECT.sink, _SUBJECT.view, exactly=expect)


SCENARIOS = (
    Scenario(
        name="control-fault-without-effect",
        title="An unused link is cut: the run must be invalid, naming the fault",
        subject=_SUBJECT,
        workload=_FEW,
        schedule=(
            ScheduledFault(
                name="unused link cut",
                progress=0.05,
                do=CutLink(source="pipeline-sink", target=Node(name="broker-1")),
                seconds=3,
            ),
        ),
        claims=_claim(Verdict.INVALID),
        seconds=25,
    ),
    Scenario(
        name="control-idle-crash",
        title="The driver is killed while idle: its claim must stay unexercised",
        subject=_SUBJECT,
        workload=_FEW,
        schedule=(ScheduledFault(name="idle driver killed", do=Kill(SparkDriver(), at="idle")),),
        claims=_claim(Verdict.UNEXERCISED),
        seconds=35,
    ),
    Scenario(
        name="control-nothing-sent",
        title="No records are sent: an empty history must prove nothing",
        subject=_SUBJECT,
        workload=Payments(records=0),
        schedule=(),
        claims=_claim(Verdict.INVALID),
        seconds=20,
    ),
)
