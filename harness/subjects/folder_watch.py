"""Report every file and folder that appears in watched folders, immediately."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

from inotify_simple import INotify, flags

from onceproof.harness.context.pipeline import WatchTrouble
from onceproof.harness.wait import Interrupted


class FolderWatch(ABC):
    """Watches folders with inotify, in its own thread."""

    def __init__(self, folder: Path) -> None:
        self.on_sign: Callable[..., None] | None = None
        """Called first with each sign; it may stop the observed process."""
        self.error: Exception | None = None
        self._folder = folder
        self._ended = threading.Event()
        self._watched: dict[int, Path] = {}
        self._inotify = INotify()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def check(self) -> None:
        """Raise `WatchTrouble` if new files are no longer reported."""
        if self.error is not None:
            raise WatchTrouble(self._folder, self.error)

    def close(self) -> None:
        self._ended.set()
        self._thread.join(5)
        self._inotify.close()

    def _add(self, folder: Path) -> None:
        """Start watching a folder.

        Raises:
            OSError: it is gone, or is not a folder.
        """
        kinds = flags.CREATE | flags.MOVED_TO | flags.ONLYDIR
        self._watched[self._inotify.add_watch(folder, kinds)] = folder

    @abstractmethod
    def _appeared(self, path: Path, mask: int) -> None:
        """Handle a new path in a watched folder, with the inotify flags of its event."""

    def _sign(self, *sign: object) -> None:
        if (callback := self.on_sign) is not None:
            callback(*sign)

    def _watch(self) -> None:
        try:
            while True:
                events = self._inotify.read(timeout=100)
                if not events and self._ended.is_set():
                    return
                for event in events:
                    if event.wd in self._watched and event.name:
                        self._appeared(self._watched[event.wd] / event.name, event.mask)
        except Interrupted:
            pass
        except Exception as error:
            self.error = error
