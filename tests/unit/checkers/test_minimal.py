"""The minimal history of each anomaly shows it, and otherwise only anomalies that it implies."""

from __future__ import annotations

import pytest

from onceproof.checkers import Claim, History, anomalies, atomic, exactly_once, exactly_once_append
from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.judging import find
from onceproof.checkers.model import Hop
from onceproof.checkers.refutations import GUARANTEES, refutations, shown_with
from tests.implications import implied

PRODUCE, PROCESS = exactly_once_append("input"), exactly_once("input", into="ledger", view="table")
TOGETHER = atomic("input", into=[("ledger", "table"), ("events", "table")])


def claim_for(name: str) -> Claim:
    anomaly = anomalies()[name]
    if anomaly.hop is Hop.PRODUCE:
        return PRODUCE
    return TOGETHER if "atomic" in anomaly.refutes else PROCESS


@pytest.mark.parametrize("screen", [True, False])
@pytest.mark.parametrize("name", anomalies())
def test_shows_only_the_anomaly_and_what_it_implies(name: str, screen: bool) -> None:
    anomaly = anomalies()[name]
    claim = claim_for(name)
    found = {
        f.anomaly: f for f in find(History.of(**anomaly.minimal), claim, Settings(screen=screen))
    }
    assert name in found
    assert found.keys() <= implied(name)
    (finding,) = found[name].shown
    assert set(finding.key) == set(anomaly.key)
    assert "None" not in finding.sentence


@pytest.mark.parametrize("name", anomalies())
def test_removing_some_row_hides_the_anomaly(name: str) -> None:
    """At least one row is required; the others may serve the screen and the controls."""
    anomaly = anomalies()[name]
    claim = claim_for(name)
    still = []
    for table, given in anomaly.minimal.items():
        for place in range(len(given)):
            fewer = {**anomaly.minimal, table: given[:place] + given[place + 1 :]}
            found = find(History.of(**fewer), claim, only={name})
            if found:
                still.append((table, given[place]))
    assert len(still) < sum(len(given) for given in anomaly.minimal.values())


def test_every_anomaly_refutes_or_accompanies_a_claim() -> None:
    named = {n for g in GUARANTEES for hop in Hop for n in refutations(g, hop) | shown_with(g)}
    liveness = {"hanging-transaction", "no-progress", "unseen"}
    assert named | liveness == anomalies().keys()
    assert all(set(anomaly.implies) <= anomalies().keys() for anomaly in anomalies().values())
