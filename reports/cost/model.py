"""The content of `cost.json`: the published, versioned format.

Times are seconds, rates records per second.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from pydantic import Field, ValidationError

from onceproof.reports.model_part import Part
from onceproof.reports.write import UnreadableReport

FORMAT: Final = "onceproof-cost/1"
RESULT: Final = "cost.json"
Unit = Literal["ratio", "seconds"]


class EstimatePart(Part):
    """A trimmed mean over rounds, with its interval."""

    value: float
    low: float
    high: float


class ProofPart(Part):
    """The measurement of something that is known, with an interval of 99.8 %."""

    of: str = Field(description="what it vouches for: what a ratio is of, or latency")
    what: Literal["same", "delay", "twin"] = Field(
        description="same: the base against itself; delay: its records sent late; twin: a "
        "transactional producer that sleeps after each commit"
    )
    unit: Unit
    known: float
    estimate: EstimatePart
    verdict: Literal["right", "wrong", "not resolved"]


class FigurePart(Part):
    """A comparison of two ways, with an interval of 95 %."""

    base: str
    other: str
    what: str = Field(
        description="throughput; p50, p99 (latency); stall (longest time without a record for the "
        "reader); client, brokers (processor time per record); written (bytes per record)"
    )
    share: float | None = Field(
        description="part of what all ways keep up with; null: at full speed"
    )
    unit: Unit = Field(description="other / base, or other - base in seconds")
    estimate: EstimatePart | None = Field(description="null: values were too small to measure")
    resolved: bool = Field(description="whether the interval is narrow enough to be told")


class CurvePart(Part):
    """Latencies of a way at one load, over all rounds."""

    share: float
    records: int
    percentiles: tuple[tuple[float, float], ...] = Field(
        description="percent, seconds; empty if latencies are not proved, or the reader was behind"
    )


class WayPart(Part):
    """A way to write, measured alone."""

    name: str
    rate: float = Field(description="median rate at full speed; 0 if it was not measured there")
    behind_schedule: float = Field(description="longest time by which a record was sent late")
    curves: tuple[CurvePart, ...]


class SetupPart(Part):
    """What all ways of a comparison have in common."""

    size: int
    partitions: int
    commit_every: tuple[float, ...] = Field(description="empty: not known")
    commit_records: int = Field(description="records of a transaction; 0: by time")
    linger: int = Field(description="milliseconds")
    acks: str = Field(description="of the plain producer")
    transaction_version: int | None
    delay: float


class ComparisonPart(Part):
    """Ways that were measured in turns."""

    name: str
    target: str = Field(description="what was asked for, such as java")
    headline: str
    valid: bool
    proved: bool
    capacity: float = Field(description="rate that all ways keep up with, of which loads are parts")
    setup: SetupPart
    proofs: tuple[ProofPart, ...]
    figures: tuple[FigurePart, ...]
    ways: tuple[WayPart, ...]

    def figure(self, base: str, other: str, what: str, share: float | None) -> FigurePart | None:
        wanted = (base, other, what, share)
        return next((f for f in self.figures if (f.base, f.other, f.what, f.share) == wanted), None)

    def pairs(self) -> Iterator[tuple[str, str, tuple[FigurePart, ...]]]:
        """Yield base, other and their figures."""
        for base, other in dict.fromkeys((f.base, f.other) for f in self.figures):
            yield base, other, tuple(f for f in self.figures if (f.base, f.other) == (base, other))


class CostReport(Part):
    """The report of one measurement."""

    format: Literal["onceproof-cost/1"] = FORMAT
    started_at: str
    seconds: float
    rounds: int
    block_seconds: float = Field(description="usual length of a measurement in a round")
    seed: int
    host: dict[str, str]
    versions: dict[str, str]
    comparisons: tuple[ComparisonPart, ...]


def load_cost(where: Path) -> CostReport:
    """Load a measurement from its folder or its `cost.json`.

    Raises:
        UnreadableReport: there is none, or it has another format.
    """
    file = where / RESULT if where.is_dir() else where
    try:
        return CostReport.model_validate_json(file.read_bytes())
    except OSError as error:
        raise UnreadableReport(f"{file}: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise UnreadableReport(f"{file} is not {FORMAT}: {place}: {first['msg']}") from None


def is_cost(where: Path) -> bool:
    """Return whether this is the folder or file of a measurement of costs."""
    file = where / RESULT if where.is_dir() else where
    return file.name == RESULT and file.is_file()
