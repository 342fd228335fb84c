"""The words of a measurement's figures, proofs and headline, for terminal and page."""

from __future__ import annotations

from typing import Final

from onceproof.harness.cost.ways import AGAIN_SHARE
from onceproof.reports.cost.model import ComparisonPart, EstimatePart, FigurePart, ProofPart, Unit

_NAMES: Final = {
    "throughput": "throughput",
    "client": "processor time of the client, per record",
    "brokers": "processor time of the brokers, per record",
    "written": "bytes written by the brokers, per record",
    "p50": "median latency",
    "p99": "99th percentile of latency",
    "stall": "longest wait of the reader",
}
MAIN_SHARE: Final = 0.6
"""The load that is told first."""
NOT_RESOLVED: Final = "not resolved"


def headline(found: ComparisonPart) -> str:
    """Return the cost of exactly-once in one sentence."""
    if not found.valid:
        return f"{found.name}: invalid: the instrument did not measure what is known"
    base, other, _ = next(found.pairs())
    what = f"{found.name}: in this setup, {_cause(found, other)}"
    costs = []
    throughput = found.figure(base, other, "throughput", None)
    if throughput is not None and throughput.resolved and throughput.estimate is not None:
        costs.append(_loss(throughput.estimate))
    latencies = (found.figure(base, other, each, MAIN_SHARE) for each in ("p99", "p50"))
    for latency in latencies:
        if latency is not None and latency.resolved and latency.estimate is not None:
            costs.append(f"{_milliseconds(latency.estimate)} of the {described(latency)}")
            break
    if not costs:
        return f"{what} costs something that was not resolved: more rounds, or a quieter machine"
    return f"{what} costs {' and '.join(costs)}, against {_against(found, base)}"


def _cause(found: ComparisonPart, other: str) -> str:
    if found.setup.commit_records:
        count = found.setup.commit_records
        return f"a commit after every {count:,} records" if count > 1 else "a commit per record"
    if not found.setup.commit_every:
        return other
    every = f"every {found.setup.commit_every[0] * 1e3:g} ms"
    return f"{f'{other} with a commit' if _is_pipeline(found) else 'a commit'} {every}"


def _against(found: ComparisonPart, base: str) -> str:
    if _is_pipeline(found):
        return base
    return f"a plain producer with acks={found.setup.acks}"


def _is_pipeline(found: ComparisonPart) -> bool:
    return not any(proof.what == "twin" for proof in found.proofs)


def _loss(found: EstimatePart) -> str:
    least, most = 1 - found.high, 1 - found.low
    if least < 0:
        return f"{_percent(least)} to {_percent(most)} of throughput"
    return f"{least:.0%} to {most:.0%} of throughput"


def _percent(part: float) -> str:
    return f"{part:+.0%}".replace("+0%", "0%").replace("-0%", "0%")


def _milliseconds(found: EstimatePart) -> str:
    return f"{found.low * 1e3:.0f} to {found.high * 1e3:.0f} ms"


def described(figure: FigurePart) -> str:
    where = "" if figure.share is None else f" at {figure.share:.0%} load"
    return f"{_NAMES[figure.what]}{where}"


def value(figure: FigurePart) -> str:
    """Return the interval, or that it is too wide to be told."""
    if not figure.resolved or figure.estimate is None:
        return NOT_RESOLVED
    return interval(figure.estimate, figure.unit)


def interval(found: EstimatePart, unit: Unit) -> str:
    if unit == "ratio":
        return f"× {found.low:.2f} to {found.high:.2f}"
    return f"{found.low * 1e3:+.1f} to {found.high * 1e3:+.1f} ms"


def proof(found: ProofPart, base: str) -> tuple[str, str, str]:
    """Return what is known, how it was measured, and the verdict."""
    of = _NAMES.get(found.of, f"{_NAMES['p50']} at {AGAIN_SHARE:.0%} load")
    known = {
        "same": f"{of} of {base} against itself: {'× 1' if found.unit == 'ratio' else '0 ms'}",
        "delay": f"records sent {found.known * 1e3:g} ms after they were due",
        "twin": f"a sleep of {found.known * 1e3:.1f} ms after each commit",
    }[found.what]
    return known, interval(found.estimate, found.unit), found.verdict
