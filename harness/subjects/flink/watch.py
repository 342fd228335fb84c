"""Tells of every change of a Flink job's checkpoints at the moment it happens.

Folders come one in the other, each job's in that of its life, and a folder's
content may be there before it is watched: so it is looked through once it is, and nothing is told
twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from inotify_simple import INotify, flags

from onceproof.harness.subjects.flink.checkpoints import IN_PROGRESS, METADATA, Complete, number_of
from onceproof.harness.subjects.flink.windows import Sign
from onceproof.harness.subjects.pipeline import WatchTrouble
from onceproof.harness.wait import Interrupted

_WATCHED: Final = flags.CREATE | flags.MOVED_TO | flags.ONLYDIR


class CheckpointWatch:
    """Watches a folder with a folder for the checkpoints of each life, on a thread of its own.

    `on_sign` is told first, with the life and the checkpoint's number: it may stop the job in its
    tracks. Then comes `on_complete`, of checkpoints that are.
    """

    def __init__(self, folder: Path, *, on_complete: Callable[[str, Complete], None]) -> None:
        """Watch from now on; the folder is there, and lives are folders in it."""
        self.on_sign: Callable[[Sign, str, int], None] | None = None
        self.error: Exception | None = None
        self._folder = folder
        self._on_complete = on_complete
        self._ended = threading.Event()
        self._told: set[tuple[Path, Sign]] = set()
        self._watched: dict[int, Path] = {}
        self._inotify = INotify()
        self._add(folder)
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise `WatchTrouble` if what comes is not told any more."""
        if self.error is not None:
            raise WatchTrouble(self._folder, self.error)

    def close(self) -> None:
        """End the watch after what is there has been told."""
        self._ended.set()
        self._thread.join(5)
        self._inotify.close()

    def _watch(self) -> None:
        try:
            while True:
                events = self._inotify.read(timeout=100)
                if not events and self._ended.is_set():
                    return
                for event in events:
                    if event.wd in self._watched and event.name:
                        self._look(self._watched[event.wd] / event.name)
        except Interrupted:
            pass
        except Exception as error:
            self.error = error

    def _add(self, folder: Path) -> None:
        """Watch a folder and what is in it; one that is gone already has nothing to tell."""
        try:
            self._watched[self._inotify.add_watch(folder, _WATCHED)] = folder
            inside = sorted(folder.iterdir())
        except OSError:
            return
        for path in inside:
            self._look(path)

    def _look(self, path: Path) -> None:
        """Tell what has come. `life/job/chk-N/_metadata` is how deep it goes."""
        place = path.relative_to(self._folder).parts
        number = number_of(place[2]) if len(place) > 2 else None
        if len(place) < 3 or (len(place) == 3 and number is not None):
            if number is not None:
                self._tell("begun", path, place[0], number)
            self._add(path)
        elif len(place) == 4 and number is not None:
            if place[3] == METADATA:
                self._tell("complete", path.parent, place[0], number)
            elif place[3].startswith(IN_PROGRESS):
                self._tell("flushed", path.parent, place[0], number)

    def _tell(self, sign: Sign, folder: Path, life: str, number: int) -> None:
        if (folder, sign) in self._told:
            return
        self._told.add((folder, sign))
        if (told := self.on_sign) is not None:
            told(sign, life, number)
        if sign == "complete":
            self._on_complete(life, Complete(number=number, folder=folder))
