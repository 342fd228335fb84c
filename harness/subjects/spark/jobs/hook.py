"""A place in a job at which it can be told to stand still, so that it can be killed exactly there.

Beside the checkpoint lies a folder `hook`. Whoever wants the job to stand still puts a file `stop`
there, whole at once: `{"row": 7}`. The job looks at the beginning of each micro-batch. When it has
written that many rows of it, it renames `stop` to `reached`, with the batch in it, and stands still
until `reached` is gone, or it is killed.
"""

import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

Row = TypeVar("Row")


class Hook:
    """The job's side of it."""

    def __init__(self, checkpoint: str) -> None:
        self._folder = Path(checkpoint).parent / "hook"

    def rows(self, batch_id: int, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows of a batch; stands still when as many as wanted were taken and done with."""
        wanted = self.wanted()
        for number, row in enumerate(rows, 1):
            yield row
            if number == wanted:
                self._stand_still(batch_id, number)

    def wanted(self) -> int | None:
        """Behind how many rows of the batch that begins it is to stand still; None: nowhere."""
        try:
            return int(json.loads((self._folder / "stop").read_text())["row"])
        except FileNotFoundError:
            return None

    def _stand_still(self, batch_id: int, row: int) -> None:
        draft, reached = self._folder / ".reached.tmp", self._folder / "reached"
        draft.write_text(json.dumps({"batch": batch_id, "row": row}))
        (self._folder / "stop").unlink(missing_ok=True)
        draft.rename(reached)
        while reached.exists():
            time.sleep(0.02)
