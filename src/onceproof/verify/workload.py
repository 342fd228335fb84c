"""The records that a trial sends to its inputs: generated, or from a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from onceproof.harness.user_pipeline.codecs import check_function
from onceproof.harness.user_pipeline.contents import functions
from onceproof.harness.user_pipeline.event_time import ROUNDS, EventTime
from onceproof.harness.user_pipeline.input_file import count
from onceproof.harness.user_pipeline.orders import Match, Orders
from onceproof.harness.user_pipeline.several_inputs import SeveralInputs
from onceproof.harness.user_pipeline.upserts import check_spread
from onceproof.verify.options import BadTrial, InputOptions, VerifyOptions

RECORDS: Final = 12_000
"""Default minimum of generated orders."""
SENTINELS: Final = 60
"""Number of last records, which are sent when everything else is idle."""


def workload_of(options: VerifyOptions, sinks: Sequence[str]) -> Orders | SeveralInputs:
    """Return the records for all inputs; `sinks` are the names of the outputs.

    Raises:
        BadTrial, BadRule: an option is invalid.
    """
    if not options.others:
        return _orders(options, options, sinks)
    inputs = (
        _orders(options, of, sinks, "orders" if of is options else "payments")
        for of in options.inputs
    )
    return SeveralInputs(inputs=tuple(map(_with_sentinels, inputs)), rate=options.rate)


def _with_sentinels(orders: Orders) -> Orders:
    """Give each producer the same number of sentinels, at least one."""
    each = orders.sentinels // orders.producers
    return replace(orders, sentinels=max(each, 1) * orders.producers)


def _orders(
    options: VerifyOptions, of: InputOptions, sinks: Sequence[str], match: Match | None = None
) -> Orders:
    several = len(options.inputs)
    orders = Orders(
        topic=of.topic,
        records=(options.records or RECORDS) // several,
        effects=of.effects,
        effect_key=of.effect_key,
        expects=functions(options.expects, sinks),
        ignored=options.ignored,
        encode=of.encode,
        states=functions(options.states, sinks, "--expect-state"),
        upserts=options.upserts is not None,
        partitions=options.partitions,
        rate=options.rate,
        sentinels=SENTINELS,
        match=match,
    )
    if of.data is not None:
        if not of.data.is_file():
            raise BadTrial(f"{of.data} does not exist; expected a .jsonl, .csv or .parquet file")
        available = count(of.data)
        orders = replace(
            orders,
            records=min(options.records or available, available),
            file=str(of.data.absolute()),
            identity=of.data_identity or of.identity,
            key=of.data_key,
        )
    elif of.data_identity or of.data_key:
        raise BadTrial("--data-identity and --data-key need --data, the file with the records")
    orders = replace(orders, sentinels=min(SENTINELS // several, orders.records // 10))
    if options.event_time is not None:
        times = EventTime.parse(
            options.event_time, options.event_time_format, options.allowed_lateness or ""
        )
        whole = ROUNDS * orders.producers
        orders = replace(orders, times=times, sentinels=orders.sentinels // whole * whole)
    # This finds records without an identity, and records for which a function fails.
    for sink in sinks:
        keyed = orders.keyed(seed=0, sink=sink)
        if options.upserts is not None and not options.states:
            check_spread(keyed)
    orders.check_states()
    if of.encode is not None:
        check_function("--encode", of.encode)
        orders.check_encoded()
    return orders
