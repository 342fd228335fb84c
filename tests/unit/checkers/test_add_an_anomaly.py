"""The how-to page on adding an anomaly: its example is added, found and explained."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from onceproof.checkers import (
    History,
    Verdict,
    anomalies,
    check,
    exactly_once_append,
    ordered_append,
)
from onceproof.checkers.engines.overlay import standard_queries
from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.judging import find
from onceproof.commands.explain import explain
from onceproof.reports.assembly.headline import phrase
from onceproof.reports.model import Claim

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "add-an-anomaly.md"
NAME = "scattered-key"
PHASES = [{"phase": phase, "outcome": "ok"} for phase in ("settle", "collect")]
package = importlib.import_module("onceproof.checkers.anomalies")
"""Imported by name, because the attribute `checkers.anomalies` is a function."""


@pytest.fixture
def example_anomaly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add the page's example to the package of anomalies, and nothing else."""
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "scattered_key_of_the_page.py").write_text(example)
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    importlib.invalidate_caches()
    anomalies.cache_clear()
    standard_queries.cache_clear()
    yield
    anomalies.cache_clear()
    standard_queries.cache_clear()
    sys.modules.pop(f"{package.__name__}.scattered_key_of_the_page", None)


@pytest.mark.usefixtures("example_anomaly")
@pytest.mark.parametrize("screen", [True, False])
def test_example_is_the_only_finding_in_its_minimal_history(screen: bool) -> None:
    history = History.of(**anomalies()[NAME].minimal)
    (found,) = find(history, exactly_once_append("input"), Settings(screen=screen))
    (finding,) = found.shown
    assert found.anomaly == NAME
    assert finding.key == {"topic": "input", "key": "k"}
    assert finding.sentence == "records of key k are in input-0 and in input-1"


@pytest.mark.usefixtures("example_anomaly")
def test_near_misses_are_not_found() -> None:
    minimal = anomalies()[NAME].minimal
    for changed in ({"partition": 0, "offset": 7}, {"key": "other"}, {"committed": False}):
        log = (minimal["log"][0], {**minimal["log"][1], **changed})
        found = find(
            History.of(sends=minimal["sends"], log=log), exactly_once_append("input"), only={NAME}
        )
        assert found == (), changed


@pytest.mark.usefixtures("example_anomaly")
def test_example_refutes_a_claim_and_has_a_headline() -> None:
    minimal = {**anomalies()[NAME].minimal, "phases": PHASES}
    (claim,) = check(History.of(**minimal), [ordered_append("input")]).claims
    assert (claim.verdict, claim.refuted_by) == (Verdict.VIOLATED, (NAME,))
    reported = report_claim(claim.refuted_by)
    assert phrase(NAME, 2, reported, several=False) == "2 keys are in several partitions of input"


@pytest.mark.usefixtures("example_anomaly")
@pytest.mark.parametrize("blind", [False, True])
def test_missed_mutation_makes_the_claim_invalid(blind: bool) -> None:
    if blind:
        query = anomalies()[NAME].sql + "AND min(l.topic) = 'another'"
        anomalies()[NAME] = replace(anomalies()[NAME], sql=query)
    rows = [{"record": f"r{n}", "key": f"k{n % 2}"} for n in range(6)]
    reads = [{"record": f"r{n}", "offset": n} for n in range(6)]
    history = History.of(sends=rows, log=rows, reads=reads, phases=PHASES)
    judgement = check(history, [ordered_append("input")])
    (mutation,) = (m for m in judgement.mutation_check if m.must_find == NAME)
    assert mutation.found is not blind
    assert judgement.findings == ()
    assert (judgement.claims[0].verdict is Verdict.INVALID) is blind


def report_claim(refuted_by: tuple[str, ...]) -> Claim:
    return Claim.model_construct(input="input", sink=None, refuted_by=refuted_by)


@pytest.mark.usefixtures("example_anomaly")
def test_explain_describes_the_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain(NAME) == 0
    output = capsys.readouterr().out
    assert "Records of one key are in several partitions" in output
    assert "Partitions were added" in output
