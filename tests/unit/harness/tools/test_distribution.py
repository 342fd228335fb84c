"""Distributions built from this source, and the checks of `make dist`."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.packaging.building import ROOT, Built, build, normalised
from tests.packaging.looking import (
    not_released,
    version,
    wrong,
    wrong_metadata,
    wrong_names,
)

# Without the repository it is unknown which files belong to the source.
pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no repository")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(tmp_path_factory.mktemp("dist"))


def test_built_distributions_pass_all_checks(built: Built) -> None:
    assert list(wrong(built)) == []


def test_sdist_has_no_trace_of_its_builder(built: Built) -> None:
    with tarfile.open(built.sdist) as sdist:
        assert {(m.uid, m.gid, m.uname, m.gname) for m in sdist.getmembers()} == {(0, 0, "", "")}
        assert len({m.mtime for m in sdist.getmembers()}) == 1
    assert built.sdist.read_bytes()[3] & 0x08 == 0, "gzip keeps no name"


def test_missing_and_unexpected_files_are_reported(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        names = set(wheel.namelist())
    assert "onceproof/harness/stage/docker-compose.yml" in names
    lost = {"onceproof/py.typed", "onceproof/harness/tools/jars.lock.json"}
    changed = (names - lost) | {"tests/conftest.py"}
    problems = list(wrong_names(changed))
    assert "the wheel has tests/conftest.py, which is none of ours" in problems
    assert "the wheel lacks onceproof/harness/tools/jars.lock.json" in problems
    assert "the wheel lacks onceproof/py.typed: it is said to be typed" in problems


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Version: 9.9", "its version is 9.9"),
        ("Requires-Dist: other @ file:///somewhere", "which a registry does not have"),
    ],
)
def test_misleading_metadata_is_reported(line: str, message: str) -> None:
    right = [
        f"Version: {version()}",
        "Description-Content-Type: text/markdown",
        "License-Expression: Apache-2.0",
        "Requires-Dist: duckdb>=1.2",
    ]
    assert list(wrong_metadata("\n".join(right))) == []
    kept = [each for each in right if each.split(":")[0] != line.split(":")[0]]
    (problem,) = wrong_metadata("\n".join([*kept, line]))
    assert message in problem


def test_release_requires_the_version_in_the_changelog() -> None:
    named = f"# Changelog\n\n## [Unreleased]\n\n## [{version()}] - 2026-12-01\n\n* It.\n"
    assert list(not_released(named)) == []
    (problem,) = not_released(named.replace(version(), "0.0.1"))
    assert "its newest is 0.0.1" in problem
    (problem,) = not_released(named.replace("## [Unreleased]\n", "## [Unreleased]\n\n* New.\n"))
    assert "still has entries" in problem


def test_normalised_archives_of_the_same_files_are_equal() -> None:
    def archive(order: list[str], mtime: int) -> bytes:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz") as made:
            for name in order:
                member = tarfile.TarInfo(name)
                member.size, member.mtime, member.uname = len(name), mtime, f"user{mtime}"
                made.addfile(member, io.BytesIO(name.encode()))
        return out.getvalue()

    one, other = archive(["a", "b"], 1), archive(["b", "a"], 2)
    assert one != other
    assert normalised(one, 7) == normalised(other, 7)
    assert normalised(one, 7) != normalised(archive(["a", "c"], 1), 7)


def test_build_writes_only_wheel_and_sdist(built: Built) -> None:
    assert built.wheel.name == f"onceproof-{version()}-py3-none-any.whl"
    assert {path.name for path in Path(built.wheel.parent).iterdir()} == {
        built.wheel.name,
        built.sdist.name,
    }
