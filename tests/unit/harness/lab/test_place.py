"""Where labs are reached, and by whom."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from onceproof.harness.lab.place import LabTrouble, Place


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


def test_the_only_one_needs_no_name() -> None:
    with listening("lab") as place:
        assert Place.find(None) == Place.find("lab") == place


def test_of_two_one_is_named() -> None:
    with listening("a") as a, listening("b"):
        assert Place.find("a") == a
        with pytest.raises(
            LabTrouble, match=r"^2 labs are running: a, b; choose one with --lab NAME$"
        ):
            Place.find(None)
        with pytest.raises(LabTrouble, match="no lab named 'c' is running; running: a, b"):
            Place.find("c")


def test_without_one_it_is_said_how_to_open_one() -> None:
    with pytest.raises(LabTrouble, match=r"^no lab is running; start one with `onceproof lab`$"):
        Place.find(None)


def test_a_name_is_taken_while_its_lab_answers() -> None:
    with listening("lab"), pytest.raises(LabTrouble, match="lab lab is already running"):
        Place.take("lab")
    # Its file stays behind, but nobody answers any more.
    with pytest.raises(LabTrouble, match="no lab is running"):
        Place.find(None)
    with listening("lab") as place:
        assert place.answers()


def test_a_name_is_taken_before_its_lab_answers() -> None:
    """Its brokers take a while to come up."""
    first = Place.take("lab")
    mine = first.folder / "mine"
    mine.touch()
    with pytest.raises(LabTrouble, match="lab lab is already running or starting"):
        Place.take("lab")
    assert mine.exists()
    first.leave()
    assert not first.folder.exists()
    Place.take("lab").leave()


@pytest.mark.parametrize("name", ["", "..", "a/b", "-a", "a" * 32, "a b", "a\n"])
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(LabTrouble, match="invalid lab name"):
        Place.take(name)
    with pytest.raises(LabTrouble, match="no lab named"):
        Place.find(name)


def test_nobody_else_can_enter(runtime: Path) -> None:
    place = Place.take("lab")
    for folder in (place.folder, runtime / "onceproof"):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_can_enter_is_not_used(runtime: Path) -> None:
    (runtime / "onceproof").mkdir(mode=0o755)
    with pytest.raises(LabTrouble, match="must be a folder that only you can access"):
        Place.take("lab")


def test_a_folder_that_somebody_put_there_is_not_used(runtime: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (runtime / "onceproof").symlink_to(elsewhere)
    with pytest.raises(
        LabTrouble, match=r"must be a folder that only you can access|cannot create"
    ):
        Place.take("lab")
