"""What a report advises: complete, for the right system, and with pages that exist."""

from __future__ import annotations

import html
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.checkers.anomalies import anomalies
from onceproof.checkers.model import Hop
from onceproof.harness.history.system import System
from onceproof.harness.user_pipeline.identity import Rule
from onceproof.harness.user_pipeline.orders import Orders
from onceproof.harness.user_pipeline.outputs.output import Output
from onceproof.harness.user_pipeline.subject import OwnPipeline
from onceproof.reports.advice import ALL, Advice, advised, by_system
from onceproof.reports.build import build
from onceproof.reports.write import render
from onceproof.scenarios import all_scenarios

DOCS = Path(__file__).parents[3] / "docs"
PIPELINES = sorted(set(System) - {System.PRODUCER})
"""Systems with outputs; producers have none."""


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.text[:40])
def test_advice_is_for_known_anomalies_and_its_page_exists(each: Advice) -> None:
    assert each.anomalies
    assert each.anomalies <= anomalies().keys()
    assert each.text.endswith(".")
    assert each.page is None or (DOCS / each.page).is_file()


@pytest.mark.parametrize("anomaly", anomalies().values(), ids=lambda anomaly: anomaly.name)
def test_every_anomaly_has_advice_in_every_system(anomaly: Any) -> None:
    assert list(by_system(anomaly.name))
    for system in [None, *(PIPELINES if anomaly.hop is Hop.PROCESS else ())]:
        assert advised(anomaly.name, system), system


def test_advice_for_other_systems_is_left_out() -> None:
    for system in PIPELINES:
        for each in advised("duplicate-output", system):
            assert system in each.systems
    for name in ("duplicate-output", "no-progress"):
        assert not any(each.systems for each in advised(name, None))
    assert advised("no-progress", System.SPARK) == advised("no-progress", None)


def test_every_scenario_has_a_system() -> None:
    for scenario in all_scenarios():
        assert scenario.subject.system is not None, scenario.name


def test_report_advises_what_fits_its_system(small: SimpleNamespace) -> None:
    history = small.history()
    report = build(small.record(system=System.SPARK), history, small.judgement(history))
    assert report.run.system is System.SPARK
    page = html.unescape(render(report))
    assert "store the query id and the batch id in the transaction of the rows" in page
    assert "docs/how-to/test-a-spark-job.md" in page
    assert "What to do in Spark" in page
    assert "processing.guarantee" not in page
    unknown = render(build(small.record(), history, small.judgement(history)))
    assert "query id" not in unknown
    assert "Store the position of the input with the output" in unknown


@pytest.mark.parametrize(
    ("outputs", "more", "system"),
    [
        (("enriched",), {}, System.CONSUMER),
        (("enriched", "postgres:ledger"), {}, System.DATABASE),
        (("http:payments",), {}, System.WEB),
        (("queue:billing",), {}, System.QUEUE),
        (("parquet:{work}/out",), {}, None),
        (("parquet:{work}/out",), {"command": ("job", "{checkpoint}")}, System.SPARK),
        (("enriched",), {"prepares": True}, System.FLINK),
    ],
)
def test_system_of_your_own_pipeline(
    outputs: tuple[str, ...], more: dict[str, Any], system: System | None
) -> None:
    pipeline = OwnPipeline(
        folder=".",
        outputs=tuple(Output.parse(each, Rule.parse("json:$.order_id")) for each in outputs),
        orders=Orders(topic="orders", records=9),
        **{"command": ("job",)} | more,
    )
    assert pipeline.system is system
