"""Wait until a run has settled, so that nothing is in flight.

Settled means: producers have ended and their proxied connections are closed, no transaction is
open, the pipeline's committed offsets are past every committed record, and committed offsets and
sink do not change. Consumer lag is not used, because control markers may keep it above zero.
"""

from __future__ import annotations

from onceproof.harness.context.pipeline import IdleByOutputs, PipelineTrouble
from onceproof.harness.context.recorder import MayStillWrite, Stalled
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.user_pipeline.hung import start_if_hung
from onceproof.harness.wait import Overdue, wait_until
from onceproof.harness.workload.control import ProducerTrouble

SECONDS = 120.0
STILL = 30.0
"""Seconds without progress that a sender under test may take; far above all its timeouts."""


def settle(context: RunContext) -> None:
    """Wait until the run has settled.

    Raises:
        Stalled: no progress within the deadline, or a transaction hangs.
        MayStillWrite: the pipeline is idle, but may still write the missing effects.
        Overdue: producers that are not under test did not finish: the harness's failure.
        ProducerTrouble: one of those ended by itself, likewise.
    """
    context.producers.pace.hurry()
    _wait_producers_finished(context)
    _send_sentinels(context)
    try:
        with context.reader() as reader:
            _wait_no_open_transaction(context, reader)
            if context.subject.sink:
                _wait_caught_up(context, _last_committed_records(context, reader))
            _wait_unchanged(context, reader)
    except (Overdue, PipelineTrouble) as error:
        raise Stalled(str(error)) from error


def _send_sentinels(context: RunContext) -> None:
    """Send the last records in rounds, each after the previous round was read."""
    sent = False
    while context.producers.keeps_sentinels:
        if isinstance(context.pipeline, IdleByOutputs):
            _wait_idle(context, context.pipeline)
        elif sent:
            # A watermark advances between micro-batches, so each round needs its own.
            _wait_all_read(context)
        context.producers.send_sentinels()
        _wait_producers_finished(context)
        sent = True


def _wait_all_read(context: RunContext) -> None:
    try:
        with context.reader() as reader:
            _wait_caught_up(context, _last_committed_records(context, reader))
    except (Overdue, PipelineTrouble) as error:
        raise Stalled(str(error)) from error


def _wait_producers_finished(context: RunContext) -> None:
    try:
        context.producers.wait_finished(SECONDS * 2, still=STILL if context.subject.sends else None)
    except (Overdue, ProducerTrouble) as error:
        if context.subject.sends:
            raise Stalled(str(error)) from error
        raise
    wait_until(
        lambda: context.stage.connected("producer") == 0,
        what="the producers' proxied connections to close",
        seconds=SECONDS,
        stop=context.stop,
        seen=lambda: f"{context.stage.connected('producer')} connections",
    )


def _wait_idle(context: RunContext, pipeline: IdleByOutputs) -> None:
    """Wait until the pipeline is done, or idle for as long as permitted."""

    def rests() -> bool:
        context.pipeline.check()
        return pipeline.rests()

    try:
        wait_until(
            rests,
            what="the pipeline to become idle",
            seconds=max(SECONDS, 6 * pipeline.rest),
            every=0.25,
            stop=context.stop,
            seen=lambda: context.pipeline.shortly() or "nothing committed",
            reached=pipeline.reached,
        )
    except (Overdue, PipelineTrouble) as error:
        raise Stalled(str(error)) from error


def _wait_no_open_transaction(context: RunContext, reader: LogReader) -> None:
    def ends() -> dict[str, dict[int, tuple[int, int]]]:
        return {topic: reader.ends(topic) for topic in context.topics}

    wait_until(
        lambda: all(low == high for each in ends().values() for low, high in each.values()),
        what=f"last stable offset = high watermark of {', '.join(context.topics)}",
        seconds=SECONDS,
        stop=context.stop,
        seen=ends,
    )


def _last_committed_records(context: RunContext, reader: LogReader) -> dict[tuple[str, int], int]:
    """Return the offset of the last committed record of every input partition that has one."""
    last = {}
    for topic in context.inputs:
        for log in reader.read_topic(topic):
            for entry, committed in zip(log.entries, log.committed(), strict=True):
                if committed and entry.kind == "data":
                    last[topic, log.partition] = entry.offset
    return last


def _wait_caught_up(context: RunContext, last: dict[tuple[str, int], int]) -> None:
    pipeline = context.pipeline

    def behind() -> dict[tuple[str, int], int] | None:
        """Return the committed offsets that are not past the last record; None: no commit yet."""
        positions = pipeline.positions()
        if positions is None:
            return None
        ends = {p: positions.get(p, 0) for p in last}
        return {p: ends[p] for p, offset in last.items() if ends[p] <= offset}

    def caught_up() -> bool:
        pipeline.check()
        if not last or (pipeline.idle() and behind() == {}):
            return True
        start_if_hung(context)
        return False

    try:
        wait_until(
            caught_up,
            what="the pipeline to commit past the last record of every partition",
            seconds=max(SECONDS, 6 * pipeline.rest)
            if isinstance(pipeline, IdleByOutputs)
            else SECONDS,
            every=0.25,
            stop=context.stop,
            seen=lambda: (
                f"last records {last}, positions not past them {behind()}, "
                f"{pipeline.shortly() or 'nothing committed'}, "
                f"{'idle' if pipeline.idle() else 'busy'}"
            ),
            reached=pipeline.reached if isinstance(pipeline, IdleByOutputs) else None,
        )
    except Overdue as error:
        if isinstance(pipeline, IdleByOutputs) and (why := pipeline.holds_back()):
            raise MayStillWrite(why) from error
        raise


def _wait_unchanged(context: RunContext, reader: LogReader) -> None:
    sink = context.open_sink(reader)
    before: list[object] = []

    def unchanged() -> bool:
        context.pipeline.check()
        if sink.hanging() or not context.pipeline.idle():
            return False
        seen: list[object] = [sink.size(), len(sink.effects()), context.pipeline.positions()]
        same = seen == before
        before[:] = seen
        return same

    wait_until(
        unchanged,
        what="positions and sink to stop changing",
        seconds=SECONDS,
        every=0.25,
        stop=context.stop,
        seen=lambda: before,
    )
