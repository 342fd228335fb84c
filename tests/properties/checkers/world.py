"""Histories of a world where everything went right, drawn at random.

The one thing to know: it is a little simulation. Producers send, some sends are repeated by the
application, some end in `info` or `fail`, some in transactions that abort; a broker appends and
leaves markers; a pipeline processes every committed position and says how far it came.
"""

from __future__ import annotations

from random import Random
from typing import Any

from checkers import History

Rows = dict[str, list[dict[str, Any]]]

PHASES = ("arrange", "warm-up", "disturb", "heal", "settle", "collect", "tear-down")


def build(draw: Random, *, deduplicates: bool = False) -> Rows:
    """Rows of a correct history."""
    rows: Rows = {"sends": [], "txns": [], "log": [], "expected": [], "effects": []}
    rows |= {"positions": [], "ranges": []}
    partitions = draw.randint(1, 3)
    ends = [draw.choice((0, 0, 5)) for _ in range(partitions)]
    with_attempts = draw.random() < 0.6
    records = [f"r{n}" for n in range(draw.randint(1, 7))]
    _expect(rows, draw, records)
    units: list[list[str]] = [[r] for r in records for _ in range(draw.choice((1, 1, 1, 2)))]
    draw.shuffle(units)
    clock = 0
    for number, alone in enumerate(units):
        unit = list(alone)
        txn = draw.choice((None, None, None, "committed", "aborted", "info"))
        if txn is not None:
            unit.append(draw.choice(records))
        happened = txn in (None, "committed") or (txn == "info" and draw.random() < 0.5)
        touched = set()
        for record in unit:
            clock += 1
            outcome = draw.choice(("ok", "ok", "ok", "info", "fail"))
            partition = draw.randrange(partitions)
            send: dict[str, Any] = {
                "attempt": f"{record}/{clock}", "record": record, "key": record,
                "digest": f"in-{record}", "ordinal": clock, "outcome": outcome,
                "txn": None if txn is None else f"t{number}", "called_at": clock,
                "returned_at": None if outcome == "info" else clock,
            }  # fmt: skip
            if outcome == "ok" or (outcome == "info" and draw.random() < 0.5):
                if outcome == "ok":
                    send |= {"partition": partition, "offset": ends[partition]}
                rows["log"].append(
                    {
                        "topic": "input", "partition": partition, "offset": ends[partition],
                        "record": record, "key": record, "digest": f"in-{record}",
                        "attempt": send["attempt"] if with_attempts else None,
                        "kind": "data", "committed": happened,
                    }
                )  # fmt: skip
                ends[partition] += 1
                touched.add(partition)
            rows["sends"].append(send)
        if txn is not None:
            rows["txns"].append({"txn": f"t{number}", "outcome": txn})
            for partition in sorted(touched):
                marker = {"partition": partition, "offset": ends[partition], "record": None}
                kind = "commit" if happened else "abort"
                rows["log"].append(marker | {"kind": kind, "committed": happened})
                ends[partition] += 1
    rows["partitions"] = [
        {"partition": p, "last_stable_offset": end, "high_watermark": end}
        for p, end in enumerate(ends)
    ]
    rows["phases"] = [
        {"phase": phase, "outcome": "ok", "started_at": 10_000 + n}
        for n, phase in enumerate(PHASES)
    ]
    rows["hazards"] = [{"hop": "process"}, {"hop": "produce", "hazard": "retried-send"}]
    _process(rows, draw, ends, deduplicates)
    return rows


def _expect(rows: Rows, draw: Random, records: list[str]) -> None:
    shape = draw.choice(("one", "several", "unstated"))
    if shape == "unstated":
        return
    for record in records:
        keys = [""] if shape == "one" else draw.choice(([], ["a"], ["a", "b"], ["a", "a"]))
        rows["expected"] += [
            {"record": record, "effect_key": k, "digest": f"out-{record}{k}"} for k in keys
        ]
    rows["expected"].append({"record": "never sent", "effect_key": "", "digest": "x"})


def _process(rows: Rows, draw: Random, ends: list[int], deduplicates: bool) -> None:
    sources = draw.choice(("all", "none", "some"))
    positions = draw.choice((("resume", "atomic"), ("resume",), ()))
    batches = draw.randint(1, 3)
    starts = [min((e["offset"] for e in rows["log"] if e["partition"] == p), default=0)
              for p in range(len(ends))]  # fmt: skip
    done: set[str] = set()
    for batch in range(batches):
        for partition, end in enumerate(ends):
            start = starts[partition]
            stop = end if batch == batches - 1 else draw.randint(start, end)
            _effects(rows, draw, (partition, start, stop, batch), sources, deduplicates, done)
            rows["ranges"].append(
                {"batch": batch, "partition": partition, "start_offset": start, "end_offset": stop}
            )
            for role in positions:
                rows["positions"].append(
                    {
                        "role": role, "partition": partition, "offset": stop, "batch": batch,
                        "ordinal": batch, "sink": "ledger" if role == "atomic" else None,
                    }
                )  # fmt: skip
            starts[partition] = stop


def _effects(
    rows: Rows,
    draw: Random,
    where: tuple[int, int, int, int],
    sources: str,
    deduplicates: bool,
    done: set[str],
) -> None:
    partition, start, stop, batch = where
    for e in rows["log"]:
        if e["kind"] != "data" or not e["committed"] or e["partition"] != partition:
            continue
        if not start <= e["offset"] < stop or (deduplicates and e["record"] in done):
            continue
        done.add(e["record"])
        stated = [x for x in rows["expected"] if x["record"] == e["record"]]
        if not rows["expected"]:
            stated = [{"effect_key": "", "digest": "whatever"}]
        for x in stated:
            effect = {"record": e["record"], "effect_key": x["effect_key"], "digest": x["digest"]}
            effect |= {"position": f"row {len(rows['effects'])}", "batch": batch}
            effect["owner"] = "owner"
            if sources == "all" or (sources == "some" and draw.random() < 0.5):
                effect |= {
                    "source_topic": "input", "source_partition": partition,
                    "source_offset": e["offset"],
                }  # fmt: skip
            rows["effects"].append(effect)


def history(rows: Rows) -> History:
    """The typed tables."""
    return History.of(**rows)
