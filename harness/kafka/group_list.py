"""List the consumer groups of a cluster and their committed offsets.

Each broker is asked about the groups that it coordinates. librdkafka 2.16 is not used: if a
coordinator moves during the request, it crashes the process, because it looks for the new one in
a consumer, which an admin client does not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any, Final

from kafka.protocol.admin import ListGroupsRequest, ListGroupsResponse
from kafka.protocol.consumer import OffsetFetchRequest, OffsetFetchResponse

from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.kafka.errors import error_name
from onceproof.harness.kafka.wire import Wire

_LIST: Final = 4
"""The first version with group states (KIP-518)."""
_FETCH: Final = 5
"""The last version without flexible headers."""
_MEMBERLESS: Final = frozenset({"Empty", "Dead"})
"""States of a group without members."""
_NOT_COORDINATOR: Final = frozenset({14, 15, 16})
"""Loading, not available, not the coordinator: the group is skipped at this broker."""


@dataclass(frozen=True, kw_only=True)
class Offsets:
    """The committed offsets of a group, by topic and partition, and its state (`Stable`, …)."""

    group: str
    state: str
    offsets: dict[tuple[str, int], int]


def groups_at_work(addresses: Iterable[str]) -> list[str]:
    """Return the ids of groups with members, skipping brokers that do not answer.

    Raises:
        Refused: a broker answers with an error.
    """
    found: list[str] = []
    for address in addresses:
        with closing(Wire(address)) as wire, suppress(OSError):
            found += [str(g.group_id) for g in _listed(wire) if g.group_state not in _MEMBERLESS]
    return found


def offsets_of_groups(addresses: Iterable[str]) -> Iterator[Offsets]:
    """Yield the committed offsets of every group, given the `host:port` of every broker.

    Raises:
        OSError: a broker does not answer; raised after the groups of all others were yielded.
        Refused: a broker answers with an error.
    """
    last_error: OSError | None = None
    for address in addresses:
        with closing(Wire(address)) as wire:
            try:
                yield from _coordinated(wire)
            except OSError as error:
                last_error = error
    if last_error is not None:
        raise last_error


def _coordinated(wire: Wire) -> Iterator[Offsets]:
    for group in _listed(wire):
        name = str(group.group_id)
        request = OffsetFetchRequest(group_id=name, topics=None)
        found = wire.ask(request, version=_FETCH, answer=OffsetFetchResponse)
        if found.error_code in _NOT_COORDINATOR:
            continue
        _check(found.error_code, f"fetching the committed offsets of group {name}")
        yield Offsets(group=name, state=str(group.group_state), offsets=_offsets(found))


def _listed(wire: Wire) -> Iterable[Any]:
    request = ListGroupsRequest(states_filter=[])
    listed = wire.ask(request, version=_LIST, answer=ListGroupsResponse)
    _check(listed.error_code, f"listing groups at {wire.address}")
    return listed.groups  # type: ignore[no-any-return]


def _offsets(found: Any) -> dict[tuple[str, int], int]:
    return {
        (str(topic.name), int(part.partition_index)): int(part.committed_offset)
        for topic in found.topics
        for part in topic.partitions
        if not part.error_code and part.committed_offset >= 0
    }


def _check(code: int, doing: str) -> None:
    if code:
        raise Refused(f"{doing}: {error_name(code)}")
