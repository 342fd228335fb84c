"""`onceproof audit`: judge what a real cluster contains, without changing it."""

from __future__ import annotations

import os
import sys
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
from onceproof.harness.kafka.connecting.connection import Connection
from onceproof.harness.kafka.connecting.properties import (
    BadProperties,
    fitting,
    from_environment,
    known,
    read,
)
from onceproof.harness.user_pipeline.identity import BadRule
from onceproof.harness.user_pipeline.outputs.base import UnreadableOutput
from onceproof.interrupts import INTERRUPTED
from onceproof.reports.audit.terminal import print_audit
from onceproof.stopping import stop_on_signals

__all__ = ["AuditOptions", "audit", "resume"]

USAGE, TROUBLE = 2, 3


def audit(
    options: AuditOptions, *, out: Path, settings: Settings, database: str, properties: Path | None
) -> int:
    with _errors():
        options.wanted(database)  # fail before the folder is created
        connection = _connection(options.bootstrap, properties)
        return _run(create(out, options.input), options, settings, database, connection)


def resume(folder: Path, *, settings: Settings, database: str, properties: Path | None) -> int:
    """Continue an interrupted audit."""
    with _errors():
        found = AuditFolder(folder)
        options, _, _ = load_plan(found)
        connection = _connection(options.bootstrap, properties)
        return _run(found, options, settings, database, connection)


def _run(
    folder: AuditFolder,
    options: AuditOptions,
    settings: Settings,
    database: str,
    connection: Connection,
) -> int:
    audited = Audit(
        folder=folder,
        options=options,
        connection=connection,
        database=database,
        settings=settings,
    )
    try:
        report = audited.run(stop_on_signals())
    except KeyboardInterrupt:
        report = None
    if report is None:
        print(
            f"onceproof: interrupted; what was read is kept. To continue: onceproof audit --resume "
            f"{folder.path}",
            file=sys.stderr,
        )
        return INTERRUPTED
    print_audit(report, sys.stdout, folder.path)
    return report.result.exit_code


def _connection(bootstrap: str, file: Path | None) -> Connection:
    """Return how to connect (the environment wins); raise `BadProperties` for invalid ones."""
    given = {} if file is None else known(read(file), folder=file.parent)
    more = known(from_environment(os.environ), folder=Path.cwd())
    return Connection(bootstrap, fitting(given | more))


@contextmanager
def _errors() -> Iterator[None]:
    with exit_on_error():
        try:
            yield
        except (BadAudit, BadBound, BadProperties, UnreadableAudit, AmbiguousIdentity) as error:
            print(f"onceproof audit: {error}.", file=sys.stderr)
            sys.exit(USAGE)
        except (UnreadableCluster, UnreadableOutput, BadRule) as error:
            print(f"onceproof audit: {error}.", file=sys.stderr)
            sys.exit(TROUBLE)
