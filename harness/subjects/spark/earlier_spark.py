"""PySpark subjects whose table format is not released for the usual Spark."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from onceproof.harness.subjects.spark.subject import SparkSubject
from onceproof.harness.tools.jars_for import jars_for
from onceproof.harness.tools.setup import Tools

SPARK: Final = "3.5.3"


@dataclass(frozen=True, kw_only=True)
class EarlierSpark(SparkSubject, ABC):
    """A pipeline that runs with Spark 3.5.

    Attributes:
        bundle: name and version of a locked set of jars.
    """

    bundle: ClassVar[tuple[str, str]]
    output_topic = None

    @property
    def needs_versions(self) -> Mapping[str, str]:
        return {"spark": SPARK}

    def jars(self, tools: Tools) -> list[Path]:
        return [*super().jars(tools), *sorted(jars_for(tools, *self.bundle).glob("*.jar"))]
