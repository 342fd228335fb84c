"""Telling it: what a run did and what the checkers said, for a terminal, a page and a machine.

The one thing to know: everything is told from one `Report` (`model`), which `build` makes of the
run record, the history and the judgement. Who has `report.json` can render the page again.
"""

from __future__ import annotations

from pkgutil import extend_path

# A project may have a folder of this name that is no package by itself: what is in it is found as
# well, behind ours. Of packages with an `__init__.py` the first on the path is taken, as ever.
__path__ = extend_path(__path__, __name__)
