"""Tell the findings of a measurement in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from onceproof.harness.cost.findings import Figure, Findings
from onceproof.harness.cost.ways import PLAIN, TRANSACTIONAL, Setup

_NAMES: Final = {
    "throughput": "throughput",
    "client": "processor of the client, per record",
    "brokers": "processor of the brokers, per record",
    "p50": "median latency",
    "p99": "99th percentile of latency",
}
_HEADLINE_SHARE: Final = 0.6
NOT_RESOLVED: Final = "not resolved"


def lines(found: Findings, setup: Setup) -> Iterator[str]:
    """Yield the headline, the proofs of the instrument, and every figure."""
    yield headline(found, setup)
    yield (
        f"  instrument: plain against itself {_interval(found.same.low, found.same.high)}: "
        f"{found.same_proof}; a sleep of {found.slept * 1e3:.1f} ms after each commit was "
        f"measured as {found.twin.low * 1e3:.1f} to {found.twin.high * 1e3:.1f} ms: "
        f"{found.twin_proof}"
    )
    pair = None
    for figure in found.figures:
        if pair != (pair := (figure.base, figure.other)):
            yield f"  {figure.other} instead of {figure.base}"
        yield f"    {described(figure):55} {value(figure)}"


def headline(found: Findings, setup: Setup) -> str:
    """Return the cost of transactions in one sentence."""
    if not found.valid:
        return f"{found.client}: invalid: the instrument did not measure what is known"
    every = f"{found.client}: in this setup, a commit every {setup.commit_every * 1e3:g} ms"
    throughput = _figure(found.figures, "throughput", None)
    costs = []
    if throughput.resolved:
        least, most = sorted((1 - throughput.estimate.low, 1 - throughput.estimate.high))
        costs.append(f"{least:.0%} to {most:.0%} of throughput")
    latencies = (_figure(found.figures, what, _HEADLINE_SHARE) for what in ("p99", "p50"))
    if latency := next((one for one in latencies if one.resolved), None):
        low, high = latency.estimate.low * 1e3, latency.estimate.high * 1e3
        costs.append(f"{low:.0f} to {high:.0f} ms of the {described(latency)}")
    if not costs:
        return f"{every} costs something that was not resolved: more rounds, or a quieter machine"
    return f"{every} costs {' and '.join(costs)}, against a plain producer with acks=all"


def described(figure: Figure) -> str:
    where = "" if figure.share is None else f" at {figure.share:.0%} load"
    return f"{_NAMES[figure.what]}{where}"


def value(figure: Figure) -> str:
    """Return the interval, or that it is too wide to be told."""
    if not figure.resolved:
        return NOT_RESOLVED
    low, high = figure.estimate.low, figure.estimate.high
    if figure.unit == "ratio":
        return _interval(low, high)
    return f"{low * 1e3:+.1f} to {high * 1e3:+.1f} ms"


def _interval(low: float, high: float) -> str:
    return f"× {low:.2f} to {high:.2f}"


def _figure(figures: Sequence[Figure], what: str, share: float | None) -> Figure:
    return next(
        f
        for f in figures
        if (f.base, f.other, f.what, f.share) == (PLAIN, TRANSACTIONAL, what, share)
    )
