"""The example of the how-to page about adding a fault works."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from onceproof.harness import faults
from onceproof.harness.faults.by_hand import asked, by_hand
from onceproof.harness.faults.page import page
from onceproof.harness.schedule.as_json import _classes, schedule_from_json, schedule_to_json
from onceproof.harness.schedule.scenario import ScheduledFault
from tests.integration.faults import active_fault, context
from tests.integration.staging import Staged, Talk, serves

pytestmark = pytest.mark.integration

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "add-a-fault.md"
COMMAND = "hang-up producer broker-1"


@pytest.fixture
def added_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add the page's example to the package of faults."""
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "hang_up_of_the_page.py").write_text(example)
    monkeypatch.setattr(faults, "__path__", [*faults.__path__, str(tmp_path)])
    importlib.invalidate_caches()
    by_hand.cache_clear()
    _classes.cache_clear()
    yield
    by_hand.cache_clear()
    _classes.cache_clear()
    sys.modules.pop(f"{faults.__name__}.hang_up_of_the_page", None)


@pytest.mark.usefixtures("added_fault")
def test_example_fault_is_documented_and_serializable(staging: Staged) -> None:
    assert "| `hang-up AUDIENCE TARGET` | close every connection" in page()
    schedule = (ScheduledFault(name="hung up", do=asked("hang-up", ["pipeline", "controller"])),)
    assert schedule_from_json(json.loads(json.dumps(schedule_to_json(schedule)))) == schedule


@pytest.mark.usefixtures("added_fault")
def test_example_fault_closes_connections(staging: Staged) -> None:
    address = staging.stage.bootstrap("producer", "broker-1")
    with Talk(address) as client:
        client.ask()
        assert client.answered()
        with active_fault(context(staging.stage), COMMAND) as (fault, proof):
            assert (fault.target, proof) == (
                "producer→broker-1",
                "1 connections on producer→broker-1 closed",
            )
            assert client.closed()
            assert serves(address), "who was there may come back at once"
    assert staging.stage.disturbed() == {}


@pytest.mark.usefixtures("added_fault")
def test_example_fault_without_connections_has_no_evidence(staging: Staged) -> None:
    name, *arguments = COMMAND.split()
    injection = asked(name, arguments).inject(context(staging.stage), name)
    injection.heal()
    assert injection.evidence() is None
