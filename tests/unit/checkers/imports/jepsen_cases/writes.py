"""Jepsen's cases of contested offsets, transactions, lost writes and duplicates."""

from __future__ import annotations

from typing import Final

from tests.unit.checkers.imports.jepsen_cases.base import Case, final_polls, found, polls, sends

_NO_BEGINNING: Final = (
    "Jepsen expects everything below the highest offset that anybody read to be read by somebody. "
    "We ask for a reader that is known to have been before it: a consumer may begin anywhere."
)


def _offsets() -> tuple[Case, ...]:
    conflict = (
        "0 invoke send [[:send 5 1] [:send 6 1]]\n0 info send [[:send 5 [0 1]] [:send 6 1]]\n"
        + sends(1, 5, (0, 2))
    )
    return (
        Case(
            test="version-orders",
            case="a read contradicts a transaction that it proves",
            history=polls(1, "5 [[0 1] [1 2]]").partition("\n")[2]
            + "2 info txn [[:send 5 [1 3]] [:send 5 [3 2]] [:send 5 [4 4]]]\n",
            asserts="inconsistent-offsets: offset 1",
            ours=found(
                inconsistent_offsets="1",
                duplicate="5/2",
                phantom="5/1",
                lost_write="5/3",
                torn_transaction="op 1",
            ),
        ),
        Case(
            test="version-orders",
            case="two acknowledgements",
            history=sends(379, 11, (537, 641)) + sends(363, 11, (537, 645)),
            asserts="inconsistent-offsets: offset 537",
            ours=found(inconsistent_offsets="537"),
        ),
        Case(
            test="inconsistent-offsets",
            case="one of them is in doubt",
            history=conflict,
            asserts="",
        ),
        Case(
            test="inconsistent-offsets",
            case="it was in doubt, and a read proves it",
            history=conflict + polls(2, "6 [[5 1]]"),
            asserts="inconsistent-offsets: offset 0",
            ours=found(inconsistent_offsets="0"),
        ),
    )


def _transactions() -> tuple[Case, ...]:
    return (
        Case(
            test="g1a",
            history="0 invoke send [[:send 5 2] [:send 6 3]]\n"
            "0 fail send [[:send 5 2] [:send 6 3]]\n" + polls(1, "5 [[0 2]]"),
            asserts="G1a: 2",
            ours=found(aborted_read="5/2"),
        ),
        Case(
            test="g0",
            history="0 invoke send [[:send 5 1] [:send 6 1]]\n"
            "1 invoke send [[:send 5 2] [:send 6 2]]\n"
            "0 ok send [[:send 5 [0 1]] [:send 6 [1 1]]]\n"
            "1 ok send [[:send 5 [1 2]] [:send 6 [0 2]]]\n",
            asserts="G0",
            ours=found(G0="op 2 → op 3 → op 2"),
        ),
        Case(
            test="g1c-pure-wr",
            history="0 invoke txn [[:send 5 1] [:poll]]\n1 invoke txn [[:send 6 2] [:poll]]\n"
            "0 ok txn [[:send 5 [0 1]] [:poll {6 [[0 2]]}]]\n"
            "1 ok txn [[:send 6 [0 2]] [:poll {5 [[0 1]]}]]\n",
            asserts="G1c",
            ours=found(G1c="op 2 → op 3 → op 2"),
        ),
        Case(
            test="g1c-ww-wr",
            history="0 invoke txn [[:send 5 1] [:send 6 3]]\n1 invoke txn [[:poll] [:send 6 2]]\n"
            "0 ok txn [[:send 5 [0 1]] [:send 6 [2 3]]]\n"
            "1 ok txn [[:poll {5 [[0 1]]}] [:send 6 [1 2]]]\n",
            asserts="G1c",
            ours=found(G1c_ww="op 2 → op 3 → op 2"),
            why="With the order of writes we call it G1c-ww: Kafka allows it.",
        ),
        Case(
            test="precommitted-read",
            history="0 invoke txn [[:send 5 1] [:poll]]\n"
            "0 ok txn [[:send 5 [0 1]] [:poll {5 [[0 1]]}]]\n",
            asserts="precommitted-read: 1",
            ours=found(precommitted_read="5/1"),
        ),
    )


def _lost_writes() -> tuple[Case, ...]:
    order = (
        sends(0, 5, (0, 1)) + "0 invoke send [[:send 5 2] [:send 5 4]]\n"
        "0 ok send [[:send 5 [1 2]] [:send 5 [3 4]]]\n" + sends(1, 5, (None, 3), outcome="info")
    )
    contested = sends(0, 5, (0, 1)) + sends(0, 5, (0, 2), (2, 3))
    doubt = (
        "0 invoke send [[:send 5 1] [:send 6 2]]\n"
        "0 info send [[:send 5 1] [:send 6 [0 2]]]\n" + sends(1, 6, (None, 3), outcome="info")
    )
    return (
        Case(
            test="lost-write",
            case="consistent",
            history=order + polls(0, "5 [[2 3]]"),
            asserts="lost-write: 1, 2",
            ours=found(G0="op 3 → op 5 → op 3"),
            why=_NO_BEGINNING,
        ),
        Case(
            test="lost-write",
            case="consistent, with final polls",
            history=order + polls(0, "5 [[2 3]]") + final_polls("5 [[2 3] [3 4]]"),
            asserts="lost-write: 1, 2",
            ours=found(lost_write="5/1, 5/2", torn_transaction="op 3"),
        ),
        Case(
            test="lost-write",
            case="inconsistent offsets",
            history=contested + polls(0, "5 [[0 2] [2 3]]"),
            asserts="lost-write: 1",
            ours=found(lost_write="5/1", inconsistent_offsets="0"),
        ),
        Case(
            test="lost-write",
            case="a transaction in doubt",
            history=doubt + polls(3, "6 [[1 3]]") + final_polls("6 [[1 3]]"),
            asserts="",
        ),
        Case(
            test="lost-write",
            case="a transaction in doubt, one of its records read",
            history=doubt + polls(2, "5 [[0 1]]") + polls(3, "6 [[1 3]]"),
            asserts="lost-write: 2",
            why=_NO_BEGINNING,
        ),
        Case(
            test="lost-write",
            case="a transaction in doubt, one of its records read, with final polls",
            history=doubt + polls(2, "5 [[0 1]]") + polls(3, "6 [[1 3]]")
            + final_polls("5 [[0 1]], 6 [[1 3]]"),
            asserts="lost-write: 2",
            ours=found(lost_write="6/2", torn_transaction="op 1"),
        ),
    )  # fmt: skip


def _duplicates() -> tuple[Case, ...]:
    ten = "".join(f"{sends(0, 5, (0, value))}{polls(1, f'5 [[1 {value}]]')}" for value in range(10))
    records = [f"5/{value}" for value in range(10)]
    return (
        Case(
            test="duplicate",
            case="acknowledged at one offset, read at another",
            history=sends(0, 5, (1, 1))
            + sends(1, 5, (None, 2), outcome="info")
            + polls(2, "5 [[2 2] [3 1]]"),
            asserts="duplicate: 1",
            ours=found(duplicate="5/1"),
        ),
        Case(
            test="duplicate",
            case="ten records at the same two offsets",
            history=ten,
            asserts="duplicate: 0 to 9; inconsistent-offsets: offsets 0, 1",
            ours=found(
                duplicate=", ".join(records),
                inconsistent_offsets="0, 1",
                repeated_read=", ".join(records[1:]),
            ),
        ),
        Case(
            test="duplicate",
            case="read by an operation that failed",
            history=sends(0, 5, (1, 0))
            + sends(0, 5, (2, 1), outcome="fail")
            + polls(1, "5 [[11 0] [12 1]]", outcome="fail"),
            asserts="duplicate: 0",
            ours=found(duplicate="5/0, 5/1", aborted_read="5/1"),
            why="Record 1 was read although its send failed: one position is one too many. What "
            "an operation polled counts also if it failed.",
        ),
    )


CASES: Final = (*_offsets(), *_transactions(), *_lost_writes(), *_duplicates())
