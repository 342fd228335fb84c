"""Expected effects and contributions, and the states of a balances topic."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.history.tables import read_lines
from onceproof.harness.kafka.log_reader import Entry
from onceproof.harness.sinks.balances import BalancesTopic
from onceproof.harness.sinks.base import State
from onceproof.harness.subjects.expected import write_expected
from onceproof.harness.workload.payments import Payments, payments_of
from tests.unit.fakes import logs
from tests.unit.fakes.run_context import FakeSubject

WORKLOAD = Payments(records=50, producers=3, keys=4)


def written(folder: Path, **subject: Any) -> dict[str, list[dict[str, Any]]]:
    write_expected(folder, FakeSubject(**subject), WORKLOAD, seed=9)
    return {name: table.to_pylist() for name, table in read_lines(folder).tables.items()}


def test_each_payment_is_expected_in_every_sink(tmp_path: Path) -> None:
    tables = written(tmp_path, sinks=("ledger", "calls"), sink="ledger", balances=False)
    of_each = (payments_of(WORKLOAD, producer=n, seed=9) for n in range(3))
    sent = {payment.record: payment.effect_digest for payments in of_each for payment in payments}
    for sink in ("ledger", "calls"):
        assert {r["record"]: r["digest"] for r in tables["expected"] if r["sink"] == sink} == sent
    assert len(tables["expected"]) == 100
    assert tables["contributions"] == []


def test_each_payment_contributes_to_its_account(tmp_path: Path) -> None:
    tables = written(tmp_path, sinks=(), sink="balances", balances=True)
    sums: Counter[str] = Counter()
    for n in range(3):
        for payment in payments_of(WORKLOAD, producer=n, seed=9):
            sums[payment.account] += payment.amount_cents
    found: Counter[str] = Counter()
    for row in tables["contributions"]:
        if (row["aggregate"], row["operation"]) == ("balance", "sum"):
            found[row["state_key"]] += row["amount"]
    assert found == sums
    counts = [r for r in tables["contributions"] if r["operation"] == "count"]
    assert len(counts) == 50
    assert {r["aggregate"] for r in counts} == {"payments"}
    assert tables["expected"] == []


def entry(offset: int, account: str, value: object, **more: Any) -> Entry:
    data = value if value is None or isinstance(value, bytes) else json.dumps(value).encode()
    defaults: dict[str, Any] = {"topic": "balances", "transactional": False}
    return logs.entry(offset, key=account.encode(), value=data, **defaults | more)


def states(*entries: Entry, view: str = "read_committed") -> dict[tuple[str, str], int | None]:
    return {(s.state_key, s.aggregate): s.amount for s in found(*entries, view=view)}


def found(*entries: Entry, view: str = "read_committed") -> list[State]:
    reader = logs.FakeReader([logs.log(*entries, topic="balances")])
    sink = BalancesTopic(reader, topic="balances", view=view)
    assert sink.effects() == []
    return sink.states()


def test_last_balance_of_an_account_counts() -> None:
    assert states(
        entry(0, "a", {"balance": 5, "payments": 1}),
        entry(1, "b", {"balance": 7, "payments": 1}),
        entry(2, "a", {"balance": 9, "payments": 2}),
    ) == {("a", "balance"): 9, ("a", "payments"): 2, ("b", "balance"): 7, ("b", "payments"): 1}


def test_aborted_balance_counts_only_for_read_uncommitted() -> None:
    entries = (
        entry(0, "a", {"balance": 5, "payments": 1}),
        entry(1, "a", {"balance": 9, "payments": 2}, transactional=True),
        entry(2, "", b"", kind="abort", transactional=True),
    )
    assert states(*entries)["a", "balance"] == 5
    assert states(*entries, view="read_uncommitted")["a", "balance"] == 9


@pytest.mark.parametrize(
    "value", [b"\xff", b"", {}, [], {"balance": "5"}, {"balance": 5.5}, {"balance": True}]
)
def test_invalid_balance_is_reported_by_its_digest(value: object) -> None:
    (state,) = [s for s in found(entry(0, "a", value)) if s.aggregate == "balance"]
    assert state.amount is None
    assert state.digest is not None


def test_whole_float_counts_as_an_integer() -> None:
    (balance, _) = found(entry(0, "a", {"balance": 5.0, "payments": 1}))
    assert (balance.amount, balance.digest) == (5, None)


def test_tombstone_removes_an_account() -> None:
    first = entry(0, "a", {"balance": 5, "payments": 1})
    assert states(first, entry(1, "a", None)) == {}
    again = entry(2, "a", {"balance": 7, "payments": 2})
    assert states(first, entry(1, "a", None), again)["a", "balance"] == 7
