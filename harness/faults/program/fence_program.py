"""Fence the pipeline's transactional producer just before it commits.

Its commit is held while we take over its transactional id, which aborts its transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.coordinated import transactional_id_of
from onceproof.harness.faults.links.probed_link import wait_mended
from onceproof.harness.faults.messages.message import REQUEST_OF, AtGates, Message, met
from onceproof.harness.faults.program.programs import wait_works
from onceproof.harness.wait import wait_until

_SECONDS: Final = 30.0


@dataclass(frozen=True, kw_only=True)
class FenceProgram:
    """Take over the transactional id of your pipeline, just before its next commit arrives, which
    is then refused.
    """

    example: ClassVar[str] = "fence-program"
    kind: ClassVar[str] = "crash"  # to its owner, like a successor after a crash
    needs = "gates"

    @property
    def message(self) -> Message:
        """The held message, which needs a gate."""
        return Message(source="pipeline", direction="request", api="EndTxn", commits=True)

    def describe(self) -> str:
        return "fence the pipeline's transactional producer just before its next commit arrives"

    def inject(self, context: RunContext, name: str) -> _Fenced:
        return _Fenced(context, self.message)


class _Fenced:
    def __init__(self, context: RunContext, commit: Message) -> None:
        self._context = context
        answer = Message(source="pipeline", direction="response", api="EndTxn", refused=True)
        self._answers = AtGates(context, "pipeline", answer.rule("report", times=None))
        self._commits = AtGates(context, "pipeline", commit.rule("hold"))
        try:
            fired = wait_until(
                self._commits.fired,
                what="the pipeline to commit a transaction",
                seconds=_SECONDS,
                every=0.005,
                stop=context.stop,
            )
            self._event = fired[0]
            self.at = int(self._event["at"])
            (self._id,) = self._event["transactional_ids"]
            self.target = f"transactional id {self._id}"
            with transactional_id_of(context, self._id) as known:
                self._ours = known.take()
        except BaseException:
            self._answers.remove()
            raise
        finally:
            self._commits.remove()

    def evidence(self) -> str | None:
        for event in self._answers.fired():
            if REQUEST_OF(event) == REQUEST_OF(self._event):
                return (
                    f"{met(self._event)} was refused with {event['error']}, after {self._ours} "
                    f"had taken over {self.target}"
                )
        return None

    def heal(self) -> None:
        self._answers.remove()
        wait_mended(self._context, self._commits.links)
        wait_works(self._context)
