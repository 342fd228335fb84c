"""Check that a run's history is complete and has no duplicate rows.

The tables of a run refer to each other: a log reaches its high watermark, a schedule has its
faults, a session its calls. A row that others refer to and that is missing was lost after it was
written, so absence proves nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from onceproof.checkers.controls import Control
from onceproof.checkers.engines.literals import literal
from onceproof.checkers.engines.overlay import Layer
from onceproof.checkers.history import History
from onceproof.checkers.promised import NOTHING, RequiredHistory

_LOGS: Final = """
SELECT p.topic, p."partition", p.log_start, p.high_watermark, coalesce(n.entries, 0) AS entries
FROM partitions p
LEFT JOIN (
    SELECT l.topic, l."partition", count(*) AS entries
    FROM log l
    JOIN partitions q ON q.topic = l.topic AND q."partition" = l."partition"
    WHERE l."offset" >= q.log_start AND l."offset" < q.high_watermark
    GROUP BY l.topic, l."partition"
) n ON n.topic = p.topic AND n."partition" = p."partition"
"""
_BEYOND: Final = """
SELECT l.topic, l."partition", count(*) AS entries
FROM log l
LEFT JOIN partitions p ON p.topic = l.topic AND p."partition" = l."partition"
WHERE p.topic IS NULL OR l."offset" >= p.high_watermark
GROUP BY l.topic, l."partition"
"""
_ACKNOWLEDGED: Final = """
SELECT s.topic, s."partition", min(s."offset") AS first, count(*) AS sends
FROM sends s
JOIN partitions p ON p.topic = s.topic AND p."partition" = s."partition"
LEFT JOIN log l ON l.topic = s.topic AND l."partition" = s."partition" AND l."offset" = s."offset"
WHERE s.outcome = 'ok' AND s."offset" >= p.log_start AND s."offset" < p.high_watermark
  AND l.topic IS NULL AND s.topic IN ({topics})
GROUP BY s.topic, s."partition"
"""
_ODD: Final = """
SELECT count(*) AS n
FROM log l
JOIN sends s ON s.topic = l.topic AND s."partition" = l."partition" AND s."offset" = l."offset"
WHERE l.kind = 'odd' AND s.outcome = 'ok'
"""
_SESSIONS: Final = """
SELECT n.session, n.first, n.last, n.entries
FROM (
    SELECT s.session, min(s.ordinal) AS first, max(s.ordinal) AS last, count(*) AS entries
    FROM {table} s
    GROUP BY s.session
) n
WHERE n.last - n.first + 1 <> n.entries
"""
_TRANSACTIONS: Final = """
SELECT count(*) AS n
FROM (
    SELECT s.txn FROM sends s WHERE s.txn IS NOT NULL
    UNION
    SELECT g.txn FROM staged g
    UNION
    SELECT r.txn FROM reads r WHERE r.txn IS NOT NULL
) u
LEFT JOIN txns t ON t.txn = u.txn
WHERE t.txn IS NULL
"""
_BEHIND: Final = """
SELECT c.topic, c."partition", c.last, coalesce(max(r.reached), 0) AS reached
FROM (
    SELECT l.topic, l."partition", max(l."offset") AS last
    FROM log l
    JOIN (
        SELECT DISTINCT o.topic FROM positions o WHERE o."by" = 'subject' AND o.role <> 'advisory'
    ) i ON i.topic = l.topic
    WHERE l.kind = 'data' AND l.committed
    GROUP BY l.topic, l."partition"
) c
LEFT JOIN (
    SELECT o.topic, o."partition", o.role, max(o."offset") AS reached
    FROM positions o
    WHERE o."by" = 'subject' AND o.kind = 'done' AND o.role <> 'advisory'
    GROUP BY o.topic, o."partition", o.role
) r ON r.topic = c.topic AND r."partition" = c."partition"
GROUP BY c.topic, c."partition", c.last
HAVING coalesce(min(r.reached), 0) <= c.last
"""
_PROGRESS: Final = """
SELECT count(*) AS n
FROM (
    SELECT g.owner FROM ranges g
    UNION
    SELECT e.owner FROM effects e WHERE e.owner IS NOT NULL AND e.batch IS NOT NULL
) w
LEFT JOIN (SELECT DISTINCT o.owner FROM positions o) p ON p.owner = w.owner
WHERE p.owner IS NULL
"""
_TWICE: Final = """
SELECT e.sink, e.position, count(*) AS entries
FROM effects e
WHERE e.position IS NOT NULL
GROUP BY e.sink, e."view", e.position, e.record, e.effect_key
HAVING count(*) > 1
"""
_ONE_ROW: Final = {
    "faults": ("fault",),
    "phases": ("phase", "started_at"),
}
"""Small tables → columns that must be unique."""


_INSTANCES: Final = """
SELECT o.instance FROM positions o WHERE o.instance IS NOT NULL
UNION
SELECT e.instance FROM effects e WHERE e.instance IS NOT NULL
"""
_WRITERS: Final = ("harness", "workload", "auditor")
"""The processes that write history in every run."""


def belonging(layer: Layer, history: History, promised: RequiredHistory) -> tuple[Control, ...]:
    """Return a failed control for everything that is missing or duplicated.

    If nothing is `promised`, nothing is required.
    """
    if promised == NOTHING:
        return ()
    # Expectations are written before anything is started. The rest may be missing in a run that was
    # interrupted or stalled.
    return (
        *(_control(sentence, always=True) for sentence in _results(layer, promised)),
        *(_control(sentence, always=False) for sentence in _missing(layer, history, promised)),
    )


def _control(sentence: str, *, always: bool) -> Control:
    detail = f"the history is incomplete: {sentence}"
    return Control(passed=False, detail=detail, even_if_interrupted=always)


def _missing(layer: Layer, history: History, promised: RequiredHistory) -> Iterator[str]:
    yield from _rows(history, promised)
    yield from _faults(history, promised)
    yield from _twice(layer, history)
    if promised.logs:
        yield from _logs(layer, history, promised)
        yield from _sends(layer, history, promised)
        yield from _positions(layer, history, promised)
        yield from _processes(layer, history)


def _rows(history: History, promised: RequiredHistory) -> Iterator[str]:
    for table, rows in promised.rows.items():
        if history.rows(table) != rows:
            yield f"{table} has {history.rows(table)} rows, but {rows} were sealed"


def _twice(layer: Layer, history: History) -> Iterator[str]:
    """Find duplicated rows."""
    for table, columns in _ONE_ROW.items():
        rows = Counter(tuple(row[c] for c in columns) for row in history[table].to_pylist())
        for key, count in rows.items():
            if count > 1:
                yield f"{table} has {count} rows for {key[0]}; expected 1"
    for row in layer.rows(_TWICE):
        yield (
            f"effects has {row['entries']} rows for {row['sink']} at {row['position']}; expected 1"
        )


def _faults(history: History, promised: RequiredHistory) -> Iterator[str]:
    rows = {row["fault"]: row for row in history["faults"].to_pylist()}
    for name, required in promised.faults.items():
        if name not in rows:
            yield f"fault «{name}» of the schedule has no row in faults"
        elif required and not rows[name]["required"]:
            yield f"fault «{name}» is required by the schedule, but not in faults"


def _logs(layer: Layer, history: History, promised: RequiredHistory) -> Iterator[str]:
    ends = layer.rows(_LOGS)
    known = {(row["topic"], row["partition"]) for row in ends}
    for topic, partitions in promised.logs.items():
        for partition in range(partitions):
            if (topic, partition) not in known:
                yield f"{topic}-{partition} has no row in partitions"
    for row in layer.rows(_BEYOND):
        yield (
            f"the log of {row['topic']}-{row['partition']} has {row['entries']} entries beyond the "
            "end that partitions records"
        )
    for row in ends:
        due = row["high_watermark"] - row["log_start"]
        if row["topic"] not in promised.in_bytes and row["entries"] != due:
            yield (
                f"the log of {row['topic']}-{row['partition']} has {row['entries']} entries from "
                f"its start, {row['log_start']}, to its high watermark, {row['high_watermark']}, "
                f"but {due} were written"
            )
    if odd := layer.number(_ODD):
        yield (
            f"{odd} log entries are of kind odd, although sends to their offsets were acknowledged"
        )
    if promised.in_bytes:
        topics = ", ".join(literal(topic) for topic in sorted(promised.in_bytes))
        for row in layer.rows(_ACKNOWLEDGED.format(topics=topics)):
            yield (
                f"{row['sends']} sends to {row['topic']} were acknowledged, from offset "
                f"{row['first']} on, but its log has no entries there"
            )


def _sends(layer: Layer, history: History, promised: RequiredHistory) -> Iterator[str]:
    if history.rows("sends") < promised.records:
        yield (
            f"sends has {history.rows('sends')} rows, but the workload has {promised.records} "
            "records"
        )
    for table in ("sends", "reads"):
        if history.rows(table):
            for row in layer.rows(_SESSIONS.format(table=table)):
                yield (
                    f"session {row['session']} has {row['entries']} rows in {table}, but they are "
                    f"numbered {row['first']} to {row['last']}"
                )
    if unknown := layer.number(_TRANSACTIONS):
        yield f"{unknown} transactions named in sends, staged or reads have no row in txns"


def _positions(layer: Layer, history: History, promised: RequiredHistory) -> Iterator[str]:
    if promised.positions and history.rows("log") and not history.rows("positions"):
        yield "positions has no rows, although the pipeline's positions were recorded"
    if unknown := layer.number(_PROGRESS):
        yield f"{unknown} owners in ranges or effects have no row in positions"
    if history.rows("positions"):
        for row in layer.rows(_BEHIND):
            yield (
                f"positions reach {row['topic']}-{row['partition']}@{row['reached']}, but the run "
                f"had settled and the last record is at {row['last']}"
            )


def _results(layer: Layer, promised: RequiredHistory) -> Iterator[str]:
    for table, due in (
        ("expected", promised.expected),
        ("contributions", promised.contributions),
    ):
        if not due:
            continue
        rows = layer.rows(f"SELECT x.sink, count(*) AS n FROM {table} x GROUP BY x.sink")
        found = {row["sink"]: row["n"] for row in rows}
        for sink, count in due.items():
            if found.get(sink, 0) != count:
                yield f"{table} has {found.get(sink, 0)} rows for {sink}, but {count} were written"


def _processes(layer: Layer, history: History) -> Iterator[str]:
    """Find writers, and processes that are named, without an instance or a clock."""
    clocks = history["clocks"].to_pylist()
    lives = {str(instance) for instance in history["instances"]["instance"].to_pylist()}
    numbers: dict[str, set[int]] = {}
    for life in lives:
        name, _, number = life.rpartition("#")
        if number.isdecimal():
            numbers.setdefault(name, set()).add(int(number))
    for name, found in sorted(numbers.items()):
        if len(found) < max(found):
            yield f"{name} had {max(found)} lives, but instances has rows for {len(found)}"
    for row in layer.rows(_INSTANCES):
        if row["instance"] not in lives:
            yield f"{row['instance']}, named in positions or effects, has no row in instances"
    sends = layer.rows("SELECT DISTINCT s.session, s.clock FROM sends s")
    senders = {str(row["session"]).rpartition("/")[0] for row in sends}
    for name in sorted(senders - numbers.keys()):
        yield f"{name}, which sent records, has no row in instances"
    for name in sorted({*senders, *_WRITERS} - {row["writer"] for row in clocks}):
        yield f"{name}, which wrote part of the history, has no row in clocks"
    known = {row["clock"] for row in clocks}
    named = {row["clock"] for row in sends}
    for table in ("instances", "faults", "phases", "hazards"):
        named |= set(history[table]["clock"].to_pylist())
    for clock in sorted(map(str, named - known)):
        yield f"clock {clock}, used for times in the history, has no row in clocks"
