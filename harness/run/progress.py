"""Report the progress of a run from a separate thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.history.events import Progress

_EVERY = 0.5


@contextmanager
def emit_progress(context: RunContext) -> Iterator[None]:
    over = threading.Event()

    def emit_all() -> None:
        while not over.wait(_EVERY):
            context.recorder.emit(
                Progress(
                    at=now(),
                    acknowledged=context.producers.acknowledged,
                    total=context.producers.total,
                    pipeline=context.pipeline.shortly(),
                )
            )

    thread = threading.Thread(target=emit_all, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
