"""All hazards: which pipelines have each, how it is caused, and how it is proved.

This table is the only complete list; the plan of a trial and the reference page are made from it. A
new hazard goes into the module of its kind.
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
"""Every hazard, in the order of a round."""
NAMES: Final = tuple(hazard.name for hazard in TABLE)
