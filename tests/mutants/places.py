"""Names of places in the syntax tree of a query.

A place is named by the clauses and aliases around it (`e / on c`), not by line or node number, so
that a mutant keeps its name when another part of the query changes.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp


def place(node: exp.Expression) -> str:
    """The clauses and aliases around a node, the outermost first."""
    return " / ".join(reversed(list(_steps(node))))


def _steps(node: exp.Expression) -> Iterator[str]:
    child, parent = node, node.parent
    while parent is not None:
        if word := _step(child, parent):
            yield word
        child, parent = parent, parent.parent


def _step(child: exp.Expression, parent: exp.Expression) -> str | None:
    if isinstance(parent, exp.SetOperation):
        return _branch(child, parent)
    if isinstance(parent, exp.Subquery):
        return parent.alias or None
    if isinstance(parent, exp.Join) and child.arg_key == "on":
        return f"on {parent.this.alias_or_name}"
    if isinstance(parent, exp.Select):
        return _clause(child)
    return None


def _branch(child: exp.Expression, parent: exp.SetOperation) -> str | None:
    """Which of several SELECTs, counted from the left; `a UNION b UNION c` nests to the left."""
    number = 1
    while isinstance(parent.parent, exp.SetOperation) and parent.arg_key == "this":
        parent = parent.parent
    if child.arg_key == "this" and isinstance(child, exp.SetOperation):
        return None
    left = child.parent.this if child.parent and child.arg_key == "expression" else None
    while left is not None:
        number += 1
        left = left.this if isinstance(left, exp.SetOperation) else None
    return f"branch {number}"


def _clause(child: exp.Expression) -> str | None:
    if child.arg_key == "expressions":
        return f"select {child.alias_or_name or '?'}"
    if child.arg_key in ("where", "having", "group"):
        return child.arg_key
    return None


def short(node: exp.Expression, limit: int = 90) -> str:
    """The SQL of a node in one line, shortened in the middle."""
    text = " ".join(node.sql("duckdb").split())
    return text if len(text) <= limit else f"{text[: limit // 2]}…{text[-limit // 2 + 1 :]}"
