"""Helpers for faults of user pipelines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from onceproof.harness.context.run_context import RunContext, addresses
from onceproof.harness.faults.cluster.coordinated import group_of, transactional_id_of
from onceproof.harness.faults.messages.message import REQUEST_OF, AtGates, Message, MessageReports
from onceproof.harness.faults.program.other_member import CLIENT
from onceproof.harness.faults.program.phase_of_pause import PhaseOfPause
from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.kafka.group_list import groups_at_work
from onceproof.harness.kafka.transaction_list import transactions
from onceproof.harness.kafka.transactions import ONGOING
from onceproof.harness.links.gate.rules import POSITIONS, Rule
from onceproof.harness.processes.processes import Process
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.spark.pipeline import SparkPipeline
from onceproof.harness.user_pipeline.hung import start_if_hung
from onceproof.harness.user_pipeline.program import AWAY, Program
from onceproof.harness.wait import Overdue, wait_until

_SECONDS = 150.0
_UP_SECONDS = 90.0
_IN_HAND_SECONDS = 20.0
_GO_ON_SECONDS = 12.0


class NoProgress(Overdue):
    """The pipeline wrote nothing for too long although inputs waited."""


def program(context: RunContext) -> Program:
    """Return the pipeline as `Program`; raise `StageTrouble` if it is not one."""
    if not isinstance(context.pipeline, Program):
        raise StageTrouble(f"{context.subject.name} is not a user pipeline")
    return context.pipeline


def victim(context: RunContext) -> Program | SparkPipeline:
    """Return the pipeline if it is a single program; else raise `StageTrouble`."""
    if not isinstance(context.pipeline, Program | SparkPipeline):
        raise StageTrouble(f"{context.subject.name} runs as more than one program")
    return context.pipeline


def running(context: RunContext) -> Process:
    """Return the pipeline's running process.

    Raises:
        StageTrouble, PipelineTrouble: the subject is not a single program, or it is not running.
    """
    pipeline = victim(context)
    return pipeline.supervisor.running() if isinstance(pipeline, Program) else pipeline.running()


def end(process: Process, how: str, *, asked: bool = False) -> str:
    """Send SIGKILL, or SIGTERM if `asked`, to all of a pipeline's processes; return what ended."""
    if asked:
        process.end(how, asked=True)
        return f"{process.instance} {process.ended}"
    process.freeze()
    count = process.members()
    process.kill(how)
    return process.all_ended(count)


def offsets_committed(
    context: RunContext, seconds: float, *, unless: Callable[[], bool] = lambda: False
) -> int:
    """Wait up to `seconds`, or until `unless`, for offset commits of every input; count them."""
    topics = context.inputs if len(context.inputs) > 1 else (None,)
    with ExitStack() as gates:
        seen = []
        for topic in topics:
            seen.append(MessageReports(context, [_accepted(api, topic) for api in POSITIONS]))
            gates.callback(seen[-1].remove)
        with suppress(Overdue):
            wait_until(
                lambda: all(reports.fired() for reports in seen) or unless(),
                what="", seconds=seconds, every=0.005, stop=context.stop,
            )  # fmt: skip
        return len({REQUEST_OF(event) for reports in seen for event in reports.fired()})


def _accepted(api: str, topic: str | None) -> Message:
    return Message(source="pipeline", direction="response", api=api, topic=topic, refused=False)


def start_again(context: RunContext) -> None:
    """Restart a pipeline that a fault ended, and wait until it writes.

    What it left in the cluster is cleared first, because its time-outs may take minutes.

    Raises:
        Overdue, PipelineTrouble: it does not write.
    """
    pipeline = victim(context)
    if not pipeline.alive():
        clear(context)
        pipeline.start()
    wait_works(context)


@contextmanager
def started_anew(context: RunContext, name: str, rule: Rule) -> Iterator[tuple[str, AtGates]]:
    """Kill a program for the fault `name`, clear what it left, and start it again.

    Yield what ended, in words, and the rule for its messages, which applies during the block.
    """
    pipeline = program(context)
    ended, count = pipeline.kill(f"SIGKILL by fault «{name}»")
    clear(context)
    gates = AtGates(context, "pipeline", rule)
    try:
        pipeline.start()
        yield ended.all_ended(count), gates
    finally:
        gates.remove()


def clear(context: RunContext) -> None:
    """Remove the members of dead pipelines from their groups, and abort open transactions.

    Members of ours stay, because another fault may use them. So do transactions that a restarted
    pipeline may commit. What cannot be cleared now is left to its time-outs.
    """
    brokers = [
        at for node, at in addresses(context.stage).items() if context.answers(f"broker-{node}")
    ]
    with suppress(Overdue, Refused, OSError):
        for name in groups_at_work(brokers):
            # Members of the new consumer protocol cannot be removed.
            with suppress(Refused), group_of(context, name) as group:
                group.remove_members(but=CLIENT)
    if isinstance(context.pipeline, Program) and context.pipeline.prepares:
        return
    with suppress(Overdue, Refused, OSError):
        for name, state in transactions(brokers, "").items():
            if state == ONGOING:
                with transactional_id_of(context, name) as known:
                    known.take()


def at_work(context: RunContext, phase: float = 0.0) -> None:
    """Wait until the pipeline writes, and then for a fraction of its pause until the next write.

    Args:
        phase: fraction of its usual pause, 0 to 1. It has the fewest unprocessed records just after
            a write, and the most just before the next.

    Raises:
        NoProgress: it does not write.
        PipelineTrouble: it fails repeatedly.
    """
    _wait_output(context, "new output of the pipeline")
    pipeline = context.pipeline
    if phase and isinstance(pipeline, Program):
        pause = pipeline.look.pause
        progress = PhaseOfPause(phase, pause)
        # Looked at again, so that a write in between restarts the pause.
        with suppress(Overdue):
            wait_until(
                lambda: pipeline.commits and progress.reached(pipeline.look.quiet_for),
                what="", seconds=2 * pause, every=0.02, stop=context.stop,
            )  # fmt: skip


def in_hand(context: RunContext) -> tuple[int, int] | None:
    """Return the number of inputs with effects and of all inputs; None if unknown."""

    def look() -> tuple[int, int] | None:
        try:
            return program(context).look.done()
        except AWAY:
            return None

    try:
        return wait_until(look, what="", seconds=_IN_HAND_SECONDS, every=0.2, stop=context.stop)
    except Overdue:
        return None


def wait_works(context: RunContext) -> None:
    """Wait until the pipeline is up and writes, unless it has nothing left to do.

    Raises:
        Overdue, PipelineTrouble: as for `at_work`.
    """
    _wait_up(context)
    _wait_output(context, "the pipeline to write again")


def _wait_up(context: RunContext) -> None:
    """Wait until the health URL of a program, if any, reports it up."""
    pipeline = context.pipeline
    if not isinstance(pipeline, Program) or pipeline.health is None:
        return
    health = pipeline.health

    def up() -> bool:
        pipeline.check()
        return health.look()

    _wait_grown(context, up, "the pipeline to be up", lambda: health.seen, seconds=_UP_SECONDS)


def life(context: RunContext) -> Process | None:
    """Return the running process of a program; None for any other pipeline."""
    return context.pipeline.supervisor.life if isinstance(context.pipeline, Program) else None


def wait_went_on(context: RunContext, before: Process | None) -> None:
    """Wait until a program that survived a fault has committed the inputs that came after it.

    Only then is a loss or a duplicate permanent: if it were killed earlier, it would read those
    inputs again. Return if it has ended, or commits nothing for long.
    """
    pipeline = context.pipeline
    if before is None or not isinstance(pipeline, Program):
        return
    look = pipeline.look
    with suppress(*AWAY, Overdue):
        ends = {at: end for at, end in context.input_ends().items() if at not in look.added}

        is_past = look.getting_past(ends)

        def went_on() -> bool:
            if pipeline.supervisor.life is not before or context.producers.finished:
                return True
            if committed := look.groups.newest():
                return all(committed.get(at, end) >= end for at, end in ends.items())
            try:
                return is_past()
            except AWAY:
                return False

        wait_until(
            went_on,
            what="",
            seconds=_GO_ON_SECONDS + 2 * look.pause,
            every=0.2,
            stop=context.stop,
        )


def _wait_output(context: RunContext, what: str) -> None:
    pipeline = context.pipeline
    if isinstance(pipeline, SparkPipeline):
        _wait_commit(context, pipeline, what)
        return
    look = program(context).look
    before: int | None = None

    def grown() -> bool:
        nonlocal before
        context.pipeline.check()
        try:
            size = look.size()
            if before is None:
                before = size
            if size != before:
                return True
            if context.producers.finished and look.still():
                return True
            start_if_hung(context)
            return False
        except AWAY:
            return False

    _wait_grown(context, grown, what, lambda: f"its outputs stayed at {before}")


def _wait_commit(context: RunContext, pipeline: SparkPipeline, what: str) -> None:
    before = pipeline.last_committed

    def grown() -> bool:
        pipeline.check()
        return pipeline.last_committed != before

    _wait_grown(context, grown, what, lambda: f"last committed batch {before}")


def _wait_grown(
    context: RunContext,
    grown: Callable[[], bool],
    what: str,
    seen: Callable[[], object],
    seconds: float = _SECONDS,
) -> None:
    try:
        wait_until(grown, what=what, seconds=seconds, every=0.1, stop=context.stop, seen=seen)
    except Overdue as error:
        raise NoProgress(str(error)) from error
