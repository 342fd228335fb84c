"""What one way did in one phase of a round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Block:
    """A measurement.

    Attributes:
        share: part of what all ways keep up with; None: as fast as it can.
        delay: seconds from when a record was due until it was sent.
        seconds: from its start until its last record was committed; of a pipeline, until the
            result of the last one was read.
        transactions: those of a producer that lasted as long as they should.
        transaction: seconds that the median one of these took.
        napped: seconds that the median one slept.
        late: how far the client fell behind its schedule, in seconds.
        stall: longest time in which the reader got none of its records, in seconds.
        p50, p99: latency percentiles in seconds, from when a record was due until it was read.
        client, brokers: seconds of processor; of a pipeline, its own.
        written: bytes that the brokers wrote.
        behind: how often the reader had more records waiting than it takes at once.
        file: name of its latencies' file.
    """

    way: str
    round: int
    share: float | None
    delay: float
    sent: int
    seconds: float
    transactions: int
    transaction: float
    napped: float
    late: float
    stall: float
    p50: float
    p99: float
    client: float
    brokers: float
    written: int
    behind: int
    file: str

    @property
    def rate(self) -> float:
        """Records per second."""
        return self.sent / self.seconds


def percentile(ordered: Sequence[int], part: float) -> float:
    """Return the latency in seconds that this part of the records does not exceed.

    Args:
        ordered: latencies in nanoseconds.
    """
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)] / 1e9
