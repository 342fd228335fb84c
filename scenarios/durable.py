"""Durable execution: DBOS stores each message as a workflow, and what a step returned.

A step that is a transaction of a DBOS datasource stores its result with its rows. The broken twin
has a plain step, which runs again if the process dies before DBOS has stored the result.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from onceproof.harness.schedule.scenario import Scenario
from onceproof.harness.subjects.group.hazards import REPLAYED
from onceproof.harness.subjects.stored.dbos import DbosWorkflows
from onceproof.harness.subjects.stored.hazards import IN_DOUBT
from onceproof.scenarios.base import HOLDS
from onceproof.scenarios.groups import WORKLOAD
from onceproof.scenarios.stored_offsets import (
    DATABASE,
    KILLED_AFTER,
    final_claims,
    reader_claims,
    twice,
)

_TRANSACTION: Final = DbosWorkflows()
_STEP: Final = DbosWorkflows(transactional=False)
# A workflow of one record costs DBOS several transactions.
_WORKLOAD: Final = replace(WORKLOAD, records=800, rate=100)
_UNDER_FAULTS: Final = Scenario(
    name=_TRANSACTION.name,
    title="DBOS, a transaction as step: killed after its commit, and the database killed",
    subject=_TRANSACTION,
    workload=_WORKLOAD,
    schedule=(KILLED_AFTER, replace(DATABASE, after=(KILLED_AFTER.name,))),
    claims=(*final_claims(HOLDS, IN_DOUBT), *reader_claims(HOLDS, IN_DOUBT)),
    seconds=45,
)

SCENARIOS: Final = (
    _UNDER_FAULTS,
    replace(
        _UNDER_FAULTS,
        name=_STEP.name,
        title="The broken twin: a plain step of DBOS, killed between its write and its result",
        subject=_STEP,
        schedule=(KILLED_AFTER,),
        claims=twice(hazards=frozenset({REPLAYED})),
    ),
)
