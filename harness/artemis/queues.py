"""What a run needs from a queue broker, as plain data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from onceproof.harness.artemis.configuration import QueueSettings
from onceproof.harness.java.programs import JavaPrograms


@dataclass(frozen=True, kw_only=True)
class Queues:
    """Specification of a queue broker.

    Attributes:
        addresses: addresses with a queue to consume and an audit queue.
        unconsumed: addresses with an audit queue only.
        plain: queues without an audit queue.
        programs: fetches and compiles the broker and its clients at the first call.
    """

    addresses: tuple[str, ...] = ()
    unconsumed: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    programs: Callable[[], JavaPrograms]
    settings: QueueSettings = field(default_factory=QueueSettings)
