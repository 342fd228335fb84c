"""Writing and loading of report.html and report.json."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from onceproof.reports.html import render
from onceproof.reports.model import Report
from onceproof.reports.schema import schemas
from onceproof.reports.write import UnreadableReport, load, write


def test_round_trips_report(small_report: Report, tmp_path: Path) -> None:
    html, data = write(tmp_path, small_report)
    assert load(tmp_path) == small_report
    assert html.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(tmp_path.iterdir()) == sorted([html, data])


def test_full_disk_keeps_existing_files(
    small_report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, small_report)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write(tmp_path, small_report)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "onceproof-report/9"}', "\x00"])
def test_load_explains_a_broken_report(tmp_path: Path, text: str) -> None:
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(UnreadableReport, match=r"report\.json: .*judge the run again"):
        load(tmp_path)


def test_load_explains_a_missing_report(tmp_path: Path) -> None:
    with pytest.raises(UnreadableReport, match=r"has no report\.json"):
        load(tmp_path / "nowhere")


def test_load_rejects_an_unknown_field(small_report: Report, tmp_path: Path) -> None:
    _, data = write(tmp_path, small_report)
    content = json.loads(data.read_text())
    data.write_text(json.dumps(content | {"surprise": 1}))
    with pytest.raises(UnreadableReport, match="surprise"):
        load(tmp_path)


def test_loads_and_renders_a_report_of_format_1(small_report: Report, tmp_path: Path) -> None:
    """Format 2 added fields, 3 renamed `self_proof`, and 4 renamed `bit`."""
    _, data = write(tmp_path, small_report)
    content = json.loads(data.read_text())
    content["format"] = "onceproof-report/1"
    content["self_proof"] = content.pop("mutation_check")
    del content["moments"]
    for fault in (*content["faults"], *content["timeline"]["faults"]):
        fault["bit"] = fault.pop("took_effect")
    for lane in ("lags", "commits", "transactions"):
        del content["timeline"][lane]
    for group in content["findings"]:
        for finding in group["shown"]:
            del finding["moment"], finding["at_is"]
            path = finding["path"]
            for several in ("passings", "executions", "readings"):
                del path[several], path[f"{several}_count"]
            for send in path["sends"]:
                del send["returned_at"], send["transaction"]
            for entry in path["entries"]:
                for stamp in ("attempt", "producer_id", "epoch", "sequence", "ended_by"):
                    del entry[stamp]
            for effect in path["effects"]:
                for more in ("at", "owner", "instance", "source", "entry"):
                    del effect[more]
    data.write_text(json.dumps(content))
    report = load(tmp_path)
    assert report.format == "onceproof-report/5"
    assert report.headline == small_report.headline
    assert "appears twice in ledger" in render(report)


@pytest.mark.parametrize("file", schemas(), ids=lambda file: str(file.name))
def test_published_schemas_are_current(file: Path) -> None:
    assert file.read_text(encoding="utf-8") == schemas()[file], (
        "run python -m onceproof.reports.schema"
    )
