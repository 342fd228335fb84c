"""Find out how a pipeline handles odd records, by sending each kind at the end of its dry run.

Each kind is followed by a plain record, and after its effect by another one: a program that sends a
whole batch before it checks the outcome writes the first and then ends. A pipeline that writes both
survives the kind. If it ends instead, its group's offsets are moved past the odd records where
possible, so that the next kind can be tried.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Final

from confluent_kafka import KafkaException

from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.coordinated import group_of
from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.processes.processes import Process
from onceproof.harness.user_pipeline.odd_records import NotSent, send_odd, send_plain
from onceproof.harness.user_pipeline.profile import NULL, OVERSIZE
from onceproof.harness.user_pipeline.program import AWAY, Program
from onceproof.harness.user_pipeline.subject import OwnPipeline
from onceproof.harness.wait import Overdue, wait_until

_SECONDS: Final = 6.0
"""How long a pipeline may take to end at an odd record, or to write the next one."""
_EVERY: Final = 0.2
_START_SECONDS: Final = 60.0


class Probe:
    """Tries odd records on one pipeline."""

    def __init__(self, context: RunContext, groups: Collection[str], pause: float) -> None:
        """`groups` read the input; `pause` is the usual pause between writes, in seconds."""
        self._context, self._groups, self._pause = context, groups, pause

    def kinds(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the kinds that the pipeline survives, and those at which it ends.

        A pipeline that neither ends nor writes counts as surviving: the trial shows what it lost.
        But it may retry oversize records forever, so after these it must write the next record.
        """
        pipeline, subject = self._context.pipeline, self._context.subject
        survives: list[str] = []
        ends: list[str] = []
        if not isinstance(pipeline, Program) or not pipeline.alive():
            return (), ()
        assert isinstance(subject, OwnPipeline)
        if subject.feed:
            return (), ()  # it does not read from a topic
        for kind in subject.orders.probes:
            try:
                life = pipeline.supervisor.running()
                send_odd(self._context, kind)
                # Records of a file have effects already.
                wrote = self._continues(pipeline, kind, life, seen=subject.orders.file is None)
                nameless = pipeline.look.nameless()
            except (NotSent, KafkaException, *AWAY):
                break  # nothing was learned about this kind and those after it
            except PipelineTrouble:
                life = None
            if life is None or not life.leader_alive():
                ends.append(kind)
                if not self._skips(pipeline, kind):
                    break
            elif kind == OVERSIZE and not wrote:
                break
            elif kind != NULL or subject.named_by_header or not nameless:
                survives.append(kind)
            # else: its effects of null values name no input, so they could not be judged
        return tuple(survives), tuple(ends)

    def _continues(self, pipeline: Program, kind: str, life: Process, *, seen: bool) -> bool:
        """Return whether this process writes the next records; if not `seen`, wait for its end."""
        seconds = _SECONDS + 2 * self._pause
        if seen:
            sent = (send_plain(self._context, kind, again=again) for again in (False, True))
            return all(self._writes(pipeline, behind, seconds, life) for behind in sent)
        send_plain(self._context, kind)
        with suppress(Overdue):
            wait_until(
                lambda: not life.leader_alive(),
                what="",
                seconds=seconds,
                every=_EVERY,
                stop=self._context.stop,
            )
        return False

    def _writes(
        self,
        pipeline: Program,
        behind: frozenset[str],
        seconds: float,
        life: Process | None = None,
    ) -> bool:
        """Return whether it writes these records in time, and before this process ends."""

        def wrote() -> bool:
            try:
                return pipeline.look.has(behind)
            except AWAY:
                return False

        with suppress(Overdue):
            wait_until(
                lambda: wrote() or (life is not None and not life.leader_alive()),
                what="",
                seconds=seconds,
                every=_EVERY,
                stop=self._context.stop,
            )
        return wrote()

    def _skips(self, pipeline: Program, kind: str) -> bool:
        """Move its groups past the record at which it ends; return whether it writes again."""
        if not self._groups:
            return False
        try:
            self._kill(pipeline)
            self._commit_ends()
            pipeline.start()
            behind = send_plain(self._context, kind, again=True)
            return self._writes(pipeline, behind, _START_SECONDS / 2)
        except (NotSent, KafkaException, Overdue, Refused, OSError, PipelineTrouble, *AWAY):
            return False

    def _kill(self, pipeline: Program) -> None:
        """Kill it once it runs: its supervisor may be about to restart it."""

        def ended() -> bool:
            with suppress(PipelineTrouble):
                pipeline.kill("it repeatedly ends at an odd record")
                return True
            return False

        wait_until(
            ended, what="the pipeline to run", seconds=_START_SECONDS, stop=self._context.stop
        )

    def _commit_ends(self) -> None:
        ends = self._context.input_ends()
        for name in self._groups:
            with group_of(self._context, name) as group:
                group.remove_members()
                for (topic, partition), end in ends.items():
                    group.commit(topic, partition, end)
