"""Restart a program that hangs, as the liveness probe of an orchestrator does.

Some clients wait forever for an answer on a lost connection. Later faults would not find such a
program at work, and what it had lost or duplicated before could not be judged.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Final

from onceproof.harness.clock import now
from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.processes.processes import Process
from onceproof.harness.user_pipeline.program import AWAY, Program

SECONDS: Final = 60.0
"""How long a program may write nothing while inputs wait, unless its usual pauses are longer."""
_LOCK = threading.Lock()


def start_if_hung(context: RunContext) -> bool:
    """Restart a program that has written nothing for too long; return whether it was restarted.

    Call it only while inputs wait. Records the hazard `hung`, which no plan requires. Only plans
    that kill the program anyway allow a restart (`Program.may_be_restarted`).
    """
    pipeline = context.pipeline
    if not isinstance(pipeline, Program) or not pipeline.may_be_restarted:
        return False
    with _LOCK:
        process = pipeline.supervisor.life
        if process is None or not process.leader_alive() or process.frozen():
            return False
        enough = max(SECONDS, 2 * pipeline.rest)
        if _quiet_seconds(pipeline, process) < enough or not _refresh(pipeline):
            return False
        if (quiet := _quiet_seconds(pipeline, process)) < enough:
            return False
        detail = f"{process.instance} wrote nothing for {quiet:.0f} s while inputs were waiting"
        context.recorder.hazard("hung", hop="process", detail=f"{detail}; it was restarted")
        with suppress(PipelineTrouble):  # it has just ended by itself
            pipeline.kill(f"hung: {detail}")
        pipeline.supervisor.before_again()
        pipeline.start()
    return True


def _quiet_seconds(pipeline: Program, process: Process) -> float:
    """Return seconds since this process started or the outputs last changed, whichever is less."""
    return min((now() - process.started_at) / 1e9, pipeline.look.quiet_for)


def _refresh(pipeline: Program) -> bool:
    """Look at the outputs again, in case the last look was long ago; return whether that worked."""
    with suppress(*AWAY):
        pipeline.look.size()
        return True
    return False
