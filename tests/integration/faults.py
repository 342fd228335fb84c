"""Faults injected by hand on a real stage without a pipeline."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

from onceproof.harness.context.pipeline import NoPipeline, Pipeline
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.by_hand import asked
from onceproof.harness.stage.base import Stage
from onceproof.harness.wait import Stop
from tests.integration.staging import eventually


def context(stage: Stage, topic: str = "none", pipeline: Pipeline | None = None) -> RunContext:
    """A run context with a real stage and no producers."""
    return RunContext(
        stage=stage,
        subject=SimpleNamespace(name="nothing of ours"),
        pipeline=pipeline or NoPipeline(),
        producers=SimpleNamespace(
            acknowledged=0,
            total=0,
            timeouts=lambda node: 0,
            workload=SimpleNamespace(topics=(topic,)),
        ),
        recorder=None,
        stop=Stop(),
        topic=topic,
        topics=(topic,),
        work=Path(),
    )  # type: ignore[arg-type]


@contextlib.contextmanager
def active_fault(context: RunContext, command: str) -> Iterator[tuple[Injection, str]]:
    """Inject a fault by its command and wait until it took effect; heal it at the end.

    It is healed twice, because `heal` must be idempotent.
    """
    name, *arguments = command.split()
    injection = asked(name, arguments).inject(context, name)
    try:
        yield injection, eventually(injection.evidence, f"«{command}» to take effect")
    finally:
        injection.heal()
        injection.heal()
