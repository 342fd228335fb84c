"""What a lab looks like in a terminal."""

from __future__ import annotations

import io

from reports.lab import print_status

STATUS = {
    "nodes": {"broker-1": "up", "broker-2": "down"},
    "partitions": [
        {
            "topic": "payments",
            "partition": 0,
            "leader": "broker-1",
            "in_sync": [1, 3],
            "replicas": [1, 2, 3],
            "dissent": {"broker-2": "broker-2", "broker-3": None},
        },
        {
            "topic": "payments",
            "partition": 1,
            "leader": None,
            "in_sync": [],
            "replicas": [1],
            "dissent": {},
        },
    ],
    "links": {"broker-1→broker-2": "disabled"},
    "faults": [
        {"name": "kill-1", "does": "", "target": "", "state": "bit", "detail": "gone\x1b[31m"}
    ],
    "workload": {"acknowledged": 1200, "records": 100000},
    "pipeline": {"state": "up", "last_committed_batch": None},
}


def shown(**more: object) -> str:
    out = io.StringIO()
    print_status("lab", {**STATUS, **more}, out)
    return out.getvalue()


def test_everything_is_there() -> None:
    text = shown()
    assert "1,200 of 100,000 records acknowledged, pipeline up, micro-batch none yet" in text
    assert "broker-1 up   broker-2 down" in text
    rows = [line.split() for line in text.splitlines() if line.startswith("payments-")]
    assert rows[0][:5] == ["payments-0", "broker-1", "1", "3", "2"]
    assert "broker-2 says broker-2, broker-3 says nobody" in text
    assert rows[1] == ["payments-1", "none", "1"]
    assert "link broker-1→broker-2: disabled" in text


def test_nothing_reaches_the_terminal_as_a_control_sequence() -> None:
    assert "\x1b" not in shown()


def test_without_faults() -> None:
    assert shown(faults=[]).endswith("no fault so far\n")


def test_a_bare_lab_has_neither_workload_nor_pipeline() -> None:
    text = shown(workload=None, pipeline=None)
    assert text.startswith("lab lab\n")
    assert "records" not in text
    assert "micro-batch" not in text
