"""The page and the terminal output of an audit."""

from __future__ import annotations

import hashlib
import io
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from onceproof.reports.audit.chart import HEIGHT, WIDTH, bars
from onceproof.reports.audit.model import (
    AuditReport,
    Bucket,
    ClaimPart,
    FoundPart,
    OpenPart,
    OutputPart,
    PartitionPart,
    Result,
)
from onceproof.reports.audit.page import render
from onceproof.reports.audit.terminal import print_audit


def report(**overrides: Any) -> AuditReport:
    defaults: dict[str, Any] = {
        "headline": "3 inputs of orders are missing from enriched",
        "result": Result.VIOLATED,
        "input": "orders",
        "bootstrap": "b:9092",
        "started_at": "2026-11-25T07:12:00Z",
        "seconds": 12.0,
        "options": {"input": "orders", "identity": "key"},
        "partitions": (
            PartitionPart(
                partition=0,
                first=0,
                last=9,
                inputs=9,
                judged=8,
                undecided=1,
                nameless=0,
                reached=8,
                from_at="2026-11-24T22:00:00Z",
                to_at=None,
            ),
        ),
        "outputs": (
            OutputPart(
                name="enriched", view="read_committed", judged=5, others=1, unknown=2, nameless=0
            ),
        ),
        "open": (
            OpenPart(topic="enriched", partition=1, since="2026-11-24T22:00:00Z", hanging=True),
        ),
        "claims": (
            ClaimPart(
                name="exactly-once orders → enriched",
                sink="enriched",
                result=Result.VIOLATED,
                reason="Found lost-output (3).",
            ),
        ),
        "findings": (
            FoundPart(
                anomaly="lost-output",
                sink="enriched",
                count=3,
                headline="3 inputs of orders are missing from enriched",
                sentences=("<script>alert(1)</script> is missing",),
            ),
        ),
        "buckets": (
            Bucket(start="2026-11-24T22:00:00Z", inputs=5, found={"lost-output": 3}),
            Bucket(start="2026-11-24T23:00:00Z", inputs=4, found={}),
        ),
        "repairs": 3,
        "notes": ("An effect is taken to come within 600 s.",),
        "mutation_check": ("effect dropped in enriched",),
    }
    return AuditReport(**{**defaults, **overrides})


def test_page_shows_and_escapes_findings() -> None:
    page = render(report())
    assert "<h1>3 inputs of orders are missing from enriched</h1>" in page
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    (style,) = re.findall("<style>(.*)</style>", page, re.DOTALL)
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src &#39;sha256-{digest}&#39;" in page  # browsers ignore the style otherwise
    assert "hanging" in page
    assert 'href="repairs.jsonl"' in page


def test_page_of_a_clean_audit_states_its_limits() -> None:
    page = render(report(result=Result.CLEAN, findings=(), buckets=(), repairs=0, open=()))
    assert "<p>None.</p>" in page
    assert 'repairs.jsonl"' not in page
    assert "not what a failure would do" in page


def test_bars_fit_the_chart_and_the_highest_fills_it() -> None:
    buckets = tuple(
        Bucket(start=str(n), inputs=10, found={"lost-output": n} if n else {}) for n in range(7)
    )
    drawn = bars(buckets, "lost-output")
    assert len(drawn) == 6
    assert all(bar.x >= 0 and bar.x + bar.width <= WIDTH for bar in drawn)
    assert max(bar.height for bar in drawn) == HEIGHT
    assert all(bar.y + bar.height == pytest.approx(HEIGHT) for bar in drawn)


def test_terminal_names_result_findings_and_files() -> None:
    out = io.StringIO()
    print_audit(report(), out, Path("runs/x"))
    text = out.getvalue()
    assert text.startswith("violated: 3 inputs")
    assert "runs/x/repairs.jsonl: 3 records" in text
    assert "transaction on enriched-1 hanging" in text


def test_every_result_has_its_own_exit_code() -> None:
    assert {result: result.exit_code for result in Result} == {
        Result.CLEAN: 0,
        Result.VIOLATED: 1,
        Result.INVALID: 3,
        Result.UNKNOWN: 5,
    }
