"""Lay out a small acyclic graph in layers, from left to right; deterministic.

An edge that skips layers gets a spot of its own in each, so that it passes between names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

_SWEEPS = 12
Edge = tuple[str, str]
_Spot = str | tuple[str, str, int]
"""A name, or where an edge passes a layer: (source, target, layer)."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Columns from left to right, each from top to bottom, and the spots of each edge."""

    layers: tuple[tuple[_Spot, ...], ...]
    ways: Mapping[Edge, tuple[_Spot, ...]]


def laid_out(edges: Sequence[Edge]) -> Layout:
    """Lay out all names that an edge touches. The edges must not form a cycle."""
    names = sorted({name for edge in edges for name in edge})
    depth = _depths(names, edges)
    ways: dict[Edge, tuple[_Spot, ...]] = {}
    columns: list[list[_Spot]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in names:
        columns[depth[name]].append(name)
    for source, target in sorted(edges):
        passed = range(depth[source] + 1, depth[target])
        spots: list[_Spot] = [(source, target, layer) for layer in passed]
        for layer, spot in zip(passed, spots, strict=True):
            columns[layer].append(spot)
        ways[source, target] = (source, *spots, target)
    return Layout(layers=_ordered(columns, ways), ways=ways)


def _depths(names: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """Return the layer of each name: the length of the longest path to it."""
    depth = dict.fromkeys(names, 0)
    for _ in names:
        for source, target in edges:
            depth[target] = max(depth[target], depth[source] + 1)
    for name in names:  # move names without predecessors next to their nearest target
        nearest = [depth[target] for source, target in edges if source == name]
        if nearest and not any(target == name for _, target in edges):
            depth[name] = min(nearest) - 1
    return depth


def _ordered(
    columns: list[list[_Spot]], ways: Mapping[Edge, tuple[_Spot, ...]]
) -> tuple[tuple[_Spot, ...], ...]:
    """Reduce crossings: sort each column by the mean position of its neighbours, repeatedly."""
    beside: dict[_Spot, set[_Spot]] = defaultdict(set)
    for way in ways.values():
        for one, other in pairwise(way):
            beside[one].add(other)
            beside[other].add(one)
    best, fewest = [list(column) for column in columns], _crossings(columns, ways)
    for sweep in range(_SWEEPS):
        numbers = range(len(columns)) if sweep % 2 else reversed(range(len(columns)))
        for number in numbers:
            next_to = columns[number - 1] if sweep % 2 and number else None
            if not sweep % 2:
                next_to = columns[number + 1] if number + 1 < len(columns) else None
            if next_to is not None:
                place = {spot: i for i, spot in enumerate(next_to)}
                columns[number].sort(key=lambda spot: _middle(beside[spot], place))
        if (count := _crossings(columns, ways)) < fewest:
            best, fewest = [list(column) for column in columns], count
    return tuple(map(tuple, best))


def _middle(neighbours: set[_Spot], place: Mapping[_Spot, int]) -> float:
    known = [place[spot] for spot in neighbours if spot in place]
    return sum(known) / len(known) if known else float(len(place))


def _crossings(columns: list[list[_Spot]], ways: Mapping[Edge, tuple[_Spot, ...]]) -> int:
    at = {spot: (i, j) for i, column in enumerate(columns) for j, spot in enumerate(column)}
    steps = [sorted((at[one], at[other])) for way in ways.values() for one, other in pairwise(way)]
    return sum(
        a[0] == c[0] and b[0] == d[0] and (a[1] - c[1]) * (b[1] - d[1]) < 0
        for i, (a, b) in enumerate(steps)
        for c, d in steps[:i]
    )
