"""JUnit files, GitHub summaries and annotations from the results of claims."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.checkers.model import Judgement, Verdict
from onceproof.ci import BuildServer
from onceproof.reports.build import build
from onceproof.reports.ci.case import Case, cases_of
from onceproof.reports.ci.github import ANNOTATIONS, SUMMARY_BYTES, annotated, summary
from onceproof.reports.ci.junit import junit, write_junit

HOSTILE = st.text() | st.sampled_from(
    [
        "</testcase>",
        "]]>",
        "&",
        "\x00",
        "\x1b[31m",
        "\ud800",
        "::error::x",
        "a\nb",
        "%0A",
        "|",
        "<b>",
    ]
)


def case(
    verdict: Verdict | None = Verdict.HOLDS, *, expected: bool = True, **overrides: object
) -> Case:
    fields: dict[str, object] = {
        "run": "idempotent",
        "claim": "exactly-once a → b",
        "should_be": "holds",
        "reason": "Nothing was found.",
        "seed": 5,
        "seconds": 12.5,
        **overrides,
    }
    return Case(verdict=verdict, expected=expected, **fields)  # type: ignore[arg-type]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    verdict = draw(st.none() | st.sampled_from(list(Verdict)))
    return case(
        verdict,
        expected=verdict is not None and draw(st.booleans()),
        run=draw(HOSTILE),
        claim=draw(HOSTILE),
        reason=draw(HOSTILE),
        witness=tuple(draw(st.lists(HOSTILE, max_size=2))),
        report=draw(HOSTILE),
        repeat=draw(HOSTILE),
        seconds=draw(st.none() | st.floats(0, 1e6)),
    )


FINDING = case(Verdict.VIOLATED, expected=False, witness=("lost-output: p0-1 is gone",))
TROUBLE = case(Verdict.INVALID, expected=False, reason="The harness was interrupted.")
NOTHING = case(None, expected=False)


@pytest.mark.parametrize(
    ("one", "trouble"),
    [
        (case(), False),
        (case(Verdict.VIOLATED), False),
        (FINDING, False),
        (TROUBLE, True),
        (NOTHING, True),
        (case(Verdict.HOLDS, expected=False), False),
        (case(Verdict.UNEXERCISED, expected=False), True),
    ],
)
def test_trouble_excludes_findings(one: Case, trouble: bool) -> None:
    assert one.trouble is trouble


def test_junit_reports_findings_as_failures_and_trouble_as_errors() -> None:
    root = ET.fromstring(junit([case(), FINDING, TROUBLE]))
    assert root.attrib == {
        "name": "onceproof",
        "tests": "3",
        "failures": "1",
        "errors": "1",
        "time": "12.500",
    }
    (suite,) = root
    (failure,), (error,) = suite.findall("testcase/failure"), suite.findall("testcase/error")
    assert (failure.get("type"), error.get("type")) == ("violated", "invalid")
    assert "lost-output: p0-1 is gone" in (failure.text or "")
    assert {p.get("name"): p.get("value") for p in suite.iter("property")}["seed"] == "5"


@given(st.lists(cases(), max_size=6))
def test_junit_is_valid_xml_with_correct_counts(some: list[Case]) -> None:
    root = ET.fromstring(junit(some))
    found = list(root.iter("testcase"))
    assert len(found) == len(some) == int(root.attrib["tests"])
    assert len(list(root.iter("failure"))) == int(root.attrib["failures"])
    assert len(list(root.iter("error"))) == int(root.attrib["errors"])
    assert sum(len(case) > 0 for case in found) == sum(not one.expected for one in some)


@given(st.lists(cases(), max_size=40))
def test_annotations_are_single_lines_within_the_limit(some: list[Case]) -> None:
    lines = annotated(some)
    for kind in ("error", "warning"):
        of_kind = [line for line in lines if line.startswith(f"::{kind} title=")]
        wanted = sum(not c.expected and c.trouble is (kind == "warning") for c in some)
        assert len(of_kind) == min(wanted, ANNOTATIONS)
    assert all(line.startswith(("::error title=", "::warning title=")) for line in lines)
    assert not any(set(line) & {"\n", "\r", "\x00"} for line in lines)


def test_counts_findings_beyond_the_annotation_limit() -> None:
    lines = annotated([FINDING] * 25)
    assert len(lines) == ANNOTATIONS
    assert lines[-1] == "::error title=onceproof::16 more, see the summary"


def test_escapes_annotation_title_and_text() -> None:
    (line,) = annotated([case(Verdict.VIOLATED, expected=False, run="a,b:c::d%", reason="x\ny")])
    title, _, text = line.removeprefix("::error title=").partition("::")
    assert title == "a%2Cb%3Ac%3A%3Ad%25%3A violated"
    assert "%0Ax%0Ay" in text


@given(st.lists(cases(), max_size=6))
def test_summary_escapes_markup(some: list[Case]) -> None:
    text = summary(some)
    rows = [row for row in text.splitlines() if row.startswith("| ")]
    assert len(rows) == len(some) + 2
    outside = [row for row in text.splitlines() if not row.startswith("    ")]
    assert not any("<" in row for row in outside)


def test_summary_starts_with_unexpected_claims() -> None:
    text = summary([case(), FINDING, TROUBLE])
    assert text.startswith("### onceproof: 2 of 3 claims not as expected: 1 finding, 1 undecided")
    assert text.index("❌ idempotent") < text.index("⚠️ idempotent") < text.index("✅")
    assert summary([case()]).startswith("### onceproof: 1 claim as expected")
    assert summary([]).startswith("### onceproof: nothing was judged")


def test_summary_stays_within_its_limit() -> None:
    text = summary([case(Verdict.VIOLATED, expected=False, reason="é" * 3_000)] * 500)
    assert SUMMARY_BYTES // 2 < len(text.encode()) <= SUMMARY_BYTES
    assert "omitted for length" in text


def test_writes_to_github_if_its_environment_is_set(tmp_path: Path) -> None:
    out, summary_file = io.StringIO(), tmp_path / "summary.md"
    summary_file.write_text("of another tool\n")
    environ = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary_file)}
    server = BuildServer(None, environ=environ, out=out)
    server.add([FINDING])
    assert out.getvalue() == ""
    server.conclude()
    assert out.getvalue().startswith("::error title=idempotent%3A violated::")
    assert summary_file.read_text().startswith("of another tool\n### onceproof: 1 of 1 claim")


def test_prints_nothing_outside_github() -> None:
    out = io.StringIO()
    server = BuildServer(None, environ={}, out=out)
    server.add([FINDING])
    server.conclude()
    assert out.getvalue() == ""


def test_junit_file_is_complete_after_each_run(tmp_path: Path) -> None:
    path = tmp_path / "new" / "junit.xml"
    server = BuildServer(path, environ={})
    for number in range(1, 4):
        server.add([case(seed=number)])
        root = ET.parse(path).getroot()
        assert root.get("tests") == str(number)
    assert [p.name for p in path.parent.iterdir()] == ["junit.xml"]
    write_junit(path, [])
    assert ET.parse(path).getroot().get("tests") == "0"


def test_witness_is_limited_to_the_sink_of_the_claim(small: SimpleNamespace) -> None:
    """Findings are grouped by anomaly across all sinks."""
    history = small.history()
    here = small.duplicates(history, ["p0-1"])
    at_ledger = here.shown[0]
    at_audit = replace(
        at_ledger, key={**at_ledger.key, "sink": "audit"}, sentence="it is twice in audit"
    )
    shown = (*(at_ledger for _ in range(3)), at_audit)
    ledger = small.judged(
        "exactly-once", Verdict.VIOLATED, refuted_by=("duplicate-output",), expected=False
    )
    scope = replace(ledger.claim.scope, sink="audit")
    audit = replace(ledger, claim=replace(ledger.claim, scope=scope))
    judgement = Judgement(
        claims=(ledger, audit), findings=(replace(here, count=4, shown=shown),), mutation_check=()
    )
    one, other = cases_of(build(small.record(), history, judgement), Path("run"))
    assert len(one.witness) == 3
    assert other.witness == ("duplicate-output: it is twice in audit",)
