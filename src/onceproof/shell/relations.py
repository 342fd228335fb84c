"""Relations that the checkers derive, and the witnesses of each anomaly, computed on demand.

The judging code itself computes them, for the claims of this history. `inputs` and `outputs` tell
which trial belongs to which claim.
"""

from __future__ import annotations

from contextlib import ExitStack

import pyarrow as pa

from onceproof.checkers.circumstances import Circumstances
from onceproof.checkers.engines import Layer, Settings, open_engine
from onceproof.checkers.engines.overlay import standard_queries
from onceproof.checkers.judging import trials_of
from onceproof.shell.source import Source

_TRIALS = {
    "inputs": "the input topic of each trial, by trial number",
    "outputs": "the views of sinks of each trial, by trial number",
}


def meanings() -> dict[str, str]:
    """Return the name and meaning of every relation."""
    made = {name: relation.meaning for name, relation in standard_queries().items()}
    return {**_TRIALS, **dict(sorted(made.items()))}


class Relations:
    """The relations of one history."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._ending = ExitStack()
        self._layer: Layer | None = None

    def table(self, name: str) -> pa.Table:
        """Compute a relation; raise `BadHistory` if a column's content violates the format."""
        if self._layer is None:
            history = self._source.history
            trials = trials_of(history, self._source.claims, Circumstances.of(history))
            self._layer = self._ending.enter_context(open_engine(history, trials, Settings()))
        return self._layer.arrow(f"SELECT * FROM {name}")

    def close(self) -> None:
        self._ending.close()
