"""The how-to page on foreign histories: its example, formats and anomalies."""

from __future__ import annotations

import re
from pathlib import Path

from onceproof.checkers import check, exit_code
from onceproof.checkers.anomalies import anomalies
from onceproof.checkers.imports import FORMATS, read
from onceproof.checkers.imports.claims import parse_claim

PAGE = (Path(__file__).parents[4] / "docs/how-to/check-a-foreign-history.md").read_text("utf-8")


def test_example_verdicts_match_the_page(tmp_path: Path) -> None:
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "history.jsonl").write_text(example, encoding="utf-8")
    history = read(tmp_path / "history.jsonl").history
    claims = re.findall(r'--claim "(\S+payments->ledger@table)" ?\\?$', PAGE, re.MULTILINE)
    judgement = check(history, [parse_claim(claim, history) for claim in claims])
    shown = re.findall(r"^(\S+ payments → ledger) +(\S+) +(.*)$", PAGE, re.MULTILINE)
    for judged, (name, verdict, reason) in zip(judgement.claims, shown, strict=True):
        assert (judged.claim.name, judged.verdict.value) == (name, verdict)
        assert judged.reason.startswith(reason.rstrip("… "))
    assert exit_code(judgement.claims) == 1


def test_page_names_existing_formats_and_anomalies() -> None:
    for format_ in FORMATS:
        assert f"`{format_}`" in PAGE
    ours = PAGE.split("| Jepsen's anomaly | ours |")[1].split("\n\n")[0]
    for name in ("aborted-read", "skipped-read", "repeated-read", "reordered-send", "G1c-ww"):
        assert name in ours
        assert name in anomalies()
