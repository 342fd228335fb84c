"""Clearing the open transactions of a killed program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from onceproof.harness.faults.program import programs
from onceproof.harness.kafka.transactions import ONGOING
from tests.unit.fakes.pipelines import FakeProgram
from tests.unit.fakes.run_context import FakeContext


@pytest.mark.parametrize("prepares", [False, True])
def test_clear_aborts_open_transactions_unless_the_program_prepares_them(
    prepares: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    aborted: list[str] = []

    class FakeTransactionalId:
        def __init__(self, name: str) -> None:
            self.name = name

        def take(self) -> None:
            aborted.append(self.name)

    @contextmanager
    def fake_transactional_id_of(context: Any, name: str) -> Iterator[FakeTransactionalId]:
        yield FakeTransactionalId(name)

    monkeypatch.setattr(programs, "addresses", lambda stage: {})
    monkeypatch.setattr(programs, "groups_at_work", lambda ways: ())
    monkeypatch.setattr(programs, "transactions", lambda ways, _: {"a": ONGOING, "b": "Empty"})
    monkeypatch.setattr(programs, "transactional_id_of", fake_transactional_id_of)
    pipeline = FakeProgram()
    pipeline.prepares = prepares
    programs.clear(FakeContext(pipeline=pipeline))
    assert aborted == ([] if prepares else ["a"])
