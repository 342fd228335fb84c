"""A streaming reader for EDN, the data notation of Clojure programs such as Jepsen.

It reads line by line and yields forms one by one, so the size of the file does not matter.
`edn_atoms` converts tokens to values. Vectors and lists become tuples (they are equal in EDN as
well), maps `Map`, sets frozensets.
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
"""Maximum nesting depth. Python could not compare deeper forms, and no history has any."""

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
    """Invalid EDN. The message names line, column, what was expected and what was found."""

    def __init__(self, line: int, column: int, problem: str) -> None:
        super().__init__(f"line {line}, column {column}: {problem}")
        self.line, self.column, self.problem = line, column, problem


@dataclass(slots=True)
class _Open:
    """A collection, tag or discard that is not yet complete. Only collections use `items`."""

    token: str
    line: int
    items: list[Any]

    @property
    def waits_for(self) -> str:
        closing = _CLOSING.get(self.token)
        return f"`{closing}` for `{self.token}`" if closing else f"a form after `{self.token}`"


def read(
    lines: Iterable[bytes], *, tags: Mapping[str, Callable[[Any], Any]] | None = None
) -> Iterator[tuple[int, Any]]:
    """Yield the forms of a file, each with the line on which it begins.

    A vector or list at the top level is unpacked: some histories are one vector, others one form
    per line.

    Args:
        lines: the file, opened in binary mode.
        tags: converters of tagged forms, by tag; other forms become `Tagged`.

    Raises:
        BadEdn: a line is not UTF-8, or not EDN.
    """
    reader, number = Reader(tags), 0
    for number, line in enumerate(lines, 1):
        yield from reader.take(line, number)
    reader.end(number)


class Reader:
    """The parser state between lines."""

    def __init__(self, tags: Mapping[str, Callable[[Any], Any]] | None = None) -> None:
        self._tags = tags or {}
        # Tokens with a known value: words, brackets, and every keyword seen so far.
        self._known: dict[str, Any] = {
            **WORDS, **dict.fromkeys(_CLOSING, _OPENS), **dict.fromkeys("])}", _CLOSES)
        }  # fmt: skip
        self._outer: _Open | None = None  # around everything
        self._open: list[_Open] = []
        self._done: list[tuple[int, Any]] = []
        self._parts: list[str] = []  # of a string over several lines
        self._began = (0, 0)
        self._line = 0

    @property
    def between_forms(self) -> bool:
        """Whether the next line begins a form, at the top level or in the outermost vector."""
        return not self._open and not self._parts

    def take(self, raw: bytes, line: int) -> list[tuple[int, Any]]:
        """Return the forms that end on line `line` (from 1), each with the line on which it begins.

        Lines that were parsed by other means may be skipped.

        Raises:
            BadEdn: the line is not UTF-8, or not EDN.
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
        """Check that no form is incomplete at the end of the file.

        Raises:
            BadEdn: a form is incomplete.
        """
        if self._parts:
            raise BadEdn(*self._began, 'expected `"` at the end of the string, found none')
        if still := self._open[-1] if self._open else self._outer:
            raise BadEdn(
                line,
                1,
                f"expected {still.waits_for} in line {still.line}, found the end of the file; it "
                "may be truncated",
            )

    def _take(self, tokens: list[str], text: str, start: int) -> None:
        """Process the tokens of one line. Inlined, because this loop dominates the reading time."""
        known, open_ = self._known.get, self._open
        # The list that takes the next form; None at the top level and behind a tag or discard.
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
                        if not open_ and self._outer is None:  # unpacked, as any vector at the top
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
                            raise Problem(f"expected at most {DEEPEST} nested forms")
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
                            f"expected {last.waits_for} in line {last.line}, found `{token}`"
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
        try:
            self._placed(string(token), line)
        except Problem as problem:
            raise BadEdn(line, column, str(problem)) from None

    def _prefix(self, token: str) -> None:
        if token != "#_" and not token[1:].removeprefix(":")[:1].isalpha():
            raise Problem(f"expected a tag such as `#inst`, found `{shown(token)}`")
        if len(self._open) == DEEPEST:
            raise Problem(f"expected at most {DEEPEST} nested forms")
        self._open.append(_Open(token, self._line, []))

    def _leave(self, token: str) -> None:
        if self._outer is None:
            raise Problem(f"expected a form, found an unmatched `{token}`")
        if _CLOSING[self._outer.token] != token:
            raise Problem(
                f"expected {self._outer.waits_for} in line {self._outer.line}, found `{token}`"
            )
        self._outer = None

    def _placed(self, value: Any, began: int) -> list[Any] | None:
        """Apply pending tags to a form and store it; return `_into`."""
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
        """Return the list that takes the next form; None where it must go through `_placed`."""
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
