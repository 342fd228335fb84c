"""A topic, read with isolation level read_committed or read_uncommitted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.user_pipeline.codecs import decoded_cached, text_of_bytes
from onceproof.harness.user_pipeline.identity import BadRule, Written
from onceproof.harness.user_pipeline.outputs.base import FoundEffect, UnreadableOutput
from onceproof.harness.user_pipeline.outputs.kind import RECORD, Opened, OutputKind, any_place

READ_COMMITTED, READ_UNCOMMITTED = "read_committed", "read_uncommitted"


class Topic:
    """One topic."""

    def __init__(self, reader: LogReader, name: str, view: str, decode: str | None = None) -> None:
        self._reader = reader
        self._name = name
        self._all = view == READ_UNCOMMITTED
        self._decode = decode

    def size(self) -> int:
        """Return the sum of the end offsets at this isolation level."""
        ends = self._reader.ends(self._name).values()
        return sum(high if self._all else stable for stable, high in ends)

    def found(self) -> Iterator[FoundEffect]:
        """Yield every record except control records; raise `UnreadableOutput` if decoding fails."""
        for log in self._reader.read_topic(self._name):
            for entry, committed in zip(log.entries, log.committed(), strict=True):
                if entry.kind == "data" and (committed or self._all):
                    position = f"{entry.topic}-{entry.partition}@{entry.offset}"
                    headers = {k: text_of_bytes(v) or "" for k, v in entry.headers.items()}
                    try:
                        value = decoded_cached(self._decode, entry.value)
                    except BadRule as error:
                        raise UnreadableOutput(f"{position}: {error}") from error
                    yield FoundEffect(
                        written=Written(value=value, key=text_of_bytes(entry.key), headers=headers),
                        position=position,
                        log=f"{entry.topic}-{entry.partition}",
                    )

    def hanging(self) -> bool:
        """Return whether a transaction is open on any partition."""
        return any(stable < high for stable, high in self._reader.ends(self._name).values())


def _opened(view: str) -> Opened:
    return lambda place, where: Topic(where.reader, place, view, where.decode)


OUTPUTS: Final = (
    OutputKind(
        prefix="topic",
        place="TOPIC",
        says="A topic; the prefix `topic:` is optional.",
        views={
            READ_COMMITTED: _opened(READ_COMMITTED),
            READ_UNCOMMITTED: _opened(READ_UNCOMMITTED),
        },
        view_is="isolation level",
        check=any_place,
        rules=RECORD,
    ),
)
