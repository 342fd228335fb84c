"""Helpers for faults of a Flink job."""

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
    """Return the pipeline as `FlinkJob`; raise `StageTrouble` if it is not one."""
    if not isinstance(context.pipeline, FlinkJob):
        raise StageTrouble(f"{context.subject.name} is not a Flink job")
    return context.pipeline


def transactions_of(context: RunContext) -> Mapping[str, str]:
    """Return the state of the newest transaction of each of the job's transactional ids.

    Raises:
        OSError, Refused: a broker does not answer, or refuses the request.
    """
    return transactions(addresses(context.stage).values(), f"{job(context).name}-")


def wait_completes(context: RunContext, *, beyond: int | None = None) -> None:
    """Wait until the running instance completes a checkpoint, above number `beyond` if given.

    Raises:
        Overdue, PipelineTrouble: it takes too long, or the job fails repeatedly.
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
        seen=lambda: running.shortly() or f"no checkpoint of {running.life}",
    )


def wait_another(context: RunContext) -> None:
    """Wait until any instance completes another checkpoint.

    Raises:
        Overdue, PipelineTrouble: as for `wait_completes`.
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
    """Wait until these transactions are decided; return their states, or raise `Overdue`."""

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
        what=f"{', '.join(idents)} to be committed or aborted",
        seconds=_SECONDS,
        every=0.1,
        stop=context.stop,
    )
