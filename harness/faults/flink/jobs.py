"""What faults of a Flink job have in common: it, its transactions, and seeing it go on."""

from __future__ import annotations

from collections.abc import Mapping

from onceproof.harness.context.run_context import RunContext, addresses
from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.kafka.transaction_list import transactions
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.flink.job import FlinkJob
from onceproof.harness.wait import wait_until

_SECONDS = 150.0


def job(context: RunContext) -> FlinkJob:
    """The pipeline as what it must be for a fault that needs a `job`.

    Raises:
        StageTrouble: what is on trial is none.
    """
    if not isinstance(context.pipeline, FlinkJob):
        raise StageTrouble(f"{context.subject.name} is no Flink job")
    return context.pipeline


def transactions_of(context: RunContext) -> Mapping[str, str]:
    """The job's transactional ids, and what the newest transaction of each is at.

    Raises:
        OSError: a broker does not answer.
        Refused: one cannot say.
    """
    return transactions(addresses(context.stage).values(), f"{job(context).name}-")


def wait_completes(context: RunContext, *, beyond: int | None = None) -> None:
    """Wait until the life that runs has completed a checkpoint.

    Args:
        beyond: it must have a higher number than this.

    Raises:
        Overdue: it does not in time.
        PipelineTrouble: it fails over and over.
    """
    running = job(context)

    def completes() -> bool:
        running.check()
        found = running.newest()
        return found is not None and (beyond is None or found > beyond)

    wait_until(
        completes,
        what="the Flink job to complete a checkpoint",
        seconds=_SECONDS,
        stop=context.stop,
        seen=lambda: running.shortly() or f"none of {running.life}",
    )


def wait_another(context: RunContext) -> None:
    """Wait until one more checkpoint is complete, of whichever life.

    Raises:
        Overdue: none is in time.
        PipelineTrouble: it fails over and over.
    """
    running = job(context)
    before = running.commits

    def more() -> bool:
        running.check()
        return running.commits > before

    wait_until(
        more,
        what="the Flink job to complete another checkpoint",
        seconds=_SECONDS,
        stop=context.stop,
        seen=running.shortly,
    )


def wait_decided(context: RunContext, idents: tuple[str, ...], *, undecided: frozenset[str]) -> str:
    """Wait until none of these transactions is undecided; returns what became of them, in words.

    Raises:
        Overdue: one stays so.
    """

    def decided() -> str | None:
        context.pipeline.check()
        try:
            transactions = transactions_of(context)
        except (OSError, Refused):
            return None
        states = sorted({transactions.get(ident, "gone") for ident in idents})
        return ", ".join(states) if undecided.isdisjoint(states) else None

    return wait_until(
        decided,
        what=f"{', '.join(idents)} to be decided",
        seconds=_SECONDS,
        every=0.1,
        stop=context.stop,
    )
