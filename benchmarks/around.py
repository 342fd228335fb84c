"""What stands around the records: ends, positions, executed ranges, faults, hazards, phases.

These tables grow with micro-batches, not with records, and say what a good
run says: the driver was killed once between the sink's write and the commit, its batch ran again
and was seen to be done already.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

from benchmarks.bulk import BEGIN, CLOCK, OWNER, SINK, STEP, TOPIC
from benchmarks.counters import PARTITIONS, PRODUCERS, Counters
from benchmarks.plan import Plan

Row = dict[str, Any]

_SECOND: Final = 1_000_000_000
_KILLED: Final = "driver killed"
_DRIVERS: Final = ("driver#1", "driver#2")
_RUNS: Final = ("0d6f4a1e-52a4-4f7b-8d6c-1a2b3c4d5e6f", "9e8d7c6b-5a49-4838-a726-150413f2e1d0")
"""Spark's run ids, before and after the kill."""


def around(plan: Plan, moved: Counters, end: Counters) -> dict[str, list[Row]]:
    """The small tables, by name.

    Args:
        plan: the history.
        moved: what one micro-batch adds to the counters.
        end: the counters after the last one.
    """
    whole, rest = plan.batches
    batches = whole + bool(rest)
    ends = [moved.times(n + 1) for n in range(whole)] + ([end] if rest else [])
    replayed = batches // 2
    over = BEGIN + end.step * STEP
    bounds = [
        [plan.offset_base + counters.offset[p] for p in range(PARTITIONS)]
        for counters in (Counters(), *ends)
    ]
    times = [BEGIN + counters.step * STEP for counters in ends]
    killed_at = times[replayed] if batches else BEGIN
    return {
        "partitions": [
            {
                "topic": TOPIC,
                "partition": partition,
                "log_start": bounds[0][partition],
                "last_stable_offset": bounds[-1][partition],
                "high_watermark": bounds[-1][partition],
                "cleanup_policy": "delete",
            }
            for partition in range(PARTITIONS)
        ],
        "positions": _positions(bounds, times, replayed),
        "ranges": _ranges(bounds, replayed),
        "instances": _instances(killed_at, over),
        "faults": _faults(killed_at),
        "hazards": _hazards(killed_at, replayed),
        "phases": _phases(over),
        "clocks": _clocks(over),
    }


def _positions(bounds: list[list[int]], times: list[int], replayed: int) -> list[Row]:
    """Planned and done by the checkpoint, and the sink's own guard, atomic with its effects."""
    rows = []
    for batch, (ends, at) in enumerate(zip(bounds[1:], times, strict=True)):
        for role, kind, sink, ordinal in (
            ("resume", "planned", None, 2 * batch + 1),
            ("resume", "done", None, 2 * batch + 2),
            ("atomic", "done", SINK, batch + 1),
        ):
            rows += [
                {
                    "owner": OWNER,
                    "instance": None if sink else _DRIVERS[batch > replayed],
                    "role": role,
                    "kind": kind,
                    "by": "subject",
                    "sink": sink,
                    "topic": TOPIC,
                    "partition": partition,
                    "offset": offset,
                    "batch": batch,
                    "ordinal": ordinal,
                    "at": at,
                    "clock": CLOCK,
                }
                for partition, offset in enumerate(ends)
            ]
    return rows


def _ranges(bounds: list[list[int]], replayed: int) -> list[Row]:
    return [
        {
            "owner": OWNER,
            "execution": _RUNS[batch >= replayed],
            "batch": batch,
            "topic": TOPIC,
            "partition": partition,
            "start_offset": start,
            "end_offset": end,
            "committed": True,
            "source": "progress",
        }
        for batch, (starts, ends) in enumerate(pairwise(bounds))
        for partition, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]


def _instances(killed_at: int, over: int) -> list[Row]:
    lives = [
        *((f"producer-{n}", f"producer-{n}#1", BEGIN - _SECOND, over) for n in range(PRODUCERS)),
        *((f"broker-{n}", f"broker-{n}#1", BEGIN - 30 * _SECOND, None) for n in (1, 2, 3)),
        ("driver", _DRIVERS[0], BEGIN - 20 * _SECOND, killed_at),
        ("driver", _DRIVERS[1], killed_at + _SECOND, None),
    ]
    return [
        {
            "subject": subject,
            "instance": instance,
            "started_at": started,
            "ended_at": ended,
            "how": None if ended is None else "signal 9" if ended == killed_at else "exit 0",
            "clock": CLOCK,
        }
        for subject, instance, started, ended in lives
    ]


def _faults(killed_at: int) -> list[Row]:
    return [
        {
            "fault": _KILLED,
            "kind": "crash",
            "description": "SIGKILL the driver after the sink's write and before the commit",
            "target": _DRIVERS[0],
            "required": True,
            "armed_at": BEGIN,
            "injected_at": killed_at,
            "healed_at": killed_at + 5 * _SECOND,
            "took_effect": True,
            "evidence": f"{_DRIVERS[0]} ended by signal 9, and the batch had no commit",
            "error": None,
            "clock": CLOCK,
        }
    ]


def _hazards(killed_at: int, replayed: int) -> list[Row]:
    return [
        {
            "hazard": "replayed-batch",
            "hop": "process",
            "at": killed_at + 3 * _SECOND,
            "clock": CLOCK,
            "fault": _KILLED,
            "detail": f"micro-batch {replayed} ran again after its effects were visible",
            "owner": OWNER,
            "batch": replayed,
            "attempt": None,
        },
        {
            "hazard": "retried-send",
            "hop": "produce",
            "at": killed_at,
            "clock": CLOCK,
            "fault": None,
            "detail": "a send was retried after it had been appended",
            "owner": None,
            "batch": None,
            "attempt": None,
        },
    ]


def _phases(over: int) -> list[Row]:
    times = [BEGIN - 40 * _SECOND, BEGIN - _SECOND, BEGIN]
    times += [over + n * _SECOND for n in range(1, 6)]
    names = ("arrange", "warm-up", "disturb", "heal", "settle", "collect", "tear-down")
    return [
        {
            "phase": name,
            "started_at": started,
            "ended_at": ended,
            "outcome": "ok",
            "detail": None,
            "clock": CLOCK,
        }
        for name, (started, ended) in zip(names, pairwise(times), strict=True)
    ]


def _clocks(over: int) -> list[Row]:
    return [
        {
            "writer": writer,
            "clock": CLOCK,
            "monotonic_ns": at,
            "wall_ns": 1_760_000_000 * _SECOND + at,
        }
        for writer in ("harness", "auditor", "producer-0", "producer-1")
        for at in (BEGIN - 40 * _SECOND, over)
    ]
