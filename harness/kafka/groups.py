"""What a consumer group has committed, and moving it.

Only a group without members can be moved from outside; the broker refuses
the others. A group that never had members, only positions, is as good as an empty one.
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

from onceproof.harness.kafka.coordinator import Coordinator, Refused
from onceproof.harness.kafka.errors import error_name

_DESCRIBE, _FETCH, _COMMIT, _LEAVE = 4, 5, 7, 3  # the newest without flexible headers
_ABSENT = -1


@dataclass(frozen=True, kw_only=True)
class GroupState:
    """A group as its coordinator describes it: `Empty`, `Stable`, `Dead` …, and its members."""

    state: str
    members: tuple[str, ...]


class Group:
    """One consumer group."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator

    def describe(self) -> GroupState:
        """Its state, and the client ids of its members.

        Raises:
            Overdue: nobody answers in time.
            Refused: the broker refused.
        """
        group = self._described()
        members = tuple(sorted(str(member.client_id) for member in group.members))
        return GroupState(state=str(group.group_state), members=members)

    def remove_members(self, *, but: str | None = None) -> None:
        """Remove every member without a static id, as an administrator may.

        Args:
            but: client id of members that stay.

        Raises:
            Overdue: nobody answers in time.
            Refused: the broker refused.
        """
        ids = [
            str(member.member_id)
            for member in self._described().members
            if member.group_instance_id is None and member.client_id != but
        ]
        if not ids:
            return
        gone = LeaveGroupRequest.MemberIdentity
        request = LeaveGroupRequest(
            group_id=self._coordinator.name, members=[gone(member_id=one) for one in ids]
        )
        _, code = self._coordinator.ask(
            request,
            version=_LEAVE,
            answer=LeaveGroupResponse,
            code=lambda answer: int(answer.error_code),
        )
        _check(code, f"removing members of group {self._coordinator.name}")

    def _described(self) -> Any:
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
        """The offset that it has committed; None if it has none there.

        Raises:
            Overdue: nobody answers in time.
            Refused: the broker refused.
        """
        wanted = OffsetFetchRequest.OffsetFetchRequestTopic
        request = OffsetFetchRequest(
            group_id=self._coordinator.name,
            topics=[wanted(name=topic, partition_indexes=[partition])],
        )
        found, code = self._coordinator.ask(
            request, version=_FETCH, answer=OffsetFetchResponse, code=_first_error
        )
        _check(code, f"asking what group {self._coordinator.name} has committed")
        offset = int(found.topics[0].partitions[0].committed_offset)
        return None if offset == _ABSENT else offset

    def commit(self, topic: str, partition: int, offset: int) -> None:
        """Commit an offset in its name.

        Raises:
            Overdue: nobody answers in time.
            Refused: the broker refused, as it does when the group has members.
        """
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
    whole = int(getattr(answer, "error_code", 0) or 0)
    return whole or int(answer.topics[0].partitions[0].error_code)


def _check(code: int, doing: str) -> None:
    if code:
        raise Refused(f"{doing}: {error_name(code)}")
