"""Places of labs: how they are found, and who can access them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from onceproof.harness.lab.place import LabError, Place


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


@contextmanager
def listening(name: str) -> Iterator[Place]:
    place = Place.take(name)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(place.socket))
        server.listen()
        yield place


def test_find_needs_no_name_when_one_lab_runs() -> None:
    with listening("lab") as place:
        assert Place.find(None) == Place.find("lab") == place


def test_find_requires_name_when_two_labs_run() -> None:
    with listening("a") as a, listening("b"):
        assert Place.find("a") == a
        with pytest.raises(
            LabError, match=r"^2 labs are running: a, b; choose one with --lab NAME$"
        ):
            Place.find(None)
        with pytest.raises(LabError, match="no lab named 'c' is running; running: a, b"):
            Place.find("c")


def test_find_without_a_lab_suggests_starting_one() -> None:
    with pytest.raises(LabError, match=r"^no lab is running; start one with `onceproof lab`$"):
        Place.find(None)


def test_name_is_taken_while_its_lab_answers() -> None:
    with listening("lab"), pytest.raises(LabError, match="lab lab is already running"):
        Place.take("lab")
    # The socket file stays behind, but nothing answers.
    with pytest.raises(LabError, match="no lab is running"):
        Place.find(None)
    with listening("lab") as place:
        assert place.answers()


def test_name_is_taken_while_its_lab_starts() -> None:
    first = Place.take("lab")
    file = first.folder / "mine"
    file.touch()
    with pytest.raises(LabError, match="lab lab is already running or starting"):
        Place.take("lab")
    assert file.exists()
    first.leave()
    assert not first.folder.exists()
    Place.take("lab").leave()


@pytest.mark.parametrize("name", ["", "..", "a/b", "-a", "a" * 32, "a b", "a\n"])
def test_rejects_invalid_lab_name(name: str) -> None:
    with pytest.raises(LabError, match="invalid lab name"):
        Place.take(name)
    with pytest.raises(LabError, match="no lab named"):
        Place.find(name)


def test_lab_folders_are_private(runtime: Path) -> None:
    place = Place.take("lab")
    for folder in (place.folder, runtime / "onceproof"):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_folder_accessible_to_others_is_refused(runtime: Path) -> None:
    (runtime / "onceproof").mkdir(mode=0o755)
    with pytest.raises(LabError, match="must be a folder that only you can access"):
        Place.take("lab")


def test_symlinked_folder_is_refused(runtime: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir(mode=0o700)
    (runtime / "onceproof").symlink_to(target)
    with pytest.raises(LabError, match=r"must be a folder that only you can access|cannot create"):
        Place.take("lab")
