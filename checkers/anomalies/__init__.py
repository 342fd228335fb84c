"""The anomalies, one per file, each with its definition and query.

Each row of a query is a witness. To add an anomaly, add a file here with a constant `ANOMALY`, or
name such a module of an installed package under the entry-point group `onceproof.anomalies`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from types import ModuleType

from onceproof.checkers.extensions import BadExtension, extensions
from onceproof.checkers.model import GUARANTEES, Anomaly
from onceproof.checkers.scan import member_modules

__all__ = ["anomalies", "modules_of_anomalies"]

_NAME = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*")


@cache
def anomalies() -> dict[str, Anomaly]:
    """Return all anomalies by name: the built-in ones, then those of other packages.

    Raises:
        BadExtension: a module of another package cannot be imported, or has no new anomaly.
    """
    return {name: module.ANOMALY for name, module in modules_of_anomalies().items()}


def modules_of_anomalies() -> dict[str, ModuleType]:
    found = {module.ANOMALY.name: module for module in member_modules(__name__, "ANOMALY")}
    for module in extensions("anomalies"):
        found[_new_name(module, found.keys())] = module
    return found


def _new_name(module: ModuleType, taken: Collection[str]) -> str:
    anomaly = getattr(module, "ANOMALY", None)
    if not isinstance(anomaly, Anomaly):
        raise BadExtension(f"{module.__name__}: expected a constant ANOMALY of type Anomaly")
    if not _NAME.fullmatch(anomaly.name):
        wanted = "letters, digits and single hyphens"
        raise BadExtension(f"{module.__name__}: invalid name {anomaly.name!r}: expected {wanted}")
    if anomaly.name.lower() in {name.lower() for name in taken}:
        raise BadExtension(
            f"{module.__name__}: the name {anomaly.name} is taken by another anomaly"
        )
    if odd := set(anomaly.refutes + anomaly.shown_with) - set(GUARANTEES):
        raise BadExtension(
            f"{module.__name__}: unknown guarantee {', '.join(sorted(odd))}: expected one of "
            f"{', '.join(GUARANTEES)}"
        )
    return anomaly.name
