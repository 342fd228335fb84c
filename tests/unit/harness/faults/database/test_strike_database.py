"""A strike counts only if the database says that it met a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from onceproof.harness.faults.database import strike_database
from onceproof.harness.faults.database.strike_database import Act, StrikeDatabase
from onceproof.harness.wait import Stop

HELD = {41: "900"}


class Database:
    """Triggers that hold one session after the other, whose transaction ends in a given way."""

    def __init__(self, held: Sequence[dict[int, str]], outcome: str) -> None:
        self.held, self._outcome = list(held), outcome
        self.tables = ["ledger"]
        self.did: list[str] = []

    def waiting(self) -> dict[int, str]:
        return self.held.pop(0) if len(self.held) > 1 else self.held[0]

    def outcome(self, xid: str) -> str:
        return self._outcome

    def terminate(self, sessions: list[int]) -> None:
        self.did.append(f"terminate {sessions}")

    def release(self) -> None:
        self.did.append("release")

    def remove(self) -> None:
        self.did.append("remove")


class Context:
    class stage:  # noqa: N801
        @staticmethod
        def database(_: Any) -> str:
            return ""

    stop = Stop()


def struck(
    monkeypatch: pytest.MonkeyPatch, act: Act, *held: dict[int, str], outcome: str
) -> tuple[str | None, list[str]]:
    """Return the evidence of a strike at a commit, and what was done, in order."""
    database = Database(held, outcome)
    monkeypatch.setattr(strike_database, "Triggers", lambda *_, **__: database)
    monkeypatch.setattr(strike_database, "at_work", lambda _: None)
    monkeypatch.setattr(strike_database, "running", lambda _: "the pipeline")

    def end(process: str, how: str) -> str:
        database.did.append("kill")
        return f"{process} ended: {how}"

    monkeypatch.setattr(strike_database, "end", end)
    fault = StrikeDatabase(when="commit", act=act)
    return fault.inject(Context(), "strike").evidence(), database.did  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("act", "outcome", "did"),
    [
        ("kill-landed", "committed", ["kill", "release", "remove"]),
        ("kill-undone", "aborted", ["kill", "terminate [41]", "release", "remove"]),
    ],
)
def test_kill_at_a_held_commit_counts(
    monkeypatch: pytest.MonkeyPatch, act: Act, outcome: str, did: list[str]
) -> None:
    evidence, done = struck(monkeypatch, act, HELD, outcome=outcome)
    assert evidence is not None
    assert f"transaction 900 {outcome}" in evidence
    assert done == did


@pytest.mark.parametrize(
    ("act", "outcome"), [("kill-landed", "aborted"), ("kill-undone", "committed")]
)
def test_kill_does_not_count_if_the_transaction_ended_otherwise(
    monkeypatch: pytest.MonkeyPatch, act: Act, outcome: str
) -> None:
    evidence, _ = struck(monkeypatch, act, HELD, outcome=outcome)
    assert evidence is None


@pytest.mark.parametrize("act", ["kill-landed", "kill-undone"])
def test_kill_does_not_count_if_the_commit_is_no_longer_held(
    monkeypatch: pytest.MonkeyPatch, act: Act
) -> None:
    evidence, done = struck(monkeypatch, act, HELD, {}, outcome="committed")
    assert evidence is None
    assert done[-1] == "remove"
