"""Parse and check the operations of Jepsen's Kafka workload one by one.

An operation appears in the history twice: as `:invoke`, and as its completion (`:ok`, `:fail` or
`:info`). Its value is a vector of micro-operations:

    {:process 3, :type :invoke, :f :txn, :value [[:send 5 140] [:poll]], :time 13, :index 8}
    {:process 3, :type :ok, :f :txn, :value [[:send 5 [272 140]] [:poll {5 [[271 7]]}]], …}

A completed `:send` has `[offset value]`, with `nil` for an unknown offset; a completed `:poll` maps
keys to vectors of these. Processes that are not numbers, such as the nemesis, are not clients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from onceproof.checkers.imports.edn import Keyword, Map, Symbol, Tagged, keyword
from onceproof.checkers.imports.errors import closest, shown

MOST: Final = 2**63 - 1
_TYPES: Final = {keyword(name): name for name in ("invoke", "ok", "fail", "info")}
_FUNCTIONS: Final = {
    keyword(name): name
    for name in ("send", "poll", "txn", "assign", "subscribe", "crash", "debug-topic-partitions")
}
DOES_MICRO_OPERATIONS: Final = frozenset({"send", "poll", "txn"})
_TYPE, _F, _PROCESS, _VALUE, _TIME, _ERROR, _KEYS, _SEEK, _REBALANCED, _SEND, _POLL = (
    keyword(name)
    for name in (
        "type", "f", "process", "value", "time", "error", "keys", "seek-to-beginning?",
        "rebalance-log", "send", "poll",
    )
)  # fmt: skip
_KINDS: Final[dict[type, str]] = {int: "number", str: "string", Keyword: "keyword"}
_KIND_SUFFIXES: Final = tuple(f" ({words})" for words in _KINDS.values())
_NO_OPERATION: Final = "an operation such as {:process 0, :type :invoke, :f :send, :value […]}"


class Send(NamedTuple):
    """One `:send`, invoked or completed."""

    key: int
    """Number of the key, see `Names`."""
    value: str
    answered: bool
    """It was completed with a pair, so the broker answered the client."""
    offset: int | None


Poll = list[tuple[int, list[int], list[str | None]]] | None
"""One `:poll`: keys, each with offsets and values; None if its result is not recorded."""


@dataclass(slots=True)  # not frozen: that triples the cost of creating one
class Operation:
    """One line of the history."""

    line: int
    number: int
    """Jepsen's `:index`."""
    process: int
    type: str
    f: str
    time: int | None
    sends: list[Send]
    polls: list[Poll]
    keys: list[int]
    seeks: bool
    rebalanced: frozenset[int] | None
    """Keys that were assigned or revoked meanwhile; None: any key may have been."""
    error: Any


class Names:
    """Keys and values as text. Keys are numbered in the order in which they first appear.

    The first key or value sets the expected kind: number, string or keyword. Text of another kind
    gets its kind as a suffix, so that `5` and `"5"` differ.
    """

    def __init__(self) -> None:
        self.keys: list[str] = []
        self._numbers: dict[Any, int] = {}
        self._key_kind: type | None = None
        self._value_kind: type | None = None

    def key(self, key: Any) -> int:
        # Integers, strings and keywords never equal each other; true and 1.0 would equal 1.
        number = self._numbers.get(key) if type(key) in _KINDS else None
        if number is None:
            self._key_kind = self._key_kind or type(key)
            text = _text(key, self._key_kind, "a key")
            number = self._numbers[key] = len(self.keys)
            # Keys and values are joined by a slash, so a key must not contain one.
            self.keys.append(text.replace("%", "%25").replace("/", "%2F"))
        return number

    def values(self, values: list[Any]) -> list[str | None]:
        if self._value_kind is int and set(map(type, values)) == {int}:
            return self.numbers(values)
        return [None if value is None else self.value(value) for value in values]

    def numbers(self, values: list[int]) -> list[str | None]:
        if self._value_kind is int:
            return [*map(str, values)]
        return [*map(self.value, values)]

    def value(self, value: Any) -> str:
        if type(value) is int and self._value_kind is int:
            return str(value)
        self._value_kind = self._value_kind or type(value)
        return _text(value, self._value_kind, "a value")


class InvalidField(Exception):
    """A field is invalid; the caller adds the line."""

    def __init__(self, field: str, expected: str, found: object, hint: str = "") -> None:
        super().__init__(f"expected {expected}, found {shown(found)}.{hint}")
        self.field = field


def operation(form: Any, line: int, number: int, names: Names) -> Operation | None:
    """Convert a form to an operation; None for one of the nemesis.

    Raises:
        InvalidField: the form is not an operation of this workload.
    """
    if type(form) is Tagged:  # a record, as `#jepsen.history.Op{…}`
        form = form.value
    if type(form) is not Map:
        raise InvalidField("operation", _NO_OPERATION, form)
    process = _required(form, _PROCESS, "a number, or a keyword such as :nemesis")
    if isinstance(process, Keyword):
        return None
    if type(process) is not int:
        raise InvalidField(":process", "a number, or a keyword such as :nemesis", process)
    type_ = _one_of(form, _TYPE, _TYPES)
    f = _one_of(form, _F, _FUNCTIONS)
    sends: list[Send] = []
    polls: list[Poll] = []
    keys: list[int] = []
    value = form.get(_VALUE)
    if f in DOES_MICRO_OPERATIONS:
        for micro in _sequence(":value", value, "a vector of [:send …] and [:poll …]"):
            _micro_operation(micro, type_ == "invoke", names, sends, polls)
    elif f in ("assign", "subscribe"):
        keys = [names.key(k) for k in _sequence(":value", value, "a vector of keys")]
    return Operation(
        line=line,
        number=number,
        process=process,
        type=type_,
        f=f,
        time=_time(form.get(_TIME)),
        sends=sends,
        polls=polls,
        keys=keys,
        seeks=form.get(_SEEK) is True,
        rebalanced=_rebalanced(form.get(_REBALANCED), names),
        error=form.get(_ERROR),
    )


def _micro_operation(
    micro: Any, invoked: bool, names: Names, sends: list[Send], polls: list[Poll]
) -> None:
    what = micro[0] if type(micro) is tuple and micro else None
    if what is _SEND and len(micro) == 3:
        sends.append(_send(micro, invoked, names))
    elif what is _POLL and len(micro) <= 2:
        polls.append(_poll(micro[1], names) if len(micro) == 2 else None)
    else:
        raise InvalidField(":value", "[:send key value], [:poll] or [:poll {key […]}]", micro)


def _send(micro: tuple[Any, ...], invoked: bool, names: Names) -> Send:
    key, value = names.key(micro[1]), micro[2]
    if type(value) is not tuple:
        return Send(key, names.value(value), answered=False, offset=None)
    if invoked or len(value) != 2:
        expected = "a value" if invoked else "[offset value] or a value"
        raise InvalidField(":value", f"{expected} after :send and its key", micro)
    offset = value[0]
    if offset is not None:
        if type(offset) is not int or not -1 <= offset <= MOST:
            raise InvalidField(":value", "an offset from 0 to 2^63-1, or nil, in [:send …]", micro)
        if offset < 0:  # Kafka's clients return -1 for "unknown"
            offset = None
    return Send(key, names.value(value[1]), answered=True, offset=offset)


def _poll(polled: Any, names: Names) -> Poll:
    if polled is None:
        return []
    if type(polled) is not Map:
        raise InvalidField(
            ":value", "a map of keys to vectors of [offset value] after :poll", polled
        )
    found: list[tuple[int, list[int], list[str | None]]] = []
    for key, returned in polled.items():
        pairs = _sequence(":value", returned, "a vector of [offset value] for each key polled")
        offsets: list[int] = []
        values: list[Any] = []
        for pair in pairs:
            if type(pair) is not tuple or len(pair) != 2:
                raise InvalidField(":value", "[offset value] in the result of a :poll", pair)
            offsets.append(pair[0])
            values.append(pair[1])
        if pairs and (set(map(type, offsets)) != {int} or min(offsets) < 0 or max(offsets) >= MOST):
            pair = next(p for p in pairs if type(p[0]) is not int or not 0 <= p[0] < MOST)
            raise InvalidField(
                ":value", "an offset from 0 to 2^63-2 in the result of a :poll", pair
            )
        found.append((names.key(key), offsets, names.values(values)))
    return found


def _rebalanced(log: Any, names: Names) -> frozenset[int] | None:
    """Return the keys in `[{:keys […]} …]` or `{:before […] :during […]}`; None if unknown."""
    if not log:
        return frozenset()
    entries = (
        [entry for part in log.values() for entry in (part if type(part) is tuple else (part,))]
        if type(log) is Map and _KEYS not in log
        else (log if type(log) is tuple else (log,))
    )
    found: set[int] = set()
    for entry in entries:
        keys = entry.get(_KEYS) if type(entry) is Map else None
        if not isinstance(keys, tuple | frozenset):
            return None
        found.update(names.key(key) for key in keys)
    return frozenset(found)


def _required(form: Map, name: Keyword, expected: str) -> Any:
    value = form.get(name)
    if value is None:
        missing = "nil" if name in form else "no such field"
        raise InvalidField(f":{name.name}", expected, Symbol(missing))
    return value


def _one_of(form: Map, name: Keyword, words: dict[Keyword, str]) -> str:
    found = words.get(form.get(name))  # type: ignore[arg-type]  # anything may be there
    if found is not None:
        return found
    expected = f"one of {', '.join(map(str, words))}"
    value = form[name] if name in form else _required(form, name, expected)
    hint = closest(value.name, words.values()) if isinstance(value, Keyword) else ""
    raise InvalidField(f":{name.name}", expected, value, hint)


def _sequence(field: str, value: Any, expected: str) -> tuple[Any, ...]:
    if value is None:
        return ()
    if type(value) is tuple:
        return value
    if type(value) is frozenset:
        return tuple(sorted(value, key=str))
    raise InvalidField(field, expected, value)


def _time(value: Any) -> int | None:
    if value is None or (type(value) is int and -1 <= value <= MOST):
        return value
    raise InvalidField(":time", "nanoseconds from 0 to 2^63-1", value)


def _text(value: Any, kind: type, what: str) -> str:
    """Convert a value to text, with its kind as a suffix if it is not `kind`."""
    words = _KINDS.get(type(value))
    if words is None:
        raise InvalidField(":value", f"{what} that is a number, a string or a keyword", value)
    text = value.name if isinstance(value, Keyword) else str(value)
    if type(value) is not kind:
        return f"{text} ({words})"
    if kind is str and text.endswith(_KIND_SUFFIXES):
        raise InvalidField(
            ":value", f"{what} that does not end in{' or'.join(_KIND_SUFFIXES)}", value
        )
    return text
