"""What a user says of a pipeline of their own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from onceproof.checkers.claims import AT_LEAST_ONCE, AT_MOST_ONCE, ATOMIC, EXACTLY_ONCE
from onceproof.harness.user_pipeline.event_time import ISO
from onceproof.verify.plan import STANDARD

CLAIMS: Final = (EXACTLY_ONCE, AT_LEAST_ONCE, AT_MOST_ONCE, ATOMIC)
"""Guarantees that can be put on trial without knowing more of a pipeline."""


class BadTrial(ValueError):
    """The options make no valid trial; the text says what would be right."""


ORDERS: Final = "json:$.order_id"
"""Where outputs have the identity of an input, unless a user says; made-up orders have it so."""
PAYMENTS: Final = "json:$.payment_id"
"""The same of each input beside the first."""


@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """What a user says of one input.

    Attributes:
        topic: its name.
        identity: where an effect has the identity of its input.
        effects: how many each input has; `effect_key`: what tells several apart.
        dead_letter_identity: where a dead letter has the identity of its input, if it is not as in
            effects.
        encode: a function that returns the bytes of an input; None: they are text.
        data: a file of records; None: they are made up.
        data_identity, data_key: where a record of it has its identity, and its key.
    """

    topic: str = "orders"
    identity: str = ORDERS
    effects: str = "1"
    effect_key: str | None = None
    dead_letter_identity: str | None = None
    encode: str | None = None
    data: Path | None = None
    data_identity: str | None = None
    data_key: str | None = None


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(InputOptions):
    """What a user says; of the first input, or the only one, here.

    Attributes:
        command: of the pipeline, with words in braces.
        folder: where it is started.
        instances: how many processes of the command there are.
        others: what is said of other inputs.
        outputs: where it writes, as `Output.parse` reads it.
        topics: others that it needs.
        expects: functions that return the content of effects, for all outputs or one, in place of
            `effects`; `ignored`: rules of fields that are not compared.
        states: functions that return the final state of outputs, in place of `expects`.
        dead_letters: where it writes what it could not process.
        idempotency_key: the header by which the HTTP service recognizes a repeated request.
        healthy: a URL that answers 2xx while it is up; None: its first effect tells.
        image: the Docker image that `command` has arguments for; None: it is a program here.
        variables: environment variables, as NAME=VALUE.
        feed: the command that puts inputs where it reads them; None: it reads them from a topic.
        stop_command, kill_command: what ends it, where `command` starts a service and returns.
        decodes: functions that return the content of what is in topics, all or one; without them
            it is text.
        upserts: where a value has its key, if outputs keep one for each.
        event_time: where an input has its event time, if windows wait for later ones;
            `event_time_format`: how it is written; `allowed_lateness`: how late it may be.
        records: how many; None: all of a file, or as many as usual.
        partitions, rate: of each input topic; records per second while faults are at work.
        claims: guarantees on trial.
        preset: how often each hazard is met; `faults`: instead of a plan, by name; `schedule`: by
            file.
        accepted: names of hazards that may stay untested.
        plain_data: whether its input gets no odd records.
        settle: seconds for which its outputs may stand still while it goes on; None: as learned.
    """

    command: tuple[str, ...]
    folder: Path
    instances: int = 1
    others: tuple[InputOptions, ...] = ()
    outputs: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    expects: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    dead_letters: str | None = None
    idempotency_key: str | None = None
    healthy: str | None = None
    image: str | None = None
    variables: tuple[str, ...] = ()
    feed: str | None = None
    stop_command: str | None = None
    kill_command: str | None = None
    decodes: tuple[str, ...] = ()
    upserts: str | None = None
    event_time: str | None = None
    event_time_format: str = ISO
    allowed_lateness: str | None = None
    records: int | None = None
    partitions: int = 3
    rate: int = 400
    claims: tuple[str, ...] = (EXACTLY_ONCE,)
    preset: str = STANDARD
    faults: tuple[str, ...] = ()
    schedule: Path | None = None
    accepted: tuple[str, ...] = ()
    plain_data: bool = False
    settle: float | None = None

    @property
    def inputs(self) -> tuple[InputOptions, ...]:
        """What is said of each input."""
        return (self, *self.others)
