"""Describe a consumer group, and get and set its committed offsets.

A broker accepts offsets from outside only for a group without members. A group that never had
members, only offsets, counts as empty. Groups of both protocols are described: the classic one and
the consumer protocol (KIP-848).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kafka.protocol.admin import DescribeGroupsRequest, DescribeGroupsResponse
from kafka.protocol.consumer import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)

from onceproof.harness.kafka import consumer_groups
from onceproof.harness.kafka.coordinator import Coordinator, Refused
from onceproof.harness.kafka.errors import error_name

_DESCRIBE, _FETCH, _COMMIT, _LEAVE = 4, 5, 7, 3  # the newest without flexible headers
_NO_OFFSET = -1
_DEAD = "Dead"
"""What a broker says of a group that it does not know, or that has another protocol."""


@dataclass(frozen=True, kw_only=True)
class GroupState:
    """A group's state (`Empty`, `Stable`, `Dead` …) and the client ids of its members."""

    state: str
    members: tuple[str, ...]


class Group:
    """One consumer group.

    All methods raise `Overdue` if no coordinator answers in time, and `Refused` if the broker
    answers with an error.
    """

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator

    def describe(self) -> GroupState:
        group = self._described()
        members = tuple(sorted(str(member.client_id) for member in group.members))
        return GroupState(state=str(group.group_state), members=members)

    def remove_members(self, *, but: str | None = None) -> None:
        """Remove every dynamic member, except those with the client id `but`."""
        classic = self._classic()
        if (newer := self._of_consumer_protocol(classic)) is not None:
            for member in newer.members:
                if member.instance_id is None and member.client_id != but:
                    code = consumer_groups.leave(self._coordinator, str(member.member_id))
                    _check(code, f"removing a member of group {self._coordinator.name}")
            return
        ids = [
            str(member.member_id)
            for member in classic.members
            if member.group_instance_id is None and member.client_id != but
        ]
        if not ids:
            return
        member = LeaveGroupRequest.MemberIdentity
        request = LeaveGroupRequest(
            group_id=self._coordinator.name, members=[member(member_id=one) for one in ids]
        )
        _, code = self._coordinator.ask(
            request,
            version=_LEAVE,
            answer=LeaveGroupResponse,
            code=lambda answer: int(answer.error_code),
        )
        _check(code, f"removing members of group {self._coordinator.name}")

    def _described(self) -> Any:
        classic = self._classic()
        return self._of_consumer_protocol(classic) or classic

    def _of_consumer_protocol(self, classic: Any) -> Any | None:
        """Return the group if it has the consumer protocol."""
        if classic.group_state != _DEAD or not consumer_groups.known(self._coordinator):
            return None
        found, code = consumer_groups.described(self._coordinator)
        if code == consumer_groups.NOT_FOUND:
            return None
        _check(code, f"describing group {self._coordinator.name}")
        return found

    def _classic(self) -> Any:
        request = DescribeGroupsRequest(groups=[self._coordinator.name])
        found, code = self._coordinator.ask(
            request,
            version=_DESCRIBE,
            answer=DescribeGroupsResponse,
            code=lambda answer: int(answer.groups[0].error_code),
        )
        _check(code, f"describing group {self._coordinator.name}")
        return found.groups[0]

    def committed(self, topic: str, partition: int) -> int | None:
        """Return the committed offset of a partition, or None."""
        wanted = OffsetFetchRequest.OffsetFetchRequestTopic
        request = OffsetFetchRequest(
            group_id=self._coordinator.name,
            topics=[wanted(name=topic, partition_indexes=[partition])],
        )
        found, code = self._coordinator.ask(
            request, version=_FETCH, answer=OffsetFetchResponse, code=_first_error
        )
        _check(code, f"fetching the committed offsets of group {self._coordinator.name}")
        offset = int(found.topics[0].partitions[0].committed_offset)
        return None if offset == _NO_OFFSET else offset

    def commit(self, topic: str, partition: int, offset: int) -> None:
        """Commit an offset for the group, which the broker refuses if the group has members."""
        wanted = OffsetCommitRequest.OffsetCommitRequestTopic
        one = wanted.OffsetCommitRequestPartition(
            partition_index=partition, committed_offset=offset, committed_metadata=""
        )
        request = OffsetCommitRequest(
            group_id=self._coordinator.name,
            member_id="",
            topics=[wanted(name=topic, partitions=[one])],
        )
        _, code = self._coordinator.ask(
            request, version=_COMMIT, answer=OffsetCommitResponse, code=_first_error
        )
        _check(code, f"committing {topic}-{partition}@{offset} for group {self._coordinator.name}")


def _first_error(answer: Any) -> int:
    top_level = int(getattr(answer, "error_code", 0) or 0)
    return top_level or int(answer.topics[0].partitions[0].error_code)


def _check(code: int, doing: str) -> None:
    if code:
        raise Refused(f"{doing}: {error_name(code)}")
