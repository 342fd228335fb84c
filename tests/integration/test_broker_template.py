"""The template of all brokers: formatted storage and a JVM class archive."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from onceproof.harness.kafka.cluster_id import new_cluster_id
from onceproof.harness.links.blocks import free_ports, take_block
from onceproof.harness.links.topology import PORTS, Topology
from onceproof.harness.processes.processes import Processes
from onceproof.harness.processes.sweep import new_marker
from onceproof.harness.stage.alone import alone
from onceproof.harness.stage.broker_template import BrokerTemplate, broker_template
from onceproof.harness.stage.local_broker import LocalBroker
from onceproof.harness.tools import class_archive
from onceproof.harness.tools.setup import StageTools
from onceproof.harness.wait import Interrupted, Stop
from tests.end_to_end.catalogue import LATER
from tests.integration.staging import Staged, marked_processes

pytestmark = pytest.mark.integration
MARKER = new_marker()


@pytest.fixture
def topology() -> Iterator[Topology]:
    block = take_block()
    draft = Topology(block=block, base_port=0, brokers=3)
    base_port = free_ports(draft.every_address(), count=PORTS)
    yield dataclasses.replace(draft, base_port=base_port)
    assert marked_processes(MARKER) == {}
    block.release()


@pytest.fixture
def broker(
    topology: Topology, tools: StageTools, tmp_path: Path
) -> Callable[[int, str], LocalBroker]:
    def make(node: int, folder: str) -> LocalBroker:
        return LocalBroker(
            node=node,
            topology=topology,
            tools=tools,
            processes=Processes(MARKER, tmp_path),
            folder=tmp_path / folder,
        )

    return make


@pytest.fixture
def template(
    topology: Topology, tools: StageTools, tmp_path: Path
) -> Callable[..., BrokerTemplate]:
    def make(stop: Stop | None = None) -> BrokerTemplate:
        return broker_template(
            tools, topology=topology, work=tmp_path, marker=MARKER, stop=stop or Stop()
        )

    return make


def properties(data: Path) -> dict[str, str]:
    lines = (data / "meta.properties").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if not line.startswith("#"))


def test_prepared_storage_matches_kafkas_storage_tool(
    template: Callable[..., BrokerTemplate], broker: Callable[[int, str], LocalBroker]
) -> None:
    prepared = template()
    cluster = new_cluster_id()
    by_tool, copies = broker(2, "tool"), [broker(n, f"copy-{n}") for n in (1, 2)]
    by_tool.configure()
    by_tool.format(cluster)
    for copy in copies:
        prepared.prepare(copy, cluster)
    assert {f.name for f in by_tool.data.iterdir()} == {f.name for f in copies[1].data.iterdir()}
    written, copied = properties(by_tool.data), [properties(copy.data) for copy in copies]
    assert {**written, "directory.id": ""} == {**copied[1], "directory.id": ""}
    assert len({written["directory.id"], *(meta["directory.id"] for meta in copied)}) == 3
    assert [meta["node.id"] for meta in copied] == ["1", "2"]
    sizes = [(b.data / "bootstrap.checkpoint").stat().st_size for b in (by_tool, copies[1])]
    assert sizes[0] == sizes[1]


def test_stage_brokers_map_the_class_archive(staging: Staged) -> None:
    for node in staging.stage.brokers:
        process = staging.stage._running(node, "looked at")
        assert "classes.jsa" in Path(f"/proc/{process.popen.pid}/maps").read_text()


@LATER
@pytest.mark.parametrize("jvm_options", [("-XX:NoSuchOption",), ("-Xlog:cds=off",)])
def test_storage_is_formatted_when_class_recording_fails(
    template: Callable[..., BrokerTemplate],
    jvm_options: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(class_archive, "recording", lambda folder: jvm_options)
    prepared = template()
    assert prepared.options == ()
    assert (prepared.storage / "bootstrap.checkpoint").is_file()
    # If the JVM started but wrote no archive, the result is cached: a retry would not help.
    is_cached = prepared.storage.is_relative_to(tmp_path / "cache")
    assert is_cached == (jvm_options != ("-XX:NoSuchOption",))


@LATER
def test_stage_starts_without_class_archive(
    tools: StageTools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("in the way")
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path / "cache"))
    with alone(tmp_path / "run", tools) as up:
        assert up.stage.disturbed() == {}
        assert up.stage._brokers["broker-1"].options == ()


def test_interrupted_recording_leaves_no_files(
    template: Callable[..., BrokerTemplate], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path / "cache"))
    stop = Stop()
    stop.set("SIGINT received")
    with pytest.raises(Interrupted, match="SIGINT received"):
        template(stop)
    remaining = [f for f in (tmp_path / "cache" / "brokers").iterdir() if f.suffix != ".lock"]
    assert remaining == []
