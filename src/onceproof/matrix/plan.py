"""Plan a matrix: each scenario, with the schedule of one seed, on each backend.

A scenario is left out if the backend does not support all of it. Its claims would be unexercised
for that reason alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from onceproof.command import command
from onceproof.harness.processes.side_by_side import Job
from onceproof.harness.schedule.scenario import Scenario
from onceproof.harness.schedule.supported_faults import offered_to, with_supported_faults
from onceproof.harness.stage.backends import offers
from onceproof.harness.tools.runtimes.known import words as options_of
from onceproof.harness.tools.runtimes.rules import with_needed

_SLACK_SECONDS = 900.0
_SLOWER = 8
"""Factor by which a run may exceed its duration on a quiet machine, in addition to the slack."""


@dataclass(frozen=True, kw_only=True)
class Planned:
    """One scenario on one backend.

    Attributes:
        scenario: with its schedule, drawn if need be.
        versions: those of runtimes that differ from the usual ones.
        lacks: what the backend does not offer; then it is not run.
    """

    scenario: Scenario
    seed: int
    backend: str
    lacks: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """A name that is unique within the matrix."""
        return f"{self.scenario.name}-{self.backend}"

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(sorted({at.do.kind for at in self.scenario.schedule}))

    def job(self, runs: Path) -> Job:
        """Return the job that runs it, with its run folder in `runs`."""
        words = ("run", self.scenario.name, "--seed", str(self.seed), "--out", str(runs))
        return Job(
            name=self.name,
            command=tuple(command(*words, "--backend", self.backend, *options_of(self.versions))),
            seconds=_SLACK_SECONDS + _SLOWER * self.scenario.seconds,
        )


def plan(
    scenarios: Iterable[Scenario],
    backends: Iterable[str],
    seed: int,
    versions: Mapping[str, str] | None = None,
) -> tuple[Planned, ...]:
    wanted = tuple(scenarios)
    return tuple(_planned(s, backend, seed, versions or {}) for backend in backends for s in wanted)


def _planned(scenario: Scenario, backend: str, seed: int, versions: Mapping[str, str]) -> Planned:
    drawn = scenario.drawn(seed)
    offered = offers(backend)
    missing = set(drawn.needs - offered)
    if not missing:
        _, left_out = with_supported_faults(drawn, offered)
        needs = {need for at in left_out for need in at.needs}
        missing = needs - offered_to(drawn, offered)
    lacks = f"{backend} does not offer {', '.join(sorted(missing))}" if missing else None
    # As in the record of the run, by which it is found.
    subject = scenario.subject
    needed = with_needed(versions, subject.needs_versions, what=subject.name)
    return Planned(scenario=drawn, seed=seed, backend=backend, lacks=lacks, versions=needed)
