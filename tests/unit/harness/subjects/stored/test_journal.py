"""The journal of ledger and balances, made from notes of the PostgreSQL triggers."""

from __future__ import annotations

from typing import Any

from onceproof.harness.history.identity import digest
from onceproof.harness.subjects.stored.journal import changes

Row = tuple[Any, ...]


def row(
    record: str, transaction: str, *, account: str = "a", operation: str = "INSERT", seq: int = 0
) -> Row:
    """Return a trigger's note of a row; `seq` is its key, by default one per record."""
    return (transaction, operation, seq or ord(record), record, account, 10, 3, 0, 7, None)


def balance(amount: int, count: int, transaction: str, *, account: str = "a") -> Row:
    return (transaction, "BALANCE", None, None, account, amount, None, None, None, count)


def journal_of(*notes: Row) -> list[str]:
    return [
        f"{change['sink'].removesuffix('-journal')}: {change['operation']} {change['record']}"
        + ("" if change["digest"] in RIGHT else " wrong")
        for change in changes(notes, topic="in", owner="billing")
    ]


RIGHT = {digest(record, account, 10, 3) for record in ("r", "s", "t") for account in ("a", "b")}


def test_payment_is_added_by_the_balance_of_its_transaction() -> None:
    first = (row("r", "1"), row("s", "1"), balance(20, 2, "1"))
    assert journal_of(*first, row("t", "2"), balance(30, 3, "2")) == [
        "ledger: append r", "ledger: append s", "balances: append r", "balances: append s",
        "ledger: append t", "balances: append t",
    ]  # fmt: skip


def test_accounts_are_kept_apart() -> None:
    notes = (row("r", "1"), row("s", "1", account="b"), balance(10, 1, "1"))
    assert journal_of(*notes, balance(10, 1, "1", account="b"))[2:] == [
        "balances: append r", "balances: append s",
    ]  # fmt: skip
    assert journal_of(*notes, balance(20, 1, "1", account="b"))[2:] == [
        "balances: append r", "balances: append s wrong",
    ]  # fmt: skip


def test_order_within_a_transaction_does_not_matter() -> None:
    assert journal_of(balance(10, 1, "1"), row("r", "1")) == [
        "ledger: append r",
        "balances: append r",
    ]


def test_balance_of_a_later_transaction_is_wrong() -> None:
    assert journal_of(row("r", "1"), balance(10, 1, "2")) == [
        "ledger: append r", "balances: append r wrong", "balances: append r wrong",
    ]  # fmt: skip


def test_right_sum_with_wrong_count_is_wrong() -> None:
    assert journal_of(row("r", "1"), balance(10, 2, "1"))[1:] == ["balances: append r wrong"]


def test_repeated_payment_appears_again_with_its_balance() -> None:
    twice = (
        row("r", "1"), balance(10, 1, "1"), row("r", "2", seq=8), row("s", "2"), balance(30, 3, "2")
    )  # fmt: skip
    assert journal_of(*twice)[2:] == [
        "ledger: append r", "ledger: append s", "balances: append r", "balances: append s",
    ]  # fmt: skip
    deleted = row("r", "3", operation="DELETE", seq=8)
    assert journal_of(*twice, deleted, balance(20, 2, "3"))[6:] == ["ledger: delete r"]
    assert journal_of(*twice, deleted)[6:] == ["ledger: delete r", "balances: append s wrong"]


def test_repeated_payment_missing_from_the_balance_is_wrong() -> None:
    once = (row("r", "1"), balance(10, 1, "1"))
    assert journal_of(*once, row("r", "2", seq=8))[2:] == [
        "ledger: append r",
        "balances: append r wrong",
    ]


def test_updated_row_moves_the_balances() -> None:
    notes = (row("r", "1"), balance(10, 1, "1"), row("r", "2", account="b", operation="UPDATE"))
    right = (balance(0, 0, "2"), balance(10, 1, "2", account="b"))
    assert journal_of(*notes, *right)[2:] == ["ledger: upsert r", "balances: append r"]
    assert journal_of(*notes, right[1])[2:] == [
        "ledger: upsert r", "balances: append r wrong", "balances: append r",
    ]  # fmt: skip


def test_delete_of_an_unseen_row_is_ignored() -> None:
    assert journal_of(row("r", "1", operation="DELETE")) == []


def test_balance_changed_without_a_payment_is_wrong() -> None:
    once = (row("r", "1"), row("s", "1"), balance(20, 2, "1"))
    assert journal_of(*once, balance(21, 2, "2"))[4:] == ["balances: append s wrong"]
    assert journal_of(*once, balance(20, 2, "2"))[4:] == []
    assert journal_of(balance(5, 1, "1")) == [], "there is no payment to tell it of"


def test_change_has_all_fields() -> None:
    first, second = changes([row("r", "41"), balance(10, 1, "41")], topic="in", owner="billing")
    assert first == {
        "sink": "ledger-journal", "ordinal": 0, "operation": "append", "record": "r",
        "effect_key": "", "digest": digest("r", "a", 10, 3), "transaction": "41", "batch": None,
        "source_topic": "in", "source_partition": 0, "source_offset": 7, "owner": "billing",
    }  # fmt: skip
    assert second == first | {"sink": "balances-journal", "ordinal": 1}
