"""Answer the questions of `harness/queues/auditor.py`: what all programs that do so share."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


class Refused(Exception):
    """The server answered with an error; the text is its description."""


def answer_all(answer: Callable[[str], Sequence[Row]], failures: type[Exception]) -> None:
    """Answer each line of standard input; `failures` are what the client library raises."""
    for question in sys.stdin:
        try:
            for row in answer(question.rstrip("\n")):
                sys.stdout.write(json.dumps(row) + "\n")
            last: Row = {"end": True}
        except (Refused, OSError, failures) as error:
            last = {"error": str(error) or type(error).__name__}
        sys.stdout.write(json.dumps(last) + "\n")
        sys.stdout.flush()


def asked(answers: object, question: str) -> tuple[Callable[..., Any], list[str]]:
    """Return the method of `answers` that has the name of the question, and its arguments."""
    word, *rest = question.split(" ", 2)
    return getattr(answers, word), rest


def counts_row(*, messages: int, delivering: int = 0, consumers: int = 0) -> Row:
    return {"messageCount": messages, "deliveringCount": delivering, "consumerCount": consumers}
