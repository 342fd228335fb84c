"""Whether a scenario can use the versions that a run chooses."""

from __future__ import annotations

from collections.abc import Mapping

from onceproof.harness.schedule.scenario import Scenario
from onceproof.harness.tools.runtimes.known import check_used
from onceproof.harness.tools.runtimes.rules import refuse


def check_versions(
    versions: Mapping[str, str], scenario: Scenario, *, what: str | None = None
) -> None:
    """Check that a scenario uses each chosen runtime, and can do so in its version.

    `what` names it in messages, by default the scenario's name.

    Raises:
        SetupError: it does not, or cannot.
    """
    check_used(versions, scenario.runtimes, what or scenario.name)
    refuse(
        versions,
        transaction_version=scenario.transaction_version,
        reads=not scenario.subject.sends,
    )
