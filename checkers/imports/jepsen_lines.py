r"""Lines in the shape that Jepsen gives to nearly all of them, many at once.

One regular expression takes a line of this shape whole, and what was sent and polled in many such
lines becomes JSON, which Python reads ten times as fast as we read EDN:

    [[:send 5 [272 140]] [:poll {5 [[271 7]]}] [:poll]]    [[5,[272,140]],["",5,[[271,7]]],null]

What a line means is defined by `edn` and `jepsen_ops`. They read every line that is not taken here,
and a property test compares what both make of those that are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

from onceproof.checkers.imports.edn import BadEdn, read
from onceproof.checkers.imports.jepsen_ops import (
    DOES_MICRO_OPERATIONS,
    Names,
    Operation,
    Poll,
    Send,
)

_N: Final = r"(?:0|[1-9][0-9]{0,17}+)"
_RECORDS: Final = rf"\[(?:\[{_N} {_N}\](?: \[{_N} {_N}\])*+)?+\]"
_POLL: Final = rf"\[:poll(?: \{{(?:{_N} {_RECORDS}(?:, {_N} {_RECORDS})*+)?+\}})?+\]"
_SEND: Final = rf"\[:send {_N} (?:{_N}|\[(?:{_N}|nil) {_N}\])\]"
_DONE: Final = rf"(?:{_SEND}|{_POLL})"
_FIELDS: Final = {
    "process": _N,
    "type": ":(?:invoke|ok|fail|info)",
    "f": ":(?:send|poll|txn|assign|subscribe|crash)",
    "value": rf"\[{_DONE}(?: {_DONE})*+\]|\[(?:{_N}(?: {_N})*+)?+\]|nil",
    "time": _N,
    "index": _N,
    "poll-ms": _N,
    "seek-to-beginning\\?": "true|false",
    # A collection in which no other is, with nothing in its strings that could look like its end.
    "error": r':[a-z][a-z-]*+|[\[{](?:[^\[\]{}()"\\;#\n]|"[^"\\\n]*+")*+[\]}]|nil',
}
# A field that was there before, which is its group, fails.
_FIELD: Final = "|".join(
    f":{name} (?({group})(?!)|({pattern}))"
    for group, (name, pattern) in enumerate(_FIELDS.items(), 1)
)
_LINE: Final = re.compile(
    rf"(?:#jepsen\.history\.Op)?+\{{(?:(?:{_FIELD})(?:, (?=[:}}])|(?=}})))++}}\r?+\n?+".encode()
)
_AS_JSON: Final = (
    (b"[:poll]", b"null"), (b"[:poll {}]", b'[""]'), (b"[:poll {", b'["",'), (b"}]", b"]"),
    (b"[:send ", b"["), (b"nil", b"null"), (b", ", b","), (b" ", b","),
)  # fmt: skip
_WORDS: Final = {
    b":invoke": "invoke", b":ok": "ok", b":fail": "fail", b":info": "info", b":send": "send",
    b":poll": "poll", b":txn": "txn", b":assign": "assign", b":subscribe": "subscribe",
    b":crash": "crash",
}  # fmt: skip
_NO_KEYS: Final[frozenset[int]] = frozenset()

Regular = tuple[Sequence[bytes | None], list[Any]]
"""A line of the regular shape: its fields as written, in the order of `_FIELDS`, and what was sent,
polled, assigned or subscribed to, see the top of this module."""


def regular(lines: Sequence[bytes]) -> Iterator[Regular | None]:
    """The lines of some, each with its end, that have the regular shape; None for the others."""
    found = [None if (match := _LINE.fullmatch(line)) is None else match.groups() for line in lines]
    written = b",".join(
        [fields[3] if fields[3] not in (None, b"nil") else b"[]" for fields in found if fields]
    )
    for edn, as_json in _AS_JSON:
        written = written.replace(edn, as_json)
    values = iter(json.loads(b"[%b]" % written))
    return (None if fields is None else (fields, next(values)) for fields in found)


def operation(found: Regular, line: int, number: int, names: Names) -> Operation | None:
    """The operation of a line; None: only the complete reader can say what it is, or is not.

    Args:
        found: the line.
        line: its number.
        number: of the operation in the file.
        names: gets keys and values of the operation.
    """
    (process, type_word, f_word, written, time, _, _, seeks, error), value = found
    if process is None or type_word is None or f_word is None:
        return None
    type_, f = _WORDS[type_word], _WORDS[f_word]
    # What else may be written there is a vector of keys.
    micro_operations = written is not None and written[1:2] == b"["
    sends: list[Send] = []
    polls: list[Poll] = []
    keys: list[int] = []
    if f in DOES_MICRO_OPERATIONS:
        if value and not micro_operations:
            return None
        if not _take(value, type_ == "invoke", names, sends, polls):
            return None
    elif f != "crash":
        if micro_operations:
            return None
        keys = [names.key(key) for key in value]
    try:
        form = None if error is None else _form(error)
    except BadEdn:
        return None
    return Operation(
        line,
        number,
        int(process),
        type_,
        f,
        None if time is None else int(time),
        sends,
        polls,
        keys,
        seeks == b"true",
        _NO_KEYS,
        form,
    )


def _take(
    value: list[Any], invoked: bool, names: Names, sends: list[Send], polls: list[Poll]
) -> bool:
    """Add what was sent and polled; returns whether all of it may be there."""
    for micro in value:
        if micro is None:
            polls.append(None)
        elif micro[0] == "":
            if (poll := _poll(micro, names)) is None:
                return False
            polls.append(poll)
        else:
            key, sent = micro
            offset = None
            answered = type(sent) is list
            if answered:
                if invoked:
                    return False
                offset, sent = sent
            sends.append(Send(names.key(key), names.value(sent), answered, offset))
    return True


def _poll(micro: list[Any], names: Names) -> Poll:
    """What one poll returned; None if it names a key twice."""
    keys = micro[1::2]
    if len(keys) > 1 and len({*keys}) < len(keys):
        return None
    found: list[tuple[int, list[int], list[str | None]]] = []
    for key, records in zip(keys, micro[2::2], strict=True):
        offsets, values = map(list, zip(*records, strict=True)) if records else ([], [])
        found.append((names.key(key), offsets, names.numbers(values)))
    return found


@lru_cache(maxsize=1000)
def _form(text: bytes) -> Any:
    """The one form that is written there.

    Raises:
        BadEdn: it is not EDN.
    """
    ((_, form),) = read([b"[%b]" % text])
    return form
