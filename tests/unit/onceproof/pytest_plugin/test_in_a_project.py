"""The plugin in a user's project."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.unit.onceproof.pytest_plugin.commands import pytest_in
from tests.unit.onceproof.pytest_plugin.test_judged import report_of_run
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


def test_unused_plugin_imports_nothing(tmp_path: Path) -> None:
    done = pytest_in(tmp_path, "-q", test_unused=_UNUSED)
    assert done.returncode == 0, done.stdout
    assert "onceproof" not in done.stdout.replace("test_onceproof", "")


def test_project_can_have_packages_of_the_same_names(tmp_path: Path) -> None:
    for name in ("reports", "scenarios"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("WHOSE = 'theirs'\n")
    done = pytest_in(tmp_path, "-q", test_own=_OWN)
    assert done.returncode == 0, done.stdout


def test_marker_is_registered(tmp_path: Path) -> None:
    done = pytest_in(tmp_path, "--markers")
    assert "@pytest.mark.onceproof_scenario(name, seed=None, backend=None)" in done.stdout


def test_marked_test_is_judged_without_requesting_the_fixture(tmp_path: Path) -> None:
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
_FAKE_COMMAND = """
    import sys
    from onceproof.pytest_plugin import judged

    code = "print('report   {folder}/report.html')"
    judged.command = lambda *words: [sys.executable, "-c", code]
    """


@pytest.mark.parametrize(
    ("verdict", "failures"), [("holds", 0), ("violated", 1)], ids=["holds", "violated"]
)
def test_violated_claim_is_a_failure_not_an_error(
    tmp_path: Path, verdict: str, failures: int
) -> None:
    """Also with warnings as errors, and in pytest's JUnit file."""
    content = report_of_run(report(claim(verdict, expected=verdict == "holds")))
    (tmp_path / "report.json").write_text(json.dumps(content))
    arguments = ("-q", "-W", "error", "--junitxml", "junit.xml")
    done = pytest_in(
        tmp_path, *arguments, test_marked=_MARKED, conftest=_FAKE_COMMAND.format(folder=tmp_path)
    )
    assert done.returncode == failures, done.stdout
    suite = ET.parse(tmp_path / "junit.xml").getroot()[0]
    assert (suite.get("errors"), suite.get("failures")) == ("0", str(failures))
    properties = {p.get("name"): p.get("value") for p in suite.iter("property")}
    assert properties["onceproof_seed"] == "3"
