"""Figures and flattened settings for the page, all of them taken from the report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from onceproof.reports.model import Report
from onceproof.reports.text import number, plural, seconds


@dataclass(frozen=True, kw_only=True)
class Tile:
    """One figure at the head of the page."""

    value: str
    label: str


def tiles(report: Report) -> tuple[Tile, ...]:
    """Return the figures that show how much evidence the verdict is based on."""
    producers = report.timeline.producers
    sent = sum(lane.acknowledged + lane.unacknowledged for lane in producers)
    acknowledged = sum(lane.acknowledged for lane in producers)
    effective = sum(fault.took_effect for fault in report.faults)
    found = sum(mutation.found for mutation in report.mutation_check)
    return (
        Tile(value=number(sent), label=f"sends, {number(acknowledged)} acknowledged"),
        Tile(value=f"{effective} of {len(report.faults)}", label="faults with a proven effect"),
        Tile(value=number(sum(h.count for h in report.hazards)), label="hazards observed"),
        Tile(value=number(sum(f.count for f in report.findings)), label="findings"),
        Tile(
            value=f"{found} of {len(report.mutation_check)}",
            label="mutations found in the self-check",
        ),
        Tile(value=seconds(report.run.seconds), label="from start to collected history"),
    )


def lead(report: Report) -> str:
    """Return a sentence that says whether the result is as expected."""
    if report.expected is None:
        return "The scenario states no expectation."
    if report.expected:
        return "Every claim came out as this scenario expects."
    wrong = [claim for claim in report.claims if claim.expected is False]
    return f"{plural(len(wrong), 'claim')} did not come out as this scenario expects."


def flat(data: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield nested settings as (name, value) pairs, with parts of names joined by `·`."""
    for key, value in data.items():
        path = f"{prefix}{key}"
        if isinstance(value, dict) and value:
            yield from flat(value, f"{path} · ")
        elif isinstance(value, list):
            yield path, ", ".join(str(item) for item in value)
        elif isinstance(value, bool):
            yield path, str(value).lower()
        else:
            yield path, "–" if value is None else str(value)
