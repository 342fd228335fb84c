"""Payments: drawn from the seed, unique, and with their expected effects."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from decimal import ROUND_FLOOR, Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.history.identity import digest
from onceproof.harness.workload import payments
from onceproof.harness.workload.payments import (
    CLOSING_MS,
    EFFECT_COLUMNS,
    EVENTS_BEGIN_MS,
    REPEATS_BEHIND,
    Payment,
    Payments,
    fee,
    payments_of,
)

workloads = st.builds(
    Payments,
    records=st.integers(0, 60),
    producers=st.integers(1, 7),
    keys=st.integers(1, 5),
)
seeds = st.integers(0, 2**40)


def all_of(workload: Payments, seed: int) -> list[list[Payment]]:
    return [list(payments_of(workload, producer=n, seed=seed)) for n in range(workload.producers)]


@given(workloads, seeds)
def test_same_seed_draws_the_same_payments(workload: Payments, seed: int) -> None:
    assert all_of(workload, seed) == all_of(workload, seed)


@given(workloads, seeds)
def test_records_are_shared_evenly_among_producers(workload: Payments, seed: int) -> None:
    counts = [len(share) for share in all_of(workload, seed)]
    assert sum(counts) == workload.records
    assert max(counts) - min(counts) <= 1


@given(workloads, seeds)
def test_record_ids_are_unique(workload: Payments, seed: int) -> None:
    records = [p.record for share in all_of(workload, seed) for p in share]
    assert len(set(records)) == len(records)


@given(workloads, seeds)
def test_keys_and_amounts_are_in_range(workload: Payments, seed: int) -> None:
    for share in all_of(workload, seed):
        for payment in share:
            assert 0 <= int(payment.account.removeprefix("account-")) < workload.keys
            assert 100 <= payment.amount_cents < 1_000_000


def test_different_seeds_draw_different_payments() -> None:
    one, other = (all_of(Payments(records=20, producers=1), seed)[0] for seed in (1, 2))
    assert [p.note for p in one] != [p.note for p in other]
    assert [p.amount_cents for p in one] != [p.amount_cents for p in other]


def test_two_producers_draw_different_payments() -> None:
    one, other = all_of(Payments(records=40, producers=2), 1)
    assert not {p.note for p in one} & {p.note for p in other}


def test_every_key_is_used() -> None:
    (share,) = all_of(Payments(records=500, producers=1, keys=8), 1)
    assert len({p.key for p in share}) == 8


@given(st.integers(0, 10**12))
def test_fee_equals_decimal_arithmetic(amount: int) -> None:
    part = (Decimal(amount) * Decimal("0.029")).to_integral_value(ROUND_FLOOR)
    # As text, because text is digested: 30.0 and 30 have different digests.
    assert str(fee(amount)) == str(int(part) + 30)


def test_fee_of_known_amounts() -> None:
    assert [fee(a) for a in (0, 34, 35, 1000, 999_999)] == [30, 30, 31, 59, 29_029]


PAYMENT = Payment(record="p0-000000", account="account-007", amount_cents=1234, note="n")


def test_effect_digest_is_of_its_columns_in_order() -> None:
    content = {**vars(PAYMENT), "fee_cents": fee(PAYMENT.amount_cents)}
    assert PAYMENT.effect_digest == digest(*(content[column] for column in EFFECT_COLUMNS))


@pytest.mark.parametrize(
    "change", [{"record": "p0-000001"}, {"account": "account-008"}, {"amount_cents": 1235}]
)
def test_effect_digest_changes_with_each_column(change: dict[str, object]) -> None:
    # 1234 and 1235 cents have the same fee, so only the amount differs.
    assert fee(1234) == fee(1235)
    assert replace(PAYMENT, **change).effect_digest != PAYMENT.effect_digest


def test_effect_digest_changes_with_the_fee(monkeypatch: pytest.MonkeyPatch) -> None:
    before = PAYMENT.effect_digest
    monkeypatch.setattr(payments, "fee", lambda amount: fee(amount) + 1)
    assert PAYMENT.effect_digest != before


def test_effect_digest_ignores_the_note() -> None:
    other = replace(PAYMENT, note="m")
    assert other.effect_digest == PAYMENT.effect_digest
    assert other.digest != PAYMENT.digest


def test_value_has_every_field() -> None:
    whole = replace(PAYMENT, event_ms=1_767_225_600_123, refund_of="p0-000001")
    assert json.loads(whole.value) == vars(whole)
    plain = {k: v for k, v in vars(PAYMENT).items() if v is not None}
    assert json.loads(PAYMENT.value) == plain
    assert list(plain) == ["record", "account", "amount_cents", "note"]
    assert PAYMENT.digest == digest(PAYMENT.key, PAYMENT.value)


@pytest.mark.parametrize("name", ["producers", "keys", "partitions", "rate"])
def test_count_below_one_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=rf"Payments\({name}=0\): must be at least 1"):
        Payments(**{name: 0})


def test_negative_number_of_records_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Payments\(records=-1\): must not be negative"):
        Payments(records=-1)


# Event times.

times = st.builds(
    Payments,
    records=st.integers(2, 60),
    producers=st.just(1),
    partitions=st.just(1),
    event_step_ms=st.integers(1, 5_000),
    disorder_ms=st.integers(0, 60_000),
)


@given(times, seeds)
def test_event_times_lag_at_most_by_the_disorder(workload: Payments, seed: int) -> None:
    (share,) = all_of(workload, seed)
    *before, last = (p.event_ms for p in share)
    newest = 0
    for at in before:
        assert at is not None
        assert newest - at < workload.disorder_ms + 1
        newest = max(newest, at)
    assert last == CLOSING_MS > newest + 1_000 * workload.disorder_ms
    assert [p.closes for p in share] == [False] * len(before) + [True]


def test_event_times_use_the_whole_disorder() -> None:
    workload = Payments(
        records=4_000, producers=1, partitions=1, event_step_ms=1_000, disorder_ms=30_000
    )
    (share,) = all_of(workload, 1)
    behind = [
        EVENTS_BEGIN_MS + n * 1_000 - (p.event_ms or 0) for n, p in enumerate(share) if not p.closes
    ]
    assert min(behind) < 100
    assert max(behind) > 29_900


def test_event_times_do_not_change_the_payments() -> None:
    plain = Payments(records=20, producers=1, partitions=1)
    (share,) = all_of(plain, 5)
    (timed,) = all_of(replace(plain, event_step_ms=1_000, disorder_ms=9_000), 5)
    assert [replace(p, event_ms=None) for p in timed] == share
    assert len({p.event_ms for p in timed}) == 20
    assert not any(p.closes for p in share)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"event_step_ms": 1_000}, "expected producers=1 and partitions=1"),
        ({"event_step_ms": 1_000, "producers": 1}, "expected producers=1 and partitions=1"),
        ({"event_step_ms": 1_000, "partitions": 1}, "expected producers=1 and partitions=1"),
        ({"event_step_ms": -1}, "must not be negative"),
        ({"disorder_ms": -1}, "must not be negative"),
        ({"disorder_ms": 1}, "requires event_step_ms"),
    ],
)
def test_invalid_event_times_are_refused(wrong: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Payments(**wrong)


# Refunds and repeats.

REFUNDED = Payments(
    records=40, producers=1, partitions=1, event_step_ms=1_000, other_topic="refunds", refunds=True
)


def test_refund_follows_its_payment_in_the_other_topic() -> None:
    (share,) = all_of(REFUNDED, 3)
    assert [p.refund_of for p in share[::2]] == [None] * 20
    assert [p.refund_of for p in share[1::2]] == [p.record for p in share[::2]]
    sent = list(REFUNDED.sends(producer=0, seed=3))
    assert [r.topic for r in sent] == ["payments", "refunds"] * 20
    assert json.loads(share[1].value)["refund_of"] == share[0].record
    assert "refund_of" not in json.loads(share[0].value)
    # The last record of each topic closes it.
    assert [p.closes for p in share] == [False] * 38 + [True] * 2


def test_repeat_follows_its_payment_closely() -> None:
    workload = Payments(records=2_000, producers=1, repeats=20)
    (share,) = all_of(workload, 3)
    repeats = 0
    for n, payment in enumerate(share):
        if payment in share[:n]:
            repeats += 1
            assert payment in share[max(0, n - REPEATS_BEHIND) : n]
        else:
            assert payment.record == f"p0-{n:06d}"
    assert 320 < repeats < 480
    assert share == list(payments_of(workload, producer=0, seed=3))


@given(times.map(lambda workload: replace(workload, repeats=50)), seeds)
def test_last_payment_is_not_a_repeat(workload: Payments, seed: int) -> None:
    (share,) = all_of(workload, seed)
    assert [p.closes for p in share] == [False] * (len(share) - 1) + [True]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"refunds": True}, "expected other_topic and an even number"),
        ({"refunds": True, "other_topic": "r", "records": 3}, "even number of records"),
        ({"refunds": True, "other_topic": "r", "repeats": 1}, "0 with refunds"),
        ({"repeats": 100}, "must be from 0 to 99"),
        ({"repeats": -1}, "must be from 0 to 99"),
    ],
)
def test_invalid_refunds_and_repeats_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Payments(**wrong)


# The digest itself.

# Few characters, among them those of the framing, so that collisions would be likely.
texts = st.text("01:-a", max_size=4)
parts = st.lists(st.none() | texts | texts.map(str.encode) | st.integers(-11, 11), max_size=5)


def encoded(sequence: list[object]) -> tuple[bytes | None, ...]:
    return tuple(
        None if part is None else part if isinstance(part, bytes) else str(part).encode()
        for part in sequence
    )


@given(parts, parts)
def test_digests_are_equal_iff_the_sequences_are(one: list, other: list) -> None:
    assert (digest(*one) == digest(*other)) == (encoded(one) == encoded(other))


@given(st.binary(min_size=1, max_size=12), st.data())
def test_digest_depends_on_the_boundaries_of_parts(blob: bytes, data: st.DataObject) -> None:
    cut = st.integers(0, len(blob))
    a, b = data.draw(cut), data.draw(cut)
    same = digest(blob[:a], blob[a:]) == digest(blob[:b], blob[b:])
    assert same == (a == b)
    assert digest(blob) != digest(blob[:a], blob[a:])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((), (None,)),
        ((), ("",)),
        (("",), (None,)),
        (("-",), (None,)),
        (("a", "b"), ("ab",)),
        (("a", "1:b"), ("a1:b",)),
        ((None, "a"), ("a", None)),
    ],
)
def test_similar_sequences_have_different_digests(one: tuple, other: tuple) -> None:
    assert digest(*one) != digest(*other)


def test_digest_format_is_stable() -> None:
    # Histories on disk have digests; another framing would report old runs as altered.
    framed = hashlib.blake2b(b"9:p0-0000004:1234-1:\x00", digest_size=8)
    assert digest("p0-000000", 1234, None, b"\x00") == framed.hexdigest()
