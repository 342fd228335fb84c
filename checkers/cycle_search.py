"""Search for the shortest cycle of a component, on numbered nodes.

Every cycle with all needed kinds of edges has an edge of each kind, and one that leads back. So the
search starts where the rarest of these start: in a history with one fault, at one node.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

SHORTEST: Final = 2

Step = tuple[int, int]
"""The indices, in the table of edges, of the first and the last edge of one step."""


@dataclass(frozen=True, kw_only=True)
class Graph:
    """Edges within components, sorted by source, as arrays."""

    transactions: int
    """Nodes below this number are transactions, the others barriers."""
    begins: array[int]
    sources: array[int]
    targets: array[int]
    bits: array[int]
    """The needed kind of an edge as a number with one bit set, or 0."""
    component: array[int]
    back: Sequence[bool]
    """Whether an edge leads back, in an order of nodes in which few do. Every cycle has one."""
    full: int

    def components(self) -> Iterator[list[int]]:
        """Yield the edges of each component that has all needed kinds, small components first."""
        edges: dict[int, list[int]] = {}
        kinds: dict[int, int] = {}
        for edge, component in enumerate(self.component):
            edges.setdefault(component, []).append(edge)
            kinds[component] = kinds.get(component, 0) | self.bits[edge]
        complete = [edges[c] for c, bits in kinds.items() if bits == self.full]
        yield from sorted(complete, key=lambda inside: (len(inside), inside[0]))

    def shortest(self, edges: Sequence[int], allowed: int) -> tuple[list[int], int]:
        """Return the edges of a component's shortest cycle, and the number of edge visits.

        Its length is known once all starts were tried. Only then does the search check whether an
        equally short cycle passes through a transaction with a smaller name.
        """
        starts = self._starts(edges)
        best: list[int] = []
        length, begun, looks = sys.maxsize, -1, 0
        for start in sorted(starts):
            if length <= SHORTEST or (best and looks > allowed):
                break
            walk, spent = self._walk(start, length - 1)
            looks += spent
            if walk:
                best, length, begun = walk, self._length(walk), start
        smallest = min(self.sources[edge] for edge in best)
        for start in sorted({self.sources[edge] for edge in edges}):
            if start > smallest or start == begun or looks > allowed:
                break
            walk, spent = self._walk(start, length)
            looks += spent
            if walk:
                return walk, looks
        return best, looks

    def _starts(self, edges: Sequence[int]) -> set[int]:
        """Return a small set of nodes that every cycle with all needed kinds passes through."""
        candidates: list[set[int]] = [set() for _ in range(self.full.bit_length() + 2)]
        for edge in edges:
            if self.bits[edge] and self.sources[edge] < self.transactions:
                candidates[self.bits[edge].bit_length() - 1].add(self.sources[edge])
            if self.back[edge]:
                candidates[-2].add(self.targets[edge])
                candidates[-1].add(self.sources[edge])
        return min(candidates, key=len)

    def _walk(self, start: int, longest: int) -> tuple[list[int], int]:
        """Return the shortest closed walk from a node with all needed kinds, and the edge visits.

        This is a breadth-first search over (node, kinds seen so far). Passing a barrier costs
        nothing. States reached by the same names form one group, and groups are in the order of
        those names, so the first walk that closes is the one whose names sort first.
        """
        kinds = self.full + 1
        previous = {start * kinds: (-1, -1)}  # state → (previous state, edge from it)
        groups = [[start * kinds]]
        looks = 0
        length = 1 if start < self.transactions else 0  # of a walk that closes with the next edge
        while groups and length <= longest:
            following: list[list[int]] = []
            for group in groups:
                reached: dict[int, list[int]] = {}
                for state in group:  # the loop appends barriers
                    node, seen = divmod(state, kinds)
                    leaving = range(self.begins[node], self.begins[node + 1])
                    looks += len(leaving)
                    for edge in leaving:
                        target, bits = self.targets[edge], seen | self.bits[edge]
                        if target == start and bits == self.full:
                            return _path(previous, state, edge), looks
                        after = target * kinds + bits
                        if after in previous:
                            continue
                        previous[after] = (state, edge)
                        if target < self.transactions:
                            reached.setdefault(target, []).append(after)
                        else:
                            group.append(after)
                following += [reached[target] for target in sorted(reached)]
            groups = following
            length += 1
        return [], looks

    def _length(self, walk: Sequence[int]) -> int:
        return sum(self.targets[edge] < self.transactions for edge in walk)

    def steps(self, walk: Sequence[int]) -> list[Step]:
        """Return a closed walk as steps between transactions, starting at the smallest one."""
        at = next(n for n, edge in enumerate(walk) if self.sources[edge] < self.transactions)
        steps: list[Step] = []
        first = -1
        for edge in (*walk[at:], *walk[:at]):
            first = edge if first < 0 else first
            if self.targets[edge] < self.transactions:
                steps.append((first, edge))
                first = -1
        names = [self.sources[step[0]] for step in steps]
        smallest = min(names)
        begin = min(
            (place for place, name in enumerate(names) if name == smallest),
            key=lambda place: names[place:] + names[:place],
        )
        return steps[begin:] + steps[:begin]


def _path(previous: dict[int, tuple[int, int]], state: int, closing: int) -> list[int]:
    path = [closing]
    while previous[state][0] >= 0:
        state, edge = previous[state]
        path.append(edge)
    return path[::-1]
