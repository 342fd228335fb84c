"""Shortest cycles and dependency edges, compared with a brute-force oracle."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from onceproof.checkers.anomalies import anomalies
from onceproof.checkers.cycles import shortest_cycles
from onceproof.checkers.history import History
from tests.properties.checkers import cycle_oracle
from tests.properties.checkers.cycle_queries import Queries

Edge = tuple[str, str, str]
KINDS = ("wr", "ww", "process")
NEEDS = [frozenset({"wr"}), frozenset({"wr", "ww"}), frozenset({"wr", "ww", "process"})]

edges = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef"), st.sampled_from(KINDS)),
    max_size=18,
)
moments = st.integers(0, 6)
lives = st.lists(st.tuples(moments, moments).map(sorted), max_size=6)


def table(edge_list: list[Edge], barriers: Sequence[tuple[Any, ...]] = ()) -> pa.Table:
    """A table of edges between transactions and of edges to or from barriers.

    A barrier edge is (source, its barrier, target, its barrier).
    """
    edge_rows = [(s, None, t, None, kind) for s, t, kind in edge_list]
    edge_rows += [(*ends, "realtime") for ends in barriers]
    columns = ("source", "source_barrier", "target", "target_barrier", "kind")
    schema = pa.schema([(name, pa.string()) for name in columns])
    return pa.Table.from_pylist([dict(zip(columns, e, strict=True)) for e in edge_rows], schema)


def checked_walks(found: pa.Table) -> list[tuple[str, ...]]:
    """The transactions of each cycle, after checking that its steps are closed and in order."""
    cycles: dict[str, list[dict[str, Any]]] = {}
    for row in found.to_pylist():
        cycles.setdefault(row["cycle"], []).append(row)
    for name, steps in cycles.items():
        assert [s["step"] for s in steps] == list(range(len(steps)))
        passed = [s["source"] for s in steps]
        assert [s["target"] for s in steps] == [*passed[1:], passed[0]]
        assert name == " → ".join([*passed, passed[0]])
    return [tuple(s["source"] for s in steps) for steps in cycles.values()]


def edge_kinds(edge_list: list[Edge]) -> cycle_oracle.Edges:
    pairs: cycle_oracle.Edges = {}
    for source, target, kind in edge_list:
        if source != target:
            pairs.setdefault((source, target), set()).add(kind)
    return pairs


@settings(deadline=None, max_examples=200)
@given(edges, st.sampled_from(NEEDS), st.randoms(use_true_random=False))
def test_finds_shortest_cycle_of_each_component(
    edge_list: list[Edge], needs: frozenset[str], draw: Random
) -> None:
    found = shortest_cycles(table(edge_list), needs)
    oracle = cycle_oracle.shortest(edge_kinds(edge_list), set(KINDS), set(needs))
    assert sorted(checked_walks(found)) == sorted(oracle.values())
    known_edges = {(s, t, kind) for s, t, kind in edge_list}
    for row in found.to_pylist():
        assert (row["source"], row["target"], row["kind"]) in known_edges
    for name in found["cycle"].unique().to_pylist():
        kinds = {row["kind"] for row in found.to_pylist() if row["cycle"] == name}
        assert needs <= kinds
    shuffled = list(edge_list)
    draw.shuffle(shuffled)
    assert shortest_cycles(table(shuffled), needs).sort_by("cycle") == found.sort_by("cycle")


@settings(deadline=None, max_examples=200)
@given(edges, st.sampled_from(NEEDS), st.permutations("abcdef"))
def test_shortest_cycles_do_not_depend_on_place_columns(
    edge_list: list[Edge], needs: frozenset[str], order: list[str]
) -> None:
    ordered = table(edge_list)
    for end, name in enumerate(("source_place", "target_place")):
        ordered = ordered.append_column(
            name, pa.array([order.index(e[end]) for e in edge_list], pa.int64())
        )
    assert shortest_cycles(ordered, needs) == shortest_cycles(table(edge_list), needs)


@settings(deadline=None, max_examples=200)
@given(edges, lives)
def test_barriers_are_equivalent_to_pairwise_realtime_edges(
    edge_list: list[Edge], lifetimes: list[list[int]]
) -> None:
    lifetime = dict(zip("abcdef", lifetimes, strict=False))
    edge_list = [edge for edge in edge_list if edge[2] != "ww"]
    ends = sorted({end for _, end in lifetime.values()})
    barriers: list[tuple[Any, ...]] = [
        (t, None, None, str(end)) for t, (_, end) in lifetime.items()
    ]
    barriers += [(None, str(a), None, str(b)) for a, b in pairwise(ends)]
    for txn, (began, _) in lifetime.items():
        if before := [end for end in ends if end < began]:
            barriers.append((None, str(before[-1]), txn, None))
    pairs = [
        (a, b, "realtime")
        for a, (_, ended) in lifetime.items()
        for b, (began, _) in lifetime.items()
        if ended < began
    ]
    needs = frozenset({"wr", "realtime"})
    oracle = cycle_oracle.shortest(
        edge_kinds([*edge_list, *pairs]), {"wr", "process", "realtime"}, set(needs)
    )
    found = shortest_cycles(table(edge_list, barriers), needs)
    assert sorted(checked_walks(found)) == sorted(oracle.values())
    for row in found.to_pylist():
        assert (row["source"], row["target"], row["kind"]) in {*edge_list, *pairs}


def random_history(draw: Random) -> History:
    """A random history of transactions with forbidden reads and other oddities.

    Many are inconsistent: ends before beginnings, commits never called, attempts of other records,
    unknown transactions. Edges must be correct for those too.
    """
    txn_names = [f"t{n}" for n in range(draw.randint(2, 6))]
    txn_ids = [*txn_names, *txn_names, None, "unknown"]
    has_attempts = draw.random() < 0.7
    sends, log, reads = [], [], []
    for number in range(draw.randint(2, 10)):
        record = draw.choice((f"r{number}", f"r{number}", "again"))
        topic = draw.choice(("input", "input", "output"))
        attempt = (
            draw.choice((str(number), str(number), str(number), "0")) if has_attempts else None
        )
        place = {"topic": topic, "partition": draw.choice((0, 0, 1)), "offset": draw.randrange(99)}
        content = place | {"record": draw.choice([record] * 9 + [None]), "attempt": attempt}
        sends.append(
            {"attempt": str(number), "record": record, "topic": topic, "txn": draw.choice(txn_ids)}
        )
        if draw.random() < 0.8:
            kind = draw.choice(["data"] * 9 + ["commit"])
            log.append(content | {"kind": kind, "committed": draw.random() < 0.9})
        for _ in range(draw.choice((0, 1, 2, 3))):
            isolation = draw.choice(["read_committed"] * 9 + ["read_uncommitted"])
            reads.append(content | {"txn": draw.choice(txn_ids), "isolation": isolation})
    places = {(e["topic"], e["partition"], e["offset"]): e for e in log}
    return History.of(
        txns=[
            {
                "txn": name,
                "outcome": draw.choice(["committed"] * 4 + ["info", "info", "aborted"]),
                "session": draw.choice(("p1", "p2", "p3")),
                "clock": draw.choice(("clock", "clock", "clock", "other")),
                "began_at": draw.randrange(10),
                "commit_called_at": draw.choice((None, *range(10))),
                "ended_at": draw.choice((None, *range(10))),
            }
            for name in txn_names
        ],
        sends=sends,
        log=places.values(),
        reads=reads,
    )


histories = st.randoms(use_true_random=False).map(random_history)


def row_lists(history: History) -> dict[str, list[dict[str, Any]]]:
    return {name: table.to_pylist() for name, table in history.items()}


@settings(deadline=None, max_examples=50)
@given(histories)
def test_edges_match_oracle(history: History) -> None:
    oracle = cycle_oracle.edges(row_lists(history))
    with Queries(history) as queries:
        for kind in ("wr", "ww", "process"):
            found = queries.rows(f"SELECT source, target FROM txn_{kind}")
            expected = {pair for pair, kinds in oracle.items() if kind in kinds}
            assert {(row["source"], row["target"]) for row in found} == expected, kind
            assert len(found) == len(expected)


@settings(deadline=None, max_examples=50)
@given(histories)
def test_findings_match_oracle(history: History) -> None:
    tables = row_lists(history)
    with Queries(history, ["input", "output"]) as queries:
        for name in cycle_oracle.KINDS:
            found = queries.rows(anomalies()[name].sql)
            expected = {
                (trial, *key)
                for trial, topic in enumerate(("input", "output"))
                for key in cycle_oracle.keys(tables, topic).get(name, ())
            }
            assert {(r["trial"], r["topic"], r["cycle"]) for r in found} == expected, name
            assert len({(r["trial"], r["cycle"], r["step"]) for r in found}) == len(found)
            for row in found:
                assert has_evidence(row, tables), row


def has_evidence(row: dict[str, Any], tables: dict[str, list[dict[str, Any]]]) -> bool:
    """Whether the history contains the evidence that a step of a cycle cites."""
    txns = {t["txn"]: t for t in tables["txns"]}
    source, target = txns[row["source"]], txns[row["target"]]
    place = {"topic": row["at_topic"], "partition": row["at_partition"]}
    at = place | {"offset": row["at_offset"], "record": row["record"]}
    after = place | {"offset": row["after_offset"], "record": row["after_record"]}
    match row["kind"]:
        case "wr":
            seen = [r for r in tables["reads"] if r["txn"] == row["target"]]
            return any(at.items() <= r.items() for r in seen)
        case "ww":
            return row["after_offset"] < row["at_offset"] and all(
                any(entry.items() <= e.items() for e in tables["log"]) for entry in (at, after)
            )
        case "process":
            lifetimes = (source["began_at"], target["began_at"])
            sessions = {source["session"], target["session"]}
            return lifetimes == (row["from_at"], row["to_at"]) and sessions == {row["session"]}
        case _:
            lifetimes = (source["ended_at"], target["began_at"])
            clocks = {source["clock"], target["clock"]}
            return lifetimes == (row["from_at"], row["to_at"]) and clocks == {row["clock"]}
