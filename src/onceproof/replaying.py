"""Repeat a run from its run folder.

The schedule comes from the folder, even if the scenario has a different one now. Subject and
workload come from the scenario, and must not have changed since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from onceproof.catalogue import UnknownScenario, chosen
from onceproof.checkers import BadHistory
from onceproof.harness.history.folder import RunFolder
from onceproof.harness.history.run_record import RunRecord
from onceproof.harness.kafka.features import TRANSACTION_VERSION
from onceproof.harness.schedule.as_json import BadSchedule, schedule_from_json
from onceproof.harness.schedule.scenario import BadScenario, Scenario
from onceproof.harness.schedule.versions import check_versions
from onceproof.harness.stage.backends import LOCAL, is_backend
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.runtimes.known import CHOSEN, asked, words
from onceproof.verify.draft import NAME
from onceproof.verify.trial import DRY_RUN


class NoReplay(ValueError):
    """A run cannot be repeated; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Replay:
    """A run to repeat."""

    scenario: Scenario
    seed: int
    backend: str
    versions: Mapping[str, str]


def replay_of(folder: Path, backend: str | None = None) -> Replay:
    """Read how to repeat a run from its folder; `backend` None means the same as then.

    Raises:
        UnreadableRun: it is not a run folder.
        NoReplay: it has no schedule, or scenario or faults have changed.
    """
    record = RunRecord.load(folder)
    try:
        RunFolder(folder).check_record()
    except BadHistory as error:
        raise NoReplay(str(error)) from None
    if record.scenario in (NAME, DRY_RUN):
        raise NoReplay(
            f"{folder} is a run of `onceproof verify`, which has no scenario. To repeat it: "
            f"{record.repeat}"
        )
    if record.plan is None:
        raise NoReplay(
            f"{folder} has no recorded schedule: its faults were injected by hand, or it was "
            "written by an earlier version. Its report lists them."
        )
    try:
        (scenario,) = chosen([record.source or record.scenario])
        again = replace(
            scenario,
            schedule=schedule_from_json(record.plan),
            draw=None,
            transaction_version=_transaction_version(record),
        )
    except (UnknownScenario, BadSchedule, BadScenario) as error:
        raise NoReplay(f"{folder}: {error}") from None
    for what, then, now in (
        ("subject", record.subject, scenario.subject.name),
        ("workload", record.workload, asdict(scenario.workload)),
    ):
        if then != now:
            raise NoReplay(
                f"{folder}: the {what} of scenario {scenario.name} has changed: "
                f"then {then}, now {now}. Check out the version that made the run."
            )
    backend = backend or str(record.configuration.get("backend", LOCAL))
    if not is_backend(backend):
        raise NoReplay(f"{folder} ran on your own cluster: give it with --backend external:FILE")
    try:
        versions = asked(words(record.configuration.get(CHOSEN) or {})[1::2], backend)
        check_versions(versions, again)
    except SetupError as error:
        raise NoReplay(f"{folder}: {error}") from None
    return Replay(
        scenario=again,
        seed=record.seed,
        backend=backend,
        versions=versions,
    )


def _transaction_version(record: RunRecord) -> int | None:
    """Return the cluster's transaction version then, if it was set."""
    features = record.configuration.get("features") or {}
    found = features.get(TRANSACTION_VERSION)
    return None if found is None else int(found)
