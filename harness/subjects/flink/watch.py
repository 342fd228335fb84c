"""Report every change of a Flink job's checkpoints immediately.

Folders are nested, each job's in that of its life, and files may appear before a new folder is
watched. So each folder is listed once it is watched, and every sign is reported once.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from onceproof.harness.subjects.flink.checkpoints import IN_PROGRESS, METADATA, Complete, number_of
from onceproof.harness.subjects.flink.crash_points import Sign
from onceproof.harness.subjects.folder_watch import FolderWatch


class CheckpointWatch(FolderWatch):
    """Watches a folder that contains one checkpoint folder for each life.

    `on_sign` is called first, with the sign, the life and the checkpoint number; it may stop the
    job. `on_complete` is called next, for complete checkpoints only.
    """

    def __init__(self, folder: Path, *, on_complete: Callable[[str, Complete], None]) -> None:
        super().__init__(folder)
        self._on_complete = on_complete
        self._reported: set[tuple[Path, Sign]] = set()
        self._look_into(folder)
        self._thread.start()

    def _look_into(self, folder: Path) -> None:
        """Watch a folder and report its content; ignore one that is already gone."""
        try:
            self._add(folder)
            inside = sorted(folder.iterdir())
        except OSError:
            return
        for path in inside:
            self._appeared(path)

    def _appeared(self, path: Path, mask: int = 0) -> None:
        """Report a new path; paths are at most as deep as `life/job/chk-N/_metadata`."""
        place = path.relative_to(self._folder).parts
        if len(place) < 3:
            self._look_into(path)
            return
        number = number_of(place[2])
        if number is None:
            return
        if len(place) == 3:
            self._report("begun", path, place[0], number)
            self._look_into(path)
        elif len(place) == 4 and place[3] == METADATA:
            self._report("complete", path.parent, place[0], number)
        elif len(place) == 4 and place[3].startswith(IN_PROGRESS):
            self._report("flushed", path.parent, place[0], number)

    def _report(self, sign: Sign, folder: Path, life: str, number: int) -> None:
        if (folder, sign) in self._reported:
            return
        self._reported.add((folder, sign))
        self._sign(sign, life, number)
        if sign == "complete":
            self._on_complete(life, Complete(number=number, folder=folder))
