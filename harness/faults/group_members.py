"""The members of a consumer group of either protocol, as its coordinator reports them."""

from __future__ import annotations

from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConsumerGroupDescription

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.wait import wait_until

_STABLE_SECONDS: Final = 60.0


class GroupMembers:
    """Query the members of one group repeatedly."""

    def __init__(self, context: RunContext, group: str) -> None:
        self._context = context
        self.name = group
        self._admin = self._new_admin()
        self.last_answer = "no answer yet"
        """In words, for error messages."""

    def describe(self) -> ConsumerGroupDescription | None:
        """Describe the group; None if the coordinator does not answer."""
        asked = self._admin.describe_consumer_groups([self.name], request_timeout=5)
        try:
            found: ConsumerGroupDescription = asked[self.name].result(10)
        except KafkaException as error:
            self.last_answer = f"no answer: {error.args[0]}"
            # A client keeps asking the broker that used to coordinate the group.
            self._admin = self._new_admin()
            return None
        members = ", ".join(sorted(str(each.member_id) for each in found.members))
        self.last_answer = f"{found.state.name}, with {members or 'no members'}"
        return found

    def ids(self) -> frozenset[str]:
        """Return the member ids; empty if the group is unstable or its coordinator is silent."""
        found = self.describe()
        if found is None or found.state.name != "STABLE":
            return frozenset()
        return frozenset(str(each.member_id) for each in found.members)

    def wait_stable(self) -> frozenset[str]:
        """Wait for a stable group with members; return their ids, or raise `Overdue`."""
        return wait_until(
            self.ids,
            what=f"group {self.name} to be stable",
            seconds=_STABLE_SECONDS,
            every=0.1,
            stop=self._context.stop,
            seen=lambda: self.last_answer,
        )

    def _new_admin(self) -> AdminClient:
        bootstrap = self._context.stage.bootstrap(AUDITOR)
        return AdminClient({**connection(bootstrap).librdkafka(), "log_level": 0})
