"""The user's functions that encode inputs and decode records of topics."""

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
from onceproof.harness.user_pipeline.outputs.kind import OutputAccess
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


def reader_of(*values: bytes | None) -> FakeReader:
    entries = [
        entry(n, topic="copied", value=value, transactional=False) for n, value in enumerate(values)
    ]
    return FakeReader([log(*entries, topic="copied")])


CONTENT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
)


@given(content=CONTENT.filter(lambda content: not isinstance(content, str)))
def test_decode_reverses_encode(codec: str, content: object) -> None:
    data = encoded(f"{codec}:pack", json.dumps(content))
    assert json.loads(decoded(f"{codec}:unpack", data) or "") == content


@given(data=st.binary())
def test_decodes_as_text_without_a_function(data: bytes) -> None:
    assert decoded(None, data) == data.decode(errors="backslashreplace")
    assert decoded(None, None) is None


def test_keeps_text_results_and_skips_tombstones(codec: str) -> None:
    assert decoded(f"{codec}:line", b"\x01\xff") == "01ff"
    assert decoded(f"{codec}:fails", None) is None


def test_failing_function_is_reported_with_its_argument(codec: str) -> None:
    with pytest.raises(BadRule, match=r"raised ValueError: no magic byte for b'\\x01'"):
        decoded(f"{codec}:unpack", b"\x01")
    with pytest.raises(BadRule, match="words returned str; expected bytes"):
        encoded(f"{codec}:words", "{}")


def test_decoders_apply_to_all_topics_or_to_named_ones(codec: str) -> None:
    unpack, line = f"{codec}:unpack", f"{codec}:line"
    assert decoders([unpack], ["a", "b"]) == {"a": unpack, "b": unpack}
    assert decoders([f"a={unpack}", f"b={line}"], ["a", "b"]) == {"a": unpack, "b": line}
    assert decoders([f"a={unpack}"], ["a", "b"]) == {"a": unpack}, "what is not named is text"
    with pytest.raises(BadRule, match="a already has one; expected only one per topic"):
        decoders([f"a={unpack}", line], ["a", "b"])
    with pytest.raises(BadRule, match=r"expected FILE.py:FUNCTION, or TOPIC=FILE.py:FUNCTION"):
        decoders([f"c={unpack}"], ["a", "b"])


def test_with_decoders_applies_to_topics_only(codec: str) -> None:
    topic, table = (
        Output.parse(text, Rule.parse("json:$.id")) for text in ("copied", "postgres:ledger")
    )
    found = with_decoders([topic, table], [f"{codec}:unpack"])
    assert [output.decode for output in found] == [f"{codec}:unpack", None]
    assert "decoded by" in str(found[0])
    with pytest.raises(BadRule, match="no output is a topic"):
        with_decoders([table], [f"{codec}:unpack"])


def test_sends_encoded_orders_as_bytes(codec: str, tmp_path: Path) -> None:
    plain = list(ORDERS.sends(producer=0, seed=1))
    orders = replace(ORDERS, encode=f"{codec}:pack")
    save_records(tmp_path / "records", orders.sends(producer=0, seed=1))
    for sent, original in zip(load_records(tmp_path / "records"), plain, strict=True):
        value = Call(attempt="a", record=sent).value
        assert value is not None
        assert json.loads(decoded(f"{codec}:unpack", value) or "") == json.loads(
            original.value or ""
        )
        assert sent.digest == digest(sent.key.encode(), value)
        assert sent.value == original.value, "functions get what it says"


def test_decodes_records_of_a_topic(codec: str, tmp_path: Path) -> None:
    data = encoded(f"{codec}:pack", '{"id": "order-1"}')
    where = OutputAccess(database="", work=tmp_path, reader=reader_of(data, None))
    output = Output.parse("copied", Rule.parse("json:$.id"))
    (output,) = with_decoders([output], [f"{codec}:unpack"])
    found = output.open(where, ORDERS.yields("copied")).effects()
    assert [effect.record for effect in found] == ["order-1", None]
    undecodable = replace(where, reader=reader_of(data, b"\x01"))
    with pytest.raises(UnreadableOutput, match=r"copied-0@1: .*no magic byte"):
        output.open(undecodable, ORDERS.yields("copied")).effects()
