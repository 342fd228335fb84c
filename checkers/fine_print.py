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
        "Every acknowledged send is in the topic's committed log, unaltered. It may be there more "
        "than once."
    ),
    ("exactly-once", Hop.PRODUCE): (
        "Every acknowledged send is in the topic's committed log exactly once, unaltered. A send "
        "with an unknown outcome is there once or not at all."
    ),
    ("at-most-once", Hop.PROCESS): (
        "Every committed position of the input has its effects in the sink once or not at all. "
        "An application that sends a record twice has two positions."
    ),
    ("at-least-once", Hop.PROCESS): (
        "Every committed position of the input has its effects in the sink{content}. Effects may "
        "be there more than once."
    ),
    ("exactly-once", Hop.PROCESS): (
        "Every committed position of the input has exactly its effects in the sink{content}, and "
        "there are no other effects. This is about effects, not deliveries: a record "
        "may be read and processed several times."
    ),
    ("at-most-once", Hop.END_TO_END): (
        "Every call to send has its effects in the sink once or not at all."
    ),
    ("at-least-once", Hop.END_TO_END): (
        "Every acknowledged send has its effects in the sink at least once."
    ),
    ("exactly-once", Hop.END_TO_END): (
        "Every acknowledged send has its effects in the sink exactly once{content}, and there are "
        "no other effects."
    ),
    ("idempotent", Hop.PRODUCE): (
        "However often the client resends, the topic's committed log has every acknowledged send "
        "once, unaltered, and the sends of one session to one partition in order."
    ),
    ("atomic", Hop.PRODUCE): (
        "The records of a transaction, in any partitions, and the offsets sent to it are committed "
        "together or not at all. Readers with read_committed see none of its records before the "
        "commit, and never see records of an aborted transaction."
    ),
    ("atomic", Hop.PROCESS): (
        "In the end, every committed record of the input has effects in all of the sinks where it "
        "may have any, or in none of them. This does not include how many effects it has, or "
        "whether readers see all of them from the same moment on."
    ),
    ("ordered", Hop.PRODUCE): (
        "The sends of one session to one partition are in the log in order, and every reader gets "
        "each partition in log order, without skipping records or going back."
    ),
    ("ordered", Hop.PROCESS): (
        "Effects of inputs with one key and from one partition are in the sink in the order of "
        "these inputs."
    ),
    ("ordered", Hop.END_TO_END): (
        "The sends of one session with one key have their effects in the sink in order, and every "
        "reader in between gets them in that order."
    ),
}
_CONTENT: Final = ", with the right content"
_FAILURES: Final = (
    "Crashes of brokers and of the pipeline at any moment, network partitions between any two "
    "parties, and requests that time out although they took effect. Every failure ends, and a "
    "majority of the replicas keep their disks."
)
_GUARANTEE: Final[dict[str, str]] = {
    "at-most-once": (
        "Nothing is duplicated during or after a failure. Work in progress may be lost for good."
    ),
    "at-least-once": (
        "Nothing that was acknowledged or committed is lost. Work in progress is done again, so "
        "expect duplicates. Progress may stop until the failure is over."
    ),
    "exactly-once": (
        "Nothing is lost and nothing is duplicated. Work in progress may be processed again, but "
        "its effects count once. Progress may stop until the failure is over."
    ),
    "idempotent": (
        "The client resends what was in flight, and the log has it once. A new session starts from "
        "nothing: what the old session had in flight may be there or not."
    ),
    "atomic": (
        "Work in progress takes effect as a whole or not at all. Readers of committed data may "
        "have to wait until that is decided."
    ),
    "ordered": (
        "Records in flight may be sent or read again by a new session, which starts its own order. "
        "Progress may stop until the failure is over."
    ),
}
_NOT_TESTED: Final[dict[Hop, str]] = {
    Hop.PRODUCE: (
        "An application that restarts and repeats its own sends, loss of a majority of the "
        "replicas, unclean leader election, disks that lose acknowledged data."
    ),
    Hop.PROCESS: (
        "Loss of {state}, two instances that run on purpose, "
        "effects outside the sink such as calls to other services, readers other than the named "
        "view, loss of a majority of the replicas."
    ),
    Hop.END_TO_END: (
        "An application that restarts and repeats its own sends, loss of the checkpoint, effects "
        "outside the sink, readers other than the named view, loss of a majority of the replicas."
    ),
}


def standard_fine_print(
    guarantee: str,
    hop: Hop,
    *,
    contents: bool = True,
    state: str = "the checkpoint or of the stored positions",
) -> FinePrint:
    """Return the fine print.

    Args:
        contents: whether the contents of effects are compared.
        state: what a pipeline may not lose, in claims about `Hop.PROCESS`.
    """
    return FinePrint(
        promise=_PROMISE[guarantee, hop].format(content=_CONTENT if contents else ""),
        failures=_FAILURES,
        guarantee=_GUARANTEE[guarantee],
        not_tested=_NOT_TESTED[hop].format(state=state),
    )
