"""All queries on a history, in the order of their dependencies.

What an anomaly cannot decide is an answer too, named `undecided_<anomaly>`. Relations that no
answer needs are left out: only the mutation self-check uses them, and it checks its own mutations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

import sqlglot
from sqlglot import exp

from onceproof.checkers.anomalies import anomalies
from onceproof.checkers.engines.overlay import answer_name, standard_queries
from onceproof.checkers.model import Evidence, Hop
from onceproof.checkers.relations.base import Relation


@cache
def queries() -> Mapping[str, Relation]:
    """Relations and answers by name, each after what it needs; answers as early as possible."""
    made = dict(standard_queries())
    for anomaly in anomalies().values():
        if anomaly.undecided is not None:
            name = answer_name(anomaly).replace("found_", "undecided_", 1)
            made[name] = Relation(name=name, meaning=anomaly.definition, sql=anomaly.undecided)
    order: dict[str, Relation] = {}
    while len(order) < len(made):
        ready = [n for n in made if n not in order and needs(made[n]) & made.keys() <= order.keys()]
        for name in sorted(ready, key=lambda n: not is_answer(n)):
            order[name] = made[name]
    asked = {name for name in order if is_answer(name)}
    for name in reversed(order):
        if name in asked:
            asked |= needs(order[name])
    return {name: relation for name, relation in order.items() if name in asked}


@cache
def needs(relation: Relation) -> frozenset[str]:
    """The tables, relations and answers that a query reads."""
    return frozenset(t.name for t in sqlglot.parse_one(relation.sql, "duckdb").find_all(exp.Table))


def dependents(changed: Iterable[str]) -> list[str]:
    """The relations to compute again if these change, in order, without these."""
    found = set(changed)
    again = []
    for name, relation in queries().items():
        if name not in found and needs(relation) & found:
            found.add(name)
            again.append(name)
    return again


def is_answer(name: str) -> bool:
    """Whether it is an answer, and not an intermediate relation."""
    return name.startswith(("found_", "undecided_"))


@cache
def only_complete() -> Mapping[str, str]:
    """Answers that count only in complete trials → the table that says which are complete."""
    return {
        answer_name(a): "inputs" if a.hop is Hop.PRODUCE else "outputs"
        for a in anomalies().values()
        if a.evidence is Evidence.ABSENCE
    }
