"""The options of `onceproof verify`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from onceproof.checkers.claims import AT_LEAST_ONCE, AT_MOST_ONCE, ATOMIC, EXACTLY_ONCE
from onceproof.harness.user_pipeline.event_time import ISO
from onceproof.verify.plan import STANDARD

CLAIMS: Final = (EXACTLY_ONCE, AT_LEAST_ONCE, AT_MOST_ONCE, ATOMIC)
"""Guarantees that can be tested without further knowledge of a pipeline."""


class BadTrial(ValueError):
    """The options make no valid trial; the message says what would be right."""


ORDERS: Final = "json:$.order_id"
"""Default identity rule of outputs; generated orders carry this field."""
PAYMENTS: Final = "json:$.payment_id"
"""Default identity rule for each input after the first."""


@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """Options for one input.

    Attributes:
        identity: rule for the input's identity in an effect.
        effects: number of effects of each input.
        effect_key: rule for what distinguishes the effects of one input.
        dead_letter_identity: rule for the input's identity in a dead letter; None: `identity`.
        encode: function that returns an input's bytes; None: JSON text.
        data: file of records; None: generated records.
        data_identity, data_key: rules for identity and key of a record in `data`.
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
    """All options; the inherited ones are those of the first input.

    Attributes:
        command: the pipeline's command, with placeholders in braces, started in `folder`.
        outputs: where it writes, in the syntax of `Output.parse`.
        topics: further topics to create.
        expects: functions that return the content of effects, for all outputs or one; replace
            `effects`.
        ignored: rules for fields that are not compared.
        states: functions that return the final state of outputs; replace `expects`.
        idempotency_key: header by which the HTTP service recognizes a repeated request.
        healthy: URL that answers 2xx while the pipeline runs; None: wait for its first effect.
        image: Docker image, with `command` as its arguments; None: a local program.
        compose, service: compose file and the service in it that is the pipeline; None: a local
            program.
        variables: environment variables, as NAME=VALUE.
        feed: command that delivers inputs to the pipeline; None: it reads a topic.
        stop_command, kill_command: for a service that `command` starts in the background.
        decodes: functions that decode the values of topics, all or one; without them values are
            text.
        upserts: rule for the key, if outputs keep one value for each key.
        event_time: rule for an input's event time, if windows wait for later ones.
        records: number of records; None: all of a file, or the default.
        partitions, rate: of each input topic; records per second while faults are active.
        preset: how often each hazard is triggered.
        faults, schedule: faults by name, or a file with a schedule; replace the plan.
        accepted: hazards that may stay untested.
        transactional_input: whether producers of the inputs may abort transactions.
        settle: seconds that outputs may be idle while the pipeline still works; None: as learned.
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
    compose: Path | None = None
    service: str | None = None
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
    transactional_input: bool = False
    settle: float | None = None

    @property
    def inputs(self) -> tuple[InputOptions, ...]:
        return (self, *self.others)
