"""Computed lanes of the timeline: lag, commits, transactions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from onceproof.checkers.model import Judgement
from onceproof.reports.build import build
from onceproof.reports.html import render
from onceproof.reports.html.geometry import drawing
from onceproof.reports.model_timeline import Timeline
from tests.unit.reports.test_html import Page

EMPTY = Judgement(claims=(), findings=(), mutation_check=())


def timeline_of(small: SimpleNamespace, history: dict[str, Any]) -> Timeline:
    timeline = build(small.record(), history, EMPTY).timeline
    assert isinstance(timeline, Timeline)
    return timeline


def lag_at(timeline: Timeline, at: float, lane: int = 0) -> int:
    """How many records a reader was behind at a moment."""
    return timeline.lags[lane].behind[int(at / timeline.bin_seconds)]


def send_rows(small: SimpleNamespace, count: int) -> list[dict[str, Any]]:
    """One record a second from 2 s on, acknowledged half a second later."""
    send = {"digest": "d", "session": "producer-0/1", "topic": "payments", "outcome": "ok"}
    return [
        send
        | {"attempt": f"r{i}/1", "record": f"r{i}", "ordinal": i, "partition": 0}
        | {"called_at": small.ns(2 + i), "returned_at": small.ns(2.5 + i)}
        for i in range(count)
    ]


def test_lag_counts_records_instead_of_offsets(small: SimpleNamespace) -> None:
    """Ten records at distant offsets; the reader passes four, and is then set back."""
    history = small.history()
    history["sends"] = small.arrow("sends", send_rows(small, 10))
    entry = {"topic": "payments", "partition": 0, "committed": True}
    history["log"] = small.arrow(
        "log",
        [entry | {"offset": i * 1000, "kind": "data", "record": f"r{i}"} for i in range(10)]
        + [entry | {"offset": i * 1000 + 1, "kind": "commit"} for i in range(10)],
    )
    at = {"owner": "q", "role": "resume", "kind": "done", "by": "subject", "topic": "payments"}
    moves = [(3001, 7.0), (1001, 9.0), (9001, 14.0)]
    history["positions"] = small.arrow(
        "positions",
        [
            at | {"partition": 0, "offset": offset, "ordinal": i, "at": small.ns(t)}
            for i, (offset, t) in enumerate(moves)
        ],
    )
    timeline = timeline_of(small, history)
    (lane,) = timeline.lags
    assert (lane.owner, lane.by) == ("q", "positions")
    lags = {t: lag_at(timeline, t) for t in (1.0, 6.9, 7.2, 9.2, 13.0, 14.2)}
    assert lags == {1.0: 0, 6.9: 5, 7.2: 1, 9.2: 5, 13.0: 8, 14.2: 0}


def test_lag_of_readers_without_stored_positions(small: SimpleNamespace) -> None:
    history = small.history()
    history["sends"] = small.arrow("sends", send_rows(small, 10))
    history["positions"] = history["positions"].slice(0, 0)
    read = {
        "reader": "observer",
        "topic": "payments",
        "partition": 0,
        "isolation": "read_committed",
    }
    history["reads"] = small.arrow(
        "reads",
        [read | {"record": f"r{i}", "offset": i, "at": small.ns(8.1 + i)} for i in range(8)],
    )
    timeline = timeline_of(small, history)
    (lane,) = timeline.lags
    assert (lane.owner, lane.by) == ("observer", "reads")
    assert [lag_at(timeline, t) for t in (6.9, 10.2, 15.9)] == [5, 5, 2]


def test_read_committed_lag_excludes_aborted_records(small: SimpleNamespace) -> None:
    history = small.history()
    history["positions"] = history["positions"].slice(0, 0)
    sends = [row | {"txn": f"t{i}"} for i, row in enumerate(send_rows(small, 10))]
    history["sends"] = small.arrow("sends", sends)
    history["txns"] = small.arrow(
        "txns",
        [{"txn": f"t{i}", "outcome": "aborted" if i == 4 else "committed"} for i in range(10)],
    )
    read = {"reader": "observer", "topic": "payments", "partition": 0, "offset": 0}
    read |= {"record": "r0", "at": small.ns(15.0)}
    for isolation, lag in (("read_committed", 8), ("read_uncommitted", 9)):
        history["reads"] = small.arrow("reads", [read | {"isolation": isolation}])
        assert lag_at(timeline_of(small, history), 15.9) == lag


def test_count_is_hidden_if_the_next_mark_would_cover_it(small: SimpleNamespace) -> None:
    history = small.history()
    hazard = {"hazard": "retried-send", "hop": "produce", "detail": "d"}
    times = (5.0, 5.001, 5.4, 5.401, 15.0, 15.001)
    history["hazards"] = small.arrow("hazards", [hazard | {"at": small.ns(t)} for t in times])
    marks = drawing(build(small.record(), history, EMPTY), {}).hazards
    assert [(mark.text, mark.fits) for mark in marks] == [
        ("×2", False),
        ("×2", True),
        ("×2", True),
    ]


def test_no_lag_from_positions_collected_after_the_run(
    small: SimpleNamespace,
) -> None:
    history = small.history()
    row = {"owner": "g", "role": "resume", "kind": "done", "by": "subject", "topic": "payments"}
    row |= {"partition": 0, "offset": 9, "ordinal": 0, "at": small.ns(16.5)}
    history["positions"] = small.arrow("positions", [row])
    timeline = timeline_of(small, history)
    assert (timeline.lags, timeline.commits) == ((), ())
    notice = "Lag is not drawn: the stored positions of readers were collected after the run"
    assert notice in Page(render(build(small.record(), history, EMPTY))).words


def test_explains_missing_lag_without_positions(small: SimpleNamespace) -> None:
    history = small.history()
    history["positions"] = history["positions"].slice(0, 0)
    report = build(small.record(), history, EMPTY)
    assert report.timeline.lags == ()
    notice = "Lag is not drawn: the history has no stored positions of readers."
    assert notice in Page(render(report)).words


def test_simultaneous_positions_are_one_commit(small: SimpleNamespace) -> None:
    history = small.history()
    row = {"owner": "g", "kind": "done", "by": "subject", "topic": "payments", "ordinal": 0}
    history["positions"] = small.arrow(
        "positions",
        [
            row | {"role": role, "partition": partition, "offset": 1, "at": small.ns(at)}
            for role in ("resume", "atomic")
            for partition in (0, 1)
            for at in (3.0, 3.3, 9.0)
        ],
    )
    timeline = timeline_of(small, history)
    (lane,) = timeline.commits
    assert lane.count == 3
    drawn = {i * timeline.bin_seconds: n for i, n in enumerate(lane.per_bin) if n}
    assert sum(drawn.values()) == 3
    assert all(min(abs(at - known) for known in (3.0, 3.3, 9.0)) < 0.3 for at in drawn)


def test_uncommitted_transactions_are_always_drawn(small: SimpleNamespace) -> None:
    history = small.history()
    txn = {"session": "producer-0/1", "transactional_id": "tx"}
    rows = [
        txn
        | {"txn": f"t{i}", "outcome": "aborted" if i == 700 else "committed"}
        | {"began_at": small.ns(1 + i / 100), "ended_at": small.ns(1.008 + i / 100)}
        for i in range(1000)
    ]
    rows.append(
        txn | {"txn": "open", "outcome": "info", "began_at": small.ns(15), "ended_at": None}
    )
    history["txns"] = small.arrow("txns", rows)
    timeline = timeline_of(small, history)
    (lane,) = timeline.transactions
    assert (lane.count, lane.not_committed) == (1001, 2)
    assert len(lane.spans) <= 402
    odd = {(s.outcome, s.start, s.end, s.count) for s in lane.spans if s.outcome != "committed"}
    assert odd == {("aborted", 8.0, 8.008, 1), ("info", 15.0, None, 1)}
    assert sum(s.count for s in lane.spans) == 1001
    boxes = drawing(build(small.record(), history, EMPTY), {}).transactions
    assert [box.kind for box in boxes][-2:] == ["aborted", "info"]


def test_describes_lag_and_transactions_in_words(small: SimpleNamespace) -> None:
    history = small.history()
    history["sends"] = small.arrow("sends", send_rows(small, 10))
    txn = {"transactional_id": "tx", "session": "s", "ended_at": None}
    history["txns"] = small.arrow(
        "txns",
        [
            txn | {"txn": str(i), "outcome": outcome, "began_at": small.ns(3 + i)}
            for i, outcome in enumerate(("committed", "aborted", "info"))
        ],
    )
    page = Page(render(build(small.record(), history, EMPTY))).words
    assert page.count("tx: outcome unknown") == 1
    assert "5.0 s 1 transaction of tx: outcome unknown" in page
    assert "q reaches its maximum lag, 10 records" in page


def test_widened_box_keeps_its_real_width(small: SimpleNamespace) -> None:
    history = small.history()
    fault = history["faults"].to_pylist()[0] | {"healed_at": small.ns(12.001)}
    history["faults"] = small.arrow("faults", [fault])
    (box,) = drawing(build(small.record(), history, EMPTY), {}).faults
    assert box.width == 4
    assert box.real is not None
    assert 0 < box.real < 0.1


def test_curves_have_a_scale(small: SimpleNamespace) -> None:
    report = build(small.record(), small.history(), EMPTY)
    drawn = drawing(report, {})
    (rate,) = {curve.full for curve in drawn.curves}
    fastest = max(report.timeline.producers[0].rate)
    assert rate == f"{round(fastest)}/s"
    gutter = render(report).partition('class="gutter"')[2].partition("</svg>")[0]
    assert f">{rate}</text>" in gutter
    assert ">0</text>" in gutter
    silent = report.timeline.producers[0].model_copy(update={"rate": (0.0,)})
    timeline = report.timeline.model_copy(update={"producers": (silent,)})
    assert drawing(report.model_copy(update={"timeline": timeline}), {}).curves[0].full == ""
