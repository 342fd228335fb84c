"""Relations: derived tables that several anomalies need, one per file, each computed once.

The tables of `checkers.trials` say what is on trial; relations that use them have a column `trial`.
To add a relation, add a file here with a constant `RELATION`.
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
