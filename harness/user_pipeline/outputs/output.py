"""An output as named on a command line: `enriched`, `postgres:ledger`, `parquet:{work}/out`.

To add a kind, add a module with `OUTPUTS` to this folder; see `kinds.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from onceproof.harness.history.identity import digest
from onceproof.harness.sinks.base import AtomicBatch, Effect, State
from onceproof.harness.user_pipeline.codecs import decoders
from onceproof.harness.user_pipeline.contents import Contents
from onceproof.harness.user_pipeline.effects import NOT_JUDGED, ExpectedEffects
from onceproof.harness.user_pipeline.final_state import FinalState, StateTable
from onceproof.harness.user_pipeline.identity import BadRule, Rule
from onceproof.harness.user_pipeline.origins import Origin, Rules, origins, rules_of
from onceproof.harness.user_pipeline.outputs.base import FoundEffect, Source
from onceproof.harness.user_pipeline.outputs.kind import OutputAccess, OutputKind
from onceproof.harness.user_pipeline.outputs.kinds import output_kinds, usages
from onceproof.harness.user_pipeline.upserts import Upserts


@dataclass(frozen=True, kw_only=True)
class Output:
    """One place that a pipeline writes to.

    Attributes:
        kind: prefix of an `OutputKind`.
        place: as written: a topic, a queue, a table, a folder or a command.
        identity: where an effect has the identity of its input, or of those of several topics.
        decode: function that decodes the value of a topic's record; None: it is text.
    """

    kind: str
    place: str
    view: str
    identity: Rule | Rules
    decode: str | None = None

    @classmethod
    def parse(cls, text: str, identity: Rule | Rules) -> Output:
        """Parse an output as written on a command line.

        Raises:
            BadRule: unknown kind or placeholder, or the identity rule cannot apply.
        """
        prefix, colon, place = text.partition(":")
        if not colon:
            prefix, place = "topic", text
        kind = output_kinds().get(prefix)
        if kind is None or not place:
            raise BadRule(f"invalid output {text!r}: expected {usages()}")
        place, view = kind.parse(place)
        for rule in rules_of(identity):
            kind.check_rule(rule, what="identity", place=text)
        return cls(kind=prefix, place=place, view=view, identity=identity)

    def __str__(self) -> str:
        """Describe it for the settings of a run."""
        decoded = "" if self.decode is None else f", decoded by {self.decode}"
        return f"{self.kind}:{self.place} ({self.view}), identity {self.identity}{decoded}"

    @property
    def name(self) -> str:
        """Its name in effects."""
        return self.place.removeprefix("{work}/")

    @property
    def topic(self) -> str | None:
        return self.place if self.kind == "topic" else None

    @property
    def queue(self) -> str | None:
        return self.place if self.kind == "queue" else None

    @property
    def rule(self) -> Rule:
        """The identity rule, if there is only one input."""
        assert isinstance(self.identity, Rule), (
            "options that need this are rejected with several inputs"
        )
        return self.identity

    def open(
        self, where: OutputAccess, yields: ExpectedEffects | Mapping[str | None, ExpectedEffects]
    ) -> OwnSink:
        """Open it for reading; `yields` may differ by input topic."""
        by_topic: Mapping[str | None, ExpectedEffects]
        by_topic = {None: yields} if isinstance(yields, ExpectedEffects) else yields
        return OwnSink(self, self._source(where), by_topic)

    def open_upserts(self, where: OutputAccess, key: Rule, yields: ExpectedEffects) -> Upserts:
        """Open it for reading as one value per key; `key` finds the key."""
        kind = StateTable if isinstance(yields, FinalState) else Upserts
        return kind(
            source=self._source(where),
            name=self.name,
            view=self.view,
            identity=self.rule,
            key=key,
            not_judged=NOT_JUDGED,
            content=yields.digest if isinstance(yields, Contents | FinalState) else None,
        )

    def check_rule(self, rule: Rule, *, what: str) -> None:
        self._kind.check_rule(rule, what=what, place=self.name)

    @property
    def untested(self) -> str:
        """What no trial tests of it."""
        return self._kind.untested

    @property
    def _kind(self) -> OutputKind:
        return output_kinds()[self.kind]

    def _source(self, where: OutputAccess) -> Source:
        return self._kind.views[self.view](self.place, replace(where, decode=self.decode))


class OwnSink:
    """An output as a sink: its contents are effects of the inputs that they name."""

    def __init__(
        self, output: Output, source: Source, yields: Mapping[str | None, ExpectedEffects]
    ) -> None:
        self.name = output.name
        self._output = output
        self._source = source
        self._yields = yields

    def size(self) -> int:
        return self._source.size()

    def effects(self) -> list[Effect]:
        """Return one effect per message or row, or per input that it names."""
        of: dict[str | None, list[Effect]] = defaultdict(list)
        for ordinal, found in enumerate(self._source.found()):
            for origin in origins(self._output.identity, found.written):
                of[origin.topic].append(self._effect(found, origin, ordinal))
        return [
            effect
            for topic, effects in of.items()
            for effect in (self._yields[topic].named(effects) if topic in self._yields else effects)
        ]

    def _effect(self, found: FoundEffect, origin: Origin, ordinal: int) -> Effect:
        yields = self._yields.get(origin.topic, ExpectedEffects())
        return Effect(
            sink=self.name,
            view=self._output.view,
            record=origin.record,
            effect_key=(yields.key and yields.key.find(found.written))
            or digest(found.written.key, found.written.value),
            digest=yields.digest(found.written),
            position=f"{found.position}{origin.place}",
            ordinal=ordinal,
            source_topic=origin.topic,
        )

    def records(self) -> frozenset[str | None]:
        """Return the inputs that its effects name."""
        return frozenset(
            origin.record
            for found in self._source.found()
            for origin in origins(self._output.identity, found.written)
        )

    def states(self) -> list[State]:
        """Return nothing: only effects are judged."""
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        """Return nothing: none are known."""
        return []

    def hanging(self) -> bool:
        return self._source.hanging()


def with_decoders(outputs: Sequence[Output], texts: Sequence[str]) -> tuple[Output, ...]:
    """Return the outputs with their functions of `--decode`; raise `BadRule` for an invalid one."""
    topics = [output.name for output in outputs if output.topic is not None]
    if texts and not topics:
        raise BadRule("--decode: no output is a topic; only the records of a topic can be decoded")
    found = decoders(texts, topics)
    return tuple(replace(output, decode=found.get(output.name)) for output in outputs)
