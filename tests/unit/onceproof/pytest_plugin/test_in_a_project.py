"""The plugin as pytest finds it in somebody's project."""

from __future__ import annotations

from pathlib import Path

from tests.unit.onceproof.pytest_plugin.commands import pytest_in

_UNUSED = """
    import sys

    def test_nothing_of_it_is_there():
        ours = {"harness", "checkers", "reports", "scenarios", "duckdb", "pyarrow"}
        loaded = ours & {name.partition(".")[0] for name in sys.modules}
        assert not loaded
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
