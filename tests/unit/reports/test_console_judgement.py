"""The judgement of a foreign history as text and as JSON."""

from __future__ import annotations

import io
import json

import pytest

from onceproof.checkers import exactly_once_append
from onceproof.checkers.model import (
    ClaimJudgement,
    Evidence,
    Finding,
    Findings,
    Hop,
    Judgement,
    Mutation,
    Verdict,
)
from onceproof.reports.console_judgement import print_judgement
from onceproof.reports.judgement_json import judgement_json

CLAIM = exactly_once_append("jepsen")


def judged(verdict: Verdict, reason: str = "So it is.", **fields: object) -> ClaimJudgement:
    return ClaimJudgement(claim=CLAIM, verdict=verdict, reason=reason, **fields)  # type: ignore[arg-type]


def lost_write(sentence: str = "5/2 is gone", rows: int = 1, count: int = 1) -> Findings:
    finding = Finding(
        anomaly="lost-write", hop=Hop.PRODUCE, evidence=Evidence.ABSENCE, key={"record": "5/2"},
        sentence=sentence,
        witness=tuple({"trial": 1, "record": f"5/{n}", "txn": None} for n in range(rows)),
    )  # fmt: skip
    return Findings(
        anomaly="lost-write", hop=Hop.PRODUCE, evidence=Evidence.ABSENCE, count=count,
        shown=(finding,) * min(count, 3),
    )  # fmt: skip


def judgement(*claims: ClaimJudgement, **fields: object) -> Judgement:
    parts = {"findings": (), "mutation_check": (), "counts": {"sends": 3, "log": 3}} | fields
    return Judgement(claims=claims, **parts)  # type: ignore[arg-type]


def printed(result: Judgement, notes: tuple[str, ...] = ()) -> str:
    out = io.StringIO()
    print_judgement(result, out, source="h.edn", notes=notes)
    text = out.getvalue()
    assert "\x1b" not in text
    assert all(len(line) <= 120 for line in text.splitlines())
    return text


def test_prints_verdicts_findings_and_witnesses() -> None:
    text = printed(
        judgement(
            judged(Verdict.VIOLATED, "Found lost-write (7): " + "5/2 is gone " * 20),
            judged(Verdict.HOLDS),
            findings=(lost_write(rows=6, count=7),),
        ),
        notes=("keys were numbered",),
    )
    assert text.startswith("h.edn: 2 claims: 1 violated, 1 holds\n")
    assert "exactly-once producers → jepsen  violated     Found lost-write (7): 5/2 is gone" in text
    assert "lost-write: 7 findings\n  5/2 is gone\n    record 5/0\n    record 5/1\n" in text
    assert "    and 2 rows more\n" in text
    assert "  and 5 more\n" in text
    assert "Notes\n  keys were numbered\n" in text
    assert "trial" not in text
    assert "How to decide more" not in text


def test_prints_undecided_anomalies_and_missing_tables() -> None:
    undecided = judged(Verdict.UNKNOWN, undecided=("lost-write", "torn-transaction"))
    text = printed(judgement(undecided, judged(Verdict.UNEXERCISED)))
    assert "Undecided\n  exactly-once producers → jepsen: lost-write, torn-transaction\n" in text
    assert "Add the table phases" in text
    assert "Add the table hazards" in text
    counts = {"sends": 3, "phases": 2, "hazards": 1}
    assert "Add the table" not in printed(judgement(undecided, counts=counts))
    counts = {"sends": 3, "phases": 2, "hazards": 1}
    text = printed(judgement(judged(Verdict.INVALID), counts=counts))
    assert "Add the table log: the entries of the topics." in text


def test_prints_missed_mutations() -> None:
    mutation = Mutation(
        name="dropped", target="5/2", must_find="lost-write", found=False, detail="no"
    )
    text = printed(judgement(judged(Verdict.INVALID), mutation_check=(mutation,)))
    assert "Mutation self-check failed, mutations not found\n  dropped in 5/2: no\n" in text


def test_escapes_control_sequences_of_a_history() -> None:
    text = printed(
        judgement(judged(Verdict.VIOLATED), findings=(lost_write("a\x1b[31mb\u202ec\nd"),))
    )
    assert "a\\x1b[31mb\\u202ec d" in text


def test_no_color_disables_colour_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Terminal()
    print_judgement(judgement(judged(Verdict.HOLDS)), out, source="h")
    assert "\x1b[32mholds\x1b[0m" in out.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    print_judgement(judgement(judged(Verdict.HOLDS)), out, source="h")
    assert "\x1b" not in out.getvalue()


def test_json_has_claims_findings_notes_and_counts() -> None:
    result = judgement(
        judged(Verdict.VIOLATED, refuted_by=("lost-write",)), findings=(lost_write("\ud800"),),
        notes=("a note",),
    )  # fmt: skip
    data = json.loads(judgement_json(result, source="h.edn", notes=("another",)))
    assert data["format"] == "onceproof-judgement"
    assert data["claims"][0]["verdict"] == "violated"
    assert data["claims"][0]["claim"]["scope"]["input"] == "jepsen"
    assert data["findings"][0]["shown"][0]["witness"] == [
        {"trial": 1, "record": "5/0", "txn": None}
    ]
    assert data["notes"] == ["another", "a note"]
    assert data["counts"] == {"sends": 3, "log": 3}
