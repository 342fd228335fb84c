"""Retention and compaction of a log.

They run after everything was processed and read, so that missing entries are nobody's fault.
"""

from __future__ import annotations

from tests.properties.checkers.world.rows import Place, Row
from tests.properties.checkers.world.stage import Stage


def age_logs(stage: Stage) -> None:
    """Add the rows of `partitions` and remove expired entries."""
    for place in stage.broker.places:
        topic, partition = place
        row = stage.add(
            "partitions", topic=topic, partition=partition, log_start=0, cleanup_policy="delete",
            last_stable_offset=stage.broker.last_stable(place),
            high_watermark=stage.broker.end(place),
        )  # fmt: skip
        if stage.shape.age == "retention" and stage.maybe(0.7):
            row["log_start"] = stage.draw.randint(_first(stage, place), stage.broker.end(place))
            if stage.maybe(0.8):  # only whole segments are deleted
                _keep(stage, place, lambda e, start=row["log_start"]: e["offset"] >= start)
        elif stage.shape.age == "compaction" and stage.maybe(0.7):
            row["cleanup_policy"] = stage.pick(("compact", "compact,delete"))
            _keep(stage, place, lambda e: stage.maybe(0.6))


def _first(stage: Stage, place: Place) -> int:
    return min((e["offset"] for e in stage.broker.log[place]), default=0)


def _keep(stage: Stage, place: Place, keep: object) -> None:
    assert callable(keep)
    removed = {id(e) for e in stage.broker.log[place] if not keep(e)}

    def kept(entries: list[Row]) -> list[Row]:
        return [e for e in entries if id(e) not in removed]

    stage.rows["log"][:] = kept(stage.rows["log"])
