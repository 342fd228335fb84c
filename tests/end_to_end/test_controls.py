"""Runs that must not end in `holds`, whatever the pipeline does."""

from __future__ import annotations

import pytest

from tests.end_to_end.command import onceproof

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def test_a_fault_that_bites_nothing_makes_the_run_invalid_and_is_named(runs):
    done = onceproof("run", "control-toothless-fault", "--seed", "1", "--out", runs)
    (claim,) = done.report["claims"]
    assert claim["verdict"] == "invalid"
    assert "unused link cut" in claim["reason"]
    assert done.code == 0  # as that scenario expects


def test_a_history_of_nothing_is_invalid(runs):
    done = onceproof("run", "control-nothing-sent", "--seed", "1", "--out", runs)
    (claim,) = done.report["claims"]
    assert claim["verdict"] == "invalid"
    assert claim["reason"] == "Nothing was read from the log of payments."
    assert not [wound for wound in done.report["self_proof"] if wound["found"]]
