"""Generate orders from a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from onceproof.harness.user_pipeline.event_time import EventTime, made_up
from onceproof.harness.user_pipeline.input_file import InputRecord
from onceproof.harness.user_pipeline.odd_orders import as_odd
from onceproof.harness.user_pipeline.profile import EMPTY, KEYS
from onceproof.harness.workload.partitions import partition_of_key

ORDER_ID: Final = "order_id"
_ITEMS: Final = ("book", "lamp", "chair", "desk", "shelf")
_CUSTOMERS: Final = [f"customer-{number:02d}" for number in range(64)]
_EMPTY_FRACTION: Final = 4
"""With `EMPTY`, the first quarter of all orders leaves partition 0 empty. A tenth is too few: on a
busy machine it is sent before a pipeline has read much."""
_CUSTOMERS_BACK: Final = (0, 3, 7, 11)
"""How many customers back each of four consecutive orders goes."""


@dataclass(frozen=True, kw_only=True)
class MadeUp:
    """Parameters of generated orders.

    Attributes:
        sentinels: number of last orders, sent when the outputs are idle.
        odd: kinds of odd records among the others: `KEYS`, `NULL`, `OVERSIZE`, `EMPTY`.
        times: where to put event times; None: nowhere.
        new_at_the_end: whether each sentinel has a customer of its own.
        passing: whether every fourth order is the last of its customer.
    """

    records: int
    partitions: int = 3
    sentinels: int = 0
    odd: tuple[str, ...] = ()
    times: EventTime | None = None
    new_at_the_end: bool = False
    passing: bool = False


@lru_cache(maxsize=4)
def orders_made_up(of: MadeUp, seed: int) -> Sequence[InputRecord]:
    """Return the orders; cached, because each run asks for them about ten times."""
    draw = random.Random(f"{seed}/orders")
    apart = [name for name in _CUSTOMERS if partition_of_key(name, of.partitions)]
    begin = of.records // _EMPTY_FRACTION if EMPTY in of.odd else 0
    plain = of.records - of.sentinels
    # Each round covers all partitions, or the watermark of one would not advance.
    spread = _spread(_CUSTOMERS, of.partitions)
    event_times = made_up(of.times, of.records, seed) if of.times else ()
    made = []
    for n in range(of.records):
        begins = n < begin
        if of.new_at_the_end and n >= plain:
            # In a table of totals, only a new key shows that a sentinel has arrived.
            customer = _customer(of.records + n)
        elif of.passing:
            customer = _customer(n // 4 - _CUSTOMERS_BACK[n % 4] + _CUSTOMERS_BACK[-1])
        elif of.times and n >= plain:
            customer = spread[n % len(spread)]
        else:
            customer = draw.choice(apart if begins else _CUSTOMERS)
        identity = f"order-{n:06d}"
        order = {
            ORDER_ID: identity,
            "customer": customer,
            "item": draw.choice(_ITEMS),
            "quantity": draw.randrange(1, 10),
            "amount_cents": draw.randrange(100, 100_000),
        }
        value = json.dumps(order)
        if of.times:
            value = of.times.put(value, event_times[n])
        # Orders without a key could go to the empty partition.
        kinds = frozenset(of.odd) - ({KEYS} if begins else set())
        made.append(
            as_odd(InputRecord(identity=identity, key=customer, value=value), n, plain, kinds)
        )
    return made


def _spread(keys: Sequence[str], partitions: int) -> list[str]:
    """Reorder keys so that consecutive ones are in different partitions where possible."""
    of = [
        [key for key in keys if partition_of_key(key, partitions) == n] for n in range(partitions)
    ]
    return [each[n % len(each)] for n in range(len(keys)) for each in of if each]


def _customer(number: int) -> str:
    return f"customer-{number:05d}"
