"""Everything with a side effect: the stage, the faults, the subjects, the recording of a run."""

from __future__ import annotations

from pkgutil import extend_path

# A project may have a folder of this name that is no package by itself: what is in it is found as
# well, behind ours. Of packages with an `__init__.py` the first on the path is taken, as ever.
__path__ = extend_path(__path__, __name__)
