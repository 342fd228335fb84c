"""All hazards: which profile has which, how each is caused and proved.

This table is the only place that knows them all; the plan of a trial and the reference page follow
from it. A new hazard goes into the module of its kind.
"""

from __future__ import annotations

from typing import Final

from onceproof.verify.hazards.brokers import BROKERS
from onceproof.verify.hazards.commits import COMMITS
from onceproof.verify.hazards.database import DATABASE
from onceproof.verify.hazards.group import GROUP_MEMBER
from onceproof.verify.hazards.hazard import Hazard
from onceproof.verify.hazards.http import HTTP
from onceproof.verify.hazards.input import BEGINNING, INPUT
from onceproof.verify.hazards.producing import PRODUCING
from onceproof.verify.hazards.spark import SPARK
from onceproof.verify.hazards.work import WORK

TABLE: Final[tuple[Hazard, ...]] = (
    *BEGINNING,
    *COMMITS,
    *GROUP_MEMBER,
    *PRODUCING,
    *WORK,
    *DATABASE,
    *HTTP,
    *SPARK,
    *BROKERS,
    *INPUT,
)
"""Every hazard that is known, in the order in which a round meets them."""
NAMES: Final = tuple(hazard.name for hazard in TABLE)
