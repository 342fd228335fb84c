"""What readers of ledger and balances saw while they changed, in PostgreSQL.

A change is recorded at the end of its own transaction, so only committed final states are recorded.
The transaction locks the table of notes until it is visible, so notes are in the order in which
readers saw the changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from onceproof.harness.history.identity import digest

LEDGER: Final = "ledger-journal"
BALANCES: Final = "balances-journal"
"""For a reader that misses no change, these are other sinks than the final tables."""
VIEW: Final = "journal"
"""The view of a reader that misses no change."""

SCHEMA: Final = """
CREATE TABLE notes (
    ordinal bigserial PRIMARY KEY, transaction_id text, operation text, seq bigint, record text,
    account text, amount_cents bigint, fee_cents bigint, source_partition int,
    source_offset bigint, payments bigint);
CREATE FUNCTION note_row() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    seen ledger := coalesce(NEW, OLD);
BEGIN
    LOCK TABLE notes IN SHARE ROW EXCLUSIVE MODE;
    IF TG_OP = 'DELETE' OR EXISTS (SELECT FROM ledger l WHERE l.seq = NEW.seq AND l = NEW) THEN
        INSERT INTO notes (transaction_id, operation, seq, record, account, amount_cents, fee_cents,
                           source_partition, source_offset)
        VALUES (pg_current_xact_id()::text, TG_OP, seen.seq, seen.record, seen.account,
                seen.amount_cents, seen.fee_cents, seen.source_partition, seen.source_offset);
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION note_balance() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE notes IN SHARE ROW EXCLUSIVE MODE;
    INSERT INTO notes (transaction_id, operation, account, amount_cents, payments)
    SELECT pg_current_xact_id()::text, 'BALANCE', account, balance, payments
    FROM balances WHERE account = NEW.account;
    RETURN NULL;
END $$;
-- Triggers fire in order of their names. This one must fire after hold_commit, because its table
-- lock would keep others from committing while a commit is held.
CREATE CONSTRAINT TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON ledger
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_row();
CREATE CONSTRAINT TRIGGER note_change AFTER INSERT OR UPDATE ON balances
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_balance()
"""
"""Deferred triggers run at the end of a transaction. Its locks are released when it is visible."""

NOTES: Final = """
SELECT transaction_id, operation, seq, record, account, amount_cents, fee_cents, source_partition,
       source_offset, payments
FROM notes ORDER BY ordinal
"""
_OPERATIONS: Final = {"INSERT": "append", "UPDATE": "upsert", "DELETE": "delete"}


@dataclass(frozen=True)
class Note:
    """A row of `NOTES`; for BALANCE, `amount_cents` has the balance."""

    transaction: str
    operation: str
    seq: int | None
    record: str | None
    account: str | None
    amount_cents: int | None
    fee_cents: int | None
    partition: int | None
    offset: int | None
    payments: int | None

    @property
    def digest(self) -> str:
        return digest(self.record, self.account, self.amount_cents, self.fee_cents)


def changes(rows: Iterable[tuple[Any, ...]], *, topic: str, owner: str) -> list[dict[str, Any]]:
    """Return rows of the `journal` table.

    For readers, a balance must change by exactly the payments that enter and leave the ledger in
    the same transaction. If so, it shows each new payment once. If not, it shows them with a wrong
    digest; without a new payment, it shows the account's newest one again.
    """
    books = _Books()
    notes = (Note(*row) for row in rows)
    shown = (
        shown
        for _, transaction in groupby(notes, key=lambda note: note.transaction)
        for shown in books.seen(list(transaction))
    )
    return [
        {
            "sink": sink,
            "ordinal": ordinal,
            "operation": operation,
            "record": note.record,
            "effect_key": "",
            "digest": content,
            "transaction": note.transaction,
            "batch": None,
            "source_topic": topic,
            "source_partition": note.partition,
            "source_offset": note.offset,
            "owner": owner,
        }
        for ordinal, (sink, operation, note, content) in enumerate(shown)
    ]


_Change = tuple[str, str, Note, str]
"""Sink, operation, payment, and digest of what was shown of it."""


class _Books:
    """The state that readers see, from one transaction to the next."""

    def __init__(self) -> None:
        self._rows: dict[int | None, Note] = {}
        self._newest: dict[str | None, Note] = {}
        self._balances: dict[str | None, tuple[int, int]] = {}

    def seen(self, transaction: list[Note]) -> Iterator[_Change]:
        came: defaultdict[str | None, list[Note]] = defaultdict(list)
        moved: defaultdict[str | None, tuple[int, int]] = defaultdict(lambda: (0, 0))
        balances: dict[str | None, tuple[int, int]] = {}
        for note in transaction:
            if note.operation == "BALANCE":
                balances[note.account] = (note.amount_cents or 0, note.payments or 0)
                continue
            gone = self._rows.pop(note.seq, None)
            if gone is not None:
                moved[gone.account] = _sum(moved[gone.account], gone, -1)
            if note.operation != "DELETE":
                self._rows[note.seq] = note
                self._newest[note.account] = note
                moved[note.account] = _sum(moved[note.account], note, 1)
                came[note.account].append(note)
            elif gone is None:
                continue  # inserted and deleted in one transaction: never visible
            yield LEDGER, _OPERATIONS[note.operation], note, note.digest
        for account in {**moved, **balances}:
            before = self._balances.get(account, (0, 0))
            now = self._balances[account] = balances.get(account, before)
            amount, payments = moved[account]
            if now == (before[0] + amount, before[1] + payments):
                yield from ((BALANCES, "append", note, note.digest) for note in came[account])
                continue
            newest = self._newest.get(account)
            for note in came[account] or ([newest] if newest else []):
                yield BALANCES, "append", note, digest(note.digest, *now)


def _sum(moved: tuple[int, int], note: Note, sign: int) -> tuple[int, int]:
    return moved[0] + sign * (note.amount_cents or 0), moved[1] + sign
