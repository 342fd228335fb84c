"""Which faults were active at the time of a finding, and how far away the others were.

Proximity in time does not prove a cause; it shows where to look. Causes found by the checkers are
marked separately.
"""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from onceproof.reports.model import Fault, Finding, Report
from onceproof.reports.text import seconds, visible

NEAR = 10.0
"""Faults that began or ended within so many seconds are listed."""


@dataclass(frozen=True, kw_only=True)
class NearbyFault:
    """A fault near a finding. `apart`: seconds between them, 0 while the fault was active."""

    number: int
    fault: Fault
    apart: float
    says: str


def acting(report: Report, at: float) -> tuple[int, ...]:
    """Return the numbers of the faults that were active at a time."""
    return tuple(n.number for n in _by_distance(report, at) if n.apart == 0)


def around(report: Report, finding: Finding) -> tuple[Markup, ...]:
    """Return the faults around a finding, each as a sentence; empty if it has no time."""
    if finding.at is None or not report.faults:
        return ()
    others = sorted(_by_distance(report, finding.at), key=lambda n: (n.apart, n.number))
    if not others:
        return (Markup("No fault was injected."),)
    near = [n for n in others if n.apart <= NEAR]
    if not near:
        first = others[0]
        text = Markup("No fault was active within {} of it; the nearest is ").format(seconds(NEAR))
        return (text + _sentence(first),)
    return tuple(_sentence(n) for n in near)


def _by_distance(report: Report, at: float) -> list[NearbyFault]:
    found = []
    for number, fault in enumerate(report.faults, 1):
        start, end = fault.injected_at, fault.healed_at
        if start is None:
            continue
        if at < start:
            apart, says = start - at, f"was injected {seconds(start - at)} later"
        elif end is not None and at > end:
            apart, says = at - end, f"was healed {seconds(at - end)} earlier"
        else:
            apart, says = 0.0, f"was active, injected {seconds(at - start)} earlier"
            says += ", healing not recorded" if end is None else ""
            says += f", healed {seconds(end - at)} later" if end is not None else ""
        says += "" if fault.took_effect else " (it left no evidence)"
        found.append(NearbyFault(number=number, fault=fault, apart=apart, says=says))
    return found


def _sentence(near: NearbyFault) -> Markup:
    return Markup('<a href="#fault-{}">F{}</a>, {}, {}.').format(
        near.number, near.number, visible(near.fault.description).rstrip("."), near.says
    )
