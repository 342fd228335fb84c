"""Compare pipelines that read a topic and write to another one, with their delivery guarantees.

A plain producer writes to the source, at the rate of the phase. At-least-once means that offsets
are committed after the results are acknowledged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from onceproof.harness.cost.pairs import pipelines
from onceproof.harness.cost.producers import JVM
from onceproof.harness.cost.ways import (
    Comparison,
    Fed,
    Setup,
    Start,
    Where,
    source_of,
    topic_of,
)
from onceproof.harness.java.programs import programs_for
from onceproof.harness.processes.processes import Process
from onceproof.harness.processes.python import python_module
from onceproof.harness.subjects.flink.job import checkpointing
from onceproof.harness.subjects.flink.subject import Flink
from onceproof.harness.subjects.spark.driver import JVM as DRIVER_JVM
from onceproof.harness.subjects.spark.driver import start_driver
from onceproof.harness.subjects.spark.foreach_batch_kafka import SparkForeachBatchKafka
from onceproof.harness.subjects.spark.kafka_sink import SparkKafkaSink
from onceproof.harness.subjects.spark.subject import JobPlace

AT_LEAST_ONCE, AGAIN, EXACTLY_ONCE = "at-least-once", "at-least-once-again", "exactly-once"
UNGUARDED: Final = "unguarded"
PAYMENT: Final = ('{"record": "', '", "account": "account-07", "amount_cents": 1999}')
"""What is before and after the stamp in a payment, which the jobs of scenarios read."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """What a pipeline is to do.

    Attributes:
        key: its name, and that of its group, job or transactional id.
        interval: seconds between two commits.
    """

    key: str
    guarantee: str
    interval: float
    linger: int

    @property
    def exactly_once(self) -> bool:
        return self.guarantee == EXACTLY_ONCE

    @property
    def source(self) -> str:
        return source_of(self.key)

    @property
    def sink(self) -> str:
        return topic_of(self.key)

    def as_json(self, where: Where) -> str:
        """Return the task of `transform.py`."""
        return json.dumps({
            "source": self.source,
            "sink": self.sink,
            "group": self.key,
            "exactly_once": self.exactly_once,
            "commit_every": self.interval,
            "linger": self.linger,
            "bootstrap": where.bootstrap,
            "state": str(where.work / self.key),
        })  # fmt: skip


_BYTES: Final = Fed()


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """A kind of pipeline.

    Attributes:
        answers: whether it says that it is ready.
        settings: of the setup, those that it uses besides partitions and the brokers' own.
        longer: how many times as long as others a measurement of it is.
        delay: seconds by which its base is delayed; None: as the setup says.
        by_time: whether it commits at an interval that can be set.
        also: more ways that exactly-once is compared with.
        more_topics: what it needs besides, by the key of a way; of one partition.
    """

    start: Callable[[Task, Where, str], Process]
    fed: Fed = _BYTES
    answers: bool = True
    settings: frozenset[str] = frozenset({"size", "linger"})
    longer: int = 1
    delay: float | None = None
    by_time: bool = True
    also: tuple[str, ...] = ()
    more_topics: Callable[[str], tuple[str, ...]] = lambda _: ()


def _transform(task: Task, where: Where, name: str) -> Process:
    command = list(python_module("onceproof.harness.cost.transform", task.as_json(where)))
    return where.processes.start(name, command, pipes=True)


def _java(program: str, task: Task, where: Where, name: str) -> Process:
    command = programs_for(where.tools).command(program, task.as_json(where), options=JVM)
    return where.processes.start(name, command, pipes=True)


def _flink(task: Task, where: Where, name: str) -> Process:
    folder = where.work / task.key
    (folder / "checkpoints").mkdir(parents=True)
    job = Flink(
        guarantee="exactly-once" if task.exactly_once else "at-least-once",
        into=task.sink,
        job=task.key,
    )
    command = job.launcher(
        where.tools,
        temporary=folder,
        address=where.address,
        topic=task.source,
        source=where.bootstrap,
        sink=where.bootstrap,
    )
    own = {
        **checkpointing(folder / "checkpoints", None),
        "flink.execution.checkpointing.interval": f"{task.interval * 1e3:.0f}ms",
        "source.fetch.max.wait.ms": "10",
        "sink.linger.ms": str(task.linger),
    }
    return where.processes.start(name, command(own))


def _spark(task: Task, where: Where, name: str) -> Process:
    """Spark's own sink, or a transaction per micro-batch, with or without a guard against repeated
    ones.
    """
    folder = where.work / task.key
    folder.mkdir()
    job: Any = SparkKafkaSink(sink=task.sink)
    if task.guarantee in (EXACTLY_ONCE, UNGUARDED):
        job = SparkForeachBatchKafka(
            guard="query-and-batch-id" if task.exactly_once else "none",
            sink=task.sink,
            batches=batches_of(task.key),
            transactional_id=task.key,
        )
    place = JobPlace(
        source_bootstrap=where.bootstrap,
        sink_bootstrap=where.bootstrap,
        database="",
        topic=task.source,
        checkpoint=folder / "checkpoint",
        progress=folder / "progress.jsonl",
        work=folder,
    )
    return start_driver(
        replace(where, work=folder),
        where.processes,
        job.command(place),
        options=DRIVER_JVM,
        jars=where.tools.spark_kafka_jars,
        name=name,
    )


def batches_of(key: str) -> str:
    """Return the topic of the guard of a Spark job."""
    return f"{topic_of(key)}-batches"


_PAYMENTS: Final = Fed(around=PAYMENT, keys=64)
PIPELINES: Final[Mapping[str, Pipeline]] = {
    "transform": Pipeline(start=_transform),
    "transform-java": Pipeline(start=partial(_java, "Transform")),
    "streams": Pipeline(start=partial(_java, "StreamsTransform")),
    "flink": Pipeline(start=_flink, fed=_PAYMENTS, answers=False, settings=frozenset({"linger"})),
    "spark": Pipeline(
        start=_spark,
        fed=_PAYMENTS,
        answers=False,
        settings=frozenset(),
        longer=5,
        delay=0.2,
        by_time=False,
        also=(UNGUARDED,),
        more_topics=lambda key: (batches_of(key),),
    ),
}
"""Consume-transform-produce of two clients, Kafka Streams, Flink, and Spark's Kafka sink against
`foreachBatch` with a transaction, unguarded and guarded."""


def comparison_of(name: str, setup: Setup, *, called: str | None = None) -> Comparison:
    """Return the comparison of a pipeline of `PIPELINES` under both guarantees.

    Only the first of the commit intervals is measured.

    Args:
        called: name of the comparison; None: that of the pipeline.
    """
    title, pipeline = called or name, PIPELINES[name]
    interval = setup.commit_every[0] if pipeline.by_time else 0.0
    setup = pipeline.fed.setup(setup, (interval,) if interval else ())
    setup = replace(setup, delay=pipeline.delay or setup.delay)

    def start(guarantee: str) -> Start:
        key = f"{title}-{guarantee}"
        task = Task(key=key, guarantee=guarantee, interval=interval, linger=setup.linger)
        return partial(pipeline.start, task)

    return pipelines(
        title,
        setup,
        {each: start(each) for each in (AT_LEAST_ONCE, AGAIN, EXACTLY_ONCE, *pipeline.also)},
        fed=pipeline.fed,
        answers=pipeline.answers,
        interval=interval,
        longer=pipeline.longer,
        beside=pipeline.more_topics,
    )
