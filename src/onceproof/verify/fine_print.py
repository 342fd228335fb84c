"""The fine print of claims about a user's pipeline: what they promise, and what was not tested.

The latter follows from the trial's faults, the outputs, and how progress was observed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from onceproof.checkers.claims import ATOMIC
from onceproof.checkers.fine_print import standard_fine_print
from onceproof.checkers.model import FinePrint, Hop
from onceproof.harness.schedule.scenario import ScheduledFault
from onceproof.harness.user_pipeline.outputs.output import Output
from onceproof.harness.user_pipeline.subject import OwnPipeline
from onceproof.verify.plan import Plan

_KINDS: Final = {
    "crash": "crashes",
    "partition": "network partitions",
    "timeout": "requests that time out",
}
_OF_UPSERTS: Final = (
    "Records in flight may be processed again, and older values may reappear temporarily. "
    "In the end each key has its final value. Progress may stop until the failure is over."
)

_OF_ATOMIC: Final = (
    "The number and content of effects: only their presence in each output was compared.",
    "Inputs without an effect in any output.",
    "Individual copies of a record that is in the input several times: they count as one.",
)
"""What a claim of atomic outputs does not cover."""


def fine_print_of(plan: Plan) -> str:
    """Describe what a plan leaves untested, and why."""
    sentences = []
    if plan.accepted:
        names = ", ".join(f"{hazard.name} ({hazard.says})" for hazard in plan.accepted)
        sentences.append(f"Accepted untested: {names}.")
    reasons = by_reason(plan.absent)
    untested = "; ".join(f"{', '.join(names)}: {why}" for why, names in reasons)
    sentences.append(f"Hazards that this trial did not test: {untested}.")
    return " ".join(sentences)


def by_reason(absent: Mapping[str, str]) -> Iterable[tuple[str, list[str]]]:
    """Group the names of hazards by reason."""
    names: dict[str, list[str]] = {}
    for name, why in absent.items():
        names.setdefault(why, []).append(name)
    return names.items()


def fine_print(
    guarantee: str,
    subject: OwnPipeline,
    output: Output,
    schedule: Sequence[ScheduledFault],
    hazards: str = "",
) -> FinePrint:
    """Answer the questions of every claim; `hazards` is the sentence about untested hazards."""
    orders = subject.orders
    standard = standard_fine_print(guarantee, Hop.PROCESS, contents=bool(orders.expects))
    promise = standard.promise
    if orders.states:
        promise = (
            f"In the end {output.name} has the keys ({subject.upserts}) and contents that "
            f"{dict(orders.states)[output.name]} returns for the committed inputs, and no others."
        )
    elif subject.upserts is not None:
        promise = (
            f"In the end each key ({subject.upserts} in {output.name}) has one value, written for "
            "its last input in log order."
            f"{' It has the right content.' if orders.expects else ''}"
        )
    if subject.dead_letters is not None and guarantee == ATOMIC:
        promise += f" A dead letter in {subject.dead_letters.name} is not an effect."
    elif subject.dead_letters is not None:
        promise += (
            f" A dead letter in {subject.dead_letters.name} replaces all effects of an input, "
            "which then has no others."
        )
    if (times := subject.orders.times) is not None:
        promise += (
            f" An input whose event time ({times.path}) is {times.lateness / 1e6:g} s or more "
            "before that of an earlier input, in any partition, may be dropped as late."
        )
    outputs = subject.outputs if guarantee == ATOMIC else (output,)
    untested = [
        *([hazards] if hazards else []),
        *(_OF_ATOMIC if guarantee == ATOMIC else _of_content(subject)),
        *_of_positions(subject),
        *dict.fromkeys(each.untested for each in outputs if each.untested),
        *_of_faults(schedule),
        standard.not_tested,
    ]
    return replace(
        standard,
        promise=promise,
        guarantee=standard.guarantee if subject.upserts is None else _OF_UPSERTS,
        not_tested=" ".join(untested),
    )


def _of_content(subject: OwnPipeline) -> list[str]:
    sentences = ["The content of effects: only their number and identities were compared."]
    if subject.orders.expects or subject.orders.states:
        ignored = ", ".join(subject.orders.ignored)
        sentences = [f"Fields excluded by --ignore: {ignored}."] if ignored else []
        if subject.upserts is not None:
            sentences.insert(0, "Values before the last one of each key.")
    elif subject.upserts is not None:
        sentences = [
            "The content of values, and values before the last one: only which input wrote the "
            "last one was compared."
        ]
    if len(subject.orders.topics) > 1:
        sentences.append("Whether the inputs that an output joins belong together.")
    if subject.dead_letters is not None:
        sentences.append("Whether a dead letter was justified.")
    return sentences


def _of_positions(subject: OwnPipeline) -> list[str]:
    if subject.spark:
        return ["State that the job keeps outside its checkpoint and its outputs."]
    return [
        "Offsets and other state that the program keeps outside Kafka and the stage's database."
    ]


def _of_faults(schedule: Sequence[ScheduledFault]) -> list[str]:
    missing = [words for kind, words in _KINDS.items() if kind not in {a.do.kind for a in schedule}]
    return [f"No fault of this trial caused {' or '.join(missing)}."] if missing else []
