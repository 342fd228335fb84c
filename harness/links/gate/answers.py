"""Answers with an error: a broker's own, changed, or one made up for a request that went nowhere.

Where an error is in a response differs from API to API, but its fields
are all called an error code; and what an answer repeats of its request (topics, partitions, groups)
has the same entity type there, or one of a few names. So one reading of the schemas serves all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from onceproof.harness.links.gate.contents import attribute, entity
from onceproof.harness.links.gate.messages import response_class

_REPEATED: Final = {
    **dict.fromkeys(
        ("Index", "Partition", "PartitionIndex", "Partitions", "PartitionIndexes"), "partition"
    ),
    **dict.fromkeys(("Key", "CoordinatorKeys"), "key"),
}
"""What answers repeat of their requests and no entity type marks."""

Schema = dict[str, Any]


def set_errors(message: Any, version: int, code: int) -> int:
    """Put an error code wherever a response has room for one; returns how many places that were."""
    return _set_errors(message, message.json, version, code)


def errors(message: Any, version: int) -> set[int]:
    """Every error code that a response bears, 0 for none; empty if it has no place for one."""
    return set(_errors(message, message.json, version))


def refusal(request: Any, version: int, correlation_id: int, code: int) -> Any:
    """The response of a broker that refuses the whole of a request."""
    kind = response_class(request.API_KEY)
    made = kind(version=version)
    _repeat(made, kind.json, request, request.json, version)
    set_errors(made, version, code)
    made.with_header(correlation_id=correlation_id)
    return made


def _errors(message: Any, schema: Schema, version: int) -> Iterator[int]:
    for field, name in _fields(message, schema, version):
        if field["name"].endswith("ErrorCode"):
            yield int(getattr(message, name))
        elif _is_list(field):
            for part in getattr(message, name) or []:
                yield from _errors(part, field, version)


def _set_errors(message: Any, schema: Schema, version: int, code: int) -> int:
    places = 0
    for field, name in _fields(message, schema, version):
        if field["name"].endswith("ErrorCode"):
            setattr(message, name, code)
            places += 1
        elif _is_list(field):
            parts = getattr(message, name) or []
            places += sum(_set_errors(part, field, version, code) for part in parts)
    return places


def _repeat(made: Any, answer: Schema, asked: Any, question: Schema, version: int) -> None:
    """Copy into a part of an answer what it repeats of the same part of the request."""
    given = [(f, getattr(asked, name)) for f, name in _fields(asked, question, version)]
    for field, name in _fields(made, answer, version):
        if _is_list(field):
            kind = made.fields[name].data_class
            setattr(made, name, [
                _part(kind, field, one, source, version)
                for source, many in given
                if _meant(source) & _meant(field) and isinstance(many, list)
                for one in many
            ])  # fmt: skip
        elif meaning := _meaning(field):
            for source, value in given:
                if _meaning(source) == meaning:
                    setattr(made, name, value)


def _part(kind: Any, answer: Schema, asked: Any, question: Schema, version: int) -> Any:
    """A part of an answer, for a part of the request or for a plain number or text in it."""
    made = kind(version=version)
    if "fields" in question:
        _repeat(made, answer, asked, question, version)
    else:
        for field, name in _fields(made, answer, version):
            if _meaning(field) == _meaning(question):
                setattr(made, name, asked)
    return made


def _fields(message: Any, schema: Schema, version: int) -> Iterator[tuple[Schema, str]]:
    """The fields that a version has, with the attributes that hold them."""
    for field in schema["fields"]:
        name = attribute(field)
        if message.fields[name].for_version_q(version):
            yield field, name


def _is_list(field: Schema) -> bool:
    return "fields" in field and field["type"].startswith("[]")


def _meant(field: Schema) -> set[str]:
    """What the elements of a field tell apart: topics, partitions, groups, keys."""
    fields = field.get("fields", [field]) if field["type"].startswith("[]") else []
    return {meaning for f in fields if (meaning := _meaning(f))}


def _meaning(field: Schema) -> str | None:
    return entity(field) or _REPEATED.get(field["name"])
