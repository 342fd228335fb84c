"""The standard fine print of each guarantee on each hop, as printed beside every verdict.

It says no more than what the checkers check. Subjects with other limits define their own
`FinePrint`.
"""

from __future__ import annotations

from typing import Final

from onceproof.checkers.model import FinePrint, Hop

_PROMISE: Final[dict[tuple[str, Hop], str]] = {
    ("at-most-once", Hop.PRODUCE): (
        "Every call to send puts its record into the topic's committed log once or not at all, "
        "unaltered."
    ),
    ("at-least-once", Hop.PRODUCE): (
        "Every send that was acknowledged is in the topic's committed log, unaltered. It may "
        "are there more than once."
    ),
    ("exactly-once", Hop.PRODUCE): (
        "Every send that was acknowledged is in the topic's committed log exactly once, "
        "unaltered. A send whose outcome nobody knows is there once or not at all."
    ),
    ("at-most-once", Hop.PROCESS): (
        "Every committed position of the input has its effects in the sink once or not at all. "
        "An application that sends a record twice has two positions."
    ),
    ("at-least-once", Hop.PROCESS): (
        "Every committed position of the input has its effects in the sink, with the right "
        "content. Some may be there more than once."
    ),
    ("exactly-once", Hop.PROCESS): (
        "Every committed position of the input has exactly its effects in the sink, with the "
        "right content; nothing else has any. This speaks of effects, not of deliveries: a "
        "record may well be read and processed several times."
    ),
    ("at-most-once", Hop.END_TO_END): (
        "Every call to send has its effects in the sink once or not at all."
    ),
    ("at-least-once", Hop.END_TO_END): (
        "Every send that was acknowledged has its effects in the sink, at least once."
    ),
    ("exactly-once", Hop.END_TO_END): (
        "Every send that was acknowledged has its effects in the sink exactly once, with the "
        "right content, and nothing else has any."
    ),
    ("idempotent", Hop.PRODUCE): (
        "Whatever the client has to send again, the topic's committed log shows every acknowledged "
        "send once, unaltered, and the sends of one session to one partition in their order."
    ),
    ("atomic", Hop.PRODUCE): (
        "The records of a transaction, in whatever partitions, and the positions that were sent to "
        "it, are committed together or not at all. Readers of committed records see none of them "
        "before the commit, and never any of an aborted transaction."
    ),
    ("atomic", Hop.PROCESS): (
        "In the end every committed record of the input has effects in all of the sinks where it "
        "may have any, or in none of them. How many it has, and whether a reader sees all of them "
        "from the same moment on, is not part of it."
    ),
    ("ordered", Hop.PRODUCE): (
        "The sends of one session to one partition are in the log in their order, and every "
        "reader gets each partition in the order of the log, without gaps and without going back."
    ),
    ("ordered", Hop.PROCESS): (
        "Effects of inputs with one key and from one partition are in the sink in the order of "
        "these inputs."
    ),
    ("ordered", Hop.END_TO_END): (
        "What one session sends with one key has its effects in the sink in that order, and every "
        "reader on the way gets it in that order."
    ),
}
_FAILURES: Final = (
    "Crashes of brokers and of the pipeline at any moment, network partitions between any two "
    "parties, and requests that time out although they were carried out. Each of them ends, and "
    "a majority of the replicas keeps its disks."
)
_GUARANTEE: Final[dict[str, str]] = {
    "at-most-once": (
        "Nothing is duplicated while they last or after. What was under way may be lost for good."
    ),
    "at-least-once": (
        "Nothing that was acknowledged or committed is lost. What was under way is done again, so "
        "duplicates must be expected. Progress may stop until the failure is over."
    ),
    "exactly-once": (
        "Nothing is lost and nothing is duplicated. What was under way may be processed again, but "
        "its effects count once. Progress may stop until the failure is over."
    ),
    "idempotent": (
        "The client sends again what was under way, and the log shows it once. A new session "
        "starts from nothing: what the old one had under way may be there or not."
    ),
    "atomic": (
        "What was under way takes effect whole or not at all. Readers of what is committed may "
        "have to wait until that is decided."
    ),
    "ordered": (
        "What was under way may be sent or read again by a new session, which starts an order of "
        "its own. Progress may stop until the failure is over."
    ),
}
_NOT_TESTED: Final[dict[Hop, str]] = {
    Hop.PRODUCE: (
        "An application that starts again and repeats its own sends, loss of a majority of the "
        "replicas, unclean leader election, disks that lose what they acknowledged."
    ),
    Hop.PROCESS: (
        "Loss of the checkpoint or of the stored positions, two instances at work on purpose, "
        "effects outside the sink such as calls to other services, readers other than the named "
        "view, loss of a majority of the replicas."
    ),
    Hop.END_TO_END: (
        "An application that starts again and repeats its own sends, loss of the checkpoint, "
        "effects outside the sink, readers other than the named view, loss of a majority of the "
        "replicas."
    ),
}


def standard_fine_print(guarantee: str, hop: Hop) -> FinePrint:
    return FinePrint(
        promise=_PROMISE[guarantee, hop],
        failures=_FAILURES,
        guarantee=_GUARANTEE[guarantee],
        not_tested=_NOT_TESTED[hop],
    )
