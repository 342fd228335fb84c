"""The relations that judging derives, and the witnesses of each anomaly, made when asked for.

They are made by the very code that judges, for what is claimed of this
history; which trial is which claim's says the relation `inputs` or `outputs`.
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
    "inputs": "the input topics on trial, by the number of the trial",
    "outputs": "the views of sinks on trial, by the number of the trial",
}


def meanings() -> dict[str, str]:
    """Every relation and every anomaly's witnesses, with what it is."""
    made = {name: relation.meaning for name, relation in standard_queries().items()}
    return {**_TRIALS, **dict(sorted(made.items()))}


class Relations:
    """The relations of one history; nothing is computed before it is asked for."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._ending = ExitStack()
        self._layer: Layer | None = None

    def table(self, name: str) -> pa.Table:
        """One of them.

        Raises:
            BadHistory: what is in the history's columns does not fit the contract.
        """
        if self._layer is None:
            history = self._source.history
            trials = trials_of(history, self._source.claims, Circumstances.of(history))
            self._layer = self._ending.enter_context(open_engine(history, trials, Settings()))
        return self._layer.arrow(f"SELECT * FROM {name}")

    def close(self) -> None:
        """Let go of everything that was computed."""
        self._ending.close()
