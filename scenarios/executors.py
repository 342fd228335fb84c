"""Executors of a Spark driver killed during a write, while the driver survives.

A task has sent records to Kafka and dies with its executor before it could report success. Spark
retries the task. No micro-batch is replayed, and yet records are duplicated in the topic.
"""

from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.targets.spark_executors import SparkExecutors
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.subjects.spark.kafka_sink_on_cluster import SparkKafkaSinkOnCluster
from onceproof.harness.workload.payments import Payments
from onceproof.scenarios.base import DUPLICATES, HOLDS, claims

_PAYMENTS = Payments(records=8_000, producers=2, keys=64, partitions=3)
_ON_CLUSTER = SparkKafkaSinkOnCluster()

SCENARIOS = (
    Scenario(
        name="executors-killed-kafka",
        title="All executors killed while a task's records are in flight to the topic",
        subject=_ON_CLUSTER,
        workload=_PAYMENTS,
        schedule=(
            ScheduledFault(
                name="executors killed",
                progress=0.1,
                do=Kill(SparkExecutors(which="all")),
                during=Message(
                    source="pipeline-sink",
                    direction="request",
                    api="Produce",
                    topic=_ON_CLUSTER.sink,
                ),
            ),
        ),
        claims=claims(
            _PAYMENTS.topic,
            _ON_CLUSTER.sink,
            _ON_CLUSTER.view,
            least=HOLDS,
            exactly=DUPLICATES,
            hazards={"retried-task"},
        ),
        seconds=55,
    ),
)
