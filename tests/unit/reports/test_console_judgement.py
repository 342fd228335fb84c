"""What the judgement of a foreign history looks like on standard output, and as JSON."""

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


def claimed(verdict: Verdict, reason: str = "So it is.", **more: object) -> ClaimJudgement:
    return ClaimJudgement(claim=CLAIM, verdict=verdict, reason=reason, **more)  # type: ignore[arg-type]


def lost(sentence: str = "5/2 is gone", rows: int = 1, count: int = 1) -> Findings:
    finding = Finding(
        anomaly="lost-write", hop=Hop.PRODUCE, evidence=Evidence.ABSENCE, key={"record": "5/2"},
        sentence=sentence,
        witness=tuple({"trial": 1, "record": f"5/{n}", "txn": None} for n in range(rows)),
    )  # fmt: skip
    return Findings(
        anomaly="lost-write", hop=Hop.PRODUCE, evidence=Evidence.ABSENCE, count=count,
        shown=(finding,) * min(count, 3),
    )  # fmt: skip


def judgement(*claims: ClaimJudgement, **more: object) -> Judgement:
    parts = {"findings": (), "mutation_check": (), "counts": {"sends": 3, "log": 3}} | more
    return Judgement(claims=claims, **parts)  # type: ignore[arg-type]


def printed(made: Judgement, notes: tuple[str, ...] = ()) -> str:
    out = io.StringIO()
    print_judgement(made, out, source="h.edn", notes=notes)
    text = out.getvalue()
    assert "\x1b" not in text
    assert all(len(line) <= 120 for line in text.splitlines())
    return text


def test_verdicts_findings_and_witnesses() -> None:
    text = printed(
        judgement(
            claimed(Verdict.VIOLATED, "Found lost-write (7): " + "5/2 is gone " * 20),
            claimed(Verdict.HOLDS),
            findings=(lost(rows=6, count=7),),
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


def test_what_is_undecided_and_what_would_decide_it() -> None:
    open_ = claimed(Verdict.UNKNOWN, undecided=("lost-write", "torn-transaction"))
    text = printed(judgement(open_, claimed(Verdict.UNEXERCISED)))
    assert "Undecided\n  exactly-once producers → jepsen: lost-write, torn-transaction\n" in text
    assert "Add the table phases" in text
    assert "Add the table hazards" in text
    counts = {"sends": 3, "phases": 2, "hazards": 1}
    assert "Add the table" not in printed(judgement(open_, counts=counts))
    counts = {"sends": 3, "phases": 2, "hazards": 1}
    text = printed(judgement(claimed(Verdict.INVALID), counts=counts))
    assert "Add the table log: the entries of the topics." in text


def test_mutations_that_were_not_found() -> None:
    mutation = Mutation(
        name="dropped", target="5/2", must_find="lost-write", found=False, detail="no"
    )
    text = printed(judgement(claimed(Verdict.INVALID), mutation_check=(mutation,)))
    assert "Mutation self-check failed, mutations not found\n  dropped in 5/2: no\n" in text


def test_nothing_from_a_history_acts_on_the_terminal() -> None:
    text = printed(judgement(claimed(Verdict.VIOLATED), findings=(lost("a\x1b[31mb\u202ec\nd"),)))
    assert "a\\x1b[31mb\\u202ec d" in text


def test_colour_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Terminal()
    print_judgement(judgement(claimed(Verdict.HOLDS)), out, source="h")
    assert "\x1b[32mholds\x1b[0m" in out.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    print_judgement(judgement(claimed(Verdict.HOLDS)), out, source="h")
    assert "\x1b" not in out.getvalue()


def test_as_json() -> None:
    made = judgement(
        claimed(Verdict.VIOLATED, refuted_by=("lost-write",)), findings=(lost("\ud800"),),
        notes=("a note",),
    )  # fmt: skip
    told = json.loads(judgement_json(made, source="h.edn", notes=("another",)))
    assert told["format"] == "onceproof-judgement"
    assert told["claims"][0]["verdict"] == "violated"
    assert told["claims"][0]["claim"]["scope"]["input"] == "jepsen"
    assert told["findings"][0]["shown"][0]["witness"] == [
        {"trial": 1, "record": "5/0", "txn": None}
    ]
    assert told["notes"] == ["another", "a note"]
    assert told["counts"] == {"sends": 3, "log": 3}
