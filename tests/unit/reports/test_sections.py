"""Report sections of an installed package, and their isolation from the rest of the page."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onceproof.catalogue import chosen
from onceproof.checkers.extensions import BadExtension, named_extensions
from onceproof.reports import sections
from onceproof.reports.build import build
from onceproof.reports.model import Report
from onceproof.reports.write import load, write
from onceproof.running import run_scenario
from tests.unit.reports.conftest import run_record, small_history, small_judgement
from tests.unit.reports.test_html import Page, assert_harmless

HOW_TO = (Path(__file__).parents[3] / "docs" / "how-to" / "add-a-report-section.md").read_text()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path that `importlib.metadata` sees as an installed package."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "theirs.py").write_text(_example("python"))
    (tmp_path / "theirs.html.j2").write_text(_example("html"))
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[onceproof.report_sections]\ntheirs = theirs\n")
    yield tmp_path
    _clear_caches()


def test_builtin_sections_are_in_page_order_with_templates() -> None:
    builtin = [each for each in sections.sections() if each.package is None]
    assert [each.section.name for each in builtin] == [
        "claims",
        "findings",
        "timeline",
        "faults",
        "notes",
        "mutation-check",
        "repeat",
        "environment",
        "limits",
    ]
    assert all(each.template for each in builtin)


def test_package_section_is_in_the_data_and_on_the_page(site: Path) -> None:
    report, page = stored(site)
    expected = [
        {"record": f"p0-{n}", "at": at, "seconds": pytest.approx(seconds)}
        for n, at, seconds in ((1, 10.0, 0.1), (2, 11.0, 0.1), (3, 12.0, 0.1))
    ]
    found: Any = report.extensions["slowest-sends"]
    assert sorted(found, key=lambda row: row["record"]) == expected
    words = assert_harmless(page).words
    assert words.index("Timeline") < words.index("Slowest sends Record Called Took")
    assert '<li><a href="#added-slowest-sends">Slowest sends</a></li>' in page


def test_package_section_is_escaped_and_keeps_the_policy(site: Path) -> None:
    _, plain = stored(site)
    hostile = "</table><script>alert(1)</script>\u202e"
    _, page = stored(site, hostile)
    assert_harmless(page)
    assert policy_of(page) == policy_of(plain)
    template = site / "theirs.html.j2"
    template.write_text("<script>alert(1)</script>" + template.read_text())
    _, page = stored(site)
    assert Page(page).scripts[0] == "alert(1)"
    assert policy_of(page) == policy_of(plain), "the script of a template must not be let run"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            "theirs.py",
            "took = []",
            "took = [][1]",
            "The section slowest-sends of theirs has no data: IndexError: list index out of range",
        ),
        ("theirs.py", "took = []", "return float('x')", "has no data: ValueError: could"),
        (
            "theirs.html.j2",
            "send.at | seconds",
            "nobody",
            "theirs failed to render it: UndefinedError: 'nobody' is undefined",
        ),
        ("theirs.html.j2", "{% endcall %}", "", "theirs failed to render it: TemplateSyntaxError:"),
    ],
)
def test_failing_section_is_reported_and_the_rest_is_kept(
    site: Path, file: str, old: str, new: str, message: str
) -> None:
    path = site / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    report, page = stored(site)
    words = assert_harmless(page).words
    assert message in words
    assert "Record p0-1 appears twice in ledger." in words
    assert ("slowest-sends" in report.extensions) == (file == "theirs.html.j2")
    assert ("added-slowest-sends" in page) == (file == "theirs.html.j2")


def test_section_without_template_only_adds_data(site: Path) -> None:
    (site / "theirs.html.j2").unlink()
    report, page = stored(site)
    assert "slowest-sends" in report.extensions
    assert "Slowest sends" not in page


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "SECTION = Section(",
            "MINE = Section(",
            "theirs: expected a constant SECTION of type Section",
        ),
        ('"slowest-sends"', '"claims"', "theirs: report section claims exists already"),
        ('"slowest-sends"', '"a b"', "theirs: invalid name 'a b': expected lower-case letters"),
    ],
)
def test_rejects_invalid_section(site: Path, old: str, new: str, message: str) -> None:
    path = site / "theirs.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(BadExtension, match=re.escape(message)):
        stored(site)


def test_rejects_invalid_section_before_a_run(site: Path) -> None:
    (site / "theirs.py").write_text("SECTION = None")
    _clear_caches()
    with pytest.raises(BadExtension, match="expected a constant SECTION"):
        run_scenario(chosen(["control-idle-crash"])[0], seed=1, runs=site / "runs")
    assert not (site / "runs").exists()


def stored(site: Path, record: str = "p0-1") -> tuple[Report, str]:
    """Store the report of the small run; return it and its page."""
    _clear_caches()
    history = small_history(record)
    report = build(run_record(), history, small_judgement(history, record))
    page, _ = write(site, report)
    assert load(site) == report
    return report, page.read_text()


def _clear_caches() -> None:
    sys.modules.pop("theirs", None)
    sections.sections.cache_clear()
    named_extensions.cache_clear()


def policy_of(page: str) -> str:
    (found,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    return str(found)


def _example(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", HOW_TO, re.DOTALL | re.MULTILINE)
    return str(found)
