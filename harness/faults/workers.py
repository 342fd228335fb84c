"""Helpers for faults of Kafka Connect workers.

Group membership is read from the group coordinator. Workers report which of them runs the task;
this is outdated if that worker is gone.
"""

from __future__ import annotations

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.connect.workers import Workers


def workers(context: RunContext) -> Workers:
    """Return the pipeline as `Workers`; raise `StageTrouble` if the subject has none."""
    if not isinstance(context.pipeline, Workers):
        raise StageTrouble(f"{context.subject.name} has no Kafka Connect workers")
    return context.pipeline


def wait_recovered(cluster: Workers) -> None:
    """Wait until all workers are in their group and one of them runs the task.

    Raises:
        Overdue, PipelineTrouble: it takes too long, or workers keep ending by themselves.
    """
    cluster.wait_together()
    cluster.wait_owner()


def taken_over(cluster: Workers, who: str, *, commits: int) -> str | None:
    """Describe that another worker than `who` runs the task and has committed; None until then.

    Args:
        commits: number of commits seen before.
    """
    owner = cluster.owner()
    new = cluster.commits - commits
    if owner in (None, who) or not new:
        return None
    return f"{owner} runs the task, and {new} offsets have been committed since"
