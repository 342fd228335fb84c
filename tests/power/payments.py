"""The payments of our own scenarios as a file, for jobs that read nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from onceproof.harness.tools.cache import install, location
from onceproof.harness.workload.payments import Payments, payments_of

_RECORDS: Final = 12_000
"""As many as `onceproof verify` makes up by itself."""
_SEED: Final = 1


def payments_file() -> Path:
    """A file for `--data`, made when it is first needed and kept in the cache of onceproof."""
    workload = Payments(records=_RECORDS, producers=1)
    name = "payments.jsonl"

    def write(into: Path) -> None:
        values = (payment.value for payment in payments_of(workload, producer=0, seed=_SEED))
        (into / name).write_bytes(b"\n".join(values) + b"\n")

    return install(location() / "power" / f"payments-{_RECORDS}", write) / name
