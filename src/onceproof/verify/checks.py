"""Reject contradictory trial options early, and those that could be judged only by guessing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from onceproof.checkers.claims import ATOMIC, EXACTLY_ONCE
from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.user_pipeline.effects import ExpectedEffects
from onceproof.harness.user_pipeline.health import health_of
from onceproof.harness.user_pipeline.meanings import WORDS
from onceproof.harness.user_pipeline.placeholders import fill, words
from onceproof.harness.user_pipeline.profile import Profile
from onceproof.harness.user_pipeline.subject import OwnPipeline
from onceproof.verify.options import BadTrial, VerifyOptions

_LOCAL_ONLY: Final = frozenset({"checkpoint", "spark_jars", "kafka_jars", "queue_jars"})


def check_places(options: VerifyOptions, subject: OwnPipeline) -> None:
    """Raise `BadTrial` if two outputs share a name, one is an input, or a rule does not fit."""
    names = [output.name for output in subject.places]
    for name in names:
        if names.count(name) > 1:
            raise BadTrial(
                f"two outputs are named {name!r}; expected different names, because effects are "
                "counted by the name of their output"
            )
    for topic in subject.orders.topics:
        if any(topic in (output.topic, output.queue) for output in subject.places):
            raise BadTrial(f"{topic} is the input topic; expected a different name for the output")
    for name in set(subject.queues).intersection(options.topics):
        raise BadTrial(f"{name} is both a topic and a queue; expected different names")
    if subject.upserts is not None:
        for output in subject.outputs:
            output.check_rule(subject.upserts, what="--upserts")


def check_inputs(options: VerifyOptions) -> None:
    """Raise `BadTrial` if inputs cannot be told apart, or an option needs a single input."""
    topics = [of.topic for of in options.inputs]
    for topic in topics:
        if topics.count(topic) > 1:
            raise BadTrial(f"--input {topic} is given twice; expected each input once")
    if not options.others:
        return
    refused = {
        "--expect": options.expects,
        "--expect-state": options.states,
        "--upserts": options.upserts,
        "--event-time": options.event_time,
        "--allowed-lateness": options.allowed_lateness,
    }
    for option in (name for name, given in refused.items() if given):
        raise BadTrial(
            f"{option} cannot be used with several inputs, because an effect may depend on more "
            "than one of them; without it, the number and identities of effects are judged"
        )
    if _uses(options, "checkpoint"):
        raise BadTrial(
            "{checkpoint} cannot be used with several inputs; expected {work}/checkpoint, which is "
            "not watched: the job is then tested like any other program"
        )
    files = [of.data for of in options.inputs]
    if any(files) and not all(files):
        raise BadTrial(
            f"--data is missing for {topics[files.index(None)]}; expected a file for each input, "
            "or none, because generated records match each other, but not the records of a file"
        )
    if any(files) and options.records is not None:
        raise BadTrial(
            "--records cannot be used with --data and several inputs, because their records may "
            "belong together; expected shorter files"
        )
    _check_apart("--identity", {of.topic: of.identity for of in options.inputs})
    if options.dead_letters is not None:
        letters = {of.topic: of.dead_letter_identity or of.identity for of in options.inputs}
        _check_apart("--dead-letter-identity", letters)


def _check_apart(option: str, rules: Mapping[str, str]) -> None:
    """Raise `BadTrial` unless the rules tell which topic an input comes from."""
    for topic, rule in rules.items():
        if rule == f"header:{RECORD_HEADER}":
            raise BadTrial(
                f"{option} {rule} cannot be used with several inputs, because an output has only "
                f"one such header; expected {topic}=RULE with the rule for inputs from {topic}"
            )
        alike = [other for other in rules if rules[other] == rule]
        if len(alike) > 1:
            raise BadTrial(
                f"{option} {rule} is the rule of {' and '.join(alike)}, so the input of an output "
                "is ambiguous; expected TOPIC=RULE with a different rule for each"
            )


def check_group(topics: Collection[str], profile: Profile) -> None:
    """Raise `BadTrial` if the consumer group that faults target does not read all inputs."""
    group = profile.group
    if len(topics) < 2 or group is None or not group.members:
        return
    if apart := [topic for topic in topics if topic not in group.topics]:
        raise BadTrial(
            f"in the dry run, group {group.name} did not read {' and '.join(apart)}; with several "
            "inputs, expected one group that reads all of them, or a separate trial for each"
        )


def check_queues(options: VerifyOptions, subject: OwnPipeline) -> None:
    """Raise `BadTrial` if only one of `{queues}` and a queue output is given."""
    asks = _uses(options, "queues")
    if asks and not subject.queues:
        raise BadTrial("{queues} needs a queue; add --output queue:ADDRESS")
    if subject.queues and not asks:
        raise BadTrial(
            f"the command lacks the address of queue {subject.queues[0]}; expected {{queues}} in "
            "it, the proxied host:port of the queue broker"
        )


def check_http(options: VerifyOptions, subject: OwnPipeline) -> None:
    """Raise `BadTrial` if `{http}`, --idempotency-key and HTTP outputs do not fit together."""
    asks = _uses(options, "http")
    if asks and subject.http is None:
        raise BadTrial("{http} needs the HTTP service; add --output http:PATH")
    if subject.http is not None and not asks:
        raise BadTrial(
            f"the command lacks the address of {subject.http.paths[0]}; expected {{http}} in it, "
            "such as {http}/" + subject.http.paths[0]
        )
    if options.idempotency_key is not None and subject.http is None:
        raise BadTrial("--idempotency-key needs the HTTP service; add --output http:PATH")


def check_healthy(options: VerifyOptions, subject: OwnPipeline) -> None:
    """Raise `BadTrial` or `BadRule` if the health URL cannot be used."""
    if options.healthy is None:
        return
    if subject.spark:
        raise BadTrial(
            "--healthy cannot be used with a Spark job, whose checkpoint shows whether it runs"
        )
    health_of(options.healthy, options.instances)


def check_deployed(options: VerifyOptions, subject: OwnPipeline) -> None:
    """Raise `BadTrial` or `BadRule` if a service cannot be stopped, killed and seen to be gone."""
    given = (options.stop_command, options.kill_command)
    if given == (None, None):
        return
    if not (subject.stop_command and subject.kill_command and options.healthy):
        raise BadTrial(
            "--stop-command, --kill-command and --healthy must be given together: the commands "
            "stop and kill the service, and the URL shows that it is down"
        )
    if subject.spark or options.instances > 1:
        raise BadTrial(
            "--stop-command and --kill-command cannot be used with {checkpoint} or --instances"
        )
    for part in (*subject.stop_command, *subject.kill_command):
        fill(part, WORDS)


def check_feed(options: VerifyOptions, subject: OwnPipeline) -> None:
    """Raise `BadTrial` or `BadRule` if the feed command cannot be used."""
    if options.feed is None:
        return
    if not subject.feed:
        raise BadTrial("--feed is empty; expected a command that reads inputs from standard input")
    if options.others or options.encode or subject.spark:
        raise BadTrial("--feed cannot be used with several inputs, --encode or {checkpoint}")
    if _uses(options, "input"):
        raise BadTrial(
            "--feed is for a pipeline that reads no topic; expected no {input} in its command"
        )
    for part in subject.feed:
        fill(part, WORDS)


def check_image(options: VerifyOptions, subject: OwnPipeline) -> None:
    """Raise `BadTrial` if an option does not work with a container."""
    if (options.compose is None) != (options.service is None):
        raise BadTrial("--compose needs --service, and --service needs --compose")
    if subject.compose and subject.image:
        raise BadTrial("--compose cannot be used with --image")
    if not subject.contained:
        return
    option = "--image" if subject.image else "--compose"
    if subject.deployed or options.instances > 1:
        raise BadTrial(
            f"{option} cannot be used with --instances, --stop-command or --kill-command"
        )
    if here := sorted(subject.asked & _LOCAL_ONLY):
        raise BadTrial(
            f"{option} cannot be used with {{{here[0]}}}: the image has its own jars, and a "
            "checkpoint in {work} is not watched"
        )


def _uses(options: VerifyOptions, word: str) -> bool:
    return any(word in words(part) for part in (*options.command, *options.variables))


def check_expects(options: VerifyOptions) -> None:
    """Raise `BadTrial` if options for expected content contradict others."""
    if options.expects and options.effects != "1":
        raise BadTrial(
            "--expect cannot be used with --effects: its function also determines the number of "
            "effects"
        )
    if options.states and (options.expects or options.effects != "1"):
        raise BadTrial(
            "--expect-state cannot be used with --expect or --effects: a row of state is not the "
            "effect of a single input"
        )
    if options.states and options.upserts is None:
        raise BadTrial(
            "--expect-state needs --upserts RULE, where a row has its key, such as "
            "--upserts json:$.customer"
        )
    if options.states and options.encode is not None:
        raise BadTrial(
            "--expect-state cannot be used with --encode: the inputs in the log are read as JSON"
        )
    if options.ignored and not (options.expects or options.states):
        raise BadTrial(
            "--ignore needs --expect or --expect-state; without them no content is compared"
        )


def check_instances(options: VerifyOptions, subject: OwnPipeline) -> None:
    """Raise `BadTrial` unless each instance can have a partition."""
    if options.instances > 1 and subject.spark:
        raise BadTrial("--instances cannot be used with a Spark job, whose driver is one process")
    if options.instances > options.partitions:
        raise BadTrial(
            f"{options.instances} instances cannot share {options.partitions} partitions; expected "
            f"--partitions {options.instances} or more"
        )


def check_upserts(options: VerifyOptions) -> None:
    """Raise `BadTrial` if a claim or option needs more than the final state of an upsert output."""
    if options.dead_letters is not None:
        raise BadTrial(
            "--upserts cannot be used with --dead-letters: an input with a dead letter leaves no "
            "value, so the expected value of its key is unknown; expected only one of them"
        )
    if set(options.claims) != {EXACTLY_ONCE}:
        raise BadTrial(
            f"--upserts leaves no effects to count: expected only --claim {EXACTLY_ONCE}, which is "
            "judged by the final values"
        )
    effects = ExpectedEffects.parse(options.effects)
    if effects.function is None and str(effects) != "1":
        raise BadTrial(
            f"--effects {effects}: expected 1 with --upserts, or a function that returns 1 for an "
            "input that leaves a value and 0 for one that does not"
        )
    if options.effect_key is not None:
        raise BadTrial("--effect-key cannot be used with --upserts: each key has one value")


def check_atomic(options: VerifyOptions) -> None:
    """Raise `BadTrial` unless several outputs can be compared for atomicity."""
    if ATOMIC not in options.claims:
        return
    if len(options.outputs) < 2:
        raise BadTrial(
            f"--claim {ATOMIC} compares outputs that are written together; expected two or more "
            "--output options"
        )
    if options.event_time is not None:
        raise BadTrial(
            f"--claim {ATOMIC} cannot be used with --event-time: the last windows stay open, so an "
            "input may be in one output while another still waits for it"
        )


def check_several_identities(options: VerifyOptions) -> None:
    """Raise `BadTrial` if rows with several identities are judged by more than their number."""
    if "[*]" in options.identity and (options.expects or options.upserts is not None):
        raise BadTrial(
            f"--identity {options.identity} cannot be used with --expect or --upserts: the content "
            "of a row with several identities does not belong to a single input"
        )


def check_event_time(options: VerifyOptions) -> None:
    """Raise `BadTrial` if event-time options are incomplete or contradict others."""
    given = (options.event_time, options.allowed_lateness)
    if given == (None, None):
        return
    if None in given:
        raise BadTrial(
            "--event-time and --allowed-lateness must be given together: an input that is later "
            "than allowed may be dropped"
        )
    if options.upserts is not None:
        raise BadTrial(
            "--event-time cannot be used with --upserts, whose final value is that of the last "
            "input in the log"
        )
    if options.encode is not None:
        raise BadTrial("--event-time cannot be used with --encode: event times are read from JSON")
