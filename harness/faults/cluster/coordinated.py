"""Access to groups and transactional ids through their coordinators, bypassing the proxies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from onceproof.harness.context.run_context import RunContext, addresses
from onceproof.harness.faults.words import UnknownFault
from onceproof.harness.kafka.coordinator import Coordinator
from onceproof.harness.kafka.groups import Group
from onceproof.harness.kafka.metadata import Coordinated
from onceproof.harness.kafka.transactions import TransactionalId

Tested = Literal["produce", "process"]
"""Whose claims a transactional id's owner tests: the producers' or the pipeline's."""
_PARTITION = re.compile(r"([A-Za-z0-9._-]+)-(\d+)")


@contextmanager
def group_of(context: RunContext, name: str) -> Iterator[Group]:
    with _coordinator(context, "group", name) as coordinator:
        yield Group(coordinator)


@contextmanager
def transactional_id_of(context: RunContext, name: str) -> Iterator[TransactionalId]:
    with _coordinator(context, "transaction", name) as coordinator:
        yield TransactionalId(coordinator)


@contextmanager
def _coordinator(context: RunContext, of: Coordinated, name: str) -> Iterator[Coordinator]:
    with context.view() as view:
        yield Coordinator(view, addresses(context.stage), of=of, name=name, stop=context.stop)


def partition(word: str) -> tuple[str, int]:
    """Parse a partition such as `payments-0`; raise `UnknownFault` if it is not one."""
    if found := _PARTITION.fullmatch(word):
        return found[1], int(found[2])
    raise UnknownFault(f"invalid partition {word!r}: expected TOPIC-PARTITION, such as payments-0")
