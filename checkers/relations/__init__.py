"""Relations: what every anomaly would otherwise derive again, each in a file, made once.

Two tables of one row each say what is on trial, and every relation that
depends on them, however far, is made anew for each trial:

* `hop_input(input, complete, collected, collect_started, collect_clock)`: the input topic, and
  whether this history was settled and collected to its end;
* `hop_sink(sink, view, deduplicates)`: the sink, the view of it, and whether the subject claims to
  drop records that were sent twice.

A new relation is a new file here with a constant `RELATION`.
"""

from __future__ import annotations

from functools import cache
from typing import cast

from onceproof.checkers.relations.base import Relation
from onceproof.checkers.scan import members

__all__ = ["Relation", "relations"]


@cache
def relations() -> dict[str, Relation]:
    found = cast("tuple[Relation, ...]", members(__name__, "RELATION"))
    return {relation.name: relation for relation in found}
