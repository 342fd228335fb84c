"""A program that hangs is started again where a plan allows it, and what it did is done once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from onceproof.harness.faults.program.programs import at_work
from onceproof.harness.user_pipeline import hung
from tests.integration.programs import running
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration


def test_one_that_hangs_goes_on_after_a_restart(
    staging: Staged, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hung, "SECONDS", 3.0)
    with running(staging, topic, "hanging", session=6_000) as own:
        first = own.program.supervisor.running()
        with own.flowing():
            own.heard("hangs")
            eventually(own.program.look.still, "it to write nothing more", own.said)
            hung.start_if_hung(own.context)
            assert own.program.supervisor.running() is first, "no plan allows it"
            own.program.may_be_restarted = True
            at_work(own.context)
        assert own.hazards == ["hung"]
        assert str(first.how).startswith("hung: ")
        eventually(lambda: not own.missing(), "an effect of each", own.said)
