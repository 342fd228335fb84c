"""Groups of the consumer protocol (KIP-848), which older requests do not know.

Their members are described by a request of their own. A member leaves by a heartbeat with the epoch
-1, which anybody can send for it.
"""

from __future__ import annotations

from typing import Any, Final

from kafka.protocol.api_message import ApiMessage
from kafka.protocol.metadata import ApiVersionsRequest, ApiVersionsResponse

from onceproof.harness.kafka.coordinator import Coordinator

_SCHEMAS: Final = "onceproof.harness.kafka.schemas"
_DESCRIBE: Final = 69
_LEAVES: Final = -1
NOT_FOUND: Final = 69
"""GROUP_ID_NOT_FOUND: there is no such group, or it has another protocol."""


class ConsumerGroupDescribeRequest(ApiMessage, load_json=_SCHEMAS):  # type: ignore[call-arg, misc]
    """The members of groups, and their partitions."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=_SCHEMAS):  # type: ignore[call-arg, misc]
    """Its answer."""


class ConsumerGroupHeartbeatRequest(ApiMessage, load_json=_SCHEMAS):  # type: ignore[call-arg, misc]
    """A sign of life, or the departure, of a member."""


class ConsumerGroupHeartbeatResponse(ApiMessage, load_json=_SCHEMAS):  # type: ignore[call-arg, misc]
    """Its answer."""


def known(coordinator: Coordinator) -> bool:
    """Return whether the broker has the consumer protocol; raises as `Coordinator.ask`."""
    found, _ = coordinator.ask(
        ApiVersionsRequest(),
        version=0,
        answer=ApiVersionsResponse,
        code=lambda answer: int(answer.error_code),
    )
    return any(int(each.api_key) == _DESCRIBE for each in found.api_keys)


def described(coordinator: Coordinator) -> tuple[Any, int]:
    """Return the group, with state and members, and an error code; raises as `Coordinator.ask`."""
    found, code = coordinator.ask(
        ConsumerGroupDescribeRequest(
            group_ids=[coordinator.name], include_authorized_operations=False
        ),
        version=0,
        answer=ConsumerGroupDescribeResponse,
        code=lambda answer: int(answer.groups[0].error_code),
    )
    return found.groups[0], code


def leave(coordinator: Coordinator, member: str) -> int:
    """Remove a member, and return the error code; raises as `Coordinator.ask`."""
    _, code = coordinator.ask(
        ConsumerGroupHeartbeatRequest(
            group_id=coordinator.name, member_id=member, member_epoch=_LEAVES
        ),
        version=0,
        answer=ConsumerGroupHeartbeatResponse,
        code=lambda answer: int(answer.error_code),
    )
    return code
