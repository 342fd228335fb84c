"""The auditor of Artemis, which also finds dropped duplicates: only the broker's log shows them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from onceproof.harness.artemis.configuration import Artemis
from onceproof.harness.processes.processes import Process
from onceproof.harness.queues.auditor import QueueAuditor

_DROPPED: Final = "AMQ222059"
_RECORD: Final = re.compile(r"onceproof_record=([^,\]}]+)")


def auditor(
    start: Callable[[], Process], logs: Callable[[], Iterable[Path]], unconsumed: Sequence[str]
) -> QueueAuditor:
    """Return the auditor of an Artemis broker; `logs` returns those of all its lives."""
    return QueueAuditor(
        start,
        product=Artemis.product,
        unconsumed=unconsumed,
        dropped=lambda address: dropped(logs(), address),
    )


def dropped(logs: Iterable[Path], address: str) -> list[str]:
    """Return the records of an address, from the logs of all lives of the broker."""
    found = []
    for log in logs:
        lines = log.read_text(errors="replace").splitlines()
        for line, message in pairwise(lines):
            if _DROPPED in line and f"address={address}," in message:
                record = _RECORD.search(message)
                found.append(record[1] if record else "")
    return found
