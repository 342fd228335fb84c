"""Translate queries to Spark SQL with the same meaning.

Sqlglot knows both dialects, but not how we use `hash`: two rows must have the same hash exactly if
their columns are equal, including NULLs, whatever the width of integers. Spark's `xxhash64` skips
NULLs, and hashes an INT and the same BIGINT differently.
"""

from __future__ import annotations

from functools import cache

import sqlglot
from sqlglot import exp


@cache
def translated(query: str) -> str:
    """Translate a query from DuckDB's dialect."""
    tree = sqlglot.parse_one(query, read="duckdb")
    return tree.transform(_hashed).sql(dialect="spark", comments=False)


def _hashed(node: exp.Expression) -> exp.Expression:
    if not isinstance(node, exp.Anonymous) or node.name.lower() != "hash":
        return node
    values = node.expressions
    parts = [exp.cast(value, exp.DataType.Type.TEXT) for value in values]
    if len(values) > 1:
        # Hash last which values are NULL: the other values do not say which columns they are from.
        parts += [value.copy().is_(exp.null()) for value in values]
    return exp.Anonymous(this="xxhash64", expressions=parts)
