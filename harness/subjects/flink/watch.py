"""Tells of every change of a Flink job's checkpoints at the moment it happens.

Folders come one in the other, each job's in that of its life, and a folder's
content may be there before it is watched: so it is looked through once it is, and nothing is told
twice.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from onceproof.harness.subjects.flink.checkpoints import IN_PROGRESS, METADATA, Complete, number_of
from onceproof.harness.subjects.flink.crash_points import Sign
from onceproof.harness.subjects.folder_watch import FolderWatch


class CheckpointWatch(FolderWatch):
    """Watches a folder with a folder for the checkpoints of each life.

    `on_sign` is called first, with the life and the checkpoint's number: it may stop the job in its
    tracks. Then comes `on_complete`, of checkpoints that are.
    """

    def __init__(self, folder: Path, *, on_complete: Callable[[str, Complete], None]) -> None:
        """Watch from now on; the folder is there, and lives are folders in it."""
        super().__init__(folder)
        self._on_complete = on_complete
        self._reported: set[tuple[Path, Sign]] = set()
        self._look_into(folder)
        self._thread.start()

    def _look_into(self, folder: Path) -> None:
        """Watch a folder and what is in it; one that is gone already has nothing to tell."""
        try:
            self._add(folder)
            inside = sorted(folder.iterdir())
        except OSError:
            return
        for path in inside:
            self._appeared(path)

    def _appeared(self, path: Path, mask: int = 0) -> None:
        """Report what has appeared. `life/job/chk-N/_metadata` is how deep it goes."""
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
