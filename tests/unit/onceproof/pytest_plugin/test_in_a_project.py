"""The plugin as pytest finds it in somebody's project."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.unit.onceproof.pytest_plugin.commands import pytest_in
from tests.unit.onceproof.pytest_plugin.test_judged import run_of
from tests.unit.onceproof.pytest_plugin.test_verdict import claim, report

_UNUSED = """
    import sys

    def test_nothing_of_it_is_there():
        ours = {f"onceproof.{name}" for name in ("harness", "checkers", "reports", "scenarios")}
        assert not ({"duckdb", "pyarrow"} | ours) & sys.modules.keys()
        assert not [n for n in sys.modules if n.startswith("onceproof.pytest_plugin.")]
    """
_OWN = """
    import reports, scenarios
    from onceproof.pytest_plugin import cluster, judged, lab

    def test_packages_of_the_project_stay_its_own():
        assert (reports.WHOSE, scenarios.WHOSE) == ("theirs", "theirs")
    """


def test_without_use_it_loads_nothing(tmp_path: Path) -> None:
    done = pytest_in(tmp_path, "-q", test_unused=_UNUSED)
    assert done.returncode == 0, done.stdout
    assert "onceproof" not in done.stdout.replace("test_onceproof", "")


def test_a_project_has_packages_of_the_same_names(tmp_path: Path) -> None:
    for name in ("reports", "scenarios"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("WHOSE = 'theirs'\n")
    done = pytest_in(tmp_path, "-q", test_own=_OWN)
    assert done.returncode == 0, done.stdout


def test_the_marker_is_known_and_told(tmp_path: Path) -> None:
    done = pytest_in(tmp_path, "--markers")
    assert "@pytest.mark.onceproof_scenario(name, seed=None, backend=None)" in done.stdout


def test_a_marked_test_needs_the_verdict_without_asking_for_it(tmp_path: Path) -> None:
    marked = """
        import pytest

        @pytest.mark.onceproof_scenario("there-is-no-such")
        def test_marked():
            raise AssertionError("it was not judged before")
        """
    done = pytest_in(tmp_path, "-q", test_marked=marked)
    assert done.returncode == 1
    assert "NotJudged" in done.stdout
    assert "there-is-no-such" in done.stdout
    assert "it was not judged before" not in done.stdout.split("short test summary")[-1]


_MARKED = """
    import pytest

    @pytest.mark.onceproof_scenario("some", seed=3)
    def test_marked(onceproof_judged):
        assert onceproof_judged.verdicts
    """
_INSTEAD = """
    import sys
    from onceproof.pytest_plugin import judged

    code = "print('report   {folder}/report.html')"
    judged.command = lambda *words: [sys.executable, "-c", code]
    """


@pytest.mark.parametrize(
    ("verdict", "failures"), [("holds", 0), ("violated", 1)], ids=["holds", "violated"]
)
def test_a_finding_is_a_failure_and_no_error(tmp_path: Path, verdict: str, failures: int) -> None:
    """In a build that takes warnings for errors, and wants JUnit's file as pytest makes it."""
    told = run_of(report(claim(verdict, expected=verdict == "holds")))
    (tmp_path / "report.json").write_text(json.dumps(told))
    words = ("-q", "-W", "error", "--junitxml", "junit.xml")
    done = pytest_in(
        tmp_path, *words, test_marked=_MARKED, conftest=_INSTEAD.format(folder=tmp_path)
    )
    assert done.returncode == failures, done.stdout
    suite = ET.parse(tmp_path / "junit.xml").getroot()[0]
    assert (suite.get("errors"), suite.get("failures")) == ("0", str(failures))
    properties = {p.get("name"): p.get("value") for p in suite.iter("property")}
    assert properties["onceproof_seed"] == "3"
