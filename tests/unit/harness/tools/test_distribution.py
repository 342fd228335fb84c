"""What is released: built from this very source, and looked at as `make dist` does."""

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

# Whoever has the source without its repository cannot tell what belongs to it.
pytestmark = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no repository")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(tmp_path_factory.mktemp("dist"))


def test_nothing_is_wrong_with_it(built: Built) -> None:
    assert list(wrong(built)) == []


def test_it_has_no_trace_of_where_it_was_made(built: Built) -> None:
    with tarfile.open(built.sdist) as sdist:
        assert {(m.uid, m.gid, m.uname, m.gname) for m in sdist.getmembers()} == {(0, 0, "", "")}
        assert len({m.mtime for m in sdist.getmembers()}) == 1
    assert built.sdist.read_bytes()[3] & 0x08 == 0, "gzip keeps no name"


def test_what_is_missing_and_what_is_too_much_is_seen(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        names = set(wheel.namelist())
    assert "onceproof/harness/stage/docker-compose.yml" in names
    lost = {"onceproof/py.typed", "onceproof/harness/tools/jars.lock.json"}
    changed = (names - lost) | {"tests/conftest.py"}
    told = list(wrong_names(changed))
    assert "the wheel has tests/conftest.py, which is none of ours" in told
    assert "the wheel lacks onceproof/harness/tools/jars.lock.json" in told
    assert "the wheel lacks onceproof/py.typed: it is said to be typed" in told


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("Version: 9.9", "its version is 9.9"),
        ("Requires-Dist: other @ file:///somewhere", "which a registry does not have"),
    ],
)
def test_metadata_that_misleads_is_seen(line: str, says: str) -> None:
    right = [
        f"Version: {version()}",
        "Description-Content-Type: text/markdown",
        "License-Expression: Apache-2.0",
        "Requires-Dist: duckdb>=1.2",
    ]
    assert list(wrong_metadata("\n".join(right))) == []
    kept = [each for each in right if each.split(":")[0] != line.split(":")[0]]
    (told,) = wrong_metadata("\n".join([*kept, line]))
    assert says in told


def test_a_version_that_is_not_named_is_no_release() -> None:
    named = f"# Changelog\n\n## [Unreleased]\n\n## [{version()}] - 2026-12-01\n\n* It.\n"
    assert list(not_released(named)) == []
    (told,) = not_released(named.replace(version(), "0.0.1"))
    assert "its newest is 0.0.1" in told
    (told,) = not_released(named.replace("## [Unreleased]\n", "## [Unreleased]\n\n* New.\n"))
    assert "still has entries" in told


def test_the_same_files_are_the_same_archive() -> None:
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


def test_it_lies_where_it_was_asked_for(built: Built) -> None:
    assert built.wheel.name == f"onceproof-{version()}-py3-none-any.whl"
    assert {path.name for path in Path(built.wheel.parent).iterdir()} == {
        built.wheel.name,
        built.sdist.name,
    }
