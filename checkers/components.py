"""Strongly connected components of a directed graph: which nodes lie on cycles together.

This is Tarjan's algorithm with its stack in a list and not in Python's
calls, so that a path of a million nodes is as good as one of ten. Each edge is looked at once (and
once more on the way back from a node that was met through it).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence


def grouped(sources: Sequence[int], nodes: int) -> array[int]:
    """Where each node's edges begin, if edges are sorted by source; one entry more than nodes.

    The edges of node `n` are those from `grouped(…)[n]` up to and without `grouped(…)[n + 1]`.
    """
    begins = array("q", bytes(8 * (nodes + 1)))
    for source in sources:
        begins[source + 1] += 1
    for node in range(nodes):
        begins[node + 1] += begins[node]
    return begins


def components(begins: Sequence[int], targets: Sequence[int]) -> tuple[array[int], array[int]]:
    """What a walk through the whole graph, depth first, tells of each node.

    Args:
        begins: where each node's edges begin in `targets`, as `grouped` says.
        targets: the node that each edge leads to.

    Returns:
        For each node a number that it shares with the other nodes of its component; and the order
        in which nodes were left for good. Every cycle has an edge to a node that is left later.
    """
    nodes = len(begins) - 1
    label = array("q", [-1]) * nodes
    left = array("q", bytes(8 * nodes))
    met = array("q", bytes(8 * nodes))  # the how-manieth node that was met; 0: not yet
    low = array("q", bytes(8 * nodes))  # the earliest node on the stack known to be within reach
    upcoming = array("q", begins)  # the next edge of each node to be looked at
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
                    break  # down to it first; this edge is looked at again on the way back
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
