"""Cut a link: close its connections and refuse new ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.roles import AnyNode
from onceproof.harness.faults.words import Audience
from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import Link
from onceproof.harness.wait import wait_until


@dataclass(frozen=True, kw_only=True)
class CutLink:
    """Cut the link from an audience (producer, pipeline, pipeline-sink) to a node."""

    example: ClassVar[str] = "cut pipeline leader:payments-0"
    kind: ClassVar[str] = "partition"
    needs = "cut"
    source: Audience
    target: AnyNode

    def describe(self) -> str:
        return f"cut {self.source} from {self.target.describe()}"

    def inject(self, context: RunContext, name: str) -> _Cut:
        return _Cut(context, Link(self.source, self.target.resolve(context)))


class _Cut:
    def __init__(self, context: RunContext, link: Link) -> None:
        self._context = context
        self._link = link
        self.target = str(link)
        self._acknowledged = context.producers.acknowledged
        self._commits = context.pipeline.commits
        self._closed = context.stage.connections(link)
        self.at = now()
        self._hold = context.stage.disturb(link, CUT)

    def evidence(self) -> str | None:
        if not self._closed:
            return None
        left = self._context.stage.connections(self._link)
        if left:
            return None
        text = f"{self._closed} connections on {self._link} closed, new ones refused"
        if not self._context.producers.total:
            return text
        records = self._context.producers.acknowledged - self._acknowledged
        commits = self._context.pipeline.commits - self._commits
        return (
            f"{text}; meanwhile {records} records were acknowledged and "
            f"{commits} {self._context.pipeline.counted} seen"
        )

    def heal(self) -> None:
        """Mend the link. If it was in use, and no other fault disturbs it, wait until it is
        again.
        """
        self._hold.release()
        free = str(self._link) not in self._context.stage.disturbed()
        if free and self._closed and self._context.pipeline.alive():
            wait_until(
                # A pipeline that ended meanwhile has stalled; that is no failure of the link.
                lambda: (
                    self._context.stage.connections(self._link)
                    or not self._context.pipeline.alive()
                ),
                what=f"a connection on {self._link} after the cut",
                seconds=30,
                stop=self._context.stop,
            )
