"""What faults of Kafka Connect's workers have in common.

Who belongs to the workers' group is its coordinator's word; that a worker
runs the task is theirs, and old where that one is gone.
"""

from __future__ import annotations

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.connect.workers import Workers


def workers(context: RunContext) -> Workers:
    """The pipeline as what it must be for a fault that needs a `worker`.

    Raises:
        StageTrouble: what is on trial has none.
    """
    if not isinstance(context.pipeline, Workers):
        raise StageTrouble(f"{context.subject.name} has no workers")
    return context.pipeline


def wait_whole(cluster: Workers) -> None:
    """Wait until all workers belong to their group, and one of them runs the task.

    Raises:
        Overdue: they do not in time.
        PipelineTrouble: they end by themselves again and again.
    """
    cluster.wait_together()
    cluster.wait_owner()


def taken_over(cluster: Workers, who: str, *, commits: int) -> str | None:
    """That another worker than `who` runs the task and has committed, in words; None: not yet.

    Args:
        who: the one that ran it.
        commits: how many there were by then.
    """
    owner = cluster.owner()
    new = cluster.commits - commits
    if owner in (None, who) or not new:
        return None
    return f"{owner} runs the task, and {new} positions were committed since"
