"""Telling it: what a run did and what the checkers said, for a terminal, a page and a machine.

Everything is told from one `Report` (`model`), which `build` makes of the
run record, the history and the judgement. Who has `report.json` can render the page again.
"""
