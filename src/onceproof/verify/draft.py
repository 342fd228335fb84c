"""Make a trial without schedule from the options of `onceproof verify`.

It finds errors in the options before anything is started, except those that depend on what the dry
run learns.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Final

from onceproof.checkers.claims import AT_LEAST_ONCE, AT_MOST_ONCE, ATOMIC
from onceproof.checkers.model import Claim, Expectation, Hop, Scope, Verdict
from onceproof.harness.faults.words import UnknownFault
from onceproof.harness.kafka.topic import Topic
from onceproof.harness.schedule.as_json import BadSchedule
from onceproof.harness.schedule.scenario import BadScenario, Scenario, ScheduledFault
from onceproof.harness.user_pipeline.identity import BadRule, Rule
from onceproof.harness.user_pipeline.meanings import WORDS
from onceproof.harness.user_pipeline.orders import Orders
from onceproof.harness.user_pipeline.origins import Rules
from onceproof.harness.user_pipeline.outputs.output import Output, with_decoders
from onceproof.harness.user_pipeline.placeholders import fill, input_word
from onceproof.harness.user_pipeline.several_inputs import SeveralInputs
from onceproof.harness.user_pipeline.subject import OwnPipeline
from onceproof.harness.workload.senders.librdkafka import Librdkafka
from onceproof.verify.checks import (
    check_atomic,
    check_deployed,
    check_event_time,
    check_expects,
    check_feed,
    check_healthy,
    check_http,
    check_image,
    check_inputs,
    check_instances,
    check_places,
    check_queues,
    check_several_identities,
    check_upserts,
)
from onceproof.verify.fine_print import fine_print
from onceproof.verify.hazards.registry import NAMES
from onceproof.verify.named_faults import named, schedule_of
from onceproof.verify.options import CLAIMS, BadTrial, VerifyOptions
from onceproof.verify.plan import ALL
from onceproof.verify.workload import workload_of

NAME: Final = "verify"
LEAST: Final = 20
"""Minimum of records for each fault: fewer would be processed before it has an effect."""
_FEWEST: Final = 10
"""Minimum number of faults in a plan."""
_LINGER_MS: Final = 200
"""Without batching, brokers would spend most of their work on requests of one record."""

_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
"""Topic names that Kafka accepts."""


def draft(options: VerifyOptions) -> Scenario:
    """Return the trial without schedule or hazards; raise `BadTrial` if an option is invalid."""
    try:
        return _draft(options)
    except (BadRule, UnknownFault, BadSchedule, BadScenario) as error:
        raise BadTrial(str(error)) from error


def _draft(options: VerifyOptions) -> Scenario:
    if not options.command and not options.image and not options.compose:
        raise BadTrial("no command: give the pipeline's command after --, as in `-- python job.py`")
    if not options.outputs:
        raise BadTrial("no output: give --output, the place that the pipeline writes to")
    for name in options.accepted:
        if name not in (ALL, *NAMES):
            raise BadTrial(
                f"--accept-untested {name}: no such hazard; expected {ALL}, or one of "
                f"{', '.join(NAMES)}"
            )
    for part in (*options.command, *options.variables):
        fill(part, {**WORDS, **{input_word(of.topic): of.topic for of in options.inputs}})
    subject = _subject(options)
    _check_losses(options, subject)
    if named(options):
        schedule_of(options)
    elif subject.orders.records < LEAST * _FEWEST:
        raise too_few(subject.orders, _FEWEST)
    return Scenario(
        name=NAME,
        title=(
            f"Your pipeline: {' and '.join(subject.orders.topics)} → {', '.join(subject.sinks)}"
        ),
        subject=subject,
        workload=subject.orders,
        sender=Librdkafka(linger_ms=_LINGER_MS),
        schedule=(),
        claims=claims_of(options, subject, (), frozenset(), ""),
        topics=tuple(
            Topic(name=name, partitions=options.partitions) for name in _topics(subject, options)
        ),
    )


def _check_losses(options: VerifyOptions, subject: OwnPipeline) -> None:
    """Reject claims that no loss could refute, because every input may have no effect."""
    lacking = all(each.may_lack for each in subject.comes_to(subject.sink).values())
    if lacking and not {AT_MOST_ONCE, ATOMIC}.issuperset(options.claims):
        raise BadTrial(
            f"--effects {options.effects} cannot reveal a loss; expected FILE.py:FUNCTION "
            "returning the expected count of each input, or only --claim "
            f"{AT_MOST_ONCE} or {ATOMIC}"
        )


def _topics(subject: OwnPipeline, options: VerifyOptions) -> Iterable[str]:
    """Return the topics to create besides the inputs: outputs, and those given with `--topic`."""
    written = [output.topic for output in subject.places if output.topic is not None]
    for name in options.topics:
        if not _TOPIC.fullmatch(name):
            raise BadTrial(
                f"invalid topic name in --topic {name!r}: expected letters, digits, dots, "
                "underscores and hyphens"
            )
    names = dict.fromkeys((*written, *options.topics))
    return [name for name in names if name not in subject.orders.topics]


def _subject(options: VerifyOptions) -> OwnPipeline:
    check_inputs(options)
    identity = _identity({of.topic: Rule.parse_several(of.identity) for of in options.inputs})
    letters = None
    if options.dead_letters is not None:
        rules = {o.topic: Rule.parse(o.dead_letter_identity or o.identity) for o in options.inputs}
        letters = Output.parse(options.dead_letters, _identity(rules))
    elif any(of.dead_letter_identity for of in options.inputs):
        raise BadTrial(
            "--dead-letter-identity needs --dead-letters, the place that the pipeline writes "
            "dead letters to"
        )
    if options.upserts is not None:
        check_upserts(options)
    check_expects(options)
    check_event_time(options)
    check_several_identities(options)
    check_atomic(options)
    outputs = tuple(Output.parse(text, identity) for text in options.outputs)
    places = with_decoders([*outputs, *([letters] if letters else [])], options.decodes)
    outputs, letters = places[: len(outputs)], next(iter(places[len(outputs) :]), None)
    subject = OwnPipeline(
        command=options.command,
        folder=str(options.folder),
        outputs=outputs,
        instances=options.instances,
        orders=workload_of(options, [output.name for output in outputs]),
        dead_letters=letters,
        idempotency_key=options.idempotency_key,
        healthy=options.healthy,
        image=options.image or "",
        compose=str(options.compose.absolute()) if options.compose else "",
        service=options.service or "",
        variables=tuple(map(_variable, options.variables)),
        feed=_parts(options.feed),
        stop_command=_parts(options.stop_command),
        kill_command=_parts(options.kill_command),
        upserts=Rule.parse(options.upserts) if options.upserts is not None else None,
    )
    check_instances(options, subject)
    check_places(options, subject)
    check_queues(options, subject)
    check_http(options, subject)
    check_healthy(options, subject)
    check_deployed(options, subject)
    check_feed(options, subject)
    check_image(options, subject)
    return subject


def _identity(rules: Mapping[str, Rule]) -> Rule | Rules:
    by_topic = tuple(rules.items())
    return by_topic[0][1] if len(by_topic) == 1 else Rules(by_topic=by_topic)


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise BadTrial(f"--env {text}: expected NAME=VALUE")
    return name, value


def _parts(command: str | None) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command or ""))
    except ValueError as error:
        raise BadTrial(f"invalid command {command!r}: {error}") from None


def claims_of(
    options: VerifyOptions,
    subject: OwnPipeline,
    schedule: tuple[ScheduledFault, ...],
    hazards: frozenset[str],
    untested: str,
) -> tuple[Claim, ...]:
    """Return a claim for each guarantee, output and input, except one `atomic` for all outputs.

    An input that may have no effect is held to at most once.
    """
    first, *others = subject.outputs
    beside = tuple((output.name, output.view) for output in others)
    asked = dict.fromkeys(
        (output, topic or subject.orders.topic, AT_MOST_ONCE if of.may_lack else guarantee, ())
        for output in subject.outputs
        for topic, of in subject.comes_to(output.name).items()
        for guarantee in options.claims
        if guarantee != ATOMIC and (guarantee != AT_LEAST_ONCE or not of.may_lack)
    )
    together = [
        (first, topic or subject.orders.topic, ATOMIC, beside)
        for topic in subject.comes_to(first.name)
        if ATOMIC in options.claims
    ]
    return tuple(
        _claim(guarantee, subject, output, others, topic, schedule, hazards, untested)
        for output, topic, guarantee, others in [*asked, *together]
    )


def _claim(
    guarantee: str,
    subject: OwnPipeline,
    output: Output,
    others: tuple[tuple[str, str], ...],
    topic: str,
    schedule: tuple[ScheduledFault, ...],
    hazards: frozenset[str],
    untested: str,
) -> Claim:
    if guarantee not in CLAIMS:
        raise BadTrial(f"invalid claim {guarantee!r}: expected {', '.join(CLAIMS)}")
    letters = subject.dead_letters
    return Claim(
        guarantee=guarantee,
        hop=Hop.PROCESS,
        scope=Scope(
            input=topic,
            sink=output.name,
            view=output.view,
            dead_letters=None if letters is None else letters.name,
            others=others,
        ),
        hazards=hazards,
        fine_print=fine_print(guarantee, subject, output, schedule, untested),
        expect=Expectation(verdict=Verdict.HOLDS),
    )


def too_few(orders: Orders | SeveralInputs, faults: int) -> BadTrial:
    return BadTrial(
        f"{orders.records} records are too few for {faults} faults; expected {LEAST * faults} or "
        "more, or fewer faults (--preset gentle)"
    )
