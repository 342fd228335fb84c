"""Cycles: search on small graphs, lookups on large ones, explanations, and dependency edges."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, overload

import pyarrow as pa
import pytest

from onceproof.checkers import cycles
from onceproof.checkers.anomalies import anomalies
from onceproof.checkers.components import components, grouped
from onceproof.checkers.cycle_search import Graph
from onceproof.checkers.cycles import explain, shortest_cycles
from onceproof.checkers.history import History
from tests.properties.checkers.cycle_queries import Queries

Rows = list[dict[str, Any]]
WR = frozenset({"wr"})
WR_WW = frozenset({"wr", "ww"})
NAMES = ("G0", "G1c", "G1c-process", "G1c-realtime", "G1c-ww")


def graph(text: str) -> pa.Table:
    """Edges from words like `a-wr-b`; a node in capitals is a barrier."""
    rows = []
    for number, word in enumerate(text.split()):
        source, kind, target = word.split("-")
        ends = {"source": source, "target": target}
        row: dict[str, Any] = {"kind": kind, "from_at": None, "to_at": None}
        for end, name in ends.items():
            row[f"{end}_barrier" if name.isupper() else end] = name
        if not source.isupper():
            row["from_at"] = number
        if not target.isupper():
            row["to_at"] = number
        rows.append(row)
    columns = ["source", "source_barrier", "target", "target_barrier", "kind"]
    fields = [(name, pa.string()) for name in columns]
    numbers = [("from_at", pa.int64()), ("to_at", pa.int64())]
    return pa.Table.from_pylist(rows, pa.schema(fields + numbers))


def found(text: str, needs: frozenset[str] = WR) -> list[str]:
    """Return the steps of each cycle."""
    steps: dict[str, list[str]] = {}
    for row in shortest_cycles(graph(text), needs).to_pylist():
        step = f"{row['source']}-{row['kind']}-{row['target']}"
        steps.setdefault(row["cycle"], []).append(step)
    return [" ".join(some) for some in steps.values()]


@pytest.mark.parametrize(
    ("text", "cycle"),
    [
        ("a-wr-b b-wr-a", "a-wr-b b-wr-a"),
        ("b-wr-a a-wr-b", "a-wr-b b-wr-a"),  # starts at the smallest name
        ("a-wr-b b-wr-c c-wr-d d-wr-a c-wr-a", "a-wr-b b-wr-c c-wr-a"),  # the shortest
        ("a-wr-b b-wr-c c-wr-d d-wr-c", "c-wr-d d-wr-c"),  # without the path that leads to it
        ("a-wr-d d-wr-a a-wr-c c-wr-a a-wr-b b-wr-a", "a-wr-b b-wr-a"),  # the first names win
        ("a-wr-c c-wr-b b-wr-a a-wr-d d-wr-b", "a-wr-c c-wr-b b-wr-a"),
        ("a-wr-a b-wr-c c-wr-b", "b-wr-c c-wr-b"),  # an edge from a node to itself is ignored
    ],
)
def test_finds_the_shortest_cycle(text: str, cycle: str) -> None:
    assert found(text) == [cycle]


@pytest.mark.parametrize("text", ["a-wr-b b-wr-c a-wr-c", "a-wr-a", "a-ww-b b-ww-a", ""])
def test_finds_no_cycle(text: str) -> None:
    nothing = shortest_cycles(graph(text), WR)
    assert nothing.num_rows == 0
    columns = ["cycle", "step", "source", "target", "kind", "from_at", "to_at"]
    assert nothing.column_names == columns
    assert nothing.schema.field("source").type == pa.string()


def test_finds_one_cycle_per_component() -> None:
    assert found("a-wr-b b-wr-a b-wr-c c-wr-d d-wr-c d-wr-e") == [
        "a-wr-b b-wr-a",
        "c-wr-d d-wr-c",
    ]


@pytest.mark.parametrize(
    ("text", "cycle"),
    [
        ("a-wr-b b-ww-a", "a-wr-b b-ww-a"),
        ("a-wr-b b-wr-a a-ww-b", "a-ww-b b-wr-a"),  # two kinds between the same nodes
        ("a-wr-b b-wr-a b-ww-c c-wr-a", "a-wr-b b-ww-c c-wr-a"),  # longer, but has both kinds
        ("a-process-b b-wr-c c-ww-a", "a-process-b b-wr-c c-ww-a"),  # other kinds may be part of it
        # No simple cycle has both kinds; a walk that passes b twice proves the same.
        ("a-wr-b b-wr-a b-ww-c c-ww-b", "a-wr-b b-ww-c c-ww-b b-wr-a"),
    ],
)
def test_cycle_has_an_edge_of_each_required_kind(text: str, cycle: str) -> None:
    assert found(text, WR_WW) == [cycle]


@pytest.mark.parametrize(
    "text",
    [
        "a-wr-b b-wr-a",
        "a-wr-b b-wr-a c-ww-d d-ww-c",  # both kinds, but never in one component
        "a-wr-b b-wr-a b-ww-c",
    ],
)
def test_finds_no_cycle_without_every_required_kind(text: str) -> None:
    assert found(text, WR_WW) == []


def test_rejects_empty_set_of_required_kinds() -> None:
    with pytest.raises(ValueError, match="at least one kind"):
        shortest_cycles(graph("a-wr-b"), frozenset())


def test_barriers_collapse_into_one_step() -> None:
    text = "a-realtime-A A-realtime-B B-realtime-C C-realtime-b b-wr-a a-wr-x x-process-b"
    table = shortest_cycles(graph(text), frozenset({"wr", "realtime"}))
    assert table.to_pylist() == [
        {"cycle": "a → b → a", "step": 0, "source": "a", "target": "b", "kind": "realtime",
         "from_at": 0, "to_at": 3},
        {"cycle": "a → b → a", "step": 1, "source": "b", "target": "a", "kind": "wr",
         "from_at": 4, "to_at": 4},
    ]  # fmt: skip


def test_barrier_and_transaction_of_one_name_are_distinct() -> None:
    edges = graph("a-wr-b b-wr-A").set_column(3, "target_barrier", pa.array([None, "a"]))
    assert shortest_cycles(edges, WR).num_rows == 0


def test_long_cycle_has_a_short_name_and_all_its_steps() -> None:
    names = [f"t{n:02}" for n in range(12)]
    text = " ".join(f"{a}-wr-{b}" for a, b in zip(names, [*names[1:], names[0]], strict=True))
    table = shortest_cycles(graph(text), WR)
    assert table.num_rows == 12
    assert set(table["cycle"].to_pylist()) == {" → ".join(names[:10]) + " → … (12 transactions)"}


# Cost on large graphs, measured in edge lookups instead of time.


class Counted(Sequence[int]):
    """A sequence that counts how often its elements are read."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = array("q", numbers)
        self.looks = 0

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[int]: ...
    def __getitem__(self, place: int | slice) -> int | Sequence[int]:
        self.looks += 1
        return self._numbers[place]

    def __len__(self) -> int:
        return len(self._numbers)


MANY = 200_000


@pytest.mark.parametrize("kind", ["path", "ring", "comb"])
def test_components_look_at_each_edge_at_most_three_times(kind: str) -> None:
    sources = list(range(MANY))
    targets = [n + 1 for n in sources]
    if kind == "ring":
        targets[-1] = 0
    if kind == "comb":  # every node leads to the next, and to the last, which is visited by then
        sources = [n for n in sources for _ in (0, 1)]
        targets = [t for n in range(MANY) for t in (n + 1, MANY)]
    counted = Counted(targets)
    label, left = components(grouped(sources, MANY + 1), counted)
    assert counted.looks <= 3 * len(targets)
    assert len(set(label)) == (2 if kind == "ring" else MANY + 1)
    assert sorted(left) == list(range(1, MANY + 2))


def long_path(backwards: int) -> pa.Table:
    """A path in real time whose first `backwards` transactions read from its last ones."""
    path = [f"t{n:06}" for n in range(MANY)]
    sources, targets = path[:-1], path[1:]
    kinds = ["realtime"] * (MANY - 1)
    for n in range(backwards):
        sources.append(path[-1 - n])
        targets.append(path[n])
        kinds.append("wr")
    return pa.table({"source": sources, "target": targets, "kind": kinds})


def test_cycle_through_every_node_needs_few_lookups(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = record_lookups(monkeypatch)
    table = shortest_cycles(long_path(1), frozenset({"wr", "realtime"}))
    assert table.num_rows == MANY
    assert sum(looks) <= 5 * MANY


def test_search_stops_at_its_lookup_limit_with_the_best_cycle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = record_lookups(monkeypatch)
    table = shortest_cycles(long_path(50), frozenset({"wr", "realtime"}), spare=0)
    assert MANY - 100 <= table.num_rows <= MANY + 100
    once = 4 * (MANY + 50)  # an attempt may look at an edge with none, either or both kinds seen
    assert sum(looks) <= cycles.LOOKS_PER_EDGE * (MANY + 50) + 2 * once


def record_lookups(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that is filled with the edge lookups of each search."""
    looks: list[int] = []
    search = Graph.shortest

    def counting(self: Graph, edges: Sequence[int], allowed: int) -> tuple[list[int], int]:
        walk, spent = search(self, edges, allowed)
        looks.append(spent)
        return walk, spent

    monkeypatch.setattr(Graph, "shortest", counting)
    return looks


# Explanations.


def step(number: int, source: str, target: str, kind: str, **why: Any) -> dict[str, Any]:
    place = {"at_topic": "input", "at_partition": 0, "at_offset": 6, "record": "a"}
    return {"step": number, "source": source, "target": target, "kind": kind, **place, **why}


def test_explains_a_cycle_step_by_step() -> None:
    explanation = explain(
        [
            step(2, "t3", "t4", "process", session="p1"),
            step(0, "t1", "t2", "wr"),
            step(1, "t2", "t3", "ww", after_record="b", after_offset=5),
            step(3, "t4", "t1", "realtime", from_at=7, to_at=9),
        ]
    )
    assert explanation == (
        "t1 before t2, because t2 read a at input-0@6, which t1 wrote; "
        "t2 before t3, because t3 wrote a at input-0@6, after b of t2 at 5; "
        "t3 before t4, because p1 began t4 after t3; "
        "yet t4 before t1, because t4 ended at 7 and t1 began at 9, later by the same clock"
    )


def test_explains_only_the_ends_of_a_long_cycle() -> None:
    ring = [step(n, f"t{n}", f"t{(n + 1) % 60}", "wr") for n in range(60)]
    parts = explain(ring).split("; ")
    assert len(parts) == 11
    assert parts[9] == "and so on"
    assert parts[10] == "yet t59 before t0, because t0 read a at input-0@6, which t59 wrote"
    cut = explain(ring[:50]).split("; ")
    assert len(cut) == 11
    assert cut[-1] == "and so on, back to t0"


def test_explains_an_unknown_kind_by_its_name() -> None:
    explanation = explain([step(0, "t1", "t2", "odd"), step(1, "t2", "t1", "wr")])
    assert explanation.startswith("t1 before t2, because there is an edge of kind odd; yet")


# Edges and anomalies.


def history(
    txns: dict[str, dict[str, Any]], sends: dict[str, str | None], log: str = "", reads: str = ""
) -> History:
    """Sends map a record to its transaction; the log is like `a b`, reads are like `t2:a`."""
    return History.of(
        txns=[{"txn": name, "session": f"p{name}"} | txn for name, txn in txns.items()],
        sends=[{"record": r, "attempt": f"{r}/1", "txn": t} for r, t in sends.items()],
        log=[{"record": record, "attempt": f"{record}/1"} for record in log.split()],
        reads=[
            {"txn": txn, "record": record, "attempt": f"{record}/1"}
            for txn, record in (word.split(":") for word in reads.split())
        ],
    )


def anomalies_in(history: History, topic: str = "input") -> dict[str, set[str]]:
    with Queries(history, [topic]) as queries:
        rows = {name: queries.rows(anomalies()[name].sql) for name in NAMES}
    return {name: {row["cycle"] for row in some} for name, some in rows.items() if some}


def edges(history: History, kind: str) -> list[str]:
    with Queries(history) as queries:
        rows = queries.rows(f"SELECT source, target FROM txn_{kind}")
    return sorted(f"{row['source']}{row['target']}" for row in rows)


TWO: dict[str, dict[str, Any]] = {"t": {}, "u": {}}


@pytest.mark.parametrize("name", NAMES)
def test_minimal_history_has_one_explained_cycle(name: str) -> None:
    anomaly = anomalies()[name]
    small = History.of(**anomaly.minimal)
    assert anomalies_in(small) == {name: {"t1 → t2 → t1"}}
    with Queries(small) as queries:
        rows = queries.rows(anomaly.sql)
    assert anomaly.describe is not None
    assert anomaly.describe(rows).startswith("t1 before t2, because ")
    assert "; yet t2 before t1, because " in anomaly.describe(rows)
    assert anomaly.sentence.format_map({**rows[0], "rows": len(rows)}) == (
        "t1 → t2 → t1: a cycle of 2 steps, from t1 to t2 and back to t1"
    )


def test_cycle_belongs_to_every_topic_its_transactions_wrote() -> None:
    rows = dict(anomalies()["G1c"].minimal)
    rows["sends"] = (
        *rows["sends"],
        {"record": "x", "attempt": "x/1", "topic": "aside", "txn": "t2", "session": "p2"},
        {"record": "y", "attempt": "y/1", "topic": "elsewhere", "txn": "t3", "session": "p3"},
    )
    rows["txns"] = (*rows["txns"], {"txn": "t3", "session": "p3"})
    assert set(anomalies_in(History.of(**rows), "aside")) == {"G1c"}
    assert anomalies_in(History.of(**rows), "elsewhere") == {}


def test_reader_depends_on_another_transaction_that_wrote() -> None:
    assert edges(history(TWO, {"a": "t"}, reads="u:a"), "wr") == ["tu"]
    assert edges(history(TWO, {"a": "t"}, reads="t:a"), "wr") == []
    assert edges(history(TWO, {"a": None}, reads="u:a"), "wr") == []


@pytest.mark.parametrize(
    ("read", "depends"),
    [
        ({}, True),
        ({"isolation": "read_uncommitted"}, False),
        ({"attempt": None}, True),  # the only send of that record
        ({"attempt": "b/1"}, True),  # of another record, and therefore ignored
        ({"topic": "aside"}, False),
        ({"record": "b"}, False),
        ({"record": None}, False),
        ({"txn": None}, False),
    ],
)
def test_read_dependency_requires_a_committed_read_of_the_record(
    read: dict[str, Any], depends: bool
) -> None:
    some = History.of(
        txns=[{"txn": "t"}, {"txn": "u"}],
        sends=[{"record": "a", "attempt": "a/1", "txn": "t"}, {"record": "b", "attempt": "b/1"}],
        reads=[{"record": "a", "attempt": "a/1", "txn": "u"} | read],
    )
    assert edges(some, "wr") == (["tu"] if depends else [])


def test_record_sent_twice_without_attempts_has_no_writer() -> None:
    some = History.of(
        txns=[{"txn": "t"}, {"txn": "u"}],
        sends=[{"record": "a", "txn": "t"}, {"record": "a"}],
        log=[{"record": "a"}],
        reads=[{"record": "a", "txn": "u"}],
    )
    assert edges(some, "wr") == []


@pytest.mark.parametrize(
    ("outcome", "log", "depends"),
    [("committed", "", True), ("aborted", "a", False), ("info", "", False), ("info", "a", True)],
)
def test_only_provably_committed_transactions_have_edges(
    outcome: str, log: str, depends: bool
) -> None:
    some = history({"t": {"outcome": outcome}, "u": {}}, {"a": "t"}, log, "u:a")
    assert edges(some, "wr") == (["tu"] if depends else [])


@pytest.mark.parametrize(
    ("sends", "entry", "proven"),
    [
        ({}, {}, True),
        ({}, {"committed": False}, False),
        ({}, {"kind": "commit"}, False),
        ({}, {"topic": "aside"}, False),
        ({}, {"record": "b"}, False),
        ({}, {"attempt": "a/1"}, True),
        ({}, {"attempt": "a/1", "topic": "aside"}, False),
        ({"a/2": {"record": "a"}}, {}, False),  # may belong to the other attempt
        ({"a/2": {"record": "a"}}, {"attempt": "a/1"}, True),
        ({"a/2": {"record": "a", "topic": "aside"}}, {}, True),
        ({"b/1": {"record": "b"}}, {}, True),
    ],
)
def test_only_an_unambiguous_committed_entry_proves_a_commit(
    sends: dict[str, dict[str, Any]], entry: dict[str, Any], proven: bool
) -> None:
    some = History.of(
        txns=[{"txn": "t", "outcome": "info"}],
        sends=[
            {"attempt": name} | send
            for name, send in {"a/1": {"record": "a", "txn": "t"}, **sends}.items()
        ],
        log=[{"record": "a"} | entry],
    )
    with Queries(some) as queries:
        assert len(queries.rows("SELECT * FROM txn_committed")) == proven


def test_entries_of_an_aborted_transaction_prove_no_commit() -> None:
    some = History.of(
        txns=[{"txn": "t", "outcome": "aborted"}, {"txn": "u", "outcome": "info"}],
        sends=[
            {"record": "a", "attempt": "a/1", "txn": "t", "topic": "aside"},
            {"record": "a", "attempt": "a/2", "txn": "u"},
        ],
        log=[
            {"record": "a", "topic": "aside"},
            {"record": "a", "topic": "aside", "attempt": "a/1"},
        ],
    )
    with Queries(some) as queries:
        assert queries.rows("SELECT * FROM txn_committed") == []


def test_transaction_proven_twice_is_listed_once() -> None:
    with Queries(history({"t": {"outcome": "info"}}, {"a": "t", "b": "t"}, "a b")) as queries:
        assert [row["txn"] for row in queries.rows("SELECT * FROM txn_committed")] == ["t"]


def test_write_order_follows_a_partition() -> None:
    three = {**TWO, "v": {}}
    assert edges(history(three, {"a": "t", "b": "u", "c": "v"}, "a b c"), "ww") == ["tu", "uv"]
    assert edges(history(TWO, {"a": "t", "b": "t", "c": "u"}, "a b c"), "ww") == ["tu"]
    # Entries that no committed transaction wrote are skipped.
    assert edges(history(TWO, {"a": "t", "x": None, "b": "u"}, "a x b"), "ww") == ["tu"]


@pytest.mark.parametrize(
    "entry", [{"partition": 1}, {"topic": "aside"}, {"committed": False}, {"kind": "commit"}]
)
def test_no_write_order_across_partitions_topics_or_uncommitted_entries(
    entry: dict[str, Any],
) -> None:
    some = History.of(
        txns=[{"txn": "t"}, {"txn": "u"}],
        sends=[
            {"record": "a", "attempt": "a/1", "txn": "t"},
            {"record": "b", "attempt": "b/1", "txn": "u"},
        ],
        log=[{"record": "a", "attempt": "a/1"}, {"record": "b", "attempt": "b/1"} | entry],
    )
    assert edges(some, "ww") == []


def test_process_order_follows_a_session() -> None:
    session = {"session": "p"}
    same = {"t": {**session, "began_at": 2}, "u": {**session, "began_at": 1}, "v": {}}
    assert edges(history(same, {}), "process") == ["ut"]
    at_once = {"t": {**session, "began_at": 1}, "u": {**session, "began_at": 1}}
    assert edges(history(at_once, {}), "process") == []
    clocks = {"t": {**session, "clock": "one"}, "u": {**session, "clock": "two"}}
    assert edges(history(clocks, {}), "process") == []
    between = {
        "t": {**session, "began_at": 1},
        "u": {**session, "began_at": 2, "outcome": "aborted"},
        "v": {**session, "began_at": 3},
    }
    assert edges(history(between, {}), "process") == ["tv"]


@pytest.mark.parametrize(
    ("before", "after", "is_later"),
    [
        ({"began_at": 1, "ended_at": 2}, {"began_at": 3}, True),
        ({"began_at": 1, "ended_at": 3}, {"began_at": 3}, False),
        ({"began_at": 1, "ended_at": 2}, {"began_at": 3, "clock": "other"}, False),
        ({"began_at": 1}, {"began_at": 3}, False),  # its end is unknown
        ({"began_at": 5, "ended_at": 2}, {"began_at": 3}, False),  # it ended before it began
        ({"began_at": 1, "ended_at": 2}, {"began_at": 3, "ended_at": 2}, True),
        # A commit call outside its transaction is ignored.
        ({"began_at": 1, "ended_at": 2, "commit_called_at": 9}, {"began_at": 3}, True),
        ({"began_at": 1, "ended_at": 2}, {"began_at": 3, "commit_called_at": 0}, True),
        ({"began_at": 1, "ended_at": 2}, {"began_at": 3, "commit_called_at": 4}, True),
    ],
)
def test_realtime_order_requires_end_before_begin(
    before: dict[str, Any], after: dict[str, Any], is_later: bool
) -> None:
    some = history({"t": before, "u": after}, {"a": "u"}, reads="t:a")
    assert anomalies_in(some) == ({"G1c-realtime": {"t → u → t"}} if is_later else {})


def test_realtime_edges_grow_linearly() -> None:
    """With an edge per pair of these consecutive transactions there would be 1 999 000."""
    txns = {f"t{n:04}": {"began_at": 2 * n, "ended_at": 2 * n + 1} for n in range(2000)}
    some = history(txns, {"a": "t1999"}, reads="t0000:a")
    with Queries(some) as queries:
        ((number,),) = (row.values() for row in queries.rows("SELECT count(*) FROM txn_realtime"))
        (first, last) = queries.rows(anomalies()["G1c-realtime"].sql)
    assert number == 2000 + 1999 + 1999
    assert (first["from_at"], first["to_at"], last["kind"]) == (1, 3998, "wr")


def test_ordered_transactions_are_not_tangled() -> None:
    txns = {f"t{n}": {"began_at": 2 * n, "ended_at": 2 * n + 1} for n in range(5)}
    sends: dict[str, str | None] = {f"r{n}": f"t{n}" for n in range(5)}
    some = history(txns, sends, "r0 r1 r2 r3 r4", "t1:r0 t2:r1 t3:r0 t4:r3")
    with Queries(some) as queries:
        assert queries.rows("SELECT * FROM txn_tangled") == []
        assert queries.rows("SELECT * FROM txn_tangled_writes") == []
        assert len(queries.rows("SELECT * FROM txn_wr")) == 4
