"""Brute-force oracle for cycles among transactions, in plain Python.

It shares no code with the queries or with `checkers.cycles`, and spells out every pair. Tables are
lists of dicts by name, as in `History` or `world.Rows`; a missing column is None.

* `edges(tables)`: pairs of transactions, first before second, with the kinds of dependency:
  `{("t1", "t2"): {"wr", "realtime"}}`.
* `cycles(tables)`: for each anomaly in `KINDS`, each strongly connected component that has a cycle,
  with the transactions of its shortest cycle, starting at the smallest name:
  `{"G1c": {frozenset({"t1", "t2", "t3"}): ("t1", "t2")}}`. Among equally short cycles the
  lexicographically smallest is chosen. An anomaly without cycles maps to an empty dict.
* `keys(tables, topic)`: the findings that a trial of this topic must have, as (topic, cycle):
  `{"G1c": {("input", "t1 → t2 → t1")}}`. Anomalies without findings are omitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]
Edges = dict[tuple[str, str], set[str]]

KINDS: dict[str, tuple[set[str], set[str]]] = {
    "G0": ({"ww"}, {"ww"}),
    "G1c": ({"wr"}, {"wr"}),
    "G1c-process": ({"wr", "process"}, {"wr", "process"}),
    "G1c-realtime": ({"wr", "process", "realtime"}, {"wr", "realtime"}),
    "G1c-ww": ({"wr", "ww"}, {"wr", "ww"}),
}
"""Anomaly → kinds of edges that its cycles may have, and kinds that they must have."""


def keys(tables: Tables, topic: str) -> dict[str, set[tuple[str, str]]]:
    """The findings that a trial of this topic must have."""
    topic_txns = {s["txn"] for s in tables.get("sends", ()) if s["topic"] == topic}
    found = {
        name: {(topic, title(cycle)) for cycle in components.values() if topic_txns & set(cycle)}
        for name, components in cycles(tables).items()
    }
    return {name: found_keys for name, found_keys in found.items() if found_keys}


def title(cycle: Sequence[str]) -> str:
    """The name of a cycle, truncated after ten transactions."""
    if len(cycle) > 10:
        return " → ".join([*cycle[:10], f"… ({len(cycle)} transactions)"])
    return " → ".join([*cycle, cycle[0]])


def cycles(tables: Tables) -> dict[str, dict[frozenset[str], tuple[str, ...]]]:
    """Anomaly → component → its shortest cycle."""
    known = edges(tables)
    return {name: shortest(known, may, must) for name, (may, must) in KINDS.items()}


def shortest(known: Edges, may: set[str], must: set[str]) -> dict[frozenset[str], tuple[str, ...]]:
    """Component → its shortest cycle of `may` edges that contains all `must` kinds."""
    kept = {pair: kinds & may for pair, kinds in known.items() if kinds & may}
    found = {}
    for component in _components(kept):
        inside = {pair: kinds for pair, kinds in kept.items() if set(pair) <= component}
        if must <= {kind for kinds in inside.values() for kind in kinds}:
            found[component] = _shortest_walk(inside, must)
    return found


def _components(known: Edges) -> set[frozenset[str]]:
    reach = {a: {b for (x, b) in known if x == a} for a in {a for pair in known for a in pair}}
    changed = True
    while changed:
        changed = False
        for reachable in reach.values():
            next_reachable = set[str]().union(*(reach[b] for b in reachable))
            changed |= not next_reachable <= reachable
            reachable.update(next_reachable)
    return {
        frozenset(b for b in reachable if a in reach[b])
        for a, reachable in reach.items()
        if a in reachable
    }


def _shortest_walk(inside: Edges, must: set[str]) -> tuple[str, ...]:
    """Extend walks from every transaction until one returns with all required kinds.

    Of equally long walks with the same ends and kinds, only the lexicographically smallest is kept:
    the continuations are the same.
    """
    starts = {a for a, _ in inside}
    walks = {(a, a, frozenset[str]()): (a,) for a in starts}
    while True:
        longer: dict[tuple[str, str, frozenset[str]], tuple[str, ...]] = {}
        for (start, at, seen), names in walks.items():
            for (a, b), kinds in inside.items():
                for kind in kinds if a == at else ():
                    state = (start, b, seen | ({kind} & must))
                    if state not in longer or (*names, b) < longer[state]:
                        longer[state] = (*names, b)
        walks = longer
        closed = [walks[a, a, frozenset(must)] for a in starts if (a, a, frozenset(must)) in walks]
        if closed:
            return min(closed)[:-1]


def edges(tables: Tables) -> Edges:
    """Ordered pairs of committed transactions with the kinds of their dependency."""
    txns = {t["txn"]: t for t in tables.get("txns", ())}
    committed = {
        name
        for name, txn in txns.items()
        if txn["outcome"] == "committed"
        or (txn["outcome"] == "info" and _is_proven_committed(tables, name))
    }
    found: Edges = {}

    def add(kind: str, before: str | None, after: str | None) -> None:
        if before in committed and after in committed and before != after:
            assert before is not None
            assert after is not None
            found.setdefault((before, after), set()).add(kind)

    for read in tables.get("reads", ()):
        if read["isolation"] == "read_committed" and read.get("record") is not None:
            add("wr", _writer(tables, read), read.get("txn"))
    for before, after in _neighbours(tables, committed):
        add("ww", before, after)
    for session, clock in {(t["session"], t["clock"]) for t in txns.values()}:
        session_txns = sorted(
            (t["began_at"], t["txn"])
            for t in txns.values()
            if (t["session"], t["clock"]) == (session, clock) and t["txn"] in committed
        )
        for (began, txn), (next_began, after) in pairwise(session_txns):
            if began < next_began:
                add("process", txn, after)
    for first in txns.values():
        for second in txns.values():
            ended = first.get("ended_at")
            if (
                ended is not None
                and first["began_at"] <= ended < second["began_at"]
                and first["clock"] == second["clock"]
            ):
                add("realtime", first["txn"], second["txn"])
    return found


def _neighbours(tables: Tables, committed: set[str]) -> Iterable[tuple[str, str]]:
    """Writers of adjacent entries, among entries with a known, committed writer."""
    log = [
        e
        for e in tables.get("log", ())
        if e["kind"] == "data" and e["committed"] and e.get("record") is not None
    ]
    for topic, partition in {(e["topic"], e["partition"]) for e in log}:
        entries = [e for e in log if (e["topic"], e["partition"]) == (topic, partition)]
        entries.sort(key=lambda e: (int(e["offset"]), e["record"]))
        writers = ((e["offset"], _writer(tables, e)) for e in entries)
        known = ((offset, w) for offset, w in writers if w is not None and w in committed)
        yield from ((w, x) for (before, w), (after, x) in pairwise(known) if before < after)


def _writer(tables: Tables, seen: Row) -> str | None:
    """The transaction that wrote an entry or a record read, if that is certain."""
    sends = [
        s
        for s in tables.get("sends", ())
        if s["record"] == seen["record"] and s["topic"] == seen["topic"]
    ]
    named = [s for s in sends if s["attempt"] == seen.get("attempt")]
    (send,) = named or (sends if len(sends) == 1 else [{}])
    txn: str | None = send.get("txn")
    return txn


def _is_proven_committed(tables: Tables, txn: str) -> bool:
    """Whether a committed entry proves that the transaction committed."""
    sends = tables.get("sends", ())
    for entry in tables.get("log", ()):
        if entry["kind"] != "data" or not entry["committed"]:
            continue
        for send in sends:
            if send.get("txn") != txn or send["topic"] != entry["topic"]:
                continue
            same = [
                s for s in sends if (s["topic"], s["record"]) == (send["topic"], send["record"])
            ]
            named = (entry.get("attempt"), entry.get("record")) == (send["attempt"], send["record"])
            if named or (
                entry.get("attempt") is None
                and entry.get("record") == send["record"]
                and same == [send]
            ):
                return True
    return False
