"""The flagship, as a user runs it: three pipelines, one schedule, four claims each."""

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


def test_the_guarded_pipeline_holds_every_claim(guarded):
    assert guarded.code == 0, guarded.err
    assert guarded.verdicts() == {
        PRODUCE: "holds",
        "at-most-once payments → ledger": "holds",
        "at-least-once payments → ledger": "holds",
        "exactly-once payments → ledger": "holds",
    }


def test_in_the_guarded_run_effects_are_exactly_the_committed_inputs(guarded):
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


@pytest.mark.parametrize("which", ["unguarded", KAFKA_SINK])
def test_a_pipeline_that_promises_at_least_once_keeps_that_and_no_more(which, request):
    finished = request.getfixturevalue(which)
    assert finished.code == 0, finished.err
    sink = "ledger" if which == "unguarded" else "payments-with-fees"
    assert finished.verdicts() == {
        PRODUCE: "holds",
        f"at-most-once payments → {sink}": "violated",
        f"at-least-once payments → {sink}": "holds",
        f"exactly-once payments → {sink}": "violated",
    }
    refuted = {c["name"]: c["refuted_by"] for c in finished.report["claims"]}
    assert refuted[f"exactly-once payments → {sink}"] == ["duplicate-output"]


@pytest.mark.parametrize("which", ["unguarded", KAFKA_SINK])
def test_the_witness_names_record_positions_batch_and_kill(which, request):
    finished = request.getfixturevalue(which)
    (group,) = [g for g in finished.report["findings"] if g["anomaly"] == "duplicate-output"]
    finding = group["shown"][0]
    rows = finding["witness"]
    assert len({row["position"] for row in rows}) == 2
    assert {row["record"] for row in rows} == {finding["key"]["record"]}
    hazard = next(h for h in table(finished, "hazards") if h["hazard"] == "replayed-batch")
    assert {row["batch"] for row in rows} == {hazard["batch"]}
    assert [cause["fault"] for cause in finding["causes"]] == ["driver killed"]
    # Every duplicate is of the one batch that was replayed, and every record of it is duplicated.
    effects = table(finished, "effects")
    seen: dict[str, int] = {}
    for effect in effects:
        seen[effect["record"]] = seen.get(effect["record"], 0) + 1
    assert group["count"] == sum(n > 1 for n in seen.values()) > 0


@pytest.mark.parametrize("which", ["guarded", "unguarded", KAFKA_SINK])
def test_every_fault_left_evidence_and_was_healed(which, request):
    faults = table(request.getfixturevalue(which), "faults")
    assert {f["kind"] for f in faults} == {"crash", "partition", "timeout"}
    for fault in faults:
        assert fault["took_effect"], fault
        assert fault["evidence"], fault
        assert fault["armed_at"] <= fault["injected_at"] <= fault["healed_at"], fault
        assert fault["error"] is None, fault


@pytest.mark.parametrize("which", ["guarded", "unguarded", KAFKA_SINK])
def test_the_driver_died_in_the_window(which, request):
    """Proven by identity: effects of the batch were there, its commit was not, and it ran again."""
    finished = request.getfixturevalue(which)
    hazards = {h["hazard"] for h in table(finished, "hazards")}
    assert hazards == {"replayed-batch", "retried-send"}
    lives = [i for i in table(finished, "instances") if i["subject"] == "driver"]
    assert len(lives) == 2
    first, second = sorted(lives, key=lambda life: life["started_at"])
    assert "SIGKILL by fault «driver killed»" in first["how"]
    assert first["ended_at"] < second["started_at"]


@pytest.mark.parametrize("which", ["guarded", "unguarded", KAFKA_SINK])
def test_a_retried_send_was_in_the_log_before_it_was_acknowledged(which, request):
    finished = request.getfixturevalue(which)
    sends = {row["attempt"]: row for row in table(finished, "sends")}
    reads = {row["attempt"]: row for row in table(finished, "reads")}
    retried = [h["attempt"] for h in table(finished, "hazards") if h["hazard"] == "retried-send"]
    assert retried
    for attempt in retried:
        assert reads[attempt]["at"] < sends[attempt]["returned_at"]
        # A duplicate of a batch is acknowledged without its offset.
        assert sends[attempt]["offset"] in (None, reads[attempt]["offset"])


@pytest.mark.parametrize("which", ["guarded", "unguarded", KAFKA_SINK])
def test_brokers_never_went_round_the_proxies(which, request):
    """Raft hands round raw addresses unless CONTROLLER is advertised; then its log says so."""
    logs = list((request.getfixturevalue(which).folder / "logs").glob("broker-*.log"))
    assert len(logs) >= 4  # three brokers, one of them twice
    assert not [log for log in logs if "Hostname for node" in log.read_text(errors="replace")]


def test_nothing_but_record_history_logs_and_reports_stays_in_the_folder(guarded):
    names = {path.name for path in guarded.folder.iterdir()}
    assert names == {"run.json", "history", "logs", "report.json", "report.html"}
    assert not list((guarded.folder / "history").glob("*.jsonl"))


class Loads(HTMLParser):
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


@pytest.mark.parametrize("which", ["guarded", "unguarded", KAFKA_SINK])
def test_the_report_is_one_page_that_loads_nothing(which, request):
    page = Path(request.getfixturevalue(which).folder / "report.html").read_text()
    assert len(page) < 2_000_000
    loads = Loads()
    loads.feed(page)
    assert loads.found == []
    assert not re.search(r"@import|url\((?!#)", page)
