"""The inputs that an audit judges and its findings, compared with a Python definition."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from onceproof.audit.judging import claims_of
from onceproof.checkers.history import History
from onceproof.checkers.judging import find
from onceproof.harness.audit.folder import AuditFolder
from onceproof.harness.audit.history import make_history
from onceproof.harness.audit.judged import Judged, Side
from onceproof.harness.audit.parts import table

SETTLE = 10
NOW = 1_000
Input = tuple[int, int, int, str]
"""Partition, offset, timestamp, record."""


@st.composite
def inputs(draw: st.DrawFn) -> list[Input]:
    found = []
    for partition in range(2):
        for offset in range(draw(st.integers(0, 6))):
            stamp = draw(st.integers(0, 6)) * 5
            found.append((partition, offset, stamp, draw(st.sampled_from("abcdefghij"))))
    return found


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Input], list[str], dict[int, tuple[int, int]], Any]:
    sent = draw(inputs())
    effects = draw(st.lists(st.sampled_from("abcdefghijxy"), max_size=14))
    window = {}
    for partition in range(2):
        first = draw(st.integers(0, 3))
        window[partition] = (first, draw(st.integers(first, 6)))
    committed = draw(
        st.none() | st.fixed_dictionaries({0: st.integers(0, 6), 1: st.integers(0, 6)})
    )
    return sent, effects, window, committed


def by_definition(
    sent: list[Input],
    effects: list[str],
    window: dict[int, tuple[int, int]],
    committed: dict[int, int] | None,
) -> tuple[set[str], set[str], set[str]]:
    """Records that are judged, lost and duplicated."""
    seen = Counter(effects)

    def is_decided(partition: int, offset: int, stamp: int) -> bool:
        if committed is not None:
            return offset < committed[partition]
        seen_entries = [
            (at, when) for p, at, when, record in sent if p == partition and seen[record]
        ]
        return bool(seen_entries) and (
            offset < max(at for at, _ in seen_entries)
            and stamp <= min(NOW, max(when for _, when in seen_entries)) - SETTLE
        )

    in_window = {r for p, at, _, r in sent if window[p][0] <= at < window[p][1]}
    undecided = {r for p, at, when, r in sent if not is_decided(p, at, when) and not seen[r]}
    judged = in_window - undecided
    places = Counter(record for _, _, _, record in sent)
    lost = {record for record in judged if seen[record] < places[record]}
    duplicated = {record for record in judged if seen[record] > places[record]}
    return judged, lost, duplicated


@given(histories())
@settings(max_examples=20, deadline=None)
def test_audit_matches_definition(
    history: tuple[list[Input], list[str], dict[int, tuple[int, int]], Any],
) -> None:
    sent, effects, window, committed = history
    judged, lost, duplicated = by_definition(sent, effects, window, committed)
    with tempfile.TemporaryDirectory() as temporary:
        folder = AuditFolder.create(Path(temporary) / "audit")
        for partition in range(2):
            rows = [row for row in sent if row[0] == partition]
            _write(
                folder.raw("input"),
                partition,
                offset=[at for _, at, _, _ in rows],
                stamp=[when for _, _, when, _ in rows],
                record=[record for _, _, _, record in rows],
            )
        _write(
            folder.raw("0"),
            0,
            offset=list(range(len(effects))),
            stamp=[0] * len(effects),
            record=effects,
        )
        side = Side(
            name="output",
            view="read_committed",
            number=0,
            topic=True,
            most=1,
            optional=False,
            ranked=False,
            oldest=None,
            newest=None,
        )
        counts = make_history(
            Judged(
                input="input",
                outputs=(side,),
                window=window,
                settle=SETTLE,
                now=NOW,
                committed=committed,
                whole=False,
                nameless=False,
            ),
            folder,
            None,
        )
        log = pq.read_table(folder.table("log"))
        assert set(log["record"].to_pylist()) == judged
        assert {o.judged for o in counts.outputs} == {sum(e in judged for e in effects)}
        unknown = {record for *_, record in sent}
        assert {o.unknown for o in counts.outputs} == {sum(e not in unknown for e in effects)}
        (claim,) = claims_of(["exactly-once"], "input", [side], [])
        found = find(History.load(folder.history), claim, only=("lost-output", "duplicate-output"))
        shown = {f.anomaly: {str(each.key["record"]) for each in f.shown} for f in found}
        expected = {"lost-output": lost, "duplicate-output": duplicated}
        assert shown == {name: records for name, records in expected.items() if records}


def _write(folder: Path, partition: int, **columns: list[Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table(partition, columns), folder / f"{partition:06d}-0-9.parquet")
