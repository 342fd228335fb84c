"""Read the messages sent to a queue address as a log with one partition.

An offset is the place of a message in the audit queue, in the order in which the broker accepted
them. Transactional messages enter the queue at commit, so all are committed.
"""

from __future__ import annotations

from typing import Final

from onceproof.harness.history.identity import ATTEMPT_HEADER, RECORD_HEADER
from onceproof.harness.kafka.log_reader import Entry, PartitionLog
from onceproof.harness.queues.auditor import Message, QueueAuditor, QueueTrouble
from onceproof.harness.wait import Overdue, wait_until

_SECONDS: Final = 15.0
_OURS: Final = {name.replace("-", "_"): name for name in (RECORD_HEADER, ATTEMPT_HEADER)}
"""JMS property names must be Java identifiers."""
_KEY: Final = "onceproof_key"
"""Property for the key, because JMS messages have none."""


class QueueLog:
    """The log of one address."""

    def __init__(self, auditor: QueueAuditor, address: str) -> None:
        self._auditor = auditor
        self._address = address

    def read(self, start: int = 0) -> PartitionLog:
        """Return all entries from an offset on.

        Raises:
            QueueTrouble: the broker does not answer, or its answer is incomplete.
        """
        messages = self._all_messages()
        return PartitionLog(
            topic=self._address,
            partition=0,
            log_start=0,
            last_stable_offset=len(messages),
            high_watermark=len(messages),
            entries=[
                _entry(self._address, offset, message)
                for offset, message in enumerate(messages)
                if offset >= start
            ],
        )

    def _all_messages(self) -> list[Message]:
        """Return every message, at least as many as were counted before.

        A lost connection looks like the end of the queue, and the broker may count a message
        shortly before it is visible.
        """
        least = self._auditor.sent(self._address)
        found: list[Message] = []

        def complete() -> bool:
            found[:] = self._auditor.log(self._address)
            return len(found) >= least

        try:
            wait_until(complete, what="every message", seconds=_SECONDS)
        except Overdue as error:
            raise QueueTrouble(
                f"{self._address}: found {len(found)} messages, expected at least {least}; "
                "messages that are scheduled for later delivery cannot be read"
            ) from error
        return found

    def end(self) -> int:
        return self._auditor.sent(self._address)


def _entry(address: str, offset: int, message: Message) -> Entry:
    properties = message.properties
    headers = {
        **properties,
        **{ours: properties[name] for name, ours in _OURS.items() if name in properties},
    }
    key = properties.get(_KEY)
    return Entry(
        topic=address,
        partition=0,
        offset=offset,
        kind="data",
        key=None if key is None else key.encode(),
        value=None if message.value is None else message.value.encode(),
        headers={name: text.encode() for name, text in headers.items()},
        producer_id=-1,
        epoch=-1,
        sequence=-1,
        transactional=False,
    )
