"""The ways to write that are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Client = Literal["librdkafka", "java"]
CLIENTS: Final[tuple[Client, ...]] = ("librdkafka", "java")

PLAIN, PLAIN_AGAIN = "plain", "plain-again"
IDEMPOTENT = "idempotent"
TRANSACTIONAL, LATE = "transactional", "transactional-late"
_BUFFER: Final[Mapping[Client, Mapping[str, str]]] = {
    "librdkafka": {"queue.buffering.max.kbytes": "4096"},
    "java": {"buffer.memory": str(4 << 20)},
}
"""A client's buffer: enough to be busy, and soon written when a phase ends."""
NAP: Final = 0.005
"""Seconds that the twin sleeps after each commit, before the next transaction."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What all ways of a measurement have in common.

    Attributes:
        size: bytes of a record's value.
        commit_every: seconds between two commits.
        linger: milliseconds that a client waits to fill a batch.
    """

    size: int = 1024
    partitions: int = 3
    commit_every: float = 0.1
    linger: int = 5


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way to write.

    Attributes:
        client: the client library.
        name: what it does, such as `idempotent`.
        nap: seconds of sleep after each commit.
    """

    client: Client
    name: str
    settings: Mapping[str, str]
    commit_every: float | None = None
    nap: float = 0.0

    @property
    def key(self) -> str:
        return f"{self.client}-{self.name}"

    @property
    def topic(self) -> str:
        return f"cost-{self.key}"


def ways_of(client: Client, setup: Setup) -> tuple[Way, ...]:
    """Return all ways of a client: three to compare, and two that prove the instrument."""
    common = {"acks": "all", "linger.ms": str(setup.linger), **_BUFFER[client]}
    plain = {**common, "enable.idempotence": "false"}
    idempotent = {**common, "enable.idempotence": "true"}

    def transactional(name: str, nap: float) -> Way:
        return Way(
            client=client,
            name=name,
            settings={**idempotent, "transactional.id": f"cost-{client}-{name}"},
            commit_every=setup.commit_every,
            nap=nap,
        )

    return (
        Way(client=client, name=PLAIN, settings=plain),
        Way(client=client, name=PLAIN_AGAIN, settings=plain),
        Way(client=client, name=IDEMPOTENT, settings=idempotent),
        transactional(TRANSACTIONAL, 0.0),
        transactional(LATE, NAP),
    )
