"""A place in a job where it can be held, so that it can be killed exactly there.

The harness writes `{"row": 7}` atomically to the file `hook/stop` next to the checkpoint. The job
reads it when a micro-batch begins. After that many rows it replaces it by `reached`, which names
the batch, and waits until `reached` is removed or it is killed.
"""

import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

Row = TypeVar("Row")


class Hook:
    """The job's side of the hook."""

    def __init__(self, checkpoint: str) -> None:
        self._folder = Path(checkpoint).parent / "hook"

    def rows(self, batch_id: int, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows of a batch; wait when the requested number of rows was processed."""
        wanted = self.wanted()
        for number, row in enumerate(rows, 1):
            yield row
            if number == wanted:
                self._hold(batch_id, number)

    def wanted(self) -> int | None:
        """Return the number of rows after which to wait in this batch; None for no wait."""
        try:
            return int(json.loads((self._folder / "stop").read_text())["row"])
        except FileNotFoundError:
            return None

    def _hold(self, batch_id: int, row: int) -> None:
        draft, reached = self._folder / ".reached.tmp", self._folder / "reached"
        draft.write_text(json.dumps({"batch": batch_id, "row": row}))
        (self._folder / "stop").unlink(missing_ok=True)
        draft.rename(reached)
        while reached.exists():
            time.sleep(0.02)
