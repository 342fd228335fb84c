"""Collect the logs of a batch of lanes, and judge all lanes at once by the claims of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from onceproof.checkers import (
    Claim,
    History,
    Verdict,
    atomic_append,
    check,
    exactly_once_append,
)
from onceproof.harness.clock import clock_id, now
from onceproof.harness.explore.trials import Verdict as TrialVerdict
from onceproof.harness.history.tables import read_lines
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.run.collect import write_log
from onceproof.harness.wait import Stop, wait_until

_SECONDS: Final = 60.0
"""Longer than the transaction timeout of a client that ended amid a transaction."""


@dataclass(frozen=True, kw_only=True)
class LaneVerdict:
    """The verdict of a lane's worst claim, and the anomalies that refute it."""

    verdict: TrialVerdict = "holds"
    anomalies: frozenset[str] = frozenset()
    reason: str = ""


def claims_on(lane: str, *, atomic: bool) -> list[Claim]:
    return [exactly_once_append(lane), *([atomic_append(lane)] if atomic else [])]


def collect(reader: LogReader, lanes: Sequence[str], history: Path, stop: Stop) -> dict[str, int]:
    """Write the logs of lanes to their history once no transaction is open; return their ends.

    Raises:
        Overdue: a transaction remains open.
        UnreadableLog: a log cannot be read.
    """
    ends: dict[str, int] = {}

    def settled() -> bool:
        for lane in lanes:
            if lane in ends:
                continue
            stable, end = reader.ends(lane)[0]
            if stable != end:
                return False
            ends[lane] = end
        return True

    wait_until(
        settled,
        what="the transactions of the lanes to end",
        seconds=_SECONDS,
        every=0.1,
        stop=stop,
        seen=lambda: {lane: reader.ends(lane) for lane in lanes if lane not in ends},
    )
    writer = HistoryWriter(history, "auditor")
    for lane in lanes:
        write_log(writer, reader.read(lane, 0), {})
    for phase in ("settle", "collect"):
        at = now()
        writer.write(
            "phases", phase=phase, started_at=at, ended_at=at, clock=clock_id(), outcome="ok"
        )
    writer.close()
    return ends


def judge(history: Path, claims: Sequence[Claim]) -> Mapping[str, LaneVerdict]:
    """Judge the claims of all lanes of a batch; return the verdicts by lane.

    The first lane must be a quiet one, since its hops are used for the self-check of all.
    """
    tables: dict[str, Any] = read_lines(history).tables
    found: dict[str, LaneVerdict] = {}
    for judged in check(History(tables), claims, alike=True).claims:
        lane = judged.claim.scope.input
        verdict = _WORDS.get(judged.verdict, "holds")
        mine = LaneVerdict(
            verdict=verdict,
            anomalies=frozenset(judged.refuted_by),
            reason="" if verdict == "holds" else judged.reason,
        )
        found[lane] = _worse(found.get(lane), mine)
    return found


def _worse(one: LaneVerdict | None, other: LaneVerdict) -> LaneVerdict:
    if one is None:
        return other
    worst = min(one, other, key=lambda verdict: _ORDER.index(verdict.verdict))
    return LaneVerdict(
        verdict=worst.verdict, anomalies=one.anomalies | other.anomalies, reason=worst.reason
    )


_WORDS: Final[Mapping[Verdict, TrialVerdict]] = {
    Verdict.VIOLATED: "violated",
    Verdict.INVALID: "unknown",
    Verdict.STALLED: "stalled",
    Verdict.UNKNOWN: "unknown",
}
"""All others are `holds`: whether a hazard occurred is decided by the gate, not by the claim."""
_ORDER: Final[tuple[TrialVerdict, ...]] = ("violated", "stalled", "unknown", "holds")
