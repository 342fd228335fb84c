"""Strongly connected components of a directed graph.

This is Tarjan's algorithm with an explicit stack, so a path of a million nodes does not exceed the
recursion limit. Each edge is visited once, or twice if it leads to a new node.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence


def grouped(sources: Sequence[int], nodes: int) -> array[int]:
    """Return the index of each node's first edge, for edges sorted by source.

    The edges of node `n` are those from `grouped(…)[n]` up to but excluding `grouped(…)[n + 1]`.
    """
    begins = array("q", bytes(8 * (nodes + 1)))
    for source in sources:
        begins[source + 1] += 1
    for node in range(nodes):
        begins[node + 1] += begins[node]
    return begins


def components(begins: Sequence[int], targets: Sequence[int]) -> tuple[array[int], array[int]]:
    """Walk the whole graph depth first, with `begins` from `grouped` and the edges' target nodes.

    Returns:
        For each node the number of its component, and its rank in the order in which nodes were
        left. Every cycle has an edge to a node that is left later.
    """
    nodes = len(begins) - 1
    label = array("q", [-1]) * nodes
    left = array("q", bytes(8 * nodes))
    met = array("q", bytes(8 * nodes))  # the rank of the node by first visit; 0: unvisited
    low = array("q", bytes(8 * nodes))  # the earliest node on the stack known to be reachable
    upcoming = array("q", begins)  # the next edge of each node to visit
    stack: list[int] = []
    entered = gone = 0
    for root in range(nodes):
        if met[root]:
            continue
        path = [root]
        while path:
            node = path[-1]
            if not met[node]:
                entered += 1
                met[node] = low[node] = entered
                stack.append(node)
            lowest = low[node]
            edge, end = upcoming[node], begins[node + 1]
            while edge < end:
                target = targets[edge]
                if not met[target]:
                    break  # visit it first, then this edge again
                if label[target] < 0 and low[target] < lowest:
                    lowest = low[target]
                edge += 1
            upcoming[node], low[node] = edge, lowest
            if edge < end:
                path.append(targets[edge])
                continue
            path.pop()
            gone += 1
            left[node] = gone
            if lowest == met[node]:
                while label[node] < 0:
                    label[stack.pop()] = node
    return label, left
