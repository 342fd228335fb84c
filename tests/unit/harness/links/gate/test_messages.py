"""What the gate reads from requests and answers itself, for every API and version."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from kafka.protocol import consumer, metadata, producer

from onceproof.harness.faults.messages.message import Message
from onceproof.harness.links.gate.answers import refusal, set_errors
from onceproof.harness.links.gate.contents import Contents, attribute, contents_of
from onceproof.harness.links.gate.messages import (
    api_key,
    api_name,
    client_id,
    decodable,
    decode_request,
    decode_response,
    encode,
    error_code,
)
from onceproof.harness.links.gate.rules import Action, Direction, MessageMatch, Rule

APIS = [
    "Produce", "Fetch", "ListOffsets", "OffsetCommit", "OffsetFetch", "TxnOffsetCommit",
    "FindCoordinator", "InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn",
    "Metadata", "JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup",
]  # fmt: skip
ID = UUID(int=77)
STRINGS = {
    "transactional_id": "an-id", "v3_and_below_transactional_id": "an-id", "group_id": "a-group",
    "name": "orders", "topic": "orders", "key": "a-key",
}  # fmt: skip
CODE = 15


def request_class(api: str) -> Any:
    return next(
        getattr(module, f"{api}Request")
        for module in (consumer, metadata, producer)
        if hasattr(module, f"{api}Request")
    )


def filled_message(kind: Any, schema: dict[str, Any], version: int) -> Any:
    """A message in which every list of structures has two elements."""
    message = kind(version=version)
    for field in schema["fields"]:
        name = attribute(field)
        definition = message.fields[name]
        if not definition.for_version_q(version) or definition.tag is not None:
            continue
        if "fields" in field and field["type"].startswith("[]"):
            value: Any = [filled_message(definition.data_class, field, version) for _ in range(2)]
        elif "fields" in field:
            value = filled_message(definition.data_class, field, version)
        else:
            value = {
                "[]int32": [3, 5], "[]string": ["a-key"], "string": STRINGS.get(name, "word"),
                "uuid": ID, "int8": 1, "int16": 1, "int32": 1, "int64": 1,
            }.get(field["type"])  # fmt: skip
        if value is not None:
            setattr(message, name, value)
    return message


def every_version() -> Iterator[tuple[str, int]]:
    for api in APIS:
        for version in range(request_class(api).max_version + 1):
            yield api, version


def encoded_request(api: str, version: int) -> tuple[bytes, Any]:
    kind = request_class(api)
    message = filled_message(kind, kind.json, version)
    message.with_header(correlation_id=9, client_id="it")
    frame = encode(message, version)
    return frame, decode_request(frame, api_key(api), version)


def error_codes(message: Any, schema: dict[str, Any], version: int) -> list[int]:
    """Every error code in a message."""
    found = []
    for field in schema["fields"]:
        value = getattr(message, attribute(field))
        if not message.fields[attribute(field)].for_version_q(version):
            continue
        if field["name"].endswith("ErrorCode"):
            found.append(value)
        elif field["type"].startswith("[]") and "fields" in field:
            for part in value or []:
                found += error_codes(part, field, version)
    return found


TOPICS = {
    "Produce", "Fetch", "ListOffsets", "OffsetCommit", "OffsetFetch", "TxnOffsetCommit",
    "AddPartitionsToTxn", "Metadata",
}  # fmt: skip
TRANSACTIONAL = {
    "Produce", "TxnOffsetCommit", "InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn",
    "EndTxn",
}  # fmt: skip
GROUPS = {
    "OffsetCommit", "OffsetFetch", "TxnOffsetCommit", "AddOffsetsToTxn", "JoinGroup", "SyncGroup",
    "Heartbeat", "LeaveGroup",
}  # fmt: skip


@pytest.mark.parametrize(("api", "version"), [*every_version()])
def test_reads_client_settings_of_a_request(api: str, version: int) -> None:
    _, message = encoded_request(api, version)
    settings = dict(contents_of(message).settings)
    if api == "JoinGroup":
        assert settings == {
            "session_timeout_ms": 1,
            "rebalance_timeout_ms": 1 if version > 0 else -1,
            "group_instance_id": "word" if version > 4 else None,
            "protocol_type": "word",
            "protocols": ["orders", "orders"],
        }
    else:
        assert settings == {
            "Fetch": {"isolation_level": 1 if version > 3 else 0},
            "InitProducerId": {"transaction_timeout_ms": 1},
            "Produce": {"acks": 1},
        }.get(api, {})


def has_producer_id(api: str, version: int) -> bool:
    """Produce has it in its batches, of which a filled message has none."""
    return {
        "InitProducerId": version > 2, "AddPartitionsToTxn": True, "AddOffsetsToTxn": True,
        "TxnOffsetCommit": True, "EndTxn": True,
    }.get(api, False)  # fmt: skip


@pytest.mark.parametrize(("api", "version"), [*every_version()])
def test_reads_contents_of_a_request(api: str, version: int) -> None:
    frame, message = encoded_request(api, version)
    found = contents_of(message)
    by_id = (
        (api == "Produce" and version > 12)
        or (api == "Fetch" and version > 12)
        or (api in {"OffsetCommit", "OffsetFetch"} and version > 9)
    )
    both = api == "Metadata" and version > 9
    topics = {"orders"} if api in TOPICS and not by_id else set()
    transactional = api in TRANSACTIONAL and (api != "Produce" or version > 2)
    ids, groups = ({"an-id"} if transactional else set()), {"a-group"} if api in GROUPS else set()
    if api == "FindCoordinator":
        key = "a-key"
        ids, groups = (set(), {key}) if version == 0 else ({key}, set())
    assert found == Contents(
        topics=frozenset(topics),
        topic_ids=frozenset({ID} if by_id or both else ()),
        transactional_ids=frozenset(ids),
        groups=frozenset(groups),
        commits=False if api == "EndTxn" else None,
        positions=found.positions,  # checked below
        producer=(1, 1) if has_producer_id(api, version) else None,
    )
    topics_with_positions = {name for name, _, _ in found.positions}
    has_positions = api in {"OffsetCommit", "TxnOffsetCommit", "Fetch"}
    assert topics_with_positions == ({ID if by_id else "orders"} if has_positions else set())
    assert client_id(frame) == "it"
    assert encode(message, version) == frame


@pytest.mark.parametrize(("api", "version"), [*every_version()])
def test_refusal_repeats_each_item_with_the_error(api: str, version: int) -> None:
    _, message = encoded_request(api, version)
    frame = encode(refusal(message, version, 9, CODE), version)
    assert struct.unpack_from(">ii", frame) == (len(frame) - 4, 9)
    decoded = decode_response(frame, api_key(api), version)
    assert encode(decoded, version) == frame
    found = error_codes(decoded, decoded.json, version)
    assert set(found) == {CODE}
    if api in TOPICS - {"Metadata"}:
        assert len(found) >= 4  # two topics with two partitions each
    echoed = {str(ID), "orders"} & set(_texts(decoded, decoded.json, version))
    assert bool(echoed) is (api in TOPICS)


def _texts(message: Any, schema: dict[str, Any], version: int) -> Iterator[str]:
    for field in schema["fields"]:
        value = getattr(message, attribute(field))
        if "fields" in field:
            for part in value if isinstance(value, list) else []:
                yield from _texts(part, field, version)
        else:
            yield str(value)


@pytest.mark.parametrize("api", APIS)
def test_set_errors_replaces_every_error_code(api: str) -> None:
    kind = type(refusal(encoded_request(api, 0)[1], 0, 1, 0))
    for version in range(kind.max_version + 1):
        message = filled_message(kind, kind.json, version)
        if not (before := error_codes(message, message.json, version)):
            continue
        assert set_errors(message, version, CODE) == len(before)
        assert set(error_codes(message, message.json, version)) == {CODE}


def test_api_names_and_keys() -> None:
    assert [api_name(api_key(api)) for api in APIS] == APIS
    assert api_name(999) == "API 999"
    assert all(decodable(api_key(api)) for api in APIS)
    assert not decodable(api_key("ConsumerGroupHeartbeat"))
    with pytest.raises(ValueError, match="unknown Kafka API 'Commit'"):
        api_key("Commit")


def test_error_code_of_a_name() -> None:
    assert error_code("COORDINATOR_NOT_AVAILABLE") == CODE
    with pytest.raises(ValueError, match=r"error 'COORDINATOR': did you mean .*COORDINATOR"):
        error_code("COORDINATOR")


VALID_RULE: dict[str, Any] = {"direction": "request", "api": "EndTxn", "action": "hold"}


def new_rule(action: Action, times: int | None = 1, error: str | None = None, **which: Any) -> Rule:
    return MessageMatch(**which).rule(action, times=times, error=error)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"direction": "both"}, "invalid direction 'both': expected one of request, response"),
        ({"action": "lose"}, "invalid action 'lose': expected one of hold, drop"),
        ({"api": "Commit"}, "unknown Kafka API 'Commit'"),
        ({"nth": 0}, "expected integers ≥ 1, found 0 and 1"),
        ({"times": 0}, "expected integers ≥ 1, found 1 and 0"),
        ({"action": "error"}, "the action error requires the name of an error"),
        ({"error": "INVALID_TXN_STATE"}, "the action hold takes no error"),
        ({"action": "error", "error": "ODD"}, "unknown Kafka error 'ODD'"),
        ({"action": "duplicate", "direction": "response"}, "duplicate requires a request"),
        ({"api": "Produce", "commits": True}, "commits requires EndTxn, not Produce"),
        ({"api": "ConsumerGroupHeartbeat", "group": "g"}, "cannot be decoded"),
        (
            {"api": "ConsumerGroupHeartbeat", "action": "error", "error": "INVALID_TXN_STATE"},
            "cannot be decoded",
        ),
    ],
)
def test_rejects_invalid_rule(change: dict[str, Any], error: str) -> None:
    new_rule(**VALID_RULE)
    with pytest.raises(ValueError, match=error):
        new_rule(**{**VALID_RULE, **change})


def test_rule_survives_a_json_round_trip() -> None:
    rule = new_rule(**VALID_RULE, nth=2, times=None, topic="orders", client_id="it")
    assert Rule.from_json(rule.as_json()) == rule
    plain = rule.as_json()
    for odd in ({"colour": "red"}, {"message": {**plain["message"], "colour": "red"}}):
        with pytest.raises(ValueError, match=r"invalid rule: .*colour"):
            Rule.from_json({**plain, **odd})
    with pytest.raises(ValueError, match="invalid rule: 'message'"):
        Rule.from_json({"action": "drop"})
    MessageMatch(direction="response", api="ConsumerGroupHeartbeat", client_id="it").rule("drop")


@pytest.mark.parametrize(("direction", "answered"), [("request", False), ("response", True)])
def test_error_rule_matches_unreadable_responses_but_not_requests(
    direction: Direction, answered: bool
) -> None:
    rule = new_rule("error", error="INVALID_TXN_STATE", direction=direction, api="EndTxn")
    assert rule.matches("it", None) is answered
    assert rule.matches("it", Contents())


def test_rule_of_a_message_omits_its_source() -> None:
    message = Message(source="producer", direction="request", api="EndTxn", commits=True)
    rule = message.rule("hold")
    assert rule.message == MessageMatch(direction="request", api="EndTxn", commits=True)
    assert Rule.from_json(rule.as_json()) == rule
