"""Answers to the auditor's questions, as lines."""

from __future__ import annotations

import io
import json
import sys

import pytest

from onceproof.harness.queues.answering import Refused, Row, answer_all, counts_row


def answer(question: str) -> list[Row]:
    if question == "counts nothing":
        raise Refused("no such stream")
    if question == "counts gone":
        raise LookupError
    return [counts_row(messages=3, delivering=1)]


def test_each_question_has_an_end_or_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("counts x\ncounts nothing\ncounts gone\n"))
    answer_all(answer, LookupError)
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"messageCount": 3, "deliveringCount": 1, "consumerCount": 0},
        {"end": True},
        {"error": "no such stream"},
        {"error": "LookupError"},
    ]
