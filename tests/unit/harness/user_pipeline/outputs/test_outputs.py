"""Outputs of your pipeline: topics, queues, files, commands and HTTP requests."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import Any, cast

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onceproof.harness.http_service.log import log_of as log_of_requests
from onceproof.harness.http_service.service import Service
from onceproof.harness.http_service.settings import HttpSettings
from onceproof.harness.kafka.log_reader import LogReader, PartitionLog
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.kafka.single_partition_log import ReaderOfAll
from onceproof.harness.processes.sweep import harness_alive
from onceproof.harness.user_pipeline.effects import ExpectedEffects
from onceproof.harness.user_pipeline.identity import BadRule, Rule
from onceproof.harness.user_pipeline.outputs import printed
from onceproof.harness.user_pipeline.outputs.base import UnreadableOutput
from onceproof.harness.user_pipeline.outputs.kind import OutputAccess
from onceproof.harness.user_pipeline.outputs.kinds import output_kinds
from onceproof.harness.user_pipeline.outputs.output import Output, OwnSink
from onceproof.harness.user_pipeline.together import CombinedOutputs
from onceproof.harness.wait import wait_until
from tests.unit.fakes import logs

ID = Rule.parse("json:$.id")


def open_sink(text: str, work: Path, *, identity: Rule = ID, effects: str = "1") -> OwnSink:
    where = OutputAccess(database="", reader=cast("LogReader", None), work=work)
    return Output.parse(text, identity).open(where, ExpectedEffects.parse(effects))


def write_parquet(file: Path, *ids: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist([{"id": i, "n": 1} for i in ids]), file)


def test_command_bootstrap_placeholder_is_filled_in(tmp_path: Path) -> None:
    reader = LogReader(cast("ClusterView", None), {2: "127.0.0.2:9", 1: "127.0.0.1:9"})
    where = OutputAccess(database="", reader=reader, work=tmp_path)
    text = """command:echo '{"id": "{bootstrap}"}'"""
    (effect,) = Output.parse(text, ID).open(where, ExpectedEffects()).effects()
    assert effect.record == "127.0.0.1:9,127.0.0.2:9"


def queue_of(work: Path, *values: bytes, key: bytes | None = None) -> OutputAccess:
    """The `OutputAccess` of an output `queue:out` that holds these values."""

    class Log:
        def read(self, start: int = 0) -> PartitionLog:
            common: dict[str, Any] = {"topic": "out", "key": key, "transactional": False}
            entries = [
                logs.entry(n, value=value, headers={"order": b"h%d" % n}, **common)
                for n, value in enumerate(values)
            ]
            return logs.log(*entries, topic="out")

        def end(self) -> int:
            return len(values)

    reader = ReaderOfAll(cast("ClusterView", None), {}, {"out": Log()})
    return OutputAccess(database="", reader=reader, work=work)


def test_queue_effects_are_its_messages(tmp_path: Path) -> None:
    where = queue_of(tmp_path, b'{"id": "x"}', b'{"id": "y"}', b'{"id": "y"}')
    output = Output.parse("queue:out", ID)
    sink = output.open(where, ExpectedEffects())
    assert (output.queue, output.topic, sink.size(), sink.hanging()) == ("out", None, 3, False)
    assert [(e.record, e.view, e.position) for e in sink.effects()] == [
        ("x", "queue", "out-0@0"), ("y", "queue", "out-0@1"), ("y", "queue", "out-0@2"),
    ]  # fmt: skip
    by_header = Output.parse("queue:out", Rule.parse("header:order")).open(where, ExpectedEffects())
    assert [e.record for e in by_header.effects()] == ["h0", "h1", "h2"]


def test_non_text_values_get_distinct_effect_keys(tmp_path: Path) -> None:
    where = queue_of(tmp_path, b"\xc8\x01", b"\xca\x01", b"\xc8\x01", key=b"x")
    sink = Output.parse("out", Rule.parse("key")).open(where, ExpectedEffects.parse("2"))
    first, second, third = sink.effects()
    assert (first.record, first.effect_key) == (third.record, third.effect_key)
    assert {first.effect_key, second.effect_key} == {"1", "2"}


@pytest.mark.parametrize(
    ("text", "identity", "message"),
    [
        ("queue:two words", "json:$.id", "invalid queue address"),
        ("queue:a::b", "json:$.id", "invalid queue address"),
        ("queue:", "json:$.id", "invalid output"),
        ("queue:a", "key", "identity key does not apply to a message of queue:a"),
    ],
)
def test_rejects_invalid_queue_output(text: str, identity: str, message: str) -> None:
    with pytest.raises(BadRule, match=message):
        Output.parse(text, Rule.parse(identity))


def test_parquet_effects_skip_hidden_and_report_truncated_files(tmp_path: Path) -> None:
    sink = open_sink("parquet:{work}/out", tmp_path)
    assert (sink.name, sink.size(), sink.effects()) == ("out", 0, [])
    write_parquet(tmp_path / "out" / "b=1" / "part-1.parquet", "x", "y")
    write_parquet(tmp_path / "out" / "part-0.parquet", "y")
    before = sink.size()
    for hidden in ("_temporary/0/part-2.parquet", ".part-3.parquet", "_x.parquet"):
        write_parquet(tmp_path / "out" / hidden, "z")
    assert sink.size() == before > 0
    assert Counter(e.record for e in sink.effects()) == {"x": 1, "y": 2}
    (tmp_path / "out" / "part-4.parquet").write_bytes(b"PAR1 not whole")
    assert sink.size() == before
    (truncated,) = [e.position for e in sink.effects() if e.record is None]
    assert truncated == "part-4.parquet (truncated Parquet file)"
    assert len({e.position for e in sink.effects()}) == 4
    assert {(e.sink, e.view, e.effect_key) for e in sink.effects()} == {("out", "listing", "")}


def test_reads_json_lines_and_csv_rows(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"id": "x"}\n\n{"other": 1}\n')
    (tmp_path / "b.csv").write_text("id,n\n1,2\n3,\n4\n")
    assert [e.record for e in open_sink("json:{work}", tmp_path).effects()] == ["x", None]
    assert [e.record for e in open_sink("csv:{work}", tmp_path).effects()] == ["1", "3", None]
    (tmp_path / "d.jsonl").write_text('{"id": "y"}\n')
    (tmp_path / "e.ndjson").write_text('{"id": "z"}\n')
    (tmp_path / "f.text").write_text("nothing of either\n")
    (tmp_path / "g.json").mkdir()
    effects = open_sink("json:{work}", tmp_path).effects()
    assert [e.record for e in effects] == ["x", None, "y", "z"]
    (tmp_path / "c.json").write_text('{"id": "x"}\n{"id"')
    with pytest.raises(UnreadableOutput, match=r"c\.json line 2: expected JSON"):
        open_sink("json:{work}", tmp_path).effects()


@pytest.mark.parametrize(("suffix", "codec"), [("gz", gzip), ("bz2", bz2), ("xz", lzma)])
def test_reads_compressed_json(tmp_path: Path, suffix: str, codec: Any) -> None:
    lines = "".join(f'{{"id": "{n}"}}\n' for n in range(9_000)).encode()
    compressed = codec.compress(lines)
    file = tmp_path / f"a.json.{suffix}"
    file.write_bytes(compressed)
    sink = open_sink("json:{work}", tmp_path)
    assert sink.size() == len(compressed)
    assert [e.record for e in sink.effects()] == [str(n) for n in range(9_000)]
    file.write_bytes(compressed[:-9])
    *complete, truncated = sink.effects()
    assert (truncated.record, truncated.position) == (None, f"a.json.{suffix} (truncated file)")
    assert [e.record for e in complete] == [str(n) for n in range(len(complete))]
    file.write_bytes(b"something else")
    with pytest.raises(UnreadableOutput, match=f"a.json.{suffix}"):
        sink.effects()


def test_rejects_unsupported_compression(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id\n1\n")
    (tmp_path / "b.csv.zst").write_bytes(b"whatever")
    sink = open_sink("csv:{work}", tmp_path)
    assert sink.size() > 0
    with pytest.raises(
        UnreadableOutput, match=r"b\.csv\.zst: unsupported compression; expected none"
    ):
        sink.effects()


def test_rejects_csv_row_with_unclosed_quote(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text('id,n\n"1,2\n')
    with pytest.raises(UnreadableOutput, match=r"b\.csv line 2: expected CSV with quotes"):
        open_sink("csv:{work}", tmp_path).effects()


def test_command_effects_are_its_output_lines(tmp_path: Path) -> None:
    (tmp_path / "said").write_text("got id=1\n\ngot id=2\ngot id=2\n")
    sink = open_sink("command:cat {work}/said", tmp_path, identity=Rule.parse(r"regex:id=(\d)"))
    assert [e.record for e in sink.effects()] == ["1", "2", "2"]
    assert sink.size() == 3
    failing = open_sink(
        f"command:{shlex.quote(sys.executable)} -c 'raise SystemExit(\"away\")'", tmp_path
    )
    with pytest.raises(UnreadableOutput, match="exited with code 1; last output: away"):
        failing.size()
    with pytest.raises(UnreadableOutput, match="no-such-program"):
        open_sink("command:no-such-program", tmp_path).size()


def test_effect_keys_follow_content(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"id": 1, "n": 1}\n{"id": 1, "n": 2}\n{"id": 1, "n": 1}\n')
    keys = [e.effect_key for e in open_sink("json:{work}", tmp_path, effects="2").effects()]
    assert keys[0] == keys[2]
    assert set(keys) == {"1", "2"}


def test_row_is_an_effect_of_each_listed_input(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"ids": ["a", "b"], "n": 2}\n{"ids": ["c"]}\n{"n": 3}\n')
    sink = open_sink("json:{work}", tmp_path, identity=Rule.parse_several("json:$.ids[*]"))
    effects = sink.effects()
    assert [(e.record, e.effect_key, e.ordinal) for e in effects] == [
        ("a", "", 0),
        ("b", "", 0),
        ("c", "", 1),
        (None, "", 2),
    ]
    ends = [effect.position.rpartition("a.json")[2] for effect in effects]
    assert len(set(ends)) == 4, "each has a place of its own"
    assert [end[-3:] for end in ends[:2]] == ["[0]", "[1]"]
    assert sink.records() == {"a", "b", "c", None}


def test_together_combines_outputs(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"id": 1}\n')
    (tmp_path / "b.csv").write_text("id\n1\n2\n")
    both = CombinedOutputs([open_sink("json:{work}", tmp_path), open_sink("csv:{work}", tmp_path)])
    assert len(both.effects()) == 3
    assert both.size() == (tmp_path / "a.json").stat().st_size + (tmp_path / "b.csv").stat().st_size
    assert not both.hanging()
    assert both.states() == both.atomic_batches() == []


@pytest.mark.parametrize(
    ("text", "kind", "place", "view"),
    [
        ("enriched", "topic", "enriched", "read_committed"),
        ("topic:a@read_uncommitted", "topic", "a", "read_uncommitted"),
        ("postgres:shop.ledger", "postgres", "shop.ledger", "table"),
        ("delta:{work}/d", "delta", "{work}/d", "table"),
        ("iceberg:{work}/i", "iceberg", "{work}/i", "table"),
        ("command:a b", "command", "a b", "printed"),
        ("queue:a/b.c", "queue", "a/b.c", "queue"),
        ("http:v1/orders", "http", "v1/orders", "requests"),
    ],
)
def test_parses_output(text: str, kind: str, place: str, view: str) -> None:
    output = Output.parse(text, ID)
    assert (output.kind, output.place, output.view) == (kind, place, view)
    assert output.topic == (place if kind == "topic" else None)
    assert set(output_kinds()) == {
        "topic", "queue", "postgres", "parquet", "csv", "json", "delta", "iceberg", "command",
        "http",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "rule", "message"),
    [
        ("mysql:x", "key", "invalid output 'mysql:x': expected TOPIC"),
        ("postgres:", "json:$.id", "invalid output"),
        ("parquet:{wrok}/out", "json:$.id", r"unknown placeholder \{wrok\} .*\{work\}"),
        ("command:cat {input}", "json:$.id", r"unknown placeholder \{input\} .*\{bootstrap\}"),
        ("a@dirty", "key", "invalid isolation level 'dirty'"),
        ("postgres:x", "key", "does not apply to a row of postgres:x"),
        ("csv:x", "header:id", "does not apply to a row"),
        ("command:cat x", "key", "does not apply to a row of command:cat x"),
    ],
)
def test_rejects_invalid_output(text: str, rule: str, message: str) -> None:
    with pytest.raises(BadRule, match=message):
        Output.parse(text, Rule.parse(rule))


def test_command_timeout_ends_its_child_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printed, "_SECONDS", 5.0)
    file = tmp_path / "pid"
    script = f"sleep 600 & echo $! > {shlex.quote(str(file))}; wait"
    with pytest.raises(UnreadableOutput, match="did not finish within"):
        open_sink(f"command:sh -c {shlex.quote(script)}", tmp_path).size()
    pid = int(file.read_text())

    def ended() -> bool:
        try:  # an orphan stays a zombie if process 1 does not reap it
            return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True

    wait_until(ended, what="all of it to end", seconds=20)


def test_command_environment_carries_the_run_marker(tmp_path: Path) -> None:
    (row,) = open_sink(
        "command:printenv ONCEPROOF_RUN", tmp_path, identity=Rule.parse("regex:.+")
    ).effects()
    assert row.record is not None
    assert harness_alive(row.record)


class TestRequests:
    """Effects are the requests in the HTTP service's log."""

    @staticmethod
    def send(work: Path, *requests: tuple[str, str, str, tuple[tuple[str, str], ...]]) -> None:
        service = Service(HttpSettings(paths=("orders", "v1")), log_of_requests(work))
        for method, path, body, headers in requests:
            answer = service.take(method, path, headers, body)
            assert answer is not None
            assert answer.status == 200

    def test_requests_below_the_path_are_effects(self, tmp_path: Path) -> None:
        output = open_sink("http:orders", tmp_path)
        assert (output.size(), output.effects(), output.hanging()) == (0, [], False)
        self.send(
            tmp_path,
            ("POST", "/orders", '{"id": "a"}', ()),
            ("POST", "/orders/new", '{"id": "b"}', ()),
            ("POST", "/v1", '{"id": "c"}', ()),
            ("POST", "/orders", '{"id": "a"}', ()),
        )
        assert output.size() > 0
        assert [effect.record for effect in output.effects()] == ["a", "b", "a"]
        assert output.effects()[1].position == "POST /orders/new no. 2"

    @pytest.mark.parametrize("rule", ["header:order-id", "key", r"regex:id=(\w+)"])
    def test_finds_identity_in_header_path_or_body(self, tmp_path: Path, rule: str) -> None:
        self.send(tmp_path, ("PUT", "/orders/a", "id=a", (("Order-ID", "a"), ("order-id", "b"))))
        (effect,) = open_sink("http:orders", tmp_path, identity=Rule.parse(rule)).effects()
        assert effect.record == "a"

    def test_upserts_keep_the_last_request_of_each_key(self, tmp_path: Path) -> None:
        self.send(
            tmp_path,
            ("PUT", "/orders/x", '{"id": "a"}', ()),
            ("PUT", "/orders/y", '{"id": "b"}', ()),
            ("PUT", "/orders/x", '{"id": "c"}', ()),
            ("DELETE", "/orders/y", "", ()),
        )
        where = OutputAccess(database="", reader=cast("LogReader", None), work=tmp_path)
        upserts = Output.parse("http:orders", ID).open_upserts(
            where, Rule.parse("key"), ExpectedEffects()
        )
        assert [(state.state_key, state.digest) for state in upserts.states()] == [("x", "c")]
