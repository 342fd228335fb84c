"""Restarts of hung programs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from onceproof.harness.faults.program.programs import at_work
from onceproof.harness.user_pipeline import hung
from tests.integration.programs import running
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration


def test_hung_program_is_restarted_only_if_allowed(
    staging: Staged, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Longer than the session, as in real runs: its successor waits until that has expired.
    monkeypatch.setattr(hung, "SECONDS", 10.0)
    with running(staging, topic, "hanging", session=6_000) as pipeline:
        first = pipeline.program.supervisor.running()
        with pipeline.flowing():
            pipeline.wait_for_line("hangs")
            eventually(pipeline.program.look.still, "it to write nothing more", pipeline.stdout)
            hung.start_if_hung(pipeline.context)
            assert pipeline.program.supervisor.running() is first, "no plan allows it"
            pipeline.program.may_be_restarted = True
            at_work(pipeline.context)
        assert set(pipeline.hazards) == {"hung"}, "on a busy machine also more than once"
        assert str(first.how).startswith("hung: ")
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)
