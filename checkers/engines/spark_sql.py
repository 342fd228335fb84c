"""Our queries in Spark's SQL, with the same meaning.

Sqlglot knows the two dialects (quotes, types, where NULLs are sorted). What
it cannot know is our use of `hash`: two rows have the same print just if their columns are equal,
NULLs included and integers whatever their width. Spark's `xxhash64` passes over NULLs and takes an
INT for another value than the same BIGINT.
"""

from __future__ import annotations

from functools import cache

import sqlglot
from sqlglot import exp


@cache
def translated(query: str) -> str:
    """A query of DuckDB's dialect in Spark's."""
    tree = sqlglot.parse_one(query, read="duckdb")
    return tree.transform(_hashed).sql(dialect="spark", comments=False)


def _hashed(node: exp.Expression) -> exp.Expression:
    if not isinstance(node, exp.Anonymous) or node.name.lower() != "hash":
        return node
    values = node.expressions
    parts = [exp.cast(value, exp.DataType.Type.TEXT) for value in values]
    if len(values) > 1:
        # Which of them are NULL is hashed last: the values alone do not say whose they are.
        parts += [value.copy().is_(exp.null()) for value in values]
    return exp.Anonymous(this="xxhash64", expressions=parts)
