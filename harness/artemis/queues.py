"""What a run wants of a queue broker, as plain data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from onceproof.harness.artemis.configuration import QueueSettings
from onceproof.harness.java.programs import JavaPrograms


@dataclass(frozen=True, kw_only=True)
class Queues:
    """A queue broker to be.

    Attributes:
        addresses: what messages are sent to, each with a queue to be consumed and one that is not.
        unconsumed: likewise, by clients who send to a queue by its name; there is only the one that
            nobody consumes.
        programs: fetches and compiles the broker and its clients, when it is first called.
        settings: what of it is to be chosen.
    """

    addresses: tuple[str, ...] = ()
    unconsumed: tuple[str, ...] = ()
    programs: Callable[[], JavaPrograms]
    settings: QueueSettings = field(default_factory=QueueSettings)
