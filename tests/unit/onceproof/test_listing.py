"""`onceproof list`, and the reference page of the scenarios."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from onceproof.catalogue import UnknownScenario, named
from onceproof.listing import listing, needs_of
from onceproof.scenarios import all_scenarios, flagship
from onceproof.scenarios_page import page

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "scenarios.md"
GUARDED = flagship()[0]


def test_page_is_up_to_date() -> None:
    assert page(all_scenarios()) == PAGE.read_text(), "run `make reference`"


def test_listing_shows_needs_claims_and_faults() -> None:
    text = "\n".join(listing([GUARDED]))
    assert "needs    cut, kill, links\n" in text
    assert "exactly-once payments → ledger: holds" in text
    assert "pipeline cut (partition)" in text


def test_needs_exclude_what_the_subject_provides() -> None:
    assert "driver" not in needs_of(GUARDED)
    assert needs_of(replace(GUARDED, schedule=())) == "nothing"
    assert needs_of(replace(GUARDED, schedule=(), transaction_version=1)) == "transaction.version 1"


def test_needs_of_drawn_schedule_are_unknown() -> None:
    (drawn,) = named(["drawn-postgres"])
    assert needs_of(drawn) == "whatever the drawn faults need"


def test_named_finds_scenarios_by_substring() -> None:
    assert named([]) == list(all_scenarios())
    found = [scenario.name for scenario in named(["crash-points", "spark-kafka-sink"])]
    assert found == ["spark-kafka-sink", "crash-points-postgres", "crash-points-kafka"]
    with pytest.raises(UnknownScenario, match="no scenario has «crush» in its name"):
        named(["crush"])


def test_scenario_names_are_unique() -> None:
    names = [scenario.name for scenario in all_scenarios()]
    assert len(names) == len(set(names))
