"""Functions of the user that encode inputs and decode what is in topics."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.history.identity import digest
from onceproof.harness.user_pipeline.codecs import decoded, decoders, encoded
from onceproof.harness.user_pipeline.identity import BadRule, Rule
from onceproof.harness.user_pipeline.orders import Orders
from onceproof.harness.user_pipeline.outputs.base import UnreadableOutput
from onceproof.harness.user_pipeline.outputs.kind import Where
from onceproof.harness.user_pipeline.outputs.output import Output, with_decoders
from onceproof.harness.workload.clients.runtime import Call
from onceproof.harness.workload.task_file import load_records, save_records
from tests.unit.fakes.logs import FakeReader, entry, log

FORMAT = """
import json, zlib
def pack(order): return b"\\x00" + zlib.compress(json.dumps(order).encode())
def unpack(data):
    if data[:1] != b"\\x00": raise ValueError("no magic byte")
    return json.loads(zlib.decompress(data[1:]))
def line(data): return data.hex()
def words(order): return "text"
def fails(data): raise KeyError("schema")
"""
ORDERS = Orders(topic="orders", records=20)


@pytest.fixture(scope="module")
def codec(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("codec") / "codec.py"
    file.write_text(FORMAT)
    return str(file)


def holding(*values: bytes | None) -> FakeReader:
    entries = [
        entry(n, topic="copied", value=value, transactional=False) for n, value in enumerate(values)
    ]
    return FakeReader([log(*entries, topic="copied")])


CONTENT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
)


@given(content=CONTENT.filter(lambda content: not isinstance(content, str)))
def test_what_one_writes_the_other_reads(codec: str, content: object) -> None:
    data = encoded(f"{codec}:pack", json.dumps(content))
    assert json.loads(decoded(f"{codec}:unpack", data) or "") == content


@given(data=st.binary())
def test_without_a_function_bytes_are_text(data: bytes) -> None:
    assert decoded(None, data) == data.decode(errors="backslashreplace")
    assert decoded(None, None) is None


def test_text_stays_as_it_is_and_a_tombstone_has_nothing_to_read(codec: str) -> None:
    assert decoded(f"{codec}:line", b"\x01\xff") == "01ff"
    assert decoded(f"{codec}:fails", None) is None


def test_a_function_that_fails_is_named_with_what_it_got(codec: str) -> None:
    with pytest.raises(BadRule, match=r"raised ValueError: no magic byte for b'\\x01'"):
        decoded(f"{codec}:unpack", b"\x01")
    with pytest.raises(BadRule, match="words returned str; expected bytes"):
        encoded(f"{codec}:words", "{}")


def test_a_function_is_for_all_topics_or_for_one(codec: str) -> None:
    read, line = f"{codec}:unpack", f"{codec}:line"
    assert decoders([read], ["a", "b"]) == {"a": read, "b": read}
    assert decoders([f"a={read}", f"b={line}"], ["a", "b"]) == {"a": read, "b": line}
    assert decoders([f"a={read}"], ["a", "b"]) == {"a": read}, "what is not named is text"
    with pytest.raises(BadRule, match="a already has one; expected only one per topic"):
        decoders([f"a={read}", line], ["a", "b"])
    with pytest.raises(BadRule, match=r"expected FILE.py:FUNCTION, or TOPIC=FILE.py:FUNCTION"):
        decoders([f"c={read}"], ["a", "b"])


def test_only_topics_are_decoded(codec: str) -> None:
    topic, table = (
        Output.parse(text, Rule.parse("json:$.id")) for text in ("copied", "postgres:ledger")
    )
    found = with_decoders([topic, table], [f"{codec}:unpack"])
    assert [output.decode for output in found] == [f"{codec}:unpack", None]
    assert "decoded by" in str(found[0])
    with pytest.raises(BadRule, match="no output is a topic"):
        with_decoders([table], [f"{codec}:unpack"])


def test_encoded_orders_are_sent_as_bytes(codec: str, tmp_path: Path) -> None:
    plain = list(ORDERS.sends(producer=0, seed=1))
    orders = replace(ORDERS, encode=f"{codec}:pack")
    save_records(tmp_path / "records", orders.sends(producer=0, seed=1))
    for sent, before in zip(load_records(tmp_path / "records"), plain, strict=True):
        value = Call(attempt="a", record=sent).value
        assert value is not None
        assert json.loads(decoded(f"{codec}:unpack", value) or "") == json.loads(before.value or "")
        assert sent.digest == digest(sent.key.encode(), value)
        assert sent.value == before.value, "functions get what it says"


def test_the_records_of_a_topic_are_decoded(codec: str, tmp_path: Path) -> None:
    data = encoded(f"{codec}:pack", '{"id": "order-1"}')
    where = Where(database="", work=tmp_path, reader=holding(data, None))
    output = Output.parse("copied", Rule.parse("json:$.id"))
    (output,) = with_decoders([output], [f"{codec}:unpack"])
    found = output.open(where, ORDERS.yields("copied")).effects()
    assert [effect.record for effect in found] == ["order-1", None]
    broken = replace(where, reader=holding(data, b"\x01"))
    with pytest.raises(UnreadableOutput, match=r"copied-0@1: .*no magic byte"):
        output.open(broken, ORDERS.yields("copied")).effects()
