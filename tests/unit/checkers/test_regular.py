"""Only regular files within a folder are read; others are rejected without blocking."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from onceproof.checkers.regular import NotRegular, check_regular, read_regular


def _bind_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (os.mkfifo, "is a named pipe; expected a regular file"),
        (Path.mkdir, "is a folder; expected a regular file"),
        (lambda path: path.symlink_to("/dev/null"), "link to /dev/null, outside its folder"),
        (lambda path: path.symlink_to(path.name), "in a loop of symbolic links"),
        (lambda path: path.symlink_to("../elsewhere"), "outside its folder"),
    ],
)
def test_rejects_special_files_and_links_outside_the_folder(
    tmp_path: Path, make: Callable[[Path], object], message: str
) -> None:
    (tmp_path / "elsewhere").write_text("x")
    folder = tmp_path / "folder"
    folder.mkdir()
    make(folder / "file")
    with pytest.raises(NotRegular, match=message):
        read_regular(folder / "file", folder, at_most=10)
    with pytest.raises(NotRegular, match=message):
        check_regular(folder / "file", folder)


def test_rejects_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # socket paths must be short
    _bind_socket(Path("file"))
    with pytest.raises(NotRegular, match="is a socket"):
        check_regular(Path("file"), Path())


def test_accepts_link_within_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "link", tmp_path, at_most=10) == b"x"


def test_accepts_link_to_the_folder(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("x")
    (tmp_path / "link").symlink_to("folder")
    assert read_regular(tmp_path / "link" / "file", tmp_path / "link", at_most=10) == b"x"


def test_rejects_file_above_the_size_limit(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("12345")
    assert read_regular(tmp_path / "file", tmp_path, at_most=5) == b"12345"
    with pytest.raises(NotRegular, match="has 5 bytes; expected at most 4"):
        read_regular(tmp_path / "file", tmp_path, at_most=4)
