"""Compare JMS applications that pass messages on, and start what reads and feeds their queues.

With auto-acknowledge, a message counts as processed as soon as it is delivered, and each send
waits for the broker. Transacted, messages are acknowledged with what was sent for them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from onceproof.harness.artemis.configuration import Artemis
from onceproof.harness.artemis.programs import artemis_programs
from onceproof.harness.cost.pairs import pipelines
from onceproof.harness.cost.producers import JVM
from onceproof.harness.cost.ways import (
    Comparison,
    Fed,
    Setup,
    Start,
    Way,
    Where,
    source_of,
    topic_of,
)
from onceproof.harness.processes.processes import Process
from onceproof.harness.queues.base import Queues
from onceproof.harness.tools.setup import Tools

NAME: Final = "jms"
AUTO, AGAIN, TRANSACTED = "auto-acknowledge", "auto-acknowledge-again", "transacted"


def comparison_of(setup: Setup, *, name: str = NAME) -> Comparison:
    """Return the comparison; only the first of the commit intervals is measured."""
    interval = setup.commit_every[0]
    fed = Fed()
    setup = replace(fed.setup(setup, (interval,)), partitions=1)

    def start(way: str) -> Start:
        key = f"{name}-{way}"
        task = {
            "source": source_of(key),
            "sink": topic_of(key),
            "transacted": way == TRANSACTED,
            "commit_every": interval,
        }
        return partial(_start, "QueueTransform", task)

    found = pipelines(
        name,
        setup,
        {way: start(way) for way in (AUTO, AGAIN, TRANSACTED)},
        fed=fed,
        interval=interval,
    )
    return replace(found, by_queues=True)


def queues_of(comparisons: Iterable[Comparison], tools: Tools) -> Queues | None:
    """Return what these need from a queue broker; None: nothing."""
    ways = [way for each in comparisons if each.by_queues for way in each.ways]
    if not ways:
        return None
    return Queues(
        plain=tuple(queue for way in ways for queue in (way.topic, way.source)),
        settings=Artemis(),
        tools=tools,
    )


def create(where: Where, comparison: Comparison) -> None:
    """Do nothing: the queue broker starts with all queues."""


def reader(where: Where, comparison: Comparison, folder: Path) -> Process:
    task = {"topics": [way.topic for way in comparison.ways], "folder": str(folder)}
    return _start("QueueReader", task, where, f"reader-{comparison.name}")


def feeder(way: Way, fed: Fed, setup: Setup) -> Start:
    return partial(_start, "QueueLoad", {"topic": way.source, "size": setup.size})


def _start(program: str, task: dict[str, Any], where: Where, name: str) -> Process:
    words = json.dumps({**task, "broker": where.queue_broker, "name": name})
    command = artemis_programs(where.tools).command(program, words, options=JVM)
    return where.processes.start(name, command, pipes=True)
