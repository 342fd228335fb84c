"""A topic, as a reader of committed records sees it, or one that reads all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.user_pipeline.identity import Written
from onceproof.harness.user_pipeline.outputs.base import Found
from onceproof.harness.user_pipeline.outputs.kind import RECORD, OutputKind, any_place

READ_COMMITTED, READ_UNCOMMITTED = "read_committed", "read_uncommitted"


class Topic:
    """One topic."""

    def __init__(self, reader: LogReader, name: str, view: str) -> None:
        self._reader = reader
        self._name = name
        self._all = view == READ_UNCOMMITTED

    def size(self) -> int:
        """How far such a reader gets, over all partitions."""
        ends = self._reader.ends(self._name).values()
        return sum(high if self._all else stable for stable, high in ends)

    def found(self) -> Iterator[Found]:
        """Every record; markers are none."""
        for log in self._reader.read_topic(self._name):
            for entry, committed in zip(log.entries, log.committed(), strict=True):
                if entry.kind == "data" and (committed or self._all):
                    yield Found(
                        written=Written(
                            value=_text(entry.value),
                            key=_text(entry.key),
                            headers={k: _text(v) or "" for k, v in entry.headers.items()},
                        ),
                        position=f"{entry.topic}-{entry.partition}@{entry.offset}",
                        log=f"{entry.topic}-{entry.partition}",
                    )

    def hanging(self) -> bool:
        """Whether a transaction is open on any partition."""
        return any(stable < high for stable, high in self._reader.ends(self._name).values())


def _text(data: bytes | None) -> str | None:
    """UTF-8, with numbers for bytes that are none: contents that differ must stay different."""
    return None if data is None else data.decode(errors="backslashreplace")


OUTPUTS: Final = (
    OutputKind(
        prefix="topic",
        place="TOPIC",
        says="A topic; `topic:` may be left out.",
        views={
            READ_COMMITTED: lambda place, where: Topic(where.reader, place, READ_COMMITTED),
            READ_UNCOMMITTED: lambda place, where: Topic(where.reader, place, READ_UNCOMMITTED),
        },
        view_is="isolation level",
        check=any_place,
        rules=RECORD,
    ),
)
