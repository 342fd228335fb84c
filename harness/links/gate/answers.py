"""Put errors into broker responses, and build error responses for requests not forwarded.

The place of errors differs between APIs, but their fields are all called `…ErrorCode`. What a
response repeats of its request (topics, partitions, groups) has the same entity type in both
schemas, or one of a few names. So this code works on the schemas and needs no case for each API.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from onceproof.harness.links.gate.contents import attribute, entity
from onceproof.harness.links.gate.messages import response_class

_COPIED: Final = {
    **dict.fromkeys(
        ("Index", "Partition", "PartitionIndex", "Partitions", "PartitionIndexes"), "partition"
    ),
    **dict.fromkeys(("Key", "CoordinatorKeys"), "key"),
}
"""Fields that responses repeat from their requests without an entity type."""

Schema = dict[str, Any]


def set_errors(message: Any, version: int, code: int) -> int:
    """Set every error code field of a response, and return how many there are."""
    return _set_errors(message, message.json, version, code)


def errors(message: Any, version: int) -> set[int]:
    """Return all error codes of a response, including 0; empty if it has no such field."""
    return set(_errors(message, message.json, version))


def refusal(request: Any, version: int, correlation_id: int, code: int) -> Any:
    """Build the response of a broker that refuses all of a request."""
    kind = response_class(request.API_KEY)
    response = kind(version=version)
    _copy_fields(response, kind.json, request, request.json, version)
    set_errors(response, version, code)
    response.with_header(correlation_id=correlation_id)
    return response


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


def _copy_fields(response: Any, answer: Schema, asked: Any, question: Schema, version: int) -> None:
    given = [(f, getattr(asked, name)) for f, name in _fields(asked, question, version)]
    for field, name in _fields(response, answer, version):
        if _is_list(field):
            kind = response.fields[name].data_class
            setattr(response, name, [
                _copy_item(kind, field, one, source, version)
                for source, many in given
                if _meanings(source) & _meanings(field) and isinstance(many, list)
                for one in many
            ])  # fmt: skip
        elif meaning := _meaning(field):
            for source, value in given:
                if _meaning(source) == meaning:
                    setattr(response, name, value)


def _copy_item(kind: Any, answer: Schema, asked: Any, question: Schema, version: int) -> Any:
    """Build a part of an answer for a part of the request, or for a scalar in it."""
    response = kind(version=version)
    if "fields" in question:
        _copy_fields(response, answer, asked, question, version)
    else:
        for field, name in _fields(response, answer, version):
            if _meaning(field) == _meaning(question):
                setattr(response, name, asked)
    return response


def _fields(message: Any, schema: Schema, version: int) -> Iterator[tuple[Schema, str]]:
    for field in schema["fields"]:
        name = attribute(field)
        if message.fields[name].for_version_q(version):
            yield field, name


def _is_list(field: Schema) -> bool:
    return "fields" in field and field["type"].startswith("[]")


def _meanings(field: Schema) -> set[str]:
    """Return what identifies the elements of a list field: topic, partition, group, key."""
    fields = field.get("fields", [field]) if field["type"].startswith("[]") else []
    return {meaning for f in fields if (meaning := _meaning(f))}


def _meaning(field: Schema) -> str | None:
    return entity(field) or _COPIED.get(field["name"])
