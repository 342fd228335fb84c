"""An output as it is named on a command line: `enriched`, `postgres:ledger`, `parquet:{work}/out`.

Add a kind by adding a file beside this one and a line to `KINDS`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from onceproof.harness.history.identity import digest
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.base import AtomicBatch, Effect, State
from onceproof.harness.user_pipeline.effects import NOT_JUDGED, Yield
from onceproof.harness.user_pipeline.identity import BadRule, Rule
from onceproof.harness.user_pipeline.outputs.base import Source
from onceproof.harness.user_pipeline.outputs.delta import Delta
from onceproof.harness.user_pipeline.outputs.folder import FORMATS, Folder
from onceproof.harness.user_pipeline.outputs.iceberg import Iceberg
from onceproof.harness.user_pipeline.outputs.printed import Printed
from onceproof.harness.user_pipeline.outputs.table import Table
from onceproof.harness.user_pipeline.outputs.topic import READ_COMMITTED, READ_UNCOMMITTED, Topic
from onceproof.harness.user_pipeline.placeholders import fill, words
from onceproof.harness.user_pipeline.upserts import Upserts


@dataclass(frozen=True, kw_only=True)
class Where:
    """How outputs are reached, past all proxies.

    Attributes:
        database: how to connect to the stage's database.
        reader: reads topics.
        work: the folder that `{work}` means.
    """

    database: str
    reader: LogReader
    work: Path

    def fill(self, text: str) -> str:
        """A text of the command line with what its words in braces mean here."""
        bootstrap = self.reader.bootstrap if "bootstrap" in words(text) else ""
        return fill(
            text, {"bootstrap": bootstrap, "database": self.database, "work": str(self.work)}
        )


@dataclass(frozen=True, kw_only=True)
class Output:
    """One place that a pipeline writes to.

    Attributes:
        kind: a name of `KINDS`.
        place: a topic, a queue, a table, a folder or a command.
        view: who looks.
        identity: where an effect has the identity of its input.
    """

    kind: str
    place: str
    view: str
    identity: Rule

    @classmethod
    def parse(cls, text: str, identity: Rule) -> Output:
        """Read it as it is written on a command line.

        Raises:
            BadRule: there is no such kind, a word in braces means nothing there, or the identity
                cannot be there.
        """
        kind, colon, place = text.partition(":")
        if not colon:
            kind, place = "topic", text
        if kind not in KINDS or not place:
            raise BadRule(f"invalid output {text!r}: expected {OUTPUTS}")
        view = _VIEWS.get(kind, "table")
        if kind == "topic":
            place, _, view = place.partition("@")
            view = view or READ_COMMITTED
            if view not in (READ_COMMITTED, READ_UNCOMMITTED):
                raise BadRule(
                    f"{text!r}: invalid isolation level {view!r}: expected {READ_COMMITTED} or "
                    f"{READ_UNCOMMITTED}"
                )
        elif kind not in ("postgres", "queue"):
            fill(place, dict.fromkeys(WORDS, ""))
        if kind == "queue" and not _ADDRESS.fullmatch(place):
            raise BadRule(
                f"invalid queue address {text!r}: expected letters, digits, dots, underscores, "
                "slashes and hyphens"
            )
        if kind == "queue" and identity.kind == "key":
            raise BadRule(
                f"identity key cannot be in a message of {text}, which has none; expected "
                "json:$.FIELD, header:PROPERTY or regex:PATTERN"
            )
        if kind not in ("topic", "queue", "command") and not identity.of_rows:
            raise BadRule(
                f"identity {identity} cannot be in a row of {text}; expected json:$.COLUMN or "
                "regex:PATTERN"
            )
        return cls(kind=kind, place=place, view=view, identity=identity)

    def __str__(self) -> str:
        """As the settings of a run have it."""
        return f"{self.kind}:{self.place} ({self.view}), identity {self.identity}"

    @property
    def name(self) -> str:
        """What effects call it."""
        return self.place.removeprefix("{work}/")

    @property
    def topic(self) -> str | None:
        """The topic that it is, if it is one."""
        return self.place if self.kind == "topic" else None

    @property
    def queue(self) -> str | None:
        """The address of the queue that it is, if it is one."""
        return self.place if self.kind == "queue" else None

    def open(self, where: Where, yields: Yield) -> OwnSink:
        """It, as it is now."""
        return OwnSink(self, self._source(where), yields)

    def open_upserts(self, where: Where, key: Rule) -> Upserts:
        """It, as it is now, with one value for what `key` finds."""
        return Upserts(
            self._source(where),
            name=self.name,
            view=self.view,
            identity=self.identity,
            key=key,
            not_judged=NOT_JUDGED,
        )

    def _source(self, where: Where) -> Source:
        return KINDS[self.kind](self, where)


OUTPUTS: Final = (
    "TOPIC[@read_uncommitted], queue:ADDRESS, postgres:TABLE, parquet:FOLDER, csv:FOLDER, "
    "json:FOLDER, delta:FOLDER, iceberg:FOLDER or command:COMMAND"
)
"""What can be named, in words."""


def _folder(output: Output, where: Where) -> Source:
    return Folder(Path(where.fill(output.place)), output.kind)


_ADDRESS: Final = re.compile(r"[A-Za-z0-9._/-]+")
_VIEWS: Final = {"command": "printed", "queue": "queue", **dict.fromkeys(FORMATS, "listing")}
"""Who looks, where it is not somebody who reads a table, or a topic."""

WORDS: Final = ("bootstrap", "database", "work")
"""The words in braces that a folder or a command may have: all lead past what we disturb."""

KINDS: Final[dict[str, Callable[[Output, Where], Source]]] = {
    "topic": lambda output, where: Topic(where.reader, output.place, output.view),
    # It is read as a log; what is there is committed.
    "queue": lambda output, where: Topic(where.reader, output.place, READ_COMMITTED),
    "postgres": lambda output, where: Table(where.database, output.place),
    **dict.fromkeys(FORMATS, _folder),
    "delta": lambda output, where: Delta(Path(where.fill(output.place))),
    "iceberg": lambda output, where: Iceberg(Path(where.fill(output.place))),
    "command": lambda output, where: Printed(
        [where.fill(word) for word in shlex.split(output.place)]
    ),
}
"""What opens an output, by kind."""


class OwnSink:
    """An output as a sink: what it holds are effects of the inputs that they name."""

    def __init__(self, output: Output, source: Source, yields: Yield) -> None:
        self.name = output.name
        self._output = output
        self._source = source
        self._yields = yields

    def size(self) -> int:
        """A number that changes with everything that becomes visible."""
        return self._source.size()

    def effects(self) -> list[Effect]:
        """One for each thing in it."""
        key = self._yields.key
        return self._yields.named(
            Effect(
                sink=self.name,
                view=self._output.view,
                record=self._output.identity.find(found.written),
                effect_key=(key and key.find(found.written))
                or digest(found.written.key, found.written.value),
                digest=NOT_JUDGED,
                position=found.position,
                ordinal=ordinal,
            )
            for ordinal, found in enumerate(self._source.found())
        )

    def records(self) -> frozenset[str | None]:
        """The inputs that its effects name."""
        return frozenset(self._output.identity.find(f.written) for f in self._source.found())

    def states(self) -> list[State]:
        """None: only effects are judged."""
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        """None that we know of."""
        return []

    def hanging(self) -> bool:
        """Whether something in it is still undecided."""
        return self._source.hanging()
