"""Pictures of histories show every row and highlight exactly the witness."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from onceproof.reports.anomalies.picture import svg_picture
from onceproof.reports.anomalies.scene import Scene

SceneMaker = Callable[..., Scene]

DONE = [{"phase": "settle", "outcome": "ok"}, {"phase": "collect", "outcome": "ok"}]
INPUT = {"topic": "input", "partition": 0}
LEDGER = {"sink": "ledger", "view": "table"}
READER = {"reader": "reader", "session": "session"}

CASES: dict[str, tuple[list[dict[str, Any]], dict[str, list[dict[str, Any]]], set[Any]]] = {
    "duplicate": (
        [INPUT | {"record": "a", "attempt": "a/1", "offset": offset} for offset in (6, 7)],
        {
            "sends": [{"record": "a", "attempt": "a/1"}],
            "log": [{"record": "a", "attempt": "a/1", "offset": o} for o in (6, 7)],
        },
        {("sends", 0), ("log", 0), ("log", 1)},
    ),
    "lost-output": (
        [INPUT | LEDGER | {"record": "b", "effect_key": "", "offset": 7}],
        {
            "log": [{"record": "a", "offset": 6}, {"record": "b", "offset": 7}],
            "effects": [{"record": "a"}],
            "phases": DONE,
        },
        {("log", 1)},
    ),
    "reordered-send": (
        [
            INPUT
            | {"session": "session", "attempt": "b/1", "record": "b", "ordinal": 1, "offset": 6}
            | {"after_attempt": "a/1", "after_offset": 7}
        ],
        {
            "sends": [{"record": r, "attempt": f"{r}/1"} for r in "abc"],
            "log": [
                {"record": r, "attempt": f"{r}/1", "offset": o}
                for r, o in (("b", 6), ("a", 7), ("c", 8))
            ],
        },
        {("sends", 0), ("sends", 1), ("log", 0), ("log", 1)},
    ),
    "skipped-read": (
        [INPUT | READER | {"offset": 6, "record": "b", "reached": 5, "ordinal": 1}],
        {
            "log": [{"record": r, "offset": 5 + i} for i, r in enumerate("abc")],
            "reads": [{"record": "a", "offset": 5}, {"record": "c", "offset": 7}],
        },
        {("log", 1), ("reads", 1)},
    ),
    "offset-gap": (
        [
            INPUT
            | {"kind": "gap", "owner": "owner", "batch": 2, "previous_batch": 1, "reached": 5}
            | {"start_offset": 7, "end_offset": 9}
        ],
        {
            "ranges": [
                {"batch": b, "start_offset": s, "end_offset": e}
                for b, s, e in ((0, 0, 2), (1, 2, 5), (2, 7, 9))
            ]
        },
        {("ranges", 1), ("ranges", 2)},
    ),
    "offset-regressed": (
        [INPUT | {"owner": "owner", "role": "resume", "ordinal": 1, "position": 7, "previous": 9}],
        {"positions": [{"offset": 9}, {"offset": 7}, {"offset": 7}]},
        {("positions", 1)},
    ),
    "torn-transaction": (
        [
            {"topic": "input", "txn": "t", "what": "send", "name": f"{r}/1", "partition": p}
            | {"offset": o, "state": state}
            for r, p, o, state in (("a", 0, 6, "committed"), ("b", 1, 3, "missing"))
        ],
        {
            "txns": [{"txn": "t"}, {"txn": "u", "outcome": "aborted"}],
            "sends": [
                {"record": r, "attempt": f"{r}/1", "txn": "t", "partition": p, "offset": o}
                for r, p, o in (("a", 0, 6), ("b", 1, 3))
            ],
            "log": [{"record": "a", "attempt": "a/1", "offset": 6}],
            "staged": [
                {"txn": "t", "owner": "group", "topic": "orders", "partition": 0, "offset": 4}
            ],
            "phases": DONE,
        },
        {("txns", 0), ("sends", 0), ("sends", 1), ("log", 0)},
    ),
    "zombie-write": (
        [
            LEDGER
            | {"record": "a", "effect_key": "", "position": "row 0", "instance": "driver-1"}
            | {"successor": "driver-2"}
        ],
        {
            "instances": [
                {"instance": f"driver-{n}", "started_at": at} for n, at in ((0, 0), (1, 1), (2, 3))
            ],
            "effects": [{"record": "a", "instance": "driver-1", "at": 4, "clock": "clock"}],
        },
        {("instances", 1), ("instances", 2), ("effects", 0)},
    ),
    "state-mismatch": (
        [LEDGER | {"state_key": "k", "aggregate": "sum", "expected_amount": 40, "amount": 50}],
        {
            "contributions": [
                {"sink": "ledger", "record": "a", "state_key": "k", "aggregate": "sum"}
                | {"operation": "sum", "amount": 40}
            ],
            "state": [
                LEDGER | {"state_key": key, "aggregate": "sum", "amount": 50} for key in "kl"
            ],
        },
        {("state", 0)},
    ),
    "G1c": (
        [
            {"cycle": "1", "step": n, "source": a, "target": b, "kind": "wr", "record": f"r{n}"}
            | {"at_topic": "input", "at_partition": 0, "at_offset": n}
            for n, a, b in ((0, "T1", "T2"), (1, "T2", "T3"), (2, "T3", "T1"))
        ],
        {
            "txns": [{"txn": f"T{n}"} for n in (1, 2, 3, 4)],
            "sends": [{"record": f"r{n}", "txn": f"T{n + 1}"} for n in range(4)],
            "log": [{"record": f"r{n}"} for n in range(4)],
            "reads": [
                {"record": f"r{n}", "offset": n, "txn": txn}
                for n, txn in ((0, "T2"), (1, "T3"), (2, "T1"), (2, "T4"))
            ],
        },
        {(table, n) for table in ("txns", "sends", "log", "reads") for n in range(3)},
    ),
}
"""Anomaly → witness, history, and the rows to highlight."""


@pytest.fixture(params=CASES)
def case(
    request: pytest.FixtureRequest, make_scene: SceneMaker
) -> tuple[Scene, set[Any], set[Any]]:
    witness, tables, wrong = CASES[request.param]
    rows = {(table, number) for table, rows in tables.items() for number in range(len(rows))}
    return make_scene(request.param, witness, **tables), rows, wrong


def test_draws_every_row_and_highlights_the_witness(
    case: tuple[Scene, set[Any], set[Any]],
) -> None:
    scene, rows, wrong = case
    assert scene.refs() == rows
    assert scene.refs(wrong=True) == wrong


def test_svg_has_the_same_rows(case: tuple[Scene, set[Any], set[Any]]) -> None:
    scene, rows, _ = case
    root = ET.fromstring(svg_picture(scene))
    assert set(_rows(root)) == {f"{table}:{number}" for table, number in rows}
    assert root.find("title") is not None
    assert "Wrong: this is" in (root.findtext("desc") or "")
    assert not {"script", "style", "image", "foreignObject"} & {e.tag for e in root.iter()}


def _rows(root: ET.Element) -> Iterator[str]:
    for element in root.iter():
        yield from (element.get("data-rows") or "").split()


def test_highlights_nothing_without_a_finding(make_scene: SceneMaker) -> None:
    for name, (_, tables, _) in CASES.items():
        scene = make_scene(name, None, **tables)
        assert scene.refs(wrong=True) == frozenset()
        assert "p-wrong" not in svg_picture(scene)
        assert "missing" not in svg_picture(scene)


def test_two_records_at_one_offset_share_a_wire(make_scene: SceneMaker) -> None:
    sends = [{"record": r, "attempt": r, "partition": 0, "offset": 6} for r in "ab"]
    scene = make_scene("inconsistent-offsets", sends=sends, log=[{"record": "a", "offset": 6}])
    (strip,) = scene.board.strips
    assert [slot.lines[0] for slot in strip.slots] == ["a"]
    assert [line.wires for line in scene.panels[0].lines()] == [(strip.slots[0].place,)] * 2


def test_missing_entry_gets_an_empty_slot(make_scene: SceneMaker) -> None:
    sends = [{"record": "a", "partition": 0, "offset": 6}]
    scene = make_scene("lost-write", sends=sends, log=[{"record": "b", "offset": 5}])
    (strip,) = scene.board.strips
    assert [slot.look for slot in strip.slots] == ["committed", "ghost"]


def test_offset_gaps_are_not_drawn(make_scene: SceneMaker) -> None:
    log = [{"record": "a", "offset": 5}, {"record": "b", "offset": 2**62}]
    scene = make_scene("x", log=log)
    assert [len(strip.slots) for strip in scene.board.strips] == [2]


def test_gap_between_positions_is_elided(make_scene: SceneMaker) -> None:
    scene = make_scene("x", positions=[{"offset": 5}, {"offset": 2**62}])
    (strip,) = scene.board.strips
    assert [slot.look for slot in strip.slots] == ["elided"]


def test_labels_aborted_and_open_entries(make_scene: SceneMaker) -> None:
    scene = make_scene(
        "x",
        txns=[{"txn": "t", "outcome": "aborted"}],
        sends=[{"record": "a", "attempt": "a/1", "txn": "t"}],
        log=[
            {"record": "a", "attempt": "a/1", "committed": False},
            {"record": "b", "committed": False},
            {"record": None, "kind": "abort"},
        ],
    )
    assert [slot.lines[-1] for slot in scene.board.strips[0].slots] == ["aborted", "open", "@2"]


def test_lists_rows_of_tables_without_a_picture(make_scene: SceneMaker) -> None:
    scene = make_scene("x", faults=[{"fault": "1-kill", "kind": "crash"}], clocks=[{"writer": "w"}])
    assert scene.refs() == {("faults", 0), ("clocks", 0)}
    assert "faults: fault 1-kill, kind crash" in svg_picture(scene)


HOSTILE = [
    "<script>alert(1)</script>",
    "</title></svg><img src=x onerror=alert(1)>",
    "\"' onmouseover=alert(1) x='",
    "{{ 7 * 7 }}{% raw %}",
    "\u202egnp.exe\u2066",
    "nul\x00bell\x07esc\x1b[31m",
    "\u05d0\u05d1\u05d2 \u0639\u0631\u0628\u064a",
    "漢字" * 40,
    "x" * 5_000,
    "",
    "]]> <!-- & &#0;",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_inert(name: str, make_scene: SceneMaker) -> None:
    witness_row = INPUT | {"record": name, "attempt": name, "offset": 0, "txn": name}
    scene = make_scene(
        name,
        [witness_row],
        txns=[{"txn": name, "transactional_id": name, "session": name}],
        sends=[
            {"record": name, "attempt": name, "txn": name, "session": name, "error": name},
            {"record": name + "2", "attempt": name + "2", "session": name, "key": name},
        ],
        log=[{"record": name, "attempt": name, "digest": name}, {"record": name + "2"}],
        reads=[{"record": name, "reader": name, "session": name, "offset": 0}],
        positions=[{"owner": name}],
        ranges=[{"owner": name, "end_offset": 1}],
        effects=[{"record": name, "position": name, "effect_key": name, "sink": name}],
        state=[{"sink": name, "view": name, "state_key": name, "aggregate": name, "digest": name}],
        instances=[{"instance": name}],
        hazards=[{"hazard": name, "detail": name}],
    )
    svg = svg_picture(scene)
    assert not {"\x1b", "\x00", "\u202e", "\u05d0"} & set(svg)
    root = ET.fromstring(svg)
    assert {e.tag for e in root.iter()} <= {
        "svg", "title", "desc", "g", "rect", "path", "circle", "text", "tspan", "a",
    }  # fmt: skip
    assert not any(key.startswith("on") for e in root.iter() for key in e.attrib)
    assert len(svg) < 40_000
    assert len(scene.refs()) == 12


def test_long_names_stay_distinct(make_scene: SceneMaker) -> None:
    names = [f"{'x' * 500}{n}{'y' * 500}" for n in (1, 2)]
    scene = make_scene("x", log=[{"record": name} for name in names])
    first, second = (slot.lines[0] for slot in scene.board.strips[0].slots)
    assert first != second


def test_draws_an_empty_history(make_scene: SceneMaker) -> None:
    assert ET.fromstring(svg_picture(make_scene("x"))).findtext("title") == "x: a minimal history"
