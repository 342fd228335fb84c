"""The forwarders of a run, for the faults that act on them."""

from __future__ import annotations

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.queue.forwarders import Forwarders


def forwarders(context: RunContext) -> Forwarders:
    """The pipeline as what it must be for a fault that needs a `forwarder`.

    Raises:
        StageTrouble: what is on trial has none.
    """
    if not isinstance(context.pipeline, Forwarders):
        raise StageTrouble(f"{context.subject.name} has no forwarders")
    return context.pipeline
