"""Access to the forwarders of a run."""

from __future__ import annotations

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.queue.forwarders import Forwarders


def forwarders(context: RunContext) -> Forwarders:
    """Return the pipeline as `Forwarders`; raise `StageTrouble` if the subject has none."""
    if not isinstance(context.pipeline, Forwarders):
        raise StageTrouble(f"{context.subject.name} has no forwarders")
    return context.pipeline
