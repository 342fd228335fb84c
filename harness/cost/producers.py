"""Compare bare producers of a client library: plain, idempotent, transactional."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, Literal

from onceproof.harness.cost.ways import (
    FULL,
    NAP,
    PROOF,
    USUAL,
    Comparison,
    Phase,
    Setup,
    Start,
    Way,
    Where,
    again,
    at_interval,
    topic_of,
)
from onceproof.harness.java.programs import programs_for
from onceproof.harness.processes.processes import Process
from onceproof.harness.processes.python import python_module

Client = Literal["librdkafka", "java"]
CLIENTS: Final[tuple[Client, ...]] = ("librdkafka", "java")
Extent = Literal["brief", "usual", "whole"]
"""Plain and transactional producers; at full speed also an idempotent one; this at all loads, and
those of the announcement."""

PLAIN, PLAIN_AGAIN = "plain", "plain-again"
IDEMPOTENT = "idempotent"
TRANSACTIONAL, LATE = "transactional", "transactional-late"
IN_ORDER, ACKS_1 = "in-order", "acks-1"
"""Plain producers that Kafka 0.11 was announced against: with acks=all and one request in flight,
and with acks=1, the default then."""
_HELD: Final = 4
"""Fewest records in a client's buffer."""
_IN_FLIGHT: Final = "max.in.flight.requests.per.connection"
JVM: Final = ("-Xmx512m",)
"""What a Java application has by default, but for its memory."""


def comparison_of(
    client: Client, setup: Setup, *, name: str | None = None, extent: Extent = "usual"
) -> Comparison:
    """Return the comparison of a client's producers.

    Args:
        name: of the comparison; None: that of the client.
        extent: which producers there are.
    """
    called = name or client
    common = {"linger.ms": str(setup.linger), **_buffer(client, setup.size)}
    plain = {**common, "acks": setup.acks, "enable.idempotence": "false"}
    idempotent = {**common, "acks": "all", "enable.idempotence": "true"}

    def way(
        own: str,
        settings: Mapping[str, str],
        phases: tuple[Phase, ...] = USUAL,
        interval: float = 0.0,
        nap: float = 0.0,
    ) -> Way:
        """Return a way; with an interval it is transactional."""
        records = setup.commit_records if interval else 0
        by_time = 0.0 if records else interval
        task = {
            "topic": topic_of(f"{called}-{own}"),
            "size": setup.size,
            "commit_every": by_time or None,
            "commit_records": records or None,
            "nap": nap,
        }
        if interval:
            settings = {**settings, "transactional.id": f"cost-{called}-{own}"}
        return Way(
            comparison=called,
            name=own,
            start=producer(client, settings, task),
            phases=phases,
            interval=by_time,
            records=records,
            nap=nap,
        )

    main, *others = setup.commit_every
    # Transactions of so many records at a fixed rate hide a sleep: the next one catches up.
    proof = FULL if setup.commit_records else PROOF
    ways = [
        way(PLAIN, plain),
        way(PLAIN_AGAIN, plain, again(setup)),
        way(TRANSACTIONAL, idempotent, tuple(dict.fromkeys((*USUAL, *proof))), main),
        way(LATE, idempotent, proof, main, NAP),
    ]
    pairs = [(PLAIN, TRANSACTIONAL)]
    if extent != "brief":
        ways.append(way(IDEMPOTENT, idempotent, USUAL if extent == "whole" else FULL))
        pairs += [(PLAIN, IDEMPOTENT), (IDEMPOTENT, TRANSACTIONAL)]
    if extent == "whole":
        ways.append(way(IN_ORDER, {**plain, "acks": "all", _IN_FLIGHT: "1"}, FULL))
        ways.append(way(ACKS_1, {**plain, "acks": "1"}, FULL))
        pairs += [(IN_ORDER, TRANSACTIONAL), (ACKS_1, TRANSACTIONAL)]
    for interval in () if setup.commit_records else others:
        ways.append(way(at_interval(TRANSACTIONAL, interval), idempotent, USUAL, interval))
        pairs.append((PLAIN, ways[-1].name))
    return Comparison(
        name=called,
        setup=setup,
        ways=tuple(ways),
        pairs=tuple(pairs),
        again=PLAIN_AGAIN,
        twin=(TRANSACTIONAL, LATE),
    )


def _buffer(client: Client, size: int) -> Mapping[str, str]:
    """Return a buffer that keeps a client busy, and is soon written when a phase ends."""
    if client == "java":
        return {"buffer.memory": str(max(1 << 20, _HELD * size))}
    return {"queue.buffering.max.kbytes": str(max(4096, _HELD * size >> 10))}


def producer(client: Client, settings: Mapping[str, str], task: Mapping[str, object]) -> Start:
    """Return what starts a bare producer with these settings; `load.py` says what TASK is."""

    def start(where: Where, name: str) -> Process:
        words = json.dumps({**task, "client": {**settings, "bootstrap.servers": where.bootstrap}})
        if client == "java":
            command = programs_for(where.tools).command("Load", words, options=JVM)
        else:
            command = list(python_module("onceproof.harness.cost.load", words))
        return where.processes.start(name, command, pipes=True)

    return start
