"""Compare pipelines that read a topic and write to another one, with their delivery guarantees.

A plain producer writes to the source, at the rate of the phase. At-least-once means that offsets
are committed after the results are acknowledged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from onceproof.harness.cost.producers import JVM
from onceproof.harness.cost.ways import (
    FULL,
    USUAL,
    Comparison,
    Fed,
    Setup,
    Way,
    Where,
    source_of,
    topic_of,
    with_delay,
)
from onceproof.harness.java.programs import programs_for
from onceproof.harness.processes.python import python_module

AT_LEAST_ONCE, AGAIN, EXACTLY_ONCE = "at-least-once", "at-least-once-again", "exactly-once"
Run = Callable[[Where, str], Sequence[str | Path]]
"""Return the command of a program with this task, as JSON."""


def _python(where: Where, task: str) -> list[str | Path]:
    return list(python_module("onceproof.harness.cost.transform", task))


def _java(program: str) -> Run:
    def command(where: Where, task: str) -> list[str | Path]:
        return programs_for(where.tools).command(program, task, options=JVM)

    return command


PIPELINES: Final[Mapping[str, Run]] = {
    "transform": _python,
    "transform-java": _java("Transform"),
    "streams": _java("StreamsTransform"),
}
"""The program of each pipeline: consume-transform-produce of two clients, and Kafka
Streams."""


def comparison_of(pipeline: str, setup: Setup, *, name: str | None = None) -> Comparison:
    """Return the comparison of a pipeline of `PIPELINES` under both guarantees.

    Only the first of the commit intervals is measured.

    Args:
        name: of the comparison; None: that of the pipeline.
    """
    called = name or pipeline
    interval = setup.commit_every[0]

    def way(guarantee: str) -> Way:
        key = f"{called}-{guarantee}"
        task = {
            "source": source_of(key),
            "sink": topic_of(key),
            "group": key,
            "exactly_once": guarantee == EXACTLY_ONCE,
            "commit_every": interval,
            "linger": setup.linger,
        }
        return Way(
            comparison=called,
            name=guarantee,
            command=partial(_command, PIPELINES[pipeline], key, task),
            phases={AT_LEAST_ONCE: with_delay(setup), AGAIN: FULL}.get(guarantee, USUAL),
            fed=Fed(),
            interval=interval,
        )

    return Comparison(
        name=called,
        setup=setup,
        ways=tuple(map(way, (AT_LEAST_ONCE, AGAIN, EXACTLY_ONCE))),
        pairs=((AT_LEAST_ONCE, EXACTLY_ONCE),),
        again=AGAIN,
    )


def _command(run: Run, key: str, task: Mapping[str, object], where: Where) -> Sequence[str | Path]:
    state = where.work / key
    return run(where, json.dumps({**task, "bootstrap": where.bootstrap, "state": str(state)}))
