"""Mutation operators for SQL queries.

An operator takes one node of the syntax tree and yields replacements. It does not know what the
query means; the histories of the corpus show whether a mutant means something else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import sqlglot
from sqlglot import exp

from tests.mutants.places import place, short

Alteration = tuple[str, exp.Expression, exp.Expression | None]
"""A short description, the node to replace, and its replacement (None: nothing)."""
Operator = Callable[[exp.Expression], Iterator[Alteration]]


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One query with one alteration."""

    id: str
    query: str
    """Name of the relation or answer."""
    sql: str

    def __str__(self) -> str:
        return self.id


OPERATORS: Final[list[Operator]] = []


def operator(function: Operator) -> Operator:
    """Register an operator."""
    OPERATORS.append(function)
    return function


def mutants(query: str, sql: str) -> Iterator[Mutant]:
    """All mutants of a query, without duplicates."""
    tree = sqlglot.parse_one(sql, read="duckdb")
    seen = {tree.sql("duckdb")}
    named: Counter[str] = Counter()
    for node in list(tree.walk()):
        for alter in OPERATORS:
            for words, old, new in list(alter(node)):
                where = place(old)
                text = _altered(tree, old, new)
                if text in seen:
                    continue
                seen.add(text)
                name = f"{query}: {where}: {words}" if where else f"{query}: {words}"
                named[name] += 1
                again = f" #{named[name]}" if named[name] > 1 else ""
                yield Mutant(id=name + again, query=query, sql=text)


def _altered(tree: exp.Expression, old: exp.Expression, new: exp.Expression | None) -> str:
    """The SQL of the tree with one node replaced; the tree is restored."""
    if old.parent is None:
        return new.sql("duckdb") if new else ""
    if new is None:
        # Replace the whole list, so that the original one can be put back.
        parent, key, index = old.parent, old.arg_key, old.index
        before = parent.args[key]
        parent.set(key, None if index is None else [x for x in before if x is not old])
        text = tree.sql("duckdb")
        parent.set(key, before)
        return text
    old.replace(new)
    text = tree.sql("duckdb")
    new.replace(old)
    return text


def _kept(node: exp.Expression) -> exp.Expression:
    """A copy, in parentheses if precedence could change its meaning."""
    return exp.Paren(this=node.copy()) if isinstance(node, exp.Connector | exp.Not) else node.copy()


@operator
def drop_operands(node: exp.Expression) -> Iterator[Alteration]:
    """`a AND b` to `a` and to `b`; likewise OR, +, - and *."""
    if not isinstance(node, exp.Connector | exp.Add | exp.Sub | exp.Mul):
        return
    yield f"drop {_word(node)} {short(node.expression)}", node, node.this.copy()
    if type(node.this) is not type(node):
        yield f"drop {_word(node)} {short(node.this)}", node, node.expression.copy()


def _word(node: exp.Expression) -> str:
    return {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}.get(type(node), node.key.upper())


@operator
def swap_connectors(node: exp.Expression) -> Iterator[Alteration]:
    """AND to OR and back; + to - and back."""
    other = {exp.And: exp.Or, exp.Or: exp.And, exp.Add: exp.Sub, exp.Sub: exp.Add}.get(type(node))
    if other:
        new = other(this=_kept(node.this), expression=_kept(node.expression))
        if isinstance(node, exp.Connector):
            new = exp.Paren(this=new)
        yield f"{_word(node)} to {other.key.upper()} before {short(node.expression)}", node, new


_COMPARISONS: Final[dict[type[exp.Expression], tuple[type[exp.Expression], ...]]] = {
    exp.EQ: (exp.NEQ,),
    exp.NEQ: (exp.EQ,),
    exp.LT: (exp.GTE, exp.LTE),
    exp.LTE: (exp.GT, exp.LT),
    exp.GT: (exp.LTE, exp.GTE),
    exp.GTE: (exp.LT, exp.GT),
}
_SIGNS: Final = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip


@operator
def alter_comparisons(node: exp.Expression) -> Iterator[Alteration]:
    """The opposite comparison, and the one with or without equality."""
    for kind in _COMPARISONS.get(type(node), ()):
        new = kind(this=node.this.copy(), expression=node.expression.copy())
        yield f"{_SIGNS[kind]} in {short(node)}", node, new


@operator
def alter_ranges(node: exp.Expression) -> Iterator[Alteration]:
    """BETWEEN without one of its bounds, and negated."""
    if isinstance(node, exp.Between):
        low, high = node.args["low"], node.args["high"]
        yield f">= in {short(node)}", node, exp.GTE(this=node.this.copy(), expression=low.copy())
        yield f"<= in {short(node)}", node, exp.LTE(this=node.this.copy(), expression=high.copy())
        yield f"NOT {short(node)}", node, exp.Not(this=exp.Paren(this=node.copy()))


@operator
def negate(node: exp.Expression) -> Iterator[Alteration]:
    """IS NULL to IS NOT NULL, NOT removed, a boolean column negated."""
    if isinstance(node, exp.Not):
        yield f"without NOT: {short(node)}", node, node.this.copy()
    elif isinstance(node, exp.Is | exp.Like | exp.In) or (
        isinstance(node, exp.Column) and _is_condition(node)
    ):
        if not isinstance(node.parent, exp.Not):
            yield f"NOT {short(node)}", node, exp.Not(this=node.copy())


def _is_condition(node: exp.Expression) -> bool:
    parent = node.parent
    return isinstance(parent, exp.Connector | exp.Where | exp.Having | exp.Paren) or (
        isinstance(parent, exp.Join | exp.If) and node.arg_key in ("on", "this")
    )


@operator
def drop_clauses(node: exp.Expression) -> Iterator[Alteration]:
    """Without WHERE, without HAVING, ON TRUE."""
    if isinstance(node, exp.Where | exp.Having):
        yield f"without {node.key.upper()}", node, None
    if isinstance(node, exp.Join) and (on := node.args.get("on")):
        if not isinstance(on, exp.And):
            yield "without its condition", on, exp.true()


@operator
def change_joins(node: exp.Expression) -> Iterator[Alteration]:
    """Other kinds of join, and no join where nothing else refers to it."""
    if not isinstance(node, exp.Join):
        return
    name = node.this.alias_or_name
    sides = {"": ("LEFT",), "LEFT": ("",), "FULL": ("LEFT", "RIGHT", "")}.get(node.side, ())
    for side in sides if node.args.get("on") else ():
        new = node.copy()
        new.set("side", side or None)
        new.set("kind", None)
        yield f"{side or 'INNER'} JOIN {name}", node, new
    select = node.parent
    assert isinstance(select, exp.Select)
    inside = {id(part) for part in node.walk()}
    if not any(c.table == name and id(c) not in inside for c in select.find_all(exp.Column)):
        yield f"without JOIN {name}", node, None


@operator
def change_cases(node: exp.Expression) -> Iterator[Alteration]:
    """Branches always or never taken, results swapped."""
    if not isinstance(node, exp.Case):
        return
    branches = node.args["ifs"]
    default = node.args.get("default")
    for number, branch in enumerate(branches):
        if node.this is None:
            for value in (exp.true(), exp.false()):
                yield f"WHEN {value.sql()} for {short(branch.this)}", branch.this, value
        following = branches[number + 1].args["true"] if number + 1 < len(branches) else default
        new = node.copy()
        mine, other = new.args["ifs"][number], following or exp.null()
        result = branch.args["true"]
        mine.set("true", other.copy())
        if number + 1 < len(branches):
            new.args["ifs"][number + 1].set("true", result.copy())
        else:
            new.set("default", result.copy())
        yield f"swap results {short(result)} and {short(other)}", node, new


@operator
def drop_alternatives(node: exp.Expression) -> Iterator[Alteration]:
    """COALESCE without one of its arguments."""
    if not isinstance(node, exp.Coalesce):
        return
    arguments = [node.this, *node.expressions]
    for argument in arguments:
        others = [a.copy() for a in arguments if a is not argument]
        first, *rest = others
        new = exp.Coalesce(this=first, expressions=rest) if rest else first
        yield f"without {short(argument)} in {short(node)}", node, new


@operator
def exchange_functions(node: exp.Expression) -> Iterator[Alteration]:
    """Aggregates and window functions for others."""
    for new in _others(node):
        yield f"{short(new)} for {short(node)}", node, new


def _others(node: exp.Expression) -> Iterator[exp.Expression]:
    if isinstance(node, exp.Min | exp.Max):
        other = exp.Max if isinstance(node, exp.Min) else exp.Min
        yield other(this=node.this.copy())
    if isinstance(node, exp.Sum):
        yield exp.Max(this=node.this.copy())
        yield exp.Count(this=node.this.copy())
    if isinstance(node, exp.Count):
        yield from _other_counts(node)
    if isinstance(node, exp.Lag):
        yield exp.Lead(this=node.this.copy())
    if isinstance(node, exp.RowNumber):
        yield exp.func("rank")
        yield exp.func("dense_rank")


def _other_counts(node: exp.Count) -> Iterator[exp.Expression]:
    counted = node.this
    if isinstance(counted, exp.Star):
        yield exp.Max(this=exp.Literal.number(1))
    elif isinstance(counted, exp.Distinct):
        yield exp.Count(this=counted.expressions[0].copy())
    else:
        yield exp.Count(this=exp.Star())
        yield exp.Count(this=exp.Distinct(expressions=[counted.copy()]))


@operator
def change_sets(node: exp.Expression) -> Iterator[Alteration]:
    """Without DISTINCT, UNION for UNION ALL and back, without one branch."""
    if isinstance(node, exp.Select) and node.args.get("distinct"):
        yield "without DISTINCT", node.args["distinct"], None
    if isinstance(node, exp.Union):
        new = node.copy()
        new.set("distinct", not node.args["distinct"])
        words = "UNION ALL" if node.args["distinct"] else "UNION"
        yield f"{words} {_begin(node.expression)}", node, new
        yield f"without branch {_begin(node.expression)}", node, node.this.copy()
        if not isinstance(node.this, exp.Union):
            yield f"without branch {_begin(node.this)}", node, node.expression.copy()


def _begin(select: exp.Expression) -> str:
    """A name for a branch: the tables that it reads."""
    tables = [t.name for t in select.find_all(exp.Table)]
    return f"of {', '.join(dict.fromkeys(tables))}"


@operator
def drop_groups(node: exp.Expression) -> Iterator[Alteration]:
    """GROUP BY without one column, replaced by its minimum; PARTITION BY without one."""
    if isinstance(node, exp.Select) and (group := node.args.get("group")):
        for number, column in enumerate(group.expressions):
            new = node.copy()
            _ungroup(new, number)
            yield f"group without {short(column)}", node, new
    if isinstance(node, exp.Window):
        for column in node.args.get("partition_by") or ():
            yield f"partition without {short(column)}", column, None


def _ungroup(select: exp.Select, number: int) -> None:
    group = select.args["group"]
    column = group.expressions[number]
    group.set("expressions", [e for e in group.expressions if e is not column])
    if not group.expressions:
        select.set("group", None)
    for clause in (*select.expressions, select.args.get("having")):
        for found in list(clause.walk()) if clause else ():
            if found == column and not found.find_ancestor(exp.AggFunc):
                smallest = exp.Min(this=found.copy())
                if found.parent is select and isinstance(found, exp.Column):
                    smallest = exp.alias_(smallest, found.name, quoted=True)
                found.replace(smallest)


@operator
def change_frames(node: exp.Expression) -> Iterator[Alteration]:
    """Other frame bounds of a window, the other direction, fewer columns in ORDER BY."""
    if isinstance(node, exp.WindowSpec):
        for key in ("start", "end"):
            if node.args.get(key) == "UNBOUNDED":
                new = node.copy()
                new.set(key, "CURRENT ROW")
                new.set(f"{key}_side", None)
                yield f"{key} of the frame CURRENT ROW", node, new
        yield "without frame", node, None
    if isinstance(node, exp.Ordered):
        new = node.copy()
        new.set("desc", not node.args.get("desc"))
        new.set("nulls_first", False)
        yield f"other direction of {short(node.this)}", node, new
        if len(node.parent.expressions) > 1:
            yield f"order without {short(node.this)}", node, None


@operator
def change_constants(node: exp.Expression) -> Iterator[Alteration]:
    """Numbers plus and minus one, booleans negated, other strings."""
    if isinstance(node, exp.Boolean):
        yield f"NOT {node.sql()}", node, exp.Boolean(this=not node.this)
    if not isinstance(node, exp.Literal) or isinstance(node.parent, exp.DataTypeParam):
        return
    if node.is_string:
        yield f"another word than {node.sql()}", node, exp.Literal.string(node.this + "~")
        return
    whole, dot, rest = node.this.partition(".")
    for change in (1, -1):
        new = exp.Literal.number(f"{int(whole) + change}{dot}{rest}")
        yield f"{new.sql()} for {_around(node)}", node, new


def _around(node: exp.Expression) -> str:
    around = node.parent
    while isinstance(around, exp.Neg | exp.Coalesce):
        around = around.parent
    binary = isinstance(around, exp.Binary)
    return f"{node.sql()} in {short(around)}" if binary and around else node.sql()
