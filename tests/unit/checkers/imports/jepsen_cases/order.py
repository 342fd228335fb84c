"""Jepsen's cases of skipped, nonmonotonic and unseen records."""

from __future__ import annotations

from typing import Final

from tests.unit.checkers.imports.jepsen_cases.base import Case, final_polls, found, polls, sends

_SIX: Final = sends(0, 5, *((n, n) for n in range(6)))


def _skips() -> tuple[Case, ...]:
    first = polls(0, "5 [[1 1] [2 2]]") + polls(1, "5 [[3 3]]")
    fourth = polls(0, "5 [[4 4]]")
    rest = (
        sends(2, 5, (6, 6))
        + polls(0, "5 [[7 7]]")
        + sends(3, 5, *((None, n) for n in (1, 2, 3, 4, 7)), outcome="info")
    )
    other = "0 * subscribe [6]\n", "0 invoke assign [6]\n0 info assign [6]\n"
    same = "0 * subscribe [5 6]\n", "0 * assign [5 6]\n"
    before = "5/1, 5/2, 5/3, 5/4, 5/7"
    read_before_send = found(phantom=before, precommitted_read=before)
    reader, writer = "op 1 → op 11 → op 1", "op 11 → op 15 → op 11"
    start = _SIX + polls(1, "5 [[0 0]]", f="txn")
    aborted = start + polls(1, "5 [[1 1] [2 2]]", outcome="fail", f="txn")
    return (
        Case(
            test="poll-skip",
            case="between polls",
            history=first + fourth + rest,
            asserts="poll-skip: 3; 6",
            ours={
                **found(skipped_read="5/3", lost_write="5/6", G1c_realtime=reader),
                **read_before_send,
            },
            why="Nobody read 6 anywhere, so that it is lost, and nobody skipped it.",
        ),
        Case(
            test="poll-skip",
            case="with an intermediate subscribe without the key",
            history=first + other[0] + fourth + other[1] + rest,
            asserts="",
            ours={**found(G0=writer, G1c_realtime="op 1 → op 15 → op 1"), **read_before_send},
        ),
        Case(
            test="poll-skip",
            case="with an intermediate subscribe with the key",
            history=first + same[0] + fourth + same[1] + rest,
            asserts="poll-skip: 3; 6",
            ours={**found(G0=writer, G1c_realtime="op 1 → op 15 → op 1"), **read_before_send},
            why="After `:subscribe` partitions may move at any time, and with them the position.",
        ),
        Case(
            test="poll-skip",
            case="an abort puts the reader back",
            history=sends(0, 5, (0, 0), (1, 1), (2, 2))
            + polls(1, "5 [[0 0]]", f="txn")
            + polls(1, "5 [[1 1] [2 2]]", outcome="fail", f="txn")
            + polls(1, "5 [[1 1] [2 2]]", outcome="info", f="txn")
            + polls(1, "5 [[1 1] [2 2]]", f="txn"),
            asserts="",
        ),
        Case(
            test="poll-skip",
            case="an abort does not put the reader back",
            history=aborted
            + polls(1, "5 [[3 3] [4 4]]", outcome="fail", f="txn")
            + polls(1, "5 [[5 5]]", f="txn"),
            asserts="poll-skip: 1, 2; 1, 2, 3, 4",
            ours=found(skipped_read="5/1, 5/2, 5/3, 5/4"),
        ),
        Case(
            test="poll-skip",
            case="an abort does not put the reader back, and the next is in doubt",
            history=aborted + polls(1, "5 [[3 3] [4 4]]", outcome="info", f="txn"),
            asserts="poll-skip: 1, 2",
            ours=found(skipped_read="5/1, 5/2"),
        ),
        Case(
            test="int-poll-skip",
            history=sends(1, 5, (None, 1), (None, 2), (None, 4), outcome="info")
            + polls(0, "5 [[1 1] [4 4]]")
            + polls(0, "5 [[1 1]]", "5 [[4 4]]")
            + polls(0, "5 [[2 2]]"),
            asserts="int-poll-skip: 2; 2",
            ours=found(skipped_read="5/2", repeated_read="5/1, 5/2, 5/4"),
        ),
    )


def _nonmonotonic() -> tuple[Case, ...]:
    sent = sends(0, 5, (None, 1), (None, 2), (None, 3), (None, 4))
    one, other = polls(0, "5 [[1 1] [2 2] [3 3]]"), polls(0, "5 [[2 2] [3 3] [4 4]]")
    sent_first = sends(0, 5, (3, 3), (4, 4))
    sent_before = (
        "0 invoke send [[:send 5 1] [:send 5 2]]\n0 ok send [[:send 5 [1 1]] [:send 5 [2 2]]]\n"
    )
    kinds = (
        "0 invoke send [[:send 5 :c] [:send 5 :d]]\n0 ok send [[:send 5 [3 :c]] [:send 5 [4 :d]]]\n"
        "0 invoke send [[:send 5 1] [:send 5 2]]\n0 ok send [[:send 5 [1 :a]] [:send 5 [2 :b]]]\n"
    )
    why_no_order = "What a client reads has no part in the order of what it sends."
    repeated, reordered = found(repeated_read="5/2, 5/3"), found(reordered_send="5/1, 5/2")
    return (
        Case(
            test="nonmonotonic-poll",
            case="between polls",
            history=sent + one + other,
            asserts="nonmonotonic-poll: 3, 2",
            ours=repeated,
        ),
        *(
            Case(
                test="nonmonotonic-poll",
                case=f"with an intermediate {f} without the key",
                history=sent + one + f"0 * {f} [6]\n" + other,
                asserts="",
            )
            for f in ("subscribe", "assign")
        ),
        Case(
            test="nonmonotonic-poll",
            case="with an intermediate subscribe with the key",
            history=sent + one + "0 * subscribe [5 6]\n" + other,
            asserts="nonmonotonic-poll: 3, 2",
            why="After `:subscribe` partitions may move at any time, and with them the position.",
        ),
        Case(
            test="nonmonotonic-poll",
            case="with an intermediate assign with the key",
            history=sent + one + "0 * assign [5 6]\n" + other,
            asserts="nonmonotonic-poll: 3, 2",
            ours=repeated,
        ),
        Case(
            test="int-nonmonotonic-poll",
            history=sends(0, 5, (None, 1), (None, 2), (None, 3), outcome="info")
            + polls(0, "5 [[3 3] [1 1]]")
            + polls(0, "5 [[2 2] [3 3]]", "5 [[3 3]]"),
            asserts="int-nonmonotonic-poll: 3, 1; 3, 3",
            ours=found(repeated_read="5/1, 5/2, 5/3"),
        ),
        Case(
            test="nonmonotonic-send",
            case="between operations",
            history=kinds,
            asserts="nonmonotonic-send: d, a",
            ours=found(reordered_send="5/a, 5/b"),
        ),
        *(
            Case(
                test="nonmonotonic-send",
                case=f"with an intermediate {f} {which} the key",
                history=sent_first + f"0 * {f} {keys}\n" + sent_before,
                asserts=asserts,
                ours=reordered,
                why="" if asserts else why_no_order,
            )
            for which, keys, asserts in (
                ("without", "[6]", ""),
                ("with", "[5 6]", "nonmonotonic-send: 4, 1"),
            )
            for f in ("subscribe", "assign")
        ),
        Case(
            test="int-nonmonotonic-send",
            history=sends(0, 5, (3, 3), (1, 1))
            + sends(0, 6, (None, 4), (None, 2), outcome="info")
            + sends(1, 6, (None, 3), outcome="info")
            + polls(0, "6 [[2 2] [3 3] [4 4]]"),
            asserts="int-nonmonotonic-send: x 3, 1; y 4, 2",
            ours=found(reordered_send="5/1, 6/2", G0="op 3 → op 5 → op 3"),
        ),
        Case(
            test="int-send-skip",
            history="0 invoke send [[:send 5 1] [:send 5 3]]\n"
            "0 ok send [[:send 5 [1 1]] [:send 5 3]]\n"
            + sends(1, 5, (None, 2), outcome="info")
            + polls(2, "5 [[2 2] [3 3]]"),
            asserts="int-send-skip: 2",
            ours=found(G0="op 1 → op 3 → op 1"),
            why="Others may write between the records of a transaction, which is G0 and legal.",
        ),
    )


def _unseen_and_lag() -> tuple[Case, ...]:
    sent = polls(0, "") + sends(0, 5, (0, 1), (1, 2)) + polls(0, "5 [[0 1]]")
    return (
        Case(
            test="unseen",
            history=sent + polls(0, "5 [[1 2]]"),
            asserts="unseen: 2, then 1, then 0 records",
            why="We have no account over time, only of the end: `unseen` is what a reader stood "
            "still before.",
        ),
        Case(
            test="unseen",
            case="the last poll left out, with final polls that stand still",
            history=sent + final_polls("5 [[0 1]]"),
            asserts="unseen: 1 record",
            ours=found(unseen="5/2"),
        ),
        Case(
            test="realtime-lag",
            history="0 * assign [5]\n0 invoke poll [[:poll]]\n0 ok poll [[:poll {5 []}]]\n"
            + sends(0, 5, (0, 1))
            + "0 invoke poll [[:poll]]\n0 ok poll [[:poll {5 []}]]\n"
            + sends(1, 5, (2, 3), (3, 4))
            + "0 invoke poll [[:poll]]\n0 ok poll [[:poll]]\n"
            + polls(0, "5 [[0 1] [1 2]]")
            + "0 * assign [5 6]\n"
            + polls(0, "")
            + "0 * assign [6]\n0 * assign [5]\n"
            + polls(0, "")
            + polls(0, "5 [[0 1] [1 2]]", "5 [[2 3] [3 4]]")
            + sends(1, 5, (None, 2), outcome="info"),
            asserts="lag of each poll, 17 ns at most",
            ours=found(
                phantom="5/2",
                precommitted_read="5/2",
                reordered_send="5/2",
                G1c_realtime="op 13 → op 27 → op 13",
            ),
            why="We measure no lag.",
        ),
    )


CASES: Final = (*_skips(), *_nonmonotonic(), *_unseen_and_lag())
