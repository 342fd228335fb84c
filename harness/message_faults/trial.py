"""Hit one message of a transaction with one fault, and report the outcome at client and log.

It counts as a hit only if the gate acted exactly once, on that message of that transactional id,
and the consequence was seen too: a held message was delivered no earlier than intended, or a broker
was gone before its message arrived. A message that the client is said never to send is a miss.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from confluent_kafka import Consumer, TopicPartition

from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.kafka.topics import create_topics
from onceproof.harness.links.gate.client import Placed
from onceproof.harness.links.gate.rules import MessageMatch, Rule
from onceproof.harness.links.topology import AUDITOR, Link, node_id
from onceproof.harness.message_faults.clients import Client, Task, read_result
from onceproof.harness.message_faults.combinations import Combination
from onceproof.harness.processes.processes import Process
from onceproof.harness.stage.alone import Alone
from onceproof.harness.wait import Overdue, Stop, wait_until

VALUES: Final = ("one", "two", "three")
OFFSET: Final = 7
_CLIENT_SECONDS: Final = 45.0
"""Seconds for which a client retries."""
_HUNG_SECONDS: Final = 75.0
"""Seconds after which a client counts as hung and is killed; it should have given up long ago."""
_IN_SYNC_SECONDS: Final = 90.0


@dataclass(frozen=True, kw_only=True)
class Result:
    """The outcome of one trial."""

    client: str
    combination: Combination
    missed: str | None
    """Why the message was not hit exactly; None if it was."""
    outcome: str
    seconds: float | None
    """From the fault to the commit; None without a commit."""
    seen: str


class Trials:
    """Trials on one stage, with gates on all producer links."""

    def __init__(self, up: Alone, client: Client) -> None:
        self._up = up
        self._stage = up.stage
        self._client = client
        self._links = [Link("producer", node) for node in up.stage.brokers]
        self._input = f"exact-{client.name}-input"
        self._count = 0

    def __enter__(self) -> Trials:
        for link in self._links:
            self._stage.gate(link)
        create_topics(self._stage.bootstrap(AUDITOR), [self._input], partitions=1)
        return self

    def __exit__(self, *_: object) -> None:
        for link in self._links:
            self._stage.ungate(link)

    def attempt(self, combination: Combination) -> Result:
        """Run one trial and restore the stage."""
        self._count += 1
        name = f"exact-{self._client.name}-{self._count}"
        create_topics(self._stage.bootstrap(AUDITOR), [name], partitions=1)
        self._wait_in_sync()
        with ExitStack() as stack:
            placed = self._put(combination.rule(name), stack)
            unsent = [
                each
                for message in self._client.never_sends
                for each in self._put(sending(message, name), stack)
            ]
            process = self._client.start(self._up.processes, self._task(name))
            stack.callback(process.kill, "the trial is over")
            hit = self._wait_hit(placed, process)
            killed = self._apply(combination, placed, hit, stack)
            outcome, at = self._wait_end(process)
            missed = why_missed(combination, placed, hit, killed) or why_sent(unsent)
        began = hit.fired[0]["at"] if hit else 0
        return Result(
            client=self._client.name,
            combination=combination,
            missed=missed,
            outcome=outcome,
            seconds=(at - began) / 1e9 if hit and at else None,
            seen=self._seen(name),
        )

    def _put(self, rule: Rule, stack: ExitStack) -> list[Placed]:
        placed = [self._stage.gate(link).put(rule) for link in self._links]
        for each in placed:
            stack.callback(each.remove)
        return placed

    def _task(self, name: str) -> Task:
        return Task(
            bootstrap=self._stage.bootstrap("producer"),
            transactional_id=name,
            topic=name,
            values=VALUES,
            input=self._input,
            group=name,
            offset=OFFSET,
            seconds=_CLIENT_SECONDS,
        )

    def _wait_hit(self, placed: list[Placed], process: Process) -> Placed | None:
        """Return the rule that acted; remove the others, as the client may retry elsewhere."""

        def acted() -> Placed | bool:
            hit = next((each for each in placed if each.fired), None)
            return hit or not process.leader_alive()

        try:
            found = wait_until(
                acted, what="the message to be hit", seconds=_HUNG_SECONDS, every=0.01
            )
        except Overdue:
            return None
        if not isinstance(found, Placed):
            return None
        for each in placed:
            if each is not found:
                each.remove()
        return found

    def _apply(
        self, combination: Combination, placed: list[Placed], hit: Placed | None, stack: ExitStack
    ) -> str | None:
        """Do what the gate cannot do: release or kill; return the killed broker."""
        blow = combination.blow
        if hit is None:
            return None
        if blow.held_seconds:
            Stop().pause(blow.held_seconds)
            hit.release()
        if not blow.kills:
            return None
        (node,) = {str(link.target) for link in self._links if str(link) in hit.links}
        stack.callback(self._stage.restart, node)
        self._stage.kill(node, f"killed with {combination.message} in flight")
        return node

    def _wait_end(self, process: Process) -> tuple[str, int | None]:
        try:
            wait_until(
                lambda: not process.leader_alive(),
                what="the client to end",
                seconds=_HUNG_SECONDS,
                every=0.05,
            )
        except Overdue:
            return "hung", None
        result = read_result(process)
        if result is None:
            return f"ended without a result; last log lines: {process.tail()}", None
        return result.describe(), result.at if result.committed else None

    def _seen(self, name: str) -> str:
        """Describe the log and the committed offset, bypassing the proxies."""
        self._wait_in_sync()
        addresses = {
            node_id(node): self._stage.bootstrap(AUDITOR, node) for node in self._stage.brokers
        }
        reader = LogReader(ClusterView(addresses), addresses)
        try:
            # EndTxn is acknowledged before its markers are written.
            wait_until(
                lambda: len(set(reader.ends(name)[0])) == 1,
                what="the transaction to end",
                seconds=_IN_SYNC_SECONDS,
                seen=lambda: reader.ends(name),
            )
            log = reader.read(name, 0)
        finally:
            reader.close()
        values = [
            (entry.value or b"").decode()
            for entry, committed in zip(log.entries, log.committed(), strict=True)
            if committed and entry.kind == "data"
        ]
        member = Consumer({
            **connection(self._stage.bootstrap(AUDITOR)).librdkafka(),
            "log_level": 0,
            "group.id": name,
        })  # fmt: skip
        try:
            (place,) = member.committed([TopicPartition(self._input, 0)], _IN_SYNC_SECONDS)
        finally:
            member.close()
        return how_seen(values, place.offset)

    def _wait_in_sync(self) -> None:
        addresses = {
            node_id(node): self._stage.bootstrap(AUDITOR, node) for node in self._stage.brokers
        }
        with ClusterView(addresses) as view:
            wait_until(
                lambda: not self._stage.disturbed() and view.in_sync_everywhere(),
                what="every node to run and every replica to be in sync",
                seconds=_IN_SYNC_SECONDS,
                every=0.1,
                seen=lambda: (self._stage.disturbed(), view.out_of_sync()),
            )


def why_missed(
    combination: Combination, placed: list[Placed], hit: Placed | None, killed: str | None
) -> str | None:
    fired = [event for each in placed for event in each.fired]
    if hit is None or len(fired) != 1:
        return f"hit {len(fired)} messages, expected 1"
    (event,) = fired
    if event["api"] != combination.message:
        return f"hit {event['api']} instead"
    blow = combination.blow
    if blow.held_seconds:
        delivered = hit.delivered
        if not delivered or delivered[0]["at"] - event["at"] < blow.held_seconds * 1e9:
            return "was not held, or never delivered"
    if blow.kills and (killed is None or hit.delivered or not hit.lost):
        return "reached the broker before the kill"
    return None


def sending(message: str, transactional_id: str) -> Rule:
    """Return a rule that reports when a client sends a message after all."""
    match = MessageMatch(direction="request", api=message, transactional_id=transactional_id)
    return match.rule("report")


def why_sent(unsent: list[Placed]) -> str | None:
    sent = sorted({event["api"] for each in unsent for event in each.fired})
    return f"sent {', '.join(sent)}, which this client should never send" if sent else None


def how_seen(values: list[str], offset: int) -> str:
    expected = list(VALUES)
    records = (
        "once" if values == expected else "none" if not values else f"records {','.join(values)}"
    )
    moved = offset == OFFSET
    if (records == "once") is moved:
        return records
    return f"{records}, offset {'moved' if moved else 'not moved'}"
