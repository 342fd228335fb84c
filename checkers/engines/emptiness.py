"""Find queries that have no rows because a table that they need is empty.

Planning costs more than a small query, and most tables of most histories are empty. So a query is
parsed once for the tables in its FROM and inner JOIN; if one is empty, the query is not run. A
query that is not understood is taken to have rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Final

_TOKEN: Final = re.compile(r"""--[^\n]*|/\*.*?\*/|('[^']*'|"[^"]*"|\w+|[-(),+*/<>=|])""", re.DOTALL)
_OPTIONAL: Final = frozenset({"LEFT", "OUTER", "ANTI", "SEMI", "ASOF", "NATURAL", "POSITIONAL"})
"""A JOIN after one of these may have rows although its table is empty."""
_NOT_UNDERSTOOD: Final = frozenset({"WITH", "EXCEPT", "INTERSECT", "RIGHT", "FULL"})
_NO_AGGREGATES: Final = frozenset(
    {"", "-", "(", ",", "+", "*", "/", "<", ">", "=", "|"}
    | {"ABS", "AND", "AS", "BY", "CASE", "CAST", "COALESCE", "DECIMAL", "ELSE", "EXISTS"}
    | {"GENERATE_SERIES", "HASH", "IN", "LENGTH", "LOWER", "NOT", "OR", "OVER", "POWER"}
    | {"SELECT", "THEN", "UNNEST", "WHEN"}
)
"""Words before a parenthesis that are not aggregates. Any other is taken for one, and an
aggregate returns a row even for an empty table."""


@dataclass
class _Select:
    """One SELECT of a UNION."""

    sources: list[str | _Query] = field(default_factory=list)
    """The SELECT is empty if one of these is."""
    aggregated: bool = False
    grouped: bool = False
    understood: bool = True

    def is_empty(self, table_is_empty: Callable[[str], bool]) -> bool:
        if not self.understood or (self.aggregated and not self.grouped):
            return False
        return any(
            table_is_empty(source) if isinstance(source, str) else source.is_empty(table_is_empty)
            for source in self.sources
        )


@dataclass
class _Query:
    selects: list[_Select] = field(default_factory=list)

    def is_empty(self, table_is_empty: Callable[[str], bool]) -> bool:
        return all(select.is_empty(table_is_empty) for select in self.selects)


def is_empty(query: str, table_is_empty: Callable[[str], bool]) -> bool:
    """Whether a query is empty, given which tables are."""
    return _parsed(query).is_empty(table_is_empty)


@cache
def _parsed(query: str) -> _Query:
    return _Parser(query).query()


class _Parser:
    """Parses a query up to its end or the closing parenthesis."""

    def __init__(self, query: str) -> None:
        self._tokens = [token for token in _TOKEN.findall(query) if token]
        self._next = 0

    def query(self) -> _Query:
        select = _Select()
        found = _Query([select])
        before, in_list, from_here = "", True, ""
        """The last word; whether FROM is still ahead; the word after which a table must follow."""
        while (token := self._token()) not in ("", ")"):
            word = token.upper()
            if word == "UNION":
                select = _Select()
                found.selects.append(select)
                in_list = True
            elif word in _NOT_UNDERSTOOD or (word == "HAVING" and not select.grouped):
                select.understood = False
            elif word == "GROUP" and not in_list:  # not WITHIN GROUP
                select.grouped = True
            elif (word == "FROM" and in_list and before != "DISTINCT") or (
                word == "JOIN" and not in_list
            ):
                in_list, from_here = False, before if word == "JOIN" else word
                before = word
                continue
            elif token == "(":
                if from_here:
                    source = self.query()
                    if from_here not in _OPTIONAL:
                        select.sources.append(source)
                elif in_list:
                    select.aggregated |= self._aggregates(before)
                else:
                    if select.sources and before == str(select.sources[-1]).upper():
                        select.sources.pop()  # a table function
                    self.query()
            elif from_here and from_here not in _OPTIONAL:
                select.sources.append(token)
            from_here, before = "", word
        return found

    def _aggregates(self, function: str) -> bool:
        """Whether there is an aggregate inside or before a parenthesis."""
        inside, before = False, ""
        while (token := self._token()) not in ("", ")"):
            if token == "(":
                inside |= self._aggregates(before)
            before = token.upper()
        return inside or not (
            function in _NO_AGGREGATES or self._tokens[self._next : self._next + 1] == ["OVER"]
        )

    def _token(self) -> str:
        self._next += 1
        return self._tokens[self._next - 1] if self._next <= len(self._tokens) else ""
