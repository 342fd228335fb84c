"""The options of an audit; the folder stores them, so that an audit can be resumed."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from onceproof.checkers.claims import AT_MOST_ONCE, EXACTLY_ONCE
from onceproof.harness.audit.plan import EARLIEST, LATEST, SETTLE, AuditRequest
from onceproof.harness.user_pipeline.codecs import decoders
from onceproof.harness.user_pipeline.contents import Contents, functions
from onceproof.harness.user_pipeline.effects import ExpectedEffects
from onceproof.harness.user_pipeline.identity import BadRule, Rule
from onceproof.harness.user_pipeline.outputs.output import Output
from onceproof.harness.user_pipeline.placeholders import words

_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")


class BadAudit(ValueError):
    """The options make no valid audit; the message says what would be right."""


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """Options; see `AuditRequest`, and the options of the same names in `onceproof verify`.

    Attributes:
        ignore_nameless: whether to leave out effects without an identity.
        workers: number of reading processes.
    """

    bootstrap: str
    input: str
    outputs: tuple[str, ...]
    identity: str
    input_identity: str | None = None
    dead_letters: str | None = None
    dead_letter_identity: str | None = None
    effects: str = "1"
    effect_key: str | None = None
    expects: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    decodes: tuple[str, ...] = ()
    from_: str = EARLIEST
    to: str | None = None
    last: int | None = None
    group: str | None = None
    settle: float = SETTLE
    claims: tuple[str, ...] = (EXACTLY_ONCE,)
    ignore_nameless: bool = False
    workers: int = 2

    def wanted(self, database: str) -> AuditRequest:
        """Return what to read; raise `BadAudit` if an option is invalid."""
        try:
            return self._wanted(database)
        except BadRule as error:
            raise BadAudit(str(error)) from error

    def _wanted(self, database: str) -> AuditRequest:
        if not _TOPIC.fullmatch(self.input):
            raise BadAudit(f"--input {self.input!r}: expected the name of a topic")
        identity = Rule.parse(self.identity)
        outputs = tuple(Output.parse(text, identity) for text in self.outputs)
        dead = None
        if self.dead_letters is not None:
            rule = Rule.parse(self.dead_letter_identity or self.identity)
            dead = Output.parse(self.dead_letters, rule)
        names = [output.name for output in outputs]
        places = (*outputs, *(() if dead is None else (dead,)))
        topics = [place.name for place in places if place.topic is not None]
        decode = decoders(self.decodes, [self.input, *topics])
        places = tuple(replace(place, decode=decode.get(place.name)) for place in places)
        outputs, dead = places[: len(outputs)], next(iter(places[len(outputs) :]), None)
        if len({place.name for place in places}) < len(places):
            raise BadAudit("two outputs have the same name; expected each output once")
        for output in places:
            if output.queue is not None:
                raise BadAudit(f"--output {output}: a queue cannot be read without emptying it")
            if odd := sorted(words(output.place) - {"database"}):
                raise BadAudit(f"--output {output.place}: {{{odd[0]}}} is defined only in a trial")
        if self.last is not None and self.from_ != EARLIEST:
            raise BadAudit("--last and --from: expected only one of them")
        yields = self._yields(names)
        if any(each.may_lack for each in yields.values()) and self.claims != (AT_MOST_ONCE,):
            raise BadAudit(
                f"--effects {self.effects} cannot reveal a loss, because an input may have no "
                "effect; expected --claim at-most-once, or --expect"
            )
        return AuditRequest(
            input=self.input,
            input_identity=Rule.parse(self.input_identity or self.identity),
            decode_input=decode.get(self.input),
            outputs=outputs,
            yields=yields if dead is None else {**yields, dead.name: ExpectedEffects()},
            dead_letters=dead,
            from_=self.from_,
            to=self.to or LATEST,
            last=self.last,
            group=self.group,
            settle=self.settle,
            database=database,
        )

    def _yields(self, names: list[str]) -> dict[str, ExpectedEffects]:
        if self.expects and self.effects != "1":
            raise BadAudit("--expect and --effects: expected only one of them")
        if self.ignored and not self.expects:
            raise BadAudit("--ignore works only with --expect")
        if not self.expects:
            return dict.fromkeys(names, ExpectedEffects.parse(self.effects, key=self.effect_key))
        return {
            sink: Contents.of(function, key=self.effect_key, ignored=self.ignored)
            for sink, function in functions(self.expects, names)
        }

    def as_json(self) -> str:
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> AuditOptions:
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in data.items()
        }
        return cls(**values)

    def given(self) -> dict[str, str]:
        """Return the options that were set, for the report."""
        return {
            name.rstrip("_"): ", ".join(value) if isinstance(value, tuple) else str(value)
            for name, value in asdict(self).items()
            if value not in (None, (), False)
        }
