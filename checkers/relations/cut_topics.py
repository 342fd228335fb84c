"""Inputs of which a part was deleted or compacted: there, absence is not proven by looking."""

from __future__ import annotations

from typing import Final

from onceproof.checkers.relations.base import Relation

RELATION: Final = Relation(
    name="cut_topics",
    meaning="inputs with a cut partition",
    sql="""
SELECT DISTINCT c.trial, c.topic
FROM cut_partitions c
""",
)
