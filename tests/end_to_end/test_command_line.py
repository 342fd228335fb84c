"""The command line without brokers."""

from __future__ import annotations

import pytest

from onceproof.scenarios import all_scenarios
from tests.end_to_end.command import onceproof


def test_unknown_scenario_is_a_usage_error_with_suggestion():
    done = onceproof("run", "spark-kafka-sin")
    assert done.code == 2
    assert "Did you mean spark-kafka-sink" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("arguments", [["runn"], ["run", "--seeds", "1"], ["check"], []])
def test_invalid_arguments_are_a_usage_error(arguments):
    done = onceproof(*arguments)
    assert done.code == 2
    assert "Traceback" not in done.err


def test_list_shows_every_scenario_with_its_expectations():
    done = onceproof("list")
    assert done.code == 0
    for scenario in all_scenarios():
        assert scenario.name in done.out
        for claim in scenario.claims:
            assert f"{claim.name}: {claim.expect.verdict}" in done.out


def test_doctor_lists_installed_tools():
    done = onceproof("doctor")
    assert done.code == 0, done.out
    for name in ("Java", "kafka 4.2.0", "toxiproxy", "PostgreSQL", "leftovers"):
        assert name in done.out
