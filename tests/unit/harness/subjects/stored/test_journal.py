"""The journal of ledger and balances, from notes as the triggers in PostgreSQL make them."""

from __future__ import annotations

from typing import Any

from onceproof.harness.history.identity import digest
from onceproof.harness.subjects.stored.journal import changes

Row = tuple[Any, ...]


def row(
    record: str, transaction: str, *, account: str = "a", operation: str = "INSERT", seq: int = 0
) -> Row:
    """Without `seq` its row is that of its record."""
    return (transaction, operation, seq or ord(record), record, account, 10, 3, 0, 7, None)


def balance(amount: int, count: int, transaction: str, *, account: str = "a") -> Row:
    return (transaction, "BALANCE", None, None, account, amount, None, None, None, count)


def seen(*notes: Row) -> list[str]:
    return [
        f"{change['sink'].removesuffix('-journal')}: {change['operation']} {change['record']}"
        + ("" if change["digest"] in RIGHT else " wrong")
        for change in changes(notes, topic="in", owner="billing")
    ]


RIGHT = {digest(record, account, 10, 3) for record in ("r", "s", "t") for account in ("a", "b")}


def test_a_payment_is_in_the_balance_that_came_with_it() -> None:
    first = (row("r", "1"), row("s", "1"), balance(20, 2, "1"))
    assert seen(*first, row("t", "2"), balance(30, 3, "2")) == [
        "ledger: append r", "ledger: append s", "balances: append r", "balances: append s",
        "ledger: append t", "balances: append t",
    ]  # fmt: skip


def test_accounts_are_told_apart() -> None:
    notes = (row("r", "1"), row("s", "1", account="b"), balance(10, 1, "1"))
    assert seen(*notes, balance(10, 1, "1", account="b"))[2:] == [
        "balances: append r", "balances: append s",
    ]  # fmt: skip
    assert seen(*notes, balance(20, 1, "1", account="b"))[2:] == [
        "balances: append r", "balances: append s wrong",
    ]  # fmt: skip


def test_within_a_transaction_the_order_does_not_matter() -> None:
    assert seen(balance(10, 1, "1"), row("r", "1")) == ["ledger: append r", "balances: append r"]


def test_of_another_transaction_it_comes_too_late() -> None:
    assert seen(row("r", "1"), balance(10, 1, "2")) == [
        "ledger: append r", "balances: append r wrong", "balances: append r wrong",
    ]  # fmt: skip


def test_the_right_sum_of_another_number_of_payments_is_wrong() -> None:
    assert seen(row("r", "1"), balance(10, 2, "1"))[1:] == ["balances: append r wrong"]


def test_a_payment_that_comes_again_is_shown_again_with_its_balance() -> None:
    twice = (
        row("r", "1"), balance(10, 1, "1"), row("r", "2", seq=8), row("s", "2"), balance(30, 3, "2")
    )  # fmt: skip
    assert seen(*twice)[2:] == [
        "ledger: append r", "ledger: append s", "balances: append r", "balances: append s",
    ]  # fmt: skip
    gone = row("r", "3", operation="DELETE", seq=8)
    assert seen(*twice, gone, balance(20, 2, "3"))[6:] == ["ledger: delete r"]
    assert seen(*twice, gone)[6:] == ["ledger: delete r", "balances: append s wrong"]


def test_a_payment_that_comes_again_and_is_not_added_is_shown_otherwise() -> None:
    once = (row("r", "1"), balance(10, 1, "1"))
    assert seen(*once, row("r", "2", seq=8))[2:] == ["ledger: append r", "balances: append r wrong"]


def test_a_row_that_is_changed_moves_balances_by_the_difference() -> None:
    notes = (row("r", "1"), balance(10, 1, "1"), row("r", "2", account="b", operation="UPDATE"))
    right = (balance(0, 0, "2"), balance(10, 1, "2", account="b"))
    assert seen(*notes, *right)[2:] == ["ledger: upsert r", "balances: append r"]
    assert seen(*notes, right[1])[2:] == [
        "ledger: upsert r", "balances: append r wrong", "balances: append r",
    ]  # fmt: skip


def test_what_came_and_went_within_a_transaction_was_seen_by_nobody() -> None:
    assert seen(row("r", "1", operation="DELETE")) == []


def test_a_balance_that_is_changed_by_itself_shows_its_newest_payment_otherwise() -> None:
    once = (row("r", "1"), row("s", "1"), balance(20, 2, "1"))
    assert seen(*once, balance(21, 2, "2"))[4:] == ["balances: append s wrong"]
    assert seen(*once, balance(20, 2, "2"))[4:] == []
    assert seen(balance(5, 1, "1")) == [], "there is no payment to tell it of"


def test_what_every_change_says() -> None:
    first, second = changes([row("r", "41"), balance(10, 1, "41")], topic="in", owner="billing")
    assert first == {
        "sink": "ledger-journal", "ordinal": 0, "operation": "append", "record": "r",
        "effect_key": "", "digest": digest("r", "a", 10, 3), "transaction": "41", "batch": None,
        "source_topic": "in", "source_partition": 0, "source_offset": 7, "owner": "billing",
    }  # fmt: skip
    assert second == first | {"sink": "balances-journal", "ordinal": 1}
