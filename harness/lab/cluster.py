"""What moves on the brokers of a lab: log ends, groups with their members, open transactions.

Every part is asked separately, so that a broker which is down hides only what it coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConsumerGroupDescription

from onceproof.harness.context.run_context import RunContext, addresses
from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.kafka.group_list import Offsets, offsets_of_groups
from onceproof.harness.kafka.log_reader import UnreadableLog
from onceproof.harness.kafka.transaction_list import transactions
from onceproof.harness.links.topology import AUDITOR, broker_name

_SECONDS: Final = 3
"""Time-out of an answer about the members of a group."""
_OPEN: Final = frozenset({"Ongoing", "PrepareCommit", "PrepareAbort"})

_Ends = dict[tuple[str, int], int]


class Cluster:
    """Asks the brokers of one run, past the proxies. Not thread-safe."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._admin: AdminClient | None = None

    def now(self) -> dict[str, Any]:
        """Return log ends, groups with members and lag, and open transactions.

        What cannot be asked for at the moment is missing.
        """
        if not self._context.stage.brokers:
            return {"ends": [], "groups": [], "transactions": []}
        direct = self._direct()
        ends = self._ends()
        return {
            "ends": [
                {"topic": topic, "partition": partition, "end": end}
                for (topic, partition), end in sorted(ends.items())
            ],
            "groups": list(self._groups(direct, ends)),
            "transactions": list(_open_transactions(direct)),
        }

    def _direct(self) -> list[str]:
        """Return the addresses of the brokers that can answer."""
        return [
            address
            for node, address in addresses(self._context.stage).items()
            if self._context.answers(broker_name(node))
        ]

    def _ends(self) -> _Ends:
        found: _Ends = {}
        with self._context.view() as view:
            topics = {partition.topic for partition in view.clients() or ()}
        with self._context.reader() as reader:
            for topic in sorted(topics):
                with suppress(UnreadableLog):
                    ends = reader.ends(topic)
                    found |= {(topic, number): end for number, (_, end) in ends.items()}
        return found

    def _groups(self, direct: list[str], ends: _Ends) -> Iterator[dict[str, Any]]:
        known: dict[str, Offsets] = {}
        for address in direct:
            with suppress(OSError, Refused):
                known |= {found.group: found for found in offsets_of_groups([address])}
        for name, members in self._members([*known]).items():
            offsets = known[name].offsets
            yield {
                "group": name,
                "state": known[name].state,
                "members": members,
                "lag": sum(
                    max(ends[at] - offset, 0) for at, offset in offsets.items() if at in ends
                ),
                "committed": [
                    {"topic": topic, "partition": partition, "offset": offset}
                    for (topic, partition), offset in sorted(offsets.items())
                ],
            }

    def _members(self, names: list[str]) -> dict[str, list[dict[str, Any]]]:
        """Return the members of each group; of a group whose coordinator is silent, none."""
        found: dict[str, list[dict[str, Any]]] = {name: [] for name in sorted(names)}
        if not names:
            return found
        if self._admin is None:
            bootstrap = self._context.stage.bootstrap(AUDITOR)
            self._admin = AdminClient({**connection(bootstrap).librdkafka(), "log_level": 0})
        try:
            asked = self._admin.describe_consumer_groups(names, request_timeout=_SECONDS)
        except KafkaException:
            asked = {}
        for name, future in asked.items():
            try:
                found[name] = _described(future.result(_SECONDS + 1))
            except (KafkaException, TimeoutError):
                # A client keeps asking the broker that used to coordinate the group.
                self._admin = None
        return found


def _described(group: ConsumerGroupDescription) -> list[dict[str, Any]]:
    return [
        {
            "member": str(each.member_id),
            "client": str(each.client_id),
            "partitions": sorted(
                f"{at.topic}-{at.partition}" for at in each.assignment.topic_partitions
            ),
        }
        for each in sorted(group.members, key=lambda each: str(each.client_id))
    ]


def _open_transactions(direct: list[str]) -> Iterator[Mapping[str, str]]:
    for address in direct:
        with suppress(OSError, Refused):
            for name, state in sorted(transactions([address], "").items()):
                if state in _OPEN:
                    yield {"transactional_id": name, "state": state}
