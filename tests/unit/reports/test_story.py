"""The story of a record has everything that the history knows about its path, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.checkers.model import Judgement
from onceproof.reports.assembly.entries import place_of
from onceproof.reports.build import build
from onceproof.reports.html import render
from onceproof.reports.html.brief import brief
from onceproof.reports.html.folding import folded, stories
from onceproof.reports.html.nearby_faults import around
from onceproof.reports.html.record_trace import trace, transactions
from onceproof.reports.model import Finding, Report
from onceproof.reports.model_story import Path
from tests.unit.reports.test_html import Page


def report_of(small: SimpleNamespace, history: dict[str, Any], records: list[str]) -> Report:
    found = small.duplicates(history, records)
    judgement = small.judgement(history)
    return build(
        small.record(),
        history,
        Judgement(claims=judgement.claims, findings=(found,), mutation_check=()),
    )


def first(report: Report) -> Finding:
    return report.findings[0].shown[0]


def path_of(small: SimpleNamespace, history: dict[str, Any]) -> Path:
    path = first(report_of(small, history, ["p0-1"])).path
    assert path is not None
    return path


def with_values(small: SimpleNamespace, table: Any, name: str, **values: Any) -> Any:
    return small.arrow(name, [row | values for row in table.to_pylist()])


def steps(path: Path, kind: str) -> list[str]:
    return [step.words.striptags() for step in trace(path) if step.kind == kind]


def test_attempt_names_its_transaction(small: SimpleNamespace) -> None:
    history = small.history()
    history["sends"] = with_values(small, history["sends"], "sends", txn="t1", partition=1)
    history["txns"] = small.arrow(
        "txns",
        [
            {"txn": "t0", "transactional_id": "other", "outcome": "committed", "began_at": 1},
            {"txn": "t1", "transactional_id": "tx-7", "outcome": "info", "session": "s"}
            | {"began_at": small.ns(9), "commit_called_at": small.ns(10.5), "error": "fenced"},
        ],
    )
    (sent,) = steps(path_of(small, history), "sent")
    assert sent == (
        "attempt p0-1/1 by producer-0/1, acknowledged at 10.1 s as payments-1@456; transaction t1 "
        "of transactional id tx-7: outcome unknown (begun 9.0 s, commit called 10.5 s); "
        "client error: fenced."
    )


def entry(offset: int, kind: str = "data", **fields: Any) -> dict[str, Any]:
    place = {"topic": "payments", "partition": 1, "offset": offset, "kind": kind}
    return place | {"committed": True, "producer_id": 7, "epoch": 2} | fields


def test_entry_names_its_producer_and_transaction_marker(
    small: SimpleNamespace,
) -> None:
    history = small.history()
    history["log"] = small.arrow(
        "log",
        [
            entry(450, "abort", epoch=1),
            entry(452, record="p0-1", sequence=1, producer_id=8),
            entry(456, record="p0-1", sequence=30),
            entry(457, "commit", producer_id=8),
            entry(458, "commit", partition=0),
            entry(459, "abort", epoch=3),
            entry(470, "commit"),
        ],
    )
    assert steps(path_of(small, history), "in the log") == [
        "payments-1@452, committed, by producer id 8, epoch 2, sequence 1, transaction ended "
        "by the commit marker at offset 457, epoch 2.",
        "payments-1@456, committed, by producer id 7, epoch 2, sequence 30, transaction ended "
        "by the abort marker at offset 459, epoch 3.",
    ]


def test_entry_without_idempotence_names_no_producer(small: SimpleNamespace) -> None:
    history = small.history()
    history["log"] = small.arrow("log", [entry(456, record="p0-1", producer_id=-1, epoch=-1)])
    assert steps(path_of(small, history), "in the log") == ["payments-1@456, committed."]


def test_effect_in_a_topic_names_the_producer_of_its_entry(small: SimpleNamespace) -> None:
    history = small.history()
    places = {"812": "ledger-a-3@5", "2033": "ledger-a-3@9"}
    rows = history["effects"].to_pylist()
    history["effects"] = small.arrow(
        "effects", [r | {"position": places.get(r["position"], r["position"])} for r in rows]
    )
    out = {"topic": "ledger-a", "partition": 3}
    history["log"] = small.arrow(
        "log",
        [
            entry(5, **out, sequence=1),
            entry(9, **out, sequence=0, epoch=3),
            entry(9, topic="other", partition=3),
            entry(9, topic="ledger-a", partition=4),
        ],
    )
    one, two = steps(path_of(small, history), "written")
    assert one.endswith("by micro-batch 7, by producer id 7, epoch 2, sequence 1.")
    assert two.endswith("by micro-batch 7, by producer id 7, epoch 3, sequence 0.")


@pytest.mark.parametrize(
    ("position", "place"),
    [
        ("payments-with-fees-1@702", ("payments-with-fees", 1, 702)),
        ("a@b-1-2@3", ("a@b-1", 2, 3)),
        ("ledger row 3151", None),
        ("part-00001@x", None),
        ("t-1@" + "9" * 30, None),
        ("-1@2", None),
    ],
)
def test_parses_positions_in_a_topic(position: str, place: object) -> None:
    assert place_of(position) == place


def test_position_set_back_passes_the_record_again(small: SimpleNamespace) -> None:
    history = small.history()
    at = {"owner": "billing", "kind": "done", "topic": "payments", "partition": 1}
    moves = [(400, 10.0), (457, 12.0), (300, 14.0), (456, 15.0), (500, 16.0)]
    rows = [
        at | {"role": role, "by": "subject", "offset": o, "ordinal": i, "at": small.ns(t)}
        for role in ("resume", "atomic")
        for i, (o, t) in enumerate(moves)
    ]
    other = [at | {"partition": 0, "offset": 900, "role": "resume", "ordinal": 0}]
    planned = [at | {"kind": "planned", "offset": 900, "role": "resume", "ordinal": 0}]
    history["positions"] = small.arrow("positions", rows + other + planned)
    path = path_of(small, history)
    assert [(p.start, p.end, p.at) for p in path.passings] == [(400, 457, 12.0), (456, 500, None)]
    assert steps(path, "passed")[0] == (
        "the position of billing in payments-1 moved from 400 to 457."
    )


def test_position_observed_while_collecting_has_no_time(small: SimpleNamespace) -> None:
    """The run collects from 16 s on; positions read then may have been stored earlier."""
    history = small.history()
    row = {"owner": "g", "kind": "done", "role": "resume", "by": "subject", "topic": "payments"}
    row |= {"partition": 1, "offset": 500, "ordinal": 0}
    for at, known in ((15.9, 15.9), (16.0, None)):
        history["positions"] = small.arrow("positions", [row | {"at": small.ns(at)}])
        (passing,) = path_of(small, history).passings
        assert passing.at == known


def test_lists_only_executions_that_include_the_record(
    small: SimpleNamespace,
) -> None:
    history = small.history()
    row = {"owner": "q", "batch": 7, "topic": "payments", "partition": 1, "source": "progress"}
    ranges = [("a", 400, 457, False), ("b", 400, 457, True), ("c", 457, 500, True)]
    history["ranges"] = small.arrow(
        "ranges",
        [
            row | {"execution": e, "start_offset": s, "end_offset": t, "committed": c}
            for e, s, t, c in ranges
        ],
    )
    path = path_of(small, history)
    assert [(e.execution, e.committed) for e in path.executions] == [("a", False), ("b", True)]
    assert "offsets 400 to 456; not committed." in steps(path, "processed")[0]


def test_lists_readers_of_the_record(small: SimpleNamespace) -> None:
    history = small.history()
    read = {"reader": "observer", "isolation": "read_committed", "topic": "payments"}
    read |= {"partition": 1, "offset": 456, "record": "p0-1", "at": small.ns(10.4)}
    history["reads"] = small.arrow("reads", [read, read | {"record": "p0-2"}])
    assert steps(path_of(small, history), "read") == [
        "by observer (read_committed) at payments-1@456."
    ]


def test_truncates_and_counts_long_lists(small: SimpleNamespace) -> None:
    history = small.history()
    effect = history["effects"].to_pylist()[0]
    history["effects"] = small.arrow(
        "effects", [effect | {"position": str(i), "ordinal": i} for i in range(40)]
    )
    path = path_of(small, history)
    assert len(path.effects) == 12
    assert steps(path, "written")[-1] == "28 more effects."


def test_time_of_a_finding_names_its_event(small: SimpleNamespace) -> None:
    history = small.history()
    finding = first(report_of(small, history, ["p0-1"]))
    assert (finding.at, finding.at_is) == (15.0, "its micro-batch was done")
    history["positions"] = history["positions"].slice(0, 0)
    finding = first(report_of(small, history, ["p0-1"]))
    assert (finding.at, finding.at_is) == (14.5, "a hazard with the same cause occurred")
    history["hazards"] = history["hazards"].slice(0, 0)
    finding = first(report_of(small, history, ["p0-1"]))
    assert (finding.at, finding.at_is) == (10.0, "its record was last sent")
    assert (
        "Its time is 10.0 s, when its record was last sent."
        in Page(render(report_of(small, history, ["p0-1"]))).words
    )


def test_ignores_the_same_batch_number_of_another_query(small: SimpleNamespace) -> None:
    """Another query finished a batch of the same number later."""
    history = small.history()
    there = history["positions"].to_pylist()
    (mine,) = {row["owner"] for row in there if row["batch"] == 7}
    later = [row | {"owner": "another", "at": row["at"] + 45 * 10**9} for row in there]
    history["positions"] = small.arrow("positions", [*later, *there])
    assert mine != "another"
    finding = first(report_of(small, history, ["p0-1"]))
    assert (finding.at, finding.at_is) == (15.0, "its micro-batch was done")
    planned = [row | {"kind": "planned"} for row in there]
    history["positions"] = small.arrow("positions", planned)
    finding = first(report_of(small, history, ["p0-1"]))
    assert (finding.at, finding.at_is) == (11.0, "its micro-batch was planned")


def test_lists_transactions_of_the_witness(small: SimpleNamespace) -> None:
    """A finding about transactions, such as a cycle, has no single record."""
    history = small.history()
    history["txns"] = small.arrow(
        "txns",
        [
            {"txn": f"t{i}", "transactional_id": "tx-7", "outcome": "committed"}
            | {"began_at": small.ns(9 + i), "ended_at": small.ns(9.5 + i)}
            for i in range(4)
        ],
    )
    group = small.duplicates(history, ["p0-1"])
    cycle = replace(
        group.shown[0],
        key={"cycle": "t1 → t2 → t1"},
        witness=({"source": "t1", "target": "t2"}, {"source": "t2", "target": "t1"}),
        causes=(),
    )
    judgement = Judgement(claims=(), findings=(replace(group, shown=(cycle,)),), mutation_check=())
    report = build(small.record(), history, judgement)
    finding = first(report)
    assert [txn.txn for txn in finding.transactions] == ["t1", "t2"]
    assert (finding.at, finding.at_is) == (11.5, "its last transaction ended")
    sentence = "transaction t2 of transactional id tx-7: committed (begun 11.0 s, ended 11.5 s)."
    assert transactions(finding)[1].striptags() == sentence
    assert "transaction t2 of transactional id" in Page(render(report)).words


@pytest.mark.parametrize(
    ("at", "sentence"),
    [
        (11.0, "F1, kill driver-1, was injected 1.0 s later."),
        (13.0, "F1, kill driver-1, was active, injected 1.0 s earlier, healed 1.0 s later."),
        (16.5, "F1, kill driver-1, was healed 2.5 s earlier."),
        (
            40.0,
            "No fault was active within 10.0 s of it; the nearest is F1, kill driver-1, was healed "
            "26.0 s earlier.",
        ),
    ],
)
def test_describes_nearby_faults_with_their_distance(
    small_report: Report, at: float, sentence: str
) -> None:
    finding = first(small_report).model_copy(update={"at": at})
    assert [one.striptags() for one in around(small_report, finding)] == [sentence]


def test_finding_without_a_time_has_no_nearby_faults(small_report: Report) -> None:
    assert around(small_report, first(small_report).model_copy(update={"at": None})) == ()


def test_does_not_fold_findings_near_different_faults(small: SimpleNamespace) -> None:
    history = small.history()
    report = report_of(small, history, ["p0-1", "p0-2", "p0-3"])
    (group,) = report.findings
    times = (13.0, 13.5, 17.0)
    shown = tuple(
        f.model_copy(update={"at": at, "causes": ()})
        for f, at in zip(group.shown, times, strict=True)
    )
    group = group.model_copy(update={"shown": shown})
    report = report.model_copy(update={"findings": (group,)})
    groups = folded(report)
    assert [(k.number, len(k.others)) for k in groups[0].kinds] == [(1, 1), (2, 0)]
    assert stories(groups) == {"duplicate-output": [(13.0, 1), (13.5, 1), (17.0, 2)]}


def test_limits_stories_and_shows_other_findings_as_rows(small: SimpleNamespace) -> None:
    history = small.history()
    report = report_of(small, history, ["p0-1"])
    (group,) = report.findings
    (one,) = group.shown
    shown = tuple(
        one.model_copy(update={"causes": (one.causes[0].model_copy(update={"hazard": f"h{i}"}),)})
        for i in range(100)
    )
    many = group.model_copy(update={"shown": shown, "count": 130})
    other = many.model_copy(update={"anomaly": "lost-output"})
    report = report.model_copy(update={"findings": (many, other)})
    first_group, second = folded(report)
    assert (len(first_group.kinds), len(first_group.rest), first_group.not_shown) == (60, 40, 30)
    assert (len(second.kinds), len(second.rest)) == (1, 99)
    page = Page(render(report))
    assert "40 further findings of other kinds" in page.words
    assert sum(tag == "article" for tag, _ in page.tags) == 61


def test_brief_row_of_a_finding(small_report: Report) -> None:
    row = brief(first(small_report))
    assert row.sentence == "Record p0-1 appears twice in ledger."
    assert (row.at, row.sent) == ("15.0 s", ("p0-1/1 ok 10.0 s",))
    assert (row.logged, row.written) == (("payments-1@456",), ("812 batch 7", "2033 batch 7"))


def test_timeline_mark_links_to_its_story(small_report: Report) -> None:
    page = Page(render(small_report))
    links = [a for tag, a in page.tags if tag == "a" and "data-x" in a]
    assert [(a["href"], a["aria-label"]) for a in links] == [
        ("#finding-1", "duplicate-output at 15.0 s, go to the finding")
    ]
    targets = [a for tag, a in page.tags if a.get("id") == "finding-1"]
    assert [a["tabindex"] for a in targets] == ["-1"]
