"""`onceproof audit`: what a real cluster holds, judged as it is."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from onceproof.audit.options import AuditOptions, BadAudit
from onceproof.audit.running import Audit, UnreadableAudit, create, load_plan
from onceproof.checkers.engines.settings import Settings
from onceproof.errors import exit_on_error
from onceproof.harness.audit.bounds import BadBound
from onceproof.harness.audit.cluster import UnreadableCluster
from onceproof.harness.audit.folder import AuditFolder
from onceproof.harness.audit.history import AmbiguousIdentity
from onceproof.harness.user_pipeline.identity import BadRule
from onceproof.harness.user_pipeline.outputs.base import UnreadableOutput
from onceproof.interrupts import INTERRUPTED, hear
from onceproof.reports.audit.terminal import print_audit

__all__ = ["AuditOptions", "audit", "resume"]

USAGE, TROUBLE = 2, 3


def audit(options: AuditOptions, *, out: Path, settings: Settings, database: str) -> int:
    """Audit a pipeline, in a new folder."""
    with _errors():
        options.wanted(database)  # before there is a folder
        return _run(create(out, options.input), options, settings, database)


def resume(folder: Path, *, settings: Settings, database: str) -> int:
    """Go on with an audit that was broken off."""
    with _errors():
        found = AuditFolder(folder)
        options, _, _ = load_plan(found)
        return _run(found, options, settings, database)


def _run(folder: AuditFolder, options: AuditOptions, settings: Settings, database: str) -> int:
    stop = threading.Event()
    hear(lambda _number, _frame: _interrupt(stop))
    audited = Audit(
        folder=folder,
        options=options,
        properties={"bootstrap.servers": options.bootstrap},
        database=database,
        settings=settings,
    )
    try:
        report = audited.run(stop)
    except KeyboardInterrupt:
        report = None
    if report is None:
        print(
            f"onceproof: interrupted; what was read is kept. `onceproof audit --resume "
            f"{folder.path}` goes on.",
            file=sys.stderr,
        )
        return INTERRUPTED
    print_audit(report, sys.stdout, folder.path)
    return report.result.exit_code


def _interrupt(stop: threading.Event) -> None:
    """The first signal ends reading in order; judging, and a second one, is broken off."""
    if stop.is_set():
        raise KeyboardInterrupt
    stop.set()


@contextmanager
def _errors() -> Iterator[None]:
    with exit_on_error():
        try:
            yield
        except (BadAudit, BadBound, UnreadableAudit, AmbiguousIdentity) as error:
            print(f"onceproof audit: {error}.", file=sys.stderr)
            sys.exit(USAGE)
        except (UnreadableCluster, UnreadableOutput, BadRule) as error:
            print(f"onceproof audit: {error}.", file=sys.stderr)
            sys.exit(TROUBLE)
