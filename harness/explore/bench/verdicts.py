"""Collect the logs of a batch of lanes, and judge all lanes at once by the claims of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from onceproof.checkers import History, Verdict, check
from onceproof.checkers.imports.claims import claim_text
from onceproof.harness.clock import clock_id, now
from onceproof.harness.explore.bench.lanes.base import Lane
from onceproof.harness.explore.trials import Verdict as TrialVerdict
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.run.collect import write_log
from onceproof.harness.wait import Stop, wait_until

_SECONDS: Final = 90.0
"""Longer than the transaction timeout of a client that ended amid a transaction."""


@dataclass(frozen=True, kw_only=True)
class LaneVerdict:
    """The verdict of a lane's worst claim, and the anomalies that refute it.

    Attributes:
        violated: the violated claims, as `onceproof check` takes them.
        kept: see `Outcome`.
    """

    verdict: TrialVerdict = "holds"
    anomalies: frozenset[str] = frozenset()
    reason: str = ""
    violated: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def collect(
    reader: LogReader, lanes: Sequence[Lane], history: Path, stop: Stop
) -> dict[tuple[str, int], int]:
    """Write the logs of lanes to their history once no transaction is open.

    Returns:
        The end of each (topic, partition).

    Raises:
        Overdue: a transaction remains open.
        UnreadableLog: a log cannot be read.
    """
    ends: dict[tuple[str, int], int] = {}
    topics = [topic for lane in lanes for topic in lane.topics]
    left = list(topics)

    def settled() -> bool:
        while left:
            found = reader.ends(left[-1])
            if any(stable != end for stable, end in found.values()):
                return False
            topic = left.pop()
            ends.update({(topic, partition): end for partition, (_, end) in found.items()})
        return True

    wait_until(
        settled,
        what="the transactions of the lanes to end",
        seconds=_SECONDS,
        every=0.1,
        stop=stop,
        seen=lambda: {topic: reader.ends(topic) for topic in left},
    )
    writer = HistoryWriter(history, "auditor")
    for topic in topics:
        for log in reader.read_topic(topic):
            write_log(writer, log, {})
    for lane in lanes:
        lane.collect(writer, reader)
    for phase in ("settle", "collect"):
        at = now()
        writer.write(
            "phases", phase=phase, started_at=at, ended_at=at, clock=clock_id(), outcome="ok"
        )
    writer.close()
    return ends


def keep(tables: Mapping[str, pa.Table], folder: Path) -> None:
    """Write tables to a new folder, which `onceproof check` can judge."""
    folder.mkdir(parents=True)
    for name, table in tables.items():
        if table.num_rows:
            pq.write_table(table, folder / f"{name}.parquet")


def judge(tables: Mapping[str, pa.Table], lanes: Sequence[Lane]) -> Mapping[str, LaneVerdict]:
    """Judge the claims of all lanes of a batch; return the verdicts by lane.

    The first lane must be a quiet one, since its hops are used for the self-check of all.
    """
    found: dict[str, LaneVerdict] = {}
    of = {topic: lane.name for lane in lanes for topic in lane.logs}
    claims = [claim for lane in lanes for claim in lane.claims()]
    for judged in check(History(dict(tables)), claims, alike=True).claims:
        lane = of[judged.claim.scope.input]
        verdict = _WORDS.get(judged.verdict, "holds")
        mine = LaneVerdict(
            verdict=verdict,
            anomalies=frozenset(judged.refuted_by),
            reason="" if verdict == "holds" else judged.reason,
            violated=(claim_text(judged.claim),) if verdict == "violated" else (),
        )
        found[lane] = _worse(found.get(lane), mine)
    return found


def _worse(one: LaneVerdict | None, other: LaneVerdict) -> LaneVerdict:
    if one is None:
        return other
    worst = min(one, other, key=lambda verdict: _ORDER.index(verdict.verdict))
    return LaneVerdict(
        verdict=worst.verdict,
        anomalies=one.anomalies | other.anomalies,
        reason=worst.reason,
        violated=(*one.violated, *other.violated),
    )


_WORDS: Final[Mapping[Verdict, TrialVerdict]] = {
    Verdict.VIOLATED: "violated",
    Verdict.INVALID: "unknown",
    Verdict.STALLED: "stalled",
    Verdict.UNKNOWN: "unknown",
}
"""All others are `holds`: whether a hazard occurred is decided by the gate, not by the claim."""
_ORDER: Final[tuple[TrialVerdict, ...]] = ("violated", "stalled", "unknown", "holds")
