"""What is told of the scenarios, and that the page of them is up to date."""

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


def test_the_page_is_up_to_date() -> None:
    assert page(all_scenarios()) == PAGE.read_text(), "run `make reference`"


def test_what_is_listed_of_each() -> None:
    told = "\n".join(listing([GUARDED]))
    assert "needs    cut, kill, links\n" in told
    assert "exactly-once payments → ledger: holds" in told
    assert "pipeline cut (partition)" in told


def test_what_a_subject_offers_itself_is_not_needed_of_a_stage() -> None:
    assert "driver" not in needs_of(GUARDED)
    assert needs_of(replace(GUARDED, schedule=())) == "nothing"
    assert needs_of(replace(GUARDED, schedule=(), transaction_version=1)) == "transaction.version 1"


def test_what_is_drawn_is_not_known_yet() -> None:
    (drawn,) = named(["drawn-postgres"])
    assert needs_of(drawn) == "whatever the drawn faults need"


def test_scenarios_by_a_part_of_their_names() -> None:
    assert named([]) == list(all_scenarios())
    found = [scenario.name for scenario in named(["crash-points", "spark-kafka-sink"])]
    assert found == ["spark-kafka-sink", "crash-points-postgres", "crash-points-kafka"]
    with pytest.raises(UnknownScenario, match="no scenario has «crush» in its name"):
        named(["crush"])


def test_no_two_scenarios_have_one_name() -> None:
    names = [scenario.name for scenario in all_scenarios()]
    assert len(names) == len(set(names))
