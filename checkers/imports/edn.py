"""EDN: the notation in which Clojure programs, Jepsen among them, write data.

The file is read line by line and the forms come out one by one, so that its
size does not matter, and whatever is wrong is said with its line and column. One compiled regular
expression cuts a line into tokens; `edn_atoms` says what the tokens mean.

    with open("history.edn", "rb") as lines:
        for line, form in read(lines):
            ...

Vectors and lists are tuples (they are equal in EDN as well), maps are `Map`, sets are frozensets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from onceproof.checkers.imports.edn_atoms import (
    WORDS,
    Char,
    Keyword,
    Map,
    Problem,
    Symbol,
    Tagged,
    as_map,
    as_set,
    atom,
    in_namespace,
    keyword,
    pairs,
    shown,
    string,
    symbol,
)

__all__ = [
    "BadEdn", "Char", "Keyword", "Map", "Reader", "Symbol", "Tagged", "keyword", "read", "symbol",
]  # fmt: skip

DEEPEST: Final = 200
"""Forms inside each other. No history has more, and Python could not compare them."""

_PAIR: Final = r"\[(?:0|[1-9][0-9]{0,17})[ ](?:0|[1-9][0-9]{0,17})\]"
_TOKEN: Final = re.compile(
    r"""[\s,]*+ (?:;[^\n]*+\n?)?+ (  # blanks and a comment are never given back
      \[PAIR(?:[ ]PAIR)*+\]  # most of a history is such vectors of offsets and values
    | [\[\](){}]
    | "(?:[^"\\]|\\.)*"?  # without its end it goes on in the next line
    | \#\{ | \#_ | \#:?[^\s,;"()\[\]{}]*
    | \\(?:[^\s,;"()\[\]{}\\]+|.|\Z)
    | [^\s,;"()\[\]{}]+
    | \Z )""".replace("PAIR", _PAIR),
    re.VERBOSE | re.DOTALL,
)
_STRING_GOES_ON: Final = re.compile(r'"(?:[^"\\]|\\.)*\\?\Z', re.DOTALL)
_STRING_ENDS: Final = re.compile(r'(?:[^"\\]|\\.)*"', re.DOTALL)
_CLOSING: Final = {"[": "]", "(": ")", "{": "}", "#{": "}"}
_OPENS: Final = object()
_CLOSES: Final = object()
_UNKNOWN: Final = object()


class BadEdn(ValueError):
    """What is not EDN: the text says line, column, what was expected and what was found."""

    def __init__(self, line: int, column: int, problem: str) -> None:
        super().__init__(f"line {line}, column {column}: {problem}")
        self.line, self.column, self.problem = line, column, problem


@dataclass(slots=True)
class _Open:
    """A collection, a tag or a discard that waits for its forms."""

    token: str
    line: int
    items: list[Any]
    """Not used behind a tag or discard, which takes a single form."""

    @property
    def waits_for(self) -> str:
        closing = _CLOSING.get(self.token)
        return f"`{closing}` for `{self.token}`" if closing else f"a form after `{self.token}`"


def read(
    lines: Iterable[bytes], *, tags: Mapping[str, Callable[[Any], Any]] | None = None
) -> Iterator[tuple[int, Any]]:
    """The forms of a file, each with the line that it begins on.

    A vector or list at the top is opened, and its elements come one by one: some histories are one
    vector, others one form per line.

    Args:
        lines: the file, opened in binary mode.
        tags: what to make of tagged forms, by tag; others become `Tagged`.

    Raises:
        BadEdn: a line is not UTF-8, or not EDN.
    """
    reader, number = Reader(tags), 0
    for number, line in enumerate(lines, 1):
        yield from reader.take(line, number)
    reader.end(number)


class Reader:
    """What is open, and what is known, from one line to the next."""

    def __init__(self, tags: Mapping[str, Callable[[Any], Any]] | None = None) -> None:
        """`tags` as for `read`."""
        self._tags = tags or {}
        # What needs no second look: words, brackets, and every keyword that was met.
        self._known: dict[str, Any] = {
            **WORDS, **dict.fromkeys(_CLOSING, _OPENS), **dict.fromkeys("])}", _CLOSES)
        }  # fmt: skip
        self._outer: _Open | None = None  # a vector or list around everything
        self._open: list[_Open] = []
        self._done: list[tuple[int, Any]] = []
        self._parts: list[str] = []  # of a string that goes on over several lines
        self._began = (0, 0)  # line and column of that string
        self._line = 0

    @property
    def between_forms(self) -> bool:
        """Whether the next line begins a form, at the top or in the vector around everything."""
        return not self._open and not self._parts

    def take(self, raw: bytes, line: int) -> list[tuple[int, Any]]:
        """The forms that end in the next line, each with the line that it begins on.

        Args:
            raw: the line.
            line: its number, from 1. Lines in between that were read otherwise may be left out.

        Raises:
            BadEdn: it is not UTF-8, or not EDN.
        """
        self._line = line
        text, start = self._decoded(raw), 0
        if self._parts:
            end = _STRING_ENDS.match(text)
            self._parts.append(end.group() if end else text)
            if not end:
                return []
            self._string("".join(self._parts), *self._began)
            self._parts, start = [], end.end()
        tokens = _TOKEN.findall(text, start)
        while tokens and not tokens[-1]:
            tokens.pop()
        if tokens and tokens[-1][0] == '"' and _STRING_GOES_ON.fullmatch(tokens[-1]):
            self._parts = [tokens.pop()]
            self._began = line, len(text) - len(self._parts[0]) + 1
        self._take(tokens, text, start)
        done, self._done = self._done, []
        return done

    def end(self, line: int) -> None:
        """The file is over.

        Args:
            line: the number of its last line.

        Raises:
            BadEdn: something is still open.
        """
        if self._parts:
            raise BadEdn(*self._began, 'expected `"` at the end of the string, found none')
        if still := self._open[-1] if self._open else self._outer:
            raise BadEdn(
                line,
                1,
                f"expected {still.waits_for} of line {still.line}, found the end of the file; it "
                "may have been cut short",
            )

    def _take(self, tokens: list[str], text: str, start: int) -> None:
        """The tokens of one line. This loop is what reading costs, so it is written out."""
        known, open_ = self._known.get, self._open
        # Where the next form goes; nowhere directly at the top and behind a tag or discard.
        items = self._into()
        taken = 0
        try:
            for taken, token in enumerate(tokens):  # noqa: B007
                value = known(token, _UNKNOWN)
                began = self._line
                if value is _UNKNOWN:
                    if token.isdecimal() and token[0] != "0" and token.isascii():
                        value = int(token) if len(token) < 20 else atom(token)
                    elif token[0] == "[":
                        value = pairs(token)
                        if not open_ and self._outer is None:  # opened, as any vector at the top
                            self._done += [(began, vector) for vector in value]
                            continue
                    elif token[0] == "#":
                        self._prefix(token)
                        items = None
                        continue
                    elif token[0] == '"':
                        value = string(token)
                    else:
                        value = atom(token)
                        if token[0] == ":":
                            self._known[token] = value
                elif value is _OPENS:
                    if open_ or self._outer or token not in "[(":
                        if len(open_) == DEEPEST:
                            raise Problem(f"expected at most {DEEPEST} forms inside each other")
                        items = []
                        open_.append(_Open(token, began, items))
                    else:
                        self._outer = _Open(token, began, [])
                    continue
                elif value is _CLOSES:
                    if not open_:
                        self._leave(token)
                        continue
                    last = open_.pop()
                    if _CLOSING.get(last.token) != token:
                        open_.append(last)
                        raise Problem(
                            f"expected {last.waits_for} of line {last.line}, found `{token}`"
                        )
                    if last.token == "{":
                        value = as_map(last.items)
                    else:
                        value = as_set(last.items) if last.token == "#{" else tuple(last.items)
                    began = last.line
                    items = self._into()
                if items is None:
                    items = self._placed(value, began)
                else:
                    items.append(value)
        except Problem as problem:
            starts = [match.start(1) for match in _TOKEN.finditer(text, start)]
            raise BadEdn(self._line, starts[taken] + 1, str(problem)) from None

    def _string(self, token: str, line: int, column: int) -> None:
        """A string that went over several lines."""
        try:
            self._placed(string(token), line)
        except Problem as problem:
            raise BadEdn(line, column, str(problem)) from None

    def _prefix(self, token: str) -> None:
        if token != "#_" and not token[1:].removeprefix(":")[:1].isalpha():
            raise Problem(f"expected a tag such as `#inst`, found `{shown(token)}`")
        if len(self._open) == DEEPEST:
            raise Problem(f"expected at most {DEEPEST} forms inside each other")
        self._open.append(_Open(token, self._line, []))

    def _leave(self, token: str) -> None:
        """The end of the vector or list around everything."""
        if self._outer is None:
            raise Problem(f"expected a form, found `{token}` that closes nothing")
        if _CLOSING[self._outer.token] != token:
            raise Problem(
                f"expected {self._outer.waits_for} of line {self._outer.line}, found `{token}`"
            )
        self._outer = None

    def _placed(self, value: Any, began: int) -> list[Any] | None:
        """Put a form behind its tags, and into its collection or out; the next goes `_into`."""
        while self._open and self._open[-1].token not in _CLOSING:
            prefix = self._open.pop()
            began = prefix.line
            if prefix.token == "#_":
                break
            value = self._tagged(prefix.token, value)
        else:
            if self._open:
                self._open[-1].items.append(value)
            else:
                self._done.append((began, value))
        return self._into()

    def _into(self) -> list[Any] | None:
        """Where the next form goes, if it needs no second look."""
        if self._open and self._open[-1].token in _CLOSING:
            return self._open[-1].items
        return None

    def _tagged(self, token: str, value: Any) -> Any:
        if token.startswith("#:"):
            return in_namespace(token[2:], value)
        make = self._tags.get(token[1:])
        return Tagged(token[1:], value) if make is None else make(value)

    def _decoded(self, raw: bytes) -> str:
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            raise BadEdn(
                self._line, error.start + 1, f"expected UTF-8, found byte {raw[error.start]:#04x}"
            ) from None
        return text.removeprefix("\ufeff") if self._line == 1 else text
