"""The status of a lab in a terminal."""

from __future__ import annotations

import io
import re

import pytest

from onceproof.reports.lab import print_status

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
        {
            "name": "kill-1",
            "does": "",
            "target": "",
            "state": "took effect",
            "detail": "gone\x1b[31m",
        }
    ],
    "workload": {"acknowledged": 1200, "records": 100000},
    "pipeline": {"state": "up", "progress": None},
}


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def shown(**overrides: object) -> str:
    out = io.StringIO()
    print_status("lab", {**STATUS, **overrides}, out)
    return out.getvalue()


def test_shows_progress_nodes_partitions_and_links() -> None:
    text = shown()
    assert "1,200 of 100,000 records acknowledged, pipeline up, nothing committed yet" in text
    assert "broker-1 up   broker-2 down" in text
    rows = [line.split() for line in text.splitlines() if line.startswith("payments-")]
    assert rows[0][:5] == ["payments-0", "broker-1", "1", "3", "2"]
    assert "broker-2 reports broker-2, broker-3 reports none" in text
    assert rows[1] == ["payments-1", "none", "1"]
    assert "link broker-1→broker-2: disabled" in text


def test_escapes_control_sequences() -> None:
    assert "\x1b" not in shown()


def test_says_that_there_are_no_faults_yet() -> None:
    assert shown(faults=[]).endswith("no faults yet\n")


def test_bare_lab_shows_neither_workload_nor_pipeline() -> None:
    text = shown(workload=None, pipeline=None)
    assert text.startswith("lab lab\n")
    assert "records" not in text
    assert "micro-batch" not in text


def test_narrow_terminal_folds_without_losing_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    topic = "a-topic-whose-name-is-wider-than-the-whole-terminal-is-by-some"
    partitions = [p | {"topic": topic} for p in STATUS["partitions"]]  # type: ignore[attr-defined]
    out = Terminal()
    print_status("lab", {**STATUS, "partitions": partitions}, out, anew=True)
    text = out.getvalue()
    assert text.startswith("\x1b[H\x1b[2J")
    lines = re.sub(r"\x1b\[[0-9;]*[mHJ]", "", text).splitlines()
    assert max(map(len, lines)) <= 60
    assert "…" not in text
    # The topic is folded, but complete.
    first = "".join(line.split()[0] for line in lines if line[:1] in topic and "   " in line)
    assert f"{topic}-0" in first
    words = " ".join(" ".join(lines).split())
    for word in (
        "broker-1 up broker-2 down",
        "reports",
        "none",
        "broker-1→broker-2: disabled",
    ):
        assert word in words


def test_does_not_clear_a_pipe() -> None:
    out = io.StringIO()
    for _ in range(2):
        print_status("lab", STATUS, out, anew=True)
    assert "\x1b" not in out.getvalue()
    assert out.getvalue().count("lab lab") == 2
