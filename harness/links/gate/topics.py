"""Map topic ids to names, learned from the harness and from Metadata responses.

Newer versions of Produce, Fetch and the offset APIs contain only ids, and clients request Metadata
minutes apart. So the harness teaches the ids of the topics that its rules name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID


class Topics:
    """Known topic names, by id."""

    def __init__(self) -> None:
        self._names: dict[UUID, str] = {}

    def teach(self, names: Mapping[UUID, str]) -> None:
        self._names.update(names)

    def learn(self, metadata: Any) -> None:
        for topic in metadata.topics or []:
            if topic.topic_id is not None and topic.name:
                self._names[topic.topic_id] = topic.name

    def names(self, ids: Iterable[UUID]) -> tuple[set[str], set[UUID]]:
        """Return the names of the known ids, and the unknown ids."""
        wanted = set(ids)
        known = wanted & self._names.keys()
        return {self._names[one] for one in known}, wanted - known

    def name(self, topic: str | UUID) -> str | UUID:
        """Return the topic's name, or its id if the name is unknown."""
        return self._names.get(topic, topic) if isinstance(topic, UUID) else topic
