"""Names of topics by their ids, learned from Metadata and from the harness.

Newer versions of Produce, Fetch and the offset APIs carry ids only, and
clients ask for Metadata minutes apart. So the harness teaches the ids of the topics that its rules
name, and what clients are told later is learned as it passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID


class Topics:
    """Names of topics by their ids."""

    def __init__(self) -> None:
        self._names: dict[UUID, str] = {}

    def teach(self, names: Mapping[UUID, str]) -> None:
        self._names.update(names)

    def learn(self, metadata: Any) -> None:
        for topic in metadata.topics or []:
            if topic.topic_id is not None and topic.name:
                self._names[topic.topic_id] = topic.name

    def names(self, ids: Iterable[UUID]) -> tuple[set[str], set[UUID]]:
        """The names of some ids, and the ids that are not known."""
        wanted = set(ids)
        known = wanted & self._names.keys()
        return {self._names[one] for one in known}, wanted - known

    def name(self, topic: str | UUID) -> str | UUID:
        """Its name; its id where that is all that is known."""
        return self._names.get(topic, topic) if isinstance(topic, UUID) else topic
