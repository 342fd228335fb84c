r"""Fast parsing of lines in the shape that nearly all lines of a Jepsen history have.

One regular expression matches a whole line. The sends and polls of many lines are converted to
JSON, which Python reads ten times as fast as we read EDN:

    [[:send 5 [272 140]] [:poll {5 [[271 7]]}] [:poll]]    [[5,[272,140]],["",5,[[271,7]]],null]

`edn` and `jepsen_ops` define what a line means and parse every line that does not match. A property
test compares both parsers.
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
    # A collection without nested ones, and with nothing in its strings that looks like its end.
    "error": r':[a-z][a-z-]*+|[\[{](?:[^\[\]{}()"\\;#\n]|"[^"\\\n]*+")*+[\]}]|nil',
}
# A repeated field, whose group has matched already, fails.
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
"""A line's fields as text, in the order of `_FIELDS`, and its value, converted as shown above."""


def regular(lines: Sequence[bytes]) -> Iterator[Regular | None]:
    """Parse lines that include their line ends; None for a line without the regular shape."""
    found = [None if (match := _LINE.fullmatch(line)) is None else match.groups() for line in lines]
    written = b",".join(
        [fields[3] if fields[3] not in (None, b"nil") else b"[]" for fields in found if fields]
    )
    for edn, as_json in _AS_JSON:
        written = written.replace(edn, as_json)
    values = iter(json.loads(b"[%b]" % written))
    return (None if fields is None else (fields, next(values)) for fields in found)


def operation(found: Regular, line: int, number: int, names: Names) -> Operation | None:
    """Convert a line to an operation; None if only the complete parser can judge it."""
    (process, type_word, f_word, written, time, _, _, seeks, error), value = found
    if process is None or type_word is None or f_word is None:
        return None
    type_, f = _WORDS[type_word], _WORDS[f_word]
    # Otherwise the value is a vector of keys.
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
    """Add sends and polls; return whether all of them are valid here."""
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
    """Return one poll's result; None if it names a key twice."""
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
    """Parse the single EDN form in a text. Raises `BadEdn`."""
    ((_, form),) = read([b"[%b]" % text])
    return form
