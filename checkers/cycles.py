"""Find the shortest cycle of each component in a graph of transaction dependencies.

A cycle here is a closed walk in which each step says that one transaction came before another. If
two kinds of step are required, the shortest walk may pass a transaction twice. That proves as much.

Edges are a table with the columns `source` and `target` (transactions), `kind`, and any further
columns with the reason. An order of many transactions, such as real time, need not be written out
pair by pair: an edge may lead to a *barrier*, and on through further barriers. Then `source` or
`target` is NULL, and `source_barrier` or `target_barrier` (both optional) names the barrier. In the
result, a path through barriers is one step, with the reasons at its beginning and end combined.
Barriers alone never form a cycle, and none leads from a transaction directly back to itself.

Optional `source_place` and `target_place` number the transactions in an order in which few edges
lead back, such as real time. Edges from or to a barrier have no numbers and must not lead back. The
result is the same for any order; the fewer edges lead back, the faster the search.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from onceproof.checkers.components import components, grouped
from onceproof.checkers.cycle_search import Graph, Step
from onceproof.checkers.cycle_words import NAMED, explain

__all__ = ["explain", "shortest_cycles"]

BARRIERS: Final = ("source_barrier", "target_barrier")
NODES: Final = ("source", "target")
PLACES: Final = ("source_place", "target_place")
_NUMBERS: Final = ("source_number", "target_number", "component", "back")
LOOKS_PER_EDGE: Final = 4
SPARE_LOOKS: Final = 2_000_000
"""Edge visits, besides `LOOKS_PER_EDGE` per edge, before the shortest cycle so far is accepted."""


def shortest_cycles(
    edges: pa.Table, needs: frozenset[str], *, spare: int = SPARE_LOOKS
) -> pa.Table:
    """Return the shortest cycle of each strongly connected component that has one.

    The shortest cycle has the fewest steps. Ties go to the one whose names, starting at its
    smallest, sort first, so the result does not depend on the order of the edges.

    Time and memory grow linearly with the edges. The search may visit `LOOKS_PER_EDGE` × edges +
    `spare` edges, small components first. After that, which takes components of thousands of
    transactions, it returns the shortest cycle so far. Wherever there is a cycle with all needed
    kinds, one is found.

    Args:
        edges: see above. An edge from a transaction to itself is ignored.
        needs: kinds of which a cycle must have at least one edge each; other kinds may be part of
            it.

    Returns:
        One row per step: `cycle` (its transactions in order), `step` (from 0, starting at the
        transaction with the smallest name), `source`, `target`, `kind`, and the columns with the
        reason.
    """
    if not needs:
        raise ValueError("shortest_cycles: expected at least one kind of edge in needs")
    if not needs <= set(pc.unique(edges["kind"]).to_pylist()):
        edges = edges.slice(0, 0)
    edges, names = _inside(edges)
    graph = _graph(edges, len(names), sorted(needs))
    found: list[list[Step]] = []
    allowed = LOOKS_PER_EDGE * edges.num_rows + spare
    for component in graph.components():
        walk, looks = graph.shortest(component, allowed)
        allowed -= looks
        found.append(graph.steps(walk))
    return _table(edges, names, graph, found)


def _inside(edges: pa.Table) -> tuple[pa.Table, pa.Array]:
    """Return the edges within components, sorted and numbered, and the transactions' names.

    Node numbers follow the order of the names, transactions first and then barriers.
    """
    for barrier in BARRIERS:
        if barrier not in edges.column_names:
            edges = edges.append_column(barrier, pa.nulls(edges.num_rows, pa.string()))
    names = _names(edges, NODES)
    barriers = _names(edges, BARRIERS)
    for end, barrier in zip(NODES, BARRIERS, strict=True):
        number = pc.coalesce(
            pc.index_in(edges[end], value_set=names),
            pc.add(pc.index_in(edges[barrier], value_set=barriers), len(names)),
        )
        edges = edges.append_column(f"{end}_number", number)
    edges = edges.filter(pc.not_equal(edges["source_number"], edges["target_number"]))
    ends = [(name, "ascending") for name in _NUMBERS[:2]]
    by_source = edges.select(_NUMBERS[:2]).sort_by(ends)
    begins = grouped(_numbers(by_source["source_number"]), len(names) + len(barriers))
    walked = components(begins, _numbers(by_source["target_number"]))
    label, left = (pa.array(column, pa.int64()) for column in walked)
    edges = edges.append_column("component", label.take(edges["source_number"]))
    edges = edges.filter(pc.equal(edges["component"], label.take(edges["target_number"])))
    if set(PLACES) <= set(edges.column_names):
        back = pc.fill_null(pc.greater(*(edges[place] for place in PLACES)), False)
    else:
        back = pc.less(*(left.take(edges[name]) for name in _NUMBERS[:2]))
    edges = edges.append_column("back", back)
    others = [(name, "ascending") for name in edges.column_names if name not in _NUMBERS]
    return edges.sort_by(ends + others), names


def _names(edges: pa.Table, columns: Sequence[str]) -> pa.Array:
    chunks = [chunk for column in columns for chunk in edges[column].chunks]
    names = pc.unique(pa.chunked_array(chunks, edges[columns[0]].type)).drop_null()
    return names.take(pc.sort_indices(names))


def _numbers(column: pa.ChunkedArray) -> array[int]:
    numbers = array("q")
    for chunk in column.cast(pa.int64()).chunks:
        if len(chunk):
            memory = memoryview(chunk.buffers()[1])
            numbers.frombytes(memory[8 * chunk.offset : 8 * (chunk.offset + len(chunk))])
    return numbers


def _graph(edges: pa.Table, transactions: int, needs: Sequence[str]) -> Graph:
    sources = _numbers(edges["source_number"])
    kinds = pc.index_in(edges["kind"], value_set=pa.array(needs, edges["kind"].type))
    bits = [0 if place < 0 else 1 << place for place in _numbers(pc.fill_null(kinds, -1))]
    return Graph(
        transactions=transactions,
        begins=grouped(sources, max(sources, default=-1) + 1),
        sources=sources,
        targets=_numbers(edges["target_number"]),
        bits=array("q", bits),
        component=_numbers(edges["component"]),
        back=edges["back"].to_pylist(),
        full=(1 << len(needs)) - 1,
    )


def _table(edges: pa.Table, names: pa.Array, graph: Graph, cycles: list[list[Step]]) -> pa.Table:
    steps = [step for cycle in cycles for step in cycle]
    first = edges.take(pa.array([step[0] for step in steps], pa.int64()))
    last = edges.take(pa.array([step[1] for step in steps], pa.int64()))
    passed = pa.array([graph.sources[step[0]] for step in steps], pa.int64())
    transactions = iter(names.take(passed).to_pylist())
    titles = [_title([next(transactions) for _ in cycle]) for cycle in cycles]
    columns = {
        "cycle": pa.array([t for t, c in zip(titles, cycles, strict=True) for _ in c], pa.string()),
        "step": pa.array([number for cycle in cycles for number in range(len(cycle))], pa.int64()),
        "source": first["source"],
        "target": last["target"],
        "kind": first["kind"],
    }
    known = {*columns, *BARRIERS, *PLACES, *_NUMBERS}
    why = [name for name in edges.column_names if name not in known]
    return pa.table(columns | {name: pc.coalesce(first[name], last[name]) for name in why})


def _title(transactions: Sequence[str]) -> str:
    """Name a cycle. Its first transaction is in no other cycle, so a long name may be cut."""
    named = [*transactions, transactions[0]]
    if len(transactions) > NAMED:
        named[NAMED:] = [f"… ({len(transactions)} transactions)"]
    return " → ".join(named)
