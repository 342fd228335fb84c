"""The flagship as a user runs it: three pipelines, one schedule, four claims each."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.end_to_end.catalogue import LATER

pytestmark = [pytest.mark.integration, pytest.mark.slow]

KAFKA_SINK = pytest.param("kafka_sink", marks=LATER)
PRODUCE = "exactly-once producers → payments"


def table(finished, name: str) -> list[dict]:
    return pq.read_table(finished.folder / "history" / f"{name}.parquet").to_pylist()


def test_every_claim_holds_for_the_guarded_pipeline(guarded):
    assert guarded.code == 0, guarded.err
    assert guarded.verdicts() == {
        PRODUCE: "holds",
        "at-most-once payments → ledger": "holds",
        "at-least-once payments → ledger": "holds",
        "exactly-once payments → ledger": "holds",
    }


def test_guarded_effects_match_committed_inputs(guarded):
    inputs = [
        (row["record"], row["partition"], row["offset"])
        for row in table(guarded, "log")
        if row["kind"] == "data" and row["committed"] and row["topic"] == "payments"
    ]
    effects = [
        (row["record"], row["source_partition"], row["source_offset"])
        for row in table(guarded, "effects")
    ]
    assert len(inputs) == 20_000
    assert sorted(inputs) == sorted(effects)


@pytest.mark.parametrize("fixture", ["unguarded", KAFKA_SINK])
def test_unguarded_pipelines_are_only_at_least_once(fixture, request):
    finished = request.getfixturevalue(fixture)
    assert finished.code == 0, finished.err
    sink = "ledger" if fixture == "unguarded" else "payments-with-fees"
    assert finished.verdicts() == {
        PRODUCE: "holds",
        f"at-most-once payments → {sink}": "violated",
        f"at-least-once payments → {sink}": "holds",
        f"exactly-once payments → {sink}": "violated",
    }
    refuted = {c["name"]: c["refuted_by"] for c in finished.report["claims"]}
    assert refuted[f"exactly-once payments → {sink}"] == ["duplicate-output"]


@pytest.mark.parametrize("fixture", ["unguarded", KAFKA_SINK])
def test_duplicate_witness_names_record_positions_batch_and_kill(fixture, request):
    finished = request.getfixturevalue(fixture)
    (group,) = [g for g in finished.report["findings"] if g["anomaly"] == "duplicate-output"]
    finding = group["shown"][0]
    rows = finding["witness"]
    assert len({row["position"] for row in rows}) == 2
    assert {row["record"] for row in rows} == {finding["key"]["record"]}
    hazard = next(h for h in table(finished, "hazards") if h["hazard"] == "replayed-batch")
    assert {row["batch"] for row in rows} == {hazard["batch"]}
    assert [cause["fault"] for cause in finding["causes"]] == ["driver killed"]
    # Exactly the records of the replayed batch are duplicated.
    effects = table(finished, "effects")
    seen: dict[str, int] = {}
    for effect in effects:
        seen[effect["record"]] = seen.get(effect["record"], 0) + 1
    assert group["count"] == sum(n > 1 for n in seen.values()) > 0


@pytest.mark.parametrize("fixture", ["guarded", "unguarded", KAFKA_SINK])
def test_every_fault_has_evidence_and_is_healed(fixture, request):
    faults = table(request.getfixturevalue(fixture), "faults")
    assert {f["kind"] for f in faults} == {"crash", "partition", "timeout"}
    for fault in faults:
        assert fault["took_effect"], fault
        assert fault["evidence"], fault
        assert fault["armed_at"] <= fault["injected_at"] <= fault["healed_at"], fault
        assert fault["error"] is None, fault


@pytest.mark.parametrize("fixture", ["guarded", "unguarded", KAFKA_SINK])
def test_killed_driver_is_replaced_and_replays_its_batch(fixture, request):
    """The effects of the batch existed, its commit did not, and it ran again."""
    finished = request.getfixturevalue(fixture)
    hazards = {h["hazard"] for h in table(finished, "hazards")}
    assert hazards == {"replayed-batch", "retried-send"}
    instances = [i for i in table(finished, "instances") if i["subject"] == "driver"]
    assert len(instances) == 2
    first, second = sorted(instances, key=lambda i: i["started_at"])
    assert "SIGKILL by fault «driver killed»" in first["how"]
    assert first["ended_at"] < second["started_at"]


@pytest.mark.parametrize("fixture", ["guarded", "unguarded", KAFKA_SINK])
def test_retried_sends_are_logged_before_acknowledgement(fixture, request):
    finished = request.getfixturevalue(fixture)
    sends = {row["attempt"]: row for row in table(finished, "sends")}
    reads = {row["attempt"]: row for row in table(finished, "reads")}
    retried = [h["attempt"] for h in table(finished, "hazards") if h["hazard"] == "retried-send"]
    assert retried
    for attempt in retried:
        assert reads[attempt]["at"] < sends[attempt]["returned_at"]
        # Duplicate batches are acknowledged without an offset.
        assert sends[attempt]["offset"] in (None, reads[attempt]["offset"])


@pytest.mark.parametrize("fixture", ["guarded", "unguarded", KAFKA_SINK])
def test_brokers_do_not_bypass_the_proxies(fixture, request):
    """Raft passes on raw addresses unless CONTROLLER is advertised; the broker then logs so."""
    logs = list((request.getfixturevalue(fixture).folder / "logs").glob("broker-*.log"))
    assert len(logs) >= 4  # three brokers, one of them restarted
    assert not [log for log in logs if "Hostname for node" in log.read_text(errors="replace")]


def test_run_folder_contains_only_record_history_logs_and_reports(guarded):
    names = {path.name for path in guarded.folder.iterdir()}
    assert names == {"run.json", "history", "logs", "report.json", "report.html"}
    assert not list((guarded.folder / "history").glob("*.jsonl"))


class ExternalResources(HTMLParser):
    """Collects everything that a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("src", "srcset", "data", "action", "poster") or (
                name == "href" and not (value or "").startswith("#")
            ):
                self.found.append(f"{tag} {name}={value}")


@pytest.mark.parametrize("fixture", ["guarded", "unguarded", KAFKA_SINK])
def test_report_page_loads_no_external_resources(fixture, request):
    page = Path(request.getfixturevalue(fixture).folder / "report.html").read_text()
    assert len(page) < 2_000_000
    resources = ExternalResources()
    resources.feed(page)
    assert resources.found == []
    assert not re.search(r"@import|url\((?!#)", page)
